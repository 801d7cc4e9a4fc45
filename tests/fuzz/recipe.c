/* recipe.c: a recipe in words, as of --method, with changes as of --set on further lines: read, written, read again,
 * and made into the tables of a short context. */
#include "fuzz.h"

#include "config/config.h"

enum { EDITS = 8, LENGTH = 32 };

static rs_status read(const char *words, const char *const *edits, size_t count, rs_subject *subject, rs_err *err) {
  rs_problems problems = {0};
  const rs_subject_in in = {.preset = "llama-2-7b", .method = words, .edits = {edits, count, NULL}, .length = LENGTH};
  rs_status status = rs_subject_read(&in, subject, &problems, err);
  rs_problems_clear(&problems);
  return status;
}

/* What is written is read as the same, but for long lists, of which the number is written alone. */
static void write_again(const rs_subject *subject) {
  rs_text first = {0}, second = {0};
  rs_subject again = {0};
  rs_err err = {0};
  rs_recipe_write(&subject->recipe, &first);
  if (strstr(rs_text_string(&first), " numbers") == NULL) {
    rs_status status = read(rs_text_string(&first), NULL, 0, &again, &err);
    if (status != RS_OK) fprintf(stderr, "%s: %s\n", first.data, err.message);
    LAW(status == RS_OK);
    rs_recipe_write(&again.recipe, &second);
    LAW(strcmp(rs_text_string(&first), rs_text_string(&second)) == 0);
    rs_subject_clear(&again);
  }
  rs_text_clear(&first);
  rs_text_clear(&second);
}

static void tabulate(const rs_subject *s) {
  rs_encoding *encoding = NULL;
  rs_err err = {0};
  rs_status status = rs_encoding_create(&s->recipe, &s->model, s->length, &s->tokens, &s->precision, &encoding, &err);
  fuzz_says_why(status, &err);
  rs_encoding_free(encoding);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *edits[EDITS];
  size_t count = 0;
  rs_subject subject = {0};
  rs_err err = {0};
  char *text = fuzz_text(data, size), *rest = fuzz_rest(text, '\n');
  for (; *rest != '\0' && count < EDITS; count++) {
    edits[count] = rest;
    rest = fuzz_rest(rest, '\n');
  }
  rs_status status = read(text, edits, count, &subject, &err);
  fuzz_says_why(status, &err);
  if (status == RS_OK) {
    write_again(&subject);
    tabulate(&subject);
    rs_subject_clear(&subject);
  }
  free(text);
  return 0;
}
