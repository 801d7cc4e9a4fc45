/* Recipes as values of parameters: what has turned the rows that a source reads. */
#include "config_internal.h"

/* The value of the parameter that is a recipe, and its name; NULL: there is none. */
static const rs_value *recipe_value(const rs_settings *settings, const char **name) {
  *name = "";
  for (size_t p = 0; p < settings->count; p++)
    if (settings->params[p]->type == RS_RECIPE) {
      *name = settings->params[p]->name;
      return &settings->values[p];
    }
  return NULL;
}

rs_recipe rs_variant_rotated(const rs_variant *source) {
  const char *name;
  const rs_value *value = recipe_value(&source->settings, &name);
  if (value == NULL || value->inner == NULL) return (rs_recipe){0};
  return (rs_recipe){rs_method_find(value->name), *value->inner};
}

rs_status rs_experiment_rotated(const rs_experiment *experiment, size_t model, size_t source, rs_recipe *recipe,
                                rs_err *err) {
  const rs_variant *variant = &experiment->sources.items[source];
  const rs_model *geometry = &experiment->models[model];
  const char *name;
  const rs_value *value = recipe_value(&variant->settings, &name);
  bool published = value != NULL && value->choice == RS_ROTATED_AS_PUBLISHED;
  const rs_recipe from = published ? geometry->published : rs_variant_rotated(variant);
  *recipe = (rs_recipe){0};
  if (published && from.method == NULL)
    return rs_fail_on(err, RS_INPUT, name, "is for models that publish a recipe, %s does not (name it: %s: rope)",
                      geometry->name, name);
  if (from.method == NULL) return RS_OK;
  RS_TRY(rs_recipe_copy(recipe, &from, err));
  rs_err why = {0};
  if (rs_recipe_resolve(recipe, geometry, &why) == RS_OK && rs_recipe_check(recipe, geometry, &why) == RS_OK)
    return RS_OK;
  rs_recipe_clear(recipe);
  return rs_fail_on(err, why.status, name, "%s%s%s", why.subject, *why.subject != '\0' ? ": " : "", why.message);
}
