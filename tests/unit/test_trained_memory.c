/* test_trained_memory.c: allocations of a run that trains fail, one at a time. What did not fit in memory is a row that
 * says so, or the end of the run, and never a wrong number. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../fixtures/heap.h"
#include "../fixtures/reading.h"
#include "../fixtures/runs.h"
#include "../fixtures/threads.h"

/* Hundreds of runs would wait for the disk each time. */
int fsync(int file) {
  (void)file;
  return 0;
}

TestSuite(trained_memory, .init = enter_folder, .fini = leave_folder);

static const char config[] =
    "task: {name: repeat, vocabulary: 5, passage: 2}\nsequences: 2\nlengths: [4, 6]\nseeds: 2\nmethods: [trained, "
    "alibi]\n"
    "metrics: [loss, loss_by_position, repeated_loss, accuracy, recall_by_distance, needle_accuracy, decay]\n"
    "checkpoint: {method: t5, width: 4, blocks: 1, heads: 1, train: {steps: 2, length: 4, sequences: 2}, "
    "tune: {steps: 1, length: 6, sequences: 1}}\n";

/* The same with rows of its own heads, and of simulated ones that a table is projected onto. */
static const char observed[] =
    "task: {name: copy, symbols: 3}\nsequences: 2\nlengths: [6]\nseeds: 1\nmethods: [trained]\n"
    "queries: all\nmetrics: [loss, entropy, needle, attention_map, attention_rollout]\nsources: [{name: model, layer: "
    "[0, 1]}, needle]\n"
    "checkpoint: {method: sinusoidal, width: 4, heads: 2, train: {steps: 1, length: 4, sequences: 1}}\n";

/* Baselines of a model that is tuned: its window, and itself as it was. */
static const char compared[] =
    "task: {name: dictionary, fillers: 1, keys: 2, values: 2, keys_in_use: 1, depths: none}\nsequences: 2\n"
    "lengths: [4, 8]\nseeds: 1\nmethods: [trained]\nmetrics: [loss]\n"
    "checkpoint: {width: 4, blocks: 1, heads: 1, train: {steps: 2, length: 4, sequences: 2}, "
    "tune: {steps: 1, length: 6, sequences: 1}}\n";

/* One that learns from another, both of which say their classes by means. */
static const char taught[] =
    "task: {name: where, patch_side: 3}\nsequences: 2\nlengths: [4]\nseeds: 1\nmethods: [trained]\n"
    "metrics: [loss, accuracy]\ncheckpoint:\n"
    "  - {name: pupil, method: learned_2d, width: 4, blocks: 1, heads: 1, pool: mean, distilled: paper, teacher: "
    "master, "
    "train: {steps: 2, length: 4, sequences: 2}}\n"
    "  - {name: master, method: axial, width: 4, blocks: 1, heads: 1, pool: mean, class_token: false, "
    "train: {steps: 2, length: 4, sequences: 2}}\n";

static void expect_rows(long n) {
  rs_table *got = read_table("o", "summary.csv"), *want = read_table("whole", "summary.csv");
  cr_assert_eq(got->rows, want->rows, "allocation %ld", n);
  for (size_t i = 0; i < got->rows; i++) {
    char what[64];
    snprintf(what, sizeof what, "allocation %ld, cell %zu", n, i);
    if (strcmp(field(got, i, "status"), "ok") == 0)
      expect_same_row(got, i, want, i, 0, what);
    else
      cr_assert_str_eq(field(got, i, "status"), "memory", "%s: %s", what, field(got, i, "message"));
  }
  rs_table_free(got);
  rs_table_free(want);
}

/* Allocation `n` of the run fails. True when none was refused. */
static bool starve(const rs_experiment *experiment, long n) {
  const rs_run_options options = {.directory = "o"};
  rs_run_summary summary;
  rs_err err = {0};
  long before = blocks;
  unlink("o/summary.csv");
  refused = refuse_all = false;
  allocations = n;
  rs_status status = rs_run(experiment, &options, &summary, &err);
  allocations = -1;
  cr_assert(status == RS_OK || (refused && status == RS_MEMORY), "allocation %ld: %s: %s", n, rs_status_name(status),
            err.message);
  cr_assert_eq(blocks, before, "allocation %ld: %ld blocks leak", n, blocks - before);
  if (status == RS_OK) expect_rows(n);
  return !refused;
}

/* The first, and then ever fewer: most are those of a few loops. */
static void starve_all(const char *yaml) {
  use_threads(1);
  cr_assert_eq(run(yaml, "whole").failed, 0);
  if (!COUNTS_MEMORY) return; /* malloc belongs to the sanitizer, which has its say of leaks */
  rs_experiment *experiment = good(yaml);
  run(yaml, "o"); /* what is allocated once and for all */
  size_t tried = 0;
  for (long n = 0; !starve(experiment, n); n += 1 + n / 64) tried++;
  cr_expect_gt(tried, 100);
  rs_experiment_free(experiment);
}

Test(trained_memory, failing_allocations__no_wrong_cell_and_no_leak) {
  starve_all(config);
}

Test(trained_memory, failing_allocations_of_observed_rows__no_wrong_cell_and_no_leak) {
  starve_all(observed);
}

Test(trained_memory, failing_allocations_of_baselines__no_wrong_cell_and_no_leak) {
  starve_all(compared);
}

Test(trained_memory, failing_allocations_of_teachers__no_wrong_cell_and_no_leak) {
  starve_all(taught);
}

/* Plans make models of the checkpoints' shapes. */
Test(trained_memory, failing_allocations_of_plans__an_error_and_no_leak) {
  rs_experiment *experiment = good(config);
  rs_plan plan;
  size_t tried = 0;
  use_threads(1);
  cr_assert_eq(rs_plan_make(experiment, "k", &plan, NULL), RS_OK);
  refused = refuse_all = false;
  for (long n = 0; COUNTS_MEMORY && n < 400 && tried == (size_t)n; n++) {
    rs_err err = {0};
    long before = blocks;
    refused = false;
    allocations = n;
    rs_status status = rs_plan_make(experiment, "k", &plan, &err);
    allocations = -1;
    cr_assert(status == RS_OK || (refused && status == RS_MEMORY), "allocation %ld: %s", n, err.message);
    cr_assert_eq(blocks, before, "allocation %ld: %ld blocks leak", n, blocks - before);
    tried += refused;
  }
  cr_expect(!COUNTS_MEMORY || tried > 20, "%zu", tried);
  rs_experiment_free(experiment);
}
