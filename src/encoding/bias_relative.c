/* One learned number for each head and clipped relative position n - m. Shaw et al., arXiv:1803.02155, section 3.2,
 * clip vectors so; this is the scalar form, added to the finished logit. */
#include "kinds.h"

static size_t clip_of(const rs_settings *settings) {
  return (size_t)rs_setting_number(settings, "clip");
}

static size_t table_size(const rs_encoding *encoding) {
  return 2 * clip_of(&encoding->settings) + 1;
}

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  RS_TRY(rs_bias_list_check(settings, "values", 2 * clip_of(settings) + 1, model->heads, err));
  return rs_learned_bias_check(settings, err);
}

/* The table starts with the farthest key before the query, n - m = -clip. */
static size_t index_at(size_t clip, size_t query, size_t key) {
  if (key >= query) return key - query < clip ? clip + (key - query) : 2 * clip;
  return query - key < clip ? clip - (query - key) : 0;
}

static void row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const double *table = encoding->bias_table + head * encoding->bias_size;
  size_t clip = clip_of(&encoding->settings);
  for (size_t n = begin; n < end; n++) bias[n - begin] = table[index_at(clip, query, n)];
}

static const rs_param params[] = {
    {.name = "clip",
     .type = RS_INTEGER,
     .unit = "tokens",
     .min = 1,
     .max = 1e6,
     .fallback = "16",
     .summary = "k, relative positions beyond it count as it (16: the paper's base model)"},
    RS_LEARNED_BIAS_PARAMS("n - m = -clip ... clip", "0.02", "0.02: as Swin's and BERT's tables"),
};

const rs_bias_kind rs_bias_relative = {
    .kind = {.name = "relative",
             .summary = "one learned number for each head and clipped relative position",
             .reference = "arXiv:1803.02155, section 3.2, as a scalar",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = check,
    .table_size = table_size,
    .fill = rs_learned_bias_fill,
    .by_distance = rs_always_by_distance,
    .row = row,
};
