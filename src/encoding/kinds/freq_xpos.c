/* xPos: the query of position m is multiplied by zeta_j^(m/B), the key of position n divided by zeta_j^(n/B), so that a
 * score decays with distance, slow pairs less than fast ones. Sun et al., arXiv:2212.10554, section 3.2: zeta_j =
 * (2j/R + gamma) / (1 + gamma) with gamma = 0.4; B = 512 and the sign of the exponents as in its code (torchscale). */
#include "encoding/kinds.h"

#include <math.h>

typedef struct params {
  double xpos_gamma, xpos_scale_base; /* 1; tokens */
} params;

static double log_gain(const void *fields, size_t pair, size_t pairs) {
  const params *p = fields;
  return log(((double)pair / (double)pairs + p->xpos_gamma) / (1 + p->xpos_gamma)) / p->xpos_scale_base;
}

static const rs_param specs[] = {
    {RS_FIELD(params, xpos_gamma), .unit = "1", .min = 1e-6, .max = 1e6, .fallback = "0.4",
     .summary = "gamma in the decay zeta_j = (2j/R + gamma) / (1 + gamma) of pair j"},
    {RS_FIELD(params, xpos_scale_base), .unit = "tokens", .min = 1e-3, .max = 1e9, .fallback = "512",
     .summary = "tokens in which a score falls by zeta_j"},
};

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  return rs_freq_default.fill(in, out, err);
}

const rs_freq_kind rs_freq_xpos = {
    .kind = {.name = "xpos",
             .summary = "omega_j = theta^(-2j/R); scores times zeta_j^((m-n)/B)",
             .reference = "xPos, arXiv:2212.10554, section 3.2",
             RS_KIND(specs, params)},
    .fill = fill,
    .log_gain = log_gain,
};
