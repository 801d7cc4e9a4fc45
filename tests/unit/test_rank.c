/* test_rank.c: rank correlation beside hand-worked numbers and GSL's, and its p-value beside all permutations there
 * are. */
#include <criterion/criterion.h>
#include <gsl/gsl_permutation.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "../../src/app/claims/claims.h"

static double correlation(const double *y, const double *x, size_t count) {
  double rho;
  cr_assert_eq(rs_rank_correlation(y, x, count, &rho, NULL), RS_OK);
  return rho;
}

static double chance(const double *y, const double *x, size_t count) {
  double p;
  cr_assert_eq(rs_rank_correlation_p(y, x, count, &p, NULL), RS_OK);
  return p;
}

/* Small whole numbers, so that many are equal. */
static void numbers_with_ties(unsigned seed, size_t count, double *out) {
  for (size_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    out[i] = (double)(seed >> 24 & 7) - 3;
  }
}

/* Hours of television a week and IQ, the example of many textbooks: 1 - 6 194 / (10 99). */
static const double hours[] = {7, 0, 27, 50, 28, 29, 20, 12, 6, 17};
static const double iq[] = {106, 86, 100, 101, 99, 103, 97, 113, 112, 110};

Test(rank, correlation__of_known_numbers__is_theirs) {
  static const double rising[] = {-5, 0, 1e-9, 3, 1e6}, falling[] = {9, 4, 3, -2, -100};
  static const double tied_y[] = {1, 1, 2, 3}, tied_x[] = {1, 2, 2, 3};
  cr_expect_float_eq(correlation(hours, iq, 10), -29. / 165, 1e-14);
  cr_expect_float_eq(correlation(rising, rising, 5), 1, 1e-14);
  cr_expect_float_eq(correlation(rising, falling, 5), -1, 1e-14);
  cr_expect_float_eq(correlation(tied_y, tied_x, 4), 3.75 / 4.5, 1e-14); /* ranks .5 .5 2 3 and 0 1.5 1.5 3 */
}

Test(rank, correlation__of_numbers_with_ties__is_that_of_gsl) {
  enum { MOST = 41 };
  double y[MOST], x[MOST], work[2 * MOST];
  for (unsigned seed = 1; seed <= 20; seed++) {
    size_t count = 2 * seed + 1;
    numbers_with_ties(seed, count, y);
    numbers_with_ties(seed + 100, count, x);
    cr_expect_float_eq(correlation(y, x, count), gsl_stats_spearman(y, 1, x, 1, count, work), 1e-13, "seed %u", seed);
  }
}

/* Of all orders of y, the share that correlates as strongly. */
static double exact_chance(const double *y, const double *x, size_t count) {
  double strength = fabs(correlation(y, x, count)), orders = 0, as_strong = 0, moved[8];
  gsl_permutation *order = gsl_permutation_calloc(count);
  do {
    for (size_t i = 0; i < count; i++) moved[i] = y[gsl_permutation_get(order, i)];
    orders++;
    as_strong += fabs(correlation(moved, x, count)) > strength - 1e-9;
  } while (gsl_permutation_next(order) == GSL_SUCCESS);
  gsl_permutation_free(order);
  return as_strong / orders;
}

Test(rank, chance__beside_all_permutations__is_as_large) {
  static const double flat[] = {2, 1, 2, 1, 3, 2}, x[] = {1, 2, 3, 4, 5, 6};
  for (size_t count = 4; count <= 7; count++) {
    double exact = exact_chance(hours, iq, count), p = chance(hours, iq, count);
    cr_expect_float_eq(p, exact, 5 * sqrt(exact * (1 - exact) / 9999) + 1e-4, "%zu: %g, %g", count, p, exact);
  }
  double exact = exact_chance(flat, x, 6), p = chance(flat, x, 6);
  cr_expect_float_eq(p, exact, 5 * sqrt(exact * (1 - exact) / 9999) + 1e-4, "ties: %g, %g", p, exact);
  cr_expect_eq(chance(hours, iq, 10), chance(hours, iq, 10), "the same every time");
}

Test(rank, chance__of_strong_order_either_way__is_the_least_there_is) {
  double up[12], down[12];
  for (size_t i = 0; i < 12; i++) {
    up[i] = (double)i;
    down[i] = -(double)i;
  }
  cr_expect_float_eq(chance(up, up, 12), 1e-4, 1e-15); /* 2 of 12! orders are as strong */
  cr_expect_float_eq(chance(down, up, 12), 1e-4, 1e-15);
}

Test(rank, too_few_or_equal__reason__is_told) {
  static const double two[] = {1, 2}, equal[] = {3, 3, 3}, three[] = {1, 2, 3};
  double value;
  rs_err err = {0};
  cr_expect_eq(rs_rank_correlation(two, two, 2, &value, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "a rank correlation needs three rows, and 2 have both numbers");
  err = (rs_err){0};
  cr_expect_eq(rs_rank_correlation(equal, three, 3, &value, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "a rank correlation needs numbers that differ, and all are equal");
  cr_expect_eq(rs_rank_correlation_p(three, equal, 3, &value, NULL), RS_INPUT);
  cr_expect_eq(rs_rank_correlation(three, three, 3, &value, NULL), RS_OK);
}
