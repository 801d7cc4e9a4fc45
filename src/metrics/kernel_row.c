/* The positional part of the last query's logits, for metrics that weigh keys of equal content. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

static double turning_factor(const rs_encoding *encoding, size_t query) {
  return encoding->amp * encoding->amp * encoding->logit_scale[query];
}

double rs_logit_factor(const rs_encoding *encoding, size_t query) {
  bool all = encoding->amp == 1 || encoding->rotary_dim == encoding->head_dim;
  return all ? turning_factor(encoding, query) : NAN;
}

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

rs_status rs_equal_logits(const rs_encoding *encoding, size_t head, double content, double *logits, rs_err *err) {
  size_t length = encoding->length, last = length - 1;
  RS_TRY(mean_cosines(encoding, logits, err));
  double factor = turning_factor(encoding, last) * rs_encoding_head_scale(encoding, head);
  for (size_t x = 0; x < length; x++) logits[x] *= content * factor;
  if (encoding->method->bias == NULL) return RS_OK;
  double *bias = rs_alloc(length, sizeof *bias, err);
  if (bias == NULL) return RS_MEMORY;
  rs_encoding_bias_row(encoding, head, last, 0, length, bias);
  for (size_t x = 0; x < length; x++) logits[x] += bias[last - x];
  free(bias);
  return RS_OK;
}

const char *const rs_logit_words[RS_LOGIT_WORDS + 1] = {[RS_SQRT_DIM] = "sqrt_dim"};

double rs_given_logit(const rs_real_or_word *given, const rs_encoding *encoding) {
  return given->word == RS_SQRT_DIM ? sqrt((double)encoding->head_dim) : given->number;
}
