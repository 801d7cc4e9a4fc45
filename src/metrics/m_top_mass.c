/* How few keys hold the weight: what attention that keeps the k largest of a row would keep of it. */
#include "metric_list.h"

#include <math.h>

typedef struct params {
  rs_real_list k;
} params;

typedef enum k_word { POWERS, K_WORDS } k_word;
static const char *const k_words[K_WORDS + 1] = {[POWERS] = "powers"};
static const double powers[] = {1, 4, 16, 64, 256, 1024, 4096};

typedef struct state {
  const double *k;
  size_t count;
  rs_moments mass[]; /* (count,) */
} state;

static size_t list_of(const void *given, const double **list) {
  const rs_real_list *k = &((const params *)given)->k;
  *list = k->word == RS_NO_WORD ? k->list : powers;
  return k->word == RS_NO_WORD ? k->count : RS_COUNT(powers);
}

static rs_status check(const rs_binding *binding, rs_err *err) {
  const double *k;
  size_t count = list_of(binding->fields, &k);
  for (size_t i = 0; i < count; i++) {
    if (k[i] != floor(k[i]))
      return rs_binding_fail(binding, offsetof(params, k), err, "must be whole numbers of keys, not %g", k[i]);
    if (i > 0 && k[i] <= k[i - 1])
      return rs_binding_fail(binding, offsetof(params, k), err, "must ascend: %g follows %g", k[i], k[i - 1]);
  }
  return RS_OK;
}

static void wants(const void *given, rs_row_needs *needs) {
  needs->top_count = list_of(given, &needs->tops);
}

static rs_status prepare(const rs_metric_in *in, void **memory, rs_err *err) {
  const double *k;
  size_t count = list_of(in->params, &k);
  RS_TRY(rs_state_make(sizeof(state) + count * sizeof(rs_moments), memory, err));
  state *s = *memory;
  s->k = k;
  s->count = count;
  return RS_OK;
}

static void row(void *memory, const rs_row *observed) {
  state *s = memory;
  for (size_t i = 0; i < s->count; i++) rs_moments_add(&s->mass[i], observed->top_weight[i]);
}

static rs_status finish(const rs_metric_in *in, const void *memory, rs_result *result, rs_err *err) {
  (void)in;
  const state *s = memory;
  for (size_t i = 0; i < s->count; i++) {
    double line[] = {s->k[i], rs_moments_mean(&s->mass[i]), rs_moments_se(&s->mass[i])};
    if (s->mass[i].count > 0) RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  return RS_OK;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  const double *k;
  (void)in;
  return list_of(given, &k);
}

static const rs_param specs[] = {
    {RS_FIELD(params, k), .unit = "keys", RS_WORDS(k_words), .min = 1, .max = 1e9, .fallback = "powers",
     .summary = "how many keys with the largest weights, ascending; powers: 1, 4, 16, ... 4096"},
};

static const rs_column curve[] = {
    RS_COLUMN("k_keys", "keys", "how many keys, those with the largest weights", .integer = true, .log_axis = true),
    RS_COLUMN("top_mass", "1",
              "attention weight of the k keys that have most of it (of all where there are fewer), mean over queries "
              "and heads",
              .sampled = true, .better = RS_HIGHER),
};

const rs_metric_kind rs_metric_top_mass = {
    .kind = {.name = "top_mass",
             .summary = "attention weight of the k largest keys",
             .reference = "what sparse attention keeps: Gupta et al., arXiv:2106.06899 (top-k attention)",
             RS_KIND(specs, params)},
    .check = check,
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .wants = wants,
    .prepare = prepare,
    .row = row,
    .finish = finish,
};
