/* Whether layers, and files, come to the same. */
#include "hf_internal.h"

#include <string.h>

static bool same_value(const rs_value *a, const rs_value *b) {
  bool names = a->name == NULL || b->name == NULL ? a->name == b->name : strcmp(a->name, b->name) == 0;
  if (a->set != b->set || a->choice != b->choice || a->count != b->count || !names) return false;
  if (a->count > 0) return memcmp(a->list, b->list, a->count * sizeof *a->list) == 0;
  return !a->set || a->number == b->number || (a->number != a->number && b->number != b->number);
}

static bool same_recipe(const rs_recipe *a, const rs_recipe *b) {
  bool same = a->method == b->method;
  for (size_t p = 0; same && p < a->settings.count; p++)
    same = same_value(&a->settings.values[p], &b->settings.values[p]);
  return same;
}

bool rs_layers_turn_alike(const rs_layer_kind *a, const rs_layer_kind *b) {
  const rs_model *x = &a->model, *y = &b->model;
  bool turns = x->published.method != NULL && x->published.method->freq != NULL;
  bool tables = x->rotary_dim == y->rotary_dim && x->rope_theta == y->rope_theta;
  return x->heads == y->heads && x->head_dim == y->head_dim && (tables || !turns) &&
         same_recipe(&x->published, &y->published);
}

static bool same_layers(const rs_layer_kind *a, const rs_layer_kind *b) {
  const rs_model *x = &a->model, *y = &b->model;
  bool words = strcmp(a->name, b->name) == 0 && a->attends == b->attends && a->tuned == b->tuned;
  bool seen = a->mask.kind == b->mask.kind && a->mask.window == b->mask.window && a->mask.sinks == b->mask.sinks &&
              a->compression == b->compression && a->chooses == b->chooses && a->chosen == b->chosen &&
              a->block == b->block;
  bool lengths = x->train_length == y->train_length && x->max_length == y->max_length;
  bool pairs = x->pair_layout == y->pair_layout && x->axis_layout == y->axis_layout &&
               memcmp(x->mrope_section, y->mrope_section, sizeof x->mrope_section) == 0;
  return words && seen && lengths && pairs && rs_layers_turn_alike(a, b);
}

bool rs_profiles_equal(const rs_profile *a, const rs_profile *b) {
  bool same = a->kind_count == b->kind_count && a->layer_count == b->layer_count && a->chosen == b->chosen &&
              a->counted == b->counted && memcmp(a->layers, b->layers, a->layer_count * sizeof *a->layers) == 0;
  for (size_t k = 0; same && k < a->kind_count; k++) same = same_layers(&a->kinds[k], &b->kinds[k]);
  return same;
}
