/* Least squares by waves: coefficients of sin(omega_j x) and cos(omega_j x) that make their sum come nearest to a curve
 * given at x = 0 .. count - 1. The functions of a rotary head are nearly dependent (of the 128 of a head with base 1e4
 * over 2048 tokens some 50 add nothing that a double can tell), so what comes out beyond the fitted range is a matter
 * of how the system is solved: hence several solvers, each of which somebody has used. Golub and Van Loan, Matrix
 * Computations, 4th ed., 2013, sections 3.4 (LU), 5.3 (QR, normal equations), 5.5 (SVD), 6.1.4 (ridge).
 *
 * The matrix is held as its transpose, a function a row, so that long vectors lie in memory as they are read; its QR is
 * then the transpose's LQ. */
#include "factors.h"
#include "wave_solvers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static void solve_triangle(problem *p) {
  memcpy(p->solution, p->wanted, p->functions * sizeof *p->solution);
  for (size_t i = p->functions; i-- > 0;) {
    const double *row = p->transpose + i * p->rows;
    p->solution[i] /= row[i];
    for (size_t j = 0; j < i; j++) p->solution[j] -= row[j] * p->solution[i];
  }
}

/* Singular values are norms of `rows`. */
static void read_condition(const problem *p, const double *rows, rs_wave_fit *fit, double *largest) {
  double least = INFINITY;
  *largest = 0;
  for (size_t i = 0; i < p->functions; i++) {
    double s = sqrt(rs_dot(rows + i * p->functions, rows + i * p->functions, p->functions));
    *largest = fmax(*largest, s);
    least = fmin(least, s);
  }
  fit->condition = *largest / least;
}

/* L = U S V^T, so that the solution is U f(S) V^T of Q wanted, with f = s / (s^2 + ridge) where s is above rcond of the
 * largest, else 0. Rows of L that are turned until they are orthogonal are those of S V^T, and what turned them is U^T.
 */
static rs_status solve_svd(problem *p, rs_wave_fit *fit, rs_err *err) {
  size_t n = p->functions;
  double *rows = rs_alloc(2 * n * n, sizeof *rows, err), largest;
  if (rows == NULL) return RS_MEMORY;
  double *turned = rows + n * n;
  for (size_t i = 0; i < n; i++) memcpy(rows + i * n, p->transpose + i * p->rows, (i + 1) * sizeof *rows);
  rs_orthogonal_rows(rows, n, turned);
  read_condition(p, rows, fit, &largest);
  fit->rank = 0;
  for (size_t i = 0; i < n; i++) {
    double square = rs_dot(rows + i * n, rows + i * n, n);
    if (!(sqrt(square) > p->in->rcond * largest)) continue;
    double share = rs_dot(rows + i * n, p->wanted, n) / (square + p->in->ridge);
    for (size_t f = 0; f < n; f++) p->solution[f] += share * turned[i * n + f];
    fit->rank++;
  }
  free(rows);
  return RS_OK;
}

static rs_status solve_orthogonal(problem *p, rs_wave_fit *fit, rs_err *err) {
  double *scales = rs_alloc(p->functions, sizeof *scales, err);
  if (scales == NULL) return RS_MEMORY;
  rs_lq(p->transpose, p->functions, p->rows, scales);
  rs_lq_turn(p->transpose, p->functions, p->rows, scales, p->wanted);
  free(scales);
  if (p->in->solver == RS_SOLVER_SVD) return solve_svd(p, fit, err);
  solve_triangle(p);
  return RS_OK;
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
  if (p->in->solver == RS_SOLVER_SUMS) return rs_wave_sums_solve(p->in, p->solution, err);
  return rs_wave_normal_solve(p->in, p->transpose, p->solution, err);
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
