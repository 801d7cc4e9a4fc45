/* ropescope run, and ropescope plan, which says what a run would take. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- progress ---------------------------------------------------------------------------------------------------- */

typedef struct display {
  time_t start;
  int shown; /* permille last shown */
} display;

static void show_progress(void *context, size_t done, size_t cells, double share) {
  display *d = context;
  int permille = (int)floor(1000 * share);
  double elapsed = difftime(time(NULL), d->start), left = share > 0 ? elapsed * (1 - share) / share : 0;
  if (permille == d->shown) return;
  d->shown = permille;
  fprintf(stderr, "\r%5.1f %%  %zu of %zu cells  %.0f s left \033[K", 100 * share, done, cells, left);
}

/* ---- run --------------------------------------------------------------------------------------------------------- */

/* results/NAME, or what --out says. Release with free(). */
static char *results_folder(const cli_options *options, const rs_experiment *experiment, rs_err *err) {
  return options->out != NULL ? rs_strdup(options->out, err) : rs_path_join("results", experiment->name, err);
}

static void report(const cli_options *options, const char *directory, const rs_run_summary *summary) {
  cli_note(options, "%zu cells in %.1f s: %s", summary->cells, summary->seconds, directory);
  bool none = summary->failed == summary->cells; /* an exit status of 1 needs a word, however quiet */
  if (none) cli_error("no cell has values: see status and message in %s/summary.csv", directory);
  if (summary->failed > 0 && !none)
    cli_note(options, "%zu of them without values: see status and message in %s/summary.csv", summary->failed,
             directory);
}

/* What runs, but was hardly meant. */
static void warn(const cli_options *options, const rs_experiment *experiment) {
  rs_text lines = {0};
  if (rs_experiment_warnings(experiment, &lines, NULL) == RS_OK)
    for (const char *line = rs_text_string(&lines); *line != '\0'; line += strcspn(line, "\n") + 1)
      cli_note(options, "warning: %.*s", (int)strcspn(line, "\n"), line);
  rs_text_clear(&lines);
}

int cli_run(const cli_options *options, const rs_experiment *experiment, const char *directory) {
  bool live = !options->quiet && isatty(STDERR_FILENO);
  display d = {.start = time(NULL), .shown = -1};
  rs_run_options run = {.directory = directory, .progress = live ? show_progress : NULL, .context = &d};
  rs_run_summary summary;
  rs_err err = {0};
  warn(options, experiment);
  rs_status status = rs_run(experiment, &run, &summary, &err);
  if (live) fputs("\r\033[K", stderr);
  if (status != RS_OK) {
    cli_fail(status, NULL, &err);
    return CLI_FAILED; /* the input was good */
  }
  report(options, directory, &summary);
  if (summary.starved > 0)
    cli_error("%zu cells ran out of memory (ropescope plan says what a run takes)", summary.starved);
  if (summary.starved > 0 || summary.failed == summary.cells) return CLI_FAILED;
  return options->print ? cli_print_summary(experiment, directory) : CLI_OK;
}

int cmd_run(const cli_options *options) {
  rs_experiment *experiment;
  rs_err err = {0};
  int code = cli_load(options, options->argument_count > 0 ? options->arguments[0] : NULL, &experiment);
  if (code != CLI_OK) return code;
  char *directory = results_folder(options, experiment, &err);
  code = directory != NULL ? cli_run(options, experiment, directory) : cli_fail(RS_MEMORY, NULL, &err);
  free(directory);
  rs_experiment_free(experiment);
  return code;
}

/* ---- plan -------------------------------------------------------------------------------------------------------- */

int cmd_plan(const cli_options *options) {
  rs_experiment *experiment;
  rs_plan plan;
  rs_err err = {0};
  rs_text text = {0};
  int code = cli_load(options, options->argument_count > 0 ? options->arguments[0] : NULL, &experiment);
  if (code != CLI_OK) return code;
  rs_status status = rs_plan_make(experiment, &plan, &err);
  if (status == RS_OK) {
    rs_text_printf(&text, "name            %s\n", experiment->name);
    rs_text_printf(&text, "cells           %zu (%zu models, %zu methods, %zu lengths, %zu sources, %zu seeds)\n",
                   plan.cells, experiment->model_count, experiment->methods.count, experiment->length_count,
                   experiment->sources.count, experiment->seed_count);
    rs_text_printf(&text, "summary.csv     %zu rows of %zu columns\n", plan.cells, plan.summary_columns);
    rs_text_printf(&text, "curves          at most %.0f rows\n", plan.curve_rows);
    rs_text_printf(&text, "memory          %.0f MiB\n", ceil(plan.peak_bytes / 1048576));
    rs_text_printf(&text, "queries x keys  %.3g flop\n", plan.score_flops);
    code = cli_put(&text) ? CLI_OK : CLI_FAILED;
  } else {
    code = cli_fail(status, NULL, &err);
  }
  rs_experiment_free(experiment);
  return code;
}
