/* The first distance at which the mean cosine is negative: beyond it a key with the query's own content scores lower
 * than a random one. Men et al., "Base of RoPE bounds context length", arXiv:2405.14591, section 4. */
#include "metrics.h"

#include <math.h>

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  (void)err;
  size_t last = in->encoding->length - 1;
  result->value[0] = NAN;
  for (size_t m = 1; m <= last && in->encoding->rotary_dim > 0; m++)
    if (rs_encoding_mean_cosine(in->encoding, last, last - m) < 0) {
      result->value[0] = (double)m;
      break;
    }
  return RS_OK;
}

static const rs_column scalars[] = {
    {.name = "first_violation_tokens",
     .unit = "tokens",
     .summary = "first distance with a negative mean cosine; empty when there is none below the length",
     .log_axis = true,
     .better = RS_HIGHER},
};

const rs_metric_kind rs_metric_first_violation = {
    .kind = {.name = "first_violation",
             .summary = "first distance m with B_m < 0, searched over every integer",
             .reference = "Base of RoPE bounds context length, arXiv:2405.14591, section 4",
             .version = 1},
    .scalars = scalars,
    .scalar_count = RS_COUNT(scalars),
    .finish = finish,
};
