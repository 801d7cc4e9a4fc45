/* test_sweep_shards.c: which cells fall into which shard, and journals that do not agree. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/run/costs.h"
#include "../../src/run/ledger.h"
#include "../../src/run/work.h"
#include "../fixtures/runs.h"
#include "kernel/kernel.h"

TestSuite(sweep_shards, .init = enter_folder, .fini = leave_folder);

static const char simulated[] = TINY "methods: [rope, alibi, nope]\nlengths: [64, 1k, 4k]\nseeds: 4\n"
                                     "sources: [needle, gaussian]\nmetrics: [entropy]\nqueries: all\n";
static const char small[] = TINY "methods: [rope, alibi, nope]\nlengths: [8, 16]\nseeds: 2\n"
                                 "sources: [needle, gaussian]\nmetrics: [entropy]\nqueries: all\n";
static const char trained[] =
    "task: {name: copy, symbols: 3}\nsequences: 4\nlengths: [4, 6]\nseeds: 3\nmethods: [trained, alibi]\n"
    "metrics: [loss]\ncheckpoint: {method: [rope, nope], width: 8, blocks: 1, heads: 2, train: {steps: 500, length: 4, "
    "sequences: 2}}\n";

static rs_experiment *experiment_of(const char *yaml) {
  rs_experiment *experiment;
  rs_problems problems = {0};
  rs_err err = {0};
  cr_assert_eq(rs_config_read(yaml, "t.yaml", (rs_config_edits){0}, &experiment, &problems, &err), RS_OK, "%s %s",
               err.message, rs_text_string(&problems.text));
  rs_problems_clear(&problems);
  return experiment;
}

typedef struct dealt {
  rs_experiment *experiment;
  rs_cell *cells;
  size_t count, *of_cell;
  double *costs;
} dealt;

static dealt deal(const char *yaml, size_t shards) {
  dealt d = {.experiment = experiment_of(yaml)};
  rs_err err = {0};
  cr_assert_eq(rs_experiment_cells(d.experiment, &d.cells, &d.count, &err), RS_OK);
  d.of_cell = calloc(d.count, sizeof *d.of_cell);
  d.costs = calloc(shards, sizeof *d.costs);
  cr_assert_eq(rs_shards_assign(d.experiment, shards, d.of_cell, d.count, d.costs, &err), RS_OK, "%s", err.message);
  return d;
}

static void dealt_clear(dealt *d) {
  free(d->cells);
  free(d->of_cell);
  free(d->costs);
  rs_experiment_free(d->experiment);
}

Test(sweep_shards, assign__every_cell_once_and_no_shard_without) {
  static const char *const yamls[] = {simulated, trained};
  for (size_t y = 0; y < RS_COUNT(yamls); y++) {
    dealt one = deal(yamls[y], 1);
    for (size_t shards = 1; shards <= one.count; shards++) {
      dealt d = deal(yamls[y], shards);
      size_t *cells = calloc(shards + 1, sizeof *cells);
      for (size_t i = 0; i < d.count; i++) {
        cr_assert(d.of_cell[i] >= 1 && d.of_cell[i] <= shards);
        cells[d.of_cell[i]]++;
      }
      for (size_t s = 1; s <= shards; s++) cr_expect(cells[s] > 0 && d.costs[s - 1] > 0, "%zu/%zu", s, shards);
      free(cells);
      dealt_clear(&d);
    }
    dealt_clear(&one);
  }
}

Test(sweep_shards, assign__even_where_cells_allow_it) {
  dealt whole = deal(simulated, 1);
  for (size_t shards = 2; shards <= 6; shards++) {
    dealt d = deal(simulated, shards);
    double sum = 0, most = 0;
    for (size_t s = 0; s < shards; s++) {
      sum += d.costs[s];
      most = fmax(most, d.costs[s]);
    }
    cr_expect(sum >= whole.costs[0] * 0.999999 && sum <= 1.5 * whole.costs[0]); /* some is made twice */
    cr_expect_lt(most, 1.12 * sum / (double)shards, "%zu shards: %g of %g", shards, most, sum / (double)shards);
    dealt_clear(&d);
  }
  dealt_clear(&whole);
}

