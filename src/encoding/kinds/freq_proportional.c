/* Proportional RoPE (Gemma 4): the exponent runs over the whole head, and only the first share of the pairs turns; the
 * rest have frequency 0 exactly. Hugging Face, modeling_rope_utils.py, rope type "proportional". */
#include "encoding/kinds.h"

typedef struct params {
  double rotary_fraction, factor;
} params;

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  (void)err;
  size_t pairs = in->rotary_dim / 2;
  const params *p = in->params;
  size_t turning = (size_t)(p->rotary_fraction * (double)in->head_dim) / 2;
  if (turning > pairs) turning = pairs;
  rs_ladder(in->theta, (double)in->head_dim, turning, out->omega);
  for (size_t j = 0; j < turning; j++) out->omega[j] /= p->factor;
  for (size_t j = turning; j < pairs; j++) out->omega[j] = 0;
  return RS_OK;
}

static const rs_param specs[] = {
    {RS_FIELD(params, rotary_fraction), .unit = "1", .min = 0, .max = 1, .fallback = "1",
     .summary = "share of the head's pairs that turn, from the fastest"},
    {RS_FIELD(params, factor), .unit = "1", .min = 1e-6, .max = 1e9, .fallback = "1",
     .summary = "every frequency is divided by this"},
};

const rs_freq_kind rs_freq_proportional = {
    .kind = {.name = "proportional",
             .summary = "omega_j = theta^(-2j/D) for the first pairs, 0 for the rest",
             .reference = "Gemma 4; Hugging Face modeling_rope_utils.py, rope type proportional",
             RS_KIND(specs, params)},
    .fill = fill,
};
