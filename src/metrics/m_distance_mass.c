/* Where attention goes: its weight against distance. */
#include "metric_list.h"

#include <math.h>

/* all: the weight of learned sinks, which have no distance. */
static void row(void *state, const rs_row *observed) {
  rs_bin_samples *s = state;
  rs_moments_add(&s->all, observed->learned_weight);
  for (size_t b = 0; b < s->count; b++) rs_moments_add(&s->bins[b], observed->bin_weight[b]);
}

/* The distance below which half of the keys' weight lies, linear within its bin. */
static double median_distance(const rs_metric_in *in, const rs_bin_samples *samples) {
  const rs_moments *bins = samples->bins;
  double below = 0, half = 0.5 * (1 - samples->all.mean);
  for (size_t b = 0; b < in->bins; b++) {
    double weight = bins[b].mean, width = (double)(in->edges[b + 1] - in->edges[b]);
    if (samples->all.count > 0 && below + weight >= half) return (double)in->edges[b] + width * (half - below) / weight;
    below += weight;
  }
  return NAN; /* no rows */
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  const rs_moments *bins = ((const rs_bin_samples *)state)->bins;
  for (size_t b = 0; b < in->bins; b++) {
    double line[] = {(double)in->edges[b], (double)in->edges[b + 1], bins[b].mean, rs_moments_se(&bins[b])};
    RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  result->value[0] = median_distance(in, state);
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("median_distance_tokens", "tokens",
              "distance below which half of the mean attention weight of keys lies (linear within its bin)",
              .log_axis = true),
};

static const rs_column curve[] = {
    RS_BIN_COLUMNS,
    RS_COLUMN("weight", "1",
              "attention weight at these distances, mean over queries and heads; sums to 1, less the weight of a "
              "learned sink",
              .sampled = true, .map = RS_MAP_MASS),
};

const rs_metric_kind rs_metric_distance_mass = {
    .kind = {.name = "distance_mass",
             .summary = "attention weight against distance, in log-spaced bins",
             .reference = "ALiBi, arXiv:2108.12409, appendix (locality of attention)"},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 2),
    .curve_rows = rs_rows_of_bins,
    .prepare = rs_bin_samples_make,
    .row = row,
    .finish = finish,
};
