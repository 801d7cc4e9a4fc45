/* Layers of one kind in numbers: their recipe, resolved as transformers reads it, at the length that is served. */
#include "written.h"

#include <math.h>
#include <string.h>

void rs_settled_clear(rs_settled *settled) {
  rs_recipe_clear(&settled->recipe);
  rs_spectrum_clear(&settled->spectrum);
  *settled = (rs_settled){0};
}

static double number_of(const rs_settings *settings, const char *name) {
  int index = rs_settings_find(settings, name);
  return index >= 0 && settings->values[index].set ? settings->values[index].number : NAN;
}

double rs_settled_number(const rs_settled *settled, const char *name) {
  return number_of(&settled->recipe.settings, name);
}

double rs_published_number(const rs_settled *settled, const char *name) {
  const rs_settings *settings = &settled->model->published.settings;
  int index = rs_settings_find(settings, name);
  return index >= 0 && settings->values[index].given ? settings->values[index].number : NAN;
}

static const rs_hf_rope_type *type_of(const rs_method *method) {
  const char *name = strcmp(method->name, "ntk") == 0 ? "rope" : method->name; /* its base says it all */
  for (size_t t = 0; t < RS_HF_ROPE_TYPES; t++)
    if (strcmp(rs_hf_rope_types[t].method, name) == 0) return &rs_hf_rope_types[t];
  return NULL;
}

static double grown_base(const rs_settled *settled, double scale) {
  double dims = (double)settled->model->rotary_dim;
  return settled->model->rope_theta * pow(scale, dims / (dims - 2));
}

double rs_base_at(const rs_settled *settled) {
  const rs_model *model = settled->model;
  double trained = rs_recipe_train_length(&settled->recipe, model);
  return grown_base(settled, rs_scale_resolve(&settled->recipe.settings, (double)settled->length, trained));
}

static rs_status fill(rs_settled *out, rs_err *err) {
  const rs_model *model = out->model;
  RS_TRY(rs_recipe_copy(&out->recipe, &model->published, err));
  RS_TRY(rs_recipe_resolve(&out->recipe, model, err));
  RS_TRY(rs_recipe_check(&out->recipe, model, err));
  out->type = type_of(out->recipe.method);
  if (out->recipe.method->freq == NULL) return RS_OK;
  RS_TRY(rs_spectrum_make(&out->recipe, model, out->length, &out->spectrum, err));
  out->factor = rs_settled_number(out, "factor");
  out->theta = strcmp(out->recipe.method->name, "ntk") == 0 ? rs_base_at(out) : model->rope_theta;
  return RS_OK;
}

rs_status rs_settle(const rs_layer_kind *kind, size_t length, rs_settled *out, rs_err *err) {
  enum { UNKNOWN = 4096 }; /* of a file that says no length */
  const rs_model *model = &kind->model;
  size_t longest = model->max_length > 0 ? model->max_length : UNKNOWN;
  *out = (rs_settled){.kind = kind, .model = model, .length = length > 0 ? length : longest, .factor = NAN};
  rs_status status = fill(out, err);
  if (status != RS_OK) rs_settled_clear(out);
  return status;
}

bool rs_settled_is(const rs_settled *settled, const char *type) {
  return settled->type != NULL && strcmp(settled->type->type, type) == 0;
}

double rs_yarn_magnitude(double factor) {
  return factor > 1 ? 0.1 * log(factor) + 1 : 1;
}

double rs_longrope_magnitude(const rs_model *model) {
  double scale = (double)model->max_length / (double)model->train_length;
  return scale > 1 ? sqrt(1 + log(scale) / log((double)model->train_length)) : 1;
}

bool rs_has_axes(const rs_settled *settled) {
  return settled->recipe.method->freq != NULL && rs_recipe_has_sections(&settled->recipe, settled->model);
}

rs_status rs_convert_spectrum(const rs_convertible *model, size_t length, rs_spectrum *spectrum, rs_err *err) {
  rs_settled settled;
  *spectrum = (rs_spectrum){0};
  RS_TRY(rs_settle(&model->profile.kinds[model->kind], length, &settled, err));
  rs_status status = RS_OK;
  if (settled.spectrum.pairs == 0)
    status = rs_fail(err, RS_UNSUPPORTED, "%s turns no pairs: there are no frequencies", settled.recipe.method->name);
  *spectrum = settled.spectrum;
  settled.spectrum = (rs_spectrum){0};
  rs_settled_clear(&settled);
  return status;
}
