/* What a query asks: a model, a recipe with what was given of it, a length. */
#include "explore.h"

#include <string.h>

enum { LARGEST_HEAD = 1024 };

/* ---- lists and numbers ------------------------------------------------------------------------------------------- */

static rs_status read_items(const rs_node *list, const rs_param *param, rs_value *value, rs_err *err) {
  double numbers[RS_EXPLORE_LIST];
  if (list->kind != RS_SEQUENCE) return rs_fail(err, RS_INPUT, "must be a list of numbers, like [1, 2]");
  if (list->count > RS_EXPLORE_LIST) return rs_fail(err, RS_INPUT, "has more than %d numbers", RS_EXPLORE_LIST);
  for (size_t i = 0; i < list->count; i++) {
    const rs_node *item = &list->items[i];
    if (item->kind != RS_SCALAR || item->quoted)
      return rs_fail(err, RS_INPUT, "must be a list of numbers, like [1, 2]");
    RS_TRY(rs_number_parse(item->text, &numbers[i], err));
  }
  return rs_value_list(param, numbers, list->count, value, err);
}

static rs_status read_list(const char *text, const rs_param *param, rs_value *value, rs_err *err) {
  RS_HELD(rs_tree) tree = NULL;
  if (rs_json_read(text, strlen(text), "list", &tree, NULL) != RS_OK)
    return rs_fail(err, RS_INPUT, "must be a list of numbers, like [1, 2]");
  return read_items(&tree->root, param, value, err);
}

/* Sets a parameter of the recipe. A list has brackets; whatever else would read a file is refused. */
static rs_status set_param(rs_recipe *recipe, const char *name, const char *text, rs_err *err) {
  int index = rs_settings_find(&recipe->settings, name);
  const rs_param *param = recipe->settings.params[index];
  rs_err why = {0};
  rs_value value;
  bool number = param->type == RS_REAL || param->type == RS_INTEGER || param->type == RS_BOOL;
  bool list = param->type == RS_REALS && rs_param_word(param, text) < 0;
  if (!list && !number && rs_param_word(param, text) < 0 && param->words == NULL)
    return rs_fail_on(err, RS_INPUT, name, "cannot be set here: it names a file");
  rs_status status = list ? read_list(text, param, &value, &why) : rs_value_parse(param, text, &value, &why);
  if (status != RS_OK) return rs_fail_on(err, why.status, name, "%s", why.message);
  rs_value_clear(&recipe->settings.values[index]);
  value.given = true;
  recipe->settings.values[index] = value;
  return RS_OK;
}

/* The value of a parameter, or NULL. */
static const char *value_of(const rs_asked *asked, const char *name) {
  for (size_t i = 0; i < asked->param_count; i++)
    if (strcmp(asked->params[i].name, name) == 0) return asked->params[i].value;
  return NULL;
}

