/* The first distance at which the mean cosine is negative: beyond it a key with the query's own content scores lower
 * than a random one. Men et al., "Base of RoPE bounds context length", arXiv:2405.14591, section 4. */
#include "metric_list.h"

#include <math.h>

/* The first violation or the length, for kernels that are not of the distance alone. */
static size_t search_pairs(const rs_encoding *encoding) {
  size_t last = encoding->length - 1, m = 1;
  if (encoding->rotary_dim == 0) return encoding->length;
  while (m <= last && rs_encoding_mean_cosine(encoding, last, last - m) >= 0) m++;
  return m;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  rs_decay *decay;
  size_t length = in->encoding->length;
  RS_TRY(rs_encoding_decay(in->encoding, &decay, err));
  size_t first = decay != NULL ? rs_decay_first_below(decay, 0, 1, length) : search_pairs(in->encoding);
  rs_decay_free(decay);
  result->value[0] = first < length ? (double)first : NAN;
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("first_violation_tokens", "tokens",
              "first distance with a negative mean cosine; empty when there is none below the length", .integer = true,
              .log_axis = true, .better = RS_HIGHER),
};

const rs_metric_kind rs_metric_first_violation = {
    .kind = {.name = "first_violation",
             .summary = "first distance m with B_m < 0, searched over every integer",
             .reference = "Base of RoPE bounds context length, arXiv:2405.14591, section 4"},
    RS_SCALARS(scalars),
    .finish = finish,
};
