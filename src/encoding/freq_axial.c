/* Axial 2-D RoPE of vision transformers: one half of the pairs turns by the column of a patch, the other by its row,
 * each on a ladder of its own, theta^(-k/n) for the k-th of n pairs. Heo et al., arXiv:2403.13298, section 3.2 (column
 * first, theta 100); the vision towers of Qwen2-VL and ggml have the row first and theta 10000. */
#include "kinds.h"

enum { COLUMN_FIRST, ROW_FIRST };

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  RS_TRY(rs_unused_check(settings, "mrope_section", "axial: half of the pairs are the row's", err));
  if (rs_pairs_of(settings, model) % 2 == 0) return RS_OK;
  return rs_fail_on(err, RS_INPUT, "rotary_dim",
                    "is %zu: row and column share the pairs, so it must be a multiple of 4",
                    2 * rs_pairs_of(settings, model));
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  (void)err;
  size_t each = in->rotary_dim / 4;
  rs_ladder(in->theta, 2 * (double)each, each, out->omega);
  rs_ladder(in->theta, 2 * (double)each, each, out->omega + each);
  return RS_OK;
}

static size_t axis(const rs_settings *settings, size_t pair, size_t pairs) {
  enum { H = 1, W = 2 };
  bool first = pair < pairs / 2, row_first = rs_setting_choice(settings, "axis_order") == ROW_FIRST;
  return first == row_first ? H : W;
}

static const rs_param params[] = {
    {.name = "axis_order",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("wh", "hw"),
     .fallback = "wh",
     .summary = "which half of the pairs reads the column (w) and which the row (h)"},
};

const rs_freq_kind rs_freq_axial = {
    .kind = {.name = "axial",
             .summary = "omega = theta^(-4k/R) for the k-th pair of the column, and again for the row",
             .reference = "Heo et al., arXiv:2403.13298, section 3.2",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = check,
    .fill = fill,
    .axis = axis,
};
