/* test_baselines.c: baselines beside the methods of a run, and differences to them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/reading.h"
#include "../fixtures/runs.h"
#include "metrics/metrics.h"
#include "run/run.h"

static void enter(void) {
  char text[2001] = {0};
  enter_folder();
  for (size_t i = 0; i < 2000; i++) text[i] = (char)('a' + (i * i + i / 11) % 23);
  cr_assert_eq(rs_file_write("text", text, strlen(text), NULL), RS_OK);
}

TestSuite(baselines, .init = enter, .fini = leave_folder);

/* 12 blocks of 64 bytes, of which the last 16 are scored. */
#define MODEL                                                                                                          \
  "name: m, width: 16, blocks: 1, heads: 2, seed: 1, train: {steps: 20, length: 32, sequences: 4, warmup: 2}"
#define TASK "task: {name: bytes, file: text, share: 0.4}\nlengths: [16, 32, 64]\n"
#define METHODS "methods: [{name: pi, scale: auto}, alibi]\n"
#define PLAIN "checkpoint: {" MODEL "}\n" TASK METHODS

static size_t row_of(const rs_table *t, const char *method, const char *length) {
  for (size_t i = 0; i < t->rows; i++)
    if (strcmp(field(t, i, "method"), method) == 0 && strcmp(field(t, i, "length_tokens"), length) == 0) return i;
  cr_assert_fail("no row %s at %s", method, length);
  return 0;
}

static double number_of(const rs_table *t, const char *method, const char *length, const char *column) {
  double number;
  const char *text = field(t, row_of(t, method, length), column);
  cr_assert(rs_number_read(text, &number), "%s at %s: %s is '%s'", method, length, column, text);
  return number;
}

static double loss_of(const rs_table *t, const char *method, const char *length) {
  return number_of(t, method, length, "loss_nats");
}

static bool has_method(const rs_table *t, const char *method) {
  for (size_t i = 0; i < t->rows; i++)
    if (strcmp(field(t, i, "method"), method) == 0) return true;
  return false;
}

/* The window reads up to the trained length, the same at all lengths from there on; there, and below, it is the model
 * unchanged. */
Test(baselines, window__is_the_model_unchanged_at_no_more_than_its_length) {
  run(PLAIN "metrics: [loss]\n", "o");
  rs_table *t = read_table("o", "summary.csv");
  cr_assert_eq(t->rows, 4 * 3);
  cr_expect_eq(loss_of(t, "window", "16"), loss_of(t, "unchanged", "16"));
  cr_expect_eq(loss_of(t, "window", "32"), loss_of(t, "unchanged", "32"));
  cr_expect_eq(loss_of(t, "window", "64"), loss_of(t, "unchanged", "32"));
  cr_expect_neq(loss_of(t, "unchanged", "64"), loss_of(t, "unchanged", "32"));
  cr_expect_eq(loss_of(t, "pi", "32"), loss_of(t, "unchanged", "32"), "a scale of 1");
  cr_expect_neq(loss_of(t, "pi", "64"), loss_of(t, "unchanged", "64"));
  static const char *const same[] = {"loss_difference_nats", "loss_difference_nats_low", "loss_difference_nats_high"};
  for (size_t i = 0; i < 3; i++) {
    cr_expect_eq(number_of(t, "unchanged", "32", same[i]), 0);
    cr_expect_eq(number_of(t, "unchanged", "16", same[i]), 0);
    cr_expect_eq(number_of(t, "window", "64", same[i]), 0);
  }
  rs_table_free(t);
}

/* Every block has as many targets, so that the mean difference is that of the means. */
Test(baselines, differences__are_of_losses_and_their_blocks) {
  run(PLAIN "metrics: [loss]\n", "o");
  rs_table *t = read_table("o", "summary.csv"), *blocks = read_table("o", "loss_difference.csv");
  cr_assert_eq(blocks->rows, t->rows * 12);
  for (size_t i = 0; i < t->rows; i++) {
    const char *method = field(t, i, "method"), *length = field(t, i, "length_tokens");
    double want = loss_of(t, method, length) - loss_of(t, "window", length), loss = 0, difference = 0;
    double got = number_of(t, method, length, "loss_difference_nats");
    cr_expect_float_eq(got, want, 1e-12, "%s at %s: %.17g, not %.17g", method, length, got, want);
    cr_expect_str_eq(field(t, i, "target_blocks"), "12");
    for (size_t b = 0; b < 12; b++) {
      double of_block, apart;
      cr_expect_eq(atoi(field(blocks, 12 * i + b, "block")), (int)b);
      cr_assert(rs_number_read(field(blocks, 12 * i + b, "loss_nats"), &of_block) &&
                rs_number_read(field(blocks, 12 * i + b, "loss_difference_nats"), &apart));
      loss += of_block / 12;
      difference += apart / 12;
    }
    cr_expect_float_eq(loss, loss_of(t, method, length), 1e-12);
    cr_expect_float_eq(difference, got, 1e-12);
  }
  rs_table_free(t);
  rs_table_free(blocks);
}

