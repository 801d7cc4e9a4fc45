/* A run: the cells that are not done yet, each recorded in the folder's journal when it is, then the files, which are
 * written from the journal alone: they are the same bytes, however often the run was interrupted. The folder is locked
 * from the beginning to the end; what stood in it stays until the new files are whole. */
#include "output.h"
#include "portions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Progress of a whole run. */
typedef struct progress {
  const rs_run_options *options;
  size_t done, cells;
  double work, total;
} progress;

static void advance(void *context, double work, size_t cells) {
  progress *p = context;
  p->work += work;
  p->done += cells;
  double share = p->total > 0 ? p->work / p->total : 1; /* cells of checkpoints that cannot be made take nothing */
  if (p->options->progress != NULL) p->options->progress(p->options->context, p->done, p->cells, share);
}

/* Whether the user wants the run to end. */
static bool stop(void *context) {
  const progress *p = context;
  return p->options->stop != NULL && p->options->stop(p->options->context);
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* All cells that are done into a new set of files, in their order. */
static rs_status fill_set(const rs_ledger *ledger, const char *directory, const char *shown, rs_run_summary *summary,
                          rs_err *err) {
  rs_output output;
  rs_status status = rs_output_begin(ledger->experiment, directory, shown, &output, err);
  output.cells = ledger->count;
  for (size_t i = 0; i < ledger->count && status == RS_OK; i++) {
    rs_cell_state state;
    if (ledger->places[i] == 0) continue;
    status = rs_ledger_read(ledger, i, &state, err);
    if (status == RS_OK) status = rs_output_add(&output, i, &state, err);
    rs_cell_state_clear(ledger->experiment, &state);
  }
  if (status == RS_OK) status = rs_output_end(&output, err);
  summary->failed = output.totals.failed;
  summary->starved = output.totals.starved;
  summary->first_failed = output.totals.first_failed;
  snprintf(summary->message, sizeof summary->message, "%s", output.totals.message);
  rs_output_clear(&output);
  return status;
}

static bool is_there(const char *directory, const char *name, rs_err *err) {
  char *path = rs_path_join(directory, name, err);
  bool there = path != NULL && access(path, F_OK) == 0;
  free(path);
  return there;
}

/* Results that are there are not given for such as lack cells. */
static rs_status keep_complete(const char *directory, const rs_run_summary *summary, rs_err *err) {
  rs_err why = {0};
  bool there = is_there(directory, "manifest.json", &why);
  if (why.status != RS_OK) return rs_fail(err, why.status, "%s", why.message);
  if (!there) return RS_OK;
  return rs_fail(err, RS_MEMORY,
                 "%zu cells ran out of memory, and the results in %s stay as they were (ropescope plan says what a run "
                 "takes; what is done is kept: the same command goes on, --partial writes it as it is)",
                 summary->starved, directory);
}

/* The set then takes the old one's place. */
static rs_status write_files(const rs_ledger *ledger, const char *directory, bool partial, rs_run_summary *summary,
                             rs_err *err) {
  rs_folder_change change;
  RS_TRY(rs_folder_change_begin(directory, rs_is_run_file, &change, err));
  rs_status status = fill_set(ledger, change.staged, directory, summary, err);
  if (status == RS_OK && summary->starved > 0 && !partial) status = keep_complete(directory, summary, err);
  if (status == RS_OK) status = rs_folder_change_commit(&change, err);
  rs_folder_change_clear(&change);
  return status;
}

/* Whether the file begins as every CSV file of a run does: then it is a result, committed without its manifest. */
static bool is_result(const char *directory, const char *name, rs_err *err) {
  static const char begins[] = "cell,";
  char head[sizeof begins - 1], *path = rs_path_join(directory, name, err);
  FILE *file = path != NULL ? fopen(path, "rb") : NULL;
  bool result = file != NULL && fread(head, 1, sizeof head, file) == sizeof head;
  if (file != NULL) fclose(file);
  free(path);
  return result && memcmp(head, begins, sizeof head) == 0;
}

/* A folder or device under our name cannot be replaced. */
static bool is_writable(const char *directory, const char *name, rs_err *err) {
  struct stat info;
  char *path = rs_path_join(directory, name, err);
  bool writable = path != NULL && (stat(path, &info) != 0 || S_ISREG(info.st_mode));
  if (path != NULL && !writable) (void)rs_fail(err, RS_IO, "%s: cannot write: not a regular file", path);
  free(path);
  return writable;
}

/* A folder without a manifest is not ours: what stands in it under our names is somebody's, unless it reads like ours.
 */
static rs_status refuse_foreign(const rs_experiment *experiment, const char *directory, rs_err *err) {
  static const char *const always[] = {"summary.csv", "config.yaml", "timings.csv", "manifest.json"};
  rs_err why = {0};
  bool ours = is_there(directory, "manifest.json", &why);
  for (size_t i = 0; i < RS_COUNT(always) + experiment->metrics.count && why.status == RS_OK; i++) {
    char name[80];
    bool fixed = i < RS_COUNT(always);
    if (fixed) snprintf(name, sizeof name, "%s", always[i]);
    if (!fixed && !rs_curve_file(experiment, i - RS_COUNT(always), name)) continue;
    if (why.status == RS_OK && !is_writable(directory, name, &why)) break;
    if (!ours && is_there(directory, name, &why) && !is_result(directory, name, &why))
      return rs_fail(err, RS_IO,
                     "%s/%s is there already, and no manifest.json says that a run made it (another --out, "
                     "or move it away)",
                     directory, name);
  }
  return why.status == RS_OK ? RS_OK : rs_fail(err, why.status, "%s", why.message);
}

static double seconds_since(const struct timespec *start) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)(t.tv_sec - start->tv_sec) + 1e-9 * (double)(t.tv_nsec - start->tv_nsec);
}

