/* One learned number for each head and clipped relative position n - m. Shaw et al., arXiv:1803.02155, section 3.2,
 * clip vectors so; this is the scalar form, added to the finished logit. */
#include "encoding/kinds.h"

typedef struct params {
  size_t clip; /* tokens */
  rs_learned_bias learned;
} params;

typedef struct state {
  size_t clip, heads;
  const double *table; /* (2 clip + 1, H) */
} state;

static size_t rows_of(size_t clip) {
  return 2 * clip + 1;
}

static size_t table_size(const rs_stage_in *in) {
  return rows_of(((const params *)in->params)->clip) * in->heads;
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  RS_TRY(rs_bias_list_check(binding, offsetof(params, learned.values), rows_of(p->clip), model->heads, err));
  return rs_learned_bias_check(binding, offsetof(params, learned), err);
}

static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  const params *p = in->params;
  *(state *)out = (state){p->clip, in->heads, table};
  return rs_learned_bias_fill(in, &p->learned, rows_of(p->clip), table, err);
}

/* The table starts with the farthest key before the query, n - m = -clip. */
static size_t index_at(size_t clip, size_t query, size_t key) {
  if (key >= query) return key - query < clip ? clip + (key - query) : 2 * clip;
  return query - key < clip ? clip - (query - key) : 0;
}

static void row(const void *prepared, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const state *s = prepared;
  for (size_t n = begin; n < end; n++) bias[n - begin] = s->table[index_at(s->clip, query, n) * s->heads + head];
}

static size_t learned(const void *prepared, rs_learned out[RS_LEARNED]) {
  const state *s = prepared;
  out[0] = (rs_learned){"bias.table", rows_of(s->clip), s->heads};
  return 1;
}

static void gradient(const void *prepared, size_t head, size_t query, size_t begin, size_t end, const double *by_bias,
                     double *const *arrays) {
  const state *s = prepared;
  for (size_t n = begin; n < end; n++) arrays[0][index_at(s->clip, query, n) * s->heads + head] += by_bias[n - begin];
}

static const rs_param specs[] = {
    {RS_FIELD(params, clip), .unit = "tokens", .min = 1, .max = 1e6, .fallback = "16",
     .summary = "k, relative positions beyond it count as it (16: the paper's base model)"},
    RS_LEARNED_BIAS_SPECS(params, learned, "n - m = -clip ... clip", "0.02", "0.02: as Swin's and BERT's tables"),
};

const rs_bias_kind rs_bias_relative = {
    .kind = {.name = "relative",
             .summary = "one learned number for each head and clipped relative position",
             .reference = "arXiv:1803.02155, section 3.2, as a scalar",
             RS_KIND(specs, params)},
    .check = check,
    .table_size = table_size,
    .state_size = sizeof(state),
    .prepare = prepare,
    .by_distance = rs_always_by_distance,
    .row = row,
    .learned = learned,
    .gradient = gradient,
};
