/* A run: the cells that are not done yet, each recorded in the folder's journal when it is, then the files, which are
 * written from the journal alone: they are the same bytes, however often the run was interrupted. The folder is locked
 * from the beginning to the end; what stood in it stays until the new files are whole. */
#include "costs.h"
#include "ledger.h"
#include "work.h"

#include "kernel/kernel.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rates ------------------------------------------------------------------------------------------------------- */

/* What most of an experiment's flops are: flops of another kind take another time. */
static const char *kind_of(const rs_experiment *experiment) {
  return experiment->checkpoints != NULL ? "passes" : rs_needs_heads(experiment) ? "rows" : "tables";
}

/* A rate that cannot be written is missed by nobody but plan. */
static void write_rate(const rs_experiment *experiment, const char *directory, double flops, double seconds) {
  rs_text words = {0};
  char path[RS_PATH_CHARS];
  rs_text_printf(&words, "%s %.4g flop %.4g s %zu threads\n", kind_of(experiment), flops, seconds, rs_engine_threads());
  if (flops > 0 && rs_folder_path(directory, RS_WORK_FOLDER "/rate", path, NULL) == RS_OK && !words.failed)
    (void)rs_file_write(path, words.data, words.length, NULL);
  rs_text_clear(&words);
}

/* The rate of a folder, and how long its last run took; false: there is none. */
static bool read_rate(const rs_experiment *experiment, const char *directory, double *rate, double *seconds) {
  char path[RS_PATH_CHARS], kind[16];
  double flops, threads;
  FILE *file = rs_folder_path(directory, RS_WORK_FOLDER "/rate", path, NULL) == RS_OK ? fopen(path, "re") : NULL;
  if (file == NULL) return false;
  bool read = fscanf(file, "%15s %lf flop %lf s %lf threads", kind, &flops, seconds, &threads) == 4 &&
              strcmp(kind, kind_of(experiment)) == 0 && flops > 0 && *seconds > 0 && threads > 0;
  fclose(file);
  if (read) *rate = flops / *seconds / threads * (double)rs_engine_threads();
  return read;
}

double rs_rate_find(const rs_experiment *experiment, const char *directory, char folder[RS_RATE_FOLDER]) {
  const char *slash = strrchr(directory, '/');
  int length = slash != NULL ? (int)(slash - directory) + 1 : 0;
  double rate = NAN, longest = 0, found, seconds;
  snprintf(folder, RS_RATE_FOLDER, "%s", directory);
  if (read_rate(experiment, directory, &rate, &seconds)) return rate;
  char beside[RS_RATE_FOLDER];
  snprintf(beside, sizeof beside, "%.*s.", length, directory);
  DIR *parent = opendir(beside);
  for (const struct dirent *entry; parent != NULL && (entry = readdir(parent)) != NULL;) {
    bool fits = snprintf(beside, sizeof beside, "%.*s%s", length, directory, entry->d_name) < RS_RATE_FOLDER;
    if (!fits || !read_rate(experiment, beside, &found, &seconds) || seconds <= longest) continue;
    memcpy(folder, beside, sizeof beside);
    longest = seconds;
    rate = found;
  }
  if (parent != NULL) closedir(parent);
  return rate;
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

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
  double share = fmin(p->work / p->total, 1); /* a training may be counted with cells of another shard */
  if (p->options->progress != NULL) p->options->progress(p->options->context, p->done, p->cells, share);
}

