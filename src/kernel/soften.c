/* Softmax of tiles of logits: online on the way forward, from the row's level (its log-sum-exp) on the way back. A
 * weight errs by power_of_e's error and that of its exponent's difference; a sum besides by a rounding for each
 * WIDTH-th column and log2(WIDTH). */
#include "net.h"
#include "row.h"

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