static int compare_numbers(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Ends of the interval by resamples of another generator. */
static void resample(const double *values, size_t count, double *low, double *high) {
  enum { TIMES = 20000 };
  static double means[TIMES];
  uint64_t state = 88172645463325252u; /* xorshift64, Marsaglia 2003 */
  for (size_t r = 0; r < TIMES; r++) {
    means[r] = 0;
    for (size_t i = 0; i < count; i++) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      means[r] += values[state % count] / (double)count;
    }
  }
  qsort(means, TIMES, sizeof *means, compare_numbers);
  *low = means[TIMES / 40];
  *high = means[TIMES - TIMES / 40];
}

Test(baselines, intervals__are_those_of_blocks_drawn_again) {
  run(PLAIN "metrics: [loss]\n", "o");
  rs_table *t = read_table("o", "summary.csv"), *blocks = read_table("o", "loss_difference.csv");
  size_t row = row_of(t, "alibi", "64");
  double values[12], low, high;
  for (size_t b = 0; b < 12; b++)
    cr_assert(rs_number_read(field(blocks, 12 * row + b, "loss_difference_nats"), &values[b]));
  resample(values, 12, &low, &high);
  double width = high - low;
  cr_assert_gt(width, 0);
  cr_expect_float_eq(number_of(t, "alibi", "64", "loss_difference_nats_low"), low, 0.08 * width);
  cr_expect_float_eq(number_of(t, "alibi", "64", "loss_difference_nats_high"), high, 0.08 * width);
  rs_table_free(t);
  rs_table_free(blocks);
}

/* A method that is the model's own stands for it, and no other does. */
Test(baselines, unchanged__is_a_method_of_the_config_where_one_is_it) {
  run("checkpoint: {" MODEL "}\n" TASK "methods: [alibi, rope]\nmetrics: [loss]\n", "served");
  run(PLAIN "metrics: [loss]\n", "added");
  rs_table *served = read_table("served", "summary.csv"), *added = read_table("added", "summary.csv");
  cr_expect(!has_method(served, "unchanged") && has_method(served, "window"));
  cr_expect_eq(loss_of(served, "rope", "64"), loss_of(added, "unchanged", "64"));
  cr_expect_eq(loss_of(served, "window", "64"), loss_of(added, "window", "64"));
  rs_table_free(served);
  rs_table_free(added);
  char *manifest = read_path("served", "manifest.json", &(size_t){0});
  cr_expect_not_null(strstr(manifest, "\"window\": \"window\""), "%s", manifest);
  cr_expect_not_null(strstr(manifest, "\"unchanged\": \"rope\""), "%s", manifest);
  free(manifest);
}

/* The other baseline, from the config's own method and from one that was added. */
Test(baselines, differences__may_be_to_the_model_unchanged) {
  static const char *const configs[] = {PLAIN "metrics: [loss, {name: loss_difference, baseline: unchanged}]\n",
                                        "checkpoint: {" MODEL "}\n" TASK
                                        "methods: [trained, alibi]\nbaselines: unchanged\nmetrics: [loss]\n"};
  static const char *const names[] = {"unchanged", "trained"};
  for (size_t c = 0; c < RS_COUNT(configs); c++) {
    run(configs[c], c == 0 ? "a" : "b");
    rs_table *t = read_table(c == 0 ? "a" : "b", "summary.csv");
    cr_expect_eq(number_of(t, names[c], "64", "loss_difference_nats"), 0);
    cr_expect_float_eq(number_of(t, "alibi", "64", "loss_difference_nats"),
                       loss_of(t, "alibi", "64") - loss_of(t, names[c], "64"), 1e-12);
    cr_expect_eq(has_method(t, "window"), c == 0);
    rs_table_free(t);
  }
}

/* Tuning changes what methods read, and no baseline; both are trained once. */
Test(baselines, tuned_models__are_compared_with_what_they_were) {
  run("checkpoint: {" MODEL ", tune: {steps: 5, length: 64, sequences: 2, method: {name: pi, factor: 2}}}\n" TASK
      "methods: [trained]\nmetrics: [loss]\n",
      "tuned");
  run(PLAIN "metrics: [loss]\n", "plain");
  rs_table *tuned = read_table("tuned", "summary.csv"), *plain = read_table("plain", "summary.csv");
  static const char *const lengths[] = {"16", "32", "64"};
  for (size_t l = 0; l < 3; l++) {
    cr_expect_eq(loss_of(tuned, "window", lengths[l]), loss_of(plain, "window", lengths[l]));
    cr_expect_eq(loss_of(tuned, "unchanged", lengths[l]), loss_of(plain, "unchanged", lengths[l]));
    cr_expect_neq(loss_of(tuned, "trained", lengths[l]), loss_of(plain, "unchanged", lengths[l]));
    cr_expect_float_eq(number_of(tuned, "trained", lengths[l], "loss_difference_nats"),
                       loss_of(tuned, "trained", lengths[l]) - loss_of(plain, "window", lengths[l]), 1e-12);
  }
  cr_expect_str_eq(field(tuned, row_of(tuned, "unchanged", "64"), "scale"), "", "the recipe before tuning");
  rs_table_free(tuned);
  rs_table_free(plain);
}

