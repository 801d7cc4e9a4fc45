/* Least squares by waves: coefficients of sin(omega_j x) and cos(omega_j x) that make their sum come nearest to a curve
 * given at x = 0 .. count - 1. The functions of a rotary head are nearly dependent (of the 128 of a head with base 1e4
 * over 2048 tokens some 50 add nothing that a double can tell), so what comes out beyond the fitted range is a matter
 * of how the system is solved: hence several solvers, each of which somebody has used. Golub and Van Loan, Matrix
 * Computations, 4th ed., 2013, sections 3.4 (LU), 5.3 (QR, normal equations), 5.5 (SVD), 6.1.4 (ridge).
 *
 * The matrix is held as its transpose, a function a row, so that long vectors lie in memory as they are read; its QR is
 * then the transpose's LQ. */
#include "wave_sums.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>

/* What the solvers work on; functions: sines first, then cosines, as the code of Position Interpolation has them. */
typedef struct problem {
  const rs_wave_fit_in *in;
  size_t functions, rows; /* rows: points, then those of the ridge */
  gsl_matrix *transpose;  /* (functions, rows) */
  gsl_vector *wanted;     /* (rows,) */
  gsl_vector *solution;   /* (functions,) */
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

/* Whether a ridge is written as rows sqrt(ridge) I below the matrix, with zeros wanted. */
static bool ridge_as_rows(const rs_wave_fit_in *in) {
  return in->solver == RS_SOLVER_QR && in->ridge > 0;
}

static void fill(problem *p) {
  const rs_wave_fit_in *in = p->in;
  gsl_matrix_set_zero(p->transpose);
  gsl_vector_set_zero(p->wanted);
  for (size_t x = 0; x < in->count; x++) gsl_vector_set(p->wanted, x, in->wanted[x]);
  for (size_t j = 0; j < in->waves; j++)
    for (size_t x = 0; x < in->count; x++)
      rs_cos_sin((double)x, in->omega[j], gsl_matrix_ptr(p->transpose, in->waves + j, x),
                 gsl_matrix_ptr(p->transpose, j, x));
  for (size_t f = 0; f < p->functions && ridge_as_rows(in); f++)
    gsl_matrix_set(p->transpose, f, in->count + f, sqrt(in->ridge));
}

static rs_status problem_init(problem *p, const rs_wave_fit_in *in, rs_err *err) {
  *p = (problem){.in = in, .functions = 2 * in->waves, .rows = in->count};
  if (ridge_as_rows(in)) p->rows += p->functions;
  if (p->rows < p->functions) p->rows = p->functions; /* zeros below: nothing wanted of nothing */
  if (in->solver == RS_SOLVER_SUMS) p->rows = 1;      /* needs no matrix */
  p->transpose = gsl_matrix_alloc(p->functions, p->rows);
  p->wanted = gsl_vector_alloc(p->rows);
  p->solution = gsl_vector_alloc(p->functions);
  if (p->transpose == NULL || p->wanted == NULL || p->solution == NULL)
    return rs_fail(err, RS_MEMORY, "out of memory: a fit of %zu functions to %zu points", p->functions, in->count);
  if (in->solver != RS_SOLVER_SUMS) fill(p);
  return RS_OK;
}

static void problem_clear(problem *p) {
  gsl_matrix_free(p->transpose);
  gsl_vector_free(p->wanted);
  gsl_vector_free(p->solution);
}

/* ---- QR, and the SVD of its triangle ----------------------------------------------------------------------------- */

/* Leaves L in the lower triangle of `transpose` and Q wanted in `wanted`. */
static int reduce(problem *p, gsl_vector *tau) {
  int failed = gsl_linalg_LQ_decomp(p->transpose, tau);
  return failed ? failed : gsl_linalg_LQ_vecQT(p->transpose, tau, p->wanted);
}

static gsl_matrix_view triangle(problem *p) {
  return gsl_matrix_submatrix(p->transpose, 0, 0, p->functions, p->functions);
}

static int solve_triangle(problem *p) {
  gsl_matrix_view l = triangle(p);
  gsl_vector_view top = gsl_vector_subvector(p->wanted, 0, p->functions);
  gsl_vector_memcpy(p->solution, &top.vector);
  return gsl_blas_dtrsv(CblasLower, CblasTrans, CblasNonUnit, &l.matrix, p->solution);
}

/* L = U S V^T, so that R = V S U^T and the solution is U f(S) V^T of Q wanted, with f = s / (s^2 + ridge) where s is
 * above rcond of the largest, else 0. `v` gets V, `values` S. */
static int solve_svd(problem *p, gsl_matrix *v, gsl_vector *values, gsl_vector *work, rs_wave_fit *fit) {
  gsl_matrix_view u = triangle(p);
  gsl_vector_view top = gsl_vector_subvector(p->wanted, 0, p->functions);
  for (size_t i = 0; i < p->functions; i++)
    for (size_t j = i + 1; j < p->functions; j++) gsl_matrix_set(&u.matrix, i, j, 0);
  int failed = gsl_linalg_SV_decomp(&u.matrix, v, values, work);
  if (failed) return failed;
  double largest = gsl_vector_get(values, 0);
  gsl_blas_dgemv(CblasTrans, 1, v, &top.vector, 0, work);
  fit->rank = 0;
  fit->condition = largest / gsl_vector_get(values, p->functions - 1);
  for (size_t i = 0; i < p->functions; i++) {
    double s = gsl_vector_get(values, i);
    bool kept = s > p->in->rcond * largest;
    fit->rank += kept;
    gsl_vector_set(work, i, kept ? gsl_vector_get(work, i) * s / (s * s + p->in->ridge) : 0);
  }
  return gsl_blas_dgemv(CblasNoTrans, 1, &u.matrix, work, 0, p->solution);
}

static rs_status solve_orthogonal(problem *p, rs_wave_fit *fit, rs_err *err) {
  size_t n = p->functions;
  gsl_vector *tau = gsl_vector_alloc(n), *values = gsl_vector_alloc(n), *work = gsl_vector_alloc(n);
  gsl_matrix *v = gsl_matrix_alloc(n, n);
  rs_status status = RS_OK;
  if (tau == NULL || values == NULL || work == NULL || v == NULL)
    status = rs_fail(err, RS_MEMORY, "out of memory: a fit of %zu functions", n);
  else if (reduce(p, tau) || (p->in->solver == RS_SOLVER_QR ? solve_triangle(p) : solve_svd(p, v, values, work, fit)))
    status = rs_fail(err, RS_INTERNAL, "factors of a %zu x %zu matrix failed", p->rows, n);
  gsl_matrix_free(v);
  gsl_vector_free(work);
  gsl_vector_free(values);
  gsl_vector_free(tau);
  return status;
}

/* ---- normal equations in doubles --------------------------------------------------------------------------------- */

/* gram = A^T A + ridge I, whole; right = A^T wanted. */
static void normal_equations(const problem *p, gsl_matrix *gram, gsl_vector *right) {
  gsl_blas_dsyrk(CblasLower, CblasNoTrans, 1, p->transpose, 0, gram);
  for (size_t i = 0; i < p->functions; i++) {
    for (size_t j = 0; j < i; j++) gsl_matrix_set(gram, j, i, gsl_matrix_get(gram, i, j));
    *gsl_matrix_ptr(gram, i, i) += p->in->ridge;
  }
  gsl_blas_dgemv(CblasNoTrans, 1, p->transpose, p->wanted, 0, right);
}

/* ---- and in floats ----------------------------------------------------------------------------------------------- */

/* One sum of products in floats, in eight running sums as vector code has them (a single one errs ten times more). */
static float product_f32(const float *a, const float *b, size_t count) {
  enum { LANES = 8 };
  float lane[LANES] = {0}, sum = 0;
  for (size_t x = 0; x < count; x++) lane[x % LANES] += a[x] * b[x];
  for (size_t i = 0; i < LANES; i++) sum += lane[i];
  return sum;
}

/* The same system with every number a float from the angle on. */
static rs_status normal_equations_f32(const problem *p, float *gram, float *right, rs_err *err) {
  size_t n = p->functions, count = p->in->count, waves = p->in->waves;
  float *rows = rs_alloc((n + 1) * count, sizeof *rows, err);
  if (rows == NULL) return RS_MEMORY;
  float *wanted = rows + n * count;
  for (size_t x = 0; x < count; x++) {
    wanted[x] = (float)p->in->wanted[x];
    for (size_t j = 0; j < waves; j++) {
      float angle = (float)x * (float)p->in->omega[j];
      rows[j * count + x] = (float)sin((double)angle);
      rows[(waves + j) * count + x] = (float)cos((double)angle);
    }
  }
  for (size_t i = 0; i < n; i++) {
    right[i] = product_f32(rows + i * count, wanted, count);
    for (size_t j = 0; j <= i; j++)
      gram[i * n + j] = gram[j * n + i] = product_f32(rows + i * count, rows + j * count, count);
    gram[i * n + i] += (float)p->in->ridge;
  }
  free(rows);
  return RS_OK;
}

static void swap_rows(float *gram, float *right, size_t n, size_t a, size_t b) {
  for (size_t k = 0; k < n && a != b; k++) {
    float kept = gram[a * n + k];
    gram[a * n + k] = gram[b * n + k];
    gram[b * n + k] = kept;
  }
  float kept = right[a];
  right[a] = right[b];
  right[b] = kept;
}

/* Gaussian elimination with partial pivoting in floats, `right` becoming the solution: GSL has none, and LAPACKs differ
 * in rounding, which is all that decides here. Infinite or NaN where the matrix is singular. */
static void solve_f32(float *gram, float *right, size_t n) {
  for (size_t k = 0; k < n; k++) {
    size_t pivot = k;
    for (size_t i = k + 1; i < n; i++)
      if (fabsf(gram[i * n + k]) > fabsf(gram[pivot * n + k])) pivot = i;
    swap_rows(gram, right, n, k, pivot);
    for (size_t i = k + 1; i < n; i++) {
      float share = gram[i * n + k] / gram[k * n + k];
      for (size_t j = k; j < n; j++) gram[i * n + j] -= share * gram[k * n + j];
      right[i] -= share * right[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; j++) right[k] -= gram[k * n + j] * right[j];
    right[k] /= gram[k * n + k];
  }
}

static void round_all(const gsl_matrix *gram, const gsl_vector *right, float *gram_f32, float *right_f32) {
  size_t n = gram->size1;
  for (size_t i = 0; i < n; i++) {
    right_f32[i] = (float)gsl_vector_get(right, i);
    for (size_t j = 0; j < n; j++) gram_f32[i * n + j] = (float)gsl_matrix_get(gram, i, j);
  }
}

static rs_status solve_in_f32(problem *p, const gsl_matrix *gram, const gsl_vector *right, rs_err *err) {
  size_t n = p->functions;
  float *gram_f32 = rs_alloc(n * (n + 1), sizeof *gram_f32, err);
  rs_status status = RS_OK;
  if (gram_f32 == NULL) return RS_MEMORY;
  float *right_f32 = gram_f32 + n * n;
  if (p->in->solver == RS_SOLVER_GRAM_F32)
    round_all(gram, right, gram_f32, right_f32);
  else
    status = normal_equations_f32(p, gram_f32, right_f32, err);
  if (status == RS_OK) solve_f32(gram_f32, right_f32, n);
  for (size_t i = 0; i < n; i++) gsl_vector_set(p->solution, i, (double)right_f32[i]);
  free(gram_f32);
  return status;
}

static rs_status solve_normal(problem *p, rs_err *err) {
  size_t n = p->functions;
  int sign;
  gsl_matrix *gram = gsl_matrix_alloc(n, n);
  gsl_vector *right = gsl_vector_alloc(n);
  gsl_permutation *order = gsl_permutation_alloc(n);
  rs_status status = RS_OK;
  if (gram == NULL || right == NULL || order == NULL)
    status = rs_fail(err, RS_MEMORY, "out of memory: normal equations of %zu functions", n);
  if (status == RS_OK) normal_equations(p, gram, right);
  if (status == RS_OK && p->in->solver != RS_SOLVER_NORMAL)
    status = solve_in_f32(p, gram, right, err);
  else if (status == RS_OK &&
           (gsl_linalg_LU_decomp(gram, order, &sign) || gsl_linalg_LU_solve(gram, order, right, p->solution)))
    gsl_vector_set_all(p->solution, NAN); /* singular */
  gsl_permutation_free(order);
  gsl_vector_free(right);
  gsl_matrix_free(gram);
  return status;
}

/* ---- the fit ----------------------------------------------------------------------------------------------------- */

static rs_status write_fit(const problem *p, rs_wave_fit *fit, rs_err *err) {
  for (size_t j = 0; j < p->in->waves; j++) {
    fit->sine[j] = gsl_vector_get(p->solution, j);
    fit->cosine[j] = gsl_vector_get(p->solution, p->in->waves + j);
    if (!isfinite(fit->sine[j]) || !isfinite(fit->cosine[j]))
      return rs_fail(err, RS_DOMAIN, "the fit has no unique solution: take a ridge above 0 (or solver: svd)");
  }
  return RS_OK;
}

static rs_status solve(problem *p, rs_wave_fit *fit, rs_err *err) {
  switch (p->in->solver) {
  case RS_SOLVER_QR:
  case RS_SOLVER_SVD: return solve_orthogonal(p, fit, err);
  case RS_SOLVER_SUMS: return rs_wave_sums_solve(p->in, p->solution, err);
  default: return solve_normal(p, err);
  }
}

rs_status rs_wave_fit_create(const rs_wave_fit_in *in, rs_wave_fit *fit, rs_err *err) {
  problem p;
  bool alone = in->solver == RS_SOLVER_SVD || in->ridge > 0;
  *fit = (rs_wave_fit){.waves = in->waves, .rank = 2 * in->waves, .condition = NAN};
  if (in->count < 2 * in->waves && !alone)
    return rs_fail(err, RS_DOMAIN, "%zu points do not determine %zu functions: take a ridge above 0 (or solver: svd)",
                   in->count, 2 * in->waves);
  rs_gsl_errors_begin();
  rs_status status = problem_init(&p, in, err);
  fit->cosine = rs_alloc(in->waves, sizeof *fit->cosine, err);
  fit->sine = rs_alloc(in->waves, sizeof *fit->sine, err);
  if (fit->cosine == NULL || fit->sine == NULL) status = RS_MEMORY;
  if (status == RS_OK) status = solve(&p, fit, err);
  if (status == RS_OK) status = write_fit(&p, fit, err);
  problem_clear(&p);
  rs_gsl_errors_end();
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
