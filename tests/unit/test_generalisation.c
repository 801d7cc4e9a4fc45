/* test_generalisation.c: accuracy on training's pictures and on the test's, by answers that are drawn here. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../fixtures/bound.h"
#include "../fixtures/heap.h"
#include "../golden.h"
#include "metrics/metrics.h"

enum { MOST = 120, TRAIN, TEST, GAP, ENDS = 3 };

/* What a model says of so many pictures, right with a probability. */
typedef struct answers {
  int32_t said[MOST], targets[MOST];
  rs_reading reading;
} answers;

static void draw_answers(answers *a, size_t count, double right, uint64_t *state) {
  for (size_t i = 0; i < count; i++) {
    a->targets[i] = (int32_t)draw_size(state, 0, 9);
    a->said[i] = draw_real(state, 0, 1) < right ? a->targets[i] : (a->targets[i] + 1) % 10;
  }
  a->reading = (rs_reading){.sequences = count, .answers = 1, .said = a->said, .targets = a->targets};
}

static double share(const answers *a, size_t begin, size_t end) {
  double right = 0;
  for (size_t i = begin; i < end; i++) right += a->said[i] == a->targets[i];
  return right / (double)(end - begin);
}

static rs_status read_both(const answers *train, const answers *test, const char *wanted, rs_result *result,
                           rs_err *err) {
  const rs_metric_kind *kind = rs_metric_find("generalisation");
  bound_params parameters;
  *result = (rs_result){.curve.columns = kind->curve_count};
  bound_make(&parameters, &kind->kind);
  if (wanted != NULL) bound_set(&parameters, "blocks", wanted);
  const rs_reading_in in = {.reading = &test->reading, .trained = &train->reading, .params = parameters.binding.fields};
  const rs_curve_in size = {.sequences = MOST};
  rs_status status = kind->read(&in, result, err);
  cr_expect_leq(result->curve.rows, kind->curve_rows(in.params, &size));
  bound_clear(&parameters);
  return status;
}

/* Each value's mean is that of all pictures, its interval that of its blocks'. */
static void check_value(const rs_result *result, size_t value, double mean, const double *parts, size_t count) {
  rs_interval interval;
  size_t at = (value - TRAIN) * ENDS;
  cr_assert_eq(rs_bootstrap_mean(parts, 1, count, &interval, NULL), RS_OK);
  cr_expect_float_eq(result->value[at], mean, 1e-15, "value %zu", value);
  cr_expect_eq(result->value[at + 1], interval.low);
  cr_expect_eq(result->value[at + 2], interval.high);
  cr_expect(result->value[at + 1] <= mean && result->value[at + 2] >= mean);
}

Test(generalisation, means_are_of_all_pictures__blocks_are_cut_alike) {
  static const struct {
    size_t train, test, wanted;
    const char *blocks;
  } cases[] = {{120, 90, 60, NULL}, {101, 33, 33, NULL}, {40, 120, 8, "8"}, {7, 100, 7, NULL}};
  uint64_t state = 5;
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    answers train, test;
    rs_result result;
    double parts[GAP + 1][MOST];
    size_t count = cases[i].wanted;
    draw_answers(&train, cases[i].train, 0.9, &state);
    draw_answers(&test, cases[i].test, 0.6, &state);
    cr_assert_eq(read_both(&train, &test, cases[i].blocks, &result, NULL), RS_OK);
    cr_assert_eq(result.curve.rows, count, "%zu blocks, not %zu", result.curve.rows, count);
    for (size_t b = 0; b < count; b++) {
      const double *row = &result.curve.cells[b * 4];
      parts[TRAIN][b] = share(&train, b * cases[i].train / count, (b + 1) * cases[i].train / count);
      parts[TEST][b] = share(&test, b * cases[i].test / count, (b + 1) * cases[i].test / count);
      parts[GAP][b] = parts[TRAIN][b] - parts[TEST][b];
      cr_expect(row[0] == (double)b && row[1] == parts[TRAIN][b] && row[2] == parts[TEST][b] &&
                row[3] == parts[GAP][b]);
    }
    double a = share(&train, 0, cases[i].train), b = share(&test, 0, cases[i].test);
    check_value(&result, TRAIN, a, parts[TRAIN], count);
    check_value(&result, TEST, b, parts[TEST], count);
    check_value(&result, GAP, a - b, parts[GAP], count);
    rs_curve_clear(&result.curve);
  }
}

Test(generalisation, every_failing_allocation__is_reported) {
  if (!COUNTS_MEMORY) return;
  uint64_t state = 6;
  answers train, test;
  draw_answers(&train, 100, 0.9, &state);
  draw_answers(&test, 100, 0.6, &state);
  const rs_metric_kind *kind = rs_metric_find("generalisation");
  bound_params parameters;
  bound_make(&parameters, &kind->kind);
  const rs_reading_in in = {.reading = &test.reading, .trained = &train.reading, .params = parameters.binding.fields};
  for (long first = 0;; first++) {
    rs_result result = {.curve.columns = kind->curve_count};
    rs_err err = {0};
    long before = blocks;
    refused = false;
    allocations = first;
    rs_status status = kind->read(&in, &result, &err);
    allocations = -1;
    rs_curve_clear(&result.curve);
    cr_expect_eq(blocks, before, "allocation %ld", first);
    if (!refused) {
      cr_expect(status == RS_OK && first > 0);
      break;
    }
    cr_expect_eq(status, RS_MEMORY, "allocation %ld", first);
  }
  bound_clear(&parameters);
}
