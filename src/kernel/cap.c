/* Soft caps: logits through a hyperbolic tangent. */
#include "net.h"

/* tanh(y) for |y| < NEAR by its series, to a rounding. */
#if RS_REAL_BITS == 32
enum { TERMS = 4 };
#else
enum { TERMS = 8 };
#endif
static const double NEAR = 0.125;
static const double series[] = {1,           -1.0 / 3,         2.0 / 15,          -17.0 / 315,
                                62.0 / 2835, -1382.0 / 155925, 21844.0 / 6081075, -929569.0 / 638512875};

_Static_assert((int)TERMS <= (int)RS_COUNT(series), "as many terms as there are");

RS_INLINE vec near_zero(vec y) {
  vec square = y * y, sum = all((real)series[TERMS - 1]);
#pragma GCC unroll 8
  for (size_t i = TERMS - 1; i-- > 0;) sum = fused(sum, square, all((real)series[i]));
  return y * sum;
}

/* tanh(y) = (1 - t) / (1 + t) with t = e^(-2 |y|), up to the sign; its slope 4 t / (1 + t)^2. */
RS_INLINE vec tanh_of(vec y, vec *slope) {
  vec size = larger(y, -y), t = power_of_e(all(-2) * size), below = all(1) / (all(1) + t);
  vec far = (all(1) - t) * below;
  *slope = all(4) * t * below * below;
  return choose(size < all((real)NEAR), near_zero(y), choose(y < all(0), -far, far));
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
