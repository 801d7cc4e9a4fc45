/* test_bootstrap.c: intervals of means beside all resamples there are, beside resamples drawn by GSL's generator, and
 * how often they hold the mean of what they were drawn from. */
#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"

static rs_interval interval_of(const double *values, size_t seeds, size_t blocks) {
  rs_interval interval = {7, 7, 7};
  rs_err err = {0};
  cr_assert_eq(rs_bootstrap_mean(values, seeds, blocks, &interval, &err), RS_OK, "%s", err.message);
  return interval;
}

/* The next of all words of `length` letters 0 .. length - 1; false after the last. */
static bool next_word(size_t *word, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (++word[i] < length) return true;
    word[i] = 0;
  }
  return false;
}

static double mean_of(const double *values, const size_t *rows, size_t seeds, const size_t *columns, size_t blocks) {
  double sum = 0;
  for (size_t s = 0; s < seeds; s++)
    for (size_t b = 0; b < blocks; b++) sum += values[rows[s] * blocks + columns[b]];
  return sum / (double)(seeds * blocks);
}

/* Of all resamples, the shares whose means are less than `level`, and no more than it. */
static void shares_below(const double *values, size_t seeds, size_t blocks, double level, double *less, double *most) {
  size_t rows[4] = {0}, columns[6] = {0};
  double all = 0;
  *less = *most = 0;
  do {
    do {
      double mean = mean_of(values, rows, seeds, columns, blocks);
      all++;
      *less += mean < level - 1e-12;
      *most += mean <= level + 1e-12;
    } while (next_word(columns, blocks));
  } while (next_word(rows, seeds));
  *less /= all;
  *most /= all;
}

/* An end of the interval is a percentile of 2000 resamples: its share errs by 4 sqrt(.025 .975 / 2000) = .014, and as
 * the ends are between two resamples' means by as much as one of them. */
static void ends_are_percentiles(const double *values, size_t seeds, size_t blocks) {
  rs_interval got = interval_of(values, seeds, blocks);
  const double ends[] = {got.low, got.high}, shares[] = {.025, .975};
  for (size_t i = 0; i < 2; i++) {
    double less, most;
    shares_below(values, seeds, blocks, ends[i], &less, &most);
    cr_expect(less <= shares[i] + .015 && most >= shares[i] - .015, "%zu seeds, %zu blocks: %g of all lies in [%g, %g]",
              seeds, blocks, shares[i], less, most);
  }
}

static const double worked[] = {.31,  -.42, 1.7,  .04,  .9,  -1.1, .53, .2,   2.6,
                                -.35, .77,  1.21, -.08, .66, 1.9,  .15, -2.3, .48};

Test(bootstrap, interval__beside_all_resamples__has_their_percentiles) {
  double sum = 0;
  for (size_t seeds = 1; seeds <= 3; seeds++)
    for (size_t blocks = seeds == 1 ? 2 : 1; blocks <= 5; blocks++) ends_are_percentiles(worked, seeds, blocks);
  ends_are_percentiles(worked, 1, 6);
  for (size_t i = 0; i < 18; i++) sum += worked[i];
  cr_expect_float_eq(interval_of(worked, 3, 6).mean, sum / 18, 1e-15);
}

/* ---- simulated blocks -------------------------------------------------------------------------------------------- */

typedef struct spread {
  double seeds, blocks, noise; /* standard deviations of what a seed's values share, a block's do, and each has */
} spread;

