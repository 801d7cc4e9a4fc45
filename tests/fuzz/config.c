/* config.c: a config in YAML. The first line may hold changes as of --set, joined by '|', behind "#set ". */
#include "fuzz.h"

#include "run/run.h"

enum { EDITS = 8 };

static size_t read_edits(char *text, const char **edits) {
  size_t count = 0;
  if (strncmp(text, "#set ", 5) != 0) return 0;
  for (char *edit = text + 5; *edit != '\0' && count < EDITS; count++) {
    char *rest = fuzz_rest(edit, '|');
    edits[count] = edit;
    edit = rest;
  }
  return count;
}

/* What is written of a config is a config, and is written of that one too. */
static void write_again(const rs_experiment *experiment) {
  rs_text first = {0}, second = {0};
  rs_experiment *again = NULL;
  rs_problems problems = {0};
  rs_err err = {0};
  rs_experiment_write(experiment, &first);
  rs_status status = rs_config_read(rs_text_string(&first), "written", (rs_config_edits){0}, &again, &problems, &err);
  if (status != RS_OK)
    fprintf(stderr, "%s\n%s\n%s\n", rs_text_string(&first), rs_text_string(&problems.text), err.message);
  LAW(status == RS_OK);
  rs_experiment_write(again, &second);
  LAW(strcmp(rs_text_string(&first), rs_text_string(&second)) == 0);
  rs_problems_clear(&problems);
  rs_experiment_free(again);
  rs_text_clear(&first);
  rs_text_clear(&second);
}

static void use(const rs_experiment *experiment) {
  rs_plan plan;
  rs_text lines = {0};
  rs_err err = {0}, why = {0};
  write_again(experiment);
  rs_status status = rs_plan_make(experiment, NULL, &plan, &err);
  fuzz_says_why(status, &err);
  status = rs_experiment_warnings(experiment, &lines, &why);
  fuzz_says_why(status, &why);
  rs_text_clear(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *edits[EDITS];
  rs_experiment *experiment = NULL;
  rs_problems problems = {0};
  rs_err err = {0};
  char *text = fuzz_text(data, size);
  size_t head = strncmp(text, "#set ", 5) == 0 ? strcspn(text, "\n") : 0;
  char *body = text + head + (text[head] == '\n' && head > 0);
  if (head > 0) text[head] = '\0';
  const rs_config_edits changes = {edits, head > 0 ? read_edits(text, edits) : 0, NULL, NULL, NULL};
  rs_status status = rs_config_read(body, "fuzz.yaml", changes, &experiment, &problems, &err);
  LAW((status == RS_OK) == (experiment != NULL));
  fuzz_says_why(status, &err);
  if (status == RS_OK) use(experiment);
  rs_experiment_free(experiment);
  rs_problems_clear(&problems);
  free(text);
  return 0;
}