/* Few shards: what one training gives is read where it was trained. */
Test(sweep_shards, assign__a_training_is_not_parted) {
  for (size_t shards = 2; shards <= 6; shards++) {
    dealt d = deal(trained, shards);
    for (size_t i = 0; i < d.count; i++)
      for (size_t j = 0; j < i; j++) {
        const size_t *a = d.cells[i].axis, *b = d.cells[j].axis;
        bool same = a[RS_BY_MODEL] == b[RS_BY_MODEL] && a[RS_BY_SEED] == b[RS_BY_SEED];
        if (same) cr_expect_eq(d.of_cell[i], d.of_cell[j], "%zu shards: cells %zu and %zu", shards, i, j);
      }
    dealt_clear(&d);
  }
}

/* Methods that see the same queries and keys are run together; of these there are 24 sets. The longest are worth
 * splitting, and no others. */
Test(sweep_shards, units__share_queries_and_keys) {
  dealt d = deal(simulated, 1);
  rs_units units;
  cr_assert_eq(rs_units_make(d.experiment, d.cells, d.count, &units, NULL), RS_OK);
  cr_expect_eq(units.count, 24);
  for (size_t u = 0; u < units.count; u++) cr_expect_eq(units.items[u].count, 3);
  double total = units.total;
  cr_assert_eq(rs_units_split(&units, total / 20, 0, NULL), RS_OK);
  size_t cells = 0;
  double sum = 0;
  for (size_t u = 0; u < units.count; u++) {
    const rs_unit *unit = &units.items[u];
    double own = 0;
    for (size_t i = 0; i < unit->count; i++) own += units.costs.items[units.order[unit->first + i]].own;
    cr_expect_float_eq(own / unit->own, 1, 1e-12);
    bool longest = d.cells[units.order[unit->first]].axis[RS_BY_LENGTH] == 2;
    cr_expect_eq(unit->count == 3, !longest);
    cr_expect(unit->count == 1 || unit->own <= total / 20 || unit->own <= 4 * unit->making);
    cells += unit->count;
    sum += own;
  }
  cr_expect_eq(cells, d.count);
  cr_expect(sum < total);
  cr_assert_eq(rs_units_split(&units, total, 1000, NULL), RS_OK);
  cr_expect_eq(units.count, d.count);
  rs_units_clear(&units);
  dealt_clear(&d);
}

/* What additive embeddings come to in a head is the same for all seeds and sources, and costs more than they do: beside
 * 16 units of one source and seed, one of each such method and length. */
Test(sweep_shards, units__share_projections) {
  dealt d = deal(TINY "methods: [rope, sinusoidal, learned, nope]\nlengths: [64, 1k]\nseeds: 4\n"
                      "sources: [needle, gaussian]\nmetrics: [entropy]\n",
                 1);
  rs_units units;
  size_t projections = 0;
  cr_assert_eq(rs_units_make(d.experiment, d.cells, d.count, &units, NULL), RS_OK);
  cr_expect_eq(units.count, 20);
  for (size_t u = 0; u < units.count; u++) {
    const rs_cell *first = &d.cells[units.order[units.items[u].first]];
    bool projected = first->axis[RS_BY_METHOD] == 1 || first->axis[RS_BY_METHOD] == 2;
    cr_expect_eq(units.items[u].count, projected ? 8 : 2);
    for (size_t i = 1; i < units.items[u].count && projected; i++)
      cr_expect_eq(d.cells[units.order[units.items[u].first + i]].axis[RS_BY_METHOD], first->axis[RS_BY_METHOD]);
    for (size_t v = 0; v < units.count; v++) {
      const rs_cell *other = &d.cells[units.order[units.items[v].first]];
      bool plain = other->axis[RS_BY_METHOD] == 0 && other->axis[RS_BY_LENGTH] == first->axis[RS_BY_LENGTH];
      if (projected && plain) cr_expect_gt(units.items[u].making, units.items[v].making);
    }
    projections += projected;
  }
  cr_expect_eq(projections, 4);
  rs_units_clear(&units);
  dealt_clear(&d);
}

