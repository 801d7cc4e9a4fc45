/* The most floating-point operations a core can do: chains of multiply-adds in registers, enough of them to hide the
 * latency of one (4 or 5 cycles at 2 a cycle). */
#include "isa.h"

typedef float floats __attribute__((vector_size(RS_VECTOR_BYTES)));
typedef double doubles __attribute__((vector_size(RS_VECTOR_BYTES)));

enum { CHAINS = 12 };

/* Keeps the values in registers and the compiler from computing the end without the steps. */
#if defined(__x86_64__)
#define RS_KEEP(vector) __asm__ volatile("" : "+v"(vector))
#elif defined(__aarch64__)
#define RS_KEEP(vector) __asm__ volatile("" : "+w"(vector))
#else
#define RS_KEEP(vector) __asm__ volatile("" : "+m"(vector))
#endif

static double fma_f32(size_t rounds) {
  floats chain[CHAINS], by = (floats){0} + 0.999999f, plus = (floats){0} + 1e-6f;
#pragma GCC unroll 12
  for (size_t i = 0; i < CHAINS; i++) chain[i] = (floats){0} + (float)i;
  for (size_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
    for (size_t i = 0; i < CHAINS; i++) {
      chain[i] = chain[i] * by + plus;
      RS_KEEP(chain[i]);
    }
  }
  return 2.0 * CHAINS * (double)rounds * (RS_VECTOR_BYTES / sizeof(float));
}

static double fma_f64(size_t rounds) {
  doubles chain[CHAINS], by = (doubles){0} + 0.999999, plus = (doubles){0} + 1e-6;
#pragma GCC unroll 12
  for (size_t i = 0; i < CHAINS; i++) chain[i] = (doubles){0} + (double)i;
  for (size_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
    for (size_t i = 0; i < CHAINS; i++) {
      chain[i] = chain[i] * by + plus;
      RS_KEEP(chain[i]);
    }
  }
  return 2.0 * CHAINS * (double)rounds * (RS_VECTOR_BYTES / sizeof(double));
}

extern const rs_ceiling_kernel RS_OF_ISA(rs_ceiling);
const rs_ceiling_kernel RS_OF_ISA(rs_ceiling) = {fma_f32, fma_f64};
