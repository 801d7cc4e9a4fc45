/* One key above a flat row: every key scores 0 but the needle, whose logit is `gap` where nothing turns. Its weight
 * among n keys is then e^gap / (e^gap + n - 1), what dilution alone leaves of it (Nakanishi, arXiv:2501.19399, section
 * 2). Rotation leaves gap times the mean cosine at its distance: q is 1 in every dim. */
#include "attention/sources.h"

#include <math.h>
#include <string.h>

typedef struct params {
  double gap, depth;
} params;

typedef struct state {
  double size, depth; /* size: of the needle in each dim */
} state;

static rs_status prepare(const rs_source_in *in, void *memory, rs_err *err) {
  (void)err;
  const params *p = in->params;
  *(state *)memory = (state){p->gap / sqrt((double)in->head_dim), p->depth};
  return RS_OK;
}

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  memset(out, 0, (end - begin) * in->head_dim * sizeof *out);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  (void)position;
  for (size_t d = 0; d < in->head_dim; d++) out[d] = 1;
}

static size_t needle(const rs_source_in *in, size_t position, const double *asked, double *key) {
  const state *s = in->state;
  for (size_t d = 0; d < in->head_dim; d++) key[d] = s->size * asked[d];
  return (size_t)floor(s->depth * (double)position);
}

static const rs_param specs[] = {
    {RS_FIELD(params, gap), .unit = "nats", .min = -1000, .max = 1000, .fallback = "10",
     .summary = "the needle's logit, before any logit scale; all other keys have 0"},
    {RS_FIELD(params, depth), .unit = "1", .min = 0, .max = 1, .fallback = "0.5",
     .summary = "where the needle stands: 0 at the first key, 1 at the query itself"},
};

const rs_source_kind rs_source_gap = {
    .kind = {.name = "gap",
             .summary = "one key stands above all others by a given logit: dilution alone",
             .reference = "Scalable-Softmax, arXiv:2501.19399, section 2",
             RS_KIND(specs, params)},
    .state_size = sizeof(state),
    .prepare = prepare,
    .keys = keys,
    .query = query,
    .needle = needle,
};
