/* Position Interpolation as the paper has it: positions divided by s. arXiv:2306.15595, eq. 4. Active for
 * `interpolate: positions`; otherwise freq_linear.c divides the frequencies. */
#include "kinds.h"

enum { FREQUENCIES, POSITIONS };

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  (void)err;
  if (rs_setting_choice(&encoding->settings, "interpolate") != POSITIONS) return RS_OK;
  for (size_t i = 0; i < encoding->length * encoding->axes; i++) {
    encoding->pos_q[0][i] /= encoding->scale;
    encoding->pos_k[0][i] /= encoding->scale;
  }
  return RS_OK;
}

const rs_pos_kind rs_pos_linear = {
    .kind = {.name = "linear",
             .summary = "positions divided by s",
             .reference = "Position Interpolation, arXiv:2306.15595, eq. 4",
             .version = 1},
    .scaled = true,
    .views = 1,
    .fill = fill,
};
