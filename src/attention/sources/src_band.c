/* Band-limited heads: the energy of q and k sits in a band of rotary pairs. High frequencies make "positional" heads,
 * low ones "semantic" heads (Barbero et al., arXiv:2410.06205, section 4). The expected |q|^2 stays D. */
#include "attention/sources.h"

#include <math.h>

typedef struct params {
  rs_band band;
} params;

rs_status rs_band_check(const rs_binding *binding, size_t offset, rs_err *err) {
  const rs_band *band = (const void *)((const char *)binding->fields + offset);
  if (band->to > band->from) return RS_OK;
  return rs_binding_fail(binding, offset + offsetof(rs_band, to), err, "must exceed from = %g", band->from);
}

rs_band_pairs rs_band_find(const rs_band *band, const rs_source_in *in) {
  double pairs = (double)(in->rotary_dim / 2);
  double slack = 1e-9; /* 0.28 * 25 is 7, not the next double above it */
  size_t first = (size_t)floor(band->from * pairs + slack), last = (size_t)ceil(band->to * pairs - slack);
  if (last <= first) last = first + 1;
  return (rs_band_pairs){first, last, sqrt((double)in->head_dim / (double)(2 * (last - first)))};
}

static size_t pair_of(const rs_source_in *in, size_t dim) {
  return in->pair_layout == RS_INTERLEAVED ? dim / 2 : dim % (in->rotary_dim / 2);
}

void rs_band_limit(const rs_source_in *in, const rs_band_pairs *pairs, size_t rows, double *out) {
  for (size_t d = 0; d < in->head_dim; d++) {
    bool inside = d < in->rotary_dim && pair_of(in, d) >= pairs->first && pair_of(in, d) < pairs->last;
    for (size_t row = 0; row < rows; row++) out[row * in->head_dim + d] *= inside ? pairs->gain : 0;
  }
}

/* "quarter", or "30%" where the share has no word. */
static void write_share(double share, rs_text *out) {
  static const struct {
    double share;
    const char *word;
  } words[] = {{0.5, "half"}, {0.25, "quarter"}, {0.125, "eighth"}};
  for (size_t i = 0; i < RS_COUNT(words); i++)
    if (share == words[i].share) {
      rs_text_puts(out, words[i].word);
      return;
    }
  rs_text_printf(out, "%.4g%%", 100 * share);
}

void rs_band_caption(const rs_band *band, rs_text *out) {
  bool fast = band->from == 0, slow = band->to == 1;
  if (fast && slow) {
    rs_text_puts(out, "content in all pairs");
  } else if (fast || slow) {
    rs_text_puts(out, slow ? "content in the slow " : "content in the fast ");
    write_share(band->to - band->from, out);
    rs_text_puts(out, " of the pairs");
  } else {
    rs_text_printf(out, "content from %.4g%% to %.4g%% of the pairs (fastest first)", 100 * band->from, 100 * band->to);
  }
}

static void caption(const void *memory, size_t phrase, rs_text *out) {
  const params *p = memory;
  if (phrase == 0) rs_band_caption(&p->band, out);
}

static rs_status check(const rs_binding *binding, rs_err *err) {
  return rs_band_check(binding, offsetof(params, band), err);
}

static rs_status prepare(const rs_source_in *in, void *state, rs_err *err) {
  (void)err;
  const params *p = in->params;
  *(rs_band_pairs *)state = rs_band_find(&p->band, in);
  return RS_OK;
}

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  rs_gaussian_keys(in, begin, end, out);
  rs_band_limit(in, in->state, end - begin, out);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  rs_gaussian_query(in, position, out);
  rs_band_limit(in, in->state, 1, out);
}

static const rs_param specs[] = {
    {RS_FIELD_IN(params, band, from), .unit = "1", .min = 0, .max = 1, .fallback = "0",
     .summary = "first pair of the band, as a share of the pairs (0: the fastest)"},
    {RS_FIELD_IN(params, band, to), .unit = "1", .min = 0, .max = 1, .fallback = "0.25",
     .summary = "end of the band, as a share of the pairs (1: the slowest)"},
};

const rs_source_kind rs_source_band = {
    .kind = {.name = "band",
             .summary = "Gaussian q and k whose energy sits in a band of rotary pairs",
             .reference = "Barbero et al., arXiv:2410.06205, section 4",
             RS_KIND(specs, params)},
    .check = check,
    .state_size = sizeof(rs_band_pairs),
    .prepare = prepare,
    .keys = keys,
    .query = query,
    .caption = caption,
};
