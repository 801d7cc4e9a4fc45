/* Frequencies as a list: whatever an engine, a paper or a search gives. The method for what no formula describes. */
#include "kinds.h"

#include <string.h>

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  const rs_value *list = rs_setting(in->settings, "inv_freq");
  size_t pairs = in->rotary_dim / 2;
  if (list->count != pairs)
    return rs_fail(err, RS_DOMAIN, "inv_freq has %zu frequencies for %zu pairs", list->count, pairs);
  memcpy(out->omega, list->list, pairs * sizeof *out->omega);
  rs_place_factor(in->settings, rs_setting_number(in->settings, "attention_factor"), out);
  return RS_OK;
}

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  RS_TRY(rs_unused_check(settings, "rope_theta", "a list of frequencies", err));
  return rs_check_pair_list(settings, model, "inv_freq", "frequency", err);
}

static const rs_param params[] = {
    {.name = "inv_freq",
     .type = RS_REALS,
     .unit = "rad/token",
     .min = 0,
     .max = 1e6,
     .summary = "frequency of each pair, in order: a list, or a file (.npy, .json, .csv)"},
    {.name = "attention_factor",
     .type = RS_REAL,
     .unit = "1",
     .min = 1e-6,
     .max = 1e6,
     .fallback = "1",
     .summary = "g, multiplies cos and sin"},
    RS_TEMPERATURE_PARAM,
};

const rs_freq_kind rs_freq_explicit = {
    .kind = {.name = "explicit",
             .summary = "every frequency as given",
             .reference = "a table, not a formula (inv_freq in Hugging Face and vLLM)",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = check,
    .fill = fill,
};
