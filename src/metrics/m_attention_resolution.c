/* Attention resolution: how well softmax tells a distance from the next one, each pair of neighbours weighed by the
 * attention it gets. Sun et al., arXiv:2212.10554, section 3.1:
 *
 *   R(s) = sum_i e^s[i] (e^s[i] - e^s[i+1]) / (sum_i e^s[i])^2
 *
 * There s[i] is a trained model's mean score at distance i; here it is the score of equal contents, which the encoding
 * alone decides. Falling scores raise it, and where they rise again it loses. Both sums run over the distances that
 * have a next one. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

typedef struct params {
  rs_real_or_word content; /* nats; rs_logit_word */
  size_t gain_distance;    /* tokens */
} params;

static double resolution(const double *scores, size_t length) {
  double largest = -INFINITY;
  rs_sum all = {0}, drops = {0};
  for (size_t i = 0; i < length; i++) largest = fmax(largest, scores[i]);
  for (size_t i = 0; i + 1 < length; i++) {
    double here = exp(scores[i] - largest), next = exp(scores[i + 1] - largest);
    rs_sum_add(&all, here);
    rs_sum_add(&drops, here * (here - next));
  }
  return rs_sum_total(&drops) / (rs_sum_total(&all) * rs_sum_total(&all));
}

/* What the gains of a query and of a key `distance` before it multiply a pair's score by. */
static rs_status add_gains(const rs_encoding *encoding, size_t distance, rs_curve *curve, rs_err *err) {
  size_t last = encoding->length - 1;
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    double c, s;
    rs_encoding_turn(encoding, last, last - distance, j, &c, &s);
    double row[] = {(double)j, hypot(c, s)};
    RS_TRY(rs_curve_add(curve, row, err));
  }
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const params *p = in->params;
  size_t length = in->encoding->length;
  double sum = 0, content = rs_given_logit(&p->content, in->encoding);
  result->value[0] = NAN;
  if (p->gain_distance < length) RS_TRY(add_gains(in->encoding, p->gain_distance, &result->curve, err));
  if (in->encoding->method->embed != NULL || length < 2) return RS_OK;
  double *scores = rs_alloc(length, sizeof *scores, err);
  if (scores == NULL) return RS_MEMORY;
  rs_status status = RS_OK;
  for (size_t i = 0; i < in->head_count && status == RS_OK; i++) {
    status = rs_equal_logits(in->encoding, in->heads[i], content, scores, err);
    sum += status == RS_OK ? resolution(scores, length) : 0;
  }
  result->value[0] = sum / (double)in->head_count;
  free(scores);
  return status;
}

static const rs_param specs[] = {
    RS_CONTENT_SPEC(params),
    {RS_FIELD(params, gain_distance), .unit = "tokens", .min = 0, .max = 1e9, .fallback = "512",
     .summary = "distance at which the curve reads the gains of each pair (512: xPos's scale base)"},
};

static const rs_column scalars[] = {
    RS_COLUMN("attention_resolution", "1",
              "R(s) of the last query's scores when all contents are equal, mean over the simulated heads; empty for "
              "embeddings that are added",
              .better = RS_HIGHER),
};

static const rs_column curve[] = {
    RS_COLUMN("pair", "", "rotary pair, from the fastest", .integer = true),
    RS_COLUMN("gain", "1",
              "what the gains of query and key multiply the pair's score by at gain_distance, amp left out"),
};

const rs_metric_kind rs_metric_attention_resolution = {
    .kind =
        {.name = "attention_resolution",
         .summary =
             "R(s) of equal contents: how well neighbouring distances are told apart, no key masked; each pair's gain",
         .reference = "xPos, arXiv:2212.10554, sections 3.1 and 3.2",
         .version = 1,
         RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = rs_rows_of_pairs,
    .finish = finish,
};
