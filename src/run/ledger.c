/* Which cells are done: keys of cells beside those of the journal's records. */
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b, void *context) {
  const rs_cell_key *keys = context;
  return memcmp(&keys[*(const size_t *)a], &keys[*(const size_t *)b], sizeof *keys);
}

/* The first place in by_key whose key is not less. */
static size_t find_key(const rs_ledger *ledger, const rs_cell_key *key) {
  size_t low = 0, high = ledger->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (memcmp(&ledger->keys[ledger->by_key[middle]], key, sizeof *key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const size_t *rs_ledger_find(const rs_ledger *ledger, const rs_cell_key *key, size_t *count) {
  size_t first = find_key(ledger, key), end = first;
  while (end < ledger->count && memcmp(&ledger->keys[ledger->by_key[end]], key, sizeof *key) == 0) end++;
  *count = end - first;
  return ledger->by_key + first;
}

/* A record stands for all cells of its key; the last one counts. */
static rs_status note_record(void *context, const rs_cell_key *key, uint64_t offset, const uint8_t *data, size_t length,
                             rs_err *err) {
  rs_ledger *ledger = context;
  size_t count;
  const size_t *cells = rs_ledger_find(ledger, key, &count);
  (void)err;
  if (!rs_cell_record_holds(data, length)) return RS_OK;
  for (size_t i = 0; i < count; i++) {
    ledger->done += rs_ledger_pending(ledger, cells[i]);
    ledger->places[cells[i]] = offset;
  }
  return RS_OK;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

rs_status rs_ledger_make(const rs_experiment *experiment, const char *isa, rs_ledger *ledger, rs_err *err) {
  rs_arena *arena = &ledger->arena;
  *ledger = (rs_ledger){.experiment = experiment, .isa = isa, .journal.file = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
  RS_TRY(rs_experiment_cells(experiment, &ledger->cells, &ledger->count, err));
  size_t count = ledger->wanted = ledger->count;
  ledger->roles = rs_arena_take(arena, count, sizeof *ledger->roles);
  ledger->keys = rs_arena_take(arena, count, sizeof *ledger->keys);
  ledger->others = rs_arena_take(arena, count, sizeof *ledger->others);
  ledger->places = rs_arena_take(arena, count, sizeof *ledger->places);
  ledger->weights = rs_arena_take(arena, count, sizeof *ledger->weights);
  ledger->by_key = rs_arena_take(arena, count, sizeof *ledger->by_key);
  RS_TRY(rs_arena_check(arena, err));
  RS_TRY(rs_cell_roles_make(experiment, ledger->cells, count, ledger->roles, err));
  RS_TRY(rs_cell_keys_make(experiment, isa, ledger->cells, ledger->roles, count, ledger->keys, err));
  for (size_t i = 0; i < count; i++) ledger->by_key[i] = i;
  qsort_r(ledger->by_key, count, sizeof *ledger->by_key, compare_keys, ledger->keys);
  return RS_OK;
}

void rs_ledger_leave(rs_ledger *ledger, size_t cell) {
  ledger->wanted -= !ledger->others[cell];
  ledger->others[cell] = true;
}

rs_status rs_ledger_open(rs_ledger *ledger, const char *directory, bool fresh, rs_err *err) {
  RS_TRY(rs_journal_open(directory, fresh, note_record, ledger, &ledger->journal, err));
  ledger->resumed = ledger->done;
  return RS_OK;
}

void rs_ledger_close(rs_ledger *ledger) {
  rs_journal_close(&ledger->journal);
  (void)pthread_mutex_destroy(&ledger->lock);
  free(ledger->cells);
  rs_arena_clear(&ledger->arena);
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

rs_status rs_ledger_state(const rs_ledger *ledger, size_t index, rs_cell_state *state, rs_err *err) {
  rs_status status = rs_cell_state_make(ledger->experiment, &ledger->cells[index], state, err);
  state->number = index;
  state->role = ledger->roles[index];
  state->weight = ledger->weights[index];
  return status;
}

/* A record that was sent on has no place here; it is done all the same. */
static rs_status put(rs_ledger *ledger, size_t cell, const rs_text *record, rs_err *err) {
  enum { ELSEWHERE = 1 };
  uint64_t *place = &ledger->places[cell];
  bool before = rs_ledger_pending(ledger, cell);
  if (ledger->send != NULL) {
    RS_TRY(ledger->send(ledger->context, cell, record, err));
    *place = ELSEWHERE;
  } else {
    RS_TRY(rs_journal_add(&ledger->journal, &ledger->keys[cell], record, place, err));
  }
  ledger->done += before;
  return RS_OK;
}

rs_status rs_ledger_put(rs_ledger *ledger, size_t cell, const rs_text *record, rs_err *err) {
  (void)pthread_mutex_lock(&ledger->lock);
  rs_status status = put(ledger, cell, record, err);
  (void)pthread_mutex_unlock(&ledger->lock);
  return status;
}

rs_status rs_ledger_add(rs_ledger *ledger, const rs_cell_state *state, rs_err *err) {
  rs_text record = {0};
  rs_cell_record_write(ledger->experiment, state, &record);
  rs_status status = rs_ledger_put(ledger, state->number, &record, err);
  rs_text_clear(&record);
  return status;
}

rs_status rs_ledger_sync(rs_ledger *ledger, rs_err *err) {
  if (ledger->send != NULL) return RS_OK;
  (void)pthread_mutex_lock(&ledger->lock);
  rs_status status = rs_journal_sync(&ledger->journal, err);
  (void)pthread_mutex_unlock(&ledger->lock);
  return status;
}

rs_status rs_ledger_read(const rs_ledger *ledger, size_t index, rs_cell_state *state, rs_err *err) {
  rs_text record = {0};
  RS_TRY(rs_ledger_state(ledger, index, state, err));
  rs_status status = rs_journal_read(&ledger->journal, ledger->places[index], &record, err);
  if (status == RS_OK)
    status =
        rs_cell_record_read(ledger->experiment, (const uint8_t *)rs_text_string(&record), record.length, state, err);
  rs_text_clear(&record);
  return status;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Whether a cell is read from this record: not from an earlier one of the same key. */
static bool is_needed(const void *context, const rs_cell_key *key, uint64_t offset) {
  const rs_ledger *ledger = context;
  size_t first = find_key(ledger, key), cell = first < ledger->count ? ledger->by_key[first] : 0;
  return first < ledger->count && memcmp(&ledger->keys[cell], key, sizeof *key) == 0 && ledger->places[cell] == offset;
}

rs_status rs_ledger_compact(rs_ledger *ledger, rs_err *err) {
  static const uint64_t room = (uint64_t)256 << 20; /* read and summed in about a second, when a run begins */
  return rs_journal_compact(&ledger->journal, is_needed, ledger, room, err);
}
