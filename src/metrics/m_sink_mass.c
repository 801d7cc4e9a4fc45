/* How much attention falls on the first keys, whatever they hold. Xiao et al., "StreamingLLM", arXiv:2309.17453. */
#include "metric_list.h"

typedef struct params {
  size_t tokens;
} params;

static size_t sinks(const void *given) {
  const params *p = given;
  return p->tokens;
}

static rs_status prepare(const rs_metric_in *in, void **state, rs_err *err) {
  (void)in;
  return rs_state_make(sizeof(rs_moments), state, err);
}

static void row(void *state, const rs_row *observed) {
  rs_moments_add(state, observed->sink_weight);
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)in;
  (void)err;
  rs_result_mean(result, 0, state);
  return RS_OK;
}

static const rs_param specs[] = {
    {RS_FIELD(params, tokens), .unit = "tokens", .min = 1, .max = 1e9, .fallback = "4",
     .summary = "how many first keys count as the sink (4: the paper)"},
};

static const rs_column scalars[] = {
    RS_COLUMN("sink_mass", "1", "attention weight of the first keys, mean over queries and heads", .sampled = true),
};

const rs_metric_kind rs_metric_sink_mass = {
    .kind = {.name = "sink_mass",
             .summary = "attention weight of the first keys",
             .reference = "StreamingLLM, arXiv:2309.17453",
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    .sinks = sinks,
    .prepare = prepare,
    .row = row,
    .finish = finish,
};
