/* NTK-aware scaling: a larger base, so that pair 0 keeps its frequency and the last is divided by s. bloc97, 2023; the
 * formula as in YaRN, arXiv:2309.00071, section 3.1. */
#include "encoding/kinds.h"

#include <math.h>

rs_status rs_ntk_theta(const rs_freq_in *in, double *theta, rs_err *err) {
  double dims = (double)in->rotary_dim;
  if (in->rotary_dim <= 2)
    return rs_fail(err, RS_DOMAIN, "the NTK base is undefined for rotary_dim = 2: its exponent is R/(R-2)");
  if (!(in->scale > 0)) return rs_fail(err, RS_DOMAIN, "the NTK base needs a scale above 0, not %g", in->scale);
  *theta = in->theta * pow(in->scale, dims / (dims - 2));
  return RS_OK;
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  double theta = in->theta;
  RS_TRY(rs_ntk_theta(in, &theta, err));
  rs_ladder(theta, (double)in->rotary_dim, in->rotary_dim / 2, out->omega);
  return RS_OK;
}

const rs_freq_kind rs_freq_ntk = {
    .kind = {.name = "ntk",
             .summary = "omega_j = (theta s^(R/(R-2)))^(-2j/R)",
             .reference = "NTK-aware scaling (bloc97, 2023); YaRN, arXiv:2309.00071, section 3.1"},
    .scaled = true,
    .fill = fill,
};
