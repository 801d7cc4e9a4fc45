/* The decay kernel's shapes, which its tables (decay_range.c) and its loops (decay.c) share. Private to the kernel
 * layer.
 *
 * Around a centre C, with c = C - 1/2 and u = v + 1/2 for v = 0 .. H-1, both c + u = C + v and c - u = C - 1 - v are
 * integers, and
 *
 *   K(C + v) = E - O,  K(C - 1 - v) = E + O,
 *   E = sum_j A_j cos(omega_j u),  A_j = a_j cos(omega_j c + phi_j),
 *   O = sum_j B_j sin(omega_j u),  B_j = a_j sin(omega_j c + phi_j).
 *
 * One multiply-add a term: over many centres, E and O are two products of matrices. */
#ifndef ROPESCOPE_KERNEL_DECAY_H
#define ROPESCOPE_KERNEL_DECAY_H

#include "kernel/kernel.h"

enum {
  RS_DECAY_HALF = 512,  /* H: offsets on each side of a centre. Both tables of 64 waves (512 KB) fit into a core's L2 */
  RS_DECAY_PANEL = 32,  /* offsets that stand together in the tables: the widest tile, 4 vectors of 8 */
  RS_DECAY_CENTRES = 6, /* centres of a slab: with 4 vectors, 24 sums in 32 registers; with 2, 12 in 16 */
  RS_DECAY_WAVES =
      64, /* most waves of one sum, which bounds its rounding; a panel of their cosines takes 16 KB of L1 */
  RS_DECAY_PANELS = RS_DECAY_HALF / RS_DECAY_PANEL,
  RS_DECAY_SLAB = RS_DECAY_CENTRES * 2 * RS_DECAY_HALF /* distances that one call makes */
};

/* cos and sin of omega_j u for up to RS_DECAY_WAVES waves: panel p holds (waves, RS_DECAY_PANEL) cosines, then as many
 * sines, of v = RS_DECAY_PANEL p onwards. Aligned to 64 bytes. */
typedef struct rs_decay_offsets {
  const double *panels;
  size_t waves;
} rs_decay_offsets;

/* A_j and B_j of each of a slab's centres. */
typedef struct rs_decay_centres {
  double even[RS_DECAY_WAVES][RS_DECAY_CENTRES], odd[RS_DECAY_WAVES][RS_DECAY_CENTRES];
} rs_decay_centres;

struct rs_decay_kernel {
  /* out[i] = K(d + i), i < RS_DECAY_SLAB, for the waves of `offsets`, with centres d + H, d + 3H, ...; iff `add`, added
   * to what is there. Wherever a slab's values go, they have the same bits. */
  void (*slab)(const rs_decay_offsets *offsets, const rs_decay_centres *centres, bool add, double *out);
};

#endif
