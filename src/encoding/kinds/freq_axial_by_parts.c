/* Axial RoPE for pictures larger than those of training: of each axis the fastest pairs stay, the others are
 * interpolated so that both edges of the picture stand where they stood in training. RandAR's code:
 * github.com/ziqipang/RandAR d374a72, RandAR/applications/resolution_extrapolation.py, where 16 patches a side grow to
 * 32 and 2 pairs of each axis stay (ntk_boundary); issue 2 there asks how. */
#include "encoding/kinds.h"

#include <math.h>

typedef struct params {
  rs_axis_order axis_order;
  size_t kept_pairs;
  double trained_side, side; /* patches; NaN: by the lengths */
} params;

/* What the slower pairs are multiplied by: patches that are as many times nearer as there are more steps from edge to
 * edge. */
static double step(const params *p, const rs_freq_in *in) {
  double trained = isnan(p->trained_side) ? sqrt(in->train_length) : p->trained_side;
  double side = isnan(p->side) ? sqrt((double)in->length) : p->side;
  return side > trained ? (trained - 1) / (side - 1) : 1;
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  size_t each = rs_pairs_of(binding->settings, model) / 2;
  RS_TRY(rs_axial_check(binding, model, err));
  if (p->kept_pairs <= each || !rs_binding_given(binding, offsetof(params, kept_pairs))) return RS_OK;
  return rs_binding_fail(binding, offsetof(params, kept_pairs), err, "must be at most %zu, the pairs of an axis", each);
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  const params *p = in->params;
  size_t each = in->rotary_dim / 4;
  if (isnan(p->trained_side) && in->train_length < 1)
    return rs_fail_on(err, RS_DOMAIN, "trained_side", "is missing: the model says no length that it is the root of");
  double slower = step(p, in);
  rs_axial_ladders(in, out->omega);
  for (size_t j = 0; j < 2 * each; j++)
    if (j % each >= p->kept_pairs) out->omega[j] *= slower;
  return RS_OK;
}

static size_t axis(const void *fields, size_t pair, size_t pairs) {
  return rs_axial_axis(((const params *)fields)->axis_order, pair, pairs);
}

static const rs_param specs[] = {
    {RS_FIELD(params, axis_order), .unit = "", RS_WORDS(rs_axis_order_words), .fallback = "wh",
     .summary = "which half of the pairs reads the column (w) and which the row (h)"},
    {RS_FIELD(params, kept_pairs), .unit = "pairs", .min = 0, .max = 16384, .fallback = "2",
     .summary = "how many pairs of each axis stay, from the fastest (2: RandAR's ntk_boundary)"},
    {RS_FIELD(params, trained_side), .unit = "patches", .min = 2, .max = 32768,
     .summary = "side of the pictures of training (default: the root of train_length)"},
    {RS_FIELD(params, side), .unit = "patches", .min = 2, .max = 32768,
     .summary = "side of the picture (default: the root of the context)"},
};

const rs_freq_kind rs_freq_axial_by_parts = {
    .kind = {.name = "axial_by_parts",
             .summary = "axial; all but the fastest pairs of each axis times (trained side - 1) / (side - 1)",
             .reference = "RandAR, github.com/ziqipang/RandAR d374a72, resolution_extrapolation.py",
             .version = 1,
             RS_KIND(specs, params)},
    .check = check,
    .fill = fill,
    .axis = axis,
};
