/* Least squares by waves: coefficients of sin(omega_j x) and cos(omega_j x) that make their sum come nearest to a curve
 * given at x = 0 .. count - 1. The functions of a rotary head are nearly dependent (of the 128 of a head with base 1e4
 * over 2048 tokens some 50 add nothing that a double can tell), so what comes out beyond the fitted range without a
 * ridge is rounding. Golub and Van Loan, Matrix Computations, 4th ed., 2013, sections 5.3 (QR, normal equations), 6.1.4
 * (ridge). What GSL (2.7) allocates for its factors it loses where it gets but a part: they have room of ours. */
#include "base/base.h"

#include <complex.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- QR ---------------------------------------------------------------------------------------------------------- */

/* transpose (functions, rows): a function a row, sines first, so that long vectors lie in memory as they are read. The
 * ridge is rows sqrt(ridge) I below the points, of which nothing is wanted. */
static void fill_system(const rs_wave_fit_in *in, size_t rows, double *transpose, double *wanted) {
  memcpy(wanted, in->wanted, in->count * sizeof *wanted);
  for (size_t j = 0; j < in->waves; j++)
    for (size_t x = 0; x < in->count; x++)
      rs_cos_sin((double)x, in->omega[j], transpose + (in->waves + j) * rows + x, transpose + j * rows + x);
  for (size_t f = 0; f < 2 * in->waves && in->ridge > 0; f++) transpose[f * rows + in->count + f] = sqrt(in->ridge);
}

/* The QR of the matrix is its transpose's LQ: L^T solution = the top of Q wanted. */
static rs_status solve_qr(const rs_wave_fit_in *in, double *solution, rs_err *err) {
  size_t n = 2 * in->waves, rows = in->count + (in->ridge > 0 ? n : 0);
  RS_FREED double *transpose = rs_alloc((n + 1) * rows + n, sizeof *transpose, err);
  if (transpose == NULL) return RS_MEMORY;
  double *wanted = transpose + n * rows, *scales = wanted + rows;
  gsl_matrix_view lq = gsl_matrix_view_array(transpose, n, rows);
  gsl_matrix_view l = gsl_matrix_submatrix(&lq.matrix, 0, 0, n, n);
  gsl_vector_view tau = gsl_vector_view_array(scales, n), right = gsl_vector_view_array(wanted, rows);
  gsl_vector_view out = gsl_vector_view_array(solution, n);
  fill_system(in, rows, transpose, wanted);
  int failed = gsl_linalg_LQ_decomp(&lq.matrix, &tau.vector);
  if (!failed) failed = gsl_linalg_LQ_vecQT(&lq.matrix, &tau.vector, &right.vector);
  memcpy(solution, wanted, n * sizeof *solution);
  if (!failed) failed = gsl_blas_dtrsv(CblasLower, CblasTrans, CblasNonUnit, &l.matrix, &out.vector);
  return rs_gsl(failed, "QR", err);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* The sum of e^(i d x) over x = 0 .. count - 1 (Dirichlet's kernel). A turn more or less is none at whole x. */
static double complex sum_of(double d, double count) {
  d = remainder(d, 2 * M_PI);
  if (d == 0) return count;
  return cexp(I * d * (count - 1) / 2) * sin(count * d / 2) / sin(d / 2);
}

/* Sums of products of two waves are sums of single ones. Sines first, then cosines. Lower triangle. */
static void fill_gram(const rs_wave_fit_in *in, double *gram) {
  size_t n = in->waves, side = 2 * n;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      double complex apart = sum_of(in->omega[i] - in->omega[j], (double)in->count);
      double complex together = sum_of(in->omega[i] + in->omega[j], (double)in->count);
      gram[i * side + j] = creal(apart - together) / 2;                /* sin_i sin_j */
      gram[(n + i) * side + n + j] = creal(apart + together) / 2;      /* cos_i cos_j */
      gram[(n + i) * side + j] = (cimag(together) - cimag(apart)) / 2; /* cos_i sin_j */
    }
  for (size_t f = 0; f < side; f++) gram[f * side + f] += in->ridge;
}

static void fill_right(const rs_wave_fit_in *in, double *right) {
  for (size_t j = 0; j < in->waves; j++) {
    rs_sum sines = {0}, cosines = {0};
    for (size_t x = 0; x < in->count; x++) {
      double cosine, sine;
      rs_cos_sin((double)x, in->omega[j], &cosine, &sine);
      rs_sum_add(&sines, in->wanted[x] * sine);
      rs_sum_add(&cosines, in->wanted[x] * cosine);
    }
    right[j] = rs_sum_total(&sines);
    right[in->waves + j] = rs_sum_total(&cosines);
  }
}

/* Normal equations without their matrix: F functions of n points take n F + F^3 steps in place of n F^2. The system's
 * condition is the square of the functions' own: a ridge must hold it. */
static rs_status solve_sums(const rs_wave_fit_in *in, double *solution, rs_err *err) {
  size_t side = 2 * in->waves;
  RS_FREED double *gram = rs_alloc(side * side, sizeof *gram, err);
  if (gram == NULL) return RS_MEMORY;
  gsl_matrix_view matrix = gsl_matrix_view_array(gram, side, side);
  gsl_vector_view right = gsl_vector_view_array(solution, side);
  fill_gram(in, gram);
  fill_right(in, solution);
  int failed = gsl_linalg_cholesky_decomp1(&matrix.matrix);
  if (!failed) failed = gsl_linalg_cholesky_svx(&matrix.matrix, &right.vector);
  if (failed == GSL_EDOM) solution[0] = NAN; /* not positive definite: singular */
  return failed == GSL_EDOM ? RS_OK : rs_gsl(failed, "Cholesky", err);
}

/* ---- the fit ----------------------------------------------------------------------------------------------------- */

rs_status rs_wave_fit_create(const rs_wave_fit_in *in, rs_wave_fit *fit, rs_err *err) {
  size_t functions = 2 * in->waves;
  *fit = (rs_wave_fit){.waves = in->waves};
  if (in->count < functions && in->ridge == 0)
    return rs_fail(err, RS_DOMAIN, "%zu points do not determine %zu functions: take a ridge above 0", in->count,
                   functions);
  double *solution = fit->sine = rs_alloc(functions, sizeof *solution, err);
  if (solution == NULL) return RS_MEMORY;
  fit->cosine = solution + in->waves;
  rs_status status = (in->solver == RS_SOLVER_SUMS ? solve_sums : solve_qr)(in, solution, err);
  for (size_t f = 0; f < functions && status == RS_OK; f++)
    if (!isfinite(solution[f]))
      status = rs_fail(err, RS_DOMAIN, "the fit has no unique solution: take a ridge above 0");
  if (status != RS_OK) rs_wave_fit_clear(fit);
  return status;
}

rs_solver rs_wave_fit_solver(size_t count, size_t waves, double ridge) {
  return (double)(count * waves) <= 1e7 * ridge ? RS_SOLVER_SUMS : RS_SOLVER_QR;
}

void rs_wave_fit_clear(rs_wave_fit *fit) {
  free(fit->sine);
  *fit = (rs_wave_fit){0};
}
