/* One number of the rows that were selected; among them Spearman's rank correlation, and how often chance makes one as
 * strong. */
#include "claims.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rank correlation -------------------------------------------------------------------------------------------- */

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

/* ---- reductions -------------------------------------------------------------------------------------------------- */

static rs_status the_row(const rs_sample *s, double *value, rs_err *err) {
  if (s->rows != 1) return rs_fail(err, RS_INPUT, "%zu rows are selected, not one", s->rows);
  *value = s->y[0];
  return RS_OK;
}

static rs_status mean(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  *value = gsl_stats_mean(s->y, 1, s->count);
  return RS_OK;
}

static rs_status least(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  *value = gsl_stats_min(s->y, 1, s->count);
  return RS_OK;
}

static rs_status largest(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  *value = gsl_stats_max(s->y, 1, s->count);
  return RS_OK;
}

static rs_status median(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  gsl_sort(s->y, 1, s->count);
  *value = gsl_stats_median_from_sorted_data(s->y, 1, s->count);
  return RS_OK;
}

static rs_status sum(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  *value = 0;
  for (size_t i = 0; i < s->count; i++) *value += s->y[i];
  return RS_OK;
}

static rs_status count(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  *value = (double)s->count;
  return RS_OK;
}

static rs_status missing(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  *value = (double)(s->rows - s->count);
  return RS_OK;
}

static rs_status at_min(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  *value = s->x[gsl_stats_min_index(s->y, 1, s->count)];
  return RS_OK;
}

static rs_status at_max(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  *value = s->x[gsl_stats_max_index(s->y, 1, s->count)];
  return RS_OK;
}

/* ln y = intercept + slope ln x, by least squares. */
static rs_status fit_logs(const rs_sample *s, double *intercept, double *slope, rs_err *err) {
  if (s->count < 2) return rs_fail(err, RS_INPUT, "a power law needs two rows, and %zu have a value", s->count);
  for (size_t i = 0; i < s->count; i++) {
    if (!(s->x[i] > 0) || !(s->y[i] > 0)) return rs_fail(err, RS_INPUT, "a power law needs positive numbers");
    s->x[i] = log(s->x[i]);
    s->y[i] = log(s->y[i]);
  }
  double spread[3], rest; /* what else GSL tells */
  return rs_gsl(gsl_fit_linear(s->x, 1, s->y, 1, s->count, intercept, slope, &spread[0], &spread[1], &spread[2], &rest),
                "a straight line", err);
}

static rs_status exponent(const rs_sample *s, double *value, rs_err *err) {
  double intercept;
  return fit_logs(s, &intercept, value, err);
}

static rs_status coefficient(const rs_sample *s, double *value, rs_err *err) {
  double intercept, slope;
  RS_TRY(fit_logs(s, &intercept, &slope, err));
  *value = exp(intercept);
  return RS_OK;
}

/* Rows of one x become one, with their mean y; x ascends. Returns how many are left. */
static size_t join_equal(const rs_sample *s) {
  size_t left = 0;
  gsl_sort2(s->x, 1, s->y, 1, s->count);
  for (size_t i = 0, next; i < s->count; i = next) {
    for (next = i + 1; next < s->count && s->x[next] == s->x[i];) next++;
    s->y[left] = gsl_stats_mean(s->y + i, 1, next - i);
    s->x[left++] = s->x[i];
  }
  return left;
}

/* The least x at which sign * y has come down to sign * level, between rows on a straight line; infinite where it
 * never does. */
static double reached(const rs_sample *s, double sign) {
  size_t count = join_equal(s);
  for (size_t i = 0; i < count; i++) {
    double here = sign * (s->y[i] - s->level), before = i > 0 ? sign * (s->y[i - 1] - s->level) : 0;
    if (here > 0) continue;
    return i == 0 ? s->x[0] : s->x[i - 1] + (s->x[i] - s->x[i - 1]) * before / (before - here);
  }
  return INFINITY;
}

static rs_status falls_to(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  *value = reached(s, 1);
  return RS_OK;
}

static rs_status rises_to(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  *value = reached(s, -1);
  return RS_OK;
}

/* The largest x with y >= level there and at every smaller one; 0 where the least x has less. */
static double kept(const rs_sample *s, size_t count, double level) {
  double last = 0;
  for (size_t i = 0; i < count && s->y[i] >= level; i++) last = s->x[i];
  return last;
}

/* Effective length: 20 % of passkeys in arXiv:2306.15595, section 3.3; 85.6 points in RULER, arXiv:2404.06654. */
static rs_status keeps(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  *value = kept(s, join_equal(s), s->level);
  return RS_OK;
}

/* The level is a share of the largest y: 85 % in NoLiMa, arXiv:2502.05167, which looks for it up to 1000 tokens. */
static rs_status keeps_share(const rs_sample *s, double *value, rs_err *err) {
  (void)err;
  size_t count = join_equal(s);
  *value = kept(s, count, s->level * gsl_stats_max(s->y, 1, count));
  return RS_OK;
}

