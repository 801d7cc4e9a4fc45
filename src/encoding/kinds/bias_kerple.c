/* KERPLE (Chi et al., arXiv:2205.09921): a penalty by a kernel of distance with two learned numbers for each head,
 * -r1 ln(1 + r2 |m - n|) or -a |m - n|^p; p = 1 is ALiBi with a for the slope. Bounds and draws are those of the
 * authors' code (github.com/chijames/KERPLE 25be3d7). That code is causal; |m - n| carries it to keys after the query.
 */
#include "encoding/kinds.h"

#include <math.h>

typedef enum kernel { LOG, POWER, KERNELS } kernel;
enum { NUMBERS = 2 };

static const char *const kernel_words[KERNELS + 1] = {[LOG] = "log", [POWER] = "power"};
static const char *const names[KERNELS][NUMBERS] = {{"bias.r1", "bias.r2"}, {"bias.a", "bias.p"}};

/* The code's eps, to which both numbers are clamped from below at every use, and what it clamps p to from above. */
static const double least = 0.01, most[KERNELS][NUMBERS] = {{INFINITY, INFINITY}, {INFINITY, 2}};

typedef struct params {
  kernel kernel;
  rs_real_list numbers[KERNELS][NUMBERS]; /* (H,) each; unset: drawn */
  size_t table_seed;
} params;

typedef struct state {
  kernel kernel;
  size_t heads;
  const double *table; /* (NUMBERS, H) as given, not clamped */
} state;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  const size_t each = sizeof *p->numbers[0], own = offsetof(params, numbers) + p->kernel * NUMBERS * each,
               other = offsetof(params, numbers) + !p->kernel * NUMBERS * each;
  bool drawn = false;
  for (size_t i = 0; i < NUMBERS; i++) {
    RS_TRY(rs_binding_unused(binding, other + i * each, p->kernel == LOG ? "kernel: log" : "kernel: power", err));
    RS_TRY(rs_bias_list_check(binding, own + i * each, 1, model->heads, err));
    drawn |= p->numbers[p->kernel][i].list == NULL;
  }
  if (drawn) return RS_OK;
  return rs_binding_unused(binding, offsetof(params, table_seed), p->kernel == LOG ? "r1 and r2" : "a and p", err);
}

static size_t table_size(const rs_stage_in *in) {
  return NUMBERS * in->heads;
}

static rs_status prepare(const rs_stage_in *in, double *table, void *memory, rs_err *err) {
  static const double span[KERNELS][NUMBERS] = {{2, 1}, {1, 2}};
  const params *p = in->params;
  (void)err;
  for (size_t h = 0; h < in->heads; h++)
    for (size_t i = 0; i < NUMBERS; i++)
      table[i * in->heads + h] = rs_head_number(&p->numbers[p->kernel][i], p->table_seed, h, i, span[p->kernel][i]);
  *(state *)memory = (state){p->kernel, in->heads, table};
  return RS_OK;
}

static double clamped(const state *s, size_t index, size_t head) {
  return fmin(most[s->kernel][index], fmax(least, s->table[index * s->heads + head]));
}

static void row(const void *memory, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const state *s = memory;
  double first = clamped(s, 0, head), second = clamped(s, 1, head);
  for (size_t n = begin; n < end; n++) {
    double distance = fabs((double)query - (double)n);
    bias[n - begin] = -first * (s->kernel == LOG ? log1p(second * distance) : pow(distance, second));
  }
}

static size_t learned(const void *memory, rs_learned out[RS_LEARNED]) {
  const state *s = memory;
  for (size_t i = 0; i < NUMBERS; i++) out[i] = (rs_learned){names[s->kernel][i], 1, s->heads};
  return NUMBERS;
}

/* A clamped number gets none, as from torch's clamp. */
static void gradient(const void *memory, size_t head, size_t query, size_t begin, size_t end, const double *by_bias,
                     double *const *arrays) {
  const state *s = memory;
  double first = clamped(s, 0, head), second = clamped(s, 1, head), by[NUMBERS] = {0};
  for (size_t n = begin; n < end; n++) {
    double distance = fabs((double)query - (double)n), given = by_bias[n - begin];
    double power = s->kernel == POWER ? pow(distance, second) : 0;
    by[0] -= given * (s->kernel == LOG ? log1p(second * distance) : power);
    if (s->kernel == LOG)
      by[1] -= given * first * distance / (1 + second * distance);
    else if (distance > 0)
      by[1] -= given * first * power * log(distance);
  }
  for (size_t i = 0; i < NUMBERS; i++)
    if (clamped(s, i, head) == s->table[i * s->heads + head]) arrays[i][head] += by[i];
}

static const rs_param specs[] = {
    {RS_FIELD(params, kernel), .unit = "", RS_WORDS(kernel_words), .fallback = "log",
     .summary = "-r1 ln(1 + r2 distance), or -a distance^p"},
    {RS_FIELD_AS(params, numbers[LOG][0], "r1"), .unit = "nats", .min = -1e6, .max = 1e6,
     .summary = "one number a head, at least 0.01 (smaller ones count as that; default: drawn from 0 to 2)"},
    {RS_FIELD_AS(params, numbers[LOG][1], "r2"), .unit = "1/tokens", .min = -1e6, .max = 1e6,
     .summary = "one number a head, at least 0.01 (smaller ones count as that; default: drawn from 0 to 1)"},
    {RS_FIELD_AS(params, numbers[POWER][0], "a"), .unit = "nats", .min = -1e6, .max = 1e6,
     .summary = "one number a head, at least 0.01 (smaller ones count as that; default: drawn from 0 to 1)"},
    {RS_FIELD_AS(params, numbers[POWER][1], "p"), .unit = "1", .min = -1e6, .max = 1e6,
     .summary = "one number a head, clamped to 0.01 ... 2 (default: drawn from 0 to 2)"},
    {RS_FIELD(params, table_seed), RS_TABLE_SEED},
};

const rs_bias_kind rs_bias_kerple = {
    .kind = {.name = "kerple",
             .summary = "bias = -r1 ln(1 + r2 distance) or -a distance^p, learned for each head",
             .reference = "KERPLE, arXiv:2205.09921",
             RS_KIND(specs, params)},
    .check = check,
    .table_size = table_size,
    .state_size = sizeof(state),
    .prepare = prepare,
    .by_distance = rs_always_by_distance,
    .row = row,
    .learned = learned,
    .gradient = gradient,
};
