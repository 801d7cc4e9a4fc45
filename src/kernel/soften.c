/* Softmax of tiles of logits: online on the way forward, from the row's level (its log-sum-exp) on the way back. */
#include "net.h"

#include <math.h>

static void clear(real *x, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++) x[i] = 0;
}

static real largest_in(const real *x, size_t count, real top) {
  size_t i = 0;
  vec most = all(top);
  for (; i + WIDTH <= count; i += WIDTH) most = larger(load(x + i), most);
  top = largest_of(most);
  for (; i < count; i++) top = x[i] > top ? x[i] : top;
  return top;
}

/* e^(x - level) in the place of x; returns their sum. */
static real weigh_row(real *x, size_t count, real level) {
  vec sum = all(0);
  for (size_t i = 0; i < count; i += WIDTH) {
    size_t left = count - i;
    vec weight = power_of_e(load_first(x + i, left) - all(level));
    store_first(x + i, weight, left);
    sum += left < WIDTH ? first_lanes(weight, left) : weight;
  }
  return sum_of(sum);
}

static real power_of_e_at(real x) {
  return power_of_e(all(x))[0];
}

void NET(soften)(const rs_soft_tile *tile, void *top, void *sum, void *shrink) {
  real *tops = top, *sums = sum, *shrinks = shrink;
  for (size_t row = 0; row < tile->rows; row++) {
    real *x = (real *)tile->logits + row * tile->step, before = tops[row];
    size_t end = tile->end[row], begin = tile->begin[row] < end ? tile->begin[row] : end;
    real most = largest_in(x + begin, end - begin, before), level = most > -INFINITY ? most : 0;
    clear(x, 0, begin);
    clear(x, end, tile->columns);
    shrinks[row] = most > -INFINITY ? power_of_e_at(before - most) : 1;
    sums[row] = sums[row] * shrinks[row] + weigh_row(x + begin, end - begin, level);
    tops[row] = most;
  }
}

void NET(soften_back)(const rs_soft_tile *tile, const void *level, const void *dot, void *dp, size_t dp_step) {
  for (size_t row = 0; row < tile->rows; row++) {
    real *x = (real *)tile->logits + row * tile->step, *gradient = (real *)dp + row * dp_step;
    size_t end = tile->end[row], begin = tile->begin[row] < end ? tile->begin[row] : end;
    vec levels = all(((const real *)level)[row]), dots = all(((const real *)dot)[row]);
    clear(x, 0, begin);
    clear(gradient, 0, begin);
    for (size_t i = begin; i < end; i += WIDTH) {
      size_t left = end - i;
      vec weight = power_of_e(load_first(x + i, left) - levels);
      store_first(x + i, weight, left);
      store_first(gradient + i, weight * (load_first(gradient + i, left) - dots), left);
    }
    clear(x, end, tile->columns);
    clear(gradient, end, tile->columns);
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
