/* Softmax of tiles of logits: online on the way forward, from the row's level (its log-sum-exp) on the way back. A
 * weight errs by power_of_e's error and that of its exponent's difference; a sum besides by a rounding for each
 * WIDTH-th column and log2(WIDTH). */
#include "net.h"
#include "row.h"

#include <math.h>

/* The columns that a row sees: none where they end before they begin. */
typedef struct span {
  size_t begin, end;
} span;

static span span_of(const rs_soft_tile *tile, size_t row) {
  size_t begin = tile->begin[row], end = tile->end[row];
  return (span){begin < end ? begin : end, end};
}

static void clear_unseen(real *x, span seen, size_t columns) {
  fill(x, 0, seen.begin, 0);
  fill(x, seen.end, columns, 0);
}

/* At most WIDTH rows, whose shrinking is computed side by side. Where all that was seen is -infinity, weights are 0 and
 * nothing shrinks. */
static void soften_rows(const rs_soft_tile *tile, size_t first, size_t rows, real *top, real *sum, real *shrink) {
  real change[WIDTH] = {0}, seen_sum[WIDTH] = {0};
  for (size_t r = 0; r < rows; r++) {
    real *x = (real *)tile->logits + (first + r) * tile->step;
    span seen = span_of(tile, first + r);
    real most = largest_in(x + seen.begin, seen.end - seen.begin, top[r]);
    bool none = most == -(real)INFINITY;
    clear_unseen(x, seen, tile->columns);
    seen_sum[r] = sum_powers(x + seen.begin, seen.end - seen.begin, none ? 0 : most, true);
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
    vec levels = all(((const real *)level)[row]), dots = all(((const real *)dot)[row]);
    span seen = span_of(tile, row);
    clear_unseen(x, seen, tile->columns);
    clear_unseen(gradient, seen, tile->columns);
    for (size_t i = seen.begin; i < seen.end; i += WIDTH) {
      size_t left = seen.end - i;
      vec weight = power_of_e(load_first(x + i, left) - levels);
      store_first(x + i, weight, left);
      store_first(gradient + i, weight * (load_first(gradient + i, left) - dots), left);
    }
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
