/* test_decay_envelope.c: the envelope of decay.csv: the least and largest mean cosine of the distances that a row
 * stands for, against those of every distance. */
#include "../table_metric.h"

enum { DISTANCE, MEAN, LOW = 6, HIGH, COLUMNS };

static double value(const rs_result *result, size_t row, size_t column) {
  return result->curve.cells[row * COLUMNS + column];
}

static rs_result measure(const char *method, size_t length, const char *name, const char *setting) {
  rs_model model = table_model(32, 1e4, 512);
  const char *const settings[] = {name, setting, NULL};
  return table_measure("decay", table_encode(method, &model, length, NULL, NULL, NULL), settings, 0);
}

static void check_envelope(const char *method, size_t length, const char *per_octave) {
  rs_result bins = measure(method, length, "per_octave", per_octave), all = measure(method, length, "distances", "all");
  cr_assert_eq(all.curve.rows, length);
  for (size_t i = 0; i < bins.curve.rows; i++) {
    size_t begin = (size_t)value(&bins, i, DISTANCE);
    size_t end = i + 1 < bins.curve.rows ? (size_t)value(&bins, i + 1, DISTANCE) : length;
    double low = INFINITY, high = -INFINITY;
    for (size_t d = begin; d < end; d++) {
      low = fmin(low, value(&all, d, MEAN));
      high = fmax(high, value(&all, d, MEAN));
    }
    cr_assert_float_eq(value(&bins, i, LOW), low, 1e-13, "%s, %zu to %zu: %g, not %g", method, begin, end,
                       value(&bins, i, LOW), low);
    cr_assert_float_eq(value(&bins, i, HIGH), high, 1e-13, "%s, %zu to %zu", method, begin, end);
    cr_assert(value(&bins, i, LOW) <= value(&bins, i, MEAN) && value(&bins, i, MEAN) <= value(&bins, i, HIGH));
  }
  for (size_t d = 0; d < length; d++) cr_assert(isnan(value(&all, d, LOW)) && isnan(value(&all, d, HIGH)));
  rs_curve_clear(&bins.curve);
  rs_curve_clear(&all.curve);
}

Test(decay_envelope, bins__of_any_kernel__hold_their_extremes) {
  static const char *const methods[] = {"rope", "yarn", "self_extend", "rerope", "dual_chunk"};
  static const size_t lengths[] = {1, 2, 7, 1000, 9000}; /* 9000: bins of more than one chunk */
  for (size_t i = 0; i < RS_COUNT(methods); i++)
    for (size_t k = 0; k < RS_COUNT(lengths); k++) check_envelope(methods[i], lengths[k], k % 2 == 0 ? "1" : "16");
}

/* So that a picture of the envelope and the first violation say the same. */
Test(decay_envelope, first_violation__stands_in_the_first_bin_below_zero) {
  rs_model model = table_model(32, 1e4, 512);
  rs_result decay = measure("rope", 4096, "per_octave", "2");
  double first = table_scalar_of("first_violation", "first_violation_tokens",
                                 table_encode("rope", &model, 4096, NULL, NULL, NULL), NULL, 0);
  size_t row = 0;
  while (value(&decay, row, LOW) >= 0) row++;
  cr_assert(value(&decay, row, DISTANCE) <= first && first < value(&decay, row + 1, DISTANCE), "%g", first);
  cr_assert_gt(value(&decay, row, HIGH), 0, "which the rows alone do not show");
  rs_curve_clear(&decay.curve);
}
