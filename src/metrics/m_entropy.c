/* How spread out attention is. */
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
