/* Plain RoPE: a geometric ladder of frequencies. Su et al., "RoFormer", arXiv:2104.09864, eq. 15. */
#include "encoding/kinds.h"

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  (void)err;
  rs_ladder(in->theta, (double)in->rotary_dim, in->rotary_dim / 2, out->omega);
  return RS_OK;
}

const rs_freq_kind rs_freq_default = {
    .kind = {.name = "default",
             .summary = "omega_j = theta^(-2j/R)",
             .reference = "RoFormer, arXiv:2104.09864, eq. 15"},
    .fill = fill,
};
