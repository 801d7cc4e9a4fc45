/* Llama-3.1's scaling: long wavelengths divided by s, short ones kept, a ramp in train_length / wavelength between.
 * Grattafiori et al., arXiv:2407.21783; github.com/meta-llama/llama-models, models/llama3/model.py. */
#include "encoding/kinds.h"

#include <math.h>

typedef struct params {
  double low_freq_factor, high_freq_factor; /* rotations */
} params;

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  RS_TRY(rs_freq_default.fill(in, out, err));
  const params *p = in->params;
  double low = p->low_freq_factor, high = p->high_freq_factor;
  for (size_t j = 0; j < in->rotary_dim / 2; j++) {
    double turns = in->train_length * out->omega[j] / (2 * M_PI); /* train_length / wavelength */
    /* With low == high (Llama-4) nothing is blended; the order of the tests keeps the division by zero out of reach. */
    double kept = turns > high ? 1 : turns < low ? 0 : high > low ? (turns - low) / (high - low) : 1;
    out->omega[j] = (1 - kept) * (out->omega[j] / in->scale) + kept * out->omega[j];
  }
  return RS_OK;
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  (void)model;
  const params *p = binding->fields;
  if (p->high_freq_factor >= p->low_freq_factor) return RS_OK;
  return rs_binding_fail(binding, offsetof(params, high_freq_factor), err,
                         "must be at least low_freq_factor = %g (Llama-3.1 has 4 and 1)", p->low_freq_factor);
}

static const rs_param specs[] = {
    {RS_FIELD(params, low_freq_factor), .unit = "rotations", .min = 1e-6, .max = 1e9, .fallback = "1",
     .summary = "pairs that turn less often than this in train_length are divided by s"},
    {RS_FIELD(params, high_freq_factor), .unit = "rotations", .min = 1e-6, .max = 1e9, .fallback = "4",
     .summary = "pairs that turn more often than this keep their frequency"},
};

const rs_freq_kind rs_freq_llama3 = {
    .kind = {.name = "llama3",
             .summary = "fast pairs kept, slow ones divided by s, a ramp in train_length / wavelength between",
             .reference = "Llama 3, arXiv:2407.21783; llama-models, models/llama3/model.py",
             RS_KIND(specs, params)},
    .scaled = true,
    .trained = true,
    .check = check,
    .fill = fill,
};
