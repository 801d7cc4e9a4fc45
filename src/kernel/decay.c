/* The decay kernel's loops: tiles of vectors of offsets times centres, their sums in registers. See decay.h. */
#include "decay.h"

#include "fused.h"

typedef double doubles_anywhere __attribute__((vector_size(RS_VECTOR_BYTES), aligned(sizeof(double)), may_alias));

#if defined(__AVX512F__) || defined(__aarch64__)
enum { VECTORS = 4 }; /* of 32 registers: 24 sums, 4 of offsets, one of a centre */
#else
enum { VECTORS = 2 }; /* of 16: 12, 2 and one */
#endif
enum { LANES = RS_VECTOR_BYTES / sizeof(double), TILE = VECTORS * LANES };

/* Sums of one tile: [centre][vector of offsets]. */
typedef struct tile {
  doubles value[RS_DECAY_CENTRES][VECTORS];
} tile;

/* sum_j factor[j][centre] * table[j][offset], over rows of RS_DECAY_PANEL offsets. */
RS_INLINE tile multiply(const double *table, const double (*factor)[RS_DECAY_CENTRES], size_t waves) {
  tile sums = {0};
  for (size_t j = 0; j < waves; j++) {
    doubles row[VECTORS];
#pragma GCC unroll 4
    for (size_t w = 0; w < VECTORS; w++) row[w] = *(const doubles *)(table + j * RS_DECAY_PANEL + w * LANES);
#pragma GCC unroll 6
    for (size_t c = 0; c < RS_DECAY_CENTRES; c++) {
      doubles weight = factor[j][c] - (doubles){0};
#pragma GCC unroll 4
      for (size_t w = 0; w < VECTORS; w++) sums.value[c][w] = fused_doubles(weight, row[w], sums.value[c][w]);
    }
  }
  return sums;
}

RS_INLINE doubles reversed(doubles vector) {
  double lane[LANES];
  for (size_t i = 0; i < LANES; i++) lane[i] = vector[LANES - 1 - i];
  return *(doubles_anywhere *)lane;
}

RS_INLINE void put(doubles values, bool add, double *out) {
  doubles_anywhere *place = (doubles_anywhere *)out;
  if (add) values += *place;
  *place = values;
}

/* Both sides of each centre: ascending from it, and descending from the distance before it. */
RS_INLINE void put_sides(const tile *even, const tile *odd, size_t offset, bool add, double *out) {
#pragma GCC unroll 6
  for (size_t c = 0; c < RS_DECAY_CENTRES; c++) {
    double *centre = out + (2 * c + 1) * RS_DECAY_HALF;
#pragma GCC unroll 4
    for (size_t w = 0; w < VECTORS; w++) {
      size_t v = offset + w * LANES;
      put(even->value[c][w] - odd->value[c][w], add, centre + v);
      put(reversed(even->value[c][w] + odd->value[c][w]), add, centre - LANES - v);
    }
  }
}

static void slab(const rs_decay_offsets *offsets, const rs_decay_centres *centres, bool add, double *out) {
  size_t waves = offsets->waves;
  for (size_t v = 0; v < RS_DECAY_HALF; v += TILE) {
    const double *cosines = offsets->panels + v / RS_DECAY_PANEL * 2 * waves * RS_DECAY_PANEL + v % RS_DECAY_PANEL;
    tile even = multiply(cosines, centres->even, waves);
    tile odd = multiply(cosines + waves * RS_DECAY_PANEL, centres->odd, waves);
    put_sides(&even, &odd, v, add, out);
  }
}

extern const rs_decay_kernel RS_OF_ISA(rs_decay);
const rs_decay_kernel RS_OF_ISA(rs_decay) = {slab};
