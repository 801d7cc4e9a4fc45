/* Entropy-invariant attention: the logits q.k times kappa ln n / D in place of 1 / sqrt(D), for the query that sees n
 * keys. Su, kexue.fm/archives/8823 and 9034. Where kappa is not given it is sqrt(D) / ln L0, which makes the factor on
 * the usual logits ln n / ln L0, 1 at the training length (kexue.fm/archives/9588 has L0 = 512). log_n is the same but
 * never below 1. */
#include "encoding/kinds.h"

#include <math.h>

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  (void)model;
  if (isnan(((const rs_common_params *)binding->fields)->logit_scale_factor)) return RS_OK;
  return rs_binding_unused(binding, offsetof(rs_common_params, logit_scale_length), "logit_scale_factor", err);
}

static rs_status fill(const rs_stage_in *in, double *logit_scale, rs_err *err) {
  double kappa = ((const rs_common_params *)in->params)->logit_scale_factor, length;
  double rate = kappa / sqrt((double)in->head_dim);
  if (isnan(kappa)) {
    RS_TRY(rs_lscale_log_length(in, "entropy_invariant", &length, err));
    rate = 1 / log(length);
  }
  for (size_t m = 0; m < in->length; m++) logit_scale[m] *= rate * log((double)m + 1);
  return RS_OK;
}

const rs_lscale_kind rs_lscale_entropy_invariant = {
    .kind = {.name = "entropy_invariant",
             .summary = "logits times factor ln(m + 1) / sqrt(D), or ln(m + 1) / ln length",
             .reference = "Su, kexue.fm/archives/8823, 9034, 9588"},
    .check = check,
    .fill = fill,
};
