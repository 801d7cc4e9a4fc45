/* Eigenvalues of symmetric matrices: Householder's reflections leave three diagonals (Golub and Van Loan, Matrix
 * Computations, 4th ed., 2013, algorithm 8.3.1), and how many eigenvalues lie above a number is how many pivots are
 * positive there (Barth, Martin and Wilkinson, Numer. Math. 9, 1967). In plain arithmetic: GSL's have other last digits
 * on machines for which it is compiled with fused multiply-adds. */
#include "base/base.h"

#include <float.h>
#include <math.h>

/* x (count,) becomes v with (1 - 2 v v^T / |v|^2) x = (reflected, 0, ..); |v|^2 / 2 goes to `half`. */
static double make_reflection(double *x, size_t count, double *half) {
  double length = sqrt(rs_dot(x, x, count)), reflected = -copysign(length, x[0]);
  *half = length * (length + fabs(x[0]));
  x[0] -= reflected;
  return reflected;
}

/* The block (count, count), rows of `side`, becomes H block H for the reflection by v; w (count,) is room. */
static void reflect(double *block, size_t side, size_t count, const double *v, double half, double *w) {
  for (size_t i = 0; i < count; i++) w[i] = rs_dot(block + i * side, v, count) / half;
  double share = rs_dot(v, w, count) / (2 * half);
  for (size_t i = 0; i < count; i++) w[i] -= share * v[i];
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < count; j++) block[i * side + j] -= v[i] * w[j] + w[i] * v[j];
}

/* Leaves the diagonal, and the one beside it right of it. */
static void make_tridiagonal(double *a, size_t side, double *room) {
  for (size_t k = 0; k + 2 < side; k++) {
    double *v = a + k * side + k + 1, half, beside = make_reflection(v, side - k - 1, &half);
    if (half > 0) reflect(a + (k + 1) * (side + 1), side, side - k - 1, v, half, room);
    v[0] = beside;
  }
}

/* How many eigenvalues are larger than x. */
static size_t count_above(const double *a, size_t side, double x) {
  size_t above = 0;
  double pivot = 1;
  for (size_t i = 0; i < side; i++) {
    double beside = i > 0 ? a[(i - 1) * side + i] : 0;
    pivot = a[i * (side + 1)] - x - beside * beside / pivot;
    if (pivot == 0) pivot = -DBL_MIN;
    above += pivot > 0;
  }
  return above;
}

/* No eigenvalue is larger, nor its negative smaller: Gershgorin's circles. */
static double bound(const double *a, size_t side) {
  double most = 0;
  for (size_t i = 0; i < side; i++) {
    double radius = (i > 0 ? fabs(a[(i - 1) * side + i]) : 0) + (i + 1 < side ? fabs(a[i * side + i + 1]) : 0);
    most = fmax(most, fabs(a[i * (side + 1)]) + radius);
  }
  return most * (1 + 4 * DBL_EPSILON);
}

void rs_eigenvalues(double *a, size_t side, double *values) {
  enum { HALVINGS = DBL_MANT_DIG + 2 }; /* of 2 `most`, down to a rounding of `most` */
  make_tridiagonal(a, side, values);
  double most = bound(a, side), high = most;
  for (size_t i = 0; i < side; i++) {
    double low = -most;
    for (size_t step = 0; step < HALVINGS; step++) {
      double middle = (low + high) / 2;
      *(count_above(a, side, middle) > i ? &low : &high) = middle;
    }
    values[i] = (low + high) / 2;
  }
}
