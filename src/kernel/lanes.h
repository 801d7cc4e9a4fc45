/* Vectors whose lanes are computed side by side, of float or double by RS_REAL_BITS (32 or 64), as wide as the
 * instruction set's registers. Private to the kernel layer. */
#ifndef ROPESCOPE_KERNEL_LANES_H
#define ROPESCOPE_KERNEL_LANES_H

#include "isa.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if RS_REAL_BITS == 32
typedef float real;
typedef int32_t integer;
typedef uint32_t unsigned_integer;
#define RS_OF_REAL(name) RS_OF_ISA(RS_JOIN(name, f32))
#else
typedef double real;
typedef int64_t integer;
typedef uint64_t unsigned_integer;
#define RS_OF_REAL(name) RS_OF_ISA(RS_JOIN(name, f64))
#endif

enum { WIDTH = RS_VECTOR_BYTES / sizeof(real) };

typedef real vec __attribute__((vector_size(RS_VECTOR_BYTES)));
typedef integer ivec __attribute__((vector_size(RS_VECTOR_BYTES))); /* also masks: 0 or -1 */
typedef unsigned_integer uvec __attribute__((vector_size(RS_VECTOR_BYTES)));
typedef real vec_anywhere __attribute__((vector_size(RS_VECTOR_BYTES), aligned(sizeof(real)), may_alias));

/* The scalar in every lane. Written as a subtraction because x - 0 is x for every x, -0 too, so that the compiler may
 * drop it; 0 + x it must compute. */
RS_INLINE vec all(real x) {
  return x - (vec){0};
}

RS_INLINE vec load(const real *from) {
  return *(const vec_anywhere *)from;
}

RS_INLINE void store(real *to, vec x) {
  *(vec_anywhere *)to = x;
}

RS_INLINE vec keep(ivec mask, vec x) {
  return (vec)(mask & (ivec)x);
}

RS_INLINE vec choose(ivec mask, vec yes, vec no) {
  return (vec)((mask & (ivec)yes) | (~mask & (ivec)no));
}

/* The larger of each lane. */
RS_INLINE vec larger(vec a, vec b) {
#if defined(__AVX512F__) && RS_REAL_BITS == 32
  return (vec)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX512F__)
  return (vec)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX2__) && RS_REAL_BITS == 32
  return (vec)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__AVX2__)
  return (vec)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
  return choose(a > b, a, b);
#endif
}

/* Whether a >= b in any lane. */
RS_INLINE bool any_reaches(vec a, vec b) {
#if defined(__AVX512F__) && RS_REAL_BITS == 32
  return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GE_OQ) != 0;
#elif defined(__AVX512F__)
  return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GE_OQ) != 0;
#elif defined(__AVX2__) && RS_REAL_BITS == 32
  return _mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_GE_OQ)) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_GE_OQ)) != 0;
#else
  ivec reaches = a >= b;
  integer any = 0;
  for (size_t i = 0; i < WIDTH; i++) any |= reaches[i];
  return any != 0;
#endif
}

/* The first `count` (at most WIDTH) numbers, and zeros. */
RS_INLINE vec load_first(const real *from, size_t count) {
  real lanes[WIDTH] = {0};
  if (count >= WIDTH) return load(from);
  for (size_t i = 0; i < count; i++) lanes[i] = from[i];
  return load(lanes);
}

/* Zeros behind the first `count` lanes. */
RS_INLINE vec first_lanes(vec x, size_t count) {
  for (size_t i = 0; i < WIDTH; i++) x[i] = i < count ? x[i] : 0;
  return x;
}

/* The first `count` lanes alone. */
RS_INLINE void store_first(real *to, vec x, size_t count) {
  if (count >= WIDTH) {
    store(to, x);
    return;
  }
  for (size_t i = 0; i < count; i++) to[i] = x[i];
}

