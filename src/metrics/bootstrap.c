/* The 95 % interval of a mean over seeds and blocks, by the bootstrap's percentiles (Efron & Tibshirani, "An
 * Introduction to the Bootstrap", 1993, section 13.3). Seeds and blocks are crossed: each seed's model reads the same
 * blocks, so that a hard block is hard under all seeds and a bad seed is bad on all blocks. Hence rows and columns are
 * drawn, each on their own, and a value stands in a resample as often as its row times its column does (Owen, "The
 * pigeonhole bootstrap", Annals of Applied Statistics 1, 2007); resampling blocks anew within each seed would take what
 * blocks share for noise that averages out. Percentiles are too narrow where there are few: 24 normal blocks under one
 * seed hold the mean .94 of the time, five seeds that differ much more than blocks do .84
 * (tests/unit/test_bootstrap.c). Noise that each value has on its own counts up to three times, so that intervals are
 * too wide, by up to the root of 3, where seeds do not share their blocks: tasks that are generated draw others for
 * each. */
#include "metrics.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

enum { RESAMPLES = 2000 }; /* a percentile at .025 stands on 50 of them: it errs by some 7 % of the interval's half */

/* The stream of all intervals. Equal shapes draw equal resamples, so that intervals shift and scale as their values. */
static const rs_stream draws = {.seed = 0, .purpose = RS_PURPOSE_BOOTSTRAP};

/* How often each of `count` numbers comes up in as many draws, which are the elements from `first` on. */
static void draw_counts(uint64_t first, size_t count, double *counts) {
  memset(counts, 0, count * sizeof *counts);
  for (size_t i = 0; i < count; i++) counts[(size_t)((double)count * rs_uniform(draws, first + i))]++;
}

/* The mean of one resample of the (seeds, blocks) values. */
static double resampled_mean(const double *values, size_t seeds, size_t blocks, const double *seed_counts,
                             const double *block_counts) {
  double sum = 0;
  for (size_t s = 0; s < seeds; s++)
    for (size_t b = 0; seed_counts[s] > 0 && b < blocks; b++)
      sum += seed_counts[s] * block_counts[b] * values[s * blocks + b];
  return sum / (double)(seeds * blocks);
}

rs_status rs_bootstrap_mean(const double *values, size_t seeds, size_t blocks, rs_interval *interval, rs_err *err) {
  rs_arena arena = {0};
  size_t count = seeds * blocks;
  if (count == 0) return rs_fail(err, RS_DOMAIN, "no values to take the mean of: %zu seeds, %zu blocks", seeds, blocks);
  double mean = gsl_stats_mean(values, 1, count);
  *interval = (rs_interval){isfinite(mean) ? mean : NAN, NAN, NAN};
  if (count == 1 || !isfinite(mean)) return RS_OK;
  double *centered = rs_arena_take(&arena, count, sizeof *centered);
  double *means = rs_arena_take(&arena, RESAMPLES, sizeof *means);
  double *seed_counts = rs_arena_take(&arena, seeds, sizeof *seed_counts);
  double *block_counts = rs_arena_take(&arena, blocks, sizeof *block_counts);
  rs_status status = rs_arena_check(&arena, err);
  for (size_t i = 0; status == RS_OK && i < count; i++) centered[i] = values[i] - mean;
  for (size_t r = 0; status == RS_OK && r < RESAMPLES; r++) {
    uint64_t first = (uint64_t)r * (seeds + blocks);
    draw_counts(first, seeds, seed_counts);
    draw_counts(first + seeds, blocks, block_counts);
    means[r] = mean + resampled_mean(centered, seeds, blocks, seed_counts, block_counts);
  }
  if (status == RS_OK) {
    gsl_sort(means, 1, RESAMPLES);
    interval->low = gsl_stats_quantile_from_sorted_data(means, 1, RESAMPLES, 0.025);
    interval->high = gsl_stats_quantile_from_sorted_data(means, 1, RESAMPLES, 0.975);
  }
  rs_arena_clear(&arena);
  return status;
}
