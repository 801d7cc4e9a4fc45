/* LongRoPE: a searched divisor for each pair, one list up to train_length and one beyond it, and an attention factor
 * sqrt(1 + ln s / ln L0) that holds for both. Ding et al., arXiv:2402.13753; Phi-3, arXiv:2404.14219; the factor as in
 * Hugging Face's modeling_rope_utils.py. */
#include "kinds.h"

#include <math.h>

/* Exactly as many tokens as the switch are still short, everywhere. */
static bool is_long(const rs_freq_in *in) {
  const rs_value *given = rs_setting(in->settings, "switch_length");
  return (double)in->length > (given->set ? given->number : in->train_length);
}

static double attention_factor(const rs_freq_in *in) {
  const rs_value *given = rs_setting(in->settings, "attention_factor");
  const rs_value *extension = rs_setting(in->settings, "factor");
  if (given->set) return given->number;
  const rs_value *mscale = rs_setting(in->settings, is_long(in) ? "long_mscale" : "short_mscale");
  if (mscale->set) return mscale->number;
  double scale = extension->set ? extension->number : in->max_length / in->train_length;
  return scale <= 1 ? 1 : sqrt(1 + log(scale) / log(in->train_length));
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  const char *list = is_long(in) ? "long_factor" : "short_factor";
  const rs_value *divisors = rs_setting(in->settings, list);
  size_t pairs = in->rotary_dim / 2;
  if (divisors->count != pairs)
    return rs_fail(err, RS_DOMAIN, "%s has %zu divisors for %zu pairs", list, divisors->count, pairs);
  if (in->train_length < 2) return rs_fail(err, RS_DOMAIN, "longrope divides by ln train_length, which must exceed 1");
  RS_TRY(rs_freq_default.fill(in, out, err));
  for (size_t j = 0; j < pairs; j++) out->omega[j] /= divisors->list[j];
  rs_place_factor(in->settings, attention_factor(in), out);
  return RS_OK;
}

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  static const char *const lists[] = {"short_factor", "long_factor"};
  for (size_t i = 0; i < RS_COUNT(lists); i++) RS_TRY(rs_check_pair_list(settings, model, lists[i], "divisor", err));
  return RS_OK;
}

static const rs_param params[] = {
    {.name = "short_factor",
     .type = RS_REALS,
     .unit = "1",
     .min = 1e-6,
     .max = 1e9,
     .summary = "divisor of each pair up to train_length (default: the model's)"},
    {.name = "long_factor",
     .type = RS_REALS,
     .unit = "1",
     .min = 1e-6,
     .max = 1e9,
     .summary = "divisor of each pair beyond train_length (default: the model's)"},
    {.name = "switch_length",
     .type = RS_INTEGER,
     .unit = "tokens",
     .min = 0,
     .max = 1e9,
     .summary = "the longest context with short_factor (default: train_length; a server for long ones: 0)"},
    {.name = "factor",
     .type = RS_REAL,
     .unit = "1",
     .min = 1e-6,
     .max = 1e9,
     .summary = "s in the attention factor sqrt(1 + ln s / ln L0) (default: max_length / train_length)"},
    {.name = "attention_factor",
     .type = RS_REAL,
     .unit = "1",
     .min = 1e-6,
     .max = 1e6,
     .summary = "attention factor, in place of the formula"},
    {.name = "short_mscale",
     .type = RS_REAL,
     .unit = "1",
     .min = 1e-6,
     .max = 1e6,
     .summary = "attention factor up to train_length, in place of the formula (Phi-3.5-MoE)"},
    {.name = "long_mscale",
     .type = RS_REAL,
     .unit = "1",
     .min = 1e-6,
     .max = 1e6,
     .summary = "attention factor beyond train_length, in place of the formula"},
    RS_TEMPERATURE_PARAM,
};

const rs_freq_kind rs_freq_longrope = {
    .kind = {.name = "longrope",
             .summary = "each frequency divided by its own factor, one list up to train_length, one beyond",
             .reference = "LongRoPE, arXiv:2402.13753; Phi-3, arXiv:2404.14219",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = check,
    .fill = fill,
};