/* ---- runs in parts ----------------------------------------------------------------------------------------------- */

static void expect_same_file(const char *a, const char *b, const char *name) {
  size_t sizes[2];
  char *texts[] = {read_path(a, name, &sizes[0]), read_path(b, name, &sizes[1])};
  cr_expect(sizes[0] == sizes[1] && memcmp(texts[0], texts[1], sizes[0]) == 0, "%s of %s and %s", name, a, b);
  free(texts[0]);
  free(texts[1]);
}

/* Cells of baselines are cells like others: a sweep in parts, and one from the config that it writes, give the same. */
Test(baselines, shards_and_written_configs__give_the_same_bytes) {
  static const char config[] = PLAIN "metrics: [loss, accuracy]\nseeds: [3, 4]\n";
  static const char *const folders[] = {"s1", "s2", "s3"};
  rs_experiment *experiment = good(config);
  rs_run_summary summary;
  rs_err err = {0};
  run(config, "whole");
  for (size_t i = 0; i < 3; i++) {
    const rs_run_options options = {.directory = folders[i], .shard = {i + 1, 3}, .checkpoints = "models"};
    cr_assert_eq(rs_run(experiment, &options, &summary, &err), RS_OK, "%s", err.message);
  }
  const rs_run_options merged = {.directory = "merged"};
  cr_assert_eq(rs_merge(experiment, folders, 3, &merged, &summary, &err), RS_OK, "%s", err.message);
  char *again = read_path("whole", "config.yaml", &(size_t){0});
  run(again, "again");
  for (size_t i = 0; i < 2; i++) {
    expect_same_file("whole", i == 0 ? "merged" : "again", "summary.csv");
    expect_same_file("whole", i == 0 ? "merged" : "again", "loss_difference.csv");
  }
  free(again);
  rs_experiment_free(experiment);
}

/* A journal's cells stand for those of the same targets alone. */
Test(baselines, journals__know_what_was_scored) {
  static const char *const configs[] = {PLAIN "metrics: [loss]\n", PLAIN "metrics: [loss]\ntarget_tokens: 8\n",
                                        "checkpoint: {" MODEL "}\ntask: {name: bytes, file: text, share: 0.4}\n"
                                        "lengths: [16, 32]\n" METHODS "metrics: [loss]\n"};
  for (size_t i = 0; i < RS_COUNT(configs); i++) {
    rs_experiment *experiment = good(configs[i]);
    rs_run_options options = {.directory = "o", .resume = true};
    rs_run_summary summary;
    rs_err err = {0};
    cr_assert_eq(rs_run(experiment, &options, &summary, &err), RS_OK, "%s", err.message);
    cr_expect_eq(summary.resumed, 0, "config %zu: %zu", i, summary.resumed);
    cr_assert_eq(rs_run(experiment, &options, &summary, &err), RS_OK, "%s", err.message);
    cr_expect_eq(summary.resumed, summary.cells, "config %zu", i);
    rs_experiment_free(experiment);
  }
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

/* The window is read once for all lengths above the trained one; a baseline that is a method of the config, once more
 * for what is compared with it. */
Test(baselines, plans__count_their_readings) {
  static const struct {
    const char *yaml;
    double at_16, at_32, at_64;
  } cases[] = {
      {"methods: [alibi]\nbaselines: none\n", 1, 1, 1},
      {"methods: [alibi]\n", 3, 3, 2},
      {"methods: [rope]\n", 2, 2, 1},
      {"methods: [rope]\nbaselines: unchanged\n", 2, 2, 2},
      {"methods: [alibi]\nbaselines: unchanged\n", 2, 2, 2},
  };
  double one[3];
  rs_plan plan;
  for (size_t l = 0; l < 3; l++) {
    char yaml[512];
    snprintf(yaml, sizeof yaml,
             "checkpoint: {" MODEL "}\ntask: {name: bytes, file: text, share: 0.4}\nlengths: [%d]\nsequences: 12\n"
             "methods: [alibi]\nbaselines: none\nmetrics: [loss]\n",
             16 << l);
    rs_experiment *experiment = good(yaml);
    cr_assert_eq(rs_plan_make(experiment, NULL, &plan, NULL), RS_OK);
    one[l] = plan.reading_flops;
    rs_experiment_free(experiment);
  }
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char yaml[512];
    snprintf(yaml, sizeof yaml, "checkpoint: {" MODEL "}\n" TASK "%smetrics: [loss]\n", cases[i].yaml);
    rs_experiment *experiment = good(yaml);
    cr_assert_eq(rs_plan_make(experiment, NULL, &plan, NULL), RS_OK);
    double want = cases[i].at_16 * one[0] + cases[i].at_32 * one[1] + cases[i].at_64 * one[2];
    cr_expect_float_eq(plan.reading_flops, want, 8, "%s: %.17g, not %.17g", cases[i].yaml, plan.reading_flops, want);
    cr_expect_eq(plan.blocks, 12);
    rs_experiment_free(experiment);
  }
}
