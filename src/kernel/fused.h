/* a b + c, with one rounding where the instruction set has that (RS_FUSED), else with two. Left to themselves compilers
 * differ in which products they fuse (in a b + c d either may be), so kernels say it, and are compiled with
 * -ffp-contract=off: a set then gives the same bits whatever compiles it. Negating a factor is free and exact. Private
 * to the kernel layer. */
#ifndef ROPESCOPE_KERNEL_FUSED_H
#define ROPESCOPE_KERNEL_FUSED_H

#include "isa.h"

#if defined(RS_FUSED) && defined(__x86_64__)
#include <immintrin.h>
#elif defined(RS_FUSED)
#include <arm_neon.h>
#endif

typedef float floats __attribute__((vector_size(RS_VECTOR_BYTES)));
typedef double doubles __attribute__((vector_size(RS_VECTOR_BYTES)));

RS_INLINE floats fused_floats(floats a, floats b, floats c) {
#if !defined(RS_FUSED)
  return a * b + c;
#elif defined(__AVX512F__)
  return (floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__)
  return (floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  return (floats)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#endif
}

RS_INLINE doubles fused_doubles(doubles a, doubles b, doubles c) {
#if !defined(RS_FUSED)
  return a * b + c;
#elif defined(__AVX512F__)
  return (doubles)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__)
  return (doubles)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  return (doubles)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#endif
}

/* One by one: in loops that the compiler makes vectors of. */
RS_INLINE double fused_double(double a, double b, double c) {
#if defined(RS_FUSED)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

#endif
