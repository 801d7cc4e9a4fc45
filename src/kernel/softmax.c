/* What is done with rows of logits: softmax, its way back, soft caps, cross-entropy. Vectors begin at multiples of
 * WIDTH whatever part of the row is seen, and lanes outside it are masked: rows of a triangle then take the same way
 * for WIDTH rows, which processors foresee. */
#include "net.h"

#include <math.h>

/* Columns [begin, end) of `columns` that a row has. */
typedef struct span {
  size_t begin, end, columns;
  bool whole; /* they are all, and fill their vectors: where that is constant, nothing is masked */
} span;

/* How many columns the vector has that begins at i. */
RS_INLINE size_t left_in(span seen, size_t i) {
  return seen.whole ? WIDTH : seen.columns - i;
}

/* The first column of the vector that holds the span's first. */
RS_INLINE size_t first_of_span(span seen) {
  return seen.begin / WIDTH * WIDTH;
}

/* `other` in the lanes of x, the columns from i on, that are not seen. */
RS_INLINE vec seen_or(vec x, span seen, size_t i, real other) {
  ivec column = lane_numbers() + (integer)i;
  if (seen.whole || (i >= seen.begin && i + WIDTH <= seen.end)) return x;
  ivec lanes = (column >= (ivec){0} + (integer)seen.begin) & (column < (ivec){0} + (integer)seen.end);
  return choose(lanes, x, all(other));
}

/* The largest of what is seen and `top`. */
RS_INLINE real largest_in(const real *x, span seen, real top) {
  vec most = all(top);
  for (size_t i = first_of_span(seen); i < seen.end; i += WIDTH)
    most = larger(seen_or(load_first(x + i, left_in(seen, i)), seen, i, -(real)INFINITY), most);
  return largest_of(most);
}

/* e^(x - level) of what is seen, which stay in the place of x where `kept`, with zeros in the rest of their vectors;
 * returns their sum. */
RS_INLINE real sum_powers(real *x, span seen, real level, bool kept) {
  vec sum = all(0);
  for (size_t i = first_of_span(seen); i < seen.end; i += WIDTH) {
    size_t left = left_in(seen, i);
    vec weight = seen_or(power_of_e(load_first(x + i, left) - all(level)), seen, i, 0);
    if (kept) store_first(x + i, weight, left);
    sum += weight;
  }
  return sum_of(sum);
}

RS_INLINE void clear(real *x, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i += WIDTH) store_first(x + i, all(0), end - i);
}

/* Zeros in the vectors of which nothing is seen. */
RS_INLINE void clear_unseen(real *x, span seen) {
  if (seen.whole) return;
  clear(x, 0, first_of_span(seen));
  clear(x, (seen.end + WIDTH - 1) / WIDTH * WIDTH, seen.columns);
}

/* ---- softmax ----------------------------------------------------------------------------------------------------- */

/* Tiles of logits: online on the way forward, from the row's level (its log-sum-exp) on the way back. A weight errs by
 * power_of_e's error and that of its exponent's difference; a sum besides by a rounding for each WIDTH-th column and
 * log2(WIDTH). */

/* None where they end before they begin. */
RS_INLINE span span_of(const rs_soft_tile *tile, size_t row, bool whole) {
  return whole ? (span){0, tile->columns, tile->columns, true}
               : (span){tile->begin[row], tile->end[row], tile->columns, false};
}

/* Whether rows [first, first + rows) see all there is. */
static bool see_all(const rs_soft_tile *tile, size_t first, size_t rows) {
  bool all_seen = tile->columns % WIDTH == 0;
  for (size_t r = first; r < first + rows; r++) all_seen &= (tile->begin[r] == 0) & (tile->end[r] == tile->columns);
  return all_seen;
}

/* At most WIDTH rows: first the largest of each, then the powers, so that no row waits for its own; shrinking is
 * computed side by side. Where all that was seen is -infinity, weights are 0 and nothing shrinks. */
RS_INLINE void soften_rows(const rs_soft_tile *tile, size_t first, size_t rows, bool whole, real *top, real *sum,
                           real *shrink) {
  real change[WIDTH] = {0}, seen_sum[WIDTH] = {0}, most[WIDTH];
  real *x = (real *)tile->logits + first * tile->step;
  for (size_t r = 0; r < rows; r++) most[r] = largest_in(x + r * tile->step, span_of(tile, first + r, whole), top[r]);
  for (size_t r = 0; r < rows; r++) {
    span seen = span_of(tile, first + r, whole);
    bool none = most[r] == -(real)INFINITY;
    seen_sum[r] = sum_powers(x + r * tile->step, seen, none ? 0 : most[r], true);
    clear_unseen(x + r * tile->step, seen);
    change[r] = none ? 0 : top[r] - most[r];
    top[r] = most[r];
  }
  vec factor = power_of_e(load(change));
  store_first(shrink, factor, rows);
  store_first(sum, fused(load_first(sum, rows), factor, load(seen_sum)), rows);
}

