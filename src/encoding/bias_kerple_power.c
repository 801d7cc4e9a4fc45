/* KERPLE, power: bias = -a |m - n|^p. Chi et al., arXiv:2205.09921; the bounds and the draw at initialisation
 * are those of the authors' code (github.com/chijames/KERPLE 25be3d7). p = 1 is ALiBi with a for the slope. That code
 * is causal; |m - n| carries it to keys after the query. */
#include "kinds.h"

#include <math.h>

enum { A, P, ARRAYS };

static const double least = 0.01, steepest = 2; /* the code clamps a from below, p from both sides, at every use */

typedef struct params {
  rs_real_list a, p; /* nats; 1; a number for each head; unset: drawn */
  size_t table_seed;
} params;

typedef struct state {
  size_t heads;
  const double *table; /* (ARRAYS, H) as given, not clamped */
} state;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  RS_TRY(rs_bias_list_check(binding, offsetof(params, a), 1, model->heads, err));
  RS_TRY(rs_bias_list_check(binding, offsetof(params, p), 1, model->heads, err));
  bool drawn = p->a.list == NULL || p->p.list == NULL;
  return drawn ? RS_OK : rs_binding_unused(binding, offsetof(params, table_seed), "a and p", err);
}

static size_t table_size(const rs_stage_in *in) {
  return ARRAYS * in->heads;
}

static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  (void)err;
  const params *p = in->params;
  for (size_t h = 0; h < in->heads; h++) {
    table[A * in->heads + h] = rs_head_number(&p->a, p->table_seed, h, A, 1);
    table[P * in->heads + h] = rs_head_number(&p->p, p->table_seed, h, P, 2);
  }
  *(state *)out = (state){in->heads, table};
  return RS_OK;
}

static void row(const void *prepared, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const state *s = prepared;
  double a = fmax(least, s->table[A * s->heads + head]);
  double p = fmin(steepest, fmax(least, s->table[P * s->heads + head]));
  for (size_t n = begin; n < end; n++) bias[n - begin] = -a * pow(fabs((double)query - (double)n), p);
}

static size_t learned(const void *prepared, rs_learned out[RS_LEARNED]) {
  size_t heads = ((const state *)prepared)->heads;
  out[A] = (rs_learned){"bias.a", 1, heads};
  out[P] = (rs_learned){"bias.p", 1, heads};
  return ARRAYS;
}

/* A clamped number gets none, as from torch's clamp. */
static void gradient(const void *prepared, size_t head, size_t query, size_t begin, size_t end, const double *by_bias,
                     double *const *arrays) {
  const state *s = prepared;
  double given_a = s->table[A * s->heads + head], given_p = s->table[P * s->heads + head];
  double a = fmax(least, given_a), p = fmin(steepest, fmax(least, given_p)), by_a = 0, by_p = 0;
  for (size_t n = begin; n < end; n++) {
    double distance = fabs((double)query - (double)n), power = pow(distance, p);
    by_a -= by_bias[n - begin] * power;
    if (distance > 0) by_p -= by_bias[n - begin] * a * power * log(distance);
  }
  if (given_a >= least) arrays[A][head] += by_a;
  if (given_p >= least && given_p <= steepest) arrays[P][head] += by_p;
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
    .learned = learned,
    .gradient = gradient,
};
