/* Shards joined: their journals are read twice. First what each record says is noted, by its digest, and all that may
 * be wrong is found; then the records that the results lack are copied into their journal, from which the files are
 * written as those of any run. One folder is open at a time, however many there are. */
#include "cell.h"
#include "ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is noted of a cell's record. */
typedef struct noted {
  uint8_t digest[32];
  size_t folder; /* whose that is, from 1; 0: there is no record */
} noted;

typedef struct merge {
  rs_ledger *ledger;
  const char *const *folders;
  size_t folder_count;
  const char *directory; /* of the results */
  noted *cells;          /* (cells,) the record that counts */
  noted *here;           /* (cells,) those of the folder at hand, */
  size_t *touched;       /* (touched_count,) whose cells these are */
  size_t touched_count;
  size_t folder; /* at hand, from 1 */
} merge;

/* ---- what is wrong ----------------------------------------------------------------------------------------------- */

/* "cell 12 (rope, 256 tokens, needle, seed 0)" */
static void put_cell(const merge *m, size_t cell, char out[160]) {
  const rs_experiment *experiment = m->ledger->experiment;
  const size_t *axis = m->ledger->cells[cell].axis;
  bool source = experiment->sources.count > 0;
  snprintf(out, 160, "cell %zu (%.40s, %zu tokens, %.40s%sseed %llu)", cell,
           experiment->methods.items[axis[RS_BY_METHOD]].label, experiment->lengths[axis[RS_BY_LENGTH]],
           source ? experiment->sources.items[axis[RS_BY_SOURCE]].label : "", source ? ", " : "",
           (unsigned long long)experiment->seeds[axis[RS_BY_SEED]]);
}

static rs_status refuse_difference(const merge *m, size_t cell, const char *a, const char *b, rs_err *err) {
  char name[160];
  put_cell(m, cell, name);
  return rs_fail(err, RS_INPUT,
                 "%s and %s differ in %s: one of them was not computed as the other (run it again with --fresh)", a, b,
                 name);
}

/* ---- what each folder has ---------------------------------------------------------------------------------------- */

/* Of several records of one cell in one journal the last counts. */
static rs_status note_record(void *context, const rs_cell_key *key, uint64_t offset, const uint8_t *data, size_t length,
                             rs_err *err) {
  merge *m = context;
  size_t count;
  const size_t *cells = rs_ledger_find(m->ledger, key, &count);
  (void)offset, (void)err;
  if (!rs_cell_record_holds(data, length)) return RS_OK;
  for (size_t i = 0; i < count; i++) {
    noted *n = &m->here[cells[i]];
    if (n->folder != m->folder) m->touched[m->touched_count++] = cells[i];
    *n = (noted){.folder = m->folder};
    rs_cell_record_digest(data, length, n->digest);
  }
  return RS_OK;
}

static rs_status join_notes(merge *m, rs_err *err) {
  for (size_t i = 0; i < m->touched_count; i++) {
    size_t cell = m->touched[i];
    noted *n = &m->cells[cell];
    if (n->folder == 0)
      *n = m->here[cell];
    else if (memcmp(n->digest, m->here[cell].digest, sizeof n->digest) != 0)
      return refuse_difference(m, cell, m->folders[n->folder - 1], m->folders[m->folder - 1], err);
  }
  return RS_OK;
}

/* Reads each journal, kept from changing meanwhile. */
static rs_status note_all(merge *m, rs_err *err) {
  for (size_t f = 0; f < m->folder_count; f++) {
    rs_folder_lock lock;
    m->folder = f + 1;
    m->touched_count = 0;
    RS_TRY(rs_folder_lock_share(m->folders[f], &lock, err));
    rs_status status = rs_journal_scan(m->folders[f], note_record, m, err);
    if (status == RS_OK) status = join_notes(m, err);
    rs_folder_lock_drop(&lock);
    RS_TRY(status);
  }
  return RS_OK;
}

/* ---- what is missing --------------------------------------------------------------------------------------------- */

static bool is_missing(const merge *m, size_t cell) {
  return m->cells[cell].folder == 0 && m->ledger->places[cell] == 0;
}

/* How many shards there are by the folders; 0: they do not agree. */
static size_t count_shards(const merge *m) {
  size_t count = 0;
  for (size_t f = 0; f < m->folder_count; f++) {
    rs_shard_file file;
    bool read = rs_shard_file_read(m->folders[f], &file, NULL) == RS_OK;
    bool same = read && (f == 0 || count == file.shard.count);
    if (same) count = file.shard.count;
    rs_shard_file_clear(&file);
    if (!same) return 0;
  }
  return count;
}

/* "3, 4, 5, ..." of the missing cells of one shard (0: of all); how many they are. */
static size_t list_cells(const merge *m, const size_t *of_cell, size_t shard, rs_text *words) {
  enum { SHOWN = 5 };
  size_t count = 0;
  for (size_t i = 0; i < m->ledger->count; i++) {
    if (!is_missing(m, i) || (shard > 0 && of_cell[i] != shard)) continue;
    if (count < SHOWN) rs_text_printf(words, "%s%zu", count > 0 ? ", " : "", i);
    if (count == SHOWN) rs_text_puts(words, ", ...");
    count++;
  }
  return count;
}

