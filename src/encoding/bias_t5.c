/* T5: one learned number for each head and bucket of distances; a bucket for each short distance, then buckets that
 * widen logarithmically. Raffel et al., arXiv:1910.10683, section 2.1; buckets as in transformers' modeling_t5.py. */
#include "kinds.h"

#include <math.h>

/* The buckets of one direction. */
typedef struct buckets {
  bool both;    /* keys after the query have buckets of their own, from `count` on */
  size_t count; /* of one direction */
  size_t exact; /* distances below this have a bucket each */
  double far;   /* from this distance on all share the last one */
} buckets;

static buckets buckets_of(const rs_settings *settings) {
  buckets by = {.both = rs_setting_true(settings, "bidirectional"), .far = rs_setting_number(settings, "max_distance")};
  by.count = (size_t)rs_setting_number(settings, "num_buckets") / (by.both ? 2 : 1);
  by.exact = by.count / 2;
  return by;
}

static size_t bucket_at(const buckets *by, size_t query, size_t key) {
  bool after = key > query;
  size_t offset = by->both && after ? by->count : 0;
  size_t distance = !after ? query - key : by->both ? key - query : 0; /* one-way: the future is at distance 0 */
  if (distance < by->exact) return offset + distance;
  if ((double)distance >= by->far) return offset + by->count - 1;
  double exact = (double)by->exact, share = log((double)distance / exact) / log(by->far / exact);
  return offset + by->exact + (size_t)(share * (double)(by->count - by->exact)); /* share < 1 */
}

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  buckets by = buckets_of(settings);
  size_t rows = (size_t)rs_setting_number(settings, "num_buckets");
  if (by.exact == 0) return rs_fail_on(err, RS_INPUT, "num_buckets", "must be at least 4 where bidirectional");
  if (by.far <= (double)by.exact)
    return rs_fail_on(err, RS_INPUT, "max_distance", "must exceed %zu: shorter distances have a bucket each", by.exact);
  RS_TRY(rs_bias_list_check(settings, "values", rows, model->heads, err));
  return rs_learned_bias_check(settings, err);
}

static size_t table_size(const rs_encoding *encoding) {
  return (size_t)rs_setting_number(&encoding->settings, "num_buckets");
}

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  if (rs_setting_true(&encoding->settings, "unscaled_dot"))
    for (size_t m = 0; m < encoding->length; m++) encoding->logit_scale[m] *= sqrt((double)encoding->head_dim);
  return rs_learned_bias_fill(encoding, err);
}

static void row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const double *table = encoding->bias_table + head * encoding->bias_size;
  buckets by = buckets_of(&encoding->settings);
  for (size_t n = begin; n < end; n++) bias[n - begin] = table[bucket_at(&by, query, n)];
}

static const rs_param params[] = {
    {.name = "num_buckets",
     .type = RS_INTEGER,
     .unit = "buckets",
     .min = 2,
     .max = 1e6,
     .fallback = "32",
     .summary = "buckets of distances (T5: relative_attention_num_buckets)"},
    {.name = "max_distance",
     .type = RS_INTEGER,
     .unit = "tokens",
     .min = 2,
     .max = 1e9,
     .fallback = "128",
     .summary = "from here on all distances share the last bucket (T5: relative_attention_max_distance)"},
    {.name = "bidirectional",
     .type = RS_BOOL,
     .unit = "",
     .fallback = "false",
     .summary =
         "true: half of the buckets are for keys after the query (T5's encoder); false: those count as distance 0 "
         "(its decoder)"},
    {.name = "unscaled_dot",
     .type = RS_BOOL,
     .unit = "",
     .fallback = "false",
     .summary =
         "true: no division by sqrt(D), as T5 computes it; false for simulated queries, since T5 makes its queries "
         "smaller by sqrt(D) at initialisation instead"},
    RS_LEARNED_BIAS_PARAMS("num_buckets", "inv_sqrt_width", "T5: inv_sqrt_width"),
};

const rs_bias_kind rs_bias_t5 = {
    .kind = {.name = "t5",
             .summary = "one learned number for each head and logarithmic bucket of distances",
             .reference = "T5, arXiv:1910.10683, section 2.1; transformers modeling_t5.py",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = check,
    .table_size = table_size,
    .fill = fill,
    .by_distance = rs_always_by_distance,
    .row = row,
};
