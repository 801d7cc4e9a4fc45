/* Llama 4's temperature: 1 + beta ln(1 + floor((m + 1) / length)), as in transformers' modeling_llama4.py
 * (attn_temperature_tuning, attn_scale, floor_scale). There it acts in the layers without rotation only. */
#include "encoding/kinds.h"

#include <math.h>

static rs_status fill(const rs_stage_in *in, double *logit_scale, rs_err *err) {
  enum { FLOOR_SCALE = 8192 }; /* attn_scale and floor_scale: the defaults of Llama 4's config */
  double beta = rs_lscale_factor(in->params, 0.1), length = rs_lscale_length(in->params, FLOOR_SCALE);
  (void)err;
  for (size_t m = 0; m < in->length; m++)
    logit_scale[m] *= 1 + beta * log1p(floor((rs_stage_position(in, m) + 1) / length));
  return RS_OK;
}

const rs_lscale_kind rs_lscale_llama4 = {
    .kind = {.name = "llama4",
             .summary = "logits times 1 + factor ln(1 + floor((m + 1) / length))",
             .reference = "transformers modeling_llama4.py"},
    .fill = fill,
};
