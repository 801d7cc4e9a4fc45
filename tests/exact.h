/* Angles in long double, for tests of what doubles make of them. */
#ifndef ROPESCOPE_TESTS_EXACT_H
#define ROPESCOPE_TESTS_EXACT_H

#include <math.h>

/* The first 32 bits of a number: products of two such are exact in long double. */
static inline double first_bits(double x) {
  if (fabs(x) < 0x1p-900) return x;
  double unit = ldexp(1, ilogb(x) - 31);
  return trunc(x / unit) * unit;
}

/* cos and sin of the exact product of two doubles, |position * omega| < 2^31: what the first bits give, turned on by
 * the rest. */
static inline void exact_cos_sin(double position, double omega, long double *cosine, long double *sine) {
  double p = first_bits(position), w = first_bits(omega);
  long double rest_p = position - p, rest_w = omega - w;
  long double a = (long double)p * w, b = p * rest_w + rest_p * w + rest_p * rest_w;
  *cosine = cosl(a) * cosl(b) - sinl(a) * sinl(b);
  *sine = sinl(a) * cosl(b) + cosl(a) * sinl(b);
}

#endif
