/* How spread out attention is: the entropy of a row's weights, and its exponential, how many keys they are shared
 * among. */
#include "metric_list.h"

#include <math.h>

typedef struct state {
  rs_moments entropy, share;
} state;

static rs_status prepare(const rs_metric_in *in, void **memory, rs_err *err) {
  (void)in;
  return rs_state_make(sizeof(state), memory, err);
}

static void row(void *memory, const rs_row *observed) {
  state *s = memory;
  rs_moments_add(&s->entropy, observed->entropy);
  size_t outcomes = rs_row_outcomes(observed);
  if (outcomes > 1) rs_moments_add(&s->share, observed->entropy / log((double)outcomes));
}

static rs_status finish(const rs_metric_in *in, const void *memory, rs_result *result, rs_err *err) {
  (void)in;
  (void)err;
  const state *s = memory;
  rs_result_mean(result, 0, &s->entropy);
  rs_result_mean(result, 1, &s->share);
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("entropy_nats", "nats", "-sum w ln w of a row, mean over queries and heads", .sampled = true,
              .better = RS_LOWER),
    RS_COLUMN("entropy_share", "1",
              "entropy as a share of ln(n), its largest value, in [0, 1]; n: the row's keys, and 1 for a learned sink",
              .sampled = true, .better = RS_LOWER),
};

const rs_metric_kind rs_metric_entropy = {
    .kind = {.name = "entropy",
             .summary = "entropy of the attention weights",
             .reference = "Su, kexue.fm/archives/8823; Veličković et al., arXiv:2410.01104",
             .version = 2},
    RS_SCALARS(scalars),
    .prepare = prepare,
    .row = row,
    .finish = finish,
};

/* ---- effective_tokens -------------------------------------------------------------------------------------------- */

static rs_status prepare_perplexity(const rs_metric_in *in, void **memory, rs_err *err) {
  (void)in;
  return rs_state_make(sizeof(rs_moments), memory, err);
}

static void row_perplexity(void *memory, const rs_row *observed) {
  rs_moments_add(memory, exp(observed->entropy));
}

static rs_status finish_perplexity(const rs_metric_in *in, const void *memory, rs_result *result, rs_err *err) {
  (void)in;
  (void)err;
  rs_result_mean(result, 0, memory);
  return RS_OK;
}

static const rs_column scalars_perplexity[] = {
    RS_COLUMN("effective_tokens", "",
              "exp(entropy) of a row, from 1 to its keys, and 1 more with a learned sink; mean over queries and heads",
              .sampled = true, .log_axis = true, .better = RS_LOWER),
};

const rs_metric_kind rs_metric_effective_tokens = {
    .kind = {.name = "effective_tokens",
             .summary = "number of equally weighted keys with the same entropy (a learned sink counts as a key)",
             .reference = "exponential of Shannon's entropy (Hill number of order 1)"},
    RS_SCALARS(scalars_perplexity),
    .prepare = prepare_perplexity,
    .row = row_perplexity,
    .finish = finish_perplexity,
};
