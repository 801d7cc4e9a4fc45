/* What logit scales share: their two numbers. */
#include "kinds.h"

#include <math.h>

double rs_lscale_factor(const rs_common_params *params, double fallback) {
  return isnan(params->logit_scale_factor) ? fallback : params->logit_scale_factor;
}

double rs_lscale_length(const rs_common_params *params, double fallback) {
  return params->logit_scale_length == RS_NO_COUNT ? fallback : (double)params->logit_scale_length;
}

rs_status rs_lscale_log_length(const rs_stage_in *in, const char *kind, double *length, rs_err *err) {
  const rs_common_params *params = in->params;
  *length = rs_lscale_length(params, in->train_length);
  if (*length >= 2) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "%s divides by the ln of %s, which must exceed 1", kind,
                 params->logit_scale_length != RS_NO_COUNT ? "logit_scale_length" : "train_length");
}
