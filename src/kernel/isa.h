/* What a kernel source is compiled for. meson.build compiles each once per instruction set with RS_ISA set to its name.
 * Private to the kernel layer. */
#ifndef ROPESCOPE_KERNEL_ISA_H
#define ROPESCOPE_KERNEL_ISA_H

#include "kernel/kernel.h"

#define RS_JOIN_(a, b) a##_##b
#define RS_JOIN(a, b) RS_JOIN_(a, b)

/* The name of this set's copy of something that is visible outside its file: RS_OF_ISA(rs_ceiling) is rs_ceiling_v4. */
#ifdef RS_ISA
#define RS_OF_ISA(name) RS_JOIN(name, RS_ISA)
#endif

/* Bytes of a vector register. Wider vectors than the machine has are split by the compiler, narrower ones waste it. */
#if defined(__AVX512F__)
enum { RS_VECTOR_BYTES = 64 };
#elif defined(__AVX2__)
enum { RS_VECTOR_BYTES = 32 };
#else
enum { RS_VECTOR_BYTES = 16 };
#endif

/* A vector that goes to a function which is not inlined travels by an ABI that depends on the compiler's flags. */
#define RS_INLINE static inline __attribute__((always_inline))

#endif
