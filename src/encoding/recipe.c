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
  if (rs_method_scaled(method)) collect_kind(params, &count, &rs_scale_stage);
  collect_kind(params, &count, &method->pos->kind);
  if (method->freq != NULL) collect_kind(params, &count, &method->freq->kind);
  if (method->embed != NULL) collect_kind(params, &count, &method->embed->kind);
  if (method->bias != NULL) collect_kind(params, &count, &method->bias->kind);
  if (method->vectors != NULL) collect_kind(params, &count, &method->vectors->kind);
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

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* What parameters of a recipe contradict each other, or the model. */

/* What `scale` and `factor` mean together; see rs_scale_resolve. */
static rs_status check_scale(const rs_settings *settings, rs_err *err) {
  rs_scale_params p;
  rs_binding binding = rs_scale_bind(settings, &p);
  bool numbered = !isnan(p.scale.number), factored = !isnan(p.factor);
  if (p.scale.word == RS_SCALE_FIXED && !factored)
    return rs_binding_fail(&binding, offsetof(rs_scale_params, scale), err,
                           "needs a factor (or write the number: scale: 8)");
  if (factored && (p.scale.word == RS_SCALE_AUTO || p.scale.word == RS_SCALE_DYNAMIC))
    return rs_binding_fail(&binding, offsetof(rs_scale_params, factor), err,
                           "has no effect with scale: %s (leave one of them out)",
                           p.scale.word == RS_SCALE_AUTO ? "auto" : "dynamic");
  if (factored && numbered)
    return rs_binding_fail(&binding, offsetof(rs_scale_params, factor), err,
                           "is given twice: scale = %g is a factor already", p.scale.number);
  return RS_OK;
}

static rs_status check_rotary_dim(const rs_binding *binding, const rs_model *model, rs_err *err) {
  size_t dims = ((const rs_rotary_params *)binding->fields)->rotary_dim, place = offsetof(rs_rotary_params, rotary_dim);
  if (dims == RS_NO_COUNT && model->rotary_dim == 0)
    return rs_fail_on(err, RS_INPUT, "", "the model has no rotary dims, and no rotary_dim is given");
  if (dims == RS_NO_COUNT) return RS_OK;
  if (dims % 2 != 0) return rs_binding_fail(binding, place, err, "must be even");
  if (dims > model->head_dim)
    return rs_binding_fail(binding, place, err, "exceeds the model's head_dim = %zu", model->head_dim);
  return RS_OK;
}

/* One axis has no order, and of the ways to count vision tokens V2PE's alone moves its ids. */
static rs_status check_one_axis(const rs_binding *rotary, rs_err *err) {
  static const char with[] = "mrope_section: none";
  RS_TRY(rs_binding_unused(rotary, offsetof(rs_rotary_params, mrope_layout), with, err));
  RS_TRY(rs_binding_unused(rotary, offsetof(rs_rotary_params, mrope_tail), with, err));
  if (((const rs_rotary_params *)rotary->fields)->vision_ids == RS_IDS_V2PE) return RS_OK;
  RS_TRY(rs_binding_unused(rotary, offsetof(rs_rotary_params, vision_ids), with, err));
  RS_TRY(rs_binding_unused(rotary, offsetof(rs_rotary_params, vision_step), with, err));
  return rs_binding_unused(rotary, offsetof(rs_rotary_params, id_arithmetic), with, err);
}

/* The sections must fit the pairs: filled on trial, so that the rule stands in one place. */
static rs_status check_axes(const rs_binding *rotary, const rs_model *model, rs_err *err) {
  size_t pairs = rs_pairs_of(rotary->settings, model), axes;
  RS_FREED uint16_t *axis = rs_alloc(pairs, sizeof *axis, err);
  if (axis == NULL) return RS_MEMORY;
  rs_status status = rs_axes_fill(rotary, model, pairs, axis, &axes, err);
  return status == RS_OK && axes == 1 ? check_one_axis(rotary, err) : status;
}

static rs_status check_logit_scale(const rs_settings *settings, const rs_model *model, rs_err *err) {
  rs_common_params common;
  rs_binding binding = rs_common_bind(settings, &common);
  const rs_lscale_kind *kind = rs_lscale_kind_of(&common);
  if (kind != NULL) return kind->check != NULL ? kind->check(&binding, model, err) : RS_OK;
  RS_TRY(rs_binding_unused(&binding, offsetof(rs_common_params, logit_scale_factor), "logit_scale: none", err));
  return rs_binding_unused(&binding, offsetof(rs_common_params, logit_scale_length), "logit_scale: none", err);
}

/* Two of the schemes that count vision tokens go in steps, the others by the clock. */
static rs_status check_vision_ids(const rs_binding *binding, rs_err *err) {
  rs_id_scheme scheme = ((const rs_rotary_params *)binding->fields)->vision_ids;
  bool steps = scheme == RS_IDS_VIDEOROPE || scheme == RS_IDS_V2PE;
  size_t idle = steps ? offsetof(rs_rotary_params, id_arithmetic) : offsetof(rs_rotary_params, vision_step);
  return rs_binding_unused(binding, idle, "these vision_ids", err);
}

