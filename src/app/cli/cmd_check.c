/* ropescope check FILE...: is this config.json right? */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { FOUND = 1 };

/* What the options say of all files. */
typedef struct request {
  bool portrayed;
  uint32_t engines;                  /* 0: none is named */
  const rs_rule *ignored[CLI_WORDS]; /* (ignored_count,) */
  size_t ignored_count;
} request;

static void ignore(const request *asked, checked_file *file) {
  for (size_t i = 0; i < asked->ignored_count; i++)
    file->ignored += rs_findings_drop(&file->findings, asked->ignored[i]);
}

/* Portraits tell of the engines that are named, and of transformers, which all are measured by. */
static void choose_engines(uint32_t engines, rs_derivations *derivations) {
  size_t kept = 0;
  for (size_t i = 0; i < derivations->count && engines != 0; i++)
    if (i == 0 || (engines >> derivations->items[i].engine & 1) != 0)
      derivations->items[kept++] = derivations->items[i];
  if (engines != 0) derivations->count = kept;
}

static rs_status check_file(const char *word, const request *asked, checked_file *file, rs_err *err) {
  char *name = NULL, *data = NULL;
  size_t length = 0;
  rs_err why = {0};
  rs_status status = cli_read_config(word, &name, &data, &length, &why);
  if (status == RS_OK) status = rs_check(data, length, name, asked->engines, &file->findings, &why);
  if (status == RS_OK && asked->portrayed) { /* what is no recipe has findings that say why, and no portrait */
    rs_err unread = {0};
    file->portrayed = rs_portrait_read(data, length, name, NULL, &file->portrait, &unread) == RS_OK;
    if (unread.status == RS_MEMORY) status = rs_fail(&why, RS_MEMORY, "%s", unread.message);
  }
  if (status == RS_OK) ignore(asked, file);
  if (file->portrayed) choose_engines(asked->engines, &file->portrait.engines);
  free(data);
  file->name = name;
  if (status == RS_OK) return RS_OK;
  if (status != RS_MEMORY) file->message = rs_strdup(why.message, err);
  return file->message != NULL ? RS_OK : rs_fail(err, RS_MEMORY, "out of memory while checking %s", word);
}

/* The names of --engine and --ignore. */
static rs_status read_names(const cli_options *options, request *asked, rs_err *err) {
  RS_OWNED(rs_arena) arena = {0};
  size_t engines, codes;
  const char *const *engine = cli_split_names(&options->engines, &arena, &engines);
  const char *const *code = cli_split_names(&options->ignored, &arena, &codes);
  RS_TRY(rs_arena_check(&arena, err));
  for (size_t i = 0; i < engines; i++) RS_TRY(rs_config_engines_choose(engine[i], &asked->engines, err));
  if (codes > CLI_WORDS) return rs_fail(err, RS_INPUT, "more than %d findings to ignore", CLI_WORDS);
  for (size_t i = 0; i < codes; i++) RS_TRY(rs_rule_find(code[i], &asked->ignored[asked->ignored_count++], err));
  return RS_OK;
}

/* Whether a file is JSON and still no config of a model. */
static bool is_unread(const checked_file *file) {
  for (size_t i = 0; i < file->findings.count; i++)
    if (strcmp(file->findings.items[i].rule->name, "not-read") == 0) return true;
  return file->message != NULL;
}

static int put_all(const cli_options *options, const checked_files *files) {
  const char *word = options->json ? "json" : options->format != NULL ? options->format : "text";
  bool json = strcmp(word, "json") == 0, sarif = strcmp(word, "sarif") == 0;
  RS_OWNED(rs_arena) arena = {0};
  rs_text text = {0};
  size_t found = 0, unread = 0;
  if (json || sarif)
    rs_doc_json((json ? check_json : check_sarif)(files, &arena), &text);
  else
    (strcmp(word, "text") == 0 ? check_put_text : check_put_github)(files, &text);
  if (cli_put(&text, json || sarif ? CLI_DATA : CLI_TEXT) != CLI_OK) return CLI_USAGE;
  for (size_t i = 0; i < files->count; i++) {
    const checked_file *file = &files->items[i];
    found += rs_findings_count(&file->findings, RS_WARNING);
    unread += is_unread(file);
    if (file->message != NULL) cli_error("%s", file->message);
  }
  return unread > 0 ? CLI_USAGE : found > 0 ? FOUND : CLI_OK;
}

int cmd_check(const cli_options *options) {
  checked_files files = {0};
  rs_err err = {0};
  if (options->argument_count == 0)
    return cli_error("check needs a file, as in ropescope check config.json (a folder that holds one, or - for "
                     "standard input)");
  if (options->json && options->format != NULL) return cli_error("--json and --format both say the form: keep one");
  int code = CLI_USAGE;
  request asked = {.portrayed = !options->findings};
  files.items = rs_alloc(options->argument_count, sizeof *files.items, &err);
  rs_status status = files.items != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) status = read_names(options, &asked, &err);
  for (; files.count < options->argument_count && status == RS_OK; files.count++) /* whatever one of them is */
    status = check_file(options->arguments[files.count], &asked, &files.items[files.count], &err);
  if (status == RS_OK)
    code = put_all(options, &files);
  else
    cli_fail(status, NULL, &err);
  for (size_t i = 0; i < files.count; i++) {
    rs_findings_clear(&files.items[i].findings);
    rs_portrait_clear(&files.items[i].portrait);
    free(files.items[i].name);
    free(files.items[i].message);
  }
  free(files.items);
  return code;
}
