/* FIRE: a small network of the distance in proportion to the query's position. Li et al., arXiv:2310.04418, section 3:
 *
 *   bias = (W2 relu(w1 u + b1) + b2)_h,  u = ln(1 + c |m - n|) / (ln(1 + c max(m, threshold)) + eps)
 *
 * with positions from 0, and the eps, the sizes and the draw at initialisation of the published PyTorch listing. u is
 * in [0, 1) for keys up to the query; for keys after it, whose distance counts alike, it may exceed 1. */
#include "kinds.h"

#include <math.h>

static const double eps = 1e-6;

typedef struct params {
  double c, threshold; /* 1/tokens; tokens */
  size_t mlp_width;
  rs_real_list weights; /* w1, b1, w2 (H, units), b2; unset: drawn */
  size_t table_seed;
} params;

/* A head's row of the table: w1, b1, w2 (one number a unit each), b2. */
typedef struct state {
  double c, threshold;
  size_t units;
  const double *table;
} state;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  size_t units = p->mlp_width, count = 2 * units + model->heads * (units + 1);
  if (p->weights.list == NULL) return RS_OK;
  if (p->weights.count != count)
    return rs_binding_fail(binding, offsetof(params, weights), err,
                           "has %zu numbers, but w1, b1 (%zu each), w2 (%zu x %zu) and b2 are %zu", p->weights.count,
                           units, model->heads, units, count);
  return rs_binding_unused(binding, offsetof(params, table_seed), "weights", err);
}

static size_t table_size(const rs_stage_in *in) {
  return 3 * ((const params *)in->params)->mlp_width + 1;
}

/* Weight number `index`. A drawn one is uniform within 1/sqrt(inputs of its layer), as torch initialises a linear layer
 * and its bias. */
static double weight(const params *p, size_t index) {
  double bound = index < 2 * p->mlp_width ? 1 : 1 / sqrt((double)p->mlp_width);
  if (p->weights.list != NULL) return p->weights.list[index];
  return bound * (2 * rs_uniform(rs_bias_stream(p->table_seed, 0), index) - 1);
}

static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  (void)err;
  const params *p = in->params;
  size_t units = p->mlp_width, w2 = 2 * units, b2 = w2 + in->heads * units;
  for (size_t h = 0; h < in->heads; h++) {
    double *row = table + h * (3 * units + 1);
    for (size_t k = 0; k < 2 * units; k++) row[k] = weight(p, k);
    for (size_t k = 0; k < units; k++) row[2 * units + k] = weight(p, w2 + h * units + k);
    row[3 * units] = weight(p, b2 + h);
  }
  *(state *)out = (state){p->c, p->threshold, units, table};
  return RS_OK;
}

static void row(const void *prepared, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const state *s = prepared;
  size_t units = s->units;
  double norm = log1p(s->c * fmax((double)query, s->threshold)) + eps;
  const double *w1 = s->table + head * (3 * units + 1), *b1 = w1 + units, *w2 = b1 + units;
  for (size_t n = begin; n < end; n++) {
    double u = log1p(s->c * fabs((double)query - (double)n)) / norm, sum = w2[units]; /* b2 stands after w2 */
    for (size_t k = 0; k < units; k++) sum += w2[k] * fmax(0, w1[k] * u + b1[k]);
    bias[n - begin] = sum;
  }
}

static const rs_param specs[] = {
    {RS_FIELD(params, c), .unit = "1/tokens", .min = 1e-9, .max = 1e9, .fallback = "0.1",
     .summary = "how soon the logarithm bends (0.1: the listing's initial value)"},
    {RS_FIELD(params, threshold), .unit = "tokens", .min = 1, .max = 1e9, .fallback = "512",
     .summary = "queries before it are normalised as if they stood there (512: the listing's initial value)"},
    {RS_FIELD(params, mlp_width), .unit = "units", .min = 1, .max = 4096, .fallback = "32",
     .summary = "hidden units of the network (32: the paper)"},
    {RS_FIELD(params, weights), .unit = "", .min = -1e6, .max = 1e6,
     .summary =
         "w1, b1 (one number a unit), w2 (a row of units for each head), b2 (one number a head) (default: drawn)"},
    {RS_FIELD(params, table_seed), RS_TABLE_SEED},
};

const rs_bias_kind rs_bias_fire = {
    .kind = {.name = "fire",
             .summary = "a small network of the log distance in proportion to the log position",
             .reference = "FIRE, arXiv:2310.04418, section 3",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(params)},
    .check = check,
    .table_size = table_size,
    .state_size = sizeof(state),
    .prepare = prepare,
    .row = row,
};
