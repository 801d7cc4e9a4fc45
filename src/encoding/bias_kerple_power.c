/* KERPLE, power: bias = -a |m - n|^p. Chi et al., arXiv:2205.09921; the bounds and the draw at initialisation
 * are those of the authors' code (github.com/chijames/KERPLE 25be3d7). p = 1 is ALiBi with a for the slope. That code
 * is causal; |m - n| carries it to keys after the query. */
#include "kinds.h"

#include <math.h>

enum { A, P, NUMBERS };

static const double least = 0.01, steepest = 2; /* the code clamps a from below, p from both sides, at every use */

typedef struct params {
  rs_real_list a, p; /* nats; 1; a number for each head; unset: drawn */
  size_t table_seed;
} params;

typedef struct state {
  const double *table; /* (H, NUMBERS) */
} state;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  RS_TRY(rs_bias_list_check(binding, offsetof(params, a), 1, model->heads, err));
  RS_TRY(rs_bias_list_check(binding, offsetof(params, p), 1, model->heads, err));
  bool drawn = p->a.list == NULL || p->p.list == NULL;
  return drawn ? RS_OK : rs_binding_unused(binding, offsetof(params, table_seed), "a and p", err);
}

static size_t table_size(const rs_stage_in *in) {
  (void)in;
  return NUMBERS;
}

static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  (void)err;
  const params *p = in->params;
  for (size_t h = 0; h < in->heads; h++) {
    table[NUMBERS * h + A] = fmax(least, rs_head_number(&p->a, p->table_seed, h, A, 1));
    table[NUMBERS * h + P] = fmin(steepest, fmax(least, rs_head_number(&p->p, p->table_seed, h, P, 2)));
  }
  *(state *)out = (state){table};
  return RS_OK;
}

static void row(const void *prepared, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const double *numbers = ((const state *)prepared)->table + NUMBERS * head;
  for (size_t n = begin; n < end; n++) bias[n - begin] = -numbers[A] * pow(fabs((double)query - (double)n), numbers[P]);
}

static const rs_param specs[] = {
    {RS_FIELD(params, a), .unit = "nats", .min = -1e6, .max = 1e6,
     .summary = "one number a head, at least 0.01 (smaller ones count as that; default: drawn from 0 to 1)"},
    {RS_FIELD(params, p), .unit = "1", .min = -1e6, .max = 1e6,
     .summary = "one number a head, clamped to 0.01 ... 2 (default: drawn from 0 to 2)"},
    {RS_FIELD(params, table_seed), RS_TABLE_SEED},
};

const rs_bias_kind rs_bias_kerple_power = {
    .kind = {.name = "kerple_power",
             .summary = "bias = -a distance^p, a and p learned for each head",
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
};
