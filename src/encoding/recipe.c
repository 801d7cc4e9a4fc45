/* Recipes: a method with values for the union of its kinds' parameters. */
#include "kinds.h"

#include <string.h>

enum { MOST_PARAMS = 48 };

static void collect(const rs_param **params, size_t *count, const rs_param *more, size_t more_count) {
  for (size_t i = 0; i < more_count && *count < MOST_PARAMS; i++) {
    bool known = false; /* two kinds of one method may share a parameter by its name */
    for (size_t k = 0; k < *count; k++) known |= strcmp(params[k]->name, more[i].name) == 0;
    if (!known) params[(*count)++] = &more[i];
  }
}

static void collect_kind(const rs_param **params, size_t *count, const rs_kind *kind) {
  collect(params, count, kind->params, kind->param_count);
}

/* Own parameters first, then those of the stage, then those of every method: the order of `ropescope list`. */
static size_t method_params(const rs_method *method, const rs_param **params) {
  size_t count = 0;
  if (rs_method_scaled(method)) collect_kind(params, &count, &rs_scale_stage);
  collect_kind(params, &count, &method->pos->kind);
  if (method->freq != NULL) collect_kind(params, &count, &method->freq->kind);
  if (method->embed != NULL) collect_kind(params, &count, &method->embed->kind);
  if (method->bias != NULL) collect_kind(params, &count, &method->bias->kind);
  if (method->freq != NULL) collect_kind(params, &count, &rs_rotary_stage);
  collect_kind(params, &count, &rs_common_stage);
  return count;
}

/* Sets it from config text, or (NULL) to a number. */
static rs_status set(rs_recipe *recipe, const char *name, const char *text, double number, rs_err *err) {
  int index = rs_settings_find(&recipe->settings, name);
  if (index < 0) return rs_fail_on(err, RS_INPUT, name, "%s has no parameter %s", recipe->method->name, name);
  const rs_param *param = recipe->settings.params[index];
  rs_value value;
  rs_err why = {0};
  if ((text != NULL ? rs_value_parse(param, text, &value, &why) : rs_value_number(param, number, &value, &why)) !=
      RS_OK)
    return rs_fail_on(err, why.status, name, "%s", why.message);
  rs_value_clear(&recipe->settings.values[index]);
  value.given = true;
  recipe->settings.values[index] = value;
  return RS_OK;
}

rs_status rs_recipe_set(rs_recipe *recipe, const char *name, const char *text, rs_err *err) {
  return set(recipe, name, text, 0, err);
}

rs_status rs_recipe_set_number(rs_recipe *recipe, const char *name, double number, rs_err *err) {
  return set(recipe, name, NULL, number, err);
}

rs_status rs_recipe_preset(rs_recipe *recipe, const char *name, const char *text, rs_err *err) {
  int index = rs_settings_find(&recipe->settings, name);
  if (text != NULL) RS_TRY(rs_recipe_set(recipe, name, text, err));
  if (index < 0) return rs_fail(err, RS_INTERNAL, "%s has no parameter %s to preset", recipe->method->name, name);
  if (text == NULL) rs_value_clear(&recipe->settings.values[index]);
  recipe->settings.values[index].given = false;
  return RS_OK;
}

static rs_status apply_method_defaults(rs_recipe *recipe, rs_err *err) {
  for (size_t i = 0; i < RS_COUNT(recipe->method->defaults) && recipe->method->defaults[i].name != NULL; i++)
    RS_TRY(rs_recipe_preset(recipe, recipe->method->defaults[i].name, recipe->method->defaults[i].value, err));
  return RS_OK;
}

rs_status rs_recipe_init(rs_recipe *recipe, const rs_method *method, rs_err *err) {
  const rs_param *params[MOST_PARAMS];
  *recipe = (rs_recipe){.method = method};
  rs_status status = rs_settings_init(&recipe->settings, params, method_params(method, params), err);
  if (status == RS_OK) status = apply_method_defaults(recipe, err);
  if (status != RS_OK) rs_recipe_clear(recipe);
  return status;
}

rs_status rs_recipe_copy(rs_recipe *copy, const rs_recipe *from, rs_err *err) {
  *copy = (rs_recipe){0};
  if (from->method == NULL) return RS_OK;
  RS_TRY(rs_settings_copy(&copy->settings, &from->settings, err));
  copy->method = from->method;
  return RS_OK;
}

void rs_recipe_clear(rs_recipe *recipe) {
  rs_settings_clear(&recipe->settings);
  *recipe = (rs_recipe){0};
}

double rs_recipe_train_length(const rs_recipe *recipe, const rs_model *model) {
  rs_common_params common;
  rs_common_bind(&recipe->settings, &common);
  return (double)(common.train_length == RS_NO_COUNT ? model->train_length : common.train_length);
}

const char *rs_recipe_scale_name(const rs_recipe *recipe, bool *given) {
  const rs_value *scale = rs_setting(&recipe->settings, "scale"), *factor = rs_setting(&recipe->settings, "factor");
  *given = scale->given || factor->given;
  if (rs_settings_find(&recipe->settings, "scale") >= 0 && (scale->set || !factor->set)) return "scale";
  return rs_settings_find(&recipe->settings, "factor") >= 0 ? "factor" : NULL;
}
