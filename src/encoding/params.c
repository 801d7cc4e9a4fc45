/* Parameters that every method, every rotary method, or every scaled method has. */
#include "params.h"

#include <math.h>

const char *const rs_pair_layout_words[RS_PAIR_LAYOUTS + 1] = {
    [RS_HALF_SPLIT] = "half_split", [RS_INTERLEAVED] = "interleaved"};
const char *const rs_id_scheme_words[RS_ID_SCHEMES + 1] = {[RS_IDS_QWEN2_VL] = "qwen2_vl",
                                                           [RS_IDS_HF] = "hf",
                                                           [RS_IDS_SPATIAL_RESET] = "spatial_reset",
                                                           [RS_IDS_VIDEOROPE] = "videorope",
                                                           [RS_IDS_V2PE] = "v2pe"};
const char *const rs_id_arithmetic_words[RS_ID_ARITHMETICS + 1] = {[RS_IDS_F32] = "f32", [RS_IDS_F64] = "f64"};

#define WORD(name) [RS_LSCALE_##name] = #name,
static const char *const lscale_words[RS_LSCALES + 1] = {[RS_LSCALE_NONE] = "none", RS_LSCALE_KINDS(WORD)};
static const char *const dialect_words[] = {"paper",    "authors", "hf",     "vllm",  "sglang", "llamacpp",
                                            "deepseek", "gpt_oss", "falcon", "bloom", "mpt",    NULL};
static const char *const section_words[RS_SECTION_WORDS + 1] = {
    [RS_SECTION_NONE] = "none", [RS_SECTION_EQUAL] = "equal"};
static const char *const tail_words[RS_MROPE_TAILS + 1] = {[RS_TAIL_T] = "t", [RS_TAIL_UNROTATED] = "unrotated"};
static const char *const wavelength_words[RS_WAVELENGTHS + 1] = {
    [RS_WAVES_EXACT] = "exact", [RS_WAVES_WHOLE] = "whole"};
static const char *const cached_words[] = {"consistent", NULL};
static const char *const scale_words[RS_SCALE_RULES + 1] = {[RS_SCALE_FIXED] = "fixed",
                                                            [RS_SCALE_AUTO] = "auto",
                                                            [RS_SCALE_DYNAMIC] = "dynamic",
                                                            [RS_SCALE_HF_DYNAMIC] = "hf_dynamic",
                                                            [RS_SCALE_VLLM_DYNAMIC] = "vllm_dynamic",
                                                            [RS_SCALE_QWEN_DYNAMIC] = "qwen_dynamic"};
static const char *const interpolation_words[RS_INTERPOLATED + 1] = {
    [RS_INTERPOLATE_FREQUENCIES] = "frequencies", [RS_INTERPOLATE_POSITIONS] = "positions"};
const char *const rs_factor_place_words[RS_FACTOR_PLACES + 1] = {
    [RS_ON_COS_SIN] = "cos_sin", [RS_ON_LOGITS] = "logits"};

static const rs_param common_specs[] = {
    {RS_FIELD(rs_common_params, train_length), .unit = "tokens", .min = 1, .max = 1e9,
     .summary = "L0, the length the model was trained at (default: the model's)"},
    {RS_FIELD(rs_common_params, logit_scale), .unit = "", RS_WORDS(lscale_words), .fallback = "none",
     .summary = "temperature by query position m, on top of the method. log_n: max(1, ln(m + 1) / ln length); ssmax: "
                "factor ln(m + 1); llama4: 1 + factor ln(1 + floor((m + 1) / length)); ministral: the same of m; "
                "entropy_invariant: factor ln(m + 1) / sqrt(D)"},
    {RS_FIELD(rs_common_params, logit_scale_factor), .unit = "1", .min = 0, .max = 1e6,
     .summary = "that factor: ssmax's s (default: 1 over the mean of ln n, n = 1 ... length), the others' beta "
                "(default: 0.1) or kappa (default: sqrt(D) / ln length)"},
    {RS_FIELD(rs_common_params, logit_scale_length), .unit = "tokens", .min = 1, .max = 1e9,
     .summary = "that length (default: train_length; llama4: 8192)"},
    {RS_FIELD(rs_common_params, dialect), .unit = "", RS_WORDS(dialect_words),
     .summary = "as this implementation has the method; what it does differently is listed there"},
};
const rs_kind rs_common_stage = {
    .name = "every method", .summary = "what every method has", RS_KIND(common_specs, rs_common_params)};

