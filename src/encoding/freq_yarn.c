/* YaRN: NTK-by-parts frequencies and a temperature. arXiv:2309.00071v2, Definition 2 and eq. 22: sqrt(1/t) = 0.1 ln s +
 * 1 multiplies cos and sin, so that the logits get its square. DeepSeek's mscale and mscale_all_dim as in Hugging Face.
 */
#include "kinds.h"

#include <math.h>

static double magnitude(double mscale, double scale) {
  return scale <= 1 ? 1 : 0.1 * mscale * log(scale) + 1;
}

/* Both of mscale and mscale_all_dim, or neither: one alone is ignored, and 0 counts as absent (Hugging Face; vLLM's
 * deepseek_yarn differs there). */
static double attention_factor(const rs_freq_in *in) {
  const rs_value *given = rs_setting(in->settings, "attention_factor");
  if (given->set) return given->number;
  double mscale = rs_setting_number(in->settings, "mscale"), all = rs_setting_number(in->settings, "mscale_all_dim");
  if (mscale > 0 && all > 0) return magnitude(mscale, in->scale) / magnitude(all, in->scale);
  return magnitude(1, in->scale);
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  (void)err;
  rs_by_parts_fill(in, out->omega);
  rs_place_factor(in->settings, attention_factor(in), out);
  if (rs_setting_true(in->settings, "mscale_softmax")) {
    double all = magnitude(rs_setting_number(in->settings, "mscale_all_dim"), in->scale);
    out->logit_factor *= all * all;
  }
  return RS_OK;
}

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  if (rs_setting_true(settings, "mscale_softmax") && !rs_setting(settings, "mscale_all_dim")->set)
    return rs_fail_on(err, RS_INPUT, "mscale_softmax", "needs mscale_all_dim (DeepSeek-V3 has 1)");
  return rs_by_parts_check(settings, model, err);
}

static const rs_param params[] = {
    RS_BY_PARTS_PARAMS,
    {.name = "attention_factor",
     .type = RS_REAL,
     .unit = "1",
     .min = 1e-6,
     .max = 1e6,
     .summary = "g in place of 0.1 ln s + 1"},
    {.name = "mscale",
     .type = RS_REAL,
     .unit = "1",
     .min = 0,
     .max = 100,
     .summary = "DeepSeek: with mscale_all_dim, g = (0.1 mscale ln s + 1) / (0.1 mscale_all_dim ln s + 1)"},
    {.name = "mscale_all_dim", .type = RS_REAL, .unit = "1", .min = 0, .max = 100, .summary = "DeepSeek: see mscale"},
    {.name = "mscale_softmax",
     .type = RS_BOOL,
     .unit = "",
     .fallback = "false",
     .summary = "DeepSeek: multiply the logits by (0.1 mscale_all_dim ln s + 1)^2 as well"},
    RS_TEMPERATURE_PARAM,
};

const rs_freq_kind rs_freq_yarn = {
    .kind = {.name = "yarn",
             .summary = "NTK-by-parts frequencies; cos and sin times g = 0.1 ln s + 1",
             .reference = "YaRN, arXiv:2309.00071v2, Definition 2 and eq. 22",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .scaled = true,
    .check = check,
    .fill = fill,
};
