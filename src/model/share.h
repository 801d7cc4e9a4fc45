/* Sharing the rows of one sequence among threads. What a row comes to depends on no other row's thread, so bits do not
 * depend on threads. Private to the model layer. */
#ifndef ROPESCOPE_MODEL_SHARE_H
#define ROPESCOPE_MODEL_SHARE_H

#include "attention/attention.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { RS_SHARE = 256 }; /* rows that a thread takes at a time, and that are worth a team's start */

/* Threads that a pass may use: one where sequences, or parts of a batch, have the others. */
static inline size_t rs_share_threads(void) {
#ifdef _OPENMP
  if (omp_in_parallel()) return 1;
#endif
  return rs_engine_threads();
}

/* Whether rows are shared. */
static inline bool rs_shares(size_t rows) {
  return rows > RS_SHARE && rs_share_threads() > 1;
}

#endif