/* The sum of all lanes: of halves, quarters and so on. */
RS_INLINE real sum_of(vec x) {
  real lanes[WIDTH];
  store(lanes, x);
#pragma GCC unroll 4
  for (size_t half = WIDTH / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (size_t i = 0; i < half; i++) lanes[i] += lanes[i + half];
  return lanes[0];
}

RS_INLINE real largest_of(vec x) {
  real most = x[0];
  for (size_t i = 1; i < WIDTH; i++) most = x[i] > most ? x[i] : most;
  return most;
}

RS_INLINE vec square_root(vec x) {
#if defined(__AVX512F__) && RS_REAL_BITS == 32
  return (vec)_mm512_sqrt_ps((__m512)x);
#elif defined(__AVX512F__)
  return (vec)_mm512_sqrt_pd((__m512d)x);
#elif defined(__AVX2__) && RS_REAL_BITS == 32
  return (vec)_mm256_sqrt_ps((__m256)x);
#elif defined(__AVX2__)
  return (vec)_mm256_sqrt_pd((__m256d)x);
#else
  for (size_t i = 0; i < WIDTH; i++) x[i] = (real)__builtin_sqrt(x[i]);
  return x;
#endif
}

/* 2^f for |f| <= 1/2. Minimax in the relative error with p(0) = 1 (Remez exchange in 50 digits): the polynomials' own
 * errors are 2.6e-9 and 1.8e-17. */
RS_INLINE vec small_power_of_2(vec f) {
#if RS_REAL_BITS == 32
  vec p = all(1.559467816e-4f) * f + all(1.34066439e-3f);
  p = p * f + all(9.617692973e-3f);
  p = p * f + all(5.550310551e-2f);
  p = p * f + all(2.402265278e-1f);
  p = p * f + all(6.93147215e-1f);
#else
  vec p = all(4.078071929588336665e-10) * f + all(7.07257041281442351e-9);
  p = p * f + all(1.018064765923413889e-7);
  p = p * f + all(1.321544267532982214e-6);
  p = p * f + all(1.52527273851938682e-5);
  p = p * f + all(1.540353044157213033e-4);
  p = p * f + all(1.333355815343996475e-3);
  p = p * f + all(9.61812910760700238e-3);
  p = p * f + all(5.550410866479039455e-2);
  p = p * f + all(2.402265069591009801e-1);
  p = p * f + all(6.931471805599456968e-1);
#endif
  return p * f + all(1);
}

#if RS_REAL_BITS == 32
enum { MANTISSA = 23, EXPONENT = 126 };
#define ROUNDING 12582912.0f
#else
enum { MANTISSA = 52, EXPONENT = 1022 };
#define ROUNDING 6755399441055744.0
#endif

/* 2^t to 7e-8 (float) or 2e-16 (double), relative; exactly 1 for t = 0 and 0 where t is below the least normal
 * exponent. t = z + f with |f| <= 1/2: adding 1.5 * 2^mantissa rounds to the integer z, which then is added to the
 * exponent of 2^f. Garbage from t beyond the range is masked away. */
RS_INLINE vec power_of_2(vec t) {
  vec z = t + all(ROUNDING), f = t - (z - all(ROUNDING)), p = small_power_of_2(f);
  return keep(t > all(-EXPONENT), (vec)((uvec)p + ((uvec)z << MANTISSA)));
}

/* e^x for x up to 80, to 1.5e-7 (float) or 5e-16 (double), relative; exactly 1 for x = 0, 0 below the least normal
 * number and NaN for NaN. x = z ln 2 + f ln 2; ln 2 is taken off in two parts, of which the first has so few bits that
 * its multiples are exact. */
RS_INLINE vec power_of_e(vec x) {
#if RS_REAL_BITS == 32
  const vec high = all(0.693359375f), low = all(-2.12194440e-4f), per_e = all(1.44269504f);
#else
  const vec high = all(6.93145751953125e-1), low = all(1.42860682030941723212e-6), per_e = all(1.44269504088896340736);
#endif
  vec t = x * per_e, z = t + all(ROUNDING), whole = z - all(ROUNDING);
  vec p = small_power_of_2((x - whole * high - whole * low) * per_e);
  vec scale = (vec)(((uvec)z << MANTISSA) + (uvec)all(1));
  return choose(t <= all(-EXPONENT), all(0), p * scale);
}

#endif
