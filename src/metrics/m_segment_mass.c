/* Which part of the context attention is on: what is asked for, the first tokens, those near the query, or the rest. A
 * key counts in the first part that it belongs to, so that the parts sum to 1, with the weight of a learned sink. */
#include "metric_list.h"

typedef struct params {
  size_t sinks, local;
} params;

typedef struct state {
  rs_moments part[RS_ROW_SEGMENTS], learned;
} state;

static size_t sinks(const void *given) {
  return ((const params *)given)->sinks;
}

static void wants(const void *given, rs_row_needs *needs) {
  needs->local = ((const params *)given)->local;
}

static rs_status prepare(const rs_metric_in *in, void **memory, rs_err *err) {
  (void)in;
  return rs_state_make(sizeof(state), memory, err);
}

static void row(void *memory, const rs_row *observed) {
  state *s = memory;
  for (size_t i = 0; i < RS_ROW_SEGMENTS; i++) rs_moments_add(&s->part[i], observed->segment_weight[i]);
  rs_moments_add(&s->learned, observed->learned_weight);
}

static rs_status finish(const rs_metric_in *in, const void *memory, rs_result *result, rs_err *err) {
  (void)in;
  (void)err;
  const state *s = memory;
  for (size_t i = 0; i < RS_ROW_SEGMENTS; i++) rs_result_mean(result, i, &s->part[i]);
  rs_result_mean(result, RS_ROW_SEGMENTS, &s->learned);
  return RS_OK;
}

static const rs_param specs[] = {
    {RS_FIELD(params, sinks), .unit = "tokens", .min = 1, .max = 1e9, .fallback = "4",
     .summary = "how many first keys count as the sink"},
    {RS_FIELD(params, local), .unit = "tokens", .min = 1, .max = 1e9, .fallback = "128",
     .summary = "keys at fewer tokens than this from the query are local"},
};

static const rs_column scalars[] = {
    [RS_ROW_NEEDLE] = RS_COLUMN("needle_mass", "1",
                                "attention weight of what queries ask for, mean over all queries and heads, also those "
                                "that ask for nothing; needle, first_keys, local, rest and learned_sink_mass sum to 1",
                                .sampled = true),
    [RS_ROW_SINK] = RS_COLUMN("first_keys_mass", "1", "attention weight of the first keys, but for a needle among them",
                              .sampled = true),
    [RS_ROW_LOCAL] =
        RS_COLUMN("local_mass", "1", "attention weight of the keys near the query, but for a needle and the first keys",
                  .sampled = true),
    [RS_ROW_REST] = RS_COLUMN(
        "rest_mass", "1", "attention weight of all keys but the needle, the first and the near ones", .sampled = true),
    [RS_ROW_SEGMENTS] = RS_COLUMN(
        "learned_sink_mass", "1",
        "attention weight of the head's learned sink, which is no key (gpt-oss); 0 without one", .sampled = true),
};

const rs_metric_kind rs_metric_segment_mass = {
    .kind = {.name = "segment_mass",
             .summary = "attention weight of the needle, the first keys, the nearest and the rest: they sum to 1",
             .reference = "sinks and recent tokens: StreamingLLM, arXiv:2309.17453; needles: Kamradt (2023)",
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    .sinks = sinks,
    .wants = wants,
    .prepare = prepare,
    .row = row,
    .finish = finish,
};
