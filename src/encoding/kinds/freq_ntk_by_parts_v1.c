/* The first NTK-by-parts: linear and NTK-aware frequencies blended by one ramp, then that and the plain ones by a
 * second. bloc97, 2023; github.com/jquesnelle/yarn, LlamaPartNTKScaledRotaryEmbedding. Superseded by the form of
 * freq_ntk_by_parts.c. */
#include "encoding/kinds.h"

#include <stdlib.h>

/* Rotations at the ends of the two ramps, "found experimentally" for LLaMA by the authors. */
static const double linear_to_ntk[2] = {1.25, 0.75}, ntk_to_plain[2] = {16, 2};

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  size_t pairs = in->rotary_dim / 2;
  double ntk_theta = in->theta;
  RS_TRY(rs_ntk_theta(in, &ntk_theta, err));
  RS_FREED double *ntk = rs_alloc(pairs, sizeof *ntk, err);
  if (ntk == NULL) return RS_MEMORY;
  rs_ladder(ntk_theta, (double)in->rotary_dim, pairs, ntk);
  rs_ladder(in->theta, (double)in->rotary_dim, pairs, out->omega);
  rs_ramp first = rs_correction_ramp(in, in->train_length, linear_to_ntk[0], linear_to_ntk[1], true);
  rs_ramp second = rs_correction_ramp(in, in->train_length, ntk_to_plain[0], ntk_to_plain[1], true);
  for (size_t j = 0; j < pairs; j++) {
    double plain = out->omega[j], share = rs_ramp_at(first, (double)j);
    double blended = plain / in->scale * share + ntk[j] * (1 - share);
    share = rs_ramp_at(second, (double)j);
    out->omega[j] = blended * share + plain * (1 - share);
  }
  return RS_OK;
}

const rs_freq_kind rs_freq_ntk_by_parts_v1 = {
    .kind = {.name = "ntk_by_parts_v1",
             .summary = "plain, NTK-aware and linear frequencies blended by two ramps",
             .reference = "github.com/jquesnelle/yarn, LlamaPartNTKScaledRotaryEmbedding (2023)"},
    .scaled = true,
    .trained = true,
    .fill = fill,
};
