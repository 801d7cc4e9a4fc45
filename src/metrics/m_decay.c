/* How the positional kernel falls with distance, before any content: the mean cosine, RoFormer's bound, and the bias.
 * Read at the last query, against the key `distance` tokens before it. */
#include "kernel/kernel.h"

#include "metric_list.h"

#include <gsl/gsl_sf_expint.h>
#include <math.h>
#include <stdlib.h>

typedef struct params {
  rs_distance_rows rows;
} params;

enum { CHUNK = 4096 }; /* distances at a time; any size */

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
  double near = gsl_sf_Ci((double)distance / base), far = gsl_sf_Ci((double)distance);
  double turning = (double)encoding->rotary_dim / (double)encoding->head_dim;
  return 1 - turning + turning * (far - near) / log(base);
}

/* The curve in the making. */
typedef struct decay_rows {
  const double *means; /* (L,) the mean cosine at every distance; NULL: pair by pair */
  double base;         /* of the ladder; NaN: none */
  /* Of log-spaced rows, each of which stands for a bin: */
  rs_decay *decay; /* the kernel as a sum of waves; NULL: it is none. Owned. */
  double *chunk;   /* (CHUNK,) owned */
} decay_rows;

static double mean_cosine(const rs_encoding *encoding, const double *means, size_t distance) {
  size_t query = encoding->length - 1;
  return means != NULL ? means[distance] : rs_encoding_mean_cosine(encoding, query, query - distance);
}

/* Where the waves are least and largest in [begin, end), by the kernel; what they come to there, term by term. */
static void wave_extremes(const decay_rows *rows, size_t begin, size_t end, double *low, double *high) {
  double least = INFINITY, most = -INFINITY;
  size_t where_least = begin, where_most = begin;
  for (size_t first = begin; first < end; first += CHUNK) {
    size_t count = end - first < CHUNK ? end - first : CHUNK;
    rs_decay_range(rows->decay, first, count, rows->chunk);
    for (size_t i = 0; i < count; i++) {
      if (rows->chunk[i] < least) least = rows->chunk[i], where_least = first + i;
      if (rows->chunk[i] > most) most = rows->chunk[i], where_most = first + i;
    }
  }
  *low = rs_decay_at(rows->decay, where_least);
  *high = rs_decay_at(rows->decay, where_most);
}

/* The least and the largest mean cosine at the distances [begin, end), of which the first has the mean cosine `mean`.
 */
static void bin_extremes(const rs_encoding *encoding, const decay_rows *rows, size_t begin, size_t end, double mean,
                         double *low, double *high) {
  size_t query = encoding->length - 1;
  double least = mean, most = mean, pairs = (double)(encoding->head_dim / 2);
  *low = *high = mean;
  if (rows->decay != NULL && begin + 1 < end) {
    wave_extremes(rows, begin + 1, end, &least, &most);
    *low = fmin(mean, least / pairs);
    *high = fmax(mean, most / pairs);
  }
  for (size_t d = begin + 1; rows->decay == NULL && d < end; d++) {
    double here = rs_encoding_mean_cosine(encoding, query, query - d);
    *low = fmin(*low, here);
    *high = fmax(*high, here);
  }
}

/* The row of a distance; of a bin of them where `end` is not 0. */
static rs_status add_distance(const rs_metric_in *in, const decay_rows *rows, size_t distance, size_t end,
                              rs_curve *curve, rs_err *err) {
  size_t query = in->encoding->length - 1, key = query - distance;
  bool turns = in->encoding->rotary_dim > 0;
  double mean = turns ? mean_cosine(in->encoding, rows->means, distance) : NAN;
  double limit = wide_limit(in->encoding, rows->base, distance), low = NAN, high = NAN;
  if (turns && end > 0) bin_extremes(in->encoding, rows, distance, end, mean, &low, &high);
  double row[] = {(double)distance,
                  mean,
                  turns ? roformer_bound(in->encoding, query, key) : NAN,
                  rs_mean_bias(in, query, key),
                  limit,
                  fabs(mean - limit),
                  low,
                  high};
  return rs_curve_add(curve, row, err);
}

