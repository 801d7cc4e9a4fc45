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

/* 2^t to 7e-8 (float) or 2e-16 (double), relative; exactly 1 for t = 0 and 0 where t is below the least normal
 * exponent. t = z + f with |f| <= 1/2: adding 1.5 * 2^mantissa rounds to the integer z, which then is added to the
 * exponent of 2^f. The polynomials are minimax in the relative error with p(0) = 1 (Remez exchange in 50 digits): their
 * own errors are 2.6e-9 and 1.8e-17. Garbage from t beyond the range is masked away. */
RS_INLINE vec power_of_2(vec t) {
#if RS_REAL_BITS == 32
  const vec round = all(12582912.0f), least = all(-126.0f);
  enum { MANTISSA = 23 };
#else
  const vec round = all(6755399441055744.0), least = all(-1022.0);
  enum { MANTISSA = 52 };
#endif
  vec z = t + round, f = t - (z - round);
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
  p = p * f + all(1);
  return keep(t > least, (vec)((uvec)p + ((uvec)z << MANTISSA)));
}

#endif
