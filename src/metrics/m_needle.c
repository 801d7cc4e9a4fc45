/* Is the needle found? Its weight, its rank and how often it wins. Only sources with a needle report anything. */
#include "metric_list.h"

#include <math.h>

typedef struct sample {
  rs_moments weight, rank, win, logit;
} sample;

/* One sample for all rows, and one for each bin of the needle's distance. */
typedef struct state {
  const size_t *edges; /* (count + 1,) */
  size_t count;
  sample all, bins[]; /* bins: (count,) */
} state;

static rs_status prepare(const rs_metric_in *in, void **memory, rs_err *err) {
  RS_TRY(rs_state_make(sizeof(state) + in->bins * sizeof(sample), memory, err));
  state *s = *memory;
  s->edges = in->edges;
  s->count = in->bins;
  return RS_OK;
}

static size_t bin_of(const state *s, size_t distance) {
  size_t bin = 0;
  while (bin + 1 < s->count && s->edges[bin + 1] <= distance) bin++;
  return bin;
}

/* A needle the mask hides has no weight and never wins; it has no rank and no logit. */
static void add(sample *s, const rs_row *observed) {
  rs_moments_add(&s->weight, observed->needle_weight);
  rs_moments_add(&s->win, observed->has_needle && observed->needle_rank == 0);
  if (!observed->has_needle) return;
  rs_moments_add(&s->rank, (double)observed->needle_rank);
  rs_moments_add(&s->logit, observed->needle_logit);
}

static void row(void *memory, const rs_row *observed) {
  state *s = memory;
  if (!observed->needle_planted) return;
  add(&s->all, observed);
  add(&s->bins[bin_of(s, observed->needle_distance)], observed);
}

static rs_status finish(const rs_metric_in *in, const void *memory, rs_result *result, rs_err *err) {
  const sample *all = &((const state *)memory)->all, *bins = ((const state *)memory)->bins;
  rs_result_mean(result, 0, &all->weight);
  rs_result_mean(result, 1, &all->rank);
  rs_result_mean(result, 2, &all->win);
  rs_result_mean(result, 3, &all->logit);
  for (size_t b = 0; b < in->bins; b++) {
    const sample *s = &bins[b];
    double line[] = {(double)in->edges[b],        (double)in->edges[b + 1],  s->weight.count,
                     rs_moments_mean(&s->weight), rs_moments_se(&s->weight), rs_moments_mean(&s->rank),
                     rs_moments_se(&s->rank),     rs_moments_mean(&s->win),  rs_moments_se(&s->win)};
    if (s->weight.count > 0) RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("needle_weight", "1", "attention weight of the needle, mean over queries and heads", .sampled = true,
              .better = RS_HIGHER),
    RS_COLUMN("needle_rank", "1", "keys with a larger logit than the needle (0: it wins)", .sampled = true,
              .log_axis = true, .better = RS_LOWER),
    RS_COLUMN("needle_win_rate", "1", "share of queries for which no key has a larger logit than the needle",
              .sampled = true, .better = RS_HIGHER),
    RS_COLUMN("needle_logit_nats", "nats", "logit of the needle", .sampled = true, .better = RS_HIGHER),
};

static const rs_column curve[] = {
    RS_BIN_COLUMNS,
    RS_COLUMN("needles", "", "how many needles stood at these distances", .integer = true, .map = RS_MAP_SAMPLES),
    RS_COLUMN("weight", "1", "mean attention weight of the needle", .sampled = true),
    RS_COLUMN("rank", "1", "mean rank of the needle (0: it wins)", .sampled = true, .log_axis = true),
    RS_COLUMN("win_rate", "1", "share of needles that no key exceeds", .sampled = true),
};

const rs_metric_kind rs_metric_needle = {
    .kind = {.name = "needle",
             .summary = "weight, rank and win rate of the needle, also against its distance",
             .reference = "Kamradt's needle in a haystack (2023), without weights"},
    .needs_needle = true,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 3),
    .curve_rows = rs_rows_of_bins,
    .prepare = prepare,
    .row = row,
    .finish = finish,
};
