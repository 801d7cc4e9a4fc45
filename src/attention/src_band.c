/* Band-limited heads: the energy of q and k sits in a band of rotary pairs. High frequencies make "positional" heads,
 * low ones "semantic" heads (Barbero et al., arXiv:2410.06205, section 4). The expected |q|^2 stays D. */
#include "sources.h"

#include <math.h>

/* Pairs [first, last) of the band; at least one. */
static void band_of(const rs_source_in *in, size_t *first, size_t *last) {
  double pairs = (double)(in->rotary_dim / 2);
  double slack = 1e-9; /* 0.28 * 25 is 7, not the next double above it */
  *first = (size_t)floor(rs_setting_number(in->settings, "from") * pairs + slack);
  *last = (size_t)ceil(rs_setting_number(in->settings, "to") * pairs - slack);
  if (*last <= *first) *last = *first + 1;
}

static size_t pair_of(const rs_source_in *in, size_t dim) {
  return in->pair_layout == RS_INTERLEAVED ? dim / 2 : dim % (in->rotary_dim / 2);
}

void rs_band_limit(const rs_source_in *in, size_t rows, double *out) {
  size_t first, last;
  band_of(in, &first, &last);
  double gain = sqrt((double)in->head_dim / (double)(2 * (last - first)));
  for (size_t d = 0; d < in->head_dim; d++) {
    bool inside = d < in->rotary_dim && pair_of(in, d) >= first && pair_of(in, d) < last;
    for (size_t row = 0; row < rows; row++) out[row * in->head_dim + d] *= inside ? gain : 0;
  }
}

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  rs_gaussian_keys(in, begin, end, out);
  rs_band_limit(in, end - begin, out);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  rs_gaussian_query(in, position, out);
  rs_band_limit(in, 1, out);
}

rs_status rs_band_check(const rs_settings *settings, rs_err *err) {
  double from = rs_setting_number(settings, "from"), to = rs_setting_number(settings, "to");
  return to > from ? RS_OK : rs_fail_on(err, RS_INPUT, "to", "must exceed from = %g", from);
}

static const rs_param params[] = {
    {.name = "from",
     .type = RS_REAL,
     .unit = "1",
     .min = 0,
     .max = 1,
     .fallback = "0",
     .summary = "first pair of the band, as a share of the pairs (0: the fastest)"},
    {.name = "to",
     .type = RS_REAL,
     .unit = "1",
     .min = 0,
     .max = 1,
     .fallback = "0.25",
     .summary = "end of the band, as a share of the pairs (1: the slowest)"},
};

const rs_source_kind rs_source_band = {
    .kind = {.name = "band",
             .summary = "Gaussian q and k whose energy sits in a band of rotary pairs",
             .reference = "Barbero et al., arXiv:2410.06205, section 4",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = rs_band_check,
    .keys = keys,
    .query = query,
};
