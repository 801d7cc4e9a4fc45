/* Position Interpolation as frequencies: every one divided by s. Chen et al., arXiv:2306.15595, eq. 4. The same turns
 * come from dividing the positions (pos_linear.c); `interpolate` chooses. */
#include "kinds.h"

enum { FREQUENCIES, POSITIONS };

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  RS_TRY(rs_freq_default.fill(in, out, err));
  if (rs_setting_choice(in->settings, "interpolate") == POSITIONS) return RS_OK;
  for (size_t j = 0; j < in->rotary_dim / 2; j++) out->omega[j] /= in->scale;
  return RS_OK;
}

/* What is done to frequencies misses positions that are divided instead. */
static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  (void)model;
  if (rs_setting_choice(settings, "interpolate") != POSITIONS) return RS_OK;
  RS_TRY(rs_unused_check(settings, "wavelengths", "interpolate: positions", err));
  return rs_unused_check(settings, "cached_keys", "interpolate: positions", err);
}

static const rs_param params[] = {
    {.name = "interpolate",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("frequencies", "positions"),
     .fallback = "frequencies",
     .summary = "what is divided by s; the turns are the same"},
};

const rs_freq_kind rs_freq_linear = {
    .kind = {.name = "linear",
             .summary = "omega_j = theta^(-2j/R) / s",
             .reference = "Position Interpolation, arXiv:2306.15595, eq. 4",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .scaled = true,
    .check = check,
    .fill = fill,
};
