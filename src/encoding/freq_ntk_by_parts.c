/* NTK-by-parts: YaRN without its temperature. arXiv:2309.00071v2, section 3.2, Definition 2. */
#include "kinds.h"

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  return rs_by_parts_fill(in, out->omega, err);
}

static const rs_param params[] = {RS_BY_PARTS_PARAMS};

const rs_freq_kind rs_freq_ntk_by_parts = {
    .kind = {.name = "ntk_by_parts",
             .summary = "fast pairs kept, slow ones divided by s, a linear ramp between",
             .reference = "YaRN, arXiv:2309.00071v2, section 3.2, Definition 2",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .scaled = true,
    .check = rs_by_parts_check,
    .fill = fill,
};
