/* A needle in a haystack: Gaussian queries and keys, and for each query one more key that resembles it,
 * k* = overlap q + sqrt(1 - overlap^2) noise, at a chosen depth of the context the query sees. Without position the
 * needle's logit is overlap |q|^2 / sqrt(D), about overlap sqrt(D). Content may sit in a band of the rotary pairs:
 * models keep what they look up by meaning in the slow ones (Barbero et al., arXiv:2410.06205, section 4). */
#include "attention/sources.h"

#include <math.h>

typedef struct params {
  double depth, overlap;
  rs_band band;
} params;

typedef struct state {
  double depth, overlap, noise; /* noise: what overlap leaves of a needle */
  bool whole;                   /* content is in the whole head, dims that do not turn included */
  rs_band_pairs pairs;          /* that hold it, else */
} state;

static rs_status check(const rs_binding *binding, rs_err *err) {
  return rs_band_check(binding, offsetof(params, band), err);
}

static rs_status prepare(const rs_source_in *in, void *memory, rs_err *err) {
  (void)err;
  const params *p = in->params;
  *(state *)memory = (state){.depth = p->depth,
                             .overlap = p->overlap,
                             .noise = sqrt(1 - p->overlap * p->overlap),
                             .whole = p->band.from == 0 && p->band.to == 1,
                             .pairs = rs_band_find(&p->band, in)};
  return RS_OK;
}

static void limit(const rs_source_in *in, size_t rows, double *out) {
  const state *s = in->state;
  if (!s->whole) rs_band_limit(in, &s->pairs, rows, out);
}

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  rs_gaussian_keys(in, begin, end, out);
  limit(in, end - begin, out);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  rs_gaussian_query(in, position, out);
  limit(in, 1, out);
}

static size_t needle(const rs_source_in *in, size_t position, const double *asked, double *key) {
  const state *s = in->state;
  rs_stream stream = {in->seed, RS_PURPOSE_NEEDLES, (uint32_t)in->head};
  rs_gaussian_fill(stream, (uint64_t)position * in->head_dim, in->head_dim, key);
  limit(in, 1, key);
  for (size_t d = 0; d < in->head_dim; d++) key[d] = s->overlap * asked[d] + s->noise * key[d];
  return (size_t)floor(s->depth * (double)position);
}

/* Every haystack's key is random and the needle's is its query's: turned by nothing, it has the largest logit. */
static const char caveat[] = "no ranking of trained models: nothing is learned here, position only disturbs the match, "
                             "and a method without it (nope) comes first";

/* "a copy of the query", "content in the slow quarter of the pairs", "depth 0.5", and the caveat. */
static void caption(const void *memory, size_t phrase, rs_text *out) {
  const params *p = memory;
  bool whole = p->band.from == 0 && p->band.to == 1;
  if (phrase == 0 && p->overlap == 1) rs_text_puts(out, "a copy of the query");
  if (phrase == 0 && p->overlap < 1) {
    rs_text_puts(out, "correlation ");
    rs_text_number(out, p->overlap);
    rs_text_puts(out, " with the query");
  }
  if (phrase == 1 && whole) rs_text_puts(out, "content in the whole head");
  if (phrase == 1 && !whole) rs_band_caption(&p->band, out);
  if (phrase == 2) {
    rs_text_puts(out, "depth ");
    rs_text_number(out, p->depth);
  }
  if (phrase == 3 && p->overlap > 0) rs_text_puts(out, caveat);
}

static const rs_param specs[] = {
    {RS_FIELD(params, depth), .unit = "1", .min = 0, .max = 1, .fallback = "0.5",
     .summary = "where the needle stands: 0 at the first key, 1 at the query itself"},
    {RS_FIELD(params, overlap), .unit = "1", .min = 0, .max = 1, .fallback = "1",
     .summary = "correlation of the needle with its query"},
    {RS_FIELD_IN(params, band, from), .unit = "1", .min = 0, .max = 1, .fallback = "0",
     .summary = "first rotary pair that holds content, as a share of the pairs (0: the fastest)"},
    {RS_FIELD_IN(params, band, to), .unit = "1", .min = 0, .max = 1, .fallback = "1",
     .summary = "end of the pairs that hold content (from 0 to 1: the whole head)"},
};

const rs_source_kind rs_source_needle = {
    .kind = {.name = "needle",
             .summary = "Gaussian haystack, and one more key that resembles the query at a chosen depth",
             .reference = "Kamradt's needle in a haystack (2023), without weights",
             RS_KIND(specs, params)},
    .check = check,
    .state_size = sizeof(state),
    .prepare = prepare,
    .keys = keys,
    .query = query,
    .needle = needle,
    .caption = caption,
};
