/* ropescope table: a CSV file of results as one small table. */
#include "cli.h"

#include "app/app.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* summary.csv of a results folder, or the file itself. Release with free(). */
static char *csv_of(const char *path, rs_err *err) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? rs_path_join(path, "summary.csv", err)
                                                         : rs_strdup(path, err);
}

/* Whether the set lacks cells is said with every table of it; beside JSON on stderr. */
static rs_status say_incomplete(const cli_options *options, const char *file, rs_text *text, rs_err *err) {
  rs_text words = {0};
  const char *slash = strrchr(file, '/');
  char *folder = rs_strdup(slash != NULL ? file : ".", err);
  if (folder == NULL) return RS_MEMORY;
  if (slash != NULL) folder[slash == file ? 1 : slash - file] = '\0';
  rs_status status = rs_results_incomplete(folder, &words, err);
  if (status == RS_OK && words.length > 0 && options->json) cli_note(options, "%s: %s", folder, words.data);
  if (status == RS_OK && words.length > 0 && !options->json) rs_text_printf(text, "\n%s\n", words.data);
  rs_text_clear(&words);
  free(folder);
  return status;
}

int cmd_table(const cli_options *options) {
  rs_pivot_wanted wanted = {.lines = options->lines != NULL ? options->lines : "method",
                            .questions = options->arguments + 1,
                            .where = options->where != NULL ? options->where : "",
                            .sort = options->sort,
                            .form = options->json       ? RS_PIVOT_JSON
                                    : options->markdown ? RS_PIVOT_MARKDOWN
                                                        : RS_PIVOT_PLAIN};
  rs_text text = {0};
  rs_err err = {0};
  if (options->argument_count < 2) {
    cli_error("table needs results and columns, as in ropescope table results/quickstart entropy_nats "
              "'at 32k: needle_win_rate where length_tokens=32k'");
    return CLI_USAGE;
  }
  if (options->markdown && options->json) {
    cli_error("--markdown and --json are two forms: keep one");
    return CLI_USAGE;
  }
  wanted.count = options->argument_count - 1;
  char *file = csv_of(options->arguments[0], &err);
  rs_status status = file != NULL ? rs_pivot(file, &wanted, &text, &err) : RS_MEMORY;
  if (status == RS_OK) status = say_incomplete(options, file, &text, &err);
  int code = status != RS_OK                                       ? cli_fail(status, NULL, &err)
             : cli_put(&text, options->json ? CLI_DATA : CLI_TEXT) ? CLI_OK
                                                                   : CLI_FAILED;
  rs_text_clear(&text);
  free(file);
  return code;
}
