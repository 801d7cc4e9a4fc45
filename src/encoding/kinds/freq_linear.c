/* Position Interpolation as frequencies: every one divided by s. Chen et al., arXiv:2306.15595, eq. 4. The same turns
 * come from dividing the positions (pos_linear.c); `interpolate` chooses. */
#include "encoding/kinds.h"

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  RS_TRY(rs_freq_default.fill(in, out, err));
  if (((const rs_interpolation *)in->params)->interpolate == RS_INTERPOLATE_POSITIONS) return RS_OK;
  for (size_t j = 0; j < in->rotary_dim / 2; j++) out->omega[j] /= in->scale;
  return RS_OK;
}

/* What is done to frequencies misses positions that are divided instead. */
static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  (void)model;
  static const char with[] = "interpolate: positions";
  rs_rotary_params rotary;
  rs_binding stage = rs_rotary_bind(binding->settings, &rotary);
  if (((const rs_interpolation *)binding->fields)->interpolate != RS_INTERPOLATE_POSITIONS) return RS_OK;
  RS_TRY(rs_binding_unused(&stage, offsetof(rs_rotary_params, wavelengths), with, err));
  return rs_binding_unused(&stage, offsetof(rs_rotary_params, cached_keys), with, err);
}

const rs_freq_kind rs_freq_linear = {
    .kind = {.name = "linear",
             .summary = "omega_j = theta^(-2j/R) / s",
             .reference = "Position Interpolation, arXiv:2306.15595, eq. 4",
             RS_KIND(rs_interpolation_specs, rs_interpolation)},
    .scaled = true,
    .check = check,
    .fill = fill,
};
