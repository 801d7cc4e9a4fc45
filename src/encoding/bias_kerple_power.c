/* KERPLE, power: bias = -a |m - n|^p. Chi et al., arXiv:2205.09921; the bounds and the draw at initialisation
 * are those of the authors' code (github.com/chijames/KERPLE 25be3d7). p = 1 is ALiBi with a for the slope. That code
 * is causal; |m - n| carries it to keys after the query. */
#include "kinds.h"

#include <math.h>

enum { A, P, NUMBERS };

static const double least = 0.01, steepest = 2; /* the code clamps a from below, p from both sides, at every use */

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  RS_TRY(rs_bias_list_check(settings, "a", 1, model->heads, err));
  RS_TRY(rs_bias_list_check(settings, "p", 1, model->heads, err));
  bool drawn = !rs_setting(settings, "a")->set || !rs_setting(settings, "p")->set;
  return drawn ? RS_OK : rs_unused_check(settings, "table_seed", "a and p", err);
}

static size_t table_size(const rs_encoding *encoding) {
  (void)encoding;
  return NUMBERS;
}

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  (void)err;
  for (size_t h = 0; h < encoding->heads; h++) {
    encoding->bias_table[NUMBERS * h + A] = fmax(least, rs_head_number(encoding, "a", h, A, 1));
    encoding->bias_table[NUMBERS * h + P] = fmin(steepest, fmax(least, rs_head_number(encoding, "p", h, P, 2)));
  }
  return RS_OK;
}

static void row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const double *of_head = encoding->bias_table + NUMBERS * head;
  for (size_t n = begin; n < end; n++) bias[n - begin] = -of_head[A] * pow(fabs((double)query - (double)n), of_head[P]);
}

static const rs_param params[] = {
    {.name = "a",
     .type = RS_REALS,
     .unit = "nats",
     .min = -1e6,
     .max = 1e6,
     .summary = "one number a head, at least 0.01 (smaller ones count as that; default: drawn from 0 to 1)"},
    {.name = "p",
     .type = RS_REALS,
     .unit = "1",
     .min = -1e6,
     .max = 1e6,
     .summary = "one number a head, clamped to 0.01 ... 2 (default: drawn from 0 to 2)"},
    RS_TABLE_SEED_PARAM,
};

const rs_bias_kind rs_bias_kerple_power = {
    .kind = {.name = "kerple_power",
             .summary = "bias = -a distance^p, a and p learned for each head",
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
