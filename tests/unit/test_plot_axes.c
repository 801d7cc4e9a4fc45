/* test_plot_axes.c: ranges, ticks and their labels. */
#include "../../src/pages/plot/data.h"
#include "../../src/pages/plot/paper.h"
#include "plot_fixture.h"

#include <math.h>

static rs_plot_axis axis_of(double low, double high, bool log, bool tokens, bool vertical) {
  rs_plot_extent extent = {0};
  rs_plot_axis axis;
  rs_plot_extent_add(&extent, low);
  rs_plot_extent_add(&extent, high);
  rs_plot_axis_fit(&axis, &extent, log, tokens, vertical);
  rs_plot_axis_place(&axis, vertical ? 300 : 0, vertical ? 0 : 400);
  return axis;
}

/* The labels of an axis in one line: "0 0.2 0.4", "10^-2 10^0". */
static const char *labels_of(const rs_plot_axis *axis) {
  static char line[2048];
  line[0] = '\0';
  for (size_t i = 0; i < axis->count; i++) {
    const rs_plot_tick *tick = &axis->ticks[i];
    if (tick->label[0] == '\0') continue;
    snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s%s%s", line[0] != '\0' ? " " : "", tick->label,
             tick->power[0] != '\0' ? "^" : "", tick->power);
  }
  return line;
}

Test(plot_axes, ticks__ranges_of_every_size__are_few_distinct_and_apart) {
  srand(20240607);
  for (int run = 0; run < 4000; run++) {
    double size = pow(10, rand() % 24 - 12), low = (rand() % 2001 - 1000) / 1000.0 * size;
    double high = low + pow(10, rand() % 9 - 7) * size * (1 + rand() % 10);
    bool vertical = run % 2 == 0, log = run % 3 == 0, tokens = run % 5 == 0;
    rs_plot_axis axis = axis_of(low, high, log, tokens, vertical);
    const rs_plot_tick *before = NULL;
    size_t labels = 0;
    for (size_t i = 0; i < axis.count; i++) {
      const rs_plot_tick *tick = &axis.ticks[i];
      double end = vertical ? 300 : 400;
      cr_assert(tick->pixel >= -1e-6 && tick->pixel <= end + 1e-6, "[%.17g, %.17g]: at %g", low, high, tick->pixel);
      if (tick->label[0] == '\0' || (axis.rail && i + 1 == axis.count)) continue;
      labels++;
      cr_assert_leq(strlen(tick->label), 22u, "[%.17g, %.17g]: %s", low, high, tick->label);
      if (before != NULL) {
        double room = vertical ? 14 : (rs_plot_tick_width(before) + rs_plot_tick_width(tick)) / 2;
        cr_assert(fabs(tick->pixel - before->pixel) > room, "[%.17g, %.17g]: %s", low, high, labels_of(&axis));
        cr_assert(strcmp(tick->label, before->label) != 0 || strcmp(tick->power, before->power) != 0,
                  "[%.17g, %.17g]: %s twice", low, high, tick->label);
      }
      before = tick;
    }
    cr_assert(labels >= (axis.single ? 1 : 2) && labels <= 13, "[%.17g, %.17g]: %s", low, high, labels_of(&axis));
  }
}

