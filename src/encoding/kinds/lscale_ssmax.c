/* Scalable-Softmax: weights n^(s z) instead of e^z, so logits times s ln n for the query that sees n keys. Nakanishi,
 * arXiv:2501.19399. s is learned for each head; here it is one number, and training changes a factor of it for each
 * head. Where none is given it is 1 over the mean of ln n over the training context, which leaves logits alone on
 * average (0.168 at 1024 tokens). */
#include "encoding/kinds.h"

#include <gsl/gsl_sf_gamma.h>
#include <math.h>

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  (void)model;
  if (isnan(((const rs_common_params *)binding->fields)->logit_scale_factor)) return RS_OK;
  return rs_binding_unused(binding, offsetof(rs_common_params, logit_scale_length), "logit_scale_factor", err);
}

static rs_status fill(const rs_stage_in *in, double *logit_scale, rs_err *err) {
  double s = ((const rs_common_params *)in->params)->logit_scale_factor, length;
  if (isnan(s)) {
    RS_TRY(rs_lscale_log_length(in, "ssmax", &length, err));
    s = length / gsl_sf_lngamma(length + 1); /* the sum of ln n up to `length` is the logarithm of its factorial */
  }
  for (size_t m = 0; m < in->length; m++) logit_scale[m] *= s * log((double)m + 1);
  return RS_OK;
}

const rs_lscale_kind rs_lscale_ssmax = {
    .kind = {.name = "ssmax",
             .summary = "logits times factor ln(m + 1)",
             .reference = "Scalable-Softmax, arXiv:2501.19399"},
    .check = check,
    .fill = fill,
    .by_head = true,
};
