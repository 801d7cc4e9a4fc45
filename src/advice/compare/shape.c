/* The shape of the ratio of two spectra, for a difference that no known change explains: what is left is to say whether
 * it is one constant, a geometric ladder (another base), or a band of pairs. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ln omega[j] = offset + slope j, by least squares, and the largest distance from it. */
typedef struct line {
  double offset, slope, residual;
} line;

static double log_at(const rs_spectrum *a, const rs_spectrum *b, size_t j) {
  return log(b->omega[j]) - (a != NULL ? log(a->omega[j]) : 0);
}

/* The line through ln(b / a), or through ln b, as sums: gsl_fit_linear takes arrays, and so room for them. */
static line fit(const rs_spectrum *a, const rs_spectrum *b) {
  double n = (double)b->pairs, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (size_t j = 0; j < b->pairs; j++) {
    double x = (double)j, y = log_at(a, b, j);
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
  }
  line out = {.slope = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x)};
  out.offset = (sum_y - out.slope * sum_x) / n;
  for (size_t j = 0; j < b->pairs; j++)
    out.residual = fmax(out.residual, fabs(log_at(a, b, j) - out.offset - out.slope * (double)j));
  return out;
}

static bool all_turn(const rs_spectrum *spectrum) {
  bool turn = true;
  for (size_t j = 0; j < spectrum->pairs; j++) turn &= spectrum->omega[j] > 0;
  return turn;
}

static void describe_ladder(const rs_spectrum *a, const rs_spectrum *b, double rtol, line ratio, char *text,
                            size_t size) {
  double pairs = (double)b->pairs;
  line mine = fit(NULL, a), to = fit(NULL, b);
  snprintf(text, size, "B / A is geometric: %.6g times %.6g^j for pair j", exp(ratio.offset), exp(ratio.slope));
  if (mine.residual > rtol) return; /* B is no ladder either */
  double base_a = exp(-mine.slope * pairs), base_b = exp(-to.slope * pairs);
  size_t length = strlen(text);
  snprintf(text + length, size - length,
           "; as ladders over %zu dims, A has base %.6g and B has base %.6g (or A's base over %.6g dims)", 2 * b->pairs,
           base_a, base_b, 2 * pairs * log(base_a) / log(base_b));
}

/* From which pair to the last the ratio stays the same. */
static size_t constant_tail(const rs_spectrum *a, const rs_spectrum *b, double rtol) {
  size_t last = a->pairs - 1, from = last;
  double end = b->omega[last] / a->omega[last];
  while (from > 0 && fabs(b->omega[from - 1] / a->omega[from - 1] / end - 1) <= rtol) from--;
  return from;
}

static void describe_band(const rs_spectrum *a, const rs_spectrum *b, double rtol, char *text, size_t size) {
  rs_difference difference = rs_spectrum_compare(a, b, rtol);
  size_t last = a->pairs - 1, tail = constant_tail(a, b, rtol);
  if (difference.first == 0 && difference.last == last)
    snprintf(text, size, "B / A differs from 1 everywhere");
  else
    snprintf(text, size, "B / A differs from 1 from pair %zu to pair %zu only", difference.first, difference.last);
  if (tail == last || difference.last != last) return;
  size_t length = strlen(text);
  snprintf(text + length, size - length, "; from pair %zu on it is %.6g", tail, b->omega[last] / a->omega[last]);
}

void rs_shape_describe(const rs_spectrum *a, const rs_spectrum *b, double rtol, char *text, size_t size) {
  if (a->pairs != b->pairs) {
    snprintf(text, size, "A has %zu pairs, B has %zu", a->pairs, b->pairs);
    return;
  }
  bool turn = all_turn(a) && all_turn(b);
  line ratio = turn && a->pairs > 2 ? fit(a, b) : (line){.residual = INFINITY};
  double span = fabs(ratio.slope) * (double)a->pairs;
  if (ratio.residual <= rtol && span <= rtol)
    snprintf(text, size, "B is %.6g times A at every pair (1 / %.6g), as if positions were divided by that",
             exp(ratio.offset), exp(-ratio.offset));
  else if (ratio.residual <= rtol)
    describe_ladder(a, b, rtol, ratio, text, size);
  else if (turn)
    describe_band(a, b, rtol, text, size);
  else
    snprintf(text, size, "some pairs do not turn on one side");
}
