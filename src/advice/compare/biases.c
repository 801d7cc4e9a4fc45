/* Two recipes that turn nothing and add biases: where these part, and why. A softmax sees no constant of a row, so each
 * bias is taken less that of the query's own key. */
#include "compare.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 15, PER_OCTAVE = 8 }; /* tokens; every slope and format shows within them */

/* Biases of the last query, (heads, count), at distances that all sides of a comparison share. */
typedef struct rows {
  size_t heads, count;
  size_t *distance; /* (count + 1,) */
  double *bias;
  double largest; /* |bias| before the row's constant went, nats */
  double own;     /* bias of head 0 on the query's own key */
} rows;

static void rows_clear(rows *r) {
  free(r->distance);
  free(r->bias);
  *r = (rows){0};
}

static rs_status fill_rows(const rs_encoding *encoding, rows *out, rs_err *err) {
  size_t query = encoding->length - 1;
  out->heads = encoding->heads;
  RS_TRY(rs_log_edges(encoding->length, PER_OCTAVE, &out->distance, &out->count, err));
  out->bias = rs_alloc(out->heads * out->count, sizeof *out->bias, err);
  if (out->bias == NULL) return RS_MEMORY;
  for (size_t h = 0; h < out->heads; h++) {
    double here, there;
    rs_encoding_bias_row(encoding, h, query, query, query + 1, &here);
    if (h == 0) out->own = here;
    for (size_t i = 0; i < out->count; i++) {
      size_t key = query - out->distance[i];
      rs_encoding_bias_row(encoding, h, query, key, key + 1, &there);
      out->bias[h * out->count + i] = there - here;
      out->largest = fmax(out->largest, fmax(fabs(there), fabs(here)));
    }
  }
  return RS_OK;
}

