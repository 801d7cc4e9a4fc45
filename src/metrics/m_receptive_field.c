/* How far a head sees when no content tells its keys apart: the fewest nearest keys that hold a share of the last
 * query's weight. With a bias alone this is the window of the paper that brought it: a slope m gives ceil(ln 100 / m)
 * keys for 99 % (ALiBi, arXiv:2108.12409); Qin et al., arXiv:2307.10156, section 4, measure it for any bias so. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

typedef struct params {
  double share;
  rs_real_or_word content; /* nats; rs_logit_word */
} params;

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
  double content = rs_given_logit(&p->content, in->encoding), sum = 0;
  result->value[0] = NAN;
  if (in->encoding->method->embed != NULL) return RS_OK; /* what is added to q and k is content to the logits */
  double *logits = rs_alloc(length, sizeof *logits, err);
  if (logits == NULL) return RS_MEMORY;
  rs_status status = RS_OK;
  for (size_t i = 0; i < in->head_count && status == RS_OK; i++) {
    status = rs_equal_logits(in->encoding, in->heads[i], content, logits, err);
    sum += status == RS_OK ? nearest(logits, length, p->share) : 0;
  }
  result->value[0] = sum / (double)in->head_count;
  free(logits);
  return status;
}

static const rs_param specs[] = {
    {RS_FIELD(params, share), .unit = "1", .min = 0, .max = 1, .fallback = "0.99",
     .summary = "of the weight that the keys must hold"},
    RS_CONTENT_SPEC(params),
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
             .version = 1,
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    .finish = finish,
};