/* ": of shard 2/5 3 cells (12, 15, 18); of shard 4/5 ..." */
static void list_shards(const merge *m, const size_t *of_cell, size_t shards, rs_text *words) {
  enum { SHOWN = 8 };
  size_t listed = 0;
  for (size_t s = 1; s <= shards; s++) {
    rs_text cells = {0};
    size_t count = list_cells(m, of_cell, s, &cells);
    if (count > 0 && listed < SHOWN)
      rs_text_printf(words, "%s of shard %zu/%zu %zu cell%s (%s)", listed > 0 ? ";" : ":", s, shards, count,
                     count == 1 ? "" : "s", rs_text_string(&cells));
    listed += count > 0;
    rs_text_clear(&cells);
  }
  if (listed > SHOWN) rs_text_printf(words, "; and of %zu more shards", listed - SHOWN);
}

static rs_status refuse_missing(const merge *m, size_t missing, rs_err *err) {
  size_t count = m->ledger->count, shards = count_shards(m);
  rs_arena arena = {0};
  size_t *of_cell = rs_arena_take(&arena, count, sizeof *of_cell);
  double *costs = rs_arena_take(&arena, shards, sizeof *costs);
  rs_text words = {0};
  if (!arena.failed && shards > 0 &&
      rs_shards_assign(m->ledger->experiment, shards, of_cell, count, costs, NULL) == RS_OK)
    list_shards(m, of_cell, shards, &words);
  else {
    rs_text_puts(&words, ": ");
    (void)list_cells(m, NULL, 0, &words);
  }
  rs_status status = rs_fail(err, RS_INPUT, "%zu of %zu cells are missing%s (--partial writes what there is)", missing,
                             count, rs_text_string(&words));
  rs_text_clear(&words);
  rs_arena_clear(&arena);
  return status;
}

