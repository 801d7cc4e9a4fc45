/* ropescope run, and merge. */
#include "cli.h"

#include "pages/pages.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- signals while a run is on: it ends with what is done; the second one ends the program ----------------------- */

static const int caught_signals[] = {SIGINT, SIGTERM};
static struct sigaction before[RS_COUNT(caught_signals)];
static volatile sig_atomic_t noted, heard, told; /* heard: somebody has asked; told: it is to be said */

static void note(int signal_number) {
  static const char words[] = "\nropescope: ending with what is done (again: at once)\n";
  noted = signal_number;
  if (told) (void)!write(STDERR_FILENO, words, sizeof words - 1);
}

/* One that is ignored (nohup, a shell's background job) stays so. */
static void catch_signals(bool quiet) {
  told = !quiet && isatty(STDERR_FILENO);
  for (size_t i = 0; i < RS_COUNT(caught_signals); i++) {
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESETHAND | SA_RESTART};
    (void)sigaction(caught_signals[i], NULL, &before[i]);
    if (before[i].sa_handler != SIG_IGN) (void)sigaction(caught_signals[i], &action, NULL);
  }
}

/* A signal that nobody has acted on ends the program now: all that is done is in its folder. */
static void release_signals(void) {
  for (size_t i = 0; i < RS_COUNT(caught_signals); i++) (void)sigaction(caught_signals[i], &before[i], NULL);
  if (noted != 0 && !heard) (void)raise(noted);
}

