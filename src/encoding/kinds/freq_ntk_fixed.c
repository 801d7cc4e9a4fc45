/* Su's "fixed" NTK: the base is multiplied by s and every frequency divided by s^(2/R), so that the last pair is
 * divided by s and pair 0 by s^(2/R) (NTK-aware leaves pair 0 alone). kexue.fm/archives/9706; vLLM's rope type "ntk".
 */
#include "encoding/kinds.h"

#include <math.h>

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  (void)err;
  double dims = (double)in->rotary_dim, divisor = pow(in->scale, 2 / dims);
  rs_ladder(in->theta * in->scale, dims, in->rotary_dim / 2, out->omega);
  for (size_t j = 0; j < in->rotary_dim / 2; j++) out->omega[j] /= divisor;
  return RS_OK;
}

const rs_freq_kind rs_freq_ntk_fixed = {
    .kind = {.name = "ntk_fixed",
             .summary = "omega_j = (theta s)^(-2j/R) / s^(2/R)",
             .reference = "Su, kexue.fm/archives/9706; vLLM rope type ntk"},
    .scaled = true,
    .fill = fill,
};
