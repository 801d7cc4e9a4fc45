/* ropescope run, and ropescope plan, which says what a run would take. */
#include "cli.h"

#include "progress.h"
#include "ropescope/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- progress ---------------------------------------------------------------------------------------------------- */

typedef struct display {
  struct timespec start;
  cli_progress progress;
  size_t done; /* cells */
  char doing[CLI_DOING];
  size_t foreign;       /* models that another instruction set has computed, */
  char *foreign_folder; /* that of the first of them, or NULL, */
  char foreign_by[32];  /* and what computed it */
  const cli_options *options;
} display;

static bool note_training(void *context, const rs_training_report *report) {
  display *d = context;
  cli_training(report, d->doing);
  return cli_signal() == 0;
}

static void note_waiting(void *context, const char *folder) {
  const display *d = context;
  cli_note(d->options, "another process trains %s: waiting for it", folder);
}

/* Weights that are not those which this run would have trained, where it asks for an instruction set. */
static void note_ready(void *context, const char *folder, const char *arithmetic) {
  display *d = context;
  const char *isa = d->options->isa;
  if (folder == NULL || isa == NULL || strcmp(isa, "auto") == 0 || strcmp(isa, arithmetic) == 0) return;
  if (d->foreign++ > 0) return;
  d->foreign_folder = rs_strdup(folder, NULL);
  snprintf(d->foreign_by, sizeof d->foreign_by, "%s", arithmetic);
}

static void warn_of_foreign(const display *d) {
  if (d->foreign == 0 || d->foreign_folder == NULL) return;
  bool several = d->foreign > 1;
  cli_note(d->options, "warning: %s%s computed by %s, not by %s: the weights are others (move %s away to train anew)",
           d->foreign_folder, several ? " and others were" : " was", d->foreign_by, d->options->isa,
           several ? "them" : "it");
}

static bool is_stopped(void *context) {
  (void)context;
  return cli_signal() != 0;
}

static void note_resumed(void *context, size_t done, size_t cells) {
  const display *d = context;
  cli_note(d->options, "%zu of %zu cells were done before (--fresh does them again)", done, cells);
}

static void show_progress(void *context, size_t done, size_t cells, double share) {
  display *d = context;
  char line[256];
  if (done > d->done) d->doing[0] = '\0';
  d->done = done;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double seconds = difftime(now.tv_sec, d->start.tv_sec);
  if (cli_progress_line(&d->progress, seconds, share, done, cells, d->doing, line, sizeof line)) fputs(line, stderr);
}

/* ---- run --------------------------------------------------------------------------------------------------------- */

/* results/NAME, or what --out says. Release with free(). */
static char *results_folder(const cli_options *options, const rs_experiment *experiment, rs_err *err) {
  return options->out != NULL ? rs_strdup(options->out, err) : rs_path_join("results", experiment->name, err);
}

static void report(const cli_options *options, const char *directory, const rs_run_summary *summary) {
  bool whole = summary->done == summary->cells;
  if (whole)
    cli_note(options, "%zu cell%s in %.1f s: %s", summary->cells, summary->cells == 1 ? "" : "s", summary->seconds,
             directory);
  else
    cli_note(options, "incomplete: %zu of %zu cells: %s", summary->done, summary->cells, directory);
  bool none = summary->failed == summary->done; /* an exit status of 1 needs a word, however quiet */
  if (none && summary->done > 0) cli_error("cell %zu: %s", summary->first_failed, summary->message);
  if (none) cli_error("no cell has values: see status and message in %s/summary.csv", directory);
  if (summary->failed > 0 && !none)
    cli_note(options, "%zu of them without values: see status and message in %s/summary.csv (cell %zu: %s)",
             summary->failed, directory, summary->first_failed, summary->message);
}

static double mebibytes(double bytes) {
  return ceil(bytes / 1048576);
}

/* Refuses what does not fit: a run that the system ends has taken its hours for nothing. */
static int check_memory(const cli_options *options, const rs_experiment *experiment, const char *checkpoints) {
  rs_plan plan;
  rs_err err = {0};
  double available = rs_memory_available();
  rs_status status = rs_plan_make(experiment, checkpoints, &plan, &err);
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  if (options->force || !(plan.peak_bytes > available)) return CLI_OK;
  cli_error("the run takes about %.0f MiB and %.0f are available: choose fewer methods or shorter lengths, or --force",
            mebibytes(plan.peak_bytes), mebibytes(available));
  return CLI_USAGE;
}

