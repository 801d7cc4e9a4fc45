/* ropescope/kernel.h: the loops in which the time goes. Each is one source, compiled once for every instruction set of
 * the machine's family; the set in use is chosen when the program starts. Plain arrays in, plain arrays out: nothing
 * here knows what an encoding is. */
#ifndef ROPESCOPE_KERNEL_H
#define ROPESCOPE_KERNEL_H

#include "ropescope/base.h"
#include "ropescope/math.h"

/* ---- instruction sets -------------------------------------------------------------------------------------------- */

/* The kernels of one instruction set. "generic" is plain C of the machine's family without fused multiply-adds, and
 * gives the same bits on every machine; "v3" (AVX2, FMA) and "v4" (AVX-512) are levels of x86-64, "neon" is aarch64.
 * Results of different sets differ in their last bits, within the bounds that stand at each kernel. */
typedef struct rs_kernels rs_kernels;

/* The kernels in use: the best set this machine runs, unless rs_kernels_use has chosen another. */
const rs_kernels *rs_kernels_get(void);

/* Chooses for the whole process, before other threads use kernels: a name, or "auto". RS_INPUT where there is no such
 * set in this program or the machine does not run it; the message lists those it does. */
rs_status rs_kernels_use(const char *isa, rs_err *err);

/* Number `index` of the sets this machine runs, best first; NULL past the last. */
const char *rs_isa_name(size_t index);

/* The name of a set. */
const char *rs_kernels_isa(const rs_kernels *kernels);

/* ---- ceilings ---------------------------------------------------------------------------------------------------- */

/* What one core can do at most, for `ropescope bench`. */
typedef struct rs_ceiling_kernel {
  /* Runs `rounds` rounds of independent fused multiply-adds (multiplications and additions where there are none) in
   * registers; returns the floating-point operations done. */
  double (*fma_f32)(size_t rounds);
  double (*fma_f64)(size_t rounds);
} rs_ceiling_kernel;

/* ---- the table --------------------------------------------------------------------------------------------------- */

struct rs_kernels {
  const char *isa;
  const rs_ceiling_kernel *ceiling;
};

#endif
