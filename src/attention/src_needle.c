/* A needle in a haystack: Gaussian queries and keys, and for each query one more key that resembles it,
 * k* = overlap q + sqrt(1 - overlap^2) noise, at a chosen depth of the context the query sees. Without position the
 * needle's logit is overlap |q|^2 / sqrt(D), about overlap sqrt(D). Content may sit in a band of the rotary pairs:
 * models keep what they look up by meaning in the slow ones (Barbero et al., arXiv:2410.06205, section 4). */
#include "sources.h"

#include <math.h>

/* The whole band is the whole head, dims that do not turn included. */
static void limit(const rs_source_in *in, size_t rows, double *out) {
  bool whole = rs_setting_number(in->settings, "from") == 0 && rs_setting_number(in->settings, "to") == 1;
  if (!whole) rs_band_limit(in, rows, out);
}

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  rs_gaussian_keys(in, begin, end, out);
  limit(in, end - begin, out);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  rs_gaussian_query(in, position, out);
  limit(in, 1, out);
}

static size_t needle(const rs_source_in *in, size_t position, const double *of_query, double *key) {
  double depth = rs_setting_number(in->settings, "depth"), overlap = rs_setting_number(in->settings, "overlap");
  double noise = sqrt(1 - overlap * overlap);
  rs_stream stream = {in->seed, RS_PURPOSE_NEEDLES, (uint32_t)in->head};
  rs_gaussian_fill(stream, (uint64_t)position * in->head_dim, in->head_dim, key);
  limit(in, 1, key);
  for (size_t d = 0; d < in->head_dim; d++) key[d] = overlap * of_query[d] + noise * key[d];
  return (size_t)floor(depth * (double)position);
}

static const rs_param params[] = {
    {.name = "depth",
     .type = RS_REAL,
     .unit = "1",
     .min = 0,
     .max = 1,
     .fallback = "0.5",
     .summary = "where the needle stands: 0 at the first key, 1 at the query itself"},
    {.name = "overlap",
     .type = RS_REAL,
     .unit = "1",
     .min = 0,
     .max = 1,
     .fallback = "1",
     .summary = "correlation of the needle with its query"},
    {.name = "from",
     .type = RS_REAL,
     .unit = "1",
     .min = 0,
     .max = 1,
     .fallback = "0",
     .summary = "first rotary pair that holds content, as a share of the pairs (0: the fastest)"},
    {.name = "to",
     .type = RS_REAL,
     .unit = "1",
     .min = 0,
     .max = 1,
     .fallback = "1",
     .summary = "end of the pairs that hold content (from 0 to 1: the whole head)"},
};

const rs_source_kind rs_source_needle = {
    .kind = {.name = "needle",
             .summary = "Gaussian haystack, and one more key that resembles the query at a chosen depth",
             .reference = "Kamradt's needle in a haystack (2023), without weights",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = rs_band_check,
    .keys = keys,
    .query = query,
    .needle = needle,
};
