/* Where the largest logit of a row stands: whether a head can look at one distance and no other (Barbero et al.,
 * arXiv:2410.06205, proposition 3.1), and at which. */
#include "metric_list.h"

#include <math.h>

typedef struct state {
  rs_moments distance;
  double rows[]; /* (L,) how many rows have their argmax at each distance */
} state;

static rs_status prepare(const rs_metric_in *in, void **memory, rs_err *err) {
  return rs_state_make(sizeof(state) + in->encoding->length * sizeof(double), memory, err);
}

static void row(void *memory, const rs_row *observed) {
  state *s = memory;
  size_t m = observed->query, n = observed->argmax, distance = m > n ? m - n : n - m;
  rs_moments_add(&s->distance, (double)distance);
  s->rows[distance]++;
}

static rs_status add_bins(const rs_metric_in *in, const state *s, rs_curve *curve, rs_err *err) {
  for (size_t b = 0; b < in->bins; b++) {
    double rows = 0;
    for (size_t x = in->edges[b]; x < in->edges[b + 1]; x++) rows += s->rows[x];
    double line[] = {(double)in->edges[b], (double)in->edges[b + 1], rows / s->distance.count};
    RS_TRY(rs_curve_add(curve, line, err));
  }
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *memory, rs_result *result, rs_err *err) {
  const state *s = memory;
  size_t mode = 0;
  rs_result_mean(result, 0, &s->distance);
  for (size_t x = 1; x < in->encoding->length; x++)
    if (s->rows[x] > s->rows[mode]) mode = x;
  bool any = s->distance.count > 0;
  result->value[1] = any ? (double)mode : NAN;
  result->value[2] = any ? s->rows[mode] / s->distance.count : NAN;
  return any ? add_bins(in, s, &result->curve, err) : RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("argmax_distance_tokens", "tokens",
              "distance of the key with the largest logit (the first of equals), mean over queries and heads",
              .sampled = true, .log_axis = true),
    RS_COLUMN("argmax_mode_tokens", "tokens", "the distance at which that key stands most often, the nearest of equals",
              .integer = true, .log_axis = true),
    RS_COLUMN("argmax_mode_share", "1", "share of rows in which it stands there"),
};

static const rs_column curve[] = {
    RS_BIN_COLUMNS,
    RS_COLUMN("share", "1", "share of rows whose largest logit is at these distances; sums to 1"),
};

const rs_metric_kind rs_metric_argmax_distance = {
    .kind = {.name = "argmax_distance",
             .summary = "at which distance the largest logit of a row stands",
             .reference = "Barbero et al., arXiv:2410.06205, proposition 3.1"},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 2),
    .curve_rows = rs_rows_of_bins,
    .prepare = prepare,
    .row = row,
    .finish = finish,
};
