/* ropescope/solve.h: which setting serves a length, and which length a setting serves, by the field's criteria: the
 * first violation of B(m) >= 0, the critical dimension, and angles out of the trained range. */
#ifndef ROPESCOPE_SOLVE_H
#define ROPESCOPE_SOLVE_H

#include "ropescope/compare.h"

/* Frequencies as they are run, beside those of training. Borrows. */
typedef struct rs_turning {
  const double *omega;   /* (pairs,) rad/token */
  const double *trained; /* (pairs,) rad/token of plain RoPE at L0; NULL for a first violation alone */
  size_t pairs, still;   /* R/2, and how many do not turn: (D - R)/2 */
  double train_length;   /* L0, tokens */
} rs_turning;

/* The longest context, at most `most` < 2^63, whose distances all have sum_j cos(m omega_j) + still >= 0. */
rs_status rs_reach_first_violation(const rs_turning *turning, uint64_t most, uint64_t *length, rs_err *err);

/* The period of the critical pair as it is run (Liu et al., arXiv:2310.05209, theorem 2), and the longest context in
 * which no pair that did not go full circle in training turns further than there; infinite where every pair did. */
double rs_reach_critical(const rs_turning *turning);
double rs_reach_in_range(const rs_turning *turning);

/* The bases that bring these to `length`, pair >= 1 being the critical one: at the second one the largest angle just
 * equals that of training. */
double rs_base_critical(size_t pair, size_t pairs, double length);
double rs_base_in_range(double theta, size_t pair, size_t pairs, double train_length, double length);

#endif
