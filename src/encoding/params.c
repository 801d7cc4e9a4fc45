/* Parameters that every method, every rotary method, or every scaled method has. */
#include "kinds.h"

#include <math.h>

const rs_param rs_common_params[] = {
    {.name = "train_length",
     .type = RS_INTEGER,
     .unit = "tokens",
     .min = 1,
     .max = 1e9,
     .summary = "L0, the length the model was trained at (default: the model's)"},
    {.name = "logit_scale",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("none", "log_n", "ssmax", "llama4", "ministral", "entropy_invariant"),
     .fallback = "none",
     .summary = "temperature by query position m, on top of the method. log_n: max(1, ln(m + 1) / ln length); ssmax: "
                "factor ln(m + 1); llama4: 1 + factor ln(1 + floor((m + 1) / length)); ministral: the same of m; "
                "entropy_invariant: factor ln(m + 1) / sqrt(D)"},
    {.name = "logit_scale_factor",
     .type = RS_REAL,
     .unit = "1",
     .min = 0,
     .max = 1e6,
     .summary =
         "that factor: ssmax's s (default: 1 over the mean of ln n, n = 1 ... length), the others' beta (default: "
         "0.1) or kappa (default: sqrt(D) / ln length)"},
    {.name = "logit_scale_length",
     .type = RS_INTEGER,
     .unit = "tokens",
     .min = 1,
     .max = 1e9,
     .summary = "that length (default: train_length; llama4: 8192)"},
    {.name = "dialect",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("paper", "authors", "hf", "vllm", "llamacpp", "deepseek", "gpt_oss", "falcon", "bloom", "mpt"),
     .summary = "as this implementation has the method; what it does differently is listed there"},
};
const size_t rs_common_param_count = RS_COUNT(rs_common_params);

const rs_param rs_rotary_params[] = {
    {.name = "rope_theta",
     .type = RS_REAL,
     .unit = "1",
     .min = 1.000001,
     .max = 1e300,
     .summary = "base of the frequency ladder (default: the model's)"},
    {.name = "rotary_dim",
     .type = RS_INTEGER,
     .unit = "dims",
     .min = 2,
     .max = 65536,
     .summary = "R, how many dims of the head turn; even (default: the model's)"},
    {.name = "pair_layout",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORDS(rs_pair_layout_words),
     .summary = "which dims form a pair (default: the model's)"},
    {.name = "mrope_section",
     .type = RS_REALS,
     .unit = "pairs",
     RS_WORD_LIST("none", "equal"),
     .min = 0,
     .max = 32768,
     .summary = "pairs that read the axes t, h, w (arXiv:2409.12191); equal: thirds"},
    {.name = "mrope_layout",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORDS(rs_axis_layout_words),
     .summary = "which pairs read which axis: in blocks (Qwen2-VL), alternating (Qwen3-VL; no more than a third of the "
                "pairs for h or w), h and w on the fastest pairs "
                "and t on the slowest (ERNIE 4.5-VL), or by fair shares (openPangu) (default: the model's)"},
    {.name = "mrope_tail",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("t", "unrotated"),
     .fallback = "t",
     .summary =
         "mrope_layout interleaved: pairs 1 and 2 of each three, once h and w have their sections (ggml: unrotated)"},
    {.name = "vision_ids",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORDS(rs_id_scheme_words),
     .fallback = "qwen2_vl",
     .summary =
         "how image and video tokens are counted: from the id where they start (arXiv:2409.12191); the same, but the "
         "text after goes on by the larger side alone (transformers since February 2026); rows and columns from 0 "
         "(arXiv:2510.23095); centred around a diagonal (arXiv:2502.05173); one axis in small steps "
         "(arXiv:2412.09616)"},
    {.name = "vision_step",
     .type = RS_REAL,
     .unit = "tokens",
     .min = 1e-6,
     .max = 1e6,
     .summary = "ids a frame (videorope; default 2) or a vision token (v2pe; default 1/4) advances"},
    {.name = "id_arithmetic",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORDS(rs_id_arithmetic_words),
     .summary =
         "how a video's frame * seconds_per_frame * ids_per_second is multiplied before it is cut to a whole id: "
         "from the left in float32 (Qwen's code, transformers, vLLM up to late 2025), or the rates first, in doubles "
         "(newer vLLM) (default: f32)"},
    {.name = "wavelengths",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("exact", "whole"),
     .fallback = "exact",
     .summary =
         "whole: each pair's wavelength rounded to whole tokens, after all scaling (Resonance, arXiv:2403.00071)"},
    {.name = "cached_keys",
     .type = RS_INTEGER,
     .unit = "tokens",
     RS_WORD_LIST("consistent"),
     .min = 1,
     .max = 1e9,
     .fallback = "consistent",
     .summary = "a number: keys keep the rotation they were cached with, the first so many (the prompt) under the "
                "frequencies of that length, each later one under those of its own; consistent: all under the whole "
                "context's"},
};
const size_t rs_rotary_param_count = RS_COUNT(rs_rotary_params);

const rs_param rs_scale_params[] = {
    {.name = "scale",
     .type = RS_REAL,
     .unit = "1",
     RS_WORD_LIST("fixed", "auto", "dynamic", "hf_dynamic", "vllm_dynamic"),
     .min = 1e-6,
     .max = 1e9,
     .summary =
         "context factor s: a number, or a rule. fixed: factor; auto: length / train_length; dynamic: the same but "
         "at least 1; hf_dynamic: factor * length / train_length - (factor - 1); vllm_dynamic: the same as if length "
         "were factor * train_length, always (default: fixed with a factor, else auto)"},
    {.name = "factor",
     .type = RS_REAL,
     .unit = "1",
     .min = 1e-6,
     .max = 1e9,
     .summary = "s for scale: fixed, or the factor of scale: hf_dynamic and vllm_dynamic"},
};
const size_t rs_scale_param_count = RS_COUNT(rs_scale_params);

enum { SCALE_FIXED, SCALE_AUTO, SCALE_DYNAMIC, SCALE_HF_DYNAMIC, SCALE_VLLM_DYNAMIC };

double rs_scale_resolve(const rs_settings *settings, double length, double train_length) {
  const rs_value *scale = rs_setting(settings, "scale"), *factor = rs_setting(settings, "factor");
  double ratio = length / train_length, f = factor->set ? factor->number : 1;
  if (!scale->set) return factor->set ? factor->number : ratio;
  switch (scale->choice) {
  case SCALE_FIXED: return factor->number;
  case SCALE_AUTO: return ratio;
  case SCALE_DYNAMIC: return fmax(1, ratio);
  case SCALE_HF_DYNAMIC: return f * fmax(1, ratio) - (f - 1);
  case SCALE_VLLM_DYNAMIC: return f * f - (f - 1);
  default: return scale->number;
  }
}

void rs_place_factor(const rs_settings *settings, double g, rs_freq_out *out) {
  enum { COS_SIN, LOGITS };
  if (rs_setting_choice(settings, "temperature") == LOGITS)
    out->logit_factor *= g * g;
  else
    out->factor *= g;
}
