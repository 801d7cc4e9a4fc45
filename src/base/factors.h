/* Factors of dense matrices of doubles, row after row in memory, in plain arithmetic: GSL's have other last digits on
 * machines for which it is compiled with fused multiply-adds. */
#ifndef ROPESCOPE_MATH_FACTORS_H
#define ROPESCOPE_MATH_FACTORS_H

#include "base/base.h"

/* A = L Q by Householder's reflections (Golub and Van Loan, Matrix Computations, 4th ed., 2013, algorithm 5.2.1, of the
 * transpose), for A (rows, columns), rows <= columns. Leaves L on the diagonal and below it, the reflections above it
 * and in scales (rows,). */
void rs_lq(double *a, size_t rows, size_t columns, double *scales) RS_NONNULL(1, 4);

/* x (columns,) becomes Q x, Q being filled up to a square. */
void rs_lq_turn(const double *lq, size_t rows, size_t columns, const double *scales, double *x) RS_NONNULL(1, 4, 5);

/* out (columns,): row `row` < rows of Q. */
void rs_lq_row(const double *lq, size_t columns, const double *scales, size_t row, double *out) RS_NONNULL(1, 3, 5);

/* Turns the rows of a (side, side) until they are orthogonal, and those of the identity with them: a becomes T a, and
 * `turned` gets T. The norms of a's rows are then its singular values, in no order. One-sided Jacobi: Golub and Van
 * Loan, section 8.6.3. */
void rs_orthogonal_rows(double *a, size_t side, double *turned) RS_NONNULL(1, 3);

#endif