static rs_status read_count(const rs_asked *asked, const char *name, double least, double most, size_t *count,
                            rs_err *err) {
  const rs_param param = {.name = name, .type = RS_INTEGER, .min = least, .max = most};
  const char *text = value_of(asked, name);
  rs_err why = {0};
  rs_value value;
  if (text == NULL) return RS_OK;
  if (rs_value_parse(&param, text, &value, &why) != RS_OK) return rs_fail_on(err, why.status, name, "%s", why.message);
  *count = (size_t)value.number;
  return RS_OK;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

/* The explorer's own model where the query names none. */
static rs_status find_model(rs_asked *asked, rs_err *err) {
  const rs_explorer *explorer = asked->explorer;
  const char *word = value_of(asked, "model"), *layers = value_of(asked, "layers");
  rs_err why = {0};
  bool file = word != NULL && strcmp(word, RS_FILE_MODEL) == 0;
  if (file && explorer->hf == NULL)
    return rs_fail_on(err, RS_INPUT, "model", "is no file here (explore --hf FILE would bring one)");
  const char *preset = file ? NULL : word != NULL ? word : explorer->preset;
  if (preset != NULL) asked->preset = rs_arena_text(&asked->words, preset);
  if (layers != NULL) asked->layers = rs_arena_text(&asked->words, layers);
  RS_TRY(rs_arena_check(&asked->words, err));
  bool own = preset == NULL || (explorer->preset != NULL && strcmp(preset, explorer->preset) == 0);
  if (!own && rs_preset_profile(preset, &asked->profile, &why) != RS_OK)
    return rs_fail_on(err, why.status, "model", "%s", why.message);
  rs_status status = rs_profile_find(rs_asked_profile(asked), layers, &asked->kind, &why);
  return status == RS_OK ? RS_OK : rs_fail_on(err, status, "layers", "%s", why.message);
}

/* Rotary dims stay the same part of the head. */
static rs_status narrow(rs_asked *asked, rs_err *err) {
  rs_model *model = &asked->model;
  size_t dims = model->head_dim;
  RS_TRY(read_count(asked, "head_dim", 2, LARGEST_HEAD, &dims, err));
  if (dims % 2 != 0) return rs_fail_on(err, RS_INPUT, "head_dim", "must be even: dims turn in pairs");
  asked->narrowed = dims != model->head_dim;
  size_t pairs = model->rotary_dim / 2 * dims / model->head_dim;
  if (asked->narrowed) model->rotary_dim = 2 * (pairs > 0 ? pairs : 1);
  model->head_dim = dims;
  size_t sections = model->mrope_section[0] + model->mrope_section[1] + model->mrope_section[2];
  if (sections == 0 || sections == model->rotary_dim / 2) return RS_OK;
  return rs_fail_on(err, RS_INPUT, "head_dim", "is fixed by the model's mrope_section, which sums to %zu pairs",
                    sections);
}

/* ---- the recipe -------------------------------------------------------------------------------------------------- */

static const char *const own_names[] = {"model", "layers", "head_dim", "length", "method"};

static rs_status unknown_name(const rs_recipe *recipe, const char *name, rs_err *err) {
  rs_nearest nearest = {.word = name};
  for (size_t i = 0; i < RS_COUNT(own_names); i++) rs_nearest_add(&nearest, own_names[i]);
  for (size_t i = 0; i < recipe->settings.count; i++) rs_nearest_add(&nearest, recipe->settings.params[i]->name);
  const char *near = rs_nearest_found(&nearest);
  if (near != NULL)
    return rs_fail_on(err, RS_INPUT, name, "is no parameter of %s (did you mean %s?)", recipe->method->name, near);
  return rs_fail_on(err, RS_INPUT, name, "is no parameter of %s", recipe->method->name);
}

static rs_status find_method(const char *word, const rs_method **method, rs_err *err) {
  rs_nearest nearest = {.word = word};
  *method = rs_method_find(word);
  if (*method != NULL) return RS_OK;
  rs_methods_near(&nearest);
  const char *near = rs_nearest_found(&nearest);
  if (near != NULL) return rs_fail_on(err, RS_INPUT, "method", "%s is none (did you mean %s?)", word, near);
  return rs_fail_on(err, RS_INPUT, "method", "%s is none (ropescope list methods shows them)", word);
}

/* What is written of the recipe. */
static rs_status read_given(rs_asked *asked, rs_err *err) {
  const char *word = value_of(asked, "method");
  const rs_method *method = asked->explorer->start.recipe.method;
  if (word != NULL) RS_TRY(find_method(word, &method, err));
  RS_TRY(rs_recipe_init(&asked->given, method, err));
  for (size_t i = 0; i < asked->param_count; i++) {
    const rs_explore_param *param = &asked->params[i];
    bool own = false;
    for (size_t k = 0; k < RS_COUNT(own_names); k++) own = own || strcmp(own_names[k], param->name) == 0;
    if (own) continue;
    if (rs_settings_find(&asked->given.settings, param->name) < 0) return unknown_name(&asked->given, param->name, err);
    RS_TRY(set_param(&asked->given, param->name, param->value, err));
  }
  return RS_OK;
}

/* ---- the question ------------------------------------------------------------------------------------------------ */

const rs_profile *rs_asked_profile(const rs_asked *asked) {
  return asked->profile.kind_count > 0 ? &asked->profile : &asked->explorer->start.profile;
}

static bool is_printable(const char *text) {
  while (*text >= 0x20 && *text <= 0x7e) text++;
  return *text == '\0';
}

/* What a browser would mend is refused. */
static rs_status check_params(const rs_asked *asked, rs_err *err) {
  if (asked->param_count > RS_EXPLORE_PARAMS)
    return rs_fail(err, RS_INPUT, "the query has more than %d parameters", RS_EXPLORE_PARAMS);
  for (size_t i = 0; i < asked->param_count; i++) {
    const rs_explore_param *param = &asked->params[i];
    if (param->name == NULL || *param->name == '\0' || param->value == NULL)
      return rs_fail(err, RS_INPUT, "the query has a part that is no name=value");
    if (!is_printable(param->name) || !is_printable(param->value))
      return rs_fail(err, RS_INPUT, "the query has a character outside printable ASCII");
    if (value_of(asked, param->name) != param->value) return rs_fail_on(err, RS_INPUT, param->name, "is given twice");
  }
  return RS_OK;
}

static rs_status read_asked(rs_asked *asked, rs_err *err) {
  RS_TRY(check_params(asked, err));
  RS_TRY(find_model(asked, err));
  RS_TRY(rs_model_copy(&asked->model, &rs_asked_profile(asked)->kinds[asked->kind].model, err));
  RS_TRY(narrow(asked, err));
  asked->length = asked->explorer->start.length;
  RS_TRY(read_count(asked, "length", 1, RS_EXPLORE_LONGEST, &asked->length, err));
  RS_TRY(read_given(asked, err));
  RS_TRY(rs_recipe_copy(&asked->recipe, &asked->given, err));
  RS_TRY(rs_recipe_resolve(&asked->recipe, &asked->model, err));
  return rs_recipe_check(&asked->recipe, &asked->model, err);
}

rs_status rs_asked_read(const rs_explorer *explorer, const rs_explore_param *params, size_t count, rs_asked *asked,
                        rs_err *err) {
  *asked = (rs_asked){.explorer = explorer, .params = params, .param_count = count};
  rs_status status = read_asked(asked, err);
  if (status != RS_OK) rs_asked_clear(asked);
  return status;
}

void rs_asked_clear(rs_asked *asked) {
  rs_arena_clear(&asked->words);
  rs_profile_clear(&asked->profile);
  rs_model_clear(&asked->model);
  rs_recipe_clear(&asked->given);
  rs_recipe_clear(&asked->recipe);
  *asked = (rs_asked){0};
}