static const rs_param rotary_specs[] = {
    {RS_FIELD(rs_rotary_params, rope_theta), .unit = "1", .min = 1.000001, .max = 1e300,
     .summary = "base of the frequency ladder (default: the model's)"},
    {RS_FIELD(rs_rotary_params, rotary_dim), .unit = "dims", .min = 2, .max = 65536,
     .summary = "R, how many dims of the head turn; even (default: the model's)"},
    {RS_FIELD(rs_rotary_params, pair_layout), .unit = "", RS_WORDS(rs_pair_layout_words),
     .summary = "which dims form a pair (default: the model's)"},
    {RS_FIELD(rs_rotary_params, mrope_section), .unit = "pairs", RS_WORDS(section_words), .min = 0, .max = 32768,
     .summary = "pairs that read the axes t, h, w (arXiv:2409.12191); equal: thirds"},
    {RS_FIELD(rs_rotary_params, mrope_layout), .unit = "", RS_WORDS(rs_axis_layout_words),
     .summary = "which pairs read which axis: in blocks (Qwen2-VL), alternating (Qwen3-VL; no more than a third of the "
                "pairs for h or w), h and w on the fastest pairs and t on the slowest (ERNIE 4.5-VL), or by fair "
                "shares (openPangu) (default: the model's)"},
    {RS_FIELD(rs_rotary_params, mrope_tail), .unit = "", RS_WORDS(tail_words), .fallback = "t",
     .summary =
         "mrope_layout interleaved: pairs 1 and 2 of each three, once h and w have their sections (ggml: unrotated)"},
    {RS_FIELD(rs_rotary_params, vision_ids), .unit = "", RS_WORDS(rs_id_scheme_words), .fallback = "qwen2_vl",
     .summary = "how image and video tokens are counted: from the id where they start (arXiv:2409.12191); the same, "
                "but the text after goes on by the larger side alone (transformers since February 2026); rows and "
                "columns from 0 (arXiv:2510.23095); centred around a diagonal (arXiv:2502.05173); one axis in small "
                "steps (arXiv:2412.09616)"},
    {RS_FIELD(rs_rotary_params, vision_step), .unit = "tokens", .min = 1e-6, .max = 1e6,
     .summary = "ids a frame (videorope; default 2) or a vision token (v2pe; default 1/4) advances"},
    {RS_FIELD(rs_rotary_params, id_arithmetic), .unit = "", RS_WORDS(rs_id_arithmetic_words),
     .summary = "how a video's frame * seconds_per_frame * ids_per_second is multiplied before it is cut to a whole "
                "id: from the left in float32 (Qwen's code, transformers, vLLM up to late 2025), or the rates first, "
                "in doubles (newer vLLM) (default: f32)"},
    {RS_FIELD(rs_rotary_params, wavelengths), .unit = "", RS_WORDS(wavelength_words), .fallback = "exact",
     .summary =
         "whole: each pair's wavelength rounded to whole tokens, after all scaling (Resonance, arXiv:2403.00071)"},
    {RS_FIELD(rs_rotary_params, cached_keys), .unit = "tokens", RS_WORDS(cached_words), .min = 1, .max = 1e9,
     .fallback = "consistent",
     .summary =
         "a number: keys keep the rotation they were cached with, the first so many (the prompt) under the frequencies "
         "of that length, each later one under those of its own; consistent: all under the whole context's"},
};
const rs_kind rs_rotary_stage = {.name = "every rotary method",
                                 .summary = "what every method that turns pairs has",
                                 RS_KIND(rotary_specs, rs_rotary_params)};

