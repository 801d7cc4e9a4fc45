/* Tables of cosines and sines, by which pairs are turned. */
#include "fused.h"

#include <string.h>

#ifdef RS_FUSED

typedef int64_t integers __attribute__((vector_size(RS_VECTOR_BYTES)));

enum { LANES = RS_VECTOR_BYTES / sizeof(double) };

RS_INLINE doubles everywhere(double x) {
  return x - (doubles){0};
}

/* Lanes past `count` are 0. */
RS_INLINE doubles load(const double *from, size_t count) {
  doubles x = {0};
  memcpy(&x, from, count * sizeof *from);
  return x;
}

/* sin r and cos r for |r| <= 1.0001 pi/4, z = r^2: minimax (Remez in 50 digits) r + r^3 S(z) to 1.6e-18 and
 * 1 - z/2 + z^2 C(z) to 5e-20. */
RS_INLINE doubles sine_of(doubles r, doubles z) {
  doubles s = fused_doubles(z, everywhere(0x1.5d64989e124c5p-33), everywhere(-0x1.ae5db3cc462ddp-26));
  s = fused_doubles(s, z, everywhere(0x1.71de34747f9f0p-19));
  s = fused_doubles(s, z, everywhere(-0x1.a01a019ab3958p-13));
  s = fused_doubles(s, z, everywhere(0x1.111111110eb15p-7));
  s = fused_doubles(s, z, everywhere(-0x1.555555555553dp-3));
  return fused_doubles(r * z, s, r);
}

RS_INLINE doubles cosine_of(doubles z) {
  doubles c = fused_doubles(z, everywhere(-0x1.8fae9c650f40fp-37), everywhere(0x1.1ee9ebe90a656p-29));
  c = fused_doubles(c, z, everywhere(-0x1.27e4f809f06bfp-22));
  c = fused_doubles(c, z, everywhere(0x1.a01a019cb1bd6p-16));
  c = fused_doubles(c, z, everywhere(-0x1.6c16c16c1517ep-10));
  c = fused_doubles(c, z, everywhere(0x1.555555555554cp-5));
  return fused_doubles(z * z, c, 1 - 0.5 * z);
}

/* The angle less k quarter turns, k the nearest: |r| <= pi/4 and a little. pi/2 = HIGH + LOW + 1.5e-33. HIGH is a
 * multiple of 2^-52, and the angle one of that or of its own last bit (then k <= 1), so angle - k * HIGH is exact; k *
 * LOW errs by 1e-23 for k < 2^31. Adding 1.5 * 2^52 rounds to an integer, which stands in the sum's low bits. */
RS_INLINE doubles reduce(doubles angle, doubles lost, integers *quadrant) {
  const double HALF_PI_HIGH = 0x1.921fb54442d18p+0, HALF_PI_LOW = 0x1.1a62633145c07p-54;
  const double QUARTERS_PER_RADIAN = 0x1.45f306dc9c883p-1, TO_INTEGER = 0x1.8p52;
  doubles shifted = fused_doubles(angle, everywhere(QUARTERS_PER_RADIAN), everywhere(TO_INTEGER));
  doubles k = everywhere(TO_INTEGER) - shifted; /* negative */
  *quadrant = (integers)shifted;
  return fused_doubles(k, everywhere(HALF_PI_HIGH), angle) + fused_doubles(k, everywhere(HALF_PI_LOW), lost);
}

/* As rs_cos_sin: what the product's rounding lost joins what the reduction leaves over. Errs by half an ulp of r and
 * the last additions of the polynomials, 1.8e-16 seen, 3e-16 promised. */
RS_INLINE void cos_sin(doubles position, doubles omega, doubles *cosine, doubles *sine, integers *beyond) {
  const int64_t SIGN = INT64_MIN, LARGEST = 0x4270000000000000; /* 2^40: exact up to here, slow from here */
  doubles angle = position * omega, lost = fused_doubles(position, omega, -angle);
  integers quadrant;
  doubles r = reduce(angle, lost, &quadrant), z = r * r;
  integers s = (integers)sine_of(r, z), c = (integers)cosine_of(z);
  integers exchange = (s ^ c) & -(quadrant & 1);
  *cosine = (doubles)(c ^ exchange ^ ((quadrant + 1) << 62 & SIGN)); /* negative in quadrants 1 and 2 */
  *sine = (doubles)(s ^ exchange ^ (quadrant << 62 & SIGN));         /* negative in quadrants 2 and 3 */
  *beyond |= LARGEST - ((integers)angle & ~SIGN);
}

static bool any_negative(integers x) {
  int64_t all = 0;
  for (size_t i = 0; i < LANES; i++) all |= x[i];
  return all < 0;
}

/* One position for all (step 0) or one each (step 1). False where an angle is too large, or none. */
RS_INLINE bool fill(const double *position, size_t step, const double *omega, size_t n, double *cosine, double *sine) {
  integers beyond = {0};
  doubles c, s, same = everywhere(position[0]);
  size_t j = 0;
  for (; j + LANES <= n; j += LANES) {
    cos_sin(step == 0 ? same : load(position + j, LANES), load(omega + j, LANES), &c, &s, &beyond);
    memcpy(cosine + j, &c, sizeof c);
    memcpy(sine + j, &s, sizeof s);
  }
  if (j < n) {
    cos_sin(step == 0 ? same : load(position + j, n - j), load(omega + j, n - j), &c, &s, &beyond);
    memcpy(cosine + j, &c, (n - j) * sizeof c[0]);
    memcpy(sine + j, &s, (n - j) * sizeof s[0]);
  }
  return !any_negative(beyond);
}

#else

/* The product's error cannot be had in one step. */
RS_INLINE bool fill(const double *position, size_t step, const double *omega, size_t n, double *cosine, double *sine) {
  (void)position, (void)step, (void)omega, (void)n, (void)cosine, (void)sine;
  return false;
}

#endif

static void cos_sin_each(const double *position, const double *omega, size_t n, double *cosine, double *sine) {
  if (n == 0 || fill(position, 1, omega, n, cosine, sine)) return;
  for (size_t j = 0; j < n; j++) rs_cos_sin(position[j], omega[j], &cosine[j], &sine[j]);
}

static void cos_sin_at(double position, const double *omega, size_t n, double *cosine, double *sine) {
  if (fill(&position, 0, omega, n, cosine, sine)) return;
  for (size_t j = 0; j < n; j++) rs_cos_sin(position, omega[j], &cosine[j], &sine[j]);
}

/* Outputs may be inputs: each element is read before it is written, which is all that the pragma promises. */
RS_INLINE void add_row(const double *cosine, const double *sine, const double *step_cosine, const double *step_sine,
                       size_t n, double *out_cosine, double *out_sine) {
#pragma omp simd
  for (size_t j = 0; j < n; j++) {
    double c = fused_double(cosine[j], step_cosine[j], -(sine[j] * step_sine[j]));
    double s = fused_double(sine[j], step_cosine[j], cosine[j] * step_sine[j]);
    out_cosine[j] = c;
    out_sine[j] = s;
  }
}

static void add_angles(const double *cosine, const double *sine, const double *step_cosine, const double *step_sine,
                       size_t rows, size_t n, double *out_cosine, double *out_sine) {
  for (size_t i = 0; i < rows * n; i += n)
    add_row(cosine, sine, step_cosine + i, step_sine + i, n, out_cosine + i, out_sine + i);
}

extern const rs_rotate_kernel RS_OF_ISA(rs_rotate);
const rs_rotate_kernel RS_OF_ISA(rs_rotate) = {cos_sin_each, cos_sin_at, add_angles};
