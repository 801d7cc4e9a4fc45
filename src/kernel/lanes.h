/* Vectors whose lanes are computed side by side, of float or double by RS_REAL_BITS (32 or 64), as wide as the
 * instruction set's registers. Private to the kernel layer. */
#ifndef ROPESCOPE_KERNEL_LANES_H
#define ROPESCOPE_KERNEL_LANES_H

#include "fused.h"

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

/* a b + c, as fused.h has it. */
RS_INLINE vec fused(vec a, vec b, vec c) {
#if RS_REAL_BITS == 32
  return fused_floats(a, b, c);
#else
  return fused_doubles(a, b, c);
#endif
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

/* The larger of each lane; b where one is no number. */
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

/* 0, 1, 2, ... */
RS_INLINE ivec lane_numbers(void) {
  ivec lane;
  for (size_t i = 0; i < WIDTH; i++) lane[i] = (integer)i;
  return lane;
}

/* The first `count` lanes. */
RS_INLINE ivec first_mask(size_t count) {
  return lane_numbers() < (ivec){0} + (integer)count;
}

/* Zeros behind the first `count` lanes. */
RS_INLINE vec first_lanes(vec x, size_t count) {
  return keep(first_mask(count), x);
}

/* The first `count` numbers, at most WIDTH, and zeros; what lies behind is not read. */
RS_INLINE vec load_first(const real *from, size_t count) {
  if (count >= WIDTH) return load(from);
#if defined(__AVX512F__) && RS_REAL_BITS == 32
  return (vec)_mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), from);
#elif defined(__AVX512F__)
  return (vec)_mm512_maskz_loadu_pd((__mmask8)((1u << count) - 1), from);
#elif defined(__AVX2__) && RS_REAL_BITS == 32
  return (vec)_mm256_maskload_ps(from, (__m256i)first_mask(count));
#elif defined(__AVX2__)
  return (vec)_mm256_maskload_pd(from, (__m256i)first_mask(count));
#else
  vec x = {0};
  for (size_t i = 0; i < count; i++) x[i] = from[i];
  return x;
#endif
}

/* The first `count` lanes, at most all. */
RS_INLINE void store_first(real *to, vec x, size_t count) {
  if (count >= WIDTH) {
    store(to, x);
    return;
  }
#if defined(__AVX512F__) && RS_REAL_BITS == 32
  _mm512_mask_storeu_ps(to, (__mmask16)((1u << count) - 1), (__m512)x);
#elif defined(__AVX512F__)
  _mm512_mask_storeu_pd(to, (__mmask8)((1u << count) - 1), (__m512d)x);
#elif defined(__AVX2__) && RS_REAL_BITS == 32
  _mm256_maskstore_ps(to, (__m256i)first_mask(count), (__m256)x);
#elif defined(__AVX2__)
  _mm256_maskstore_pd(to, (__m256i)first_mask(count), (__m256d)x);
#else
  for (size_t i = 0; i < count; i++) to[i] = x[i];
#endif
}

/* a0 b0 a1 b1 ... of two vectors: the first half, and the second. */
RS_INLINE void interleave(vec a, vec b, vec *first, vec *second) {
#if defined(__clang__)
  for (size_t i = 0; i < WIDTH; i++) {
    (*first)[i] = i % 2 == 0 ? a[i / 2] : b[i / 2];
    (*second)[i] = i % 2 == 0 ? a[WIDTH / 2 + i / 2] : b[WIDTH / 2 + i / 2];
  }
#else
  ivec places;
  for (size_t i = 0; i < WIDTH; i++) places[i] = (integer)(i / 2 + i % 2 * WIDTH);
  *first = __builtin_shuffle(a, b, places);
  *second = __builtin_shuffle(a, b, places + WIDTH / 2);
#endif
}

/* The way back. */
RS_INLINE void separate(vec first, vec second, vec *a, vec *b) {
#if defined(__clang__)
  for (size_t i = 0; i < WIDTH; i++) {
    (*a)[i] = 2 * i < WIDTH ? first[2 * i] : second[2 * i - WIDTH];
    (*b)[i] = 2 * i < WIDTH ? first[2 * i + 1] : second[2 * i + 1 - WIDTH];
  }
#else
  ivec places;
  for (size_t i = 0; i < WIDTH; i++) places[i] = (integer)(2 * i);
  *a = __builtin_shuffle(first, second, places);
  *b = __builtin_shuffle(first, second, places + 1);
#endif
}

/* The sum of all lanes: halves are added to each other until one number is left (compilers' own reductions of a vector
 * choose an order themselves). */
RS_INLINE real sum_of(vec x) {
#if defined(__AVX512F__) && RS_REAL_BITS == 32
  __m256 part =
      _mm512_castps512_ps256((__m512)x) + _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd((__m512)x), 1));
#elif defined(__AVX512F__)
  __m256d part = _mm512_castpd512_pd256((__m512d)x) + _mm512_extractf64x4_pd((__m512d)x, 1);
#elif defined(__AVX2__) && RS_REAL_BITS == 32
  __m256 part = (__m256)x;
#elif defined(__AVX2__)
  __m256d part = (__m256d)x;
#endif
#if defined(__AVX2__) && RS_REAL_BITS == 32
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(part), _mm256_extractf128_ps(part, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return half[0] + half[1];
#elif defined(__AVX2__)
  __m128d half = _mm_add_pd(_mm256_castpd256_pd128(part), _mm256_extractf128_pd(part, 1));
  return half[0] + half[1];
#elif RS_REAL_BITS == 32
  return (x[0] + x[2]) + (x[1] + x[3]);
#else
  return x[0] + x[1];
#endif
}