static bool stop(void *context) {
  const progress *p = context;
  return p->options->stop != NULL && p->options->stop(p->options->context);
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* Gives each cell that is to be done its weight in the progress, flops; *total gets their sum and that of the trainings
 * that they need, which are told of step by step. */
static rs_status weigh(rs_ledger *ledger, const char *checkpoints, double *total, rs_err *err) {
  const rs_experiment *experiment = ledger->experiment;
  rs_costs costs;
  rs_status status = rs_costs_make(experiment, ledger->cells, ledger->count, checkpoints, &costs, err);
  for (size_t i = 0; i < ledger->count && status == RS_OK; i++) {
    const rs_cell_cost *cost = &costs.items[i];
    if (!rs_ledger_pending(ledger, i)) continue;
    ledger->weights[i] = cost->own + (experiment->checkpoints == NULL ? cost->made : 0);
    *total += ledger->weights[i];
    if (experiment->checkpoints == NULL) continue;
    double *flops = costs.weights[rs_weights_index(experiment, &ledger->cells[i])].flops;
    *total += flops[RS_STAGE_TRAINING] + flops[RS_STAGE_TUNING];
    flops[RS_STAGE_TRAINING] = flops[RS_STAGE_TUNING] = 0; /* once for all cells */
  }
  rs_costs_clear(&costs);
  return status;
}

rs_status rs_rest_make(const rs_experiment *experiment, const char *directory, const char *checkpoints, rs_rest *rest,
                       rs_err *err) {
  rs_ledger ledger;
  *rest = (rs_rest){0};
  rs_status status = rs_ledger_make(experiment, rs_kernels_get()->isa, &ledger, err);
  if (status == RS_OK && directory != NULL) status = rs_ledger_scan(&ledger, directory, err);
  if (status == RS_OK) status = weigh(&ledger, checkpoints, &rest->flops, err);
  rest->cells = ledger.wanted - ledger.done;
  rs_ledger_close(&ledger);
  return status;
}

/* What a run is asked, and where it is. */
typedef struct run {
  const rs_run_options *options;
  rs_run_summary *summary;
  bool dealt; /* other ranks have heard that there is something to do */
} run;

/* Runs what is to be done, on several ranks (`why` as they have it) or here. */
static rs_status run_cells(rs_ledger *ledger, const rs_run_options *options, rs_err *why) {
  bool trained = ledger->experiment->checkpoints != NULL;
  progress p = {.options = options, .done = ledger->done, .cells = ledger->wanted};
  const rs_trained_watch watch = {advance, stop, &p, options->checkpoints, options->training};
  if (why->status == RS_OK) (void)weigh(ledger, options->checkpoints, &p.total, why);
  if (options->ranks != NULL) return rs_deal_run(options->ranks, ledger, options->directory, &watch, why);
  if (why->status != RS_OK) return why->status;
  double start = rs_seconds();
  rs_status status = trained ? rs_trained_run(ledger, &watch, why) : rs_portions_run(ledger, &watch, why);
  if (!options->forget) write_rate(ledger->experiment, options->directory, p.work, rs_seconds() - start);
  return status;
}

/* What became of a shard's cells, of which no files are written. */
static rs_status sum_up(const rs_ledger *ledger, rs_run_summary *summary, rs_err *err) {
  rs_status status = RS_OK;
  for (size_t i = 0; i < ledger->count && status == RS_OK; i++) {
    rs_cell_state state;
    if (ledger->others[i] || ledger->places[i] == 0) continue;
    status = rs_ledger_read(ledger, i, &state, err);
    if (status == RS_OK) rs_summary_note(summary, i, &state);
    rs_cell_state_clear(ledger->experiment, &state);
  }
  return status;
}

/* However the run ends, what is done is kept, and said to be whole. */
static rs_status run_ledger(rs_ledger *ledger, run *r, rs_err *err) {
  const rs_run_options *options = r->options;
  rs_run_summary *summary = r->summary;
  rs_err late = {0};
  summary->cells = ledger->wanted;
  summary->resumed = ledger->resumed;
  if (options->resumed != NULL && ledger->resumed > 0)
    options->resumed(options->context, ledger->resumed, ledger->wanted);
  rs_err why = {0};
  r->dealt = ledger->done < ledger->wanted && !options->partial;
  rs_status status = r->dealt ? run_cells(ledger, options, &why) : RS_OK;
  if (status != RS_OK) (void)rs_fail(err, status, "%s", why.message);
  rs_status sealed = rs_journal_seal(&ledger->journal, &late);
  summary->done = ledger->done;
  if (status == RS_OK && sealed != RS_OK) status = rs_fail(err, sealed, "%s", late.message);
  if (status == RS_OK && ledger->done == 0 && options->partial)
    status =
        rs_fail(err, RS_INPUT, "%s: no cell of this config is done: there is nothing to write", options->directory);
  if (status != RS_OK) return status;
  return options->shard.count > 0 ? sum_up(ledger, summary, err)
                                  : rs_target_write(ledger, options->directory, options->partial, summary, err);
}

/* ---- shards ------------------------------------------------------------------------------------------------------ */

/* Leaves the cells of other shards to them. */
static rs_status keep_shard(rs_ledger *ledger, rs_sweep_shard shard, rs_err *err) {
  size_t *of_cell = rs_arena_take(&ledger->arena, ledger->count, sizeof *of_cell);
  double *costs = rs_arena_take(&ledger->arena, shard.count, sizeof *costs);
  RS_TRY(rs_arena_check(&ledger->arena, err));
  RS_TRY(rs_shards_assign(ledger->experiment, shard.count, of_cell, ledger->count, costs, err));
  for (size_t i = 0; i < ledger->count; i++)
    if (of_cell[i] != shard.number) rs_ledger_leave(ledger, i);
  return RS_OK;
}

/* A file under the name of ours that is none, or a folder, is somebody's. */
static rs_status check_shard_file(const char *directory, rs_err *err) {
  rs_shard_file file;
  rs_err why = {0};
  if (!rs_folder_has(directory, RS_SHARD_FILE)) return RS_OK;
  rs_status status = rs_shard_file_read(directory, &file, &why);
  rs_shard_file_clear(&file);
  if (status == RS_OK || status == RS_MEMORY) return status;
  return rs_fail(err, RS_IO, "%s/%s is there already, and no run made it (another --out, or move it away)", directory,
                 RS_SHARD_FILE);
}

/* In a folder that is locked. */
static rs_status run_locked(const rs_experiment *experiment, run *r, rs_err *err) {
  const rs_run_options *options = r->options;
  rs_ledger ledger;
  RS_TRY(rs_folder_change_recover(options->directory, rs_is_run_file, err));
  RS_TRY(rs_target_check(experiment, options->directory, err));
  RS_TRY(check_shard_file(options->directory, err));
  rs_status status = rs_ledger_make(experiment, rs_kernels_get()->isa, &ledger, err);
  bool shard = options->shard.count > 0;
  if (status == RS_OK && shard) status = keep_shard(&ledger, options->shard, err);
  if (status == RS_OK) status = rs_ledger_open(&ledger, options->directory, !options->resume, err);
  if (status == RS_OK && !options->resume) status = rs_rank_folders_remove(options->directory, err);
  if (status == RS_OK) status = rs_rank_folders_merge(&ledger, options->directory, false, err);
  ledger.resumed = ledger.done;
  if (status == RS_OK && shard) status = rs_shard_file_write(&ledger, options->shard, options->directory, err);
  if (status == RS_OK) status = run_ledger(&ledger, r, err);
  rs_err unable = {0}; /* to make the journal smaller: it holds what it must */
  if (status == RS_OK && !options->partial && !shard) (void)rs_ledger_compact(&ledger, &unable);
  rs_ledger_close(&ledger);
  if (status == RS_OK && options->forget) status = rs_file_remove(options->directory, RS_WORK_FOLDER "/journal", err);
  return status;
}

/* Before the work: an unwritable place should not cost an hour. */
static rs_status run_folder(const rs_experiment *experiment, run *r, rs_err *err) {
  rs_folder_lock lock;
  RS_TRY(rs_make_directories(r->options->directory, err));
  RS_TRY(rs_folder_lock_take(r->options->directory, &lock, err));
  rs_status status = run_locked(experiment, r, err);
  rs_folder_lock_drop(&lock);
  return status;
}

/* Another rank than the one that has the folder. */
static rs_status run_for_first(const rs_experiment *experiment, const rs_run_options *options, rs_err *err) {
  rs_ledger ledger;
  rs_err why = {0};
  (void)rs_ledger_make(experiment, rs_kernels_get()->isa, &ledger, &why);
  rs_status status = run_cells(&ledger, options, &why);
  rs_ledger_close(&ledger);
  return status == RS_OK ? RS_OK : rs_fail(err, status, "%s", why.message);
}

rs_status rs_run(const rs_experiment *experiment, const rs_run_options *options, rs_run_summary *summary, rs_err *err) {
  run r = {.options = options, .summary = summary};
  double start = rs_seconds();
  *summary = (rs_run_summary){0};
  if (rs_ranks_rank(options->ranks) > 0) return run_for_first(experiment, options, err);
  rs_status status = run_folder(experiment, &r, err);
  if (!r.dealt) rs_deal_none(options->ranks);
  summary->seconds = rs_seconds() - start;
  return status;
}
