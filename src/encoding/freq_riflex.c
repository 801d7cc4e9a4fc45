/* RIFLEx: the pair whose wave is the one that videos repeat with is slowed down until it makes less than one turn in
 * the longer video; all others stay. That wave is near the frame from which what is made beyond training repeats
 * itself. Zhao et al., arXiv:2502.15894, equations 4, 7 and 8; the authors' code takes 0.9 of a turn. */
#include "kinds.h"

#include <math.h>

typedef struct params {
  double intrinsic_pair, repetition, margin;
} params;

/* The pair whose wavelength, in whole tokens, is nearest to the repetition; the faster one of two. */
static size_t nearest_pair(const double *omega, size_t pairs, double repetition) {
  size_t nearest = 0;
  double least = INFINITY;
  for (size_t j = 0; j < pairs; j++) {
    double distance = fabs(rint(2 * M_PI / omega[j]) - repetition);
    if (distance < least) nearest = j;
    least = fmin(least, distance);
  }
  return nearest;
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  const params *p = in->params;
  size_t pairs = in->rotary_dim / 2;
  RS_TRY(rs_freq_default.fill(in, out, err));
  if (p->intrinsic_pair >= (double)pairs)
    return rs_fail(err, RS_DOMAIN, "riflex: intrinsic_pair = %g, but there are pairs 0 to %zu", p->intrinsic_pair,
                   pairs - 1);
  if (!(in->scale > 1)) return RS_OK;
  double repetition = isnan(p->repetition) ? 2 * in->train_length : p->repetition;
  size_t pair = isnan(p->intrinsic_pair) ? nearest_pair(out->omega, pairs, repetition) : (size_t)p->intrinsic_pair;
  out->omega[pair] = p->margin * 2 * M_PI / (in->scale * in->train_length);
  return RS_OK;
}

static const rs_param specs[] = {
    {RS_FIELD(params, intrinsic_pair), .unit = "", .min = 0, .max = 32768,
     .summary = "the pair that is slowed down, from 0 (the authors' k less 1); by default the one whose wavelength is "
                "nearest to repetition"},
    {RS_FIELD(params, repetition), .unit = "tokens", .min = 1, .max = 1e9,
     .summary =
         "the position from which what is made repeats itself (default: 2 train_length, as HunyuanVideo's 66 and "
         "CogVideoX's 26 are)"},
    {RS_FIELD(params, margin), .unit = "1", .min = 1e-6, .max = 1, .fallback = "0.9",
     .summary = "turns that it makes in s train_length tokens"},
};

const rs_freq_kind rs_freq_riflex = {
    .kind = {.name = "riflex",
             .summary = "one pair of theta^(-2j/R) slowed down to margin 2 pi / (s L0)",
             .reference =
                 "RIFLEx, Zhao et al., arXiv:2502.15894, equation 8; github.com/thu-ml/RIFLEx, riflex_utils.py",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(params)},
    .scaled = true,
    .trained = true,
    .fill = fill,
};
