/* Softmax of tiles of logits: online on the way forward, from the row's level (its log-sum-exp) on the way back. A
 * weight errs by power_of_e's error and that of its exponent's difference; a sum besides by a rounding for each
 * WIDTH-th column and log2(WIDTH). */
#include "net.h"
#include "row.h"

/* None where they end before they begin. */
static span span_of(const rs_soft_tile *tile, size_t row) {
  return (span){tile->begin[row], tile->end[row], tile->columns};
}

/* At most WIDTH rows, whose shrinking is computed side by side. Where all that was seen is -infinity, weights are 0 and
 * nothing shrinks. */
static void soften_rows(const rs_soft_tile *tile, size_t first, size_t rows, real *top, real *sum, real *shrink) {
  real change[WIDTH] = {0}, seen_sum[WIDTH] = {0};
  for (size_t r = 0; r < rows; r++) {
    real *x = (real *)tile->logits + (first + r) * tile->step;
    span seen = span_of(tile, first + r);
    real most = largest_in(x, seen, top[r]);
    bool none = most == -(real)INFINITY;
    seen_sum[r] = sum_powers(x, seen, none ? 0 : most, true);
    clear_unseen(x, seen);
    change[r] = none ? 0 : top[r] - most;
    top[r] = most;
  }
  vec factor = power_of_e(load(change));
  store_first(shrink, factor, rows);
  store_first(sum, load_first(sum, rows) * factor + load(seen_sum), rows);
}

void NET(soften)(const rs_soft_tile *tile, void *top, void *sum, void *shrink) {
  for (size_t row = 0; row < tile->rows; row += WIDTH) {
    size_t left = tile->rows - row;
    soften_rows(tile, row, left < WIDTH ? left : WIDTH, (real *)top + row, (real *)sum + row, (real *)shrink + row);
  }
}

void NET(soften_back)(const rs_soft_tile *tile, const void *level, const void *dot, void *dp, size_t dp_step) {
  for (size_t row = 0; row < tile->rows; row++) {
    real *x = (real *)tile->logits + row * tile->step, *gradient = (real *)dp + row * dp_step;
    real reference = ((const real *)level)[row]; /* -infinity where all that is seen is: weights are 0 */
    vec levels = all(reference == -(real)INFINITY ? 0 : reference), dots = all(((const real *)dot)[row]);
    span seen = span_of(tile, row);
    for (size_t i = first_of_span(seen); i < seen.end; i += WIDTH) {
      size_t left = seen.columns - i;
      vec weight = seen_or(power_of_e(load_first(x + i, left) - levels), seen, i, 0);
      vec about = load_first(gradient + i, left) - dots;
      store_first(x + i, weight, left);
      store_first(gradient + i, seen_or(weight * about, seen, i, 0), left);
    }
    clear_unseen(x, seen);
    clear_unseen(gradient, seen);
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
