/* LongRoPE: a searched divisor for each pair, one list up to train_length and one beyond it, and an attention factor
 * sqrt(1 + ln s / ln L0) that holds for both. Ding et al., arXiv:2402.13753; Phi-3, arXiv:2404.14219; the factor as in
 * Hugging Face's modeling_rope_utils.py. */
#include "encoding/kinds.h"

#include <math.h>

typedef struct params {
  rs_real_list short_factor, long_factor; /* a divisor for each pair */
  size_t switch_length;                   /* tokens; RS_NO_COUNT: train_length */
  double factor, attention_factor, short_mscale, long_mscale;
  rs_factor_place temperature;
} params;

/* Exactly as many tokens as the switch are still short, everywhere. */
static bool is_long(const rs_freq_in *in) {
  const params *p = in->params;
  return (double)in->length > (p->switch_length != RS_NO_COUNT ? (double)p->switch_length : in->train_length);
}

static double attention_factor(const rs_freq_in *in) {
  const params *p = in->params;
  double mscale = is_long(in) ? p->long_mscale : p->short_mscale;
  double scale = isnan(p->factor) ? in->max_length / in->train_length : p->factor;
  if (!isnan(p->attention_factor)) return p->attention_factor;
  if (!isnan(mscale)) return mscale;
  return rs_longrope_magnitude(scale, in->train_length);
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  const params *p = in->params;
  const rs_real_list *divisors = is_long(in) ? &p->long_factor : &p->short_factor;
  size_t pairs = in->rotary_dim / 2;
  if (divisors->count != pairs)
    return rs_fail(err, RS_DOMAIN, "%s has %zu divisors for %zu pairs", is_long(in) ? "long_factor" : "short_factor",
                   divisors->count, pairs);
  if (in->train_length < 2) return rs_fail(err, RS_DOMAIN, "longrope divides by ln train_length, which must exceed 1");
  RS_TRY(rs_freq_default.fill(in, out, err));
  for (size_t j = 0; j < pairs; j++) out->omega[j] /= divisors->list[j];
  rs_place_factor(p->temperature, attention_factor(in), out);
  return RS_OK;
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  RS_TRY(rs_pair_list_check(binding, offsetof(params, short_factor), model, "divisor", err));
  return rs_pair_list_check(binding, offsetof(params, long_factor), model, "divisor", err);
}

static const rs_param specs[] = {
    {RS_FIELD(params, short_factor), .unit = "1", .min = 1e-6, .max = 1e9,
     .summary = "divisor of each pair up to train_length (default: the model's)"},
    {RS_FIELD(params, long_factor), .unit = "1", .min = 1e-6, .max = 1e9,
     .summary = "divisor of each pair beyond train_length (default: the model's)"},
    {RS_FIELD(params, switch_length), .unit = "tokens", .min = 0, .max = 1e9,
     .summary = "the longest context with short_factor (default: train_length; a server for long ones: 0)"},
    {RS_FIELD(params, factor), .unit = "1", .min = 1e-6, .max = 1e9,
     .summary = "s in the attention factor sqrt(1 + ln s / ln L0) (default: max_length / train_length)"},
    {RS_FIELD(params, attention_factor), .unit = "1", .min = 1e-6, .max = 1e6,
     .summary = "attention factor, in place of the formula"},
    {RS_FIELD(params, short_mscale), .unit = "1", .min = 1e-6, .max = 1e6,
     .summary = "attention factor up to train_length, in place of the formula (Phi-3.5-MoE)"},
    {RS_FIELD(params, long_mscale), .unit = "1", .min = 1e-6, .max = 1e6,
     .summary = "attention factor beyond train_length, in place of the formula"},
    RS_TEMPERATURE_SPEC(params),
};

const rs_freq_kind rs_freq_longrope = {
    .kind = {.name = "longrope",
             .summary = "each frequency divided by its own factor, one list up to train_length, one beyond",
             .reference = "LongRoPE, arXiv:2402.13753; Phi-3, arXiv:2404.14219",
             RS_KIND(specs, params)},
    .check = check,
    .fill = fill,
};
