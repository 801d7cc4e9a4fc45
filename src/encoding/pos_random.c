/* Randomised positions: the tokens stand, in order, at a random subset of a range longer than any context. Ruoss et
 * al., "Randomized Positional Encodings Boost Length Generalization", arXiv:2305.16843, section 3. Queries and keys
 * share one draw, as the heads do; the authors draw anew at each step of training, which here is another seed. */
#include "kinds.h"

#include <stdlib.h>

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  double range = rs_setting_number(&encoding->settings, "position_range");
  double seed = rs_setting_number(&encoding->settings, "position_seed");
  RS_TRY(rs_text_only(encoding, err));
  if ((double)encoding->length > range)
    return rs_fail(err, RS_DOMAIN, "%s: %zu tokens do not fit into position_range = %g", encoding->method->name,
                   encoding->length, range);
  size_t *places = rs_alloc(encoding->length, sizeof *places, err);
  if (places == NULL) return RS_MEMORY;
  rs_subset((rs_stream){.seed = (uint64_t)seed, .purpose = RS_PURPOSE_POSITIONS}, encoding->length, (size_t)range,
            places);
  for (size_t i = 0; i < encoding->length; i++) encoding->pos_q[0][i] = encoding->pos_k[0][i] = (double)places[i];
  free(places);
  return RS_OK;
}

static const rs_param params[] = {
    {.name = "position_range",
     .type = RS_INTEGER,
     .unit = "tokens",
     .min = 1,
     .max = 16777216, /* 2^24: the draw looks at every position once */
     .fallback = "2048",
     .summary = "positions are drawn from 0 .. position_range - 1 (2048: the authors' example)"},
    {.name = "position_seed",
     .type = RS_INTEGER,
     .unit = "",
     .min = 0,
     .max = 9007199254740992.0,
     .fallback = "0",
     .summary = "seed of the positions"},
};

const rs_pos_kind rs_pos_random = {
    .kind = {.name = "random",
             .summary = "a sorted random subset of a longer range of positions",
             .reference = "Ruoss et al., arXiv:2305.16843, section 3",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .views = 1,
    .fill = fill,
};
