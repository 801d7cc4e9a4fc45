/* How the positional kernel falls with distance, before any content: the mean cosine, RoFormer's bound, and the bias.
 * Read at the last query, against the key `distance` tokens before it. */
#include "metrics.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_expint.h>
#include <math.h>
#include <stdlib.h>

typedef struct params {
  rs_distance_rows rows;
} params;

/* |S_k| averaged over k = 1 .. D/2, with S_k the sum of the first k unit vectors e^(i angle_j) (RoFormer, eq. 37).
 * Pairs that do not turn add 1. */
static double roformer_bound(const rs_encoding *encoding, size_t query, size_t key) {
  size_t all = encoding->head_dim / 2, turning = encoding->rotary_dim / 2;
  double real = 0, imaginary = 0, total = 0;
  for (size_t j = 0; j < all; j++) {
    double c = 1, s = 0;
    if (j < turning) rs_encoding_turn(encoding, query, key, j, &c, &s);
    real += c;
    imaginary += s;
    total += hypot(real, imaginary);
  }
  return total / (double)all;
}

/* The mean cosine at every distance, where that is a sum of waves; else *means is NULL. Release with free(). */
static rs_status means_at_once(const rs_encoding *encoding, double **means, rs_err *err) {
  rs_decay *decay;
  *means = NULL;
  RS_TRY(rs_encoding_decay(encoding, &decay, err));
  if (decay == NULL) return RS_OK;
  *means = rs_alloc(encoding->length, sizeof **means, err);
  if (*means != NULL) rs_decay_range(decay, 0, encoding->length, *means);
  for (size_t m = 0; *means != NULL && m < encoding->length; m++)
    (*means)[m] = m > 0 ? (*means)[m] / (double)(encoding->head_dim / 2) : 1; /* no angle, and nothing to round */
  rs_decay_free(decay);
  return *means != NULL ? RS_OK : RS_MEMORY;
}

/* The base of a plain ladder that turns by the distance alone, else NaN. */
static double ladder_base(const rs_encoding *encoding) {
  static const double slack = 1e-9; /* far above a power's rounding, far below what any scaling changes */
  size_t pairs = encoding->rotary_dim / 2;
  bool plain = pairs > 0 && rs_encoding_of_distance(encoding) && fabs(encoding->omega[0] - 1) <= slack;
  return plain && encoding->omega[pairs - 1] < 1 ? rs_ladder_base(encoding->omega, pairs, slack) : NAN;
}

/* What the mean cosine comes to when ever more pairs fill the same ladder: the mean of cos(m base^-u) over 0 <= u <= 1,
 * which is [Ci(m) - Ci(m / base)] / ln base. Pairs that do not turn keep their share. */
static double wide_limit(const rs_encoding *encoding, double base, size_t distance) {
  if (isnan(base) || distance == 0) return isnan(base) ? NAN : 1;
  gsl_sf_result near, far;
  if (gsl_sf_Ci_e((double)distance / base, &near) != GSL_SUCCESS) return NAN;
  if (gsl_sf_Ci_e((double)distance, &far) != GSL_SUCCESS) return NAN;
  double turning = (double)encoding->rotary_dim / (double)encoding->head_dim;
  return 1 - turning + turning * (far.val - near.val) / log(base);
}

/* The curve in the making. */
typedef struct decay_rows {
  const double *means; /* (L,) the mean cosine at every distance; NULL: pair by pair */
  double base;         /* of the ladder; NaN: none */
} decay_rows;

static double mean_cosine(const rs_encoding *encoding, const double *means, size_t distance) {
  size_t query = encoding->length - 1;
  return means != NULL ? means[distance] : rs_encoding_mean_cosine(encoding, query, query - distance);
}

static rs_status add_distance(const rs_metric_in *in, const decay_rows *rows, size_t distance, rs_curve *curve,
                              rs_err *err) {
  size_t query = in->encoding->length - 1, key = query - distance;
  double mean = mean_cosine(in->encoding, rows->means, distance);
  double limit = wide_limit(in->encoding, rows->base, distance);
  double row[] = {
      (double)distance,  mean, roformer_bound(in->encoding, query, key), rs_mean_bias(in, query, key), limit,
      fabs(mean - limit)};
  return rs_curve_add(curve, row, err);
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const params *p = in->params;
  size_t length = in->encoding->length, *edges = NULL, bins = 0;
  double *means = NULL;
  bool all = p->rows.distances == RS_DISTANCES_ALL;
  rs_status status =
      all ? means_at_once(in->encoding, &means, err) : rs_log_edges(length, p->rows.per_octave, &edges, &bins, err);
  decay_rows rows = {.means = means, .base = ladder_base(in->encoding)};
  for (size_t i = 0; i < (all ? length : bins) && status == RS_OK; i++)
    status = add_distance(in, &rows, all ? i : edges[i], &result->curve, err);
  bool last = all || bins == 0 || edges[bins - 1] == length - 1; /* the first key of all is there in any case */
  if (status == RS_OK && !last) status = add_distance(in, &rows, length - 1, &result->curve, err);
  if (status == RS_OK) result->value[0] = mean_cosine(in->encoding, means, length - 1);
  free(means);
  free(edges);
  return status;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  const params *p = given;
  size_t rows = rs_distance_rows_most(&p->rows, in->length) + 1; /* the first key of all may stand beside them */
  return rows < in->length ? rows : in->length;
}

static const rs_param specs[] = {RS_DISTANCE_SPECS(params, rows)};

static const rs_column scalars[] = {
    {.name = "mean_cosine_at_length", .unit = "1", .summary = "mean cosine between the last query and the first key"},
};

static const rs_column curve[] = {
    {.name = "distance_tokens", .unit = "tokens", .summary = "m - n", .log_axis = true},
    {.name = "mean_cosine", .unit = "1", .summary = "sum_j cos(angle_j) / (D/2); pairs that do not turn count as 1"},
    {.name = "roformer_bound", .unit = "1", .summary = "mean over k of |sum_{j<k} exp(i angle_j)|"},
    {.name = "bias_nats",
     .unit = "nats",
     .summary = "bias on the logit, mean over the simulated heads; empty where the method has none"},
    {.name = "wide_limit",
     .unit = "1",
     .summary =
         "[Ci(m) - Ci(m / base)] / ln base, the mean cosine of ever more pairs of the same ladder (pairs that do "
         "not turn count as 1, as in mean_cosine); empty where "
         "the frequencies are no plain ladder from 1"},
    {.name = "wide_limit_gap", .unit = "1", .summary = "|mean cosine - wide limit|"},
};

const rs_metric_kind rs_metric_decay = {
    .kind = {.name = "decay",
             .summary = "the kernel against distance: mean cosine B_m / (D/2), RoFormer's bound C(m), bias, wide limit",
             .reference = "arXiv:2104.09864, section 3.4.3; arXiv:2405.14591, eq. 6",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(params)},
    .scalars = scalars,
    .scalar_count = RS_COUNT(scalars),
    .curve = curve,
    .curve_count = RS_COUNT(curve),
    .index_count = 1,
    .curve_rows = curve_rows,
    .finish = finish,
};
