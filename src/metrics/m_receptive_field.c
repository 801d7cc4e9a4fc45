/* How far a head sees when no content tells its keys apart: the fewest nearest keys that hold a share of the last
 * query's weight. With a bias alone this is the window of the paper that brought it: a slope m gives ceil(ln 100 / m)
 * keys for 99 % (ALiBi, arXiv:2108.12409); Qin et al., arXiv:2307.10156, section 4, measure it for any bias so. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

typedef struct params {
  double share;
  rs_real_or_word content; /* nats; content_words */
} params;

static const char *const content_words[] = {"sqrt_dim", NULL};

/* The mean cosine, gains included, at every distance from the last query. */
static rs_status mean_cosines(const rs_encoding *encoding, double *means, rs_err *err) {
  size_t length = encoding->length, last = length - 1;
  rs_decay *decay;
  RS_TRY(rs_encoding_decay(encoding, &decay, err));
  if (decay != NULL) rs_decay_range(decay, 0, length, means);
  for (size_t x = 0; x < length; x++)
    means[x] =
        decay != NULL ? means[x] / (double)(encoding->head_dim / 2) : rs_encoding_mean_cosine(encoding, last, last - x);
  rs_decay_free(decay);
  return RS_OK;
}

/* The last query's logits (L,) in `head` by distance when all contents are equal: `content` (nats, the logit of equal
 * contents that nothing turns) times the mean cosine, the encoding's factor, and the bias; up to a constant of the row,
 * which amp would not put on pairs that stand still. */
static rs_status fill_logits(const rs_encoding *encoding, size_t head, double content, double *logits, rs_err *err) {
  size_t length = encoding->length, last = length - 1;
  RS_TRY(mean_cosines(encoding, logits, err));
  double factor = encoding->amp * encoding->amp * encoding->logit_scale[last] * rs_encoding_head_scale(encoding, head);
  for (size_t x = 0; x < length; x++) logits[x] *= content * factor;
  if (encoding->method->bias == NULL) return RS_OK;
  double *bias = rs_alloc(length, sizeof *bias, err);
  if (bias == NULL) return RS_MEMORY;
  rs_encoding_bias_row(encoding, head, last, 0, length, bias);
  for (size_t x = 0; x < length; x++) logits[x] += bias[last - x];
  free(bias);
  return RS_OK;
}

/* The fewest nearest keys whose weights reach `share` of all, logits by distance. */
static double nearest(const double *logits, size_t length, double share) {
  double largest = -INFINITY;
  rs_sum all = {0}, near = {0};
  for (size_t x = 0; x < length; x++) largest = fmax(largest, logits[x]);
  for (size_t x = 0; x < length; x++) rs_sum_add(&all, exp(logits[x] - largest));
  size_t keys = 0;
  while (keys < length && rs_sum_total(&near) < share * rs_sum_total(&all))
    rs_sum_add(&near, exp(logits[keys++] - largest));
  return (double)keys;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const params *p = in->params;
  size_t length = in->encoding->length;
  double sum = 0, content = p->content.word == 0 ? sqrt((double)in->encoding->head_dim) : p->content.number;
  result->value[0] = NAN;
  /* What is added to q and k is content to the logits, which vectors of distance read as well. */
  if (in->encoding->method->embed != NULL || in->encoding->method->vectors != NULL) return RS_OK;
  double *logits = rs_alloc(length, sizeof *logits, err);
  if (logits == NULL) return RS_MEMORY;
  rs_status status = RS_OK;
  for (size_t i = 0; i < in->head_count && status == RS_OK; i++) {
    status = fill_logits(in->encoding, in->heads[i], content, logits, err);
    sum += status == RS_OK ? nearest(logits, length, p->share) : 0;
  }
  result->value[0] = sum / (double)in->head_count;
  free(logits);
  return status;
}

static const rs_param specs[] = {
    {RS_FIELD(params, share), .unit = "1", .min = 0, .max = 1, .fallback = "0.99",
     .summary = "of the weight that the keys must hold"},
    {RS_FIELD(params, content), .unit = "nats", RS_WORDS(content_words), .min = 0, .max = 1e6, .fallback = "sqrt_dim",
     .summary = "logit of two equal contents that nothing turns; sqrt_dim: sqrt(D), of contents 1 in every dim"},
};

static const rs_column scalars[] = {
    RS_COLUMN("receptive_field_tokens", "tokens",
              "fewest nearest keys that hold the share of the last query's weight when all contents are equal, mean "
              "over the simulated heads; empty for embeddings that are added",
              .log_axis = true),
};

const rs_metric_kind rs_metric_receptive_field = {
    .kind = {.name = "receptive_field",
             .summary = "how many of the nearest keys hold a share of the weight (99 %) when no content tells them "
                        "apart; no key is masked",
             .reference = "ALiBi, arXiv:2108.12409; Qin et al., arXiv:2307.10156, section 4",
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    .finish = finish,
};
