/* Ramps over pair indices, and the by-parts interpolation that NTK-by-parts and YaRN share. Peng et al., "YaRN",
 * arXiv:2309.00071: Definition 2, eq. 17-20 (`paper`); the authors' code rewrites the ramp over pair indices (`hf`).
 */
#include "kinds.h"

#include <math.h>

/* The (fractional) pair that turns `rotations` times in train_length tokens: solve L0 theta^(-2j/R) = 2 pi rotations.
 */
static double pair_at_rotations(const rs_freq_in *in, double rotations) {
  return (double)in->rotary_dim * log(in->train_length / (rotations * 2 * M_PI)) / (2 * log(in->theta));
}

rs_ramp rs_correction_ramp(const rs_freq_in *in, double fast, double slow, bool truncate) {
  double low = pair_at_rotations(in, fast), high = pair_at_rotations(in, slow);
  if (truncate) {
    low = floor(low);
    high = ceil(high);
  }
  low = fmax(low, 0);
  high = fmin(high, (double)in->rotary_dim - 1); /* R - 1, not R/2 - 1: as every port of the code has it */
  if (low == high) high += 0.001;
  return (rs_ramp){low, high};
}

double rs_ramp_at(rs_ramp ramp, double pair) {
  return fmin(fmax((pair - ramp.low) / (ramp.high - ramp.low), 0), 1);
}

enum { RAMP_HF, RAMP_PAPER };

/* How much of pair j is interpolated: 0 keeps its frequency, 1 divides it by s. */
static double interpolated(const rs_freq_in *in, double fast, double slow, size_t j, double omega) {
  if (rs_setting_choice(in->settings, "ramp") == RAMP_HF)
    return rs_ramp_at(rs_correction_ramp(in, fast, slow, rs_setting_true(in->settings, "truncate")), (double)j);
  double rotations = in->train_length * omega / (2 * M_PI);
  return 1 - rs_ramp_at((rs_ramp){slow, fast}, rotations);
}

void rs_by_parts_fill(const rs_freq_in *in, double *omega) {
  double fast = rs_setting_number(in->settings, "beta_fast"), slow = rs_setting_number(in->settings, "beta_slow");
  rs_ladder(in->theta, (double)in->rotary_dim, in->rotary_dim / 2, omega);
  for (size_t j = 0; j < in->rotary_dim / 2; j++) {
    double share = interpolated(in, fast, slow, j, omega[j]);
    omega[j] = omega[j] / in->scale * share + omega[j] * (1 - share);
  }
}

rs_status rs_by_parts_check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  (void)model;
  double fast = rs_setting_number(settings, "beta_fast"), slow = rs_setting_number(settings, "beta_slow");
  /* Equal ends make the `hf` ramp a step, which the code allows; the paper's ramp would divide by zero. */
  bool paper = rs_setting_choice(settings, "ramp") == RAMP_PAPER;
  if (fast > slow || (fast == slow && !paper)) return RS_OK;
  return rs_fail_on(err, RS_INPUT, "beta_fast", "must exceed beta_slow = %g (the paper uses 32 and 1)", slow);
}
