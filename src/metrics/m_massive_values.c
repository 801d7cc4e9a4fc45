/* Dims of queries and keys whose values are far larger than those of the others, over all tokens: with M_hd the 2-norm
 * of dim d of head h over the tokens, d is massive where M_hd > lambda (1/D) sum_d' M_hd'. In published models with
 * rotation they are among the slow pairs of q and k, and absent in v. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

typedef struct params {
  double threshold;
} params;

typedef struct state {
  const size_t *heads; /* (count,) */
  size_t count, dims;
  double squares[]; /* (count, 2, D): of queries and of keys, summed over tokens */
} state;

enum { QUERIES, KEYS, SIDES };

static rs_status prepare(const rs_metric_in *in, void **memory, rs_err *err) {
  size_t dims = in->encoding->head_dim;
  RS_TRY(rs_state_make(sizeof(state) + in->head_count * SIDES * dims * sizeof(double), memory, err));
  state *s = *memory;
  s->heads = in->heads;
  s->count = in->head_count;
  s->dims = dims;
  return RS_OK;
}

static void add_squares(const double *x, size_t tokens, size_t dims, double *squares) {
  for (size_t n = 0; n < tokens; n++)
    for (size_t d = 0; d < dims; d++) squares[d] += x[n * dims + d] * x[n * dims + d];
}

static void content(void *memory, const rs_head_content *shown) {
  state *s = memory;
  size_t place = 0;
  while (s->heads[place] != shown->head) place++;
  double *squares = s->squares + place * SIDES * s->dims;
  add_squares(shown->q, shown->queries, s->dims, squares);
  add_squares(shown->k, shown->keys, s->dims, squares + s->dims);
}

/* The mean norm of the dims of one head's queries or keys; 0 where nothing was seen. */
static double mean_norm(const state *s, size_t head, size_t side) {
  const double *squares = s->squares + (head * SIDES + side) * s->dims;
  rs_sum sum = {0};
  for (size_t d = 0; d < s->dims; d++) rs_sum_add(&sum, sqrt(squares[d]));
  return rs_sum_total(&sum) / (double)s->dims;
}

/* Of one head's queries or keys: norm of a dim by the mean norm. */
static double ratio_of(const state *s, size_t head, size_t side, size_t dim, double mean) {
  return sqrt(s->squares[(head * SIDES + side) * s->dims + dim]) / mean;
}

/* Means over heads: of the ratio in each dim, and of 1 where that is massive, (D,); of how many dims are, and of the
 * largest ratio. */
typedef struct side_means {
  double *ratio, *massive;
  rs_moments count, largest;
} side_means;

static void add_head(const state *s, size_t head, size_t side, double threshold, side_means *means) {
  double mean = mean_norm(s, head, side), count = 0, largest = 0;
  if (!(mean > 0)) return;
  for (size_t d = 0; d < s->dims; d++) {
    double ratio = ratio_of(s, head, side, d, mean);
    means->ratio[d] += ratio;
    means->massive[d] += ratio > threshold;
    count += ratio > threshold;
    largest = fmax(largest, ratio);
  }
  rs_moments_add(&means->count, count);
  rs_moments_add(&means->largest, largest);
}

static rs_status add_lines(const side_means *means, size_t dims, rs_result *result, rs_err *err) {
  double q = means[QUERIES].count.count, k = means[KEYS].count.count; /* heads that hold anything */
  for (size_t d = 0; d < dims && q > 0 && k > 0; d++) {
    double line[] = {(double)d, means[QUERIES].ratio[d] / q, means[KEYS].ratio[d] / k, means[QUERIES].massive[d] / q,
                     means[KEYS].massive[d] / k};
    RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *memory, rs_result *result, rs_err *err) {
  const state *s = memory;
  double threshold = ((const params *)in->params)->threshold;
  double *sums = rs_alloc(s->dims, 2 * SIDES * sizeof *sums, err);
  if (sums == NULL) return RS_MEMORY;
  side_means means[SIDES];
  for (size_t side = 0; side < SIDES; side++) {
    double *own = sums + 2 * side * s->dims;
    means[side] = (side_means){.ratio = own, .massive = own + s->dims};
    for (size_t h = 0; h < s->count; h++) add_head(s, h, side, threshold, &means[side]);
    rs_result_mean(result, 2 * side, &means[side].count);
    rs_result_mean(result, 2 * side + 1, &means[side].largest);
  }
  rs_status status = add_lines(means, s->dims, result, err);
  free(sums);
  return status;
}

static const rs_param specs[] = {
    {RS_FIELD(params, threshold), .unit = "1", .min = 1, .max = 1e6, .fallback = "5",
     .summary = "lambda: a dim is massive whose norm exceeds so many times the mean (5: the paper)"},
};

static const rs_column scalars[] = {
    RS_COLUMN("massive_q_dims", "", "massive dims of a head's queries, mean over heads"),
    RS_COLUMN("largest_q_ratio", "1", "largest norm of a dim over that of the mean dim, in queries, mean over heads"),
    RS_COLUMN("massive_k_dims", "", "massive dims of a head's keys, mean over heads"),
    RS_COLUMN("largest_k_ratio", "1", "largest norm of a dim over that of the mean dim, in keys, mean over heads"),
};

static const rs_column curve[] = {
    RS_COLUMN("dim", "", "dim of the head, as rotation is given it", .integer = true),
    RS_COLUMN("q_ratio", "1", "norm of the dim over all tokens by the mean of all dims, in queries, mean over heads"),
    RS_COLUMN("k_ratio", "1", "norm of the dim over all tokens by the mean of all dims, in keys, mean over heads"),
    RS_COLUMN("q_massive", "1", "share of heads whose queries are massive in the dim"),
    RS_COLUMN("k_massive", "1", "share of heads whose keys are massive in the dim"),
};

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)given;
  return 2 * in->pairs;
}

const rs_metric_kind rs_metric_massive_values = {
    .kind = {.name = "massive_values",
             .summary = "dims of queries and keys, before rotation, whose norm over the tokens is far above the mean",
             .reference = "Jin et al., arXiv:2502.01563, section 2 (M_hd and lambda)",
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .prepare = prepare,
    .content = content,
    .finish = finish,
};
