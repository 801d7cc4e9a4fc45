/* A published model on the last 512 tokens of blocks of 4096, read with 512 to 4096 tokens before their end, against
 * what transformers says of the same targets. */
#include <stdio.h>
#include <stdlib.h>

#include "../fixtures/runs.h"
#include "../golden.h"
#include "advice/advice.h"

enum { BLOCKS = 24, READ = 2 };

/* transformers turns by angles in float32, whatever the weights are: 4e-7 nats at 512 tokens, 1.1e-5 at 4096. */
static const double tolerance = 2e-5;

TestSuite(golden_stories, .init = enter_folder, .fini = leave_folder);

/* The number of the row for a way, length and block; blocks run fastest. */
static double loss_at(const rs_table *t, const char *way_column, const char *way, size_t length, size_t block) {
  for (size_t i = 0; i < t->rows; i++)
    if (strcmp(field(t, i, way_column), way) == 0 && golden_size(t, i, "length_tokens") == length &&
        golden_size(t, i, "block") == block)
      return golden_number(t, i, "loss_nats");
  cr_assert_fail("no row of %s at %zu, block %zu", way, length, block);
  return 0;
}

Test(golden_stories, same_targets__cost_what_transformers_says) {
  static const char *const ways[] = {"unchanged", "pi"};
  char yaml[2048];
  const char *tests = getenv("ROPESCOPE_TESTS");
  snprintf(yaml, sizeof yaml,
           "checkpoint: {folder: %s/../experiments/data/stories260K, precision: f64}\n"
           "task: {name: tokens, file: %s/../experiments/data/stories260K/ids.npy}\n"
           "sequences: %d\nlengths: [512, 1k, 2k, 4k]\nmethods: [{name: pi, scale: auto}]\nmetrics: [loss]\n",
           tests, tests, READ);
  cr_assert_eq(run(yaml, "o").failed, 0);
  rs_table *got = read_table("o", "loss_difference.csv"), *want = golden_read("stories260K/losses.csv");
  for (size_t length = 512; length <= 4096; length *= 2)
    for (size_t b = 0; b < READ; b++) {
      double window = loss_at(want, "way", "unchanged", 512, b);
      cr_expect_float_eq(loss_at(got, "method", "window", length, b), window, tolerance, "window, block %zu", b);
      for (size_t w = 0; w < 2; w++) {
        double is = loss_at(got, "method", ways[w], length, b), should = loss_at(want, "way", ways[w], length, b);
        cr_expect_float_eq(is, should, tolerance, "%s at %zu, block %zu: %.12g, not %.12g", ways[w], length, b, is,
                           should);
      }
    }
  rs_table_free(got);
  rs_table_free(want);
}

/* What is measured for a setting, in float32, as nobody chooses another precision there. */
Test(golden_stories, measured_ways__cost_what_transformers_says) {
  static const double rounding = 2e-4;
  char folder[1024], text[1100];
  const char *tests = getenv("ROPESCOPE_TESTS");
  snprintf(folder, sizeof folder, "%s/../experiments/data/stories260K", tests);
  snprintf(text, sizeof text, "%s/ids.npy", folder);
  const rs_measuring in = {
      .checkpoint = folder, .text = text, .methods = "[{name: pi, factor: 8}]", .length = 4096, .reads = READ};
  const rs_run_options options = {.directory = "o"};
  rs_experiment *experiment;
  rs_problems problems = {0};
  rs_run_summary summary;
  rs_measured measured;
  rs_err err = {0};
  cr_assert_eq(rs_measure_make(&in, &experiment, &problems, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_run(experiment, &options, &summary, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_measured_read(experiment, "o", &measured, &err), RS_OK, "%s", err.message);
  rs_table *want = golden_read("stories260K/losses.csv");
  cr_assert_eq(measured.count, 3);
  for (size_t i = 0; i < measured.count; i++)
    for (size_t b = 0; b < READ; b++) {
      const rs_measured_way *way = &measured.items[i];
      double should = loss_at(want, "way", way->window ? "unchanged" : way->label, way->window ? 512 : 4096, b);
      cr_expect_float_eq(way->reads[b], should, rounding, "%s, read %zu: %.9g, not %.9g", way->label, b, way->reads[b],
                         should);
    }
  cr_expect(measured.items[0].window && measured.items[2].unchanged);
  rs_table_free(want);
  rs_measured_clear(&measured);
  rs_experiment_free(experiment);
}

/* The means over all blocks that the experiment expects. */
Test(golden_stories, means__are_those_of_the_experiment) {
  static const struct {
    const char *way;
    size_t length;
    double mean;
  } cases[] = {{"unchanged", 512, 1.769},  {"unchanged", 1024, 2.071}, {"unchanged", 2048, 2.686},
               {"unchanged", 4096, 6.903}, {"pi", 1024, 3.193},        {"pi", 2048, 4.291},
               {"pi", 4096, 4.735}};
  rs_table *want = golden_read("stories260K/losses.csv");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double sum = 0;
    for (size_t b = 0; b < BLOCKS; b++) sum += loss_at(want, "way", cases[i].way, cases[i].length, b);
    cr_expect_float_eq(sum / BLOCKS, cases[i].mean, 5e-4, "%s at %zu: %g", cases[i].way, cases[i].length, sum / BLOCKS);
  }
  rs_table_free(want);
}
