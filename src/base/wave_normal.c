/* Normal equations of waves with their matrix, in doubles, in floats, or made in doubles and solved in floats. GSL
 * makes those in doubles. The elimination is ours: GSL has none in floats, and its LU in doubles (2.7) reads room that
 * it does not ask whether it got, which ends the program where memory ends. */
#include "wave_solvers.h"

#include <gsl/gsl_blas.h>
#include <math.h>
#include <stdlib.h>

/* gram (functions, functions) = A^T A; right (functions,) = A^T wanted. */
static int make_in_doubles(const rs_wave_fit_in *in, const double *functions, double *gram, double *right) {
  size_t n = 2 * in->waves;
  gsl_matrix_const_view transpose = gsl_matrix_const_view_array(functions, n, in->count);
  gsl_vector_const_view wanted = gsl_vector_const_view_array(in->wanted, in->count);
  gsl_matrix_view square = gsl_matrix_view_array(gram, n, n);
  gsl_vector_view product = gsl_vector_view_array(right, n);
  int failed = gsl_blas_dsyrk(CblasLower, CblasNoTrans, 1, &transpose.matrix, 0, &square.matrix);
  if (!failed) failed = gsl_matrix_transpose_tricpy(CblasLower, CblasUnit, &square.matrix, &square.matrix);
  for (size_t i = 0; i < n; i++) gram[i * (n + 1)] += in->ridge;
  return failed ? failed : gsl_blas_dgemv(CblasNoTrans, 1, &transpose.matrix, &wanted.vector, 0, &product.vector);
}

/* One sum of products in floats, in eight running sums as vector code has them (a single one errs ten times more). */
static float product_f32(const float *a, const float *b, size_t count) {
  enum { LANES = 8 };
  float lane[LANES] = {0}, sum = 0;
  for (size_t x = 0; x < count; x++) lane[x % LANES] += a[x] * b[x];
  for (size_t i = 0; i < LANES; i++) sum += lane[i];
  return sum;
}

/* The same system with every number a float from the angle on. */
static rs_status make_in_floats(const rs_wave_fit_in *in, double *gram, double *right, rs_err *err) {
  size_t n = 2 * in->waves, count = in->count, waves = in->waves;
  float *rows = rs_alloc((n + 1) * count, sizeof *rows, err);
  if (rows == NULL) return RS_MEMORY;
  float *wanted = rows + n * count;
  for (size_t x = 0; x < count; x++) {
    wanted[x] = (float)in->wanted[x];
    for (size_t j = 0; j < waves; j++) {
      float angle = (float)x * (float)in->omega[j];
      rows[j * count + x] = (float)sin((double)angle);
      rows[(waves + j) * count + x] = (float)cos((double)angle);
    }
  }
  for (size_t i = 0; i < n; i++) {
    right[i] = (double)product_f32(rows + i * count, wanted, count);
    for (size_t j = 0; j <= i; j++)
      gram[i * n + j] = gram[j * n + i] = (double)product_f32(rows + i * count, rows + j * count, count);
    gram[i * n + i] = (double)(float)(gram[i * n + i] + (double)(float)in->ridge);
  }
  free(rows);
  return RS_OK;
}

static void round_to_floats(double *values, size_t count) {
  for (size_t i = 0; i < count; i++) values[i] = (double)(float)values[i];
}

static void swap_rows(double *gram, double *right, size_t n, size_t a, size_t b) {
  for (size_t k = 0; k < n && a != b; k++) {
    double kept = gram[a * n + k];
    gram[a * n + k] = gram[b * n + k];
    gram[b * n + k] = kept;
  }
  double kept = right[a];
  right[a] = right[b];
  right[b] = kept;
}

/* row -= share other. Of floats, a product is a double, and a double has more than twice their digits and two: what is
 * rounded from it is what floats give (Figueroa, SIGNUM Newsletter 30, 1995). */
static void subtract(double *row, double share, const double *other, size_t count, bool floats) {
  if (floats)
    for (size_t i = 0; i < count; i++) row[i] = (double)(float)(row[i] - (double)(float)(share * other[i]));
  else
    for (size_t i = 0; i < count; i++) row[i] -= share * other[i];
}

static double quotient(double a, double b, bool floats) {
  return floats ? (double)(float)(a / b) : a / b;
}

/* Gaussian elimination with partial pivoting, `right` becoming the solution; infinite or NaN where the matrix is
 * singular. LAPACKs differ in rounding, which is all that decides in floats. */
static void solve(double *gram, double *right, size_t n, bool floats) {
  for (size_t k = 0; k < n; k++) {
    size_t pivot = k;
    for (size_t i = k + 1; i < n; i++)
      if (fabs(gram[i * n + k]) > fabs(gram[pivot * n + k])) pivot = i;
    swap_rows(gram, right, n, k, pivot);
    for (size_t i = k + 1; i < n; i++) {
      double share = quotient(gram[i * n + k], gram[k * n + k], floats);
      subtract(gram + i * n + k, share, gram + k * n + k, n - k, floats);
      subtract(right + i, share, right + k, 1, floats);
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; j++) subtract(right + k, gram[k * n + j], right + j, 1, floats);
    right[k] = quotient(right[k], gram[k * n + k], floats);
  }
}

rs_status rs_wave_normal_solve(const rs_wave_fit_in *in, const double *functions, double *solution, rs_err *err) {
  size_t n = 2 * in->waves;
  double *gram = rs_alloc(n * n, sizeof *gram, err);
  rs_status status = RS_OK;
  if (gram == NULL) return RS_MEMORY;
  if (in->solver == RS_SOLVER_NORMAL_F32)
    status = make_in_floats(in, gram, solution, err);
  else
    status = rs_gsl(make_in_doubles(in, functions, gram, solution), "normal equations", err);
  if (in->solver == RS_SOLVER_GRAM_F32) {
    round_to_floats(gram, n * n);
    round_to_floats(solution, n);
  }
  if (status == RS_OK) solve(gram, solution, n, in->solver != RS_SOLVER_NORMAL);
  free(gram);
  return status;
}
