/* YaRN: NTK-by-parts frequencies and a temperature. arXiv:2309.00071v2, Definition 2 and eq. 22: sqrt(1/t) = 0.1 ln s +
 * 1 multiplies cos and sin, so that the logits get its square. DeepSeek's mscale and mscale_all_dim as in Hugging Face.
 */
#include "kinds.h"

#include <math.h>

static double magnitude(const rs_freq_in *in, double mscale) {
  enum { ABOVE_1, ANY };
  bool any = rs_setting_choice(in->settings, "magnitude") == ANY;
  return in->scale <= 1 && !any ? 1 : 0.1 * mscale * log(in->scale) + 1;
}

/* Both of mscale and mscale_all_dim, or neither: one alone is ignored, and 0 counts as absent (Hugging Face), unless
 * mscale_alone. */
static double attention_factor(const rs_freq_in *in) {
  const rs_value *given = rs_setting(in->settings, "attention_factor");
  if (given->set) return given->number;
  double mscale = rs_setting_number(in->settings, "mscale"), all = rs_setting_number(in->settings, "mscale_all_dim");
  if (mscale > 0 && all > 0) return magnitude(in, mscale) / magnitude(in, all);
  bool alone = mscale > 0 && rs_setting_true(in->settings, "mscale_alone");
  return magnitude(in, alone ? mscale : 1);
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  RS_TRY(rs_by_parts_fill(in, out->omega, err));
  rs_place_factor(in->settings, attention_factor(in) * rs_setting_number(in->settings, "attn_factor"), out);
  if (rs_setting_true(in->settings, "mscale_softmax")) {
    double all = magnitude(in, rs_setting_number(in->settings, "mscale_all_dim"));
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
    {.name = "attn_factor",
     .type = RS_REAL,
     .unit = "1",
     .min = 1e-6,
     .max = 1e6,
     .fallback = "1",
     .summary = "multiplies g (vLLM's attn_factor, llama.cpp's yarn_attn_factor)"},
    {.name = "magnitude",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("above_1", "any"),
     .fallback = "above_1",
     .summary = "g is 1 for s <= 1, or follows its formula for any s (ggml)"},
    {.name = "mscale",
     .type = RS_REAL,
     .unit = "1",
     .min = 0,
     .max = 100,
     .summary = "DeepSeek: with mscale_all_dim, g = (0.1 mscale ln s + 1) / (0.1 mscale_all_dim ln s + 1)"},
    {.name = "mscale_all_dim", .type = RS_REAL, .unit = "1", .min = 0, .max = 100, .summary = "DeepSeek: see mscale"},
    {.name = "mscale_alone",
     .type = RS_BOOL,
     .unit = "",
     .fallback = "false",
     .summary = "mscale counts without mscale_all_dim too: g = 0.1 mscale ln s + 1 (DeepSeek's own code)"},
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
