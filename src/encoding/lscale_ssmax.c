/* Scalable-Softmax: weights n^(s z) instead of e^z, so logits times s ln n for the query that sees n keys. Nakanishi,
 * arXiv:2501.19399. s is learned for each head; here one number. Where none is given it is 1 over the mean of ln n over
 * the training context, which leaves logits alone on average (0.168 at 1024 tokens). */
#include "kinds.h"

#include <math.h>

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  (void)model;
  if (!rs_setting(settings, "logit_scale_factor")->set) return RS_OK;
  return rs_unused_check(settings, "logit_scale_length", "logit_scale_factor", err);
}

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  const rs_value *given = rs_setting(&encoding->settings, "logit_scale_factor");
  double length, s = given->number;
  int sign;
  if (!given->set) {
    RS_TRY(rs_lscale_log_length(encoding, &length, err));
    s = length / lgamma_r(length + 1, &sign); /* the sum of ln n up to `length` is the logarithm of its factorial */
  }
  for (size_t m = 0; m < encoding->length; m++) encoding->logit_scale[m] *= s * log((double)m + 1);
  return RS_OK;
}

const rs_lscale_kind rs_lscale_ssmax = {
    .kind = {.name = "ssmax",
             .summary = "logits times factor ln(m + 1)",
             .reference = "Scalable-Softmax, arXiv:2501.19399",
             .version = 1},
    .check = check,
    .fill = fill,
};
