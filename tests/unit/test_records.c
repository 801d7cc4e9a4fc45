/* test_records.c: what a cell's record and a shard's file must be. Whatever else stands there is told, and nothing of
 * it is used. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/run/cell.h"
#include "../../src/run/ledger.h"
#include "../fixtures/runs.h"

TestSuite(records, .init = enter_folder, .fini = leave_folder);

/* A metric of one value, then one with a curve. */
static rs_experiment *make_experiment(void) {
  static const char yaml[] = TINY "methods: rope\nlengths: 16\nmetrics: [first_violation, decay]\n";
  rs_experiment *experiment;
  rs_problems problems = {0};
  rs_err err = {0};
  cr_assert_eq(rs_config_read(yaml, "t.yaml", (rs_config_edits){0}, &experiment, &problems, &err), RS_OK);
  rs_problems_clear(&problems);
  return experiment;
}

static void make_state(const rs_experiment *experiment, rs_cell_state *state) {
  rs_cell *cells;
  size_t count;
  cr_assert_eq(rs_experiment_cells(experiment, &cells, &count, NULL), RS_OK);
  cr_assert_eq(rs_cell_state_make(experiment, &cells[0], state, NULL), RS_OK);
  free(cells);
}

/* Offsets of a record's counts. */
typedef struct places {
  size_t message, metrics, columns, rows, width;
} places;

enum { ROWS = 3, FLAGS = 4, NUMBERS = 6, COUNT = sizeof(uint64_t) };
static const char words[] = "three rows";

static places fill_record(const rs_experiment *experiment, rs_text *record) {
  rs_cell_state state;
  double row[64] = {1, 2, 3};
  make_state(experiment, &state);
  strcpy(state.message, words);
  state.results[0].value[0] = 7;
  for (size_t i = 0; i < ROWS; i++) cr_assert_eq(rs_curve_add(&state.results[1].curve, row, NULL), RS_OK);
  rs_cell_record_write(experiment, &state, record);
  cr_assert_not(record->failed);
  size_t curve = ROWS * state.results[1].curve.columns * sizeof(double);
  rs_cell_state_clear(experiment, &state);
  places p = {.message = FLAGS + NUMBERS * sizeof(double)};
  p.metrics = p.message + COUNT + strlen(words) + RS_ARITHMETIC;
  p.rows = record->length - curve - COUNT;
  p.columns = p.rows - COUNT;
  p.width = curve / sizeof(double) / ROWS;
  return p;
}

static rs_status read_back(const rs_experiment *experiment, const char *bytes, size_t length, rs_err *err) {
  rs_cell_state state;
  uint8_t *copy = malloc(length + 1); /* of its own, so that no byte behind it is read unseen */
  memcpy(copy, bytes, length);
  make_state(experiment, &state);
  rs_status status = rs_cell_record_read(experiment, copy, length, &state, err);
  if (status == RS_OK) {
    cr_expect_str_eq(state.message, words);
    cr_expect_eq(state.results[0].value[0], 7);
    cr_expect(state.results[1].curve.rows == ROWS && state.results[1].curve.cells[1] == 2);
  }
  rs_cell_state_clear(experiment, &state);
  free(copy);
  return status;
}

Test(records, cut_or_continued_anywhere__are_refused) {
  rs_experiment *experiment = make_experiment();
  rs_text record = {0};
  (void)fill_record(experiment, &record);
  cr_assert_eq(read_back(experiment, record.data, record.length, NULL), RS_OK);
  for (size_t length = 0; length < record.length; length++) {
    rs_err err = {0};
    cr_assert_eq(read_back(experiment, record.data, length, &err), RS_INPUT, "%zu of %zu bytes", length, record.length);
    cr_assert_str_eq(err.message, "a record of the journal does not fit its cell (--fresh starts over without it)");
  }
  size_t length = record.length;
  rs_text_add(&record, "", 1);
  cr_expect_eq(read_back(experiment, record.data, length + 1, NULL), RS_INPUT);
  rs_text_clear(&record);
  rs_experiment_free(experiment);
}