static rs_status check_missing(const merge *m, bool partial, rs_err *err) {
  size_t missing = 0, count = m->ledger->count;
  for (size_t i = 0; i < count; i++) missing += is_missing(m, i);
  if (missing == count && partial)
    return rs_fail(err, RS_INPUT, "no cell of this config is done: there is nothing to write");
  return missing > 0 && !partial ? refuse_missing(m, missing, err) : RS_OK;
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

/* What the results have already must be what the shards have. */
static rs_status check_results(const merge *m, rs_err *err) {
  rs_status status = RS_OK;
  for (size_t i = 0; i < m->ledger->count && status == RS_OK; i++) {
    const noted *n = &m->cells[i];
    uint8_t digest[32];
    rs_text record = {0};
    if (n->folder == 0 || m->ledger->places[i] == 0) continue;
    status = rs_journal_read(&m->ledger->journal, m->ledger->places[i], &record, err);
    rs_cell_record_digest((const uint8_t *)rs_text_string(&record), record.length, digest);
    if (status == RS_OK && memcmp(digest, n->digest, sizeof digest) != 0)
      status = refuse_difference(m, i, m->directory, m->folders[n->folder - 1], err);
    rs_text_clear(&record);
  }
  return status;
}

static rs_status copy_all(merge *m, rs_err *err) {
  rs_err late = {0};
  rs_status status = RS_OK;
  for (size_t f = 0; f < m->folder_count && status == RS_OK; f++)
    status = rs_ledger_take(m->ledger, m->folders[f], false, err);
  rs_status sealed = rs_journal_seal(&m->ledger->journal, &late);
  return status == RS_OK && sealed != RS_OK ? rs_fail(err, sealed, "%s", late.message) : status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* In a folder that is locked. */
static rs_status join_locked(merge *m, const rs_run_options *options, rs_run_summary *summary, rs_err *err) {
  rs_ledger *ledger = m->ledger;
  RS_TRY(rs_folder_change_recover(options->directory, rs_is_run_file, err));
  RS_TRY(rs_target_check(ledger->experiment, options->directory, err));
  RS_TRY(rs_ledger_open(ledger, options->directory, !options->resume, err));
  RS_TRY(check_results(m, err));
  RS_TRY(check_missing(m, options->partial, err));
  RS_TRY(copy_all(m, err));
  summary->cells = ledger->count;
  summary->done = ledger->done;
  summary->resumed = ledger->resumed;
  return rs_target_write(ledger, options->directory, options->partial, summary, err);
}

static rs_status join(merge *m, const rs_run_options *options, rs_run_summary *summary, rs_err *err) {
  rs_folder_lock lock;
  RS_TRY(note_all(m, err));
  /* before a folder is made for what cannot be; the results may have cells that the shards need not have */
  if (!options->resume || !rs_folder_has(options->directory, RS_WORK_FOLDER "/journal"))
    RS_TRY(check_missing(m, options->partial, err));
  RS_TRY(rs_make_directories(options->directory, err));
  RS_TRY(rs_folder_lock_take(options->directory, &lock, err));
  rs_status status = join_locked(m, options, summary, err);
  rs_folder_lock_drop(&lock);
  return status;
}

static rs_status refuse_itself(const merge *m, rs_err *err) {
  char *results = realpath(m->directory, NULL);
  rs_status status = RS_OK;
  for (size_t f = 0; f < m->folder_count && results != NULL && status == RS_OK; f++) {
    char *folder = realpath(m->folders[f], NULL);
    if (folder != NULL && strcmp(folder, results) == 0)
      status = rs_fail(err, RS_INPUT, "%s is a shard and cannot hold the results as well (choose another --out)",
                       m->folders[f]);
    free(folder);
  }
  free(results);
  return status;
}

static rs_status merge_with(const rs_experiment *experiment, const char *isa, merge *m, const rs_run_options *options,
                            rs_run_summary *summary, rs_err *err) {
  rs_ledger ledger;
  rs_status status = rs_ledger_make(experiment, isa, &ledger, err);
  m->ledger = &ledger;
  m->cells = rs_arena_take(&ledger.arena, ledger.count, sizeof *m->cells);
  m->here = rs_arena_take(&ledger.arena, ledger.count, sizeof *m->here);
  m->touched = rs_arena_take(&ledger.arena, ledger.count, sizeof *m->touched);
  if (status == RS_OK) status = rs_arena_check(&ledger.arena, err);
  if (status == RS_OK) status = join(m, options, summary, err);
  rs_ledger_close(&ledger);
  return status;
}

rs_status rs_merge(const rs_experiment *experiment, const char *const *folders, size_t count,
                   const rs_run_options *options, rs_run_summary *summary, rs_err *err) {
  merge m = {.folders = folders, .folder_count = count, .directory = options->directory};
  rs_shard_file first;
  *summary = (rs_run_summary){0};
  double start = rs_seconds();
  RS_TRY(refuse_itself(&m, err));
  rs_status status = rs_shard_file_read(folders[0], &first, err);
  if (status == RS_OK) status = merge_with(experiment, first.isa, &m, options, summary, err);
  rs_shard_file_clear(&first);
  summary->seconds = rs_seconds() - start;
  return status;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

/* The path of rank number `rank`, from 1. */
static rs_status name_folder(const char *directory, size_t rank, char path[RS_PATH_CHARS], rs_err *err) {
  char name[40];
  snprintf(name, sizeof name, RS_WORK_FOLDER "/rank-%zu", rank);
  return rs_folder_path(directory, name, path, err);
}

rs_status rs_rank_folders_make(const char *directory, size_t ranks, rs_err *err) {
  char path[RS_PATH_CHARS];
  for (size_t rank = 1; rank < ranks; rank++) {
    RS_TRY(name_folder(directory, rank, path, err));
    RS_TRY(rs_make_directories(path, err));
  }
  return RS_OK;
}

rs_status rs_rank_folder_open(rs_ledger *ledger, const char *directory, size_t rank, rs_folder_lock *lock,
                              rs_err *err) {
  char path[RS_PATH_CHARS];
  RS_TRY(name_folder(directory, rank, path, err));
  if (!rs_folder_has(path, ""))
    return rs_fail(err, RS_INPUT, "%s, which rank 0 has made, is not there: all machines must share its file system",
                   path);
  RS_TRY(rs_folder_lock_take(path, lock, err));
  return rs_ledger_open(ledger, path, true, err);
}

/* They are made before any is used, and the last goes first: none is missing between others. */
static size_t count_folders(const char *directory) {
  char path[RS_PATH_CHARS];
  size_t count = 0;
  while (name_folder(directory, count + 1, path, NULL) == RS_OK && rs_folder_has(path, "")) count++;
  return count;
}

rs_status rs_rank_folders_remove(const char *directory, rs_err *err) {
  char path[RS_PATH_CHARS];
  for (size_t rank = count_folders(directory); rank > 0; rank--) {
    RS_TRY(name_folder(directory, rank, path, err));
    if (!rs_tree_remove(path)) return rs_fail(err, RS_IO, "%s: cannot remove: %s", path, strerror(errno));
  }
  return RS_OK;
}

rs_status rs_rank_folders_merge(rs_ledger *ledger, const char *directory, bool now, rs_err *err) {
  char path[RS_PATH_CHARS];
  bool busy = false;
  for (size_t rank = 1, count = count_folders(directory); rank <= count; rank++) {
    rs_err why = {0};
    RS_TRY(name_folder(directory, rank, path, err));
    rs_status status = rs_ledger_take(ledger, path, now, &why);
    busy = busy || (status == RS_BUSY && now);
    if (status != RS_OK && !(status == RS_BUSY && now)) return rs_fail(err, status, "%s", why.message);
  }
  return busy ? RS_OK : rs_rank_folders_remove(directory, err);
}