/* What stands under the name of our own file, and is none, is left to whom it belongs. */
Test(sweep_shards, shard_file__of_somebody__is_refused) {
  rs_experiment *experiment = experiment_of(small);
  rs_run_summary summary;
  rs_err err = {0};
  cr_assert_eq(rs_make_directories("o", NULL), RS_OK);
  cr_assert_eq(rs_file_write("o/shard.json", "[]", 2, NULL), RS_OK);
  const rs_run_options options = {.directory = "o"};
  cr_expect_eq(rs_run(experiment, &options, &summary, &err), RS_IO);
  cr_expect_str_eq(err.message, "o/shard.json is there already, and no run made it (another --out, or move it away)");
  rs_experiment_free(experiment);
}

Test(sweep_shards, too_many__is_an_error) {
  rs_experiment *experiment = experiment_of(TINY "methods: rope\nlengths: [8]\nmetrics: [decay]\n");
  size_t of_cell[1];
  double costs[2];
  rs_err err = {0};
  cr_expect_eq(rs_shards_assign(experiment, 2, of_cell, 1, costs, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "2 shards are too many: the config has 1 cell");
  rs_experiment_free(experiment);
}

/* ---- portions ---------------------------------------------------------------------------------------------------- */

static void ignore_progress(void *context, double work, size_t cells) {
  (void)context, (void)work, (void)cells;
}

static size_t count_done(const rs_ledger *ledger) {
  size_t done = 0;
  for (size_t i = 0; i < ledger->count; i++) done += ledger->places[i] != 0;
  return done;
}

/* Cells that come one by one, of one length and another in turns, come to what they come to in one run. */
Test(sweep_shards, portions__some_at_a_time_are_the_same) {
  rs_experiment *experiment =
      experiment_of(TINY "methods: [rope, sinusoidal]\nlengths: [16, 8]\nseeds: 2\n"
                         "sources: [needle]\nmetrics: [entropy, decay, needle, shift_invariance]\n");
  const rs_trained_watch watch = {.advance = ignore_progress};
  rs_ledger whole, parts;
  rs_portions *portions;
  cr_assert_eq(rs_ledger_make(experiment, rs_kernels_get()->isa, &whole, NULL), RS_OK);
  cr_assert_eq(rs_ledger_make(experiment, rs_kernels_get()->isa, &parts, NULL), RS_OK);
  cr_assert_eq(rs_make_directories("w", NULL), RS_OK);
  cr_assert_eq(rs_make_directories("p", NULL), RS_OK);
  cr_assert_eq(rs_ledger_open(&whole, "w", true, NULL), RS_OK);
  cr_assert_eq(rs_ledger_open(&parts, "p", true, NULL), RS_OK);
  cr_assert_eq(rs_portions_run(&whole, &watch, NULL), RS_OK);
  cr_assert_eq(rs_portions_open(&parts, &watch, &portions, NULL), RS_OK);
  memset(parts.others, true, parts.count * sizeof *parts.others);
  for (size_t i = 0; i < parts.count; i++) {
    size_t cell = i * 3 % parts.count; /* eight cells: 3 and 8 have no divisor in common */
    parts.others[cell] = false;
    cr_assert_eq(rs_portions_work(portions, NULL), RS_OK);
    parts.others[cell] = true;
    cr_expect_eq(count_done(&parts), i + 1);
  }
  rs_portions_close(portions);
  for (size_t i = 0; i < whole.count; i++) {
    enum { SECONDS_END = 20 }; /* of a record: the time it took stands before */
    rs_text a = {0}, b = {0};
    cr_assert_eq(rs_journal_read(&whole.journal, whole.places[i], &a, NULL), RS_OK);
    cr_assert_eq(rs_journal_read(&parts.journal, parts.places[i], &b, NULL), RS_OK);
    cr_assert_eq(a.length, b.length);
    cr_expect_arr_eq(a.data + SECONDS_END, b.data + SECONDS_END, a.length - SECONDS_END, "cell %zu", i);
    rs_text_clear(&a);
    rs_text_clear(&b);
  }
  rs_ledger_close(&whole);
  rs_ledger_close(&parts);
  rs_experiment_free(experiment);
}

/* ---- records that differ ----------------------------------------------------------------------------------------- */

static void run_shard(const rs_experiment *experiment, size_t number, const char *out) {
  rs_run_summary summary;
  rs_err err = {0};
  const rs_run_options options = {.directory = out, .shard = {number, 2}};
  cr_assert_eq(rs_run(experiment, &options, &summary, &err), RS_OK, "%s", err.message);
}

/* Puts another record of a cell of `from` into the journal of `to`: seconds or (`at` 20) the error of its scores. */
static size_t put_record(const rs_experiment *experiment, const char *from, const char *to, size_t at) {
  rs_ledger source, target;
  rs_text record = {0};
  size_t cell = 0;
  cr_assert_eq(rs_ledger_make(experiment, rs_kernels_get()->isa, &source, NULL), RS_OK);
  cr_assert_eq(rs_ledger_make(experiment, rs_kernels_get()->isa, &target, NULL), RS_OK);
  cr_assert_eq(rs_ledger_open(&source, from, false, NULL), RS_OK);
  cr_assert_eq(rs_ledger_open(&target, to, false, NULL), RS_OK);
  while (source.places[cell] == 0) cell++;
  cr_assert_eq(rs_journal_read(&source.journal, source.places[cell], &record, NULL), RS_OK);
  record.data[at] ^= 1;
  cr_assert_eq(rs_ledger_put(&target, cell, &record, NULL), RS_OK);
  cr_assert_eq(rs_ledger_sync(&target, NULL), RS_OK);
  rs_text_clear(&record);
  rs_ledger_close(&source);
  rs_ledger_close(&target);
  return cell;
}

static rs_status merge(const rs_experiment *experiment, const char *out, rs_err *err) {
  static const char *const folders[] = {"a", "b"};
  rs_run_summary summary = {0};
  const rs_run_options options = {.directory = out, .resume = true};
  *err = (rs_err){0};
  rs_status status = rs_merge(experiment, folders, RS_COUNT(folders), &options, &summary, err);
  if (status == RS_OK) cr_expect(summary.done > 0 && summary.cells == summary.done, "%zu cells", summary.cells);
  return status;
}

Test(sweep_shards, merge__cells_in_two_journals_agree_or_are_named) {
  enum { SECONDS = 12, ERROR = 20 };
  rs_experiment *experiment = experiment_of(small);
  char message[256];
  rs_err err;
  run_shard(experiment, 1, "a");
  run_shard(experiment, 2, "b");
  (void)put_record(experiment, "a", "b", SECONDS); /* two machines take another time */
  cr_expect_eq(merge(experiment, "o", &err), RS_OK, "%s", err.message);
  size_t cell = put_record(experiment, "a", "b", ERROR);
  cr_expect_eq(merge(experiment, "p", &err), RS_INPUT);
  snprintf(message, sizeof message, "a and b differ in cell %zu (", cell);
  cr_expect(strncmp(err.message, message, strlen(message)) == 0, "%s", err.message);
  cr_expect(!exists("p"));
  (void)put_record(experiment, "a", "b", SECONDS); /* of several in one journal the last counts */
  cr_expect_eq(merge(experiment, "p", &err), RS_OK, "%s", err.message);
  (void)put_record(experiment, "a", "p", ERROR);
  cr_expect_eq(merge(experiment, "p", &err), RS_INPUT);
  snprintf(message, sizeof message, "p and a differ in cell %zu (", cell);
  cr_expect(strncmp(err.message, message, strlen(message)) == 0, "%s", err.message);
  rs_experiment_free(experiment);
}

/* Cells of checkpoints have no source that could be named. */
Test(sweep_shards, merge__cells_of_checkpoints_are_named_without_a_source) {
  enum { ERROR = 20 };
  rs_experiment *experiment =
      experiment_of("task: {name: copy, symbols: 3}\nsequences: 2\nlengths: [4]\nseeds: 2\nmethods: [trained, alibi]\n"
                    "metrics: [loss]\ncheckpoint: {method: rope, width: 8, blocks: 1, heads: 2, train: {steps: 1, "
                    "length: 4, sequences: 2}}\n");
  rs_err err;
  run_shard(experiment, 1, "a");
  run_shard(experiment, 2, "b");
  (void)put_record(experiment, "a", "b", ERROR);
  cr_expect_eq(merge(experiment, "o", &err), RS_INPUT);
  cr_expect_str_eq(err.message,
                   "a and b differ in cell 0 (trained, 4 tokens, seed 0): one of them was not computed as the other "
                   "(run it again with --fresh)",
                   "%s", err.message);
  rs_experiment_free(experiment);
}

/* ---- what is missing --------------------------------------------------------------------------------------------- */

static void run_part(const rs_experiment *experiment, size_t number, size_t count, const char *out) {
  rs_run_summary summary;
  rs_err err = {0};
  const rs_run_options options = {.directory = out, .shard = {number, count}};
  cr_assert_eq(rs_run(experiment, &options, &summary, &err), RS_OK, "%s", err.message);
}

static void expect_merge(const rs_experiment *experiment, const char *second, bool partial, const char *message) {
  const char *const folders[] = {"a", second};
  rs_run_summary summary;
  rs_err err = {0};
  const rs_run_options options = {.directory = "o", .resume = true, .partial = partial};
  cr_expect_eq(rs_merge(experiment, folders, second != NULL ? 2 : 1, &options, &summary, &err), RS_INPUT);
  cr_expect_str_eq(err.message, message, "%s", err.message);
  cr_expect(!exists("o/summary.csv"));
}

/* Eight of the shards that are missing are listed, five cells of each; where folders are of other numbers of shards,
 * the cells alone. */
Test(sweep_shards, merge__says_which_shards_are_missing) {
  rs_experiment *experiment = experiment_of(small), *few = experiment_of(TINY "methods: rope\nlengths: [8, 16]\n"
                                                                              "metrics: [decay]\n");
  run_part(experiment, 1, 24, "a");
  dealt d = deal(small, 24);
  rs_text message = {0};
  rs_text_puts(&message, "23 of 24 cells are missing");
  for (size_t s = 2; s <= 9; s++)
    for (size_t i = 0; i < d.count; i++)
      if (d.of_cell[i] == s) rs_text_printf(&message, "%s of shard %zu/24 1 cell (%zu)", s == 2 ? ":" : ";", s, i);
  rs_text_puts(&message, "; and of 15 more shards (--partial writes what there is)");
  expect_merge(experiment, NULL, false, rs_text_string(&message));
  rs_text_clear(&message);
  dealt_clear(&d);

  run_part(experiment, 2, 2, "b");
  d = deal(small, 2);
  dealt first = deal(small, 24);
  size_t missing = 0;
  rs_text cells = {0};
  for (size_t i = 0; i < d.count; i++) {
    if (d.of_cell[i] == 2 || first.of_cell[i] == 1) continue;
    if (missing < 5) rs_text_printf(&cells, "%s%zu", missing > 0 ? ", " : "", i);
    missing++;
  }
  cr_assert_gt(missing, 5);
  rs_text_printf(&message, "%zu of 24 cells are missing: %s, ... (--partial writes what there is)", missing,
                 rs_text_string(&cells));
  expect_merge(experiment, "b", false, rs_text_string(&message));
  rs_text_clear(&message);
  rs_text_clear(&cells);
  dealt_clear(&first);
  dealt_clear(&d);
  rs_experiment_free(experiment);
  rs_experiment_free(few);
}

static void copy_file(const char *directory, const char *name, const char *to) {
  size_t length;
  char *bytes = read_path(directory, name, &length);
  cr_assert_eq(rs_file_write(to, bytes, length, NULL), RS_OK);
  free(bytes);
}

/* Shards that were killed before their first cell. */
Test(sweep_shards, merge__of_nothing_is_refused) {
  rs_experiment *experiment = experiment_of(small);
  run_part(experiment, 1, 2, "done");
  cr_assert_eq(rs_make_directories("a/.ropescope", NULL), RS_OK);
  copy_file("done", "shard.json", "a/shard.json");
  expect_merge(experiment, NULL, true, "no cell of this config is done: there is nothing to write");
  rs_experiment_free(experiment);
}

/* Of the folders a and b. */
static void expect_unfit(const char *message) {
  static const char *const folders[] = {"a", "b"};
  rs_experiment *experiment;
  rs_problems problems = {0};
  rs_err err = {0};
  cr_expect_eq(rs_shards_read(folders, RS_COUNT(folders), &experiment, &problems, &err), RS_INPUT);
  cr_expect_not_null(strstr(err.message, message), "%s", err.message);
  cr_expect_null(experiment);
  rs_problems_clear(&problems);
}

/* The first line that differs, be it as long as the other's, or the end of one. */
Test(sweep_shards, merge__names_the_line_in_which_configs_differ) {
  static const char *const yamls[] = {TINY "methods: rope\nlengths: [8, 16]\nmetrics: [decay]\nseeds: [1]\n",
                                      TINY "methods: rope\nlengths: [8, 32]\nmetrics: [decay]\nseeds: [1]\n",
                                      TINY "methods: rope\nlengths: [8, 16]\nmetrics: [decay]\nseeds: [1]\n"
                                           "columns: [train_length]\n"};
  static const char *const differences[] = {
      "b is of another config than a: line 5 of it is \"lengths: [8, 32]\", there \"lengths: [8, 16]\"",
      "b is of another config than a: line 20 of it is \"columns: [train_length]\", there \"\""};
  for (size_t i = 1; i < RS_COUNT(yamls); i++) {
    rs_experiment *first = experiment_of(yamls[0]), *other = experiment_of(yamls[i]);
    run_part(first, 1, 2, "a");
    run_part(other, 2, 2, "b");
    expect_unfit(differences[i - 1]);
    rs_experiment_free(first);
    rs_experiment_free(other);
  }
}

/* A file that a source reads and that somebody has changed since. */
Test(sweep_shards, merge__inputs_of_other_contents_are_told) {
  static const char yaml[] =
      "model: {name: m, heads: 2, head_dim: 4, train_length: 9}\nlengths: [4]\n"
      "methods: [rope, nope]\nmetrics: [entropy]\nsources: [{name: tensors, q: q.npy, k: k.npy}]\n";
  double numbers[4 * 2 * 4] = {1, 2, 3};
  rs_array array = {.rank = 3, .count = 32, .shape = {4, 2, 4}, .numbers = numbers};
  cr_assert_eq(rs_npy_write("q.npy", &array, true, NULL), RS_OK);
  cr_assert_eq(rs_npy_write("k.npy", &array, true, NULL), RS_OK);
  rs_experiment *before = experiment_of(yaml);
  run_part(before, 1, 2, "a");
  run_part(before, 2, 2, "b");
  rs_experiment *read;
  rs_problems problems = {0};
  cr_assert_eq(rs_shards_read((const char *const[]){"a", "b"}, 2, &read, &problems, NULL), RS_OK);
  rs_experiment_free(read);
  numbers[0] = 5;
  cr_assert_eq(rs_npy_write("k.npy", &array, true, NULL), RS_OK);
  expect_unfit("k.npy was another file when that ran: its SHA-256 was ");
  rs_experiment_free(before);
}
