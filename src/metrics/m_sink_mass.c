/* How much attention falls on the first keys, whatever they hold. Xiao et al., "StreamingLLM", arXiv:2309.17453. */
#include "metrics.h"

static size_t state_size(const rs_metric_in *in) {
  (void)in;
  return sizeof(rs_moments);
}

static void row(const rs_metric_in *in, void *state, const rs_row *observed) {
  (void)in;
  rs_moments_add(state, observed->sink_weight);
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)in;
  (void)err;
  rs_result_mean(result, 0, state);
  return RS_OK;
}

static const rs_param params[] = {
    {.name = "tokens",
     .type = RS_INTEGER,
     .unit = "tokens",
     .min = 1,
     .max = 1e9,
     .fallback = "4",
     .summary = "how many first keys count as the sink (4: the paper)"},
};

static const rs_column scalars[] = {
    {.name = "sink_mass",
     .unit = "1",
     .summary = "attention weight of the first keys, mean over queries and heads",
     .sampled = true},
};

const rs_metric_kind rs_metric_sink_mass = {
    .kind = {.name = "sink_mass",
             .summary = "attention weight of the first keys",
             .reference = "StreamingLLM, arXiv:2309.17453",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .scalars = scalars,
    .scalar_count = RS_COUNT(scalars),
    .state_size = state_size,
    .row = row,
    .finish = finish,
};
