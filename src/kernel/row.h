/* What softmax and cross-entropy do with a row of logits. Private to the kernel layer. */
#ifndef ROPESCOPE_KERNEL_ROW_H
#define ROPESCOPE_KERNEL_ROW_H

#include "lanes.h"

/* The largest of x and `top`. */
RS_INLINE real largest_in(const real *x, size_t count, real top) {
  vec most = all(top);
  size_t i = 0;
  for (; i + WIDTH <= count; i += WIDTH) most = larger(load(x + i), most);
  if (i < count) most = larger(choose(first_mask(count - i), load_first(x + i, count - i), most), most);
  return largest_of(most);
}

/* e^(x - level), which stay in the place of x where `kept`; returns their sum. */
RS_INLINE real sum_powers(real *x, size_t count, real level, bool kept) {
  vec sum = all(0);
  for (size_t i = 0; i < count; i += WIDTH) {
    size_t left = count - i;
    vec weight = power_of_e(load_first(x + i, left) - all(level));
    if (kept) store_first(x + i, weight, left);
    sum += left < WIDTH ? first_lanes(weight, left) : weight;
  }
  return sum_of(sum);
}

RS_INLINE void fill(real *x, size_t begin, size_t end, real value) {
  for (size_t i = begin; i < end; i += WIDTH) store_first(x + i, all(value), end - i);
}

#endif