Test(plot_axes, ticks__known_ranges__are_the_expected_ones) {
  static const struct {
    double low, high;
    bool log, tokens, vertical;
    const char *labels;
  } cases[] = {
      {1024, 131072, true, true, false, "1k 2k 4k 8k 16k 32k 64k 128k"},
      {1, 1048576, true, true, false, "1 4 16 64 256 1k 4k 16k 64k 256k 1M"},
      {0, 131072, false, true, false, "0 16k 32k 48k 64k 80k 96k 112k 128k"},
      {0, 0.99, false, false, false, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0"},
      {0, 1, false, false, false, "0 1"},
      {0, 1, false, false, true, "0 0.2 0.4 0.6 0.8 1.0"},
      {0, 4, false, false, false, "0 1 2 3 4"},
      {-1, 2, false, false, true, "−1 0 1 2"},
      {20, 20, false, false, true, "19 20 21"},
      {0, 0, false, false, true, "−1 0 1"},
      {3, 3, false, false, true, "2.85 2.90 2.95 3.00 3.05 3.10 3.15"},
      {0, 40, false, false, false, "0 5 10 15 20 25 30 35 40"},
      {3.9, 11.1, false, false, true, "4 5 6 7 8 9 10 11"},
      {-1.4, 1.4, false, false, true, "−1.5 −1.0 −0.5 0 0.5 1.0 1.5"},
      {0.0001, 0.5, true, false, true, "10^−4 10^−3 10^−2 10^−1"},
      {0.002, 0.5, true, false, true, "0.002 0.005 0.01 0.02 0.05 0.1 0.2 0.5"},
      {0, 6e-6, false, false, true, "0 1×10^−6 2×10^−6 3×10^−6 4×10^−6 5×10^−6 6×10^−6"},
      {0.97, 0.99, true, false, true, "0.970 0.975 0.980 0.985 0.990"},
      {4096, 4096, true, true, false, "4k"},
      {0.1 + 0.2, 0.1 + 0.2, false, false, false, "0.3"},
      {-6.000000000000001e-9, -6.000000000000001e-9, false, false, false, "−6×10^−9"},
      {3000, 3000, true, true, false, "3000"},
      {0, 0, false, false, false, "0"},
      {2048, 2048, false, true, false, "2k"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_plot_axis axis = axis_of(cases[i].low, cases[i].high, cases[i].log, cases[i].tokens, cases[i].vertical);
    cr_assert_str_eq(labels_of(&axis), cases[i].labels, "case %zu: %s", i, labels_of(&axis));
  }
}

Test(plot_axes, axis__constant_or_nonnegative_data__is_padded_with_sense) {
  static const double values[] = {0, 1, -3.5, 1e-12, 1e300, -1e-200, 0.1};
  for (size_t i = 0; i < RS_COUNT(values); i++) {
    rs_plot_axis axis = axis_of(values[i], values[i] * (1 + 1e-15), false, false, true);
    cr_assert(axis.low < values[i] && axis.high > values[i], "%g", values[i]);
    cr_assert_float_eq(rs_plot_axis_pixel(&axis, values[i]), 150, 1e-6, "in the middle");
    cr_assert_gt(axis.count, 1u);
  }
  rs_plot_axis from_zero = axis_of(0.001, 10, false, false, true), far = axis_of(8, 10, false, false, true);
  cr_assert(from_zero.low <= 0 && from_zero.low > -0.3, "%g", from_zero.low);
  cr_assert_gt(far.low, 7.5);
}

Test(plot_axes, axis__log_with_zeros__sets_them_apart) {
  for (int vertical = 0; vertical < 2; vertical++) {
    rs_plot_axis axis;
    rs_plot_extent extent = {0};
    static const double values[] = {0, 0.5, 8, NAN, 1024};
    for (size_t i = 0; i < RS_COUNT(values); i++) rs_plot_extent_add(&extent, values[i]);
    rs_plot_axis_fit(&axis, &extent, true, false, vertical);
    rs_plot_axis_place(&axis, vertical ? 300 : 0, vertical ? 0 : 400);
    cr_assert(axis.rail && axis.scale == RS_PLOT_LOG10);
    cr_assert_str_eq(axis.ticks[axis.count - 1].label, "0");
    double zero = rs_plot_axis_pixel(&axis, 0), half = rs_plot_axis_pixel(&axis, 0.5);
    cr_assert(fabs(zero - axis.start) < fabs(axis.base - axis.start), "zero stands before the range");
    cr_assert(fabs(half - axis.start) >= fabs(axis.base - axis.start), "what is positive stands in it");
  }
}

Test(plot_axes, axis__log_with_negatives_or_nothing_positive__is_linear) {
  cr_assert_eq(axis_of(-1, 100, true, false, true).scale, RS_PLOT_LINEAR);
  cr_assert_eq(axis_of(0, 0, true, false, true).scale, RS_PLOT_LINEAR);
  cr_assert_eq(axis_of(1, 100, true, true, true).scale, RS_PLOT_LOG2);
}

Test(plot_axes, axis__log_over_hundreds_of_decades__has_a_floor) {
  rs_plot_axis axis = axis_of(1e-280, 1, true, false, true);
  cr_assert(axis.rail && axis.floor);
  cr_assert_str_eq(axis.ticks[axis.count - 1].label, "<10");
  cr_assert_str_eq(axis.ticks[axis.count - 1].power, "−16");
  cr_assert(axis.low > 1e-17 && axis.low < 1e-15);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* Where nothing is known, an axis from 0 to 1, with ticks between. */
Test(plot_axes, axis__of_no_numbers__is_that_of_a_share) {
  static const rs_plot_extent none = {0};
  rs_plot_axis axis;
  rs_plot_axis_fit(&axis, &none, true, false, true);
  rs_plot_axis_place(&axis, 300, 0);
  cr_expect_not(axis.whole);
  cr_expect_leq(axis.low, 1);
  cr_expect_geq(axis.high, 1);
  cr_expect_gt(axis.count, 1u);
}

/* Whole numbers have no ticks between, if there is room for two of them; shares may be whole by chance. */
Test(plot_axes, axis__of_whole_numbers__has_no_ticks_between) {
  static const struct {
    double low, high;
    bool vertical, whole;
  } cases[] = {{0, 4, true, true},    {0, 1, true, false},  {0, 1, false, true},
               {0, 1.5, true, false}, {20, 20, true, true}, {20, 20, false, true},
               {2, 3, true, false},   {2, 4, true, true},   {3, 3, false, false}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_plot_axis axis = axis_of(cases[i].low, cases[i].high, false, false, cases[i].vertical);
    cr_expect_eq(axis.whole, cases[i].whole, "case %zu", i);
  }
}

/* Marks stand where the axis goes, as many as it has ticks. */
Test(plot_axes, marks__within_the_axis_alone) {
  enum { MANY = 2 * RS_PLOT_TICKS };
  static rs_plot_mark marks[MANY];
  rs_plot_axis axis = axis_of(10, 20, false, false, false);
  for (size_t i = 0; i < 3; i++) {
    marks[i].value = 15 * (double)i; /* 0, 15, 30 */
    snprintf(marks[i].label, sizeof marks[i].label, "m%zu", i);
  }
  rs_plot_axis_mark(&axis, 0, 400, marks, 3);
  cr_expect_str_eq(labels_of(&axis), "m1");
  cr_expect_float_eq(axis.ticks[0].pixel, rs_plot_axis_pixel(&axis, 15), 1e-9);
  for (size_t i = 0; i < MANY; i++) {
    marks[i].value = 10 + 10 * (double)i / MANY;
    snprintf(marks[i].label, sizeof marks[i].label, "m%zu", i);
  }
  rs_plot_axis_mark(&axis, 0, 400, marks, MANY);
  cr_expect_eq(axis.count, RS_PLOT_TICKS - 1u);
  cr_expect_eq(strncmp(labels_of(&axis), "m0 ", 3), 0, "%s", labels_of(&axis));
}

/* A label at every so many of the numbers, in steps of 1, 2 and 5, as far as there are numbers. */
Test(plot_axes, label_step__follows_the_room) {
  static const struct {
    size_t count;
    double first, cell, room;
    size_t step;
  } cases[] = {{10, 0, 20, 20, 1}, {10, 0, 20, 21, 2}, {10, 0, 20, 41, 5},   {30, 0, 20, 101, 10},
               {3, 0, 1, 1000, 5}, {1, 0, 1, 1000, 1}, {10, 0.5, 20, 21, 2}, {10, 0.5, 20, 61, 4}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double items[30];
    rs_plot_ranks ranks = {.items = items, .count = cases[i].count};
    for (size_t k = 0; k < ranks.count; k++) items[k] = cases[i].first + (double)k;
    cr_expect_eq(rs_plot_label_step(&ranks, cases[i].cell, cases[i].room), cases[i].step, "case %zu", i);
  }
}