static void simulate(gsl_rng *random, const spread *by, size_t seeds, size_t blocks, double *values) {
  double shared[64];
  for (size_t b = 0; b < blocks; b++) shared[b] = gsl_ran_gaussian(random, by->blocks);
  for (size_t s = 0; s < seeds; s++) {
    double of_seed = gsl_ran_gaussian(random, by->seeds);
    for (size_t b = 0; b < blocks; b++)
      values[s * blocks + b] = of_seed + shared[b] + gsl_ran_gaussian(random, by->noise);
  }
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Rows and columns drawn by another generator, or columns anew for each row; the mean of every resample, sorted. */
enum { DRAWN = 20000 };
static rs_interval drawn_interval(gsl_rng *random, const double *values, size_t seeds, size_t blocks, bool nested) {
  static double means[DRAWN];
  size_t columns[64];
  for (size_t r = 0; r < DRAWN; r++) {
    means[r] = 0;
    for (size_t s = 0; s < seeds; s++) {
      size_t row = gsl_rng_uniform_int(random, seeds);
      for (size_t b = 0; b < blocks; b++) {
        if (s == 0 || nested) columns[b] = gsl_rng_uniform_int(random, blocks);
        means[r] += values[row * blocks + columns[b]] / (double)(seeds * blocks);
      }
    }
  }
  qsort(means, DRAWN, sizeof *means, ascending);
  return (rs_interval){NAN, means[DRAWN / 40], means[DRAWN - DRAWN / 40 - 1]};
}

/* Ends err by .015 of the width, as .025 of 2000 resamples is known to 14 %; the other generator's, of 20000, by .005.
 */
Test(bootstrap, interval__beside_resamples_of_another_generator__is_theirs_and_no_nested_one) {
  static const spread spreads[] = {{.1, 1, .2}, {1, .1, .2}, {.2, .2, 1}};
  double values[8 * 40], squares = 0;
  size_t count = 0;
  gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
  for (size_t i = 0; i < RS_COUNT(spreads); i++) {
    for (size_t seeds = 5; seeds <= 8; seeds++) {
      size_t blocks = 5 * seeds;
      simulate(random, &spreads[i], seeds, blocks, values);
      rs_interval got = interval_of(values, seeds, blocks), want = drawn_interval(random, values, seeds, blocks, false);
      double width = want.high - want.low;
      cr_expect_float_eq(got.low, want.low, .08 * width, "%zu: %g for %g", i, got.low, want.low);
      cr_expect_float_eq(got.high, want.high, .08 * width, "%zu: %g for %g", i, got.high, want.high);
      squares += pow((got.low - want.low) / width, 2) + pow((got.high - want.high) / width, 2);
      count += 2;
      rs_interval nested = drawn_interval(random, values, seeds, blocks, true);
      if (i == 0) cr_expect_gt(width, 1.5 * (nested.high - nested.low), "what blocks share does not cancel");
    }
  }
  cr_expect_lt(sqrt(squares / (double)count), .03, "resamples share no draws: %g", sqrt(squares / (double)count));
  gsl_rng_free(random);
}

/* The share of `rounds` intervals that hold the mean, 0, of what values were drawn from. */
static double coverage(gsl_rng *random, const spread *by, size_t seeds, size_t blocks, size_t rounds) {
  double values[10 * 64];
  size_t held = 0;
  for (size_t i = 0; i < rounds; i++) {
    simulate(random, by, seeds, blocks, values);
    rs_interval got = interval_of(values, seeds, blocks);
    held += got.low <= 0 && got.high >= 0;
    cr_assert(got.low <= got.mean && got.mean <= got.high);
  }
  return (double)held / (double)rounds;
}

/* Bounds are four standard errors of a share of 300, around what 4000 rounds came to: percentiles are narrow by
 * sqrt((n - 1) / n) and do not know Student's t, so that five seeds are few. Noise that single values have on their own
 * is taken for more than it is (Owen: up to three times its variance). */
Test(bootstrap, interval__of_simulated_normal_values__holds_their_mean_as_often_as_stated) {
  static const struct {
    spread by;
    size_t seeds, blocks;
    double held;
  } cases[] = {{{0, 0, 1}, 1, 48, .940},
               {{0, 0, 1}, 1, 24, .937},
               {{.2, 1, .2}, 5, 24, .931},
               {{1, .2, .2}, 5, 24, .838},
               {{0, 0, 1}, 5, 24, .997}};
  gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double p = cases[i].held, share = coverage(random, &cases[i].by, cases[i].seeds, cases[i].blocks, 300);
    cr_expect_float_eq(share, p, 4 * sqrt(p * (1 - p) / 300), "%zu: %g for %g", i, share, p);
  }
  gsl_rng_free(random);
}

/* ---- laws -------------------------------------------------------------------------------------------------------- */

Test(bootstrap, interval__of_values_shifted_and_scaled__shifts_and_scales) {
  double moved[18], mirrored[18];
  for (size_t i = 0; i < 18; i++) {
    moved[i] = 3 * worked[i] + 100;
    mirrored[i] = -worked[i];
  }
  rs_interval plain = interval_of(worked, 3, 6), shifted = interval_of(moved, 3, 6),
              flipped = interval_of(mirrored, 3, 6);
  cr_expect_float_eq(shifted.mean, 3 * plain.mean + 100, 1e-12);
  cr_expect_float_eq(shifted.low, 3 * plain.low + 100, 1e-12);
  cr_expect_float_eq(shifted.high, 3 * plain.high + 100, 1e-12);
  cr_expect_float_eq(flipped.low, -plain.high, 1e-12, "the same resamples, seen from the other end");
  cr_expect_float_eq(flipped.high, -plain.low, 1e-12);
  rs_interval again = interval_of(worked, 3, 6);
  cr_expect(again.low == plain.low && again.high == plain.high, "the same every time");
}

Test(bootstrap, interval__of_equal_seeds__is_that_of_their_blocks) {
  double values[3 * 6];
  for (size_t i = 0; i < 18; i++) values[i] = worked[i % 6];
  rs_interval one = interval_of(worked, 1, 6), three = interval_of(values, 3, 6);
  cr_expect_float_eq(three.low, one.low, .1 * (one.high - one.low));
  cr_expect_float_eq(three.high, one.high, .1 * (one.high - one.low));
  rs_interval flat = interval_of((double[]){.3, .3, .3, .3}, 2, 2);
  cr_expect(flat.mean == .3 && flat.low == .3 && flat.high == .3, "no spread: %g, %g, %g", flat.mean, flat.low,
            flat.high);
}

Test(bootstrap, interval__of_what_has_none__is_nan) {
  static const double holes[] = {1, NAN, 2}, endless[] = {1, INFINITY, 2};
  rs_interval got = interval_of((double[]){4.5}, 1, 1);
  cr_expect(got.mean == 4.5 && isnan(got.low) && isnan(got.high));
  cr_expect_not(rs_interval_parts(&got), "what has no interval does not differ from 0");
  for (size_t i = 0; i < 2; i++) {
    got = interval_of(i == 0 ? holes : endless, 1, 3);
    cr_expect(isnan(got.mean) && isnan(got.low) && isnan(got.high));
  }
  rs_err err = {0};
  cr_expect_eq(rs_bootstrap_mean(holes, 0, 3, &got, &err), RS_DOMAIN);
  cr_expect_not_null(strstr(err.message, "0 seeds, 3 blocks"), "%s", err.message);
  cr_expect_eq(rs_bootstrap_mean(holes, 3, 0, &got, NULL), RS_DOMAIN);
}

Test(bootstrap, parting__of_an_interval__is_that_0_is_outside) {
  cr_expect(rs_interval_parts(&(rs_interval){.2, .1, .3}));
  cr_expect(rs_interval_parts(&(rs_interval){-.2, -.3, -.1}));
  cr_expect_not(rs_interval_parts(&(rs_interval){.1, -.1, .3}));
  cr_expect_not(rs_interval_parts(&(rs_interval){.1, 0, .3}), "an end at 0 does not exclude it");
}
