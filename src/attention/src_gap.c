/* One key above a flat row: every key scores 0 but the needle, whose logit is `gap` where nothing turns. Its weight
 * among n keys is then e^gap / (e^gap + n - 1), what dilution alone leaves of it (Nakanishi, arXiv:2501.19399, section
 * 2). Rotation leaves gap times the mean cosine at its distance: q is 1 in every dim. */
#include "sources.h"

#include <math.h>
#include <string.h>

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  memset(out, 0, (end - begin) * in->head_dim * sizeof *out);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  (void)position;
  for (size_t d = 0; d < in->head_dim; d++) out[d] = 1;
}

static size_t needle(const rs_source_in *in, size_t position, const double *of_query, double *key) {
  double size = rs_setting_number(in->settings, "gap") / sqrt((double)in->head_dim);
  for (size_t d = 0; d < in->head_dim; d++) key[d] = size * of_query[d];
  return (size_t)floor(rs_setting_number(in->settings, "depth") * (double)position);
}

static const rs_param params[] = {
    {.name = "gap",
     .type = RS_REAL,
     .unit = "nats",
     .min = -1000,
     .max = 1000,
     .fallback = "10",
     .summary = "the needle's logit, before any logit scale; all other keys have 0"},
    {.name = "depth",
     .type = RS_REAL,
     .unit = "1",
     .min = 0,
     .max = 1,
     .fallback = "0.5",
     .summary = "where the needle stands: 0 at the first key, 1 at the query itself"},
};

const rs_source_kind rs_source_gap = {
    .kind = {.name = "gap",
             .summary = "one key stands above all others by a given logit: dilution alone",
             .reference = "Scalable-Softmax, arXiv:2501.19399, section 2",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .keys = keys,
    .query = query,
    .needle = needle,
};
