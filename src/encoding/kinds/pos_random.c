/* Randomised positions: the tokens stand, in order, at a random subset of a range longer than any context. Ruoss et
 * al., "Randomized Positional Encodings Boost Length Generalization", arXiv:2305.16843, section 3. Queries and keys
 * share one draw, as the heads do; the authors draw anew at each step of training, which here is another seed. */
#include "encoding/kinds.h"

#include <stdlib.h>

typedef struct params {
  size_t position_range, position_seed; /* tokens; - */
} params;

typedef struct state {
  size_t range;
  uint64_t seed;
} state;

static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  const params *p = in->params;
  if (in->length > p->position_range)
    return rs_fail(err, RS_DOMAIN, "%s: %zu tokens do not fit into position_range = %zu", in->method, in->length,
                   p->position_range);
  *(state *)out = (state){p->position_range, p->position_seed};
  return RS_OK;
}

static rs_status fill(const void *prepared, const rs_positions *positions, rs_err *err) {
  const state *s = prepared;
  RS_FREED size_t *places = rs_alloc(positions->length, sizeof *places, err);
  if (places == NULL) return RS_MEMORY;
  rs_subset((rs_stream){.seed = s->seed, .purpose = RS_PURPOSE_POSITIONS}, positions->length, s->range, places);
  for (size_t i = 0; i < positions->length; i++) positions->q[0][i] = positions->k[0][i] = (double)places[i];
  return RS_OK;
}

static const rs_param specs[] = {
    {RS_FIELD(params, position_range), .unit = "tokens", .min = 1,
     .max = 16777216, /* 2^24: the draw looks at every position once */
     .fallback = "2048", .summary = "positions are drawn from 0 .. position_range - 1 (2048: the authors' example)"},
    {RS_FIELD(params, position_seed), .unit = "", .min = 0, .max = 9007199254740992.0, .fallback = "0",
     .summary = "seed of the positions"},
};

const rs_pos_kind rs_pos_random = {
    .kind = {.name = "random",
             .summary = "a sorted random subset of a longer range of positions",
             .reference = "Ruoss et al., arXiv:2305.16843, section 3",
             RS_KIND(specs, params)},
    .text_only = true,
    .views = 1,
    .seed = "position_seed",
    .state_size = sizeof(state),
    .prepare = prepare,
    .fill = fill,
};
