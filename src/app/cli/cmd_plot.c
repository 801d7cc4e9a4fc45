/* ropescope plot RESULTS: pictures of a results folder. */
#include "cli.h"

#include "pages/pages.h"

#include <stdlib.h>
#include <unistd.h>

static rs_status find_manifest(const char *directory, rs_err *err) {
  char *manifest = rs_path_join(directory, "manifest.json", err);
  if (manifest == NULL) return RS_MEMORY;
  bool found = access(manifest, F_OK) == 0;
  free(manifest);
  if (found) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s is no results folder: it has no manifest.json (ropescope run writes one)",
                 directory);
}

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
  char *words = NULL;
  const char **names = NULL;
  size_t count = 0;
  unsigned formats = 0;
  rs_status status = choose_formats(options, &formats, err);
  if (status == RS_OK) status = cli_split_names(&options->only, &words, &names, &count, err);
  const rs_plot_options plot = {
      .length = options->length, .only = names, .only_count = count, .all = options->all, .formats = formats};
  if (status == RS_OK && options->only.count > 0 && count == 0)
    status = rs_fail_on(err, RS_INPUT, "only", "there is no name in it");
  if (status == RS_OK) status = rs_plot_results(options->arguments[0], &plot, report, err);
  free(names);
  free(words);
  return status;
}

int cmd_plot(const cli_options *options) {
  rs_plot_report report = {0};
  rs_err err = {0};
  if (options->argument_count == 0) {
    cli_error("plot needs a results folder, as in ropescope plot results/quickstart");
    return CLI_USAGE;
  }
  rs_status status = find_manifest(options->arguments[0], &err);
  if (status == RS_OK) status = draw(options, &report, &err);
  for (size_t i = 0; i < report.note_count; i++) cli_note(options, "%s", report.notes[i]);
  if (report.count > 0)
    cli_note(options, "%zu picture%s in %s/plots", report.count, report.count == 1 ? "" : "s", options->arguments[0]);
  if (report.plain > 0)
    cli_note(options, "left out: %zu that say nothing, as one number or lines that are all equal (--all draws them)",
             report.plain);
  rs_plot_report_clear(&report);
  return status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
}
