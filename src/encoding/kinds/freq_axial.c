/* Axial 2-D RoPE of vision transformers: one half of the pairs turns by the column of a patch, the other by its row,
 * each on a ladder of its own, theta^(-k/n) for the k-th of n pairs. Heo et al., arXiv:2403.13298, section 3.2 (column
 * first, theta 100); the vision towers of Qwen2-VL and ggml have the row first and theta 10000. */
#include "encoding/kinds.h"

typedef struct params {
  rs_axis_order axis_order;
} params;

const char *const rs_axis_order_words[RS_AXIS_ORDERS + 1] = {[RS_COLUMN_FIRST] = "wh", [RS_ROW_FIRST] = "hw"};

rs_status rs_axial_check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  rs_rotary_params rotary;
  rs_binding stage = rs_rotary_bind(binding->settings, &rotary);
  size_t pairs = rs_pairs_of(binding->settings, model);
  RS_TRY(rs_binding_unused(&stage, offsetof(rs_rotary_params, mrope_section), "axial: half of the pairs are the row's",
                           err));
  if (pairs % 2 == 0) return RS_OK;
  return rs_binding_fail(&stage, offsetof(rs_rotary_params, rotary_dim), err,
                         "is %zu: row and column share the pairs, so it must be a multiple of 4", 2 * pairs);
}

void rs_axial_ladders(const rs_freq_in *in, double *omega) {
  size_t each = in->rotary_dim / 4;
  rs_ladder(in->theta, 2 * (double)each, each, omega);
  rs_ladder(in->theta, 2 * (double)each, each, omega + each);
}

size_t rs_axial_axis(rs_axis_order order, size_t pair, size_t pairs) {
  enum { H = 1, W = 2 };
  bool first = pair < pairs / 2, row_first = order == RS_ROW_FIRST;
  return first == row_first ? H : W;
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  (void)err;
  rs_axial_ladders(in, out->omega);
  return RS_OK;
}

static size_t axis(const void *fields, size_t pair, size_t pairs) {
  return rs_axial_axis(((const params *)fields)->axis_order, pair, pairs);
}

static const rs_param specs[] = {
    {RS_FIELD(params, axis_order), .unit = "", RS_WORDS(rs_axis_order_words), .fallback = "wh",
     .summary = "which half of the pairs reads the column (w) and which the row (h)"},
};

const rs_freq_kind rs_freq_axial = {
    .kind = {.name = "axial",
             .summary = "omega = theta^(-4k/R) for the k-th pair of the column, and again for the row",
             .reference = "Heo et al., arXiv:2403.13298, section 3.2",
             .version = 1,
             RS_KIND(specs, params)},
    .check = rs_axial_check,
    .fill = fill,
    .axis = axis,
};
