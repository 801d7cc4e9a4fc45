/* Frequencies as a list: whatever an engine, a paper or a search gives. The method for what no formula describes. */
#include "encoding/kinds.h"

#include <string.h>

typedef struct params {
  rs_real_list inv_freq; /* rad/token */
  double attention_factor;
  rs_factor_place temperature;
} params;

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  const params *p = in->params;
  size_t pairs = in->rotary_dim / 2;
  if (p->inv_freq.count != pairs)
    return rs_fail(err, RS_DOMAIN, "inv_freq has %zu frequencies for %zu pairs", p->inv_freq.count, pairs);
  memcpy(out->omega, p->inv_freq.list, pairs * sizeof *out->omega);
  rs_place_factor(p->temperature, p->attention_factor, out);
  return RS_OK;
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  rs_rotary_params rotary;
  rs_binding stage = rs_rotary_bind(binding->settings, &rotary);
  RS_TRY(rs_binding_unused(&stage, offsetof(rs_rotary_params, rope_theta), "a list of frequencies", err));
  return rs_pair_list_check(binding, offsetof(params, inv_freq), model, "frequency", err);
}

static const rs_param specs[] = {
    {RS_FIELD(params, inv_freq), .unit = "rad/token", .min = 0, .max = 1e6,
     .summary = "frequency of each pair, in order: a list, or a file (.npy, .json, .csv)"},
    {RS_FIELD(params, attention_factor), .unit = "1", .min = 1e-6, .max = 1e6, .fallback = "1",
     .summary = "g, multiplies cos and sin"},
    RS_TEMPERATURE_SPEC(params),
};

const rs_freq_kind rs_freq_explicit = {
    .kind = {.name = "explicit",
             .summary = "every frequency as given",
             .reference = "a table, not a formula (inv_freq in Hugging Face and vLLM)",
             RS_KIND(specs, params)},
    .check = check,
    .fill = fill,
};
