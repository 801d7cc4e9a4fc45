/* Axial 2-D RoPE of vision transformers: one half of the pairs turns by the column of a patch, the other by its row,
 * each on a ladder of its own, theta^(-k/n) for the k-th of n pairs. Heo et al., arXiv:2403.13298, section 3.2 (column
 * first, theta 100); the vision towers of Qwen2-VL and ggml have the row first and theta 10000.
 *
 * For pictures larger than those of training the fastest pairs of each axis may stay, and the others be interpolated so
 * that both edges of the picture stand where they stood in training. RandAR's code: github.com/ziqipang/RandAR d374a72,
 * RandAR/applications/resolution_extrapolation.py, where 16 patches a side grow to 32 and 2 pairs of each axis stay
 * (ntk_boundary); issue 2 there asks how. */
#include "encoding/kinds.h"

#include <math.h>

typedef enum axis_order { COLUMN_FIRST, ROW_FIRST, AXIS_ORDERS } axis_order;
static const char *const axis_order_words[AXIS_ORDERS + 1] = {[COLUMN_FIRST] = "wh", [ROW_FIRST] = "hw"};

typedef struct params {
  axis_order axis_order;
  size_t kept_pairs;         /* RS_NO_COUNT: all */
  double trained_side, side; /* patches; NaN: by the lengths */
} params;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  static const char all[] = "all pairs kept (kept_pairs says how many)";
  const params *p = binding->fields;
  rs_rotary_params rotary;
  rs_binding stage = rs_rotary_bind(binding->settings, &rotary);
  size_t pairs = rs_pairs_of(binding->settings, model);
  RS_TRY(rs_binding_unused(&stage, offsetof(rs_rotary_params, mrope_section), "axial: half of the pairs are the row's",
                           err));
  if (pairs % 2 != 0)
    return rs_binding_fail(&stage, offsetof(rs_rotary_params, rotary_dim), err,
                           "is %zu: row and column share the pairs, so it must be a multiple of 4", 2 * pairs);
  if (p->kept_pairs == RS_NO_COUNT) {
    RS_TRY(rs_binding_unused(binding, offsetof(params, trained_side), all, err));
    return rs_binding_unused(binding, offsetof(params, side), all, err);
  }
  if (p->kept_pairs <= pairs / 2) return RS_OK;
  return rs_binding_fail(binding, offsetof(params, kept_pairs), err, "must be at most %zu, the pairs of an axis",
                         pairs / 2);
}

/* What the slower pairs are multiplied by: patches that are as many times nearer as there are more steps from edge to
 * edge. */
static double step(const params *p, const rs_freq_in *in) {
  double trained = isnan(p->trained_side) ? sqrt(in->train_length) : p->trained_side;
  double side = isnan(p->side) ? sqrt((double)in->length) : p->side;
  return side > trained ? (trained - 1) / (side - 1) : 1;
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  const params *p = in->params;
  size_t each = in->rotary_dim / 4;
  rs_ladder(in->theta, 2 * (double)each, each, out->omega);
  rs_ladder(in->theta, 2 * (double)each, each, out->omega + each);
  if (p->kept_pairs == RS_NO_COUNT) return RS_OK;
  if (isnan(p->trained_side) && in->train_length < 1)
    return rs_fail_on(err, RS_DOMAIN, "trained_side", "is missing: the model says no length that it is the root of");
  for (size_t j = 0; j < 2 * each; j++)
    if (j % each >= p->kept_pairs) out->omega[j] *= step(p, in);
  return RS_OK;
}

static size_t axis(const void *fields, size_t pair, size_t pairs) {
  enum { H = 1, W = 2 };
  bool first = pair < pairs / 2, row_first = ((const params *)fields)->axis_order == ROW_FIRST;
  return first == row_first ? H : W;
}

static const rs_param specs[] = {
    {RS_FIELD(params, axis_order), .unit = "", RS_WORDS(axis_order_words), .fallback = "wh",
     .summary = "which half of the pairs reads the column (w) and which the row (h)"},
    {RS_FIELD(params, kept_pairs), .unit = "pairs", .min = 0, .max = 16384,
     .summary = "how many pairs of each axis stay on pictures larger than trained, from the fastest (2: RandAR's "
                "ntk_boundary; default: all)"},
    {RS_FIELD(params, trained_side), .unit = "patches", .min = 2, .max = 32768,
     .summary = "side of the pictures of training (default: the root of train_length)"},
    {RS_FIELD(params, side), .unit = "patches", .min = 2, .max = 32768,
     .summary = "side of the picture (default: the root of the context)"},
};

const rs_freq_kind rs_freq_axial = {
    .kind = {.name = "axial",
             .summary = "omega = theta^(-4k/R) for the k-th pair of the column, and again for the row; all but "
                        "kept_pairs of each times (trained side - 1) / (side - 1)",
             .reference = "Heo et al., arXiv:2403.13298, section 3.2; RandAR, github.com/ziqipang/RandAR d374a72",
             RS_KIND(specs, params)},
    .check = check,
    .fill = fill,
    .axis = axis,
};
