/* Two models layer by layer: layers that are of the same kinds on both sides are compared once. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

void rs_layer_differences_clear(rs_layer_differences *layers) {
  for (size_t i = 0; i < layers->count; i++) free(layers->items[i].causes);
  free(layers->items);
  *layers = (rs_layer_differences){0};
}

/* Adds the pair of kinds, unless it is there. */
static rs_status add_pair(rs_layer_differences *out, size_t a, size_t b, rs_err *err) {
  size_t capacity = out->count;
  for (size_t i = 0; i < out->count; i++)
    if (out->items[i].kind[0] == a && out->items[i].kind[1] == b) return RS_OK;
  RS_TRY(RS_GROW(out->items, &capacity, out->count + 1, err));
  out->items[out->count++] = (rs_layer_difference){.kind = {a, b}};
  return RS_OK;
}

static size_t named(const rs_profile *profile, const char *name) {
  size_t k = 0;
  while (k < profile->kind_count && strcmp(profile->kinds[k].name, name) != 0) k++;
  return k < profile->kind_count ? k : RS_NO_KIND;
}

/* Of models of other depths: kinds by their names. */
static rs_status pair_by_name(const rs_profile *a, const rs_profile *b, rs_layer_differences *out, rs_err *err) {
  for (size_t k = 0; k < a->kind_count; k++) RS_TRY(add_pair(out, k, named(b, a->kinds[k].name), err));
  for (size_t k = 0; k < b->kind_count; k++)
    if (named(a, b->kinds[k].name) == RS_NO_KIND) RS_TRY(add_pair(out, RS_NO_KIND, k, err));
  return RS_OK;
}

static rs_status pair_by_layer(const rs_profile *a, const rs_profile *b, rs_layer_differences *out, rs_err *err) {
  for (size_t i = 0; i < a->layer_count; i++) RS_TRY(add_pair(out, a->layers[i], b->layers[i], err));
  return RS_OK;
}

rs_status rs_published_make(const rs_model *model, size_t length, rs_published *side, rs_err *err) {
  *side = (rs_published){0};
  RS_TRY(rs_recipe_copy(&side->recipe, &model->published, err));
  rs_status status = rs_recipe_resolve(&side->recipe, model, err);
  if (status == RS_OK) status = rs_spectrum_make(&side->recipe, model, length, &side->spectrum, err);
  side->compared = (rs_compared){&side->recipe, model, length, &side->spectrum};
  if (status != RS_OK) rs_published_clear(side);
  return status;
}

void rs_published_clear(rs_published *side) {
  rs_recipe_clear(&side->recipe);
  rs_spectrum_clear(&side->spectrum);
}

/* The difference of two kinds, and where there is work for it (else NULL) its causes. */
static rs_status compare_spectra(const rs_layer_kind *a, const rs_layer_kind *b, size_t length, double rtol,
                                 double *work, rs_layer_difference *out, rs_err *err) {
  rs_published sides[] = {{.compared = {0}}, {.compared = {0}}};
  rs_status status = rs_published_make(&a->model, length, &sides[0], err);
  if (status == RS_OK) status = rs_published_make(&b->model, length, &sides[1], err);
  if (status == RS_OK) out->difference = rs_spectrum_compare(&sides[0].spectrum, &sides[1].spectrum, rtol);
  if (status == RS_OK && work != NULL && out->difference.differs != 0) {
    out->causes = rs_alloc(1, sizeof *out->causes, err);
    status = out->causes != NULL
                 ? rs_causes_within(&sides[0].compared, &sides[1].compared, rtol, work, out->causes, err)
                 : RS_MEMORY;
  }
  for (size_t i = 0; i < 2; i++) rs_published_clear(&sides[i]);
  return status;
}

static bool turns(const rs_layer_kind *kind) {
  return kind->model.published.method != NULL && kind->model.published.method->freq != NULL;
}

static bool sees_alike(const rs_layer_kind *a, const rs_layer_kind *b) {
  return a->mask.kind == b->mask.kind && a->mask.window == b->mask.window && a->compression == b->compression;
}

static rs_status compare_kinds(const rs_layer_kind *a, const rs_layer_kind *b, size_t length, double rtol,
                               rs_layer_difference *out, rs_err *err) {
  out->attention = a->attends != b->attends;
  if (!a->attends || !b->attends) return RS_OK;
  out->view = !sees_alike(a, b);
  if (rs_layers_turn_alike(a, b)) return RS_OK;
  if (turns(a) && turns(b)) return compare_spectra(a, b, length, rtol, NULL, out, err);
  out->recipe = true;
  return RS_OK;
}

bool rs_layers_differ(const rs_layer_difference *d) {
  return d->attention || d->view || d->recipe || d->difference.differs != 0;
}

rs_status rs_layers_compare(const rs_profile *a, const rs_profile *b, size_t length, double rtol,
                            rs_layer_differences *out, rs_err *err) {
  *out = (rs_layer_differences){.by_layer = a->counted && b->counted && a->layer_count == b->layer_count};
  rs_status status = out->by_layer ? pair_by_layer(a, b, out, err) : pair_by_name(a, b, out, err);
  for (size_t i = 0; i < out->count && status == RS_OK; i++) {
    rs_layer_difference *item = &out->items[i];
    if (item->kind[0] == RS_NO_KIND || item->kind[1] == RS_NO_KIND)
      item->attention = true;
    else
      status = compare_kinds(&a->kinds[item->kind[0]], &b->kinds[item->kind[1]], length, rtol, item, err);
    out->differs |= rs_layers_differ(item);
  }
  if (status != RS_OK) rs_layer_differences_clear(out);
  return status;
}

rs_status rs_layers_explain(const rs_profile *a, const rs_profile *b, const size_t known[2], size_t length, double rtol,
                            rs_layer_differences *layers, rs_err *err) {
  double work = RS_MOST_WORK;
  for (size_t i = 0; i < layers->count; i++) {
    rs_layer_difference *item = &layers->items[i];
    bool told = item->kind[0] == known[0] && item->kind[1] == known[1];
    if (told || item->difference.differs == 0 || item->causes != NULL) continue;
    RS_TRY(compare_spectra(&a->kinds[item->kind[0]], &b->kinds[item->kind[1]], length, rtol, &work, item, err));
  }
  return RS_OK;
}