void NET(soften)(const rs_soft_tile *tile, void *top, void *sum, void *shrink) {
  for (size_t row = 0; row < tile->rows; row += WIDTH) {
    size_t rows = tile->rows - row < WIDTH ? tile->rows - row : WIDTH;
    real *tops = (real *)top + row, *sums = (real *)sum + row, *shrinks = (real *)shrink + row;
    if (see_all(tile, row, rows))
      soften_rows(tile, row, rows, true, tops, sums, shrinks);
    else
      soften_rows(tile, row, rows, false, tops, sums, shrinks);
  }
}

RS_INLINE void soften_row_back(real *x, real *gradient, span seen, real level, real dot) {
  vec levels = all(level == -(real)INFINITY ? 0 : level), dots = all(dot); /* all that is seen may be -infinity */
  for (size_t i = first_of_span(seen); i < seen.end; i += WIDTH) {
    size_t left = left_in(seen, i);
    vec weight = seen_or(power_of_e(load_first(x + i, left) - levels), seen, i, 0);
    vec about = load_first(gradient + i, left) - dots;
    store_first(x + i, weight, left);
    store_first(gradient + i, seen_or(weight * about, seen, i, 0), left);
  }
  clear_unseen(x, seen);
  clear_unseen(gradient, seen);
}

void NET(soften_back)(const rs_soft_tile *tile, const void *level, const void *dot, void *dp, size_t dp_step) {
  const real *levels = level, *dots = dot;
  for (size_t row = 0; row < tile->rows; row++) {
    real *x = (real *)tile->logits + row * tile->step, *gradient = (real *)dp + row * dp_step;
    if (see_all(tile, row, 1))
      soften_row_back(x, gradient, span_of(tile, row, true), levels[row], dots[row]);
    else
      soften_row_back(x, gradient, span_of(tile, row, false), levels[row], dots[row]);
  }
}

void NET(scale_rows)(void *x, size_t step, size_t rows, size_t columns, const void *factor) {
  for (size_t row = 0; row < rows; row++) {
    real *numbers = (real *)x + row * step;
    vec factors = all(((const real *)factor)[row]);
    for (size_t i = 0; i < columns; i += WIDTH)
      store_first(numbers + i, load_first(numbers + i, columns - i) * factors, columns - i);
  }
}

void NET(cap_rows)(double cap, size_t rows, size_t columns, void *x, size_t step, void *slopes) {
  const vec most = all((real)cap), by_cap = all((real)(1 / cap));
  for (size_t row = 0; row < rows; row++)
    for (size_t i = 0; i < columns; i += WIDTH) {
      size_t place = row * step + i, left = columns - i;
      vec slope, level = tanh_of(load_first((real *)x + place, left) * by_cap, &slope);
      store_first((real *)x + place, most * level, left);
      if (slopes != NULL) store_first((real *)slopes + place, slope, left);
    }
}

/* ---- cross-entropy ----------------------------------------------------------------------------------------------- */

/* Logits of which one `real` sums the powers; sums of so many are added in double. */
enum { SECTION = 1024 };

/* ln of a positive normal number within 3 roundings. 2^e m with m in [1/sqrt 2, sqrt 2) has the logarithm e ln 2 + 2
 * artanh w, w = (m - 1) / (m + 1), whose series in w^2 < 0.03 ends below a rounding. The C library's depends on the
 * machine. */
static double logarithm(double x) {
  int exponent;
  double m = frexp(x, &exponent), series = 0;
  if (m < M_SQRT1_2) {
    m *= 2;
    exponent--;
  }
  double w = (m - 1) / (m + 1), square = w * w;
  for (int n = 23; n >= 3; n -= 2) series = (series + 1.0 / n) * square;
  return exponent * M_LN2 + 2 * (w + w * series);
}

static int32_t first_of(const real *x, size_t count, real value) {
  for (size_t i = 0; i < count; i++)
    if (x[i] == value) return (int32_t)i;
  return 0;
}

static double sum_row(real *x, size_t count, real top, bool kept) {
  double total = 0;
  for (size_t i = 0; i < count; i += SECTION) {
    size_t section = count - i < SECTION ? count - i : SECTION;
    span seen = {0, section, section, false};
    total += kept ? sum_powers(x + i, seen, top, true) : sum_powers(x + i, seen, top, false);
  }
  return total;
}

static void multiply_by(real *x, size_t count, real factor) {
  for (size_t i = 0; i < count; i += WIDTH) store_first(x + i, load_first(x + i, count - i) * all(factor), count - i);
}

void NET(cross_entropy)(void *logits, size_t step, size_t rows, size_t classes, const int32_t *targets, double weight,
                        double *loss, int32_t *answer) {
  for (size_t row = 0; row < rows; row++) {
    real *x = (real *)logits + row * step, top = largest_in(x, (span){0, classes, classes, false}, -(real)INFINITY);
    bool wanted = targets[row] >= 0;
    real logit = wanted ? x[targets[row]] : 0;
    if (answer != NULL) answer[row] = first_of(x, classes, top);
    loss[row] = NAN;
    if (!wanted) {
      if (weight != 0) clear(x, 0, classes);
      continue;
    }
    double sum = sum_row(x, classes, top, weight != 0);
    loss[row] = logarithm(sum) + ((double)top - logit);
    if (weight == 0) continue;
    multiply_by(x, classes, (real)(weight / sum));
    x[targets[row]] -= (real)weight;
  }
}
