/* YaRN: NTK-by-parts frequencies and a temperature. arXiv:2309.00071v2, Definition 2 and eq. 22: sqrt(1/t) = 0.1 ln s +
 * 1 multiplies cos and sin, so that the logits get its square. DeepSeek's mscale and mscale_all_dim as in Hugging Face.
 */
#include "encoding/kinds.h"

#include <math.h>

typedef enum magnitude_rule { ABOVE_1, ANY, MAGNITUDE_RULES } magnitude_rule;

typedef struct params {
  rs_by_parts parts;
  double attention_factor, attn_factor;
  magnitude_rule magnitude;
  double mscale, mscale_all_dim;
  bool mscale_alone, mscale_softmax;
  rs_factor_place temperature;
} params;

static double magnitude(const rs_freq_in *in, double mscale) {
  bool any = ((const params *)in->params)->magnitude == ANY;
  return any ? 0.1 * mscale * log(in->scale) + 1 : rs_yarn_magnitude(mscale, in->scale);
}

/* Both of mscale and mscale_all_dim, or neither: one alone is ignored, and 0 counts as absent (Hugging Face), unless
 * mscale_alone. */
static double attention_factor(const rs_freq_in *in) {
  const params *p = in->params;
  if (!isnan(p->attention_factor)) return p->attention_factor;
  if (p->mscale > 0 && p->mscale_all_dim > 0) return magnitude(in, p->mscale) / magnitude(in, p->mscale_all_dim);
  return magnitude(in, p->mscale > 0 && p->mscale_alone ? p->mscale : 1);
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  const params *p = in->params;
  RS_TRY(rs_by_parts_fill(in, &p->parts, out->omega, err));
  rs_place_factor(p->temperature, attention_factor(in) * p->attn_factor, out);
  if (p->mscale_softmax) {
    double all = magnitude(in, p->mscale_all_dim);
    out->logit_factor *= all * all;
  }
  return RS_OK;
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  (void)model;
  const params *p = binding->fields;
  if (p->mscale_softmax && isnan(p->mscale_all_dim))
    return rs_binding_fail(binding, offsetof(params, mscale_softmax), err, "needs mscale_all_dim (DeepSeek-V3 has 1)");
  return rs_by_parts_check(binding, offsetof(params, parts), err);
}

static const char *const magnitude_rules[MAGNITUDE_RULES + 1] = {[ABOVE_1] = "above_1", [ANY] = "any"};

static const rs_param specs[] = {
    RS_BY_PARTS_SPECS(params, parts),
    {RS_FIELD(params, attention_factor), .unit = "1", .min = 1e-6, .max = 1e6, .summary = "g in place of 0.1 ln s + 1"},
    {RS_FIELD(params, attn_factor), .unit = "1", .min = 1e-6, .max = 1e6, .fallback = "1",
     .summary = "multiplies g (vLLM's attn_factor, llama.cpp's yarn_attn_factor)"},
    {RS_FIELD(params, magnitude), .unit = "", RS_WORDS(magnitude_rules), .fallback = "above_1",
     .summary = "g is 1 for s <= 1, or follows its formula for any s (ggml)"},
    {RS_FIELD(params, mscale), .unit = "1", .min = 0, .max = 100,
     .summary = "DeepSeek: with mscale_all_dim, g = (0.1 mscale ln s + 1) / (0.1 mscale_all_dim ln s + 1)"},
    {RS_FIELD(params, mscale_all_dim), .unit = "1", .min = 0, .max = 100, .summary = "DeepSeek: see mscale"},
    {RS_FIELD(params, mscale_alone), .unit = "", .fallback = "false",
     .summary = "mscale counts without mscale_all_dim too: g = 0.1 mscale ln s + 1 (DeepSeek's own code)"},
    {RS_FIELD(params, mscale_softmax), .unit = "", .fallback = "false",
     .summary = "DeepSeek: multiply the logits by (0.1 mscale_all_dim ln s + 1)^2 as well"},
    RS_TEMPERATURE_SPEC(params),
};

const rs_freq_kind rs_freq_yarn = {
    .kind = {.name = "yarn",
             .summary = "NTK-by-parts frequencies; cos and sin times g = 0.1 ln s + 1",
             .reference = "YaRN, arXiv:2309.00071v2, Definition 2 and eq. 22",
             RS_KIND(specs, params)},
    .scaled = true,
    .trained = true,
    .check = check,
    .fill = fill,
};
