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
     .choices = "none|log_n",
     .fallback = "none",
     .summary = "temperature by query position, on top of the method"},
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
     .choices = "half_split|interleaved",
     .summary = "which dims form a pair (default: the model's)"},
    {.name = "mrope_section",
     .type = RS_REALS,
     .unit = "pairs",
     .choices = "none|equal",
     .min = 0,
     .max = 32768,
     .summary = "pairs that read the axes t, h, w (arXiv:2409.12191); equal: thirds"},
    {.name = "mrope_interleaved",
     .type = RS_BOOL,
     .unit = "",
     .summary = "axes alternate pair by pair (Qwen3-VL) instead of standing in blocks (default: the model's)"},
};
const size_t rs_rotary_param_count = RS_COUNT(rs_rotary_params);

const rs_param rs_scale_params[] = {
    {.name = "scale",
     .type = RS_REAL,
     .unit = "1",
     .choices = "fixed|auto|dynamic|hf_dynamic",
     .min = 1e-6,
     .max = 1e9,
     .summary =
         "context factor s: a number, or a rule. fixed: factor; auto: length / train_length; dynamic: the same but "
         "at least 1; hf_dynamic: factor * length / train_length - (factor - 1) (default: fixed with a factor, "
         "else auto)"},
    {.name = "factor",
     .type = RS_REAL,
     .unit = "1",
     .min = 1e-6,
     .max = 1e9,
     .summary = "s for scale: fixed, or the factor of scale: hf_dynamic"},
};
const size_t rs_scale_param_count = RS_COUNT(rs_scale_params);

enum { SCALE_FIXED, SCALE_AUTO, SCALE_DYNAMIC, SCALE_HF_DYNAMIC };

double rs_scale_resolve(const rs_settings *settings, double length, double train_length) {
  const rs_value *scale = rs_setting(settings, "scale"), *factor = rs_setting(settings, "factor");
  double ratio = length / train_length;
  if (!scale->set) return factor->set ? factor->number : ratio;
  switch (scale->choice) {
  case SCALE_FIXED: return factor->number;
  case SCALE_AUTO: return ratio;
  case SCALE_DYNAMIC: return fmax(1, ratio);
  case SCALE_HF_DYNAMIC: {
    double f = factor->set ? factor->number : 1;
    return f * fmax(1, ratio) - (f - 1);
  }
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