static rs_status check_rotation(const rs_recipe *recipe, const rs_model *model, const rs_binding *binding_of_kind,
                                rs_err *err) {
  const rs_freq_kind *kind = recipe->method->freq;
  rs_rotary_params rotary;
  rs_binding binding = rs_rotary_bind(&recipe->settings, &rotary);
  RS_TRY(check_rotary_dim(&binding, model, err));
  RS_TRY(check_vision_ids(&binding, err));
  if (kind->axis == NULL && kind->mix == NULL) RS_TRY(check_axes(&binding, model, err));
  return kind->check != NULL ? kind->check(binding_of_kind, model, err) : RS_OK;
}

static rs_status check_stages(const rs_recipe *recipe, const rs_model *model, const rs_stage_params *params,
                              rs_err *err) {
  const rs_method *method = recipe->method;
  RS_TRY(check_scale(&recipe->settings, err));
  RS_TRY(check_logit_scale(&recipe->settings, model, err));
  if (method->freq != NULL) RS_TRY(check_rotation(recipe, model, &params->freq, err));
  if (method->embed != NULL && method->embed->check != NULL) RS_TRY(method->embed->check(&params->embed, model, err));
  if (method->bias != NULL && method->bias->check != NULL) RS_TRY(method->bias->check(&params->bias, model, err));
  return method->vectors != NULL ? method->vectors->check(&params->vectors, model, err) : RS_OK;
}

rs_status rs_recipe_check(const rs_recipe *recipe, const rs_model *model, rs_err *err) {
  rs_stage_params *params;
  RS_TRY(rs_stage_params_make(recipe->method, &recipe->settings, &params, err));
  rs_status status = check_stages(recipe, model, params, err);
  rs_stage_params_free(params);
  return status;
}

rs_status rs_recipe_fit(const rs_recipe *recipe, const rs_model *model, const rs_token_layout *tokens, rs_err *err) {
  const rs_embed_kind *kind = recipe->method->embed;
  rs_stage_params *params;
  if (kind == NULL || kind->fit == NULL) return RS_OK;
  RS_TRY(rs_stage_params_make(recipe->method, &recipe->settings, &params, err));
  rs_status status = kind->fit(&params->embed, rs_model_width(model), tokens, err);
  rs_stage_params_free(params);
  return status;
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* Recipes that each layer of a model has for itself: what their stages learn or draw is the layer's own. */

/* *seed as by_layer gives it. */
static bool by_layer(const rs_recipe *recipe, const char **seed) {
  const rs_freq_kind *kind = recipe->method->freq;
  *seed = NULL;
  if (recipe->method->vectors != NULL) return recipe->method->vectors->by_layer(&recipe->settings, seed);
  return kind != NULL && kind->by_layer != NULL && kind->by_layer(&recipe->settings, seed);
}

bool rs_recipe_by_layer(const rs_recipe *recipe) {
  const char *seed;
  return by_layer(recipe, &seed);
}

bool rs_recipe_repeats(const rs_recipe *recipe, const rs_recipe *first) {
  const char *seed;
  bool same = recipe->method == first->method && by_layer(first, &seed);
  for (size_t i = 0; same && i < first->settings.count; i++)
    same = (seed != NULL && strcmp(first->settings.params[i]->name, seed) == 0) ||
           rs_value_same(&recipe->settings.values[i], &first->settings.values[i]);
  return same;
}

rs_status rs_recipe_of_layer(const rs_recipe *first, size_t layer, rs_recipe *recipe, rs_err *err) {
  const char *seed;
  RS_TRY(rs_recipe_copy(recipe, first, err));
  if (!by_layer(first, &seed) || seed == NULL) return RS_OK;
  rs_status status =
      rs_recipe_set_number(recipe, seed, rs_setting(&first->settings, seed)->number + (double)layer, err);
  if (status != RS_OK)
    rs_recipe_clear(recipe);
  else
    recipe->settings.values[rs_settings_find(&recipe->settings, seed)].given = false;
  return status;
}

rs_status rs_recipes_with(const rs_recipe *recipes, size_t count, rs_recipe *changed, rs_err *err) {
  for (size_t r = 1, layer = 1; r < count; r++)
    if (rs_recipe_repeats(&recipes[r], &recipes[0]))
      RS_TRY(rs_recipe_of_layer(&changed[0], layer++, &changed[r], err));
    else
      RS_TRY(rs_recipe_copy(&changed[r], &recipes[r], err));
  return RS_OK;
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* Models own the recipe they publish. */

rs_status rs_model_copy(rs_model *copy, const rs_model *from, rs_err *err) {
  *copy = *from;
  copy->published = (rs_recipe){0};
  return rs_recipe_copy(&copy->published, &from->published, err);
}

void rs_model_clear(rs_model *model) {
  rs_recipe_clear(&model->published);
  *model = (rs_model){0};
}

bool rs_model_turns(const rs_model *model) {
  return model != NULL && model->published.method != NULL && model->published.method->freq != NULL;
}