/* What runs, but was hardly meant. */
static void warn(const cli_options *options, const rs_experiment *experiment) {
  rs_text lines = {0};
  if (rs_experiment_warnings(experiment, &lines, NULL) == RS_OK)
    for (const char *line = rs_text_string(&lines), *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
      cli_note(options, "warning: %.*s", (int)(end - line), line);
  rs_text_clear(&lines);
}

/* Pictures of what stood in the folder before would pass for pictures of this run. */
static void remove_stale_pictures(const cli_options *options, const char *directory) {
  rs_plot_report pictures = {0};
  rs_err why = {0};
  if (rs_plot_remove_stale(directory, &pictures, &why) != RS_OK) cli_error("%s", why.message);
  for (size_t i = 0; i < pictures.note_count; i++) cli_note(options, "%s", pictures.notes[i]);
  rs_plot_report_clear(&pictures);
}

/* "checkpoints" beside the folder, or what --checkpoints says. Release with free(). */
static char *checkpoints_folder(const cli_options *options, const char *directory, rs_err *err) {
  static const char name[] = "checkpoints";
  if (options->checkpoints != NULL) return rs_strdup(options->checkpoints, err);
  size_t length = strlen(directory);
  while (length > 1 && directory[length - 1] == '/') length--;
  while (length > 0 && directory[length - 1] != '/') length--;
  rs_text path = {0};
  rs_text_printf(&path, "%.*s%s", (int)length, directory, name);
  if (rs_text_check(&path, err) == RS_OK) return path.data;
  rs_text_clear(&path);
  return NULL;
}

static int end_badly(rs_status status, const rs_err *err) {
  int code = cli_fail(status, NULL, err);
  return code == CLI_BUSY ? code : CLI_FAILED; /* the input was good */
}

/* An exit status as a shell gives it to what a signal has ended. */
static int end_stopped(const rs_run_summary *summary, const rs_err *err) {
  enum { BY_SIGNAL = 128 };
  bool training = strcmp(err->message, "stopped") != 0; /* which says itself how to go on */
  if (training) cli_error("%s", err->message);
  if (!training || summary->done > 0)
    cli_error("%zu of %zu cells are done: the same command goes on from there%s", summary->done, summary->cells,
              summary->done > 0 ? ", and --partial writes what there is" : "");
  return BY_SIGNAL + cli_signal();
}

/* `forget`: what is done is not for later runs. */
static int run_at(const cli_options *options, const rs_experiment *experiment, const char *directory,
                  const char *checkpoints, bool forget) {
  display d = {.progress = {.terminal = isatty(STDERR_FILENO), .permille = -1}, .options = options};
  const rs_training_watch training = {.wait = note_waiting, .step = note_training, .ready = note_ready, .context = &d};
  bool live = !options->quiet && d.progress.terminal;
  rs_run_options run = {.directory = directory,
                        .progress = options->quiet ? NULL : show_progress,
                        .resumed = note_resumed,
                        .stop = is_stopped,
                        .resume = !options->fresh,
                        .partial = options->partial,
                        .forget = forget,
                        .checkpoints = checkpoints,
                        .training = &training,
                        .context = &d};
  rs_run_summary summary;
  rs_err err = {0};
  int fits = check_memory(options, experiment, checkpoints);
  if (fits != CLI_OK) return fits;
  warn(options, experiment);
  clock_gettime(CLOCK_MONOTONIC, &d.start);
  cli_catch_signals(options->quiet);
  rs_status status = rs_run(experiment, &run, &summary, &err);
  cli_release_signals();
  if (live) fputs("\r\033[K", stderr);
  warn_of_foreign(&d);
  free(d.foreign_folder);
  if (status == RS_STOPPED) return end_stopped(&summary, &err);
  if (status != RS_OK) return end_badly(status, &err);
  report(options, directory, &summary);
  remove_stale_pictures(options, directory);
  if (summary.starved > 0)
    cli_error("%zu cells ran out of memory (ropescope plan says what a run takes)", summary.starved);
  if (summary.starved > 0 || summary.failed == summary.done) return CLI_FAILED;
  return options->print ? cli_print_summary(experiment, directory) : CLI_OK;
}

int cli_run(const cli_options *options, const rs_experiment *experiment, const char *directory, bool forget) {
  rs_err err = {0};
  char *checkpoints = checkpoints_folder(options, directory, &err);
  int code = checkpoints != NULL ? run_at(options, experiment, directory, checkpoints, forget)
                                 : cli_fail(RS_MEMORY, NULL, &err);
  free(checkpoints);
  return code;
}

/* Runs into the folder unless it holds something else. */
static int run_into(const cli_options *options, const rs_experiment *experiment, const char *directory) {
  bool differs;
  rs_err err = {0};
  if (options->partial && options->fresh) {
    cli_error("--partial writes what was done before, --fresh does it again: keep one");
    return CLI_USAGE;
  }
  rs_status status = rs_folder_differs(experiment, directory, &differs, &err);
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  if (!differs || options->force) return cli_run(options, experiment, directory, false);
  cli_error("%s holds the results of another config: choose another --out or name, or --force to replace them",
            directory);
  return CLI_USAGE;
}

int cmd_run(const cli_options *options) {
  rs_experiment *experiment;
  rs_err err = {0};
  int code = cli_load_sweep(options, &experiment);
  if (code != CLI_OK) return code;
  char *directory = results_folder(options, experiment, &err);
  code = directory != NULL ? run_into(options, experiment, directory) : cli_fail(RS_MEMORY, NULL, &err);
  free(directory);
  rs_experiment_free(experiment);
  return code;
}

/* ---- plan -------------------------------------------------------------------------------------------------------- */

static void put_memory(double bytes, rs_text *text) {
  double available = rs_memory_available();
  rs_text_printf(text, "memory          %.0f MiB", mebibytes(bytes));
  if (!isnan(available)) rs_text_printf(text, " of %.0f available", mebibytes(available));
  rs_text_puts(text, bytes > available ? ": run refuses without --force\n" : "\n");
}

static rs_status put_time(const rs_experiment *experiment, const char *checkpoints, const rs_plan *plan, rs_text *text,
                          rs_err *err) {
  static const double budget = 0.5; /* seconds */
  char duration[CLI_DURATION];
  size_t cells = plan->cells;
  double *seconds = rs_alloc(cells, sizeof *seconds, err), sum = 0;
  if (seconds == NULL) return RS_MEMORY;
  rs_status status = rs_estimate_seconds(experiment, checkpoints, budget, seconds, cells, err);
  for (size_t i = 0; i < cells; i++) sum += seconds[i];
  free(seconds);
  cli_duration(sum, duration);
  if (sum < 60) snprintf(duration, sizeof duration, "%.2g s", sum);
  rs_text_printf(text, "time            about %s%s on this machine, measured %s\n", duration,
                 sum < 60 ? "" : " (hours:minutes)",
                 experiment->checkpoints == NULL ? "at short lengths"
                 : plan->trainings > 0           ? "by a few steps of training"
                                                 : "by a few readings");
  return status;
}

static void put_count(rs_text *text, size_t count, const char *what) {
  rs_text_printf(text, "%zu %s%s", count, what, count == 1 ? "" : "s");
}

/* How many there are of what the cells are made from. */
static void put_axes(const rs_experiment *experiment, const rs_plan *plan, rs_text *text) {
  bool trained = experiment->checkpoints != NULL;
  rs_text_printf(text, "cells           %zu (", plan->cells);
  const struct {
    size_t count;
    const char *what;
  } axes[] = {{experiment->model_count, trained ? "checkpoint" : "model"},
              {experiment->methods.count, "method"},
              {experiment->length_count, "length"},
              {experiment->sources.count, "source"},
              {experiment->seed_count, "seed"}};
  for (size_t i = 0; i < RS_COUNT(axes); i++) {
    if (axes[i].count == 0) continue;
    if (i > 0) rs_text_puts(text, ", ");
    put_count(text, axes[i].count, axes[i].what);
  }
  rs_text_puts(text, ")\n");
}

static void put_trainings(const rs_plan *plan, rs_text *text) {
  rs_text_puts(text, "training        ");
  if (plan->trainings > 0) {
    rs_text_printf(text, "%.3g flop in ", plan->training_flops);
    put_count(text, plan->trainings, "training");
    if (plan->trained > 0) rs_text_printf(text, "; %zu done already", plan->trained);
  } else {
    rs_text_printf(text, "none to do, %zu done already", plan->trained);
  }
  rs_text_puts(text, "\n");
}

static void put_work(const rs_experiment *experiment, const rs_plan *plan, rs_text *text) {
  bool trained = experiment->checkpoints != NULL;
  if (trained) put_trainings(plan, text);
  if (trained || plan->reading_flops > 0) rs_text_printf(text, "reading         %.3g flop\n", plan->reading_flops);
  if (!trained || rs_observes(experiment)) rs_text_printf(text, "queries x keys  %.3g flop\n", plan->score_flops);
}

static rs_status put_plan(const rs_experiment *experiment, const char *checkpoints, rs_text *text, rs_err *err) {
  rs_plan plan;
  for (size_t i = 0; i < experiment->length_count; i++)
    RS_TRY(rs_token_layout_check(&experiment->tokens, experiment->lengths[i], err));
  RS_TRY(rs_plan_make(experiment, checkpoints, &plan, err));
  rs_text_printf(text, "name            %s\n", experiment->name);
  put_axes(experiment, &plan, text);
  rs_text_printf(text, "summary.csv     %zu rows of %zu columns\n", plan.cells, plan.summary_columns);
  rs_text_printf(text, "curves          at most %.0f rows\n", plan.curve_rows);
  put_work(experiment, &plan, text);
  put_memory(plan.peak_bytes, text);
  return put_time(experiment, checkpoints, &plan, text, err);
}

int cmd_plan(const cli_options *options) {
  rs_experiment *experiment;
  rs_err err = {0};
  rs_text text = {0};
  int code = cli_load_sweep(options, &experiment);
  if (code != CLI_OK) return code;
  char *directory = results_folder(options, experiment, &err);
  char *checkpoints = directory != NULL ? checkpoints_folder(options, directory, &err) : NULL;
  rs_status status = checkpoints != NULL ? put_plan(experiment, checkpoints, &text, &err) : RS_MEMORY;
  if (status == RS_OK) warn(options, experiment);
  code = status != RS_OK ? cli_fail(status, NULL, &err) : cli_put(&text) ? CLI_OK : CLI_FAILED;
  rs_text_clear(&text);
  free(checkpoints);
  free(directory);
  rs_experiment_free(experiment);
  return code;
}
