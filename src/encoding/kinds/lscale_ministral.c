/* Ministral 3's temperature: 1 + beta ln(1 + floor(m / length)), as in transformers' modeling_ministral3.py
 * (llama_4_scaling_beta, original_max_position_embeddings). Llama 4's counts one token more. */
#include "encoding/kinds.h"

#include <math.h>

static rs_status fill(const rs_stage_in *in, double *logit_scale, rs_err *err) {
  double beta = rs_lscale_factor(in->params, 0.1); /* 0.1: as published */
  double length = rs_lscale_length(in->params, in->train_length);
  (void)err;
  for (size_t m = 0; m < in->length; m++) logit_scale[m] *= 1 + beta * log1p(floor(rs_stage_position(in, m) / length));
  return RS_OK;
}

const rs_lscale_kind rs_lscale_ministral = {
    .kind = {.name = "ministral",
             .summary = "logits times 1 + factor ln(1 + floor(m / length))",
             .reference = "transformers modeling_ministral3.py"},
    .fill = fill,
};
