/* Normal equations of waves without their matrix. Sums over x = 0 .. n - 1 of products of two waves are sums of single
 * ones, and those have a closed form (Dirichlet's kernel):
 *
 *   sum e^(i d x) = e^(i d (n - 1) / 2) sin(n d / 2) / sin(d / 2)
 *
 * so that a fit of F functions to n points takes n F + F^3 steps in place of n F^2. The system's condition is the
 * square of the functions' own: a ridge must hold it (wave_fit.c's QR does without). GSL has no such sums. */
#include "wave_solvers.h"

#include <complex.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>

/* The sum of e^(i d x) over x = 0 .. count - 1. A turn more or less is none at whole x. */
static double complex sum_of(double d, double count) {
  d = remainder(d, 2 * M_PI);
  if (d == 0) return count;
  return cexp(I * d * (count - 1) / 2) * sin(count * d / 2) / sin(d / 2);
}

/* Sines first, then cosines. Lower triangle. */
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

rs_status rs_wave_sums_solve(const rs_wave_fit_in *in, double *solution, rs_err *err) {
  size_t side = 2 * in->waves;
  double *gram = rs_alloc(side * side, sizeof *gram, err);
  if (gram == NULL) return RS_MEMORY;
  gsl_matrix_view matrix = gsl_matrix_view_array(gram, side, side);
  gsl_vector_view right = gsl_vector_view_array(solution, side);
  fill_gram(in, gram);
  fill_right(in, solution);
  int failed = gsl_linalg_cholesky_decomp1(&matrix.matrix);
  if (!failed) failed = gsl_linalg_cholesky_svx(&matrix.matrix, &right.vector);
  free(gram);
  if (failed == GSL_EDOM) solution[0] = NAN; /* not positive definite: singular */
  return failed == GSL_EDOM ? RS_OK : rs_gsl(failed, "Cholesky", err);
}
