/* Su's "mixed" NTK: pair j is divided by exp(a (j+1)^b) with a chosen so that the last pair is divided by s; b bends
 * how the division grows from pair to pair. kexue.fm/archives/9706; vLLM's rope type "ntk" with mixed_b. */
#include "encoding/kinds.h"

#include <math.h>

typedef struct params {
  double mixed_b;
} params;

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  RS_TRY(rs_freq_default.fill(in, out, err));
  size_t pairs = in->rotary_dim / 2;
  double b = ((const params *)in->params)->mixed_b, a = log(in->scale) / pow((double)pairs, b);
  for (size_t j = 0; j < pairs; j++) out->omega[j] /= exp(a * pow((double)j + 1, b));
  return RS_OK;
}

static const rs_param specs[] = {
    {RS_FIELD(params, mixed_b), .unit = "1", .min = 0, .max = 10, .fallback = "0.625",
     .summary = "exponent b (Su found 0.625 best)"},
};

const rs_freq_kind rs_freq_ntk_mixed = {
    .kind = {.name = "ntk_mixed",
             .summary = "omega_j = theta^(-2j/R) / exp(a (j+1)^b), a = ln s / (R/2)^b",
             .reference = "Su, kexue.fm/archives/9706; vLLM rope type ntk with mixed_b",
             RS_KIND(specs, params)},
    .scaled = true,
    .fill = fill,
};
