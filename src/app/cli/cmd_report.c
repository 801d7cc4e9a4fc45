/* ropescope report RESULTS...: folders of results as one page for a browser. */
#include "cli.h"

#include "pages/pages.h"

#include <stdlib.h>
#include <unistd.h>

static bool holds(const char *directory, const char *name, rs_err *err) {
  char *path = rs_path_join(directory, name, err);
  bool found = path != NULL && access(path, F_OK) == 0;
  free(path);
  return found;
}

/* CSV files alone do not say what was asked, what their columns mean, or that they are whole: the page would have to
 * make its sentences up. */
static void refuse(const char *directory, bool summary) {
  if (summary)
    cli_error("%s has summary.csv and no manifest.json, which says what was asked and vouches for the CSV files: "
              "ropescope run, or reproduce with --out, writes both",
              directory);
  else if (access(directory, F_OK) != 0)
    cli_error("%s is not there", directory);
  else
    cli_error("%s is no results folder: it has no manifest.json (ropescope run writes one)", directory);
}

/* Returns an exit status. */
static int check_folders(const cli_options *options) {
  if (options->argument_count == 0) {
    cli_error("report needs folders of results, as in ropescope report results/quickstart");
    return CLI_USAGE;
  }
  for (size_t i = 0; i < options->argument_count; i++) {
    rs_err err = {0};
    if (holds(options->arguments[i], "manifest.json", &err)) continue;
    bool summary = err.status == RS_OK && holds(options->arguments[i], "summary.csv", &err);
    if (err.status != RS_OK) return cli_fail(err.status, NULL, &err);
    refuse(options->arguments[i], summary);
    return CLI_USAGE;
  }
  return CLI_OK;
}

/* FILE of --out, else report.html in the first folder. Owned by the caller. */
static char *path_of(const cli_options *options, rs_err *err) {
  return options->out != NULL ? rs_strdup(options->out, err) : rs_path_join(options->arguments[0], "report.html", err);
}

int cmd_report(const cli_options *options) {
  rs_plot_report notes = {0};
  rs_text page = {0};
  rs_err err = {0};
  int usage = check_folders(options);
  if (usage != CLI_OK) return usage;
  char *path = path_of(options, &err);
  rs_status status = path != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK)
    status = rs_report_write(options->arguments, options->argument_count, options->still, &page, &notes, &err);
  if (status == RS_OK) status = rs_file_write(path, page.data, page.length, &err);
  for (size_t i = 0; i < notes.note_count; i++) cli_note(options, "%s", notes.notes[i]);
  rs_text_clear(&page);
  rs_plot_report_clear(&notes);
  if (status == RS_OK) {
    rs_text said = {0};
    rs_text_line(&said, "%s", path);
    bool put = cli_put(&said, CLI_TEXT);
    rs_text_clear(&said);
    free(path);
    return put ? CLI_OK : CLI_FAILED;
  }
  free(path);
  return cli_fail(status, NULL, &err);
}
