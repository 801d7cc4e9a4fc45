/* config_json.c: a config.json through check in all its forms, explain and show. */
#include "fuzz.h"

#include "../../src/app/cli/cli.h"

/* The forms for machines are JSON, whatever the file has in its keys and words. */
static void read_back(const rs_text *json) {
  rs_tree *tree = NULL;
  rs_err err = {0};
  rs_status status = rs_json_read(rs_text_string(json), json->length, "form", &tree, &err);
  if (status != RS_OK) fprintf(stderr, "%s\n%s\n", rs_text_string(json), err.message);
  LAW(status == RS_OK);
  rs_tree_free(tree);
}

static void put_forms(checked_file *file) {
  static rs_doc *(*const trees[])(const checked_files *files, rs_arena *arena) = {check_json, check_sarif};
  static void (*const forms[])(const checked_files *files, rs_text *text) = {check_put_text, check_put_github};
  const checked_files files = {file, 1};
  for (size_t i = 0; i < RS_COUNT(trees); i++) {
    rs_arena arena = {0};
    rs_text text = {0};
    rs_doc_json(trees[i](&files, &arena), &text);
    LAW(!text.failed);
    read_back(&text);
    rs_text_clear(&text);
    rs_arena_clear(&arena);
  }
  for (size_t i = 0; i < RS_COUNT(forms); i++) {
    rs_text text = {0};
    forms[i](&files, &text);
    LAW(!text.failed);
    rs_text_clear(&text);
  }
}

static void check(const char *data, size_t size) {
  checked_file file = {.name = (char *)"fuzz.json"};
  rs_err err = {0}, why = {0};
  rs_status status = rs_check(data, size, file.name, 0, &file.findings, &err);
  fuzz_says_why(status, &err);
  if (status != RS_OK) return;
  status = rs_portrait_read(data, size, file.name, NULL, &file.portrait, &why);
  fuzz_says_why(status, &why);
  file.portrayed = status == RS_OK;
  put_forms(&file);
  rs_findings_clear(&file.findings);
  rs_portrait_clear(&file.portrait);
}

/* The commands as they are; what they say is for others to look at, that they end well or badly is not. */
static void ask(int (*command)(const cli_options *options), cli_options options) {
  options.quiet = true;
  int status = command(&options);
  LAW(status == CLI_OK || status == CLI_FAILED || status == CLI_USAGE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char name[] = "config.json";
  char *text = fuzz_text(data, size);
  check(text, size);
  fuzz_file(name, data, size);
  ask(cmd_explain, (cli_options){.arguments = {name}, .argument_count = 1, .length = 131072});
  ask(cmd_explain, (cli_options){.arguments = {name}, .argument_count = 1, .length = 5000, .pair = 2, .json = true});
  ask(cmd_show, (cli_options){.arguments = {"frequencies"}, .argument_count = 1, .hf = name});
  ask(cmd_show, (cli_options){.arguments = {"layers"}, .argument_count = 1, .hf = name, .json = true});
  free(text);
  return 0;
}
