/* ALiBi: a penalty linear in distance, with a slope for each head. Press et al., arXiv:2108.12409, section 3. The forms
 * and formats in use differ: transformers' modeling_bloom.py, modeling_mpt.py and modeling_falcon.py. */
#include "kinds.h"

#include <math.h>

/* Slope of head h of H: a geometric sequence 2^(-bias_max/H), 2^(-2 bias_max/H), ... when H is a power of two;
 * otherwise the slopes of the power of two below, then every second one of the power above, as in the authors' code. */
static double exact_slope(size_t head, size_t heads, double bias_max) {
  size_t power = 1;
  while (power * 2 <= heads) power *= 2;
  if (head < power) return exp2(-bias_max * (double)(head + 1) / (double)power);
  return exp2(-bias_max * (double)(2 * (head - power) + 1) / (double)(2 * power));
}

static double slope(const rs_encoding *encoding, size_t head) {
  rs_format format = (rs_format)rs_setting_choice(&encoding->settings, "slope_format");
  return rs_round(format, exact_slope(head, encoding->heads, rs_setting_number(&encoding->settings, "bias_max")));
}

static double factor_of(const rs_encoding *encoding) {
  const rs_value *given = rs_setting(&encoding->settings, "slope_factor");
  return given->choice >= 0 ? 1 / sqrt((double)encoding->head_dim) : given->number;
}

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  (void)err;
  for (size_t h = 0; h < encoding->heads; h++) encoding->bias_table[h] = factor_of(encoding) * slope(encoding, h);
  return RS_OK;
}

enum { DISTANCE, POSITION, END }; /* bias_form */

static bool by_distance(const rs_encoding *encoding) {
  return rs_setting_choice(&encoding->settings, "bias_form") == DISTANCE;
}

/* What the slope multiplies. The forms differ by a constant of the row, which no softmax sees; but only up to the
 * query: beyond it the distance grows again, and the other two go on rising. */
static double stretch(int form, const rs_encoding *encoding, size_t query, size_t key) {
  if (form == POSITION) return (double)key;
  if (form == END) return (double)key - (double)(encoding->length - 1);
  return -fabs((double)query - (double)key);
}

/* The factor comes last: Falcon's divides the finished bias. */
static void row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  int form = rs_setting_choice(&encoding->settings, "bias_form");
  rs_format format = (rs_format)rs_setting_choice(&encoding->settings, "bias_format");
  double slope_of_head = slope(encoding, head), factor = factor_of(encoding);
  for (size_t n = begin; n < end; n++) {
    double by = rs_round(format, stretch(form, encoding, query, n));
    bias[n - begin] = factor * rs_round(format, slope_of_head * by);
  }
}

static const rs_param params[] = {
    {.name = "bias_max",
     .type = RS_REAL,
     .unit = "1",
     .min = 1e-6,
     .max = 1000,
     .fallback = "8",
     .summary = "slopes run from 2^(-bias_max/H) to 2^-bias_max for H heads, a power of two (MPT: alibi_bias_max)"},
    {.name = "slope_factor",
     .type = RS_REAL,
     .unit = "1",
     RS_WORD_LIST("inv_sqrt_dim"),
     .min = 0,
     .max = 1e6,
     .fallback = "1",
     .summary = "multiplies every bias; inv_sqrt_dim: 1/sqrt(D), as Falcon adds the bias before it divides by sqrt(D)"},
    {.name = "bias_form",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORD_LIST("distance", "position", "end"),
     .fallback = "distance",
     .summary =
         "slope times -|m - n| (the paper), n (BLOOM, fairseq) or n - (L - 1) (MPT): for keys up to the query the "
         "same, up to a constant of the row"},
    {.name = "slope_format",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORDS(rs_format_words),
     .fallback = "f64",
     .summary = "float format that the slopes are rounded to (Falcon: bf16)"},
    {.name = "bias_format",
     .type = RS_CHOICE,
     .unit = "",
     RS_WORDS(rs_format_words),
     .fallback = "f64",
     .summary = "float format of what the slope multiplies and of their product (Falcon: bf16)"},
};

const rs_bias_kind rs_bias_alibi = {
    .kind = {.name = "alibi",
             .summary = "bias = -slope_h * distance, slopes a geometric sequence over the heads",
             .reference = "ALiBi, arXiv:2108.12409, section 3",
             .version = 2,
             .params = params,
             .param_count = RS_COUNT(params)},
    .fill = fill,
    .by_distance = by_distance,
    .row = row,
};