static rs_status rows_make(const rs_recipe *recipe, const rs_model *model, size_t length, rows *out, rs_err *err) {
  rs_encoding *encoding;
  *out = (rows){0};
  RS_TRY(rs_encoding_create(recipe, model, length < LONGEST ? length : LONGEST, NULL, NULL, &encoding, err));
  rs_status status = fill_rows(encoding, out, err);
  rs_encoding_free(encoding);
  if (status != RS_OK) rows_clear(out);
  return status;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static rs_bias_difference compare(const rows *a, const rows *b, double rtol) {
  rs_bias_difference out = {.heads = a->heads};
  /* What cancels where the row's constant goes. */
  double slack = 4 * DBL_EPSILON * fmax(a->largest, b->largest);
  if (a->heads != b->heads || a->count != b->count) {
    out.count = out.heads;
    out.differs = true;
    out.largest = NAN;
    return out;
  }
  for (size_t h = 0; h < a->heads; h++) {
    bool differs = false;
    for (size_t i = 0; i < a->count; i++) {
      double of_a = a->bias[h * a->count + i], of_b = b->bias[h * b->count + i], apart = fabs(of_b - of_a);
      if (isfinite(apart) && apart <= rtol * fmax(fabs(of_a), fabs(of_b)) + slack) continue;
      differs = true;
      if (!(apart > out.largest)) continue;
      out.largest = apart;
      out.head = h;
      out.distance = a->distance[i];
      out.a = of_a;
      out.b = of_b;
    }
    out.count += differs;
  }
  out.differs = out.count > 0;
  out.shifted = fabs(a->own - b->own) > slack;
  return out;
}

bool rs_biases_comparable(const rs_recipe *recipe) {
  const rs_bias_kind *kind = recipe->method != NULL ? recipe->method->bias : NULL;
  return recipe->method != NULL && recipe->method->freq == NULL && kind != NULL && kind->learned == NULL;
}

/* ---- causes ------------------------------------------------------------------------------------------------------ */

typedef struct search {
  const rs_compared *sides[2];
  const rows *seen[2];
  double rtol;
  rs_causes *causes;
  char keys[RS_CAUSES][128]; /* what each of them alters */
  rs_err *err;
} search;

/* The same, added a second time (Falcon's eager path), or an alibi_bias_max that nobody reads. */
static void add_mishaps(rs_hypothesis_maker *make) {
  const rs_settings *settings = &make->from->recipe->settings;
  int factor = rs_settings_find(settings, "slope_factor");
  if (factor < 0 || !settings->values[factor].set || settings->values[factor].choice != RS_NO_WORD) return;
  double now = settings->values[factor].number;
  rs_hypothesis_number(make, "slope_factor", 2 * now, "the bias added twice, as transformers' eager Falcon does");
  rs_hypothesis_number(make, "slope_factor", now / 2, "the bias added once, where it was added twice");
}

/* Whether what a cause alters was altered otherwise already: the first that fits is named. */
static bool is_named(const search *in, const char *key) {
  for (size_t i = 0; i < in->causes->count; i++)
    if (strcmp(in->keys[i], key) == 0) return true;
  return false;
}

static rs_status try_some(search *in, size_t from, const rs_hypothesis *const *tried, size_t count) {
  const rs_compared *side = in->sides[from];
  rs_recipe recipe = {0};
  rows got = {0};
  rs_err why = {0};
  size_t length = side->length;
  char what[2 * sizeof tried[0]->what + 8], key[2 * sizeof tried[0]->key + 8];
  snprintf(what, sizeof what, "%s%s%s", tried[0]->what, count > 1 ? " and " : "", count > 1 ? tried[1]->what : "");
  snprintf(key, sizeof key, "%s%s%s", tried[0]->key, count > 1 ? "+" : "", count > 1 ? tried[1]->key : "");
  if (in->causes->count == RS_CAUSES || is_named(in, key)) return RS_OK;
  rs_status status = rs_hypotheses_apply(side, tried, count, &recipe, &length, &why);
  if (status == RS_OK && rs_biases_comparable(&recipe)) status = rows_make(&recipe, side->model, length, &got, &why);
  rs_recipe_clear(&recipe);
  if (status == RS_MEMORY) return rs_fail(in->err, RS_MEMORY, "%s", why.message);
  if (status == RS_OK && got.bias != NULL && !compare(&got, in->seen[1 - from], in->rtol).differs) {
    rs_cause *cause = &in->causes->items[in->causes->count];
    snprintf(in->keys[in->causes->count++], sizeof *in->keys, "%s", key);
    *cause = (rs_cause){.explains = RS_DIFFERS_BEYOND, .whole = true, .residual = NAN};
    rs_cause_write(cause, from, what);
  }
  rows_clear(&got);
  return RS_OK;
}

/* What has a name goes before values that fit. */
static rs_status try_side(search *in, size_t from, rs_hypothesis *list, bool two) {
  rs_hypothesis_maker make = {.from = in->sides[from], .other = in->sides[1 - from], .list = list};
  add_mishaps(&make);
  rs_hypotheses_dialects(&make);
  rs_hypotheses_settings(&make);
  if (make.starved) return rs_fail(in->err, RS_MEMORY, "out of memory for text");
  for (size_t i = 0; i < make.count; i++) {
    const rs_hypothesis *tried[2] = {&list[i]};
    if (!two) RS_TRY(try_some(in, from, tried, 1));
    for (size_t k = 0; k < i && two; k++) {
      tried[1] = &list[k];
      if (strcmp(list[i].key, list[k].key) != 0) RS_TRY(try_some(in, from, tried, 2));
    }
  }
  return RS_OK;
}

/* Of B only where nothing that is done to A gives B, and two changes where no single one does. */
static rs_status find_causes(search *in) {
  rs_hypothesis *list = rs_alloc(RS_HYPOTHESES, sizeof *list, in->err);
  rs_status status = list != NULL ? RS_OK : RS_MEMORY;
  for (size_t step = 0; step < 4 && status == RS_OK && in->causes->count == 0; step++)
    status = try_side(in, step % 2, list, step > 1);
  free(list);
  return status;
}

rs_status rs_biases_compare(const rs_compared *a, const rs_compared *b, double rtol, rs_bias_difference *out,
                            rs_causes *causes, rs_err *err) {
  rows seen[2] = {{0}};
  *causes = (rs_causes){0};
  *out = (rs_bias_difference){0};
  rs_status status = rows_make(a->recipe, a->model, a->length, &seen[0], err);
  if (status == RS_OK) status = rows_make(b->recipe, b->model, b->length, &seen[1], err);
  if (status == RS_OK) *out = compare(&seen[0], &seen[1], rtol);
  if (status == RS_OK && out->differs && a->model->heads == b->model->heads) {
    search in = {.sides = {a, b}, .seen = {&seen[0], &seen[1]}, .rtol = rtol, .causes = causes, .err = err};
    status = find_causes(&in);
  }
  for (size_t i = 0; i < 2; i++) rows_clear(&seen[i]);
  return status;
}