static int caught_signal(void) {
  if (noted != 0) heard = 1;
  return noted;
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

typedef struct display {
  double start; /* as rs_seconds */
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
  return caught_signal() == 0;
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
  return caught_signal() != 0;
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
  double seconds = rs_seconds() - d->start;
  if (cli_progress_line(&d->progress, seconds, share, done, cells, d->doing, line, sizeof line)) fputs(line, stderr);
}

/* ---- run --------------------------------------------------------------------------------------------------------- */

/* Whether there are values; else an exit status of 1 needs a word, however quiet. */
static void report_failures(const cli_options *options, const char *where, const rs_run_summary *summary) {
  bool none = summary->failed == summary->done;
  if (none && summary->done > 0) cli_error("cell %zu: %s", summary->first_failed, summary->message);
  if (none) cli_error("no cell has values%s", where);
  if (summary->failed > 0 && !none)
    cli_note(options, "%zu of them without values%s (cell %zu: %s)", summary->failed, where, summary->first_failed,
             summary->message);
}

static void report(const cli_options *options, const char *directory, const rs_run_summary *summary) {
  bool whole = summary->done == summary->cells;
  RS_OWNED(rs_text) where = {0};
  if (whole)
    cli_note(options, "%zu cell%s in %.1f s: %s", summary->cells, summary->cells == 1 ? "" : "s", summary->seconds,
             directory);
  else
    cli_note(options, "incomplete: %zu of %zu cells: %s", summary->done, summary->cells, directory);
  rs_text_printf(&where, ": see status and message in %s/summary.csv", directory);
  report_failures(options, rs_text_string(&where), summary);
}

int cli_check_memory(const cli_options *options, const rs_experiment *experiment, const cli_target *target,
                     const char *checkpoints) {
  rs_plan plan;
  rs_err err = {0};
  double available = rs_memory_available();
  rs_status status = rs_plan_make(experiment, checkpoints, &plan, &err);
  plan.peak_bytes *= (double)rs_ranks_local(target->ranks);
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  if (options->force || !(plan.peak_bytes > available)) return CLI_OK;
  return cli_error(
      "the run takes about %.0f MiB and %.0f are available: choose fewer methods or shorter lengths, or --force",
      cli_mebibytes(plan.peak_bytes), cli_mebibytes(available));
}

/* The input was good; of a merge, cells are missing or differ, or journals are damaged. */
static int end_badly(rs_status status, const rs_err *err) {
  int code = cli_fail(status, NULL, err);
  return code == CLI_BUSY ? code : CLI_FAILED;
}

/* An exit status as a shell gives it to what a signal has ended. */
static int end_stopped(const rs_run_summary *summary, const cli_target *target, const rs_err *err) {
  enum { BY_SIGNAL = 128 };
  bool training = strcmp(err->message, "stopped") != 0; /* which says itself how to go on */
  if (training) cli_error("%s", err->message);
  if (!training || summary->done > 0)
    cli_error("%zu of %zu cells are done: the same command goes on from there%s", summary->done, summary->cells,
              summary->done > 0 && target->shard.count == 0 && !target->plain ? ", and --partial writes what there is"
                                                                              : "");
  return BY_SIGNAL + caught_signal();
}

/* The rest is for rank 0 to tell. */
static int end_other(const cli_target *target, rs_status status, const rs_err *err) {
  if (status == RS_OK || status == RS_STOPPED) return CLI_OK;
  cli_error("rank %zu: %s", rs_ranks_rank(target->ranks), err->message);
  return CLI_FAILED;
}

/* Whether a run ends with 1 though nothing stood in its way. */
static bool say_starved(const rs_run_summary *summary) {
  if (summary->starved > 0)
    cli_error("%zu cells ran out of memory (ropescope plan says what a run takes)", summary->starved);
  return summary->starved > 0 || summary->failed == summary->done;
}

int cli_end_run(const cli_options *options, const rs_experiment *experiment, const char *directory,
                const rs_run_summary *summary) {
  RS_OWNED(rs_plot_report) pictures = {0};
  rs_err why = {0};
  report(options, directory, summary);
  /* Pictures of what stood in the folder before would pass for pictures of this run. */
  if (rs_plot_remove_stale(directory, &pictures, &why) != RS_OK) cli_error("%s", why.message);
  for (size_t i = 0; i < pictures.note_count; i++) cli_note(options, "%s", pictures.notes[i]);
  if (say_starved(summary)) return CLI_FAILED;
  return options->print ? cli_print_summary(experiment, directory) : CLI_OK;
}

static int run_at(const cli_options *options, const rs_experiment *experiment, const cli_target *target,
                  const char *checkpoints) {
  display d = {.progress = {.terminal = isatty(STDERR_FILENO), .permille = -1}, .options = options};
  const rs_training_watch training = {.wait = note_waiting, .step = note_training, .ready = note_ready, .context = &d};
  bool live = !options->quiet && d.progress.terminal;
  rs_run_options run = {.directory = target->directory,
                        .progress = options->quiet ? NULL : show_progress,
                        .resumed = note_resumed,
                        .stop = is_stopped,
                        .shard = target->shard,
                        .ranks = target->ranks,
                        .resume = !options->fresh,
                        .partial = options->partial,
                        .forget = target->forget,
                        .checkpoints = checkpoints,
                        .training = &training,
                        .context = &d};
  rs_run_summary summary;
  rs_err err = {0};
  bool first = rs_ranks_rank(target->ranks) == 0;
  int fits = rs_ranks_agree(target->ranks, cli_check_memory(options, experiment, target, checkpoints));
  if (fits != CLI_OK) return fits;
  if (first) cli_warn(options, experiment);
  d.start = rs_seconds();
  catch_signals(options->quiet);
  rs_status status = rs_run(experiment, &run, &summary, &err);
  release_signals();
  if (live) fputs("\r\033[K", stderr);
  warn_of_foreign(&d);
  free(d.foreign_folder);
  if (!first) return end_other(target, status, &err);
  if (status == RS_STOPPED) return end_stopped(&summary, target, &err);
  if (status != RS_OK) return end_badly(status, &err);
  if (target->shard.count == 0) return cli_end_run(options, experiment, target->directory, &summary);
  cli_note(options, "shard %zu/%zu: %zu of %zu cells in %.1f s: %s (ropescope merge joins the shards)",
           target->shard.number, target->shard.count, summary.done, summary.cells, summary.seconds, target->directory);
  report_failures(options, "", &summary);
  return say_starved(&summary) ? CLI_FAILED : CLI_OK;
}

int cli_run(const cli_options *options, const rs_experiment *experiment, const cli_target *target) {
  rs_err err = {0};
  RS_FREED char *checkpoints = cli_checkpoints_folder(options, target->directory, &err);
  return checkpoints != NULL ? run_at(options, experiment, target, checkpoints) : cli_fail(RS_MEMORY, NULL, &err);
}

/* More shards than cells are refused before a folder is made. */
static rs_status check_count(const rs_experiment *experiment, rs_sweep_shard shard, rs_err *err) {
  RS_FREED rs_cell *cells = NULL;
  size_t count;
  RS_TRY(rs_experiment_cells(experiment, &cells, &count, err));
  if (shard.count <= count) return RS_OK;
  return rs_fail(err, RS_INPUT, "--shard %zu/%zu: the config has %zu cell%s, and no more shards than that",
                 shard.number, shard.count, count, count == 1 ? "" : "s");
}

static int check_shard(const cli_options *options, const rs_experiment *experiment, const cli_target *target) {
  rs_err err = {0};
  if (options->partial || options->print)
    return cli_error("--%s shows results, and a shard has none: ropescope merge --%s",
                     options->print ? "print" : "partial", options->print ? "print" : "partial");
  rs_status status = rs_shard_fits(experiment, target->directory, options->force, &err);
  if (status == RS_OK) status = check_count(experiment, target->shard, &err);
  return status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
}

/* What is run, checked, and the folder for it, which are the caller's to release whatever is returned. */
static int prepare(const cli_options *options, cli_target *target, rs_experiment **experiment, char **directory) {
  rs_err err = {0};
  int code = cli_load_sweep(options, experiment);
  if (code != CLI_OK) return code;
  *directory = cli_results_folder(options, *experiment, target->shard, &err);
  if (*directory == NULL) return cli_fail(RS_MEMORY, NULL, &err);
  target->directory = *directory;
  if (options->partial && options->fresh)
    return cli_error("--partial writes what was done before, --fresh does it again: keep one");
  return target->shard.count > 0 ? check_shard(options, *experiment, target)
                                 : cli_check_folder(options, *experiment, target->directory);
}

/* What is wrong is said by rank 0 alone where it sees it, too: it looks first. */
static int run_target(const cli_options *options, cli_target *target) {
  RS_HELD(rs_experiment) experiment = NULL;
  RS_FREED char *directory = NULL;
  bool first = rs_ranks_rank(target->ranks) == 0;
  int code = first ? CLI_OK : rs_ranks_agree(target->ranks, CLI_OK);
  if (code != CLI_OK) return code;
  code = prepare(options, target, &experiment, &directory);
  if (first) code = rs_ranks_agree(target->ranks, code);
  if (code == CLI_OK || !first) code = rs_ranks_agree(target->ranks, code);
  if (code == CLI_OK) code = cli_run(options, experiment, target);
  return code;
}

int cmd_run(const cli_options *options) {
  cli_options own = *options;
  cli_target target = {0};
  int code = cli_read_shard(options, &target.shard);
  if (code == CLI_OK) code = cli_open_ranks(options, target.shard.count > 0, &target.ranks);
  if (code != CLI_OK) return code;
  own.quiet = own.quiet || rs_ranks_rank(target.ranks) > 0;
  code = run_target(&own, &target);
  rs_ranks_close(target.ranks);
  return code;
}

/* ---- merge: shards into the results of the whole ----------------------------------------------------------------- */

static int merge_into(const cli_options *options, const rs_experiment *experiment, const char *directory) {
  rs_run_summary summary;
  rs_err err = {0};
  const rs_run_options merge = {.directory = directory, .resume = !options->fresh, .partial = options->partial};
  int code = cli_check_folder(options, experiment, directory);
  if (code != CLI_OK) return code;
  rs_status status = rs_merge(experiment, options->arguments, options->argument_count, &merge, &summary, &err);
  return status == RS_OK ? cli_end_run(options, experiment, directory, &summary) : end_badly(status, &err);
}

int cmd_merge(const cli_options *options) {
  RS_HELD(rs_experiment) experiment = NULL;
  RS_OWNED(rs_problems) problems = {0};
  rs_err err = {0};
  if (options->argument_count == 0)
    return cli_error("merge takes the folders of shards, as ropescope run --shard leaves them (ropescope help merge)");
  rs_status status = rs_shards_read(options->arguments, options->argument_count, &experiment, &problems, &err);
  int code = status == RS_OK ? CLI_OK : cli_fail(status, &problems, &err);
  if (code != CLI_OK) return code;
  RS_FREED char *directory = cli_results_folder(options, experiment, (rs_sweep_shard){0}, &err);
  code = directory != NULL ? merge_into(options, experiment, directory) : cli_fail(RS_MEMORY, NULL, &err);
  return code;
}
