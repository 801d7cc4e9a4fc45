/* Axial 2-D RoPE of vision transformers: one half of the pairs turns by the column of a patch, the other by its row,
 * each on a ladder of its own, theta^(-k/n) for the k-th of n pairs. Heo et al., arXiv:2403.13298, section 3.2 (column
 * first, theta 100); the vision towers of Qwen2-VL and ggml have the row first and theta 10000. */
#include "kinds.h"

typedef enum axis_order { COLUMN_FIRST, ROW_FIRST, AXIS_ORDERS } axis_order;

typedef struct params {
  axis_order axis_order;
} params;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  rs_rotary_params rotary;
  rs_binding stage = rs_rotary_bind(binding->settings, &rotary);
  size_t pairs = rs_pairs_of(binding->settings, model);
  RS_TRY(rs_binding_unused(&stage, offsetof(rs_rotary_params, mrope_section), "axial: half of the pairs are the row's",
                           err));
  if (pairs % 2 == 0) return RS_OK;
  return rs_binding_fail(&stage, offsetof(rs_rotary_params, rotary_dim), err,
                         "is %zu: row and column share the pairs, so it must be a multiple of 4", 2 * pairs);
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  (void)err;
  size_t each = in->rotary_dim / 4;
  rs_ladder(in->theta, 2 * (double)each, each, out->omega);
  rs_ladder(in->theta, 2 * (double)each, each, out->omega + each);
  return RS_OK;
}

static size_t axis(const void *fields, size_t pair, size_t pairs) {
  enum { H = 1, W = 2 };
  const params *p = fields;
  bool first = pair < pairs / 2, row_first = p->axis_order == ROW_FIRST;
  return first == row_first ? H : W;
}

static const char *const orders[AXIS_ORDERS + 1] = {[COLUMN_FIRST] = "wh", [ROW_FIRST] = "hw"};

static const rs_param specs[] = {
    {RS_FIELD(params, axis_order), .unit = "", RS_WORDS(orders), .fallback = "wh",
     .summary = "which half of the pairs reads the column (w) and which the row (h)"},
};

const rs_freq_kind rs_freq_axial = {
    .kind = {.name = "axial",
             .summary = "omega = theta^(-4k/R) for the k-th pair of the column, and again for the row",
             .reference = "Heo et al., arXiv:2403.13298, section 3.2",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(params)},
    .check = check,
    .fill = fill,
    .axis = axis,
};
