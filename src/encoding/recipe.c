/* Recipes: a method with values for the union of its kinds' parameters. */
#include "kinds.h"

#include <math.h>
#include <stdlib.h>
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
  if (rs_method_scaled(method)) collect(params, &count, rs_scale_params, rs_scale_param_count);
  collect_kind(params, &count, &method->pos->kind);
  if (method->freq != NULL) collect_kind(params, &count, &method->freq->kind);
  if (method->embed != NULL) collect_kind(params, &count, &method->embed->kind);
  if (method->bias != NULL) collect_kind(params, &count, &method->bias->kind);
  if (method->freq != NULL) collect(params, &count, rs_rotary_params, rs_rotary_param_count);
  collect(params, &count, rs_common_params, rs_common_param_count);
  return count;
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

rs_status rs_recipe_set(rs_recipe *recipe, const char *name, const char *text, rs_err *err) {
  int index = rs_settings_find(&recipe->settings, name);
  if (index < 0) return rs_fail_on(err, RS_INPUT, name, "%s has no parameter %s", recipe->method->name, name);
  rs_value value;
  rs_err why = {0};
  if (rs_value_parse(recipe->settings.params[index], text, &value, &why) != RS_OK)
    return rs_fail_on(err, why.status, name, "%s", why.message);
  rs_value_clear(&recipe->settings.values[index]);
  value.given = true;
  recipe->settings.values[index] = value;
  return RS_OK;
}

/* Parameters that were not given take the model's published ones. */
static rs_status inherit(rs_recipe *recipe, const rs_model *model, rs_err *err) {
  const rs_recipe *published = &model->published;
  if (published == recipe || published->method != recipe->method) return RS_OK;
  /* A scale of one's own replaces the published factor, and the other way round; a logit scale of one's own replaces
   * the numbers of the published one. */
  bool own_logit_scale = rs_setting(&recipe->settings, "logit_scale")->given;
  bool own_scale = rs_setting(&recipe->settings, "scale")->given || rs_setting(&recipe->settings, "factor")->given;
  for (size_t i = 0; i < recipe->settings.count; i++) {
    const char *name = recipe->settings.params[i]->name;
    bool scale = strcmp(name, "scale") == 0 || strcmp(name, "factor") == 0;
    if (recipe->settings.values[i].given || !published->settings.values[i].given || (scale && own_scale)) continue;
    if (own_logit_scale && strncmp(name, "logit_scale_", strlen("logit_scale_")) == 0) continue;
    rs_value_clear(&recipe->settings.values[i]);
    RS_TRY(rs_value_copy(&recipe->settings.values[i], &published->settings.values[i], err));
    recipe->settings.values[i].given = false;
  }
  return RS_OK;
}

/* Sections that are the model's, where the recipe has none of its own: so that what is printed is what acts. */
static rs_status inherit_sections(rs_recipe *recipe, const rs_model *model, rs_err *err) {
  enum { NONE };
  int index = rs_settings_find(&recipe->settings, "mrope_section");
  size_t total = model->mrope_section[0] + model->mrope_section[1] + model->mrope_section[2];
  if (index < 0 || total == 0) return RS_OK;
  rs_value *value = &recipe->settings.values[index], own;
  if (value->given || value->choice == NONE) return RS_OK;
  const double sections[] = {(double)model->mrope_section[0], (double)model->mrope_section[1],
                             (double)model->mrope_section[2]};
  RS_TRY(rs_value_list(recipe->settings.params[index], sections, RS_COUNT(sections), &own, err));
  rs_value_clear(value);
  *value = own;
  return RS_OK;
}

/* The dialect's defaults come first, so that what is published replaces them; what it always does comes last. */
rs_status rs_recipe_resolve(rs_recipe *recipe, const rs_model *model, rs_err *err) {
  RS_TRY(rs_dialect_apply(recipe, false, err));
  RS_TRY(inherit(recipe, model, err));
  RS_TRY(inherit_sections(recipe, model, err));
  return rs_dialect_apply(recipe, true, err);
}

/* What `scale` and `factor` mean together; see rs_scale_resolve. */
static rs_status check_scale(const rs_settings *settings, rs_err *err) {
  enum { FIXED, AUTO, DYNAMIC, HF_DYNAMIC, VLLM_DYNAMIC };
  const rs_value *scale = rs_setting(settings, "scale"), *factor = rs_setting(settings, "factor");
  if (scale->set && scale->choice == FIXED && !factor->set)
    return rs_fail_on(err, RS_INPUT, "scale", "needs a factor (or write the number: scale: 8)");
  if (!factor->set || !scale->set) return RS_OK;
  if (scale->choice == AUTO || scale->choice == DYNAMIC)
    return rs_fail_on(err, RS_INPUT, "factor", "has no effect with scale: %s (leave one of them out)",
                      scale->choice == AUTO ? "auto" : "dynamic");
  if (scale->choice < 0)
    return rs_fail_on(err, RS_INPUT, "factor", "is given twice: scale = %g is a factor already", scale->number);
  return RS_OK;
}

