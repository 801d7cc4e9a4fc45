/* Spearman's rank correlation, and how often chance makes one as strong. */
#include "claims.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

enum { PERMUTATIONS = 9999, LEAST_PAIRS = 3 };

/* Ranks from 0; equal numbers share the mean of theirs. `order` (count) is scratch. */
static void rank(const double *values, size_t count, size_t *order, double *ranks) {
  gsl_sort_index(order, values, 1, count);
  for (size_t begin = 0, end; begin < count; begin = end) {
    for (end = begin + 1; end < count && values[order[end]] == values[order[begin]];) end++;
    for (size_t i = begin; i < end; i++) ranks[order[i]] = (double)(begin + end - 1) / 2;
  }
}

/* Ranks of both (count), which the caller frees; NULL where the status is none. */
static rs_status rank_both(const double *y, const double *x, size_t count, double **ranks_y, double **ranks_x,
                           rs_err *err) {
  *ranks_y = *ranks_x = NULL;
  if (count < LEAST_PAIRS)
    return rs_fail(err, RS_INPUT, "a rank correlation needs three rows, and %zu have both numbers", count);
  if (gsl_stats_min(y, 1, count) == gsl_stats_max(y, 1, count) ||
      gsl_stats_min(x, 1, count) == gsl_stats_max(x, 1, count))
    return rs_fail(err, RS_INPUT, "a rank correlation needs numbers that differ, and all are equal");
  size_t *order = rs_alloc(count, sizeof *order, err);
  *ranks_y = rs_alloc(count, sizeof **ranks_y, err);
  *ranks_x = rs_alloc(count, sizeof **ranks_x, err);
  rs_status status = order != NULL && *ranks_y != NULL && *ranks_x != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) {
    rank(y, count, order, *ranks_y);
    rank(x, count, order, *ranks_x);
  }
  free(order);
  return status;
}

/* Of ranks, whose means, differences and products are whole quarters: all sums are exact, and what does not correlate
 * comes to 0. gsl_stats_correlation makes a mean in each step, takes 14 times as long, and comes to -2e-17 there. */
static double correlation(const double *ranks_y, const double *ranks_x, size_t count) {
  double mean = (double)(count - 1) / 2, both = 0, squares_y = 0, squares_x = 0;
  for (size_t i = 0; i < count; i++) {
    double y = ranks_y[i] - mean, x = ranks_x[i] - mean;
    both += y * x;
    squares_y += y * y;
    squares_x += x * x;
  }
  return both / sqrt(squares_y * squares_x);
}

rs_status rs_rank_correlation(const double *y, const double *x, size_t count, double *rho, rs_err *err) {
  double *ranks_y, *ranks_x;
  rs_status status = rank_both(y, x, count, &ranks_y, &ranks_x, err);
  if (status == RS_OK) *rho = correlation(ranks_y, ranks_x, count);
  free(ranks_y);
  free(ranks_x);
  return status;
}

/* Shuffles ranks_y. */
static double share_as_strong(double *ranks_y, const double *ranks_x, size_t count, gsl_rng *draws) {
  const double rounding = 1e-12;
  double strength = fabs(correlation(ranks_y, ranks_x, count));
  size_t as_strong = 1;
  for (size_t i = 0; i < PERMUTATIONS; i++) {
    gsl_ran_shuffle(draws, ranks_y, count, sizeof *ranks_y);
    as_strong += fabs(correlation(ranks_y, ranks_x, count)) >= strength - rounding;
  }
  return (double)as_strong / (PERMUTATIONS + 1);
}

rs_status rs_rank_correlation_p(const double *y, const double *x, size_t count, double *p, rs_err *err) {
  double *ranks_y, *ranks_x;
  rs_status status = rank_both(y, x, count, &ranks_y, &ranks_x, err);
  gsl_rng *draws = status == RS_OK ? gsl_rng_alloc(gsl_rng_mt19937) : NULL; /* its own seed: the same every time */
  if (status == RS_OK && draws == NULL) status = rs_fail(err, RS_MEMORY, "out of memory");
  if (status == RS_OK) *p = share_as_strong(ranks_y, ranks_x, count, draws);
  if (draws != NULL) gsl_rng_free(draws);
  free(ranks_y);
  free(ranks_x);
  return status;
}
