/* Least squares by waves: coefficients of sin(omega_j x) and cos(omega_j x) that make their sum come nearest to a curve
 * given at x = 0 .. count - 1. The functions of a rotary head are nearly dependent (of the 128 of a head with base 1e4
 * over 2048 tokens some 50 add nothing that a double can tell), so what comes out beyond the fitted range is a matter
 * of how the system is solved: hence several solvers, each of which somebody has used. Golub and Van Loan, Matrix
 * Computations, 4th ed., 2013, sections 3.4 (LU), 5.3 (QR, normal equations), 5.5 (SVD), 6.1.4 (ridge).
 *
 * The matrix is held as its transpose, a function a row, so that long vectors lie in memory as they are read; its QR is
 * then the transpose's LQ.
 *
 * The factors are GSL's (2.7), in room of ours: what GSL allocates it loses where it gets but a part. Its SVDs are not
 * for this: SV_decomp reads what it allocates unasked, and so ends the program where there is none; SV_decomp_jacobi
 * errs by 4e-7 of the largest singular value of a head's 128 functions. Its eigenvalues err by 1e-14 of it, in four
 * times the time of a Jacobi of our own. */
#include "base/base.h"

#include <complex.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- normal equations with their matrix -------------------------------------------------------------------------- */

/* Normal equations of waves with their matrix, in doubles, in floats, or made in doubles and solved in floats. GSL
 * makes those in doubles. The elimination is ours: GSL has none in floats, and its LU in doubles (2.7) reads room that
 * it does not ask whether it got, which ends the program where memory ends. */

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
static void eliminate(double *gram, double *right, size_t n, bool floats) {
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

static rs_status solve_normal(const rs_wave_fit_in *in, const double *functions, double *solution, rs_err *err) {
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
  if (status == RS_OK) eliminate(gram, solution, n, in->solver != RS_SOLVER_NORMAL);
  free(gram);
  return status;
}

/* ---- normal equations without their matrix ----------------------------------------------------------------------- */

/* Normal equations of waves without their matrix. Sums over x = 0 .. n - 1 of products of two waves are sums of single
 * ones, and those have a closed form (Dirichlet's kernel):
 *
 *   sum e^(i d x) = e^(i d (n - 1) / 2) sin(n d / 2) / sin(d / 2)
 *
 * so that a fit of F functions to n points takes n F + F^3 steps in place of n F^2. The system's condition is the
 * square of the functions' own: a ridge must hold it (wave_fit.c's QR does without). GSL has no such sums. */

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

static rs_status solve_sums(const rs_wave_fit_in *in, double *solution, rs_err *err) {
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

/* What the solvers work on; functions: sines first, then cosines, as the code of Position Interpolation has them. */
typedef struct problem {
  const rs_wave_fit_in *in;
  size_t functions, rows; /* rows: points, then those of the ridge */
  double *transpose;      /* (functions, rows) */
  double *wanted;         /* (rows,) */
  double *solution;       /* (functions,) */
} problem;

/* ---- the system -------------------------------------------------------------------------------------------------- */

const char *const rs_solver_words[RS_SOLVERS + 1] = {
    [RS_SOLVER_QR] = "qr",
    [RS_SOLVER_SVD] = "svd",
    [RS_SOLVER_NORMAL] = "normal",
    [RS_SOLVER_NORMAL_F32] = "normal_f32",
    [RS_SOLVER_GRAM_F32] = "gram_f32",
    [RS_SOLVER_SUMS] = "sums",
};

static bool orthogonal(rs_solver solver) {
  return solver == RS_SOLVER_QR || solver == RS_SOLVER_SVD;
}

/* Whether a ridge is written as rows sqrt(ridge) I below the matrix, with zeros wanted. */
static bool ridge_as_rows(const rs_wave_fit_in *in) {
  return in->solver == RS_SOLVER_QR && in->ridge > 0;
}

static void fill(problem *p) {
  const rs_wave_fit_in *in = p->in;
  memcpy(p->wanted, in->wanted, in->count * sizeof *p->wanted);
  for (size_t j = 0; j < in->waves; j++)
    for (size_t x = 0; x < in->count; x++)
      rs_cos_sin((double)x, in->omega[j], p->transpose + (in->waves + j) * p->rows + x, p->transpose + j * p->rows + x);
  for (size_t f = 0; f < p->functions && ridge_as_rows(in); f++)
    p->transpose[f * p->rows + in->count + f] = sqrt(in->ridge);
}

static rs_status problem_init(problem *p, const rs_wave_fit_in *in, rs_err *err) {
  *p = (problem){.in = in, .functions = 2 * in->waves, .rows = in->count};
  if (ridge_as_rows(in)) p->rows += p->functions;
  /* Zeros below: nothing wanted of nothing. */
  if (orthogonal(in->solver) && p->rows < p->functions) p->rows = p->functions;
  p->solution = rs_alloc(p->functions, sizeof *p->solution, err);
  if (p->solution == NULL) return RS_MEMORY;
  if (in->solver == RS_SOLVER_SUMS || in->solver == RS_SOLVER_NORMAL_F32) return RS_OK; /* makes its own */
  p->transpose = rs_alloc(p->functions * p->rows, sizeof *p->transpose, err);
  p->wanted = rs_alloc(p->rows, sizeof *p->wanted, err);
  if (p->transpose == NULL || p->wanted == NULL) return RS_MEMORY;
  fill(p);
  return RS_OK;
}

static void problem_clear(problem *p) {
  free(p->transpose);
  free(p->wanted);
  free(p->solution);
}

/* ---- QR, and the SVD of its triangle ----------------------------------------------------------------------------- */

/* L^T solution = the top of Q wanted. */
static int solve_triangle(problem *p, const gsl_matrix *l) {
  gsl_vector_view solution = gsl_vector_view_array(p->solution, p->functions);
  memcpy(p->solution, p->wanted, p->functions * sizeof *p->solution);
  return gsl_blas_dtrsv(CblasLower, CblasTrans, CblasNonUnit, l, &solution.vector);
}

/* f of the matrix (0 L^T; L 0) takes (b, 0) to (.., U f(S) V^T b), where L = U S V^T, for any odd f; here f is
 * s / (s^2 + ridge) where |s| is above rcond of the largest, else 0. */
static void apply(const problem *p, const double *values, const gsl_matrix *vectors, rs_wave_fit *fit) {
  size_t n = p->functions;
  fit->rank = 0;
  fit->condition = values[0] / fabs(values[n - 1]);
  for (size_t k = 0; k < 2 * n; k++) {
    double s = values[k], share = 0;
    if (fabs(s) <= p->in->rcond * values[0]) continue;
    for (size_t i = 0; i < n; i++) share += gsl_matrix_get(vectors, i, k) * p->wanted[i];
    share *= s / (s * s + p->in->ridge);
    for (size_t i = 0; i < n; i++) p->solution[i] += share * gsl_matrix_get(vectors, n + i, k);
    fit->rank += s > 0;
  }
}

/* The eigenvalues of (0 L^T; L 0) are the singular values and their negatives (Golub and Van Loan, section 8.6.1). */
static rs_status solve_svd(problem *p, const gsl_matrix *l, rs_wave_fit *fit, rs_err *err) {
  size_t n = p->functions, side = 2 * n;
  double *room = rs_alloc(side * (2 * side + 5), sizeof *room, err);
  if (room == NULL) return RS_MEMORY;
  double *values = room + 2 * side * side, *work = values + side;
  gsl_matrix_view both = gsl_matrix_view_array(room, side, side);
  gsl_matrix_view vectors = gsl_matrix_view_array(room + side * side, side, side);
  gsl_vector_view sizes = gsl_vector_view_array(values, side);
  gsl_eigen_symmv_workspace space = {side, work, work + side, work + 2 * side, work + 3 * side};
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) gsl_matrix_set(&both.matrix, n + i, j, gsl_matrix_get(l, i, j));
  int failed = gsl_eigen_symmv(&both.matrix, &sizes.vector, &vectors.matrix, &space);
  if (!failed) failed = gsl_eigen_symmv_sort(&sizes.vector, &vectors.matrix, GSL_EIGEN_SORT_VAL_DESC);
  if (!failed) apply(p, values, &vectors.matrix, fit);
  free(room);
  return rs_gsl(failed, "singular values", err);
}

static rs_status solve_orthogonal(problem *p, rs_wave_fit *fit, rs_err *err) {
  size_t n = p->functions;
  double *scales = rs_alloc(n, sizeof *scales, err);
  if (scales == NULL) return RS_MEMORY;
  gsl_matrix_view lq = gsl_matrix_view_array(p->transpose, n, p->rows);
  gsl_matrix_view l = gsl_matrix_submatrix(&lq.matrix, 0, 0, n, n);
  gsl_vector_view tau = gsl_vector_view_array(scales, n), wanted = gsl_vector_view_array(p->wanted, p->rows);
  int failed = gsl_linalg_LQ_decomp(&lq.matrix, &tau.vector);
  if (!failed) failed = gsl_linalg_LQ_vecQT(&lq.matrix, &tau.vector, &wanted.vector);
  free(scales);
  if (!failed && p->in->solver == RS_SOLVER_SVD) return solve_svd(p, &l.matrix, fit, err);
  return rs_gsl(failed ? failed : solve_triangle(p, &l.matrix), "QR", err);
}

/* ---- the fit ----------------------------------------------------------------------------------------------------- */

static rs_status write_fit(const problem *p, rs_wave_fit *fit, rs_err *err) {
  for (size_t j = 0; j < p->in->waves; j++) {
    fit->sine[j] = p->solution[j];
    fit->cosine[j] = p->solution[p->in->waves + j];
    if (!isfinite(fit->sine[j]) || !isfinite(fit->cosine[j]))
      return rs_fail(err, RS_DOMAIN, "the fit has no unique solution: take a ridge above 0 (or solver: svd)");
  }
  return RS_OK;
}

static rs_status solve(problem *p, rs_wave_fit *fit, rs_err *err) {
  if (orthogonal(p->in->solver)) return solve_orthogonal(p, fit, err);
  if (p->in->solver == RS_SOLVER_SUMS) return solve_sums(p->in, p->solution, err);
  return solve_normal(p->in, p->transpose, p->solution, err);
}

rs_status rs_wave_fit_create(const rs_wave_fit_in *in, rs_wave_fit *fit, rs_err *err) {
  problem p;
  bool alone = in->solver == RS_SOLVER_SVD || in->ridge > 0;
  *fit = (rs_wave_fit){.waves = in->waves, .rank = 2 * in->waves, .condition = NAN};
  if (in->count < 2 * in->waves && !alone)
    return rs_fail(err, RS_DOMAIN, "%zu points do not determine %zu functions: take a ridge above 0 (or solver: svd)",
                   in->count, 2 * in->waves);
  rs_status status = problem_init(&p, in, err);
  fit->cosine = rs_alloc(in->waves, sizeof *fit->cosine, err);
  fit->sine = rs_alloc(in->waves, sizeof *fit->sine, err);
  if (fit->cosine == NULL || fit->sine == NULL) status = RS_MEMORY;
  if (status == RS_OK) status = solve(&p, fit, err);
  if (status == RS_OK) status = write_fit(&p, fit, err);
  problem_clear(&p);
  if (status != RS_OK) rs_wave_fit_clear(fit);
  return status;
}

rs_solver rs_wave_fit_solver(size_t count, size_t waves, double ridge) {
  return (double)(count * waves) <= 1e7 * ridge ? RS_SOLVER_SUMS : RS_SOLVER_QR;
}

void rs_wave_fit_clear(rs_wave_fit *fit) {
  free(fit->cosine);
  free(fit->sine);
  *fit = (rs_wave_fit){0};
}
