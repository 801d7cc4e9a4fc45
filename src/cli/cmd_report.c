/* ropescope report RESULTS...: folders of results as one page for a browser. */
#include "cli.h"

#include "ropescope/report.h"

#include <stdlib.h>
#include <unistd.h>

static bool is_results_folder(const char *directory, rs_err *err) {
  char *manifest = rs_path_join(directory, "manifest.json", err);
  bool found = manifest != NULL && access(manifest, F_OK) == 0;
  free(manifest);
  return found;
}

/* Returns an exit status. */
static int check_folders(const cli_options *options) {
  if (options->argument_count == 0) {
    cli_error("report needs folders of results, as in ropescope report results/quickstart");
    return CLI_USAGE;
  }
  for (size_t i = 0; i < options->argument_count; i++) {
    rs_err err = {0};
    if (is_results_folder(options->arguments[i], &err)) continue;
    if (err.status != RS_OK) return cli_fail(err.status, NULL, &err);
    cli_error("%s is no results folder: it has no manifest.json (ropescope run writes one)", options->arguments[i]);
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
    rs_text_printf(&said, "%s\n", path);
    bool put = cli_put(&said);
    rs_text_clear(&said);
    free(path);
    return put ? CLI_OK : CLI_FAILED;
  }
  free(path);
  return cli_fail(status, NULL, &err);
}
