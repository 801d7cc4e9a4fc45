/* What softmax and cross-entropy do with a row of logits. Vectors begin at multiples of WIDTH whatever part of the row
 * is seen, and lanes outside it are masked: rows of a triangle then take the same way for WIDTH rows, which processors
 * foresee. Private to the kernel layer. */
#ifndef ROPESCOPE_KERNEL_ROW_H
#define ROPESCOPE_KERNEL_ROW_H

#include "lanes.h"

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

#endif
