/* Simulated logits against distance: their mean and spread in each distance bin, over all rows. */
#include "metric_list.h"

static void row(void *state, const rs_row *observed) {
  rs_bin_samples *s = state;
  for (size_t b = 0; b < s->count; b++) {
    rs_moments_join(&s->bins[b], observed->bin_keys[b], observed->bin_mean[b], observed->bin_squares[b]);
    rs_moments_join(&s->all, observed->bin_keys[b], observed->bin_mean[b], observed->bin_squares[b]);
  }
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  const rs_bin_samples *s = state;
  const rs_moments *bins = s->bins;
  for (size_t b = 0; b < in->bins; b++) {
    if (bins[b].count == 0) continue;
    double line[] = {(double)in->edges[b], (double)in->edges[b + 1], bins[b].count, bins[b].mean,
                     rs_moments_sd(&bins[b])};
    RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  result->value[0] = rs_moments_mean(&s->all);
  result->value[1] = rs_moments_sd(&s->all);
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("logit_mean_nats", "nats", "mean logit over all keys, queries and heads"),
    RS_COLUMN("logit_sd_nats", "nats", "standard deviation of the logits"),
};

static const rs_column curve[] = {
    RS_BIN_COLUMNS,
    RS_COLUMN("logits", "", "how many logits fell into the bin", .integer = true),
    RS_COLUMN("score_mean_nats", "nats", "mean logit at these distances"),
    RS_COLUMN("score_sd_nats", "nats", "standard deviation of the logits at these distances"),
};

const rs_metric_kind rs_metric_score_by_distance = {
    .kind = {.name = "score_by_distance",
             .summary = "mean and standard deviation of the simulated logits against distance (needles left out)",
             .reference = "Barbero et al., arXiv:2410.06205, section 3"},
    .needs_moments = true,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 3),
    .curve_rows = rs_rows_of_bins,
    .prepare = rs_bin_samples_make,
    .row = row,
    .finish = finish,
};