rs_status rs_unused_check(const rs_settings *settings, const char *name, const char *with, rs_err *err) {
  if (!rs_setting(settings, name)->given) return RS_OK;
  return rs_fail_on(err, RS_INPUT, name, "has no effect with %s (leave one of them out)", with);
}

size_t rs_pairs_of(const rs_settings *settings, const rs_model *model) {
  const rs_value *given = rs_setting(settings, "rotary_dim");
  return (given->set ? (size_t)given->number : model->rotary_dim) / 2;
}

rs_status rs_check_pair_list(const rs_settings *settings, const rs_model *model, const char *list, const char *what,
                             rs_err *err) {
  const rs_value *given = rs_setting(settings, list);
  size_t pairs = rs_pairs_of(settings, model);
  if (!given->set) return rs_fail_on(err, RS_INPUT, list, "is missing: it has one %s for each pair", what);
  if (given->count != pairs)
    return rs_fail_on(err, RS_INPUT, list, "has %zu number%s, but %zu pairs turn", given->count,
                      given->count == 1 ? "" : "s", pairs);
  return RS_OK;
}

static rs_status check_rotary_dim(const rs_settings *settings, const rs_model *model, rs_err *err) {
  const rs_value *given = rs_setting(settings, "rotary_dim");
  if (!given->set) return RS_OK;
  if (fmod(given->number, 2) != 0) return rs_fail_on(err, RS_INPUT, "rotary_dim", "must be even");
  if (given->number > (double)model->head_dim)
    return rs_fail_on(err, RS_INPUT, "rotary_dim", "exceeds the model's head_dim = %zu", model->head_dim);
  return RS_OK;
}

/* The sections must fit the pairs: filled on trial, so that the rule stands in one place. */
static rs_status check_axes(const rs_settings *settings, const rs_model *model, rs_err *err) {
  size_t pairs = rs_pairs_of(settings, model), axes;
  uint16_t *axis = rs_alloc(pairs, sizeof *axis, err);
  if (axis == NULL) return RS_MEMORY;
  rs_status status = rs_axes_fill(settings, model, pairs, axis, &axes, err);
  free(axis);
  return status;
}

static rs_status check_logit_scale(const rs_settings *settings, const rs_model *model, rs_err *err) {
  const rs_lscale_kind *kind = rs_lscale_chosen(settings);
  if (kind != NULL) return kind->check != NULL ? kind->check(settings, model, err) : RS_OK;
  RS_TRY(rs_unused_check(settings, "logit_scale_factor", "logit_scale: none", err));
  return rs_unused_check(settings, "logit_scale_length", "logit_scale: none", err);
}

/* Two of the schemes that count vision tokens go in steps, the others by the clock. */
static rs_status check_vision_ids(const rs_settings *settings, rs_err *err) {
  rs_id_scheme scheme = rs_id_rule_of(settings).scheme;
  bool steps = scheme == RS_IDS_VIDEOROPE || scheme == RS_IDS_V2PE;
  return rs_unused_check(settings, steps ? "id_arithmetic" : "vision_step", "these vision_ids", err);
}

rs_status rs_recipe_check(const rs_recipe *recipe, const rs_model *model, rs_err *err) {
  const rs_settings *settings = &recipe->settings;
  RS_TRY(check_scale(settings, err));
  RS_TRY(check_logit_scale(settings, model, err));
  if (recipe->method->freq != NULL) {
    if (model->rotary_dim == 0 && !rs_setting(settings, "rotary_dim")->set)
      return rs_fail_on(err, RS_INPUT, "", "the model has no rotary dims, and no rotary_dim is given");
    RS_TRY(check_rotary_dim(settings, model, err));
    RS_TRY(check_vision_ids(settings, err));
    if (recipe->method->freq->axis == NULL && recipe->method->freq->mix == NULL)
      RS_TRY(check_axes(settings, model, err));
    if (recipe->method->freq->check != NULL) RS_TRY(recipe->method->freq->check(settings, model, err));
  }
  if (recipe->method->embed != NULL && recipe->method->embed->check != NULL)
    RS_TRY(recipe->method->embed->check(settings, model, err));
  if (recipe->method->bias != NULL && recipe->method->bias->check != NULL)
    RS_TRY(recipe->method->bias->check(settings, model, err));
  return RS_OK;
}

double rs_recipe_train_length(const rs_recipe *recipe, const rs_model *model) {
  return rs_setting_or(&recipe->settings, "train_length", (double)model->train_length);
}
