/* Ramps over pair indices, and the by-parts interpolation that NTK-by-parts and YaRN share. Peng et al., "YaRN",
 * arXiv:2309.00071: Definition 2, eq. 17-20 (`paper`); the authors' code rewrites the ramp over pair indices (`hf`).
 */
#include "kinds.h"

#include <math.h>

/* The length whose rotations the ramp counts: L0; vLLM passes its enlarged cache, 4 L0, where there is M-RoPE. */
static double ramp_length(const rs_freq_in *in) {
  enum { TRAIN_LENGTH, VLLM_MROPE };
  const rs_value *length = rs_setting(in->settings, "ramp_length");
  if (length->choice == VLLM_MROPE && in->sections) return 4 * in->train_length;
  return length->set && length->choice < 0 ? length->number : in->train_length;
}

/* The (fractional) pair that turns `rotations` times in `length` tokens: solve length theta^(-2j/R) = 2 pi rotations.
 */
static double pair_at_rotations(const rs_freq_in *in, double length, double rotations) {
  return (double)in->rotary_dim * log(length / (rotations * 2 * M_PI)) / (2 * log(in->theta));
}

rs_ramp rs_correction_ramp(const rs_freq_in *in, double length, double fast, double slow, bool truncate) {
  double low = pair_at_rotations(in, length, fast), high = pair_at_rotations(in, length, slow);
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

/* The ramp over pair indices, and what becomes of one whose ends cross or leave the pairs. */
static rs_status guarded_ramp(const rs_freq_in *in, double fast, double slow, rs_ramp *ramp, rs_err *err) {
  enum { GUARD_HF, GUARD_GGML, GUARD_REFUSE };
  int guard = rs_setting_choice(in->settings, "ramp_guard");
  double length = ramp_length(in), last = (double)in->rotary_dim / 2 - 1;
  double low = pair_at_rotations(in, length, fast), high = pair_at_rotations(in, length, slow);
  if (guard == GUARD_REFUSE && !(0 < low && low < high && high < last))
    return rs_fail(err, RS_DOMAIN, "the ramp from pair %.6g to %.6g leaves the pairs 0 to %g", low, high, last);
  *ramp = rs_correction_ramp(in, length, fast, slow, rs_setting_true(in->settings, "truncate"));
  if (guard == GUARD_GGML && ramp->high < ramp->low) ramp->high = ramp->low + 0.001;
  return RS_OK;
}

rs_status rs_by_parts_fill(const rs_freq_in *in, double *omega, rs_err *err) {
  double fast = rs_setting_number(in->settings, "beta_fast"), slow = rs_setting_number(in->settings, "beta_slow");
  bool paper = rs_setting_choice(in->settings, "ramp") == RAMP_PAPER;
  double rotations_per_omega = ramp_length(in) / (2 * M_PI);
  rs_ramp ramp = {slow, fast}; /* over the rotations, falling; the code's runs over pair indices, rising */
  if (!paper) RS_TRY(guarded_ramp(in, fast, slow, &ramp, err));
  rs_ladder(in->theta, (double)in->rotary_dim, in->rotary_dim / 2, omega);
  for (size_t j = 0; j < in->rotary_dim / 2; j++) {
    double divided = paper ? 1 - rs_ramp_at(ramp, omega[j] * rotations_per_omega) : rs_ramp_at(ramp, (double)j);
    omega[j] = omega[j] / in->scale * divided + omega[j] * (1 - divided);
  }
  return RS_OK;
}

rs_status rs_by_parts_check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  (void)model;
  double fast = rs_setting_number(settings, "beta_fast"), slow = rs_setting_number(settings, "beta_slow");
  /* Equal ends make the `hf` ramp a step, which the code allows; the paper's ramp would divide by zero. */
  bool paper = rs_setting_choice(settings, "ramp") == RAMP_PAPER;
  if (fast > slow || (fast == slow && !paper)) return RS_OK;
  return rs_fail_on(err, RS_INPUT, "beta_fast", "must exceed beta_slow = %g (the paper uses 32 and 1)", slow);
}
