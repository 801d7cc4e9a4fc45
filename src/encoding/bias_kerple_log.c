/* KERPLE, logarithmic: bias = -r1 ln(1 + r2 |m - n|). Chi et al., arXiv:2205.09921; the bounds and the draw at
 * initialisation are those of the authors' code (github.com/chijames/KERPLE 25be3d7). That code is causal; |m - n|
 * carries it to keys after the query. */
#include "kinds.h"

#include <math.h>

enum { R1, R2, NUMBERS };

static const double least = 0.01; /* the code's eps: both are clamped to it from below, at every use */

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  RS_TRY(rs_bias_list_check(settings, "r1", 1, model->heads, err));
  RS_TRY(rs_bias_list_check(settings, "r2", 1, model->heads, err));
  bool drawn = !rs_setting(settings, "r1")->set || !rs_setting(settings, "r2")->set;
  return drawn ? RS_OK : rs_unused_check(settings, "table_seed", "r1 and r2", err);
}

static size_t table_size(const rs_encoding *encoding) {
  (void)encoding;
  return NUMBERS;
}

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  (void)err;
  for (size_t h = 0; h < encoding->heads; h++) {
    encoding->bias_table[NUMBERS * h + R1] = fmax(least, rs_head_number(encoding, "r1", h, R1, 2));
    encoding->bias_table[NUMBERS * h + R2] = fmax(least, rs_head_number(encoding, "r2", h, R2, 1));
  }
  return RS_OK;
}

static void row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const double *r = encoding->bias_table + NUMBERS * head;
  for (size_t n = begin; n < end; n++) bias[n - begin] = -r[R1] * log1p(r[R2] * fabs((double)query - (double)n));
}

static const rs_param params[] = {
    {.name = "r1",
     .type = RS_REALS,
     .unit = "nats",
     .min = -1e6,
     .max = 1e6,
     .summary = "one number a head, at least 0.01 (smaller ones count as that; default: drawn from 0 to 2)"},
    {.name = "r2",
     .type = RS_REALS,
     .unit = "1/tokens",
     .min = -1e6,
     .max = 1e6,
     .summary = "one number a head, at least 0.01 (smaller ones count as that; default: drawn from 0 to 1)"},
    RS_TABLE_SEED_PARAM,
};

const rs_bias_kind rs_bias_kerple_log = {
    .kind = {.name = "kerple_log",
             .summary = "bias = -r1 ln(1 + r2 distance), r1 and r2 learned for each head",
             .reference = "KERPLE, arXiv:2205.09921",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = check,
    .table_size = table_size,
    .fill = fill,
    .by_distance = rs_always_by_distance,
    .row = row,
};
