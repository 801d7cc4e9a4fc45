/* ALiBi: a penalty linear in distance, with a slope for each head. Press et al., arXiv:2108.12409, section 3. The forms
 * and formats in use differ: transformers' modeling_bloom.py, modeling_mpt.py and modeling_falcon.py. */
#include "encoding/kinds.h"

#include <math.h>

typedef enum factor_rule { INV_SQRT_DIM, FACTOR_RULES } factor_rule;
typedef enum bias_form { DISTANCE, POSITION, END, BIAS_FORMS } bias_form;

typedef struct params {
  double bias_max;
  rs_real_or_word slope_factor; /* factor_rule */
  bias_form bias_form;
  rs_format slope_format, bias_format;
} params;

typedef struct state {
  double bias_max, factor;
  bias_form form;
  rs_format slope_format, bias_format;
  size_t heads, last; /* H, and the last token */
} state;

/* Slope of head h of H: a geometric sequence 2^(-bias_max/H), 2^(-2 bias_max/H), ... when H is a power of two;
 * otherwise the slopes of the power of two below, then every second one of the power above, as in the authors' code. */
static double exact_slope(size_t head, size_t heads, double bias_max) {
  size_t power = 1;
  while (power * 2 <= heads) power *= 2;
  if (head < power) return exp2(-bias_max * (double)(head + 1) / (double)power);
  return exp2(-bias_max * (double)(2 * (head - power) + 1) / (double)(2 * power));
}

/* Before the factor. */
static double rounded_slope(const state *s, size_t head) {
  return rs_round(s->slope_format, exact_slope(head, s->heads, s->bias_max));
}

static double slope(const void *prepared, size_t head) {
  const state *s = prepared;
  return s->factor * rounded_slope(s, head);
}

static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  (void)err;
  const params *p = in->params;
  bool by_dim = p->slope_factor.word == INV_SQRT_DIM;
  *(state *)out = (state){.bias_max = p->bias_max,
                          .factor = by_dim ? 1 / sqrt((double)in->head_dim) : p->slope_factor.number,
                          .form = p->bias_form,
                          .slope_format = p->slope_format,
                          .bias_format = p->bias_format,
                          .heads = in->heads,
                          .last = in->length - 1};
  for (size_t h = 0; h < in->heads; h++) table[h] = slope(out, h);
  return RS_OK;
}

static bool by_distance(const void *prepared) {
  return ((const state *)prepared)->form == DISTANCE;
}

static bool by_key(const void *prepared) {
  return !by_distance(prepared);
}

/* What the slope multiplies. The forms differ by a constant of the row, which no softmax sees; but only up to the
 * query: beyond it the distance grows again, and the other two go on rising. */
static double stretch(const state *s, size_t query, size_t key) {
  if (s->form == POSITION) return (double)key;
  if (s->form == END) return (double)key - (double)s->last;
  return -fabs((double)query - (double)key);
}

/* The factor comes last: Falcon's divides the finished bias. */
static void row(const void *prepared, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const state *s = prepared;
  double slope_of_head = rounded_slope(s, head);
  for (size_t n = begin; n < end; n++) {
    double tokens = rs_round(s->bias_format, stretch(s, query, n));
    bias[n - begin] = s->factor * rs_round(s->bias_format, slope_of_head * tokens);
  }
}

static const char *const factors[FACTOR_RULES + 1] = {[INV_SQRT_DIM] = "inv_sqrt_dim"};
static const char *const forms[BIAS_FORMS + 1] = {[DISTANCE] = "distance", [POSITION] = "position", [END] = "end"};

static const rs_param specs[] = {
    {RS_FIELD(params, bias_max), .unit = "1", .min = 1e-6, .max = 1000, .fallback = "8",
     .summary = "slopes run from 2^(-bias_max/H) to 2^-bias_max for H heads, a power of two (MPT: alibi_bias_max)"},
    {RS_FIELD(params, slope_factor), .unit = "1", RS_WORDS(factors), .min = 0, .max = 1e6, .fallback = "1",
     .summary = "multiplies every bias; inv_sqrt_dim: 1/sqrt(D), as Falcon adds the bias before it divides by sqrt(D)"},
    {RS_FIELD(params, bias_form), .unit = "", RS_WORDS(forms), .fallback = "distance",
     .summary = "slope times -|m - n| (the paper), n (BLOOM, fairseq) or n - (L - 1) (MPT): for keys up to the query "
                "the same, up to a constant of the row"},
    {RS_FIELD(params, slope_format), .unit = "", RS_WORDS(rs_format_words), .fallback = "f64",
     .summary = "float format that the slopes are rounded to (Falcon: bf16)"},
    {RS_FIELD(params, bias_format), .unit = "", RS_WORDS(rs_format_words), .fallback = "f64",
     .summary = "float format of what the slope multiplies and of their product (Falcon: bf16)"},
};

const rs_bias_kind rs_bias_alibi = {
    .kind = {.name = "alibi",
             .summary = "bias = -slope_h * distance, slopes a geometric sequence over the heads",
             .reference = "ALiBi, arXiv:2108.12409, section 3",
             .version = 2,
             RS_KIND(specs, params)},
    .state_size = sizeof(state),
    .prepare = prepare,
    .slope = slope,
    .by_distance = by_distance,
    .by_key = by_key,
    .row = row,
};