static const rs_param scale_specs[] = {
    {RS_FIELD(rs_scale_params, scale), .unit = "1", RS_WORDS(scale_words), .min = 1e-6, .max = 1e9,
     .summary = "context factor s: a number, or a rule. fixed: factor; auto: length / train_length; dynamic: the same "
                "but at least 1; hf_dynamic: factor * length / train_length - (factor - 1); vllm_dynamic: the same as "
                "if length were factor * train_length, always; qwen_dynamic: 2^ceil(log2(length / train_length) + 1) - "
                "1, at least 1, as in Qwen 1 (default: fixed with a factor, else dynamic)"},
    {RS_FIELD(rs_scale_params, factor), .unit = "1", .min = 1e-6, .max = 1e9,
     .summary = "s for scale: fixed, or the factor of scale: hf_dynamic and vllm_dynamic"},
};
const rs_kind rs_scale_stage = {.name = "every scaled method",
                                .summary = "what every method with a scale has",
                                RS_KIND(scale_specs, rs_scale_params)};

const rs_param rs_interpolation_specs[] = {
    {RS_FIELD(rs_interpolation, interpolate), .unit = "", RS_WORDS(interpolation_words), .fallback = "frequencies",
     .summary = "what is divided by s; the turns are the same"},
};

rs_binding rs_common_bind(const rs_settings *settings, rs_common_params *params) {
  return rs_binding_over(settings, common_specs, RS_COUNT(common_specs), params);
}

rs_binding rs_rotary_bind(const rs_settings *settings, rs_rotary_params *params) {
  return rs_binding_over(settings, rotary_specs, RS_COUNT(rotary_specs), params);
}

rs_binding rs_scale_bind(const rs_settings *settings, rs_scale_params *params) {
  return rs_binding_over(settings, scale_specs, RS_COUNT(scale_specs), params);
}

bool rs_scale_unset(const rs_scale_params *params) {
  return params->scale.word == RS_NO_WORD && isnan(params->scale.number) && isnan(params->factor);
}

double rs_scale_at(const rs_scale_params *params, double length, double train_length) {
  double ratio = length / train_length, factor = params->factor, f = isnan(factor) ? 1 : factor;
  if (rs_scale_unset(params)) return fmax(1, ratio);
  switch (params->scale.word) {
  case RS_SCALE_FIXED: return factor;
  case RS_SCALE_AUTO: return ratio;
  case RS_SCALE_DYNAMIC: return fmax(1, ratio);
  case RS_SCALE_HF_DYNAMIC: return f * fmax(1, ratio) - (f - 1);
  case RS_SCALE_VLLM_DYNAMIC: return f * f - (f - 1);
  case RS_SCALE_QWEN_DYNAMIC: return fmax(1, exp2(ceil(log2(ratio) + 1)) - 1);
  default: return isnan(params->scale.number) ? factor : params->scale.number;
  }
}

double rs_scale_resolve(const rs_settings *settings, double length, double train_length) {
  rs_scale_params params;
  rs_scale_bind(settings, &params);
  return rs_scale_at(&params, length, train_length);
}

rs_id_rule rs_id_rule_of(const rs_rotary_params *params) {
  rs_id_rule rule = {.scheme = params->vision_ids, .step = params->vision_step};
  if (isnan(rule.step)) rule.step = rule.scheme == RS_IDS_VIDEOROPE ? 2 : 0.25; /* the papers' own choices */
  if (params->id_arithmetic != RS_IDS_UNNAMED) rule.arithmetic = params->id_arithmetic;
  return rule;
}

size_t rs_pairs_of(const rs_settings *settings, const rs_model *model) {
  rs_rotary_params rotary;
  rs_rotary_bind(settings, &rotary);
  return (rotary.rotary_dim != RS_NO_COUNT ? rotary.rotary_dim : model->rotary_dim) / 2;
}

rs_status rs_pair_list_check(const rs_binding *binding, size_t offset, const rs_model *model, const char *what,
                             rs_err *err) {
  const rs_real_list *given = (const rs_real_list *)((const char *)binding->fields + offset);
  size_t pairs = rs_pairs_of(binding->settings, model);
  if (given->list == NULL)
    return rs_binding_fail(binding, offset, err, "is missing: it has one %s for each pair", what);
  if (given->count != pairs)
    return rs_binding_fail(binding, offset, err, "has %zu number%s, but %zu pairs turn", given->count,
                           given->count == 1 ? "" : "s", pairs);
  return RS_OK;
}

void rs_place_factor(rs_factor_place place, double g, rs_freq_out *out) {
  if (place == RS_ON_LOGITS)
    out->logit_factor *= g * g;
  else
    out->factor *= g;
}