static rs_status spearman(const rs_sample *s, double *value, rs_err *err) {
  return rs_rank_correlation(s->y, s->x, s->count, value, err);
}

static rs_status spearman_p(const rs_sample *s, double *value, rs_err *err) {
  return rs_rank_correlation_p(s->y, s->x, s->count, value, err);
}

static const rs_reduction single = {.columns = 1, .reduce = the_row};

static const rs_reduction reductions[] = {
    {.name = "mean", .columns = 1, .reduce = mean},
    {.name = "min", .columns = 1, .reduce = least},
    {.name = "max", .columns = 1, .reduce = largest},
    {.name = "median", .columns = 1, .reduce = median},
    {.name = "sum", .columns = 1, .reduce = sum},
    {.name = "count", .columns = 1, .counts_rows = true, .reduce = count},
    {.name = "missing", .columns = 1, .counts_rows = true, .reduce = missing},
    {.name = "at_min", .columns = 2, .reduce = at_min},
    {.name = "at_max", .columns = 2, .reduce = at_max},
    {.name = "exponent", .columns = 2, .reduce = exponent},
    {.name = "coefficient", .columns = 2, .reduce = coefficient},
    {.name = "falls_to", .columns = 2, .more = RS_MORE_LEVEL, .reduce = falls_to},
    {.name = "rises_to", .columns = 2, .more = RS_MORE_LEVEL, .reduce = rises_to},
    {.name = "keeps", .columns = 2, .more = RS_MORE_LEVEL, .reduce = keeps},
    {.name = "keeps_share", .columns = 2, .more = RS_MORE_LEVEL, .reduce = keeps_share},
    {.name = "spearman", .columns = 2, .more = RS_MORE_GROUP, .reduce = spearman},
    {.name = "spearman_p", .columns = 2, .more = RS_MORE_GROUP, .reduce = spearman_p},
};

static rs_status unknown(const char *name, rs_err *err) {
  const char *names[RS_COUNT(reductions)];
  rs_text list = {0};
  for (size_t i = 0; i < RS_COUNT(reductions); i++) {
    names[i] = reductions[i].name;
    rs_text_printf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
  }
  const char *near = rs_suggest(name, names, RS_COUNT(names));
  rs_status status = near != NULL
                         ? rs_fail(err, RS_INPUT, "no reduction %s (did you mean %s)", name, near)
                         : rs_fail(err, RS_INPUT, "no reduction %s (there are %s)", name, rs_text_string(&list));
  rs_text_clear(&list);
  return status;
}

rs_status rs_reduction_find(const char *name, const rs_reduction **found, rs_err *err) {
  *found = name == NULL ? &single : NULL;
  for (size_t i = 0; i < RS_COUNT(reductions) && name != NULL; i++)
    if (strcmp(reductions[i].name, name) == 0) *found = &reductions[i];
  return *found != NULL ? RS_OK : unknown(name, err);
}

const char *rs_reduction_takes(const rs_reduction *reduction) {
  if (reduction->more == RS_MORE_LEVEL) return "two columns and a number: (y; x; 0.5)";
  if (reduction->more == RS_MORE_GROUP)
    return "two columns or three: (y; x), (y; x; one by whose words rows are joined)";
  return reduction->columns == 1 ? "one column" : "two columns: (y; x)";
}

/* Rows of one group become one, of their means, where the first of them stood. */
static void join_groups(rs_sample *s) {
  size_t joined = 0;
  for (size_t i = 0; i < s->count; i++) {
    double y = 0, x = 0, members = 0;
    bool earlier = false;
    for (size_t k = 0; k < joined && !earlier; k++) earlier = strcmp(s->group[k], s->group[i]) == 0;
    if (earlier) continue;
    for (size_t k = i; k < s->count; k++) {
      if (strcmp(s->group[k], s->group[i]) != 0) continue;
      y += s->y[k];
      x += s->x[k];
      members++;
    }
    s->y[joined] = y / members;
    s->x[joined] = x / members;
    s->group[joined++] = s->group[i];
  }
  s->count = joined;
}

rs_status rs_sample_make(size_t rows, rs_sample *sample, rs_err *err) {
  *sample = (rs_sample){.y = rs_alloc(rows, sizeof *sample->y, err),
                        .x = rs_alloc(rows, sizeof *sample->x, err),
                        .group = rs_alloc(rows, sizeof *sample->group, err)};
  return sample->y != NULL && sample->x != NULL && sample->group != NULL ? RS_OK : RS_MEMORY;
}

void rs_sample_clear(rs_sample *sample) {
  free(sample->y);
  free(sample->x);
  free(sample->group);
  *sample = (rs_sample){0};
}

rs_status rs_sample_reduce(rs_sample *sample, const rs_reduction *reduction, double *value, rs_err *err) {
  if (sample->count == 0 && !reduction->counts_rows)
    return rs_fail(err, RS_INPUT, "no selected row has a number there");
  if (sample->grouped) join_groups(sample);
  return value != NULL ? reduction->reduce(sample, value, err) : RS_OK;
}