Test(records, counts_of_other_cells__are_refused) {
  rs_experiment *experiment = make_experiment();
  rs_text record = {0};
  places p = fill_record(experiment, &record);
  const struct {
    size_t place;
    uint64_t right, wrong;
  } cases[] = {{p.message, sizeof words - 1, RS_CELL_MESSAGE},
               {p.message, sizeof words - 1, UINT64_MAX},
               {p.metrics, 2, 3},
               {p.metrics, 2, 1},
               {p.metrics, 2, 0},
               {p.columns, p.width, p.width - 1},
               {p.columns, p.width, p.width + 1},
               {p.columns, p.width, 65},
               {p.rows, ROWS, 2},
               {p.rows, ROWS, 4},
               {p.rows, ROWS, UINT64_MAX},
               {p.rows, ROWS, 0}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    cr_assert_eq(memcmp(record.data + cases[i].place, &cases[i].right, COUNT), 0, "case %zu: no such count", i);
    memcpy(record.data + cases[i].place, &cases[i].wrong, COUNT);
    cr_expect_eq(read_back(experiment, record.data, record.length, NULL), RS_INPUT, "case %zu", i);
    memcpy(record.data + cases[i].place, &cases[i].right, COUNT);
  }
  /* As many numbers, laid out otherwise. */
  memcpy(record.data + p.columns, &(uint64_t){1}, COUNT);
  memcpy(record.data + p.rows, &(uint64_t){ROWS * p.width}, COUNT);
  cr_expect_eq(read_back(experiment, record.data, record.length, NULL), RS_INPUT);
  rs_text_clear(&record);
  rs_experiment_free(experiment);
}

/* Of what failed for want of memory or a file nothing is kept; an undefined cell stays so. */
Test(records, holds__what_another_run_would_find_again) {
  static const struct {
    rs_status status;
    bool holds;
  } cases[] = {{RS_OK, true},  {RS_DOMAIN, true}, {RS_UNSUPPORTED, true}, {RS_MEMORY, false},
               {RS_IO, false}, {RS_INPUT, false}, {RS_STOPPED, false}};
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    cr_expect_eq(rs_cell_record_holds(&(uint8_t){(uint8_t)cases[i].status}, 1), cases[i].holds, "case %zu", i);
  cr_expect_not(rs_cell_record_holds((const uint8_t *)"", 0), "an empty record");
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

#define SHARD(numbers, kinds, inputs)                                                                                  \
  "{\"version\": \"1\", \"schema\": 1, " numbers ", \"instruction_set\": \"v3\", \"config\": \"c\", \"kinds\": " kinds \
  ", \"inputs\": " inputs "}"

Test(records, shard_files_of_no_shard__are_refused) {
  static const struct {
    const char *text;
    rs_status status;
  } cases[] = {{SHARD("\"shard\": 1, \"shards\": 1", "[]", "[]"), RS_OK},
               {SHARD("\"shard\": 0, \"shards\": 1", "[]", "[]"), RS_INPUT},
               {SHARD("\"shard\": -1, \"shards\": 1", "[]", "[]"), RS_INPUT},
               {SHARD("\"shard\": 3, \"shards\": 2", "[]", "[]"), RS_INPUT},
               {SHARD("\"shard\": 1, \"shards\": 2", "{}", "[]"), RS_INPUT},
               {SHARD("\"shard\": 1, \"shards\": 2", "3", "[]"), RS_INPUT},
               {SHARD("\"shard\": 1, \"shards\": 2", "[]", "{}"), RS_INPUT},
               {SHARD("\"shard\": 1, \"shards\": 2", "[]", "null"), RS_INPUT}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_shard_file file;
    rs_err err = {0};
    cr_assert_eq(rs_file_write("shard.json", cases[i].text, strlen(cases[i].text), NULL), RS_OK);
    cr_expect_eq(rs_shard_file_read(".", &file, &err), cases[i].status, "case %zu", i);
    cr_expect_str_eq(err.message,
                     cases[i].status == RS_OK ? "" : "./shard.json: is not what a run with --shard writes");
    if (cases[i].status == RS_OK) cr_expect(file.shard.number == 1 && file.shard.count == 1 && file.schema == 1);
    rs_shard_file_clear(&file);
  }
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* What a run may replace: its own files, and the curves of metrics that have some. */
Test(records, files_of_runs__are_known_by_their_names) {
  static const struct {
    const char *name;
    bool known;
  } cases[] = {{"summary.csv", true}, {"manifest.json", true}, {"shard.json", true},   {"decay.csv", true},
               {"decay.txt", false},  {"decax.csv", false},    {"entropy.csv", false}, {"decay", false},
               {"decay.csv2", false}, {"xdecay.csv", false},   {".csv", false},        {"csv", false},
               {"", false},           {"summary", false}};
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    cr_expect_eq(rs_is_run_file(cases[i].name), cases[i].known, "%s", cases[i].name);
}
