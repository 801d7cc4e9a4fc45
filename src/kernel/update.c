/* What is done with gradients: sums, their norm, and AdamW. */
#include "net.h"

void NET(add)(const void *x, size_t count, void *into) {
  const real *from = x;
  real *to = into;
  for (size_t i = 0; i < count; i += WIDTH)
    store_first(to + i, load_first(to + i, count - i) + load_first(from + i, count - i), count - i);
}

/* In lanes of their own, as many in every set: squares of floats are exact in double, so that all sets have the same
 * sum of them. */
double NET(squares)(const void *x, size_t count) {
  enum { LANES = 16 };
  const real *numbers = x;
  double sums[LANES] = {0}, total = 0;
  size_t i = 0;
  for (; i + LANES <= count; i += LANES)
    for (size_t lane = 0; lane < LANES; lane++)
      sums[lane] = fused_double(numbers[i + lane], numbers[i + lane], sums[lane]);
  for (; i < count; i++) sums[i % LANES] = fused_double(numbers[i], numbers[i], sums[i % LANES]);
  for (size_t lane = 0; lane < LANES; lane++) total += sums[lane];
  return total;
}

void NET(adam)(const rs_adam *adam, const void *gradient, size_t count, void *values, void *first, void *second) {
  const real *g = gradient;
  real *value = values, *mean = first, *square = second;
  const vec beta1 = all((real)adam->beta1), rest1 = all((real)(1 - adam->beta1));
  const vec beta2 = all((real)adam->beta2), rest2 = all((real)(1 - adam->beta2));
  const vec rate = all((real)(adam->rate * adam->fix1)), fix2 = all((real)adam->fix2);
  const vec epsilon = all((real)adam->epsilon), kept = all((real)adam->keep), clip = all((real)adam->gradient);
  for (size_t i = 0; i < count; i += WIDTH) {
    size_t left = count - i;
    vec d = load_first(g + i, left) * clip;
    vec m = fused(load_first(mean + i, left), beta1, d * rest1);
    vec v = fused(load_first(square + i, left), beta2, d * d * rest2);
    store_first(mean + i, m, left);
    store_first(square + i, v, left);
    vec step = rate * m / (square_root(v * fix2) + epsilon);
    store_first(value + i, fused(load_first(value + i, left), kept, -step), left);
  }
}