/* The largest of all lanes. */
RS_INLINE real largest_of(vec x) {
#if defined(__AVX512F__) && RS_REAL_BITS == 32
  return _mm512_reduce_max_ps((__m512)x);
#elif defined(__AVX512F__)
  return _mm512_reduce_max_pd((__m512d)x);
#else
  real most = x[0];
  for (size_t i = 1; i < WIDTH; i++) most = x[i] > most ? x[i] : most;
  return most;
#endif
}

/* 1 / x for positive normal x, to a rounding; where division takes as long as 30 multiplications, by Newton's method:
 * taking the bits from a constant divides to 6 % (the exponent is negated, the mantissa's line is a chord's), and each
 * step squares the error. */
RS_INLINE vec reciprocal(vec x) {
#if defined(__AVX512F__)
#if RS_REAL_BITS == 32
  const uvec magic = (uvec){0} + 0x7ef311c7u;
  enum { STEPS = 3 };
#else
  const uvec magic = (uvec){0} + 0x7fde623822fc16e6ull;
  enum { STEPS = 4 };
#endif
  vec r = (vec)(magic - (uvec)x);
#pragma GCC unroll 4
  for (size_t i = 0; i < STEPS; i++) r = fused(r, fused(-x, r, all(1)), r);
  return r;
#else
  return all(1) / x;
#endif
}

/* c[0] + c[1] t + ... of `count` coefficients. */
RS_INLINE vec polynomial(const real *c, size_t count, vec t) {
  vec p = all(c[count - 1]);
#pragma GCC unroll 32
  for (size_t i = count - 1; i-- > 0;) p = fused(p, t, all(c[i]));
  return p;
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
  vec p = fused(all(1.559467816e-4f), f, all(1.34066439e-3f));
  p = fused(p, f, all(9.617692973e-3f));
  p = fused(p, f, all(5.550310551e-2f));
  p = fused(p, f, all(2.402265278e-1f));
  p = fused(p, f, all(6.93147215e-1f));
#else
  vec p = fused(all(4.078071929588336665e-10), f, all(7.07257041281442351e-9));
  p = fused(p, f, all(1.018064765923413889e-7));
  p = fused(p, f, all(1.321544267532982214e-6));
  p = fused(p, f, all(1.52527273851938682e-5));
  p = fused(p, f, all(1.540353044157213033e-4));
  p = fused(p, f, all(1.333355815343996475e-3));
  p = fused(p, f, all(9.61812910760700238e-3));
  p = fused(p, f, all(5.550410866479039455e-2));
  p = fused(p, f, all(2.402265069591009801e-1));
  p = fused(p, f, all(6.931471805599456968e-1));
#endif
  return fused(p, f, all(1));
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

/* e^x for x up to EXPONENT ln 2, to 2^-23 (1 + |x|) or 2^-52 (1 + |x|), relative; exactly 1 for x = 0, 0 below the
 * least normal number, and no number where x is none. */
RS_INLINE vec power_of_e(vec x) {
  vec t = x * all((real)1.44269504088896340736), z = t + all(ROUNDING), whole = z - all(ROUNDING);
  vec p = small_power_of_2(t - whole);
#if defined(__AVX512F__) && RS_REAL_BITS == 32
  __mmask16 seen = _mm512_cmp_ps_mask((__m512)t, (__m512)all(-EXPONENT), _CMP_NLE_UQ);
  return (vec)_mm512_maskz_scalef_ps(seen, (__m512)p, (__m512)whole);
#elif defined(__AVX512F__)
  __mmask8 seen = _mm512_cmp_pd_mask((__m512d)t, (__m512d)all(-EXPONENT), _CMP_NLE_UQ);
  return (vec)_mm512_maskz_scalef_pd(seen, (__m512d)p, (__m512d)whole);
#else
  vec scale = (vec)(((uvec)z << MANTISSA) + (uvec)all(1));
  return keep(~(t <= all(-EXPONENT)), p * scale);
#endif
}

/* tanh(y) for |y| < NEAR by its series, to a rounding. */
#if RS_REAL_BITS == 32
enum { TERMS = 4 };
#else
enum { TERMS = 8 };
#endif
static const double NEAR = 0.125;
static const double tanh_series[] = {1,           -1.0 / 3,         2.0 / 15,          -17.0 / 315,
                                     62.0 / 2835, -1382.0 / 155925, 21844.0 / 6081075, -929569.0 / 638512875};

_Static_assert((int)TERMS <= (int)RS_COUNT(tanh_series), "as many terms as there are");

RS_INLINE vec near_zero(vec y) {
  vec square = y * y, sum = all((real)tanh_series[TERMS - 1]);
#pragma GCC unroll 8
  for (size_t i = TERMS - 1; i-- > 0;) sum = fused(sum, square, all((real)tanh_series[i]));
  return y * sum;
}

/* tanh(y) = (1 - t) / (1 + t) with t = e^(-2 |y|), up to the sign; its slope 4 t / (1 + t)^2. */
RS_INLINE vec tanh_of(vec y, vec *slope) {
  vec size = larger(y, -y), t = power_of_e(all(-2) * size), below = all(1) / (all(1) + t);
  vec far = (all(1) - t) * below;
  *slope = all(4) * t * below * below;
  return choose(size < all((real)NEAR), near_zero(y), choose(y < all(0), -far, far));
}

#endif
