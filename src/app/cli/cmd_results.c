/* ropescope plot, report, table, verify: what is made of a folder of results, and whether it is what it says. */
#include "cli.h"

#include "pages/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool holds(const char *directory, const char *name, rs_err *err) {
  char *path = rs_path_join(directory, name, err);
  bool found = path != NULL && access(path, F_OK) == 0;
  free(path);
  return found;
}

/* CSV files alone do not say what was asked, what their columns mean, or that they are whole: what is drawn of them
 * would have to be made up. Returns an exit status. */
static int check_folder(const char *directory) {
  rs_err err = {0};
  if (holds(directory, "manifest.json", &err)) return CLI_OK;
  bool summary = err.status == RS_OK && holds(directory, "summary.csv", &err);
  if (err.status != RS_OK) return cli_fail(err.status, NULL, &err);
  if (summary)
    return cli_error("%s has summary.csv and no manifest.json, which says what was asked and vouches for the CSV "
                     "files: ropescope run, or reproduce with --out, writes both",
                     directory);
  if (access(directory, F_OK) != 0) return cli_error("%s is not there", directory);
  return cli_error("%s is no results folder: it has no manifest.json (ropescope run writes one)", directory);
}

/* ---- plot -------------------------------------------------------------------------------------------------------- */

/* What --format says; else SVG and, where they can be made, PNG. */
static rs_status choose_formats(const cli_options *options, unsigned *formats, rs_err *err) {
  rs_err why = {0};
  if (options->format != NULL) return rs_plot_formats_read(options->format, formats, err);
  bool render = rs_plot_render_check(&why) == RS_OK;
  if (!render) cli_note(options, "SVG alone: %s", why.message);
  *formats = RS_PLOT_SVG | (render ? RS_PLOT_PNG : 0);
  return RS_OK;
}

static rs_status draw(const cli_options *options, rs_plot_report *report, rs_err *err) {
  rs_arena arena = {0};
  size_t count;
  unsigned formats = 0;
  const char *const *names = cli_split_names(&options->only, &arena, &count);
  rs_status status = choose_formats(options, &formats, err);
  if (status == RS_OK) status = rs_arena_check(&arena, err);
  const rs_plot_options plot = {
      .length = options->length, .only = names, .only_count = count, .all = options->all, .formats = formats};
  if (status == RS_OK && options->only.count > 0 && count == 0)
    status = rs_fail_on(err, RS_INPUT, "only", "there is no name in it");
  if (status == RS_OK) status = rs_plot_results(options->arguments[0], &plot, report, err);
  rs_arena_clear(&arena);
  return status;
}

int cmd_plot(const cli_options *options) {
  rs_plot_report report = {0};
  rs_err err = {0};
  if (options->argument_count == 0)
    return cli_error("plot needs a results folder, as in ropescope plot results/quickstart");
  int code = check_folder(options->arguments[0]);
  if (code != CLI_OK) return code;
  rs_status status = draw(options, &report, &err);
  for (size_t i = 0; i < report.note_count; i++) cli_note(options, "%s", report.notes[i]);
  if (report.count > 0)
    cli_note(options, "%zu picture%s in %s/plots", report.count, report.count == 1 ? "" : "s", options->arguments[0]);
  if (report.plain > 0)
    cli_note(options, "left out: %zu that say nothing, as one number or lines that are all equal (--all draws them)",
             report.plain);
  rs_plot_report_clear(&report);
  return status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
}

/* ---- report ------------------------------------------------------------------------------------------------------ */

int cmd_report(const cli_options *options) {
  rs_plot_report notes = {0};
  rs_text page = {0};
  rs_err err = {0};
  int code = CLI_OK;
  if (options->argument_count == 0)
    return cli_error("report needs folders of results, as in ropescope report results/quickstart");
  for (size_t i = 0; i < options->argument_count && code == CLI_OK; i++) code = check_folder(options->arguments[i]);
  if (code != CLI_OK) return code;
  char *path =
      options->out != NULL ? rs_strdup(options->out, &err) : rs_path_join(options->arguments[0], "report.html", &err);
  rs_status status = path != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK)
    status = rs_report_write(options->arguments, options->argument_count, options->still, &page, &notes, &err);
  if (status == RS_OK) status = rs_file_write(path, page.data, page.length, &err);
  for (size_t i = 0; i < notes.note_count; i++) cli_note(options, "%s", notes.notes[i]);
  rs_text_clear(&page);
  rs_plot_report_clear(&notes);
  if (status == RS_OK) rs_text_line(&page, "%s", path);
  free(path);
  return cli_answer(status, &err, &page, CLI_TEXT);
}

/* ---- table ------------------------------------------------------------------------------------------------------- */

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
                            .less = options->less,
                            .sort = options->sort,
                            .form = options->json       ? RS_PIVOT_JSON
                                    : options->markdown ? RS_PIVOT_MARKDOWN
                                                        : RS_PIVOT_PLAIN};
  rs_text text = {0};
  rs_err err = {0};
  if (options->argument_count < 2)
    return cli_error("table needs results and columns, as in ropescope table results/quickstart entropy_nats "
                     "'at 32k: needle_win_rate where length_tokens=32k'");
  if (options->markdown && options->json) return cli_error("--markdown and --json are two forms: keep one");
  wanted.count = options->argument_count - 1;
  struct stat info;
  bool folder = stat(options->arguments[0], &info) == 0 && S_ISDIR(info.st_mode);
  char *file =
      folder ? rs_path_join(options->arguments[0], "summary.csv", &err) : rs_strdup(options->arguments[0], &err);
  rs_status status = file != NULL ? rs_pivot(file, &wanted, &text, &err) : RS_MEMORY;
  if (status == RS_OK) status = say_incomplete(options, file, &text, &err);
  free(file);
  return cli_answer(status, &err, &text, options->json ? CLI_DATA : CLI_TEXT);
}

/* ---- verify ------------------------------------------------------------------------------------------------------ */

/* Findings are data, and go to stdout; what is fine is a note. */
static int verify(const cli_options *options, const char *directory) {
  rs_folder_verdict verdict;
  rs_text findings = {0}, incomplete = {0};
  rs_err err = {0};
  rs_status status = rs_results_verify(directory, &verdict, &findings, &err);
  if (status == RS_OK) status = rs_results_incomplete(directory, &incomplete, &err);
  int code = CLI_USAGE; /* what cannot be checked is no verdict */
  if (status != RS_OK) {
    cli_fail(status, NULL, &err);
  } else {
    bool put = findings.length == 0 || cli_put(&findings, CLI_TEXT) == CLI_OK, fine = verdict.differing == 0;
    char count[48];
    snprintf(count, sizeof count, fine ? "%zu files are" : "%zu of %zu files are not",
             fine ? verdict.files : verdict.differing, verdict.files);
    cli_note(options, "%s: %s what manifest.json says%s%s", directory, count, incomplete.length > 0 ? ", " : "",
             rs_text_string(&incomplete));
    code = put && fine ? CLI_OK : CLI_FAILED;
  }
  rs_text_clear(&findings);
  rs_text_clear(&incomplete);
  return code;
}

/* All are checked; the worst decides. */
int cmd_verify(const cli_options *options) {
  int worst = CLI_OK;
  if (options->argument_count == 0)
    return cli_error("verify needs a results folder, as in ropescope verify results/quickstart");
  for (size_t i = 0; i < options->argument_count; i++) {
    int code = verify(options, options->arguments[i]);
    worst = code > worst ? code : worst;
  }
  return worst;
}
