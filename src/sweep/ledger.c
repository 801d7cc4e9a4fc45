/* Which cells are done: keys of cells beside those of the journal's records. */
#include "ledger.h"

#include "record.h"

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

/* A record stands for all cells of its key; the last one counts. */
static rs_status note_record(void *context, const rs_cell_key *key, uint64_t offset, const uint8_t *data, size_t length,
                             rs_err *err) {
  rs_ledger *ledger = context;
  bool holds = rs_cell_record_holds(data, length);
  (void)err;
  for (size_t i = find_key(ledger, key); i < ledger->count; i++) {
    size_t cell = ledger->by_key[i];
    if (memcmp(&ledger->keys[cell], key, sizeof *key) != 0) break;
    if (holds && ledger->places[cell] == 0) ledger->done++;
    if (holds) ledger->places[cell] = offset;
  }
  return RS_OK;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static rs_status make_lists(rs_ledger *ledger, rs_err *err) {
  size_t count = ledger->count;
  ledger->roles = rs_alloc(count, sizeof *ledger->roles, err);
  ledger->keys = rs_alloc(count, sizeof *ledger->keys, err);
  ledger->places = rs_alloc(count, sizeof *ledger->places, err);
  ledger->weights = rs_alloc(count, sizeof *ledger->weights, err);
  ledger->by_key = rs_alloc(count, sizeof *ledger->by_key, err);
  if (ledger->roles == NULL || ledger->keys == NULL || ledger->places == NULL || ledger->weights == NULL ||
      ledger->by_key == NULL)
    return RS_MEMORY;
  RS_TRY(rs_cell_roles_make(ledger->experiment, ledger->cells, count, ledger->roles, err));
  RS_TRY(rs_cell_keys_make(ledger->experiment, ledger->cells, ledger->roles, count, ledger->keys, err));
  for (size_t i = 0; i < count; i++) ledger->by_key[i] = i;
  qsort_r(ledger->by_key, count, sizeof *ledger->by_key, compare_keys, ledger->keys);
  return RS_OK;
}

rs_status rs_ledger_open(const rs_experiment *experiment, const char *directory, bool fresh, rs_ledger *ledger,
                         rs_err *err) {
  *ledger = (rs_ledger){.experiment = experiment, .journal.file = -1};
  RS_TRY(rs_experiment_cells(experiment, &ledger->cells, &ledger->count, err));
  RS_TRY(make_lists(ledger, err));
  RS_TRY(rs_journal_open(directory, fresh, note_record, ledger, &ledger->journal, err));
  ledger->resumed = ledger->done;
  return RS_OK;
}

void rs_ledger_close(rs_ledger *ledger) {
  rs_journal_close(&ledger->journal);
  free(ledger->cells);
  free(ledger->roles);
  free(ledger->keys);
  free(ledger->places);
  free(ledger->weights);
  free(ledger->by_key);
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

rs_status rs_ledger_state(const rs_ledger *ledger, size_t index, rs_cell_state *state, rs_err *err) {
  rs_status status = rs_cell_state_make(ledger->experiment, &ledger->cells[index], state, err);
  state->number = index;
  state->role = ledger->roles[index];
  state->weight = ledger->weights[index];
  return status;
}

rs_status rs_ledger_add(rs_ledger *ledger, const rs_cell_state *state, rs_err *err) {
  rs_text record = {0};
  uint64_t *place = &ledger->places[state->number], before = *place;
  rs_cell_record_write(ledger->experiment, state, &record);
  rs_status status = rs_journal_add(&ledger->journal, &ledger->keys[state->number], &record, place, err);
  rs_text_clear(&record);
  if (status == RS_OK && before == 0) ledger->done++;
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
