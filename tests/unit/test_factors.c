/* test_factors.c: factors and eigenvalues of small matrices beside GSL's, and laws that any must keep. */
#include <criterion/criterion.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/factors.h"

enum { MOST = 40 };

static void draw(uint64_t seed, double *out, size_t count) {
  rs_gaussian_fill((rs_stream){seed, RS_PURPOSE_CURVE, 0}, 0, count, out);
}

/* a a^T of a Gaussian (side, inner) matrix: rank `inner` where that is less. */
static void draw_symmetric(uint64_t seed, size_t side, size_t inner, double *out) {
  double *a = malloc(side * inner * sizeof *a);
  draw(seed, a, side * inner);
  for (size_t i = 0; i < side; i++)
    for (size_t j = 0; j < side; j++) out[i * side + j] = rs_dot(a + i * inner, a + j * inner, inner);
  free(a);
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

Test(factors, dot__any_count__is_the_sum_of_all_products) {
  double a[MOST], b[MOST];
  for (size_t count = 0; count <= MOST; count++) {
    double sum = 0; /* of whole numbers: exact in any order */
    for (size_t i = 0; i < count; i++) sum += (a[i] = (double)i + 1) * (b[i] = (double)(i * i) - 40);
    cr_assert_eq(rs_dot(a, b, count), sum, "%zu", count);
  }
}

/* ---- LQ ---------------------------------------------------------------------------------------------------------- */

/* A's rows are L's times Q's; Q's are those that turn a vector into Q x. */
static void check_lq(const double *a, size_t rows, size_t columns) {
  double lq[MOST * MOST], q[MOST * MOST], scales[MOST], x[MOST], turned[MOST];
  memcpy(lq, a, rows * columns * sizeof *lq);
  rs_lq(lq, rows, columns, scales);
  for (size_t i = 0; i < rows; i++) rs_lq_row(lq, columns, scales, i, q + i * columns);
  for (size_t i = 0; i < rows; i++)
    for (size_t c = 0; c < columns; c++) {
      double sum = 0;
      for (size_t j = 0; j <= i; j++) sum += lq[i * columns + j] * q[j * columns + c];
      cr_assert_float_eq(sum, a[i * columns + c], 1e-13, "%zu x %zu: %zu, %zu", rows, columns, i, c);
    }
  draw(77, x, columns);
  memcpy(turned, x, columns * sizeof *x);
  rs_lq_turn(lq, rows, columns, scales, turned);
  for (size_t i = 0; i < rows; i++) cr_assert_float_eq(turned[i], rs_dot(q + i * columns, x, columns), 1e-13);
  cr_assert_float_eq(rs_dot(turned, turned, columns), rs_dot(x, x, columns), 1e-12, "a turn keeps lengths");
}

Test(factors, lq__of_any_shape__multiplies_to_the_matrix) {
  double a[MOST * MOST];
  for (size_t rows = 1; rows <= 12; rows++)
    for (size_t columns = rows; columns <= MOST; columns += 7) {
      draw(rows * 100 + columns, a, rows * columns);
      check_lq(a, rows, columns);
    }
}

Test(factors, lq__of_rows_that_are_zero_or_end_early__does_not_divide_by_it) {
  static const double a[] = {0, 0, 0, 0, /**/ 3, 0, 0, 0, /**/ 1, 2, 0, 0, /**/ 0, 0, 0, -5};
  check_lq(a, 4, 4);
}

/* ---- orthogonal rows --------------------------------------------------------------------------------------------- */

/* Singular values by GSL, largest first; of the transpose, as GSL turns columns, and is 10 % off in the least of rows
 * of sizes 1 to 1e-10. */
static void singular_values(const double *a, size_t side, double *values) {
  double work[MOST * MOST], v[MOST * MOST];
  for (size_t i = 0; i < side; i++)
    for (size_t j = 0; j < side; j++) work[j * side + i] = a[i * side + j];
  gsl_matrix_view w = gsl_matrix_view_array(work, side, side), right = gsl_matrix_view_array(v, side, side);
  gsl_vector_view s = gsl_vector_view_array(values, side);
  gsl_linalg_SV_decomp_jacobi(&w.matrix, &right.matrix, &s.vector);
}

static int descending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

static void check_orthogonal_rows(const double *a, size_t side) {
  double rows[MOST * MOST], turned[MOST * MOST], norms[MOST], expected[MOST];
  memcpy(rows, a, side * side * sizeof *rows);
  singular_values(a, side, expected);
  rs_orthogonal_rows(rows, side, turned);
  for (size_t i = 0; i < side; i++) {
    norms[i] = sqrt(rs_dot(rows + i * side, rows + i * side, side));
    for (size_t j = 0; j < i; j++) {
      double both = rs_dot(rows + i * side, rows + j * side, side);
      cr_assert(fabs(both) <= 1e-14 * norms[i] * norms[j], "rows %zu and %zu of %zu: %g", i, j, side, both);
    }
    for (size_t j = 0; j < side; j++) {
      double sum = 0;
      for (size_t k = 0; k < side; k++) sum += turned[i * side + k] * a[k * side + j];
      cr_assert_float_eq(sum, rows[i * side + j], 1e-13 * expected[0], "%zu of %zu", i, side);
      cr_assert_float_eq(rs_dot(turned + i * side, turned + j * side, side), i == j, 1e-13);
    }
  }
  qsort(norms, side, sizeof *norms, descending);
  for (size_t i = 0; i < side; i++)
    cr_assert_float_eq(norms[i], expected[i], 1e-13 * expected[0], "value %zu of %zu: %g, not %g", i, side, norms[i],
                       expected[i]);
}

Test(factors, orthogonal_rows__of_any_matrix__have_its_singular_values) {
  double a[MOST * MOST];
  for (size_t side = 1; side <= 24; side++) {
    draw(side, a, side * side);
    check_orthogonal_rows(a, side);
    for (size_t i = 0; i < side; i++) /* of sizes 1 down to 1e-10 */
      for (size_t j = 0; j < side; j++) a[i * side + j] *= pow(10, -10 * (double)i / (double)side);
    check_orthogonal_rows(a, side);
  }
}

/* A row that is another's double, and one of zeros. */
Test(factors, orthogonal_rows__of_a_singular_matrix__are_orthogonal_and_zero) {
  static const double a[] = {1, 2, 3, /**/ 2, 4, 6, /**/ 0, 0, 0};
  double rows[9], turned[9], squares = 0;
  memcpy(rows, a, sizeof rows);
  rs_orthogonal_rows(rows, 3, turned);
  for (size_t i = 0; i < 9; i++) squares += rows[i] * rows[i];
  cr_assert_float_eq(squares, 5 * 14, 1e-13);
  cr_assert_float_eq(fmax(fabs(rows[0]), fabs(rows[3])), sqrt(5), 1e-15);
  cr_assert_float_eq(fmin(fabs(rows[0]), fabs(rows[3])), 0, 1e-15);
}

/* ---- eigenvalues ------------------------------------------------------------------------------------------------- */

static void gsl_values(const double *a, size_t side, double *values) {
  double work[MOST * MOST];
  memcpy(work, a, side * side * sizeof *a);
  gsl_matrix_view w = gsl_matrix_view_array(work, side, side);
  gsl_vector_view v = gsl_vector_view_array(values, side);
  gsl_eigen_symm_workspace *room = gsl_eigen_symm_alloc(side);
  gsl_eigen_symm(&w.matrix, &v.vector, room);
  gsl_eigen_symm_free(room);
  qsort(values, side, sizeof *values, descending);
}

static void check_eigenvalues(const double *a, size_t side, const double *expected) {
  double work[MOST * MOST], values[MOST], largest = fmax(fabs(expected[0]), fabs(expected[side - 1]));
  memcpy(work, a, side * side * sizeof *a);
  rs_eigenvalues(work, side, values);
  for (size_t i = 0; i < side; i++)
    cr_assert_float_eq(values[i], expected[i], 1e-14 * largest, "%zu of %zu: %.17g, not %.17g", i, side, values[i],
                       expected[i]);
}

Test(factors, eigenvalues__of_random_matrices__are_those_of_gsl) {
  double a[MOST * MOST], expected[MOST];
  for (size_t side = 1; side <= MOST; side++) {
    draw_symmetric(side, side, side % 3 == 0 ? side / 3 : side + 2, a);
    if (side % 2 == 0) /* negative ones too */
      for (size_t i = 0; i < side; i++) a[i * (side + 1)] -= (double)side;
    gsl_values(a, side, expected);
    check_eigenvalues(a, side, expected);
  }
}

/* 2 on the diagonal and -1 beside it: 2 + 2 cos(k pi / (n + 1)). */
Test(factors, eigenvalues__of_second_differences__are_cosines) {
  double a[MOST * MOST] = {0}, expected[MOST];
  for (size_t i = 0; i < MOST; i++) {
    a[i * (MOST + 1)] = 2;
    if (i > 0) a[i * MOST + i - 1] = a[(i - 1) * MOST + i] = -1;
    expected[i] = 2 + 2 * cos((double)(i + 1) * M_PI / (MOST + 1));
  }
  check_eigenvalues(a, MOST, expected);
}

Test(factors, eigenvalues__several_the_same__are_all_there) {
  double ones[36];
  for (size_t i = 0; i < 36; i++) ones[i] = 1;
  check_eigenvalues((const double[]){5, 0, 0, 0, 5, 0, 0, 0, 5}, 3, (const double[]){5, 5, 5});
  check_eigenvalues((const double[]){0, 0, 0, 0}, 2, (const double[]){0, 0});
  check_eigenvalues(ones, 6, (const double[]){6, 0, 0, 0, 0, 0});
  check_eigenvalues((const double[]){1, 0, 0, 0, -3, 0, 0, 0, 2}, 3, (const double[]){2, 1, -3});
  check_eigenvalues((const double[]){-7}, 1, (const double[]){-7});
}

/* ---- bits -------------------------------------------------------------------------------------------------------- */

static uint64_t bits_of(uint64_t sum, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    sum = (sum ^ bits) * 0x100000001b3u;
    sum ^= sum >> 29;
  }
  return sum;
}

