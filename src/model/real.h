/* The arithmetic that a source of this layer is compiled for: meson.build compiles each of `real_sources` twice, with
 * RS_REAL_BITS 32 and 64. Private to the layer. */
#ifndef ROPESCOPE_MODEL_REAL_H
#define ROPESCOPE_MODEL_REAL_H

#include "kernel/kernel.h"

/* RS_OF_REAL(rs_attend_forward) is rs_attend_forward_f32 or rs_attend_forward_f64. */
#if RS_REAL_BITS == 32
typedef float real;
#define RS_OF_REAL(name) name##_f32
#define RS_REAL_FORMAT RS_F32
#else
typedef double real;
#define RS_OF_REAL(name) name##_f64
#define RS_REAL_FORMAT RS_F64
#endif

static inline const rs_net_kernel *rs_real_kernel(void) {
  return RS_REAL_FORMAT == RS_F32 ? rs_kernels_get()->net_f32 : rs_kernels_get()->net_f64;
}

#endif
