/* Ramps over pair indices, and the by-parts interpolation that NTK-by-parts and YaRN share. Peng et al., "YaRN",
 * arXiv:2309.00071: Definition 2, eq. 17-20 (`paper`); the authors' code rewrites the ramp over pair indices (`hf`).
 */
#include "kinds.h"

#include <math.h>

const char *const rs_ramp_rule_words[RS_RAMP_RULES + 1] = {[RS_RAMP_HF] = "hf", [RS_RAMP_PAPER] = "paper"};
const char *const rs_ramp_length_words[RS_RAMP_LENGTHS + 1] = {
    [RS_RAMP_TRAIN_LENGTH] = "train_length", [RS_RAMP_VLLM_MROPE] = "vllm_mrope"};
const char *const rs_ramp_guard_words[RS_RAMP_GUARDS + 1] = {
    [RS_GUARD_HF] = "hf", [RS_GUARD_GGML] = "ggml", [RS_GUARD_REFUSE] = "refuse"};

/* The length whose rotations the ramp counts: L0; vLLM passes its enlarged cache, 4 L0, where there is M-RoPE. */
static double ramp_length(const rs_freq_in *in, const rs_by_parts *parts) {
  if (parts->ramp_length.word == RS_RAMP_VLLM_MROPE && in->sections) return 4 * in->train_length;
  return parts->ramp_length.word == RS_NO_WORD ? parts->ramp_length.number : in->train_length;
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

/* The ramp over pair indices, and what becomes of one whose ends cross or leave the pairs. */
static rs_status guarded_ramp(const rs_freq_in *in, const rs_by_parts *parts, rs_ramp *ramp, rs_err *err) {
  double length = ramp_length(in, parts), last = (double)in->rotary_dim / 2 - 1;
  double low = pair_at_rotations(in, length, parts->beta_fast), high = pair_at_rotations(in, length, parts->beta_slow);
  bool guarded = parts->ramp_guard == RS_GUARD_REFUSE;
  if (guarded && low >= high) /* betas alike or exchanged */
    return rs_fail(err, RS_DOMAIN, "the ramp from pair %.6g to %.6g does not rise", low, high);
  if (guarded && !(0 < low && high < last))
    return rs_fail(err, RS_DOMAIN, "the ramp from pair %.6g to %.6g leaves the pairs 0 to %g", low, high, last);
  *ramp = rs_correction_ramp(in, length, parts->beta_fast, parts->beta_slow, parts->truncate);
  if (parts->ramp_guard == RS_GUARD_GGML && ramp->high < ramp->low) ramp->high = ramp->low + 0.001;
  return RS_OK;
}

rs_status rs_by_parts_fill(const rs_freq_in *in, const rs_by_parts *parts, double *omega, rs_err *err) {
  bool paper = parts->ramp == RS_RAMP_PAPER;
  double rotations_per_omega = ramp_length(in, parts) / (2 * M_PI);
  /* Over the rotations, falling; the code's runs over pair indices, rising. */
  rs_ramp ramp = {parts->beta_slow, parts->beta_fast};
  if (!paper) RS_TRY(guarded_ramp(in, parts, &ramp, err));
  rs_ladder(in->theta, (double)in->rotary_dim, in->rotary_dim / 2, omega);
  for (size_t j = 0; j < in->rotary_dim / 2; j++) {
    double divided = paper ? 1 - rs_ramp_at(ramp, omega[j] * rotations_per_omega) : rs_ramp_at(ramp, (double)j);
    omega[j] = omega[j] / in->scale * divided + omega[j] * (1 - divided);
  }
  return RS_OK;
}

rs_status rs_by_parts_check(const rs_binding *binding, size_t block, rs_err *err) {
  const rs_by_parts *parts = (const rs_by_parts *)((const char *)binding->fields + block);
  /* Equal ends make the `hf` ramp a step, which the code allows; the paper's ramp would divide by zero. */
  bool paper = parts->ramp == RS_RAMP_PAPER;
  if (parts->beta_fast > parts->beta_slow || (parts->beta_fast == parts->beta_slow && !paper)) return RS_OK;
  return rs_binding_fail(binding, block + offsetof(rs_by_parts, beta_fast), err,
                         "must exceed beta_slow = %g (the paper uses 32 and 1)", parts->beta_slow);
}
