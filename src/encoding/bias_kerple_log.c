/* KERPLE, logarithmic: bias = -r1 ln(1 + r2 |m - n|). Chi et al., arXiv:2205.09921; the bounds and the draw at
 * initialisation are those of the authors' code (github.com/chijames/KERPLE 25be3d7). That code is causal; |m - n|
 * carries it to keys after the query. */
#include "kinds.h"

#include <math.h>

enum { R1, R2, ARRAYS };

static const double least = 0.01; /* the code's eps: both are clamped to it from below, at every use */

typedef struct params {
  rs_real_list r1, r2; /* nats; 1/tokens; a number for each head; unset: drawn */
  size_t table_seed;
} params;

typedef struct state {
  size_t heads;
  const double *table; /* (ARRAYS, H) as given, not clamped */
} state;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  RS_TRY(rs_bias_list_check(binding, offsetof(params, r1), 1, model->heads, err));
  RS_TRY(rs_bias_list_check(binding, offsetof(params, r2), 1, model->heads, err));
  bool drawn = p->r1.list == NULL || p->r2.list == NULL;
  return drawn ? RS_OK : rs_binding_unused(binding, offsetof(params, table_seed), "r1 and r2", err);
}

static size_t table_size(const rs_stage_in *in) {
  return ARRAYS * in->heads;
}

static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  (void)err;
  const params *p = in->params;
  for (size_t h = 0; h < in->heads; h++) {
    table[R1 * in->heads + h] = rs_head_number(&p->r1, p->table_seed, h, R1, 2);
    table[R2 * in->heads + h] = rs_head_number(&p->r2, p->table_seed, h, R2, 1);
  }
  *(state *)out = (state){in->heads, table};
  return RS_OK;
}

static void row(const void *prepared, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const state *s = prepared;
  double r1 = fmax(least, s->table[R1 * s->heads + head]), r2 = fmax(least, s->table[R2 * s->heads + head]);
  for (size_t n = begin; n < end; n++) bias[n - begin] = -r1 * log1p(r2 * fabs((double)query - (double)n));
}

static size_t learned(const void *prepared, rs_learned out[RS_LEARNED]) {
  size_t heads = ((const state *)prepared)->heads;
  out[R1] = (rs_learned){"bias.r1", 1, heads};
  out[R2] = (rs_learned){"bias.r2", 1, heads};
  return ARRAYS;
}

/* A clamped number gets none, as from torch's clamp. */
static void gradient(const void *prepared, size_t head, size_t query, size_t begin, size_t end, const double *by_bias,
                     double *const *arrays) {
  const state *s = prepared;
  double given_r1 = s->table[R1 * s->heads + head], given_r2 = s->table[R2 * s->heads + head];
  double r1 = fmax(least, given_r1), r2 = fmax(least, given_r2), by_r1 = 0, by_r2 = 0;
  for (size_t n = begin; n < end; n++) {
    double distance = fabs((double)query - (double)n);
    by_r1 -= by_bias[n - begin] * log1p(r2 * distance);
    by_r2 -= by_bias[n - begin] * r1 * distance / (1 + r2 * distance);
  }
  if (given_r1 >= least) arrays[R1][head] += by_r1;
  if (given_r2 >= least) arrays[R2][head] += by_r2;
}

static const rs_param specs[] = {
    {RS_FIELD(params, r1), .unit = "nats", .min = -1e6, .max = 1e6,
     .summary = "one number a head, at least 0.01 (smaller ones count as that; default: drawn from 0 to 2)"},
    {RS_FIELD(params, r2), .unit = "1/tokens", .min = -1e6, .max = 1e6,
     .summary = "one number a head, at least 0.01 (smaller ones count as that; default: drawn from 0 to 1)"},
    {RS_FIELD(params, table_seed), RS_TABLE_SEED},
};

const rs_bias_kind rs_bias_kerple_log = {
    .kind = {.name = "kerple_log",
             .summary = "bias = -r1 ln(1 + r2 distance), r1 and r2 learned for each head",
             .reference = "KERPLE, arXiv:2205.09921",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(params)},
    .check = check,
    .table_size = table_size,
    .state_size = sizeof(state),
    .prepare = prepare,
    .by_distance = rs_always_by_distance,
    .row = row,
    .learned = learned,
    .gradient = gradient,
};
