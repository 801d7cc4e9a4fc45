/* What logit scales share: their two numbers. */
#include "kinds.h"

double rs_lscale_factor(const rs_encoding *encoding, double fallback) {
  const rs_value *given = rs_setting(&encoding->settings, "logit_scale_factor");
  return given->set ? given->number : fallback;
}

double rs_lscale_length(const rs_encoding *encoding, double fallback) {
  const rs_value *given = rs_setting(&encoding->settings, "logit_scale_length");
  return given->set ? given->number : fallback;
}

rs_status rs_lscale_log_length(const rs_encoding *encoding, double *length, rs_err *err) {
  *length = rs_lscale_length(encoding, encoding->train_length);
  if (*length >= 2) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "%s divides by the ln of %s, which must exceed 1",
                 rs_lscale_chosen(&encoding->settings)->kind.name,
                 rs_setting(&encoding->settings, "logit_scale_length")->set ? "logit_scale_length" : "train_length");
}
