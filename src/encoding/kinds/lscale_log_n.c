/* log-n scaling: queries that see more keys than training did are sharpened. Su, kexue.fm/archives/8823; Chiang and
 * Cholak, arXiv:2202.12172; as in Qwen: max(1, ln n / ln L0) for the query that sees n keys. */
#include "encoding/kinds.h"

#include <math.h>

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  (void)model;
  return rs_binding_unused(binding, offsetof(rs_common_params, logit_scale_factor), "logit_scale: log_n", err);
}

static rs_status fill(const rs_stage_in *in, double *logit_scale, rs_err *err) {
  double length;
  RS_TRY(rs_lscale_log_length(in, "log_n", &length, err));
  for (size_t m = 0; m < in->length; m++) logit_scale[m] *= fmax(1, log((double)m + 1) / log(length));
  return RS_OK;
}

const rs_lscale_kind rs_lscale_log_n = {
    .kind = {.name = "log_n",
             .summary = "logits times max(1, ln(m + 1) / ln length)",
             .reference = "Su, kexue.fm/archives/8823; Chiang and Cholak, arXiv:2202.12172; Qwen"},
    .check = check,
    .fill = fill,
};