/* Every distance. */
static rs_status add_all(const rs_metric_in *in, const decay_rows *rows, rs_curve *curve, rs_err *err) {
  for (size_t i = 0; i < in->encoding->length; i++) RS_TRY(add_distance(in, rows, i, 0, curve, err));
  return RS_OK;
}

/* Log-spaced distances, each of which stands for those up to the next, and the first key of all in any case. */
static rs_status add_bins(const rs_metric_in *in, const decay_rows *rows, size_t per_octave, rs_curve *curve,
                          rs_err *err) {
  size_t length = in->encoding->length, *edges = NULL, bins = 0;
  rs_status status = rs_log_edges(length, per_octave, &edges, &bins, err);
  bool last = bins == 0 || edges[bins - 1] == length - 1;
  for (size_t i = 0; i < bins && status == RS_OK; i++) {
    size_t end = i + 1 < bins ? edges[i + 1] : last ? length : length - 1;
    status = add_distance(in, rows, edges[i], end, curve, err);
  }
  if (status == RS_OK && !last) status = add_distance(in, rows, length - 1, length, curve, err);
  free(edges);
  return status;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  double *means = NULL;
  decay_rows rows = {.base = ladder_base(in->encoding)};
  const params *p = in->params;
  bool all = p->rows.distances == RS_DISTANCES_ALL, turns = in->encoding->rotary_dim > 0;
  result->value[0] = NAN;
  if (!turns && in->encoding->method->bias == NULL) return RS_OK;
  rs_status status = all ? means_at_once(in->encoding, &means, err) : rs_encoding_decay(in->encoding, &rows.decay, err);
  rows.means = means;
  if (status == RS_OK && !all) rows.chunk = rs_alloc(CHUNK, sizeof *rows.chunk, err);
  if (status == RS_OK && !all && rows.chunk == NULL) status = RS_MEMORY;
  if (status == RS_OK)
    status =
        all ? add_all(in, &rows, &result->curve, err) : add_bins(in, &rows, p->rows.per_octave, &result->curve, err);
  if (status == RS_OK && turns) result->value[0] = mean_cosine(in->encoding, means, in->encoding->length - 1);
  rs_decay_free(rows.decay);
  free(rows.chunk);
  free(means);
  return status;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  const params *p = given;
  size_t rows = rs_distance_rows_most(&p->rows, in->length) + 1; /* the first key of all may stand beside them */
  return rows < in->length ? rows : in->length;
}

static const rs_param specs[] = {RS_DISTANCE_SPECS(params, rows)};

static const rs_column scalars[] = {
    RS_COLUMN("mean_cosine_at_length", "1",
              "mean cosine between the last query and the first key; empty where no pair turns"),
};

static const rs_column curve[] = {
    RS_COLUMN("distance_tokens", "tokens", "m - n", .integer = true, .log_axis = true),
    RS_COLUMN("mean_cosine", "1",
              "sum_j cos(angle_j) / (D/2); pairs that do not turn count as 1; empty where no pair turns"),
    RS_COLUMN("roformer_bound", "1", "mean over k of |sum_{j<k} exp(i angle_j)|; empty where no pair turns"),
    RS_COLUMN("bias_nats", "nats", "bias on the logit, mean over the simulated heads; empty where the method has none"),
    RS_COLUMN("wide_limit", "1",
              "[Ci(m) - Ci(m / base)] / ln base, the mean cosine of ever more pairs of the same ladder (pairs that do "
              "not turn count as 1, as in mean_cosine); empty where the frequencies are no plain ladder from 1"),
    RS_COLUMN("wide_limit_gap", "1", "|mean cosine - wide limit|"),
    RS_COLUMN(
        "mean_cosine_low", "1",
        "least mean cosine from this distance to the next row's; empty where every distance has a row or no pair turns",
        .map = RS_MAP_LOW),
    RS_COLUMN("mean_cosine_high", "1", "the largest there", .map = RS_MAP_HIGH),
};

const rs_metric_kind rs_metric_decay = {
    .kind = {.name = "decay",
             .summary = "the kernel against distance: mean cosine B_m / (D/2), RoFormer's bound C(m), bias, wide limit",
             .reference = "arXiv:2104.09864, section 3.4.3; arXiv:2405.14591, eq. 6",
             .version = 2,
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
