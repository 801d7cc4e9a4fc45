/* RIFLEx: the pair whose wave is the one that videos repeat with is slowed down until it makes less than one turn in
 * the longer video; all others stay. That wave is near the frame from which what is made beyond training repeats
 * itself. Zhao et al., arXiv:2502.15894, equations 4, 7 and 8; the authors' code takes 0.9 of a turn. */
#include "encoding/kinds.h"

#include <math.h>
#include <stdlib.h>

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

/* The pair that is slowed down, of a ladder omega (pairs,); a number beyond it where intrinsic_pair is one. */
static size_t slowed_pair(const params *p, const double *omega, size_t pairs, double train_length) {
  double repetition = isnan(p->repetition) ? 2 * train_length : p->repetition;
  return isnan(p->intrinsic_pair) ? nearest_pair(omega, pairs, repetition) : (size_t)p->intrinsic_pair;
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  const params *p = in->params;
  size_t pairs = in->rotary_dim / 2;
  RS_TRY(rs_freq_default.fill(in, out, err));
  if (p->intrinsic_pair >= (double)pairs)
    return rs_fail(err, RS_DOMAIN, "riflex: intrinsic_pair = %g, but there are pairs 0 to %zu", p->intrinsic_pair,
                   pairs - 1);
  if (!(in->scale > 1)) return RS_OK;
  out->omega[slowed_pair(p, out->omega, pairs, in->train_length)] =
      p->margin * 2 * M_PI / (in->scale * in->train_length);
  return RS_OK;
}

/* RS_INPUT where pairs read different axes. The paper's ladder is that of time alone; the pairs that time has of a
 * ladder which axes share have other wavelengths, and the one nearest to the repetition may read rows or columns. */
static rs_status need_one_axis(const rs_binding *rotary, const uint16_t *axis, size_t pairs, size_t slowed,
                               rs_err *err) {
  static const char *const names[RS_AXES + 1] = {"t", "h", "w", "no axis"};
  size_t reading[RS_AXES + 1] = {0}, axes = 0;
  for (size_t j = 0; j < pairs; j++) reading[axis[j]]++;
  for (size_t a = 0; a < RS_AXES; a++) axes += reading[a] > 0;
  if (axes < 2 || slowed >= pairs) return RS_OK; /* `fill` refuses a pair that is not there */
  return rs_binding_fail(rotary, offsetof(rs_rotary_params, mrope_section), err,
                         "shares the pairs of one ladder among %zu axes, and riflex would slow down pair %zu, which "
                         "reads %s: it is defined on a ladder that one axis has alone (give mrope_section: none and "
                         "that axis's rotary_dim)",
                         axes, slowed, names[axis[slowed]]);
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  rs_common_params common;
  rs_rotary_params p;
  rs_common_bind(binding->settings, &common);
  rs_binding rotary = rs_rotary_bind(binding->settings, &p);
  size_t pairs = rs_pairs_of(binding->settings, model), axes;
  RS_FREED uint16_t *axis = rs_alloc(pairs, sizeof *axis, err);
  RS_FREED double *omega = rs_alloc(pairs, sizeof *omega, err);
  rs_status status = axis != NULL && omega != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) status = rs_axes_fill(&rotary, model, pairs, axis, &axes, err);
  if (status == RS_OK) {
    size_t trained = common.train_length == RS_NO_COUNT ? model->train_length : common.train_length;
    rs_ladder(isnan(p.rope_theta) ? model->rope_theta : p.rope_theta, 2 * (double)pairs, pairs, omega);
    size_t slowed = slowed_pair(binding->fields, omega, pairs, (double)trained);
    status = need_one_axis(&rotary, axis, pairs, slowed, err);
  }
  return status;
}

static const rs_param specs[] = {
    {RS_FIELD(params, intrinsic_pair), .unit = "", .min = 0, .max = 32768,
     .summary = "the pair that is slowed down, from 0 (the authors' k less 1); by default the one whose wavelength is "
                "nearest to repetition"},
    {RS_FIELD(params, repetition), .unit = "tokens", .min = 1, .max = 1e9,
     .summary = "the position from which what is made repeats itself (default: 2 train_length, as HunyuanVideo's 66 "
                "and CogVideoX's 26 are)"},
    {RS_FIELD(params, margin), .unit = "1", .min = 1e-6, .max = 1, .fallback = "0.9",
     .summary = "turns that it makes in s train_length tokens"},
};

const rs_freq_kind rs_freq_riflex = {
    .kind = {.name = "riflex",
             .summary = "one pair of theta^(-2j/R) slowed down to margin 2 pi / (s L0); of a ladder that one axis has "
                        "alone",
             .reference =
                 "RIFLEx, Zhao et al., arXiv:2502.15894, equation 8; github.com/thu-ml/RIFLEx, riflex_utils.py",
             RS_KIND(specs, params)},
    .scaled = true,
    .trained = true,
    .check = check,
    .fill = fill,
};
