/* ALiBi: a penalty linear in distance, with a slope for each head. Press et al., arXiv:2108.12409, section 3. */
#include "kinds.h"

#include <math.h>

/* Slope of head h of H: a geometric sequence 2^(-bias_max/H), 2^(-2 bias_max/H), ... when H is a power of two;
 * otherwise the slopes of the power of two below, then every second one of the power above, as in the authors' code. */
static double slope(size_t head, size_t heads, double bias_max) {
  size_t power = 1;
  while (power * 2 <= heads) power *= 2;
  if (head < power) return exp2(-bias_max * (double)(head + 1) / (double)power);
  return exp2(-bias_max * (double)(2 * (head - power) + 1) / (double)(2 * power));
}

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  (void)err;
  double bias_max = rs_setting_number(&encoding->settings, "bias_max");
  double factor = rs_setting_number(&encoding->settings, "slope_factor");
  for (size_t h = 0; h < encoding->heads; h++) encoding->bias_table[h] = factor * slope(h, encoding->heads, bias_max);
  return RS_OK;
}

static void row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  double slope_of_head = encoding->bias_table[head];
  for (size_t n = begin; n < end; n++) bias[n - begin] = -slope_of_head * fabs((double)query - (double)n);
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
     .min = 0,
     .max = 1e6,
     .fallback = "1",
     .summary = "multiplies every slope (Falcon adds the bias before it divides by sqrt(D): 1/sqrt(D))"},
};

const rs_bias_kind rs_bias_alibi = {
    .kind = {.name = "alibi",
             .summary = "bias = -slope_h * distance, slopes a geometric sequence over the heads",
             .reference = "ALiBi, arXiv:2108.12409, section 3",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .fill = fill,
    .row = row,
};