/* What all machines must agree on, to the last bit, as first computed on an x86-64: from fractions alone, as whatever
 * is drawn hangs on the C library. */
Test(factors, bits__of_a_matrix_of_fractions__are_the_same_everywhere) {
  enum { SIDE = 20 };
  double a[SIDE * SIDE], work[SIDE * SIDE], turned[SIDE * SIDE], values[SIDE];
  for (size_t i = 0; i < SIDE; i++)
    for (size_t j = 0; j < SIDE; j++) a[i * SIDE + j] = 1 / (double)(1 + i + j) - (i == j ? 3 / (double)(7 + i) : 0);
  memcpy(work, a, sizeof a);
  rs_lq(work, SIDE, SIDE, values);
  uint64_t lq = bits_of(bits_of(0, work, SIDE * SIDE), values, SIDE);
  memcpy(work, a, sizeof a);
  rs_orthogonal_rows(work, SIDE, turned);
  uint64_t orthogonal = bits_of(bits_of(0, work, SIDE * SIDE), turned, SIDE * SIDE);
  memcpy(work, a, sizeof a);
  rs_eigenvalues(work, SIDE, values);
  uint64_t eigenvalues = bits_of(0, values, SIDE);
  cr_expect_eq(lq, 0x0aa29498a8852c7bu, "0x%016lx", (unsigned long)lq);
  cr_expect_eq(orthogonal, 0xcaf093e6107a381fu, "0x%016lx", (unsigned long)orthogonal);
  cr_expect_eq(eigenvalues, 0x955a8af34966be55u, "0x%016lx", (unsigned long)eigenvalues);
}
