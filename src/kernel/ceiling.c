/* The most a core can do. Operations: chains of multiply-adds in registers, enough of them to hide the latency of one
 * (4 or 5 cycles at 2 a cycle). Bandwidth: whole cache lines in order, as the prefetcher likes them; prefetching by
 * hand gained nothing on Zen 4. */
#include "fused.h"

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
  floats chain[CHAINS], factor = (floats){0} + 0.999999f, plus = (floats){0} + 1e-6f;
#pragma GCC unroll 12
  for (size_t i = 0; i < CHAINS; i++) chain[i] = (floats){0} + (float)i;
  for (size_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
    for (size_t i = 0; i < CHAINS; i++) {
      chain[i] = fused_floats(chain[i], factor, plus);
      RS_KEEP(chain[i]);
    }
  }
  return 2.0 * CHAINS * (double)rounds * (RS_VECTOR_BYTES / sizeof(float));
}

static double fma_f64(size_t rounds) {
  doubles chain[CHAINS], factor = (doubles){0} + 0.999999, plus = (doubles){0} + 1e-6;
#pragma GCC unroll 12
  for (size_t i = 0; i < CHAINS; i++) chain[i] = (doubles){0} + (double)i;
  for (size_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
    for (size_t i = 0; i < CHAINS; i++) {
      chain[i] = fused_doubles(chain[i], factor, plus);
      RS_KEEP(chain[i]);
    }
  }
  return 2.0 * CHAINS * (double)rounds * (RS_VECTOR_BYTES / sizeof(double));
}

enum { STEP = 64 }; /* floats of one step: four cache lines of 64 bytes */
enum { LANES = RS_VECTOR_BYTES / sizeof(float) };

static double read_all(const float *array, size_t count) {
  floats sum[STEP / LANES] = {{0}};
  double total = 0;
  for (size_t i = 0; i < count; i += STEP) {
#pragma GCC unroll 16
    for (size_t v = 0; v < STEP / LANES; v++) sum[v] += *(const floats *)(array + i + v * LANES);
  }
  for (size_t v = 0; v < STEP; v++) total += sum[v / LANES][v % LANES];
  return total;
}

static void copy_all(const float *from, size_t count, float *to) {
  for (size_t i = 0; i < count; i += STEP) {
#pragma GCC unroll 16
    for (size_t v = 0; v < STEP; v += LANES) *(floats *)(to + i + v) = *(const floats *)(from + i + v);
  }
}

extern const rs_ceiling_kernel RS_OF_ISA(rs_ceiling);
const rs_ceiling_kernel RS_OF_ISA(rs_ceiling) = {fma_f32, fma_f64, read_all, copy_all};
