/* T5: one learned number for each head and bucket of distances; a bucket for each short distance, then buckets that
 * widen logarithmically. Raffel et al., arXiv:1910.10683, section 2.1; buckets as in transformers' modeling_t5.py. */
#include "encoding/kinds.h"

#include <math.h>

typedef struct params {
  size_t num_buckets, max_distance; /* -; tokens */
  bool bidirectional, unscaled_dot;
  rs_learned_bias learned;
} params;

/* The buckets of one direction. */
typedef struct buckets {
  bool both;    /* keys after the query have buckets of their own, from `count` on */
  size_t count; /* of one direction */
  size_t exact; /* distances below this have a bucket each */
  double far;   /* from this distance on all share the last one */
} buckets;

typedef struct state {
  buckets buckets;
  size_t rows, heads;  /* num_buckets, H */
  double factor;       /* on the logits */
  const double *table; /* (rows, H) */
} state;

static buckets buckets_of(const params *p) {
  size_t count = p->num_buckets / (p->bidirectional ? 2 : 1);
  return (buckets){.both = p->bidirectional, .count = count, .exact = count / 2, .far = (double)p->max_distance};
}

static size_t bucket_at(const buckets *b, size_t query, size_t key) {
  bool after = key > query;
  size_t offset = b->both && after ? b->count : 0;
  size_t distance = !after ? query - key : b->both ? key - query : 0; /* one-way: the future is at distance 0 */
  if (distance < b->exact) return offset + distance;
  if ((double)distance >= b->far) return offset + b->count - 1;
  double exact = (double)b->exact, share = log((double)distance / exact) / log(b->far / exact);
  return offset + b->exact + (size_t)(share * (double)(b->count - b->exact)); /* share < 1 */
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  buckets b = buckets_of(p);
  if (b.exact == 0)
    return rs_binding_fail(binding, offsetof(params, num_buckets), err, "must be at least 4 where bidirectional");
  if (b.far <= (double)b.exact)
    return rs_binding_fail(binding, offsetof(params, max_distance), err,
                           "must exceed %zu: shorter distances have a bucket each", b.exact);
  RS_TRY(rs_bias_list_check(binding, offsetof(params, learned.values), p->num_buckets, model->heads, err));
  return rs_learned_bias_check(binding, offsetof(params, learned), err);
}

static size_t table_size(const rs_stage_in *in) {
  return ((const params *)in->params)->num_buckets * in->heads;
}

static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  const params *p = in->params;
  double factor = p->unscaled_dot ? sqrt((double)in->head_dim) : 1;
  *(state *)out = (state){buckets_of(p), p->num_buckets, in->heads, factor, table};
  return rs_learned_bias_fill(in, &p->learned, p->num_buckets, table, err);
}

static double logit_factor(const void *prepared) {
  return ((const state *)prepared)->factor;
}

static void row(const void *prepared, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const state *s = prepared;
  for (size_t n = begin; n < end; n++) bias[n - begin] = s->table[bucket_at(&s->buckets, query, n) * s->heads + head];
}

static size_t learned(const void *prepared, rs_learned out[RS_LEARNED]) {
  const state *s = prepared;
  out[0] = (rs_learned){"bias.table", s->rows, s->heads};
  return 1;
}

static void gradient(const void *prepared, size_t head, size_t query, size_t begin, size_t end, const double *by_bias,
                     double *const *arrays) {
  const state *s = prepared;
  for (size_t n = begin; n < end; n++)
    arrays[0][bucket_at(&s->buckets, query, n) * s->heads + head] += by_bias[n - begin];
}

static const rs_param specs[] = {
    {RS_FIELD(params, num_buckets), .unit = "buckets", .min = 2, .max = 1e6, .fallback = "32",
     .summary = "buckets of distances (T5: relative_attention_num_buckets)"},
    {RS_FIELD(params, max_distance), .unit = "tokens", .min = 2, .max = 1e9, .fallback = "128",
     .summary = "from here on all distances share the last bucket (T5: relative_attention_max_distance)"},
    {RS_FIELD(params, bidirectional), .unit = "", .fallback = "false",
     .summary = "true: half of the buckets are for keys after the query (T5's encoder); false: those count as distance "
                "0 (its decoder)"},
    {RS_FIELD(params, unscaled_dot), .unit = "", .fallback = "false",
     .summary = "true: no division by sqrt(D), as T5 computes it; false for simulated queries, since T5 makes its "
                "queries smaller by sqrt(D) at initialisation instead"},
    RS_LEARNED_BIAS_SPECS(params, learned, "num_buckets", "inv_sqrt_width", "T5: inv_sqrt_width"),
};

const rs_bias_kind rs_bias_t5 = {
    .kind = {.name = "t5",
             .summary = "one learned number for each head and logarithmic bucket of distances",
             .reference = "T5, arXiv:1910.10683, section 2.1; transformers modeling_t5.py",
             RS_KIND(specs, params)},
    .check = check,
    .table_size = table_size,
    .state_size = sizeof(state),
    .prepare = prepare,
    .logit_factor = logit_factor,
    .by_distance = rs_always_by_distance,
    .row = row,
    .learned = learned,
    .gradient = gradient,
};