/* What each cell that is to be done counts in the progress: the seconds it is found to take, or its work where nobody
 * looks. Returns the sum, which is positive where there is such a cell. */
static double weigh_rows(rs_ledger *ledger, const rs_run_options *options) {
  static const double budget = 0.1; /* seconds; the run itself tells more as it goes */
  const rs_experiment *experiment = ledger->experiment;
  size_t count = ledger->count;
  double *seconds = options->progress != NULL ? rs_alloc(count, sizeof *seconds, NULL) : NULL, sum = 0, work = 0;
  bool measured = seconds != NULL && rs_estimate_seconds(experiment, NULL, budget, seconds, count, NULL) == RS_OK;
  for (size_t i = 0; i < count && measured; i++) sum += seconds[i];
  measured = measured && sum > 0;
  for (size_t i = 0; i < count; i++) {
    if (ledger->places[i] != 0) continue;
    ledger->weights[i] = measured ? seconds[i] : rs_cell_work(experiment, &ledger->cells[i]);
    work += ledger->weights[i];
  }
  free(seconds);
  return work;
}

static rs_status run_cells(rs_ledger *ledger, const rs_run_options *options, rs_err *err) {
  bool trained = ledger->experiment->checkpoints != NULL;
  progress p = {.options = options, .done = ledger->done, .cells = ledger->count};
  const rs_trained_watch watch = {advance, stop, &p, options->checkpoints, options->training};
  if (ledger->done == ledger->count || options->partial) return RS_OK;
  if (trained)
    RS_TRY(rs_trained_weigh(ledger, options->checkpoints, &p.total, err));
  else
    p.total = weigh_rows(ledger, options);
  return trained ? rs_trained_run(ledger, &watch, err) : rs_portions_run(ledger, &watch, err);
}

/* However the run ends, what is done is kept, and said to be whole. */
static rs_status run_ledger(rs_ledger *ledger, const rs_run_options *options, rs_run_summary *summary, rs_err *err) {
  rs_err late = {0};
  summary->cells = ledger->count;
  summary->resumed = ledger->resumed;
  if (options->resumed != NULL && ledger->resumed > 0)
    options->resumed(options->context, ledger->resumed, ledger->count);
  rs_status status = run_cells(ledger, options, err), sealed = rs_journal_seal(&ledger->journal, &late);
  summary->done = ledger->done;
  if (status == RS_OK && sealed != RS_OK) status = rs_fail(err, sealed, "%s", late.message);
  if (status == RS_OK && ledger->done == 0 && options->partial)
    status =
        rs_fail(err, RS_INPUT, "%s: no cell of this config is done: there is nothing to write", options->directory);
  return status == RS_OK ? write_files(ledger, options->directory, options->partial, summary, err) : status;
}

/* Removes the journal. */
static rs_status forget(const char *directory, rs_err *err) {
  char *folder = rs_path_join(directory, RS_WORK_FOLDER, err);
  rs_status status = folder != NULL ? rs_file_remove(folder, "journal", err) : RS_MEMORY;
  free(folder);
  return status;
}

/* In a folder that is locked. */
static rs_status run_locked(const rs_experiment *experiment, const rs_run_options *options, rs_run_summary *summary,
                            rs_err *err) {
  rs_ledger ledger;
  RS_TRY(rs_folder_change_recover(options->directory, rs_is_run_file, err));
  RS_TRY(refuse_foreign(experiment, options->directory, err));
  rs_status status = rs_ledger_open(experiment, options->directory, !options->resume, &ledger, err);
  if (status == RS_OK) status = run_ledger(&ledger, options, summary, err);
  rs_err unable = {0}; /* to make the journal smaller: it holds what it must */
  if (status == RS_OK && !options->partial) (void)rs_ledger_compact(&ledger, &unable);
  rs_ledger_close(&ledger);
  if (status == RS_OK && options->forget) status = forget(options->directory, err);
  return status;
}

rs_status rs_run(const rs_experiment *experiment, const rs_run_options *options, rs_run_summary *summary, rs_err *err) {
  struct timespec start;
  rs_folder_lock lock;
  clock_gettime(CLOCK_MONOTONIC, &start);
  *summary = (rs_run_summary){0};
  /* before the work: an unwritable place should not cost an hour */
  RS_TRY(rs_make_directories(options->directory, err));
  RS_TRY(rs_folder_lock_take(options->directory, &lock, err));
  rs_status status = run_locked(experiment, options, summary, err);
  rs_folder_lock_drop(&lock);
  summary->seconds = seconds_since(&start);
  return status;
}
