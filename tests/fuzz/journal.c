/* journal.c: the journal of a folder, and the records of cells in it. The first byte says which: an odd one that what
 * looks like a record gets the sum that it needs, one with 2 that the rest is a cell's record itself, one with 4 that
 * the journal is gone on with. */
#include "fuzz.h"

#include <sys/stat.h>

#include "../../src/run/ledger.h"

enum { TITLE = 20, HEAD = 64, SUMMED = 48, SUM = 16, MOST = 64 };
static const char folder[] = "o", file[] = "o/.ropescope/journal";

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* What a reader was told. */
typedef struct seen {
  rs_cell_key keys[MOST];
  uint64_t places[MOST];
  size_t lengths[MOST], count;
} seen;

static rs_status see(void *context, const rs_cell_key *key, uint64_t offset, const uint8_t *data, size_t length,
                     rs_err *err) {
  seen *s = context;
  (void)data;
  if (s->count == MOST) return rs_fail(err, RS_MEMORY, "too many for this reader");
  s->keys[s->count] = *key;
  s->places[s->count] = offset;
  s->lengths[s->count++] = length;
  return RS_OK;
}

static void mend_sums(uint8_t *bytes, size_t size) {
  for (size_t at = TITLE; at + HEAD <= size;) {
    size_t length = bytes[at + 4] | (size_t)bytes[at + 5] << 8;
    uint8_t digest[32];
    if (bytes[at] != 0xc5 || length > size - at - HEAD) {
      at++;
      continue;
    }
    rs_sha256_digest((const rs_bytes[]){{bytes + at, SUMMED}, {bytes + at + HEAD, length}}, 2, digest);
    memcpy(bytes + at + SUMMED, digest, SUM);
    at += HEAD + length;
  }
}

static void check_records(const rs_journal *journal, const seen *s) {
  for (size_t i = 0; i < s->count; i++) {
    rs_text data = {0};
    LAW(rs_journal_read(journal, s->places[i], &data, NULL) == RS_OK && data.length == s->lengths[i]);
    rs_text_clear(&data);
  }
}

static bool is_last(const void *context, const rs_cell_key *key, uint64_t offset) {
  const seen *s = context;
  (void)key;
  return s->count > 0 && offset == s->places[s->count - 1];
}

/* What was read stays, whatever is added, and compaction keeps what it must. */
static void go_on(rs_journal *journal, const seen *before) {
  static const rs_cell_key key = {{7}};
  rs_text data = {0};
  rs_err err = {0};
  seen after = {0}, left = {0};
  uint64_t offset;
  rs_text_puts(&data, "more");
  LAW(rs_journal_add(journal, &key, &data, &offset, &err) == RS_OK && rs_journal_seal(journal, &err) == RS_OK);
  rs_journal_close(journal);
  if (before->count < MOST) {
    LAW(rs_journal_open(folder, false, see, &after, journal, &err) == RS_OK && after.count == before->count + 1);
    LAW(memcmp(after.keys, before->keys, before->count * sizeof *after.keys) == 0);
    LAW(rs_journal_compact(journal, is_last, &after, 0, &err) == RS_OK);
    rs_journal_close(journal);
    LAW(rs_journal_open(folder, false, see, &left, journal, &err) == RS_OK && left.count == 1);
    LAW(left.lengths[0] == 4);
    rs_journal_close(journal);
  }
  rs_text_clear(&data);
}

static void read_file(const char *bytes, size_t size, bool more) {
  rs_journal journal;
  seen s = {0};
  rs_err err = {0};
  fuzz_file(file, bytes, size);
  rs_status status = rs_journal_open(folder, false, see, &s, &journal, &err);
  fuzz_says_why(status, &err);
  LAW(status == RS_OK || status == RS_INPUT || status == RS_MEMORY);
  if (status == RS_OK) {
    LAW(size < TITLE || journal.end <= size);
    check_records(&journal, &s);
    if (more) go_on(&journal, &s);
  }
  rs_journal_close(&journal);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static const char yaml[] = "name: f\nmodel: {head_dim: 8, heads: 2, train_length: 16}\nmethods: [rope]\nlengths: [16]\n"
                           "sources: [gaussian]\nmetrics: [entropy, decay, distance_mass]\n";

static rs_experiment *make_experiment(void) {
  rs_experiment *experiment = NULL;
  rs_problems problems = {0};
  rs_err err = {0};
  LAW(rs_config_read(yaml, "f", (rs_config_edits){0}, &experiment, &problems, &err) == RS_OK);
  rs_problems_clear(&problems);
  return experiment;
}

static void make_state(const rs_experiment *experiment, rs_cell_state *state) {
  rs_cell *cells;
  size_t count;
  rs_err err = {0};
  LAW(rs_experiment_cells(experiment, &cells, &count, &err) == RS_OK && count > 0);
  LAW(rs_cell_state_make(experiment, &cells[0], state, &err) == RS_OK);
  free(cells);
}

static void read_record(const uint8_t *data, size_t size) {
  static rs_experiment *experiment;
  rs_cell_state state, again;
  rs_text record = {0};
  rs_err err = {0}, why = {0};
  if (experiment == NULL) experiment = make_experiment();
  make_state(experiment, &state);
  (void)rs_cell_record_holds(data, size);
  rs_status status = rs_cell_record_read(experiment, data, size, &state, &err);
  fuzz_says_why(status, &err);
  LAW(status == RS_OK || status == RS_INPUT);
  if (status == RS_OK) {
    rs_cell_record_write(experiment, &state, &record);
    make_state(experiment, &again);
    LAW(record.length <= size);
    LAW(rs_cell_record_read(experiment, (const uint8_t *)record.data, record.length, &again, &why) == RS_OK);
    rs_cell_state_clear(experiment, &again);
  }
  rs_cell_state_clear(experiment, &state);
  rs_text_clear(&record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool ready;
  if (!ready) {
    fuzz_file("here", "", 0);
    LAW(mkdir(folder, 0700) == 0 && mkdir("o/.ropescope", 0700) == 0);
  }
  ready = true;
  if (size == 0) return 0;
  char *bytes = fuzz_text(data + 1, size - 1);
  if ((data[0] & 2) != 0) {
    read_record((const uint8_t *)bytes, size - 1);
  } else {
    if ((data[0] & 1) != 0) mend_sums((uint8_t *)bytes, size - 1);
    read_file(bytes, size - 1, (data[0] & 4) != 0);
  }
  free(bytes);
  return 0;
}
