/* log-n scaling: queries that see more keys than training did are sharpened. Su, kexue.fm/archives/8823; Chiang and
 * Cholak, arXiv:2202.12172; as in Qwen: max(1, ln n / ln L0) for the query that sees n keys. */
#include "kinds.h"

#include <math.h>

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  if (encoding->train_length < 2)
    return rs_fail(err, RS_DOMAIN, "log_n divides by ln train_length, which must exceed 1");
  for (size_t m = 0; m < encoding->length; m++)
    encoding->logit_scale[m] *= fmax(1, log((double)m + 1) / log(encoding->train_length));
  return RS_OK;
}

const rs_lscale_kind rs_lscale_log_n = {
    .kind = {.name = "log_n",
             .summary = "logits times max(1, ln(m + 1) / ln train_length)",
             .reference = "Su, kexue.fm/archives/8823; Chiang and Cholak, arXiv:2202.12172; Qwen",
             .version = 1},
    .fill = fill,
};
