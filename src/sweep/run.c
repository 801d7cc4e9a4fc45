/* A run: cells in batches of one model and length, shortest first, or those of one training after the other, then the
 * files. The folder is locked from
 * the beginning to the end; what stood in it stays until the new files are whole. */
#include "output.h"
#include "trained.h"

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

static void advance(void *context, double work) {
  progress *p = context;
  p->work += work;
  double share = p->total > 0 ? p->work / p->total : 1; /* cells of checkpoints that cannot be made take nothing */
  if (p->options->progress != NULL) p->options->progress(p->options->context, p->done, p->cells, share);
}

static void advance_cells(void *context, double work, size_t cells) {
  progress *p = context;
  p->done += cells;
  advance(p, work);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

static size_t length_of(const rs_experiment *experiment, const rs_cell_state *state) {
  return experiment->lengths[state->cell.axis[RS_BY_LENGTH]];
}

/* Cells of one model and one length, together. */
static rs_status run_batch(const rs_experiment *experiment, rs_cell_state *states, size_t count, size_t model,
                           size_t length, rs_text_model *texts, progress *p, rs_err *err) {
  rs_cell_batch batch = {
      .experiment = experiment, .model = model, .length = length, .texts = texts, .advance = advance, .context = p};
  batch.cells = rs_alloc(count, sizeof(rs_cell_state *), err);
  if (batch.cells == NULL) return RS_MEMORY;
  for (size_t i = 0; i < count; i++)
    if (states[i].cell.axis[RS_BY_MODEL] == model && length_of(experiment, &states[i]) == length)
      batch.cells[batch.count++] = &states[i];
  rs_status status = batch.count > 0 ? rs_batch_run(&batch, err) : RS_OK;
  p->done += batch.count;
  free(batch.cells);
  return status;
}

static int by_size(const void *a, const void *b) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

static rs_status run_batches(const rs_experiment *experiment, rs_cell_state *states, size_t count, progress *p,
                             rs_err *err) {
  size_t *lengths = rs_alloc(experiment->length_count, sizeof *lengths, err);
  if (lengths == NULL) return RS_MEMORY;
  memcpy(lengths, experiment->lengths, experiment->length_count * sizeof *lengths);
  qsort(lengths, experiment->length_count, sizeof *lengths, by_size);
  rs_text_model texts = {0};
  rs_status status = RS_OK;
  for (size_t l = 0; l < experiment->length_count; l++)
    for (size_t model = 0; model < experiment->model_count && status == RS_OK; model++)
      status = run_batch(experiment, states, count, model, lengths[l], &texts, p, err);
  rs_text_model_clear(&texts);
  free(lengths);
  return status;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* All cells into a new set of files, which then takes the old one's place. */
static rs_status fill_set(const rs_experiment *experiment, const rs_cell_state *states, size_t count,
                          const char *directory, const char *shown, rs_run_summary *summary, rs_err *err) {
  rs_output output;
  rs_status status = rs_output_begin(experiment, directory, shown, &output, err);
  output.cells = count;
  for (size_t i = 0; i < count && status == RS_OK; i++) status = rs_output_add(&output, i, &states[i], err);
  if (status == RS_OK) status = rs_output_end(&output, err);
  *summary = (rs_run_summary){.cells = count, .failed = output.totals.failed, .starved = output.totals.starved};
  rs_output_clear(&output);
  return status;
}

static rs_status write_files(const rs_experiment *experiment, const rs_cell_state *states, size_t count,
                             const char *directory, rs_run_summary *summary, rs_err *err) {
  rs_folder_change change;
  RS_TRY(rs_folder_change_begin(directory, rs_is_run_file, &change, err));
  rs_status status = fill_set(experiment, states, count, change.staged, directory, summary, err);
  if (status == RS_OK) status = rs_folder_change_commit(&change, err);
  rs_folder_change_clear(&change);
  return status;
}

static bool is_there(const char *directory, const char *name, rs_err *err) {
  char *path = rs_path_join(directory, name, err);
  bool there = path != NULL && access(path, F_OK) == 0;
  free(path);
  return there;
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

/* What each cell counts in the progress: the seconds it is found to take, or its work where nobody looks. Returns the
 * sum, which is positive. */
static double weigh_rows(const rs_experiment *experiment, const rs_run_options *options, rs_cell_state *states,
                         size_t count) {
  static const double budget = 0.1; /* seconds; the run itself tells more as it goes */
  double *seconds = options->progress != NULL ? rs_alloc(count, sizeof *seconds, NULL) : NULL, sum = 0, work = 0;
  bool measured = seconds != NULL && rs_estimate_seconds(experiment, NULL, budget, seconds, count, NULL) == RS_OK;
  for (size_t i = 0; i < count && measured; i++) sum += seconds[i];
  measured = measured && sum > 0;
  for (size_t i = 0; i < count; i++) {
    states[i].weight = measured ? seconds[i] : rs_cell_work(experiment, &states[i].cell);
    work += states[i].weight;
  }
  free(seconds);
  return work;
}

static rs_status weigh(const rs_experiment *experiment, const rs_run_options *options, rs_cell_state *states,
                       size_t count, double *work, rs_err *err) {
  if (experiment->checkpoints != NULL) return rs_trained_weigh(experiment, options->checkpoints, states, work, err);
  *work = weigh_rows(experiment, options, states, count);
  return RS_OK;
}

static rs_status run_cells(const rs_experiment *experiment, rs_cell_state *states, size_t count, progress *p,
                           rs_err *err) {
  const rs_trained_watch watch = {advance_cells, p, p->options->checkpoints, p->options->training};
  return experiment->checkpoints != NULL ? rs_trained_run(experiment, states, &watch, err)
                                         : run_batches(experiment, states, count, p, err);
}

/* In a folder that is locked. */
static rs_status run_locked(const rs_experiment *experiment, const rs_run_options *options, rs_run_summary *summary,
                            rs_err *err) {
  rs_cell_state *states;
  size_t count;
  RS_TRY(rs_folder_change_recover(options->directory, rs_is_run_file, err));
  RS_TRY(refuse_foreign(experiment, options->directory, err));
  RS_TRY(rs_cell_states_make(experiment, &states, &count, err));
  progress p = {.options = options, .cells = count};
  rs_status status = weigh(experiment, options, states, count, &p.total, err);
  if (status == RS_OK) status = run_cells(experiment, states, count, &p, err);
  if (status == RS_OK) status = write_files(experiment, states, count, options->directory, summary, err);
  rs_cell_states_free(experiment, states, count);
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
