/* How many keys attention is shared among: the perplexity of a row's weights. */
#include "metric_list.h"

#include <math.h>

static rs_status prepare(const rs_metric_in *in, void **state, rs_err *err) {
  (void)in;
  return rs_state_make(sizeof(rs_moments), state, err);
}

static void row(void *state, const rs_row *observed) {
  rs_moments_add(state, exp(observed->entropy));
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)in;
  (void)err;
  rs_result_mean(result, 0, state);
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("effective_tokens", "",
              "exp(entropy) of a row, from 1 to its keys, and 1 more with a learned sink; mean over queries and heads",
              .sampled = true, .log_axis = true, .better = RS_LOWER),
};

const rs_metric_kind rs_metric_effective_tokens = {
    .kind = {.name = "effective_tokens",
             .summary = "number of equally weighted keys with the same entropy (a learned sink counts as a key)",
             .reference = "exponential of Shannon's entropy (Hill number of order 1)",
             .version = 1},
    RS_SCALARS(scalars),
    .prepare = prepare,
    .row = row,
    .finish = finish,
};
