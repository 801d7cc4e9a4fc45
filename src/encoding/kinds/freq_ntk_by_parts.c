/* NTK-by-parts: YaRN without its temperature. arXiv:2309.00071v2, section 3.2, Definition 2. */
#include "encoding/kinds.h"

typedef struct params {
  rs_by_parts parts;
} params;

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  return rs_by_parts_fill(in, &((const params *)in->params)->parts, out->omega, err);
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  (void)model;
  return rs_by_parts_check(binding, offsetof(params, parts), err);
}

static const rs_param specs[] = {RS_BY_PARTS_SPECS(params, parts)};

const rs_freq_kind rs_freq_ntk_by_parts = {
    .kind = {.name = "ntk_by_parts",
             .summary = "fast pairs kept, slow ones divided by s, a linear ramp between",
             .reference = "YaRN, arXiv:2309.00071v2, section 3.2, Definition 2",
             RS_KIND(specs, params)},
    .scaled = true,
    .trained = true,
    .check = check,
    .fill = fill,
};
