/* The critical base: larger bases extrapolate up to 2 pi theta^(d_extra / R) tokens, where d_extra counts the dims
 * whose pairs went full circle in training, ln(L0 / 2 pi) / ln(theta) of them. The base that brings this to s L0 tokens
 * is theta^(ln(s L0 / 2 pi) / ln(L0 / 2 pi)). Liu et al., "Scaling Laws of RoPE-based Extrapolation", arXiv:2310.05209,
 * theorem 2 (without its rounding of d_extra to whole dims). A context shorter than L0 needs no other base: s below 1
 * counts as 1. */
#include "encoding/kinds.h"

#include <math.h>

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  double trained = in->train_length / (2 * M_PI), wanted = fmax(1, in->scale) * trained;
  if (trained <= 1)
    return rs_fail(err, RS_DOMAIN, "the critical base needs a train_length above 2 pi tokens, not %g",
                   in->train_length);
  rs_ladder(pow(in->theta, log(wanted) / log(trained)), (double)in->rotary_dim, in->rotary_dim / 2, out->omega);
  return RS_OK;
}

const rs_freq_kind rs_freq_critical_base = {
    .kind = {.name = "critical_base",
             .summary = "base theta^(ln(s L0 / 2 pi) / ln(L0 / 2 pi))",
             .reference = "Liu et al., arXiv:2310.05209, theorem 2"},
    .scaled = true,
    .fill = fill,
};
