/* What a page can choose from, and where it begins. */
#include "explore.h"

#include <stdlib.h>

/* ---- the explorer ------------------------------------------------------------------------------------------------ */

/* What a query must hold has room in it. */
static rs_status check_lists(const rs_recipe *recipe, rs_err *err) {
  for (size_t p = 0; p < recipe->settings.count; p++)
    if (recipe->settings.values[p].given && recipe->settings.values[p].count > RS_EXPLORE_LIST)
      return rs_fail_on(err, RS_UNSUPPORTED, recipe->settings.params[p]->name,
                        "has %zu numbers, and explore takes lists of at most %d", recipe->settings.values[p].count,
                        RS_EXPLORE_LIST);
  return RS_OK;
}

static rs_status fill(const rs_subject_in *in, rs_explorer *explorer, rs_problems *problems, rs_err *err) {
  RS_TRY(rs_subject_read(in, &explorer->start, problems, err));
  explorer->length = explorer->start.length;
  if (explorer->start.length > RS_EXPLORE_LONGEST) explorer->start.length = RS_EXPLORE_LONGEST;
  explorer->piped = in->hf_text != NULL;
  explorer->written = in->method != NULL;
  if (in->hf != NULL) explorer->hf = rs_arena_text(&explorer->words, in->hf);
  if (in->hf == NULL && in->preset != NULL) explorer->preset = rs_arena_text(&explorer->words, in->preset);
  if (in->layers != NULL) explorer->layers = rs_arena_text(&explorer->words, in->layers);
  RS_TRY(rs_arena_check(&explorer->words, err));
  return explorer->written ? check_lists(&explorer->start.recipe, err) : RS_OK;
}

rs_status rs_explorer_create(const rs_subject_in *in, rs_explorer **explorer, rs_problems *problems, rs_err *err) {
  *explorer = rs_alloc(1, sizeof **explorer, err);
  if (*explorer == NULL) return RS_MEMORY;
  rs_status status = fill(in, *explorer, problems, err);
  if (status == RS_OK) return RS_OK;
  rs_explorer_free(*explorer);
  *explorer = NULL;
  return status;
}

void rs_explorer_free(rs_explorer *explorer) {
  if (explorer == NULL) return;
  rs_subject_clear(&explorer->start);
  rs_arena_clear(&explorer->words);
  free(explorer);
}

size_t rs_explorer_subject_length(const rs_explorer *explorer) {
  return explorer->length;
}

/* The question of the beginning. Of a recipe that is published it says the name, and the model the rest. */
static void write_start(const rs_explorer *explorer, rs_json *json) {
  const rs_settings *settings = &explorer->start.recipe.settings;
  RS_OWNED(rs_text) value = {0};
  rs_json_object(json, "query");
  rs_json_string(json, "model", explorer->preset != NULL ? explorer->preset : RS_FILE_MODEL);
  if (explorer->layers != NULL) rs_json_string(json, "layers", explorer->layers);
  rs_json_string(json, "method", explorer->start.recipe.method->name);
  rs_text_printf(&value, "%zu", explorer->start.length);
  rs_json_string(json, "length", rs_text_string(&value));
  for (size_t p = 0; p < settings->count && explorer->written; p++) {
    if (!settings->values[p].given) continue;
    value.length = 0;
    rs_value_write(settings->params[p], &settings->values[p], &value);
    rs_json_string(json, settings->params[p]->name, rs_text_string(&value));
  }
  rs_json_end(json);
  json->text->failed |= value.failed;
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

static void write_layers(rs_json *json, const rs_profile *profile) {
  rs_json_array(json, "layers");
  for (size_t k = 0; k < profile->kind_count && rs_profile_mixed(profile); k++)
    if (profile->kinds[k].attends) rs_json_string(json, NULL, profile->kinds[k].name);
  rs_json_end(json);
}

/* `word` is its name in queries. */
static void write_model(rs_json *json, const char *word, const rs_profile *profile) {
  const rs_model *model = &profile->kinds[profile->chosen].model;
  size_t served = model->max_length < RS_EXPLORE_LONGEST ? model->max_length : RS_EXPLORE_LONGEST;
  rs_json_object(json, NULL);
  rs_json_string(json, "name", word);
  rs_json_string(json, "title", model->name);
  rs_json_number(json, "length", (double)served);
  rs_json_string(json, "publishes", model->published.method != NULL ? model->published.method->name : NULL);
  write_layers(json, profile);
  rs_json_end(json);
}

static rs_status write_models(const rs_explorer *explorer, rs_json *json, rs_err *err) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  rs_json_array(json, "models");
  if (explorer->hf != NULL) write_model(json, RS_FILE_MODEL, &explorer->start.profile);
  for (size_t i = 0; i < count; i++) {
    RS_OWNED(rs_profile) profile = {0};
    RS_TRY(rs_preset_profile(presets[i].name, &profile, err));
    write_model(json, presets[i].name, &profile);
  }
  rs_json_end(json);
  return RS_OK;
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

static bool has_param(const rs_kind *kind, const rs_param *param) {
  return param >= kind->params && param < kind->params + kind->param_count;
}

static void write_specs(const char *key, const rs_kind *kind, rs_json *json) {
  rs_json_array(json, key);
  for (size_t p = 0; p < kind->param_count; p++) rs_json_param(json, &kind->params[p]);
  rs_json_end(json);
}

/* What it shares with no or few others; a default of the method stands in place of the parameter's. */
static rs_status write_own(const rs_method *method, rs_json *json, rs_err *err) {
  RS_OWNED(rs_recipe) recipe = {0};
  RS_OWNED(rs_text) value = {0};
  RS_TRY(rs_recipe_init(&recipe, method, err));
  rs_json_array(json, "parameters");
  for (size_t p = 0; p < recipe.settings.count; p++) {
    const rs_param *spec = recipe.settings.params[p];
    rs_param param = *spec;
    if (has_param(&rs_common_stage, spec) || has_param(&rs_rotary_stage, spec)) continue;
    value.length = 0;
    rs_value_write(spec, &recipe.settings.values[p], &value);
    param.fallback = recipe.settings.values[p].set ? rs_text_string(&value) : NULL;
    rs_json_param(json, &param);
  }
  rs_json_end(json);
  json->text->failed |= value.failed;
  return RS_OK;
}

static rs_status write_methods(rs_json *json, rs_err *err) {
  size_t count;
  const rs_method *methods = rs_methods(&count);
  write_specs("every_rotary_method", &rs_rotary_stage, json);
  write_specs("every_method", &rs_common_stage, json);
  rs_json_array(json, "methods");
  for (size_t i = 0; i < count; i++) {
    rs_json_object(json, NULL);
    rs_json_string(json, "name", methods[i].name);
    rs_json_string(json, "summary", methods[i].summary);
    rs_json_string(json, "reference", methods[i].reference);
    rs_json_bool(json, "rotary", methods[i].freq != NULL);
    RS_TRY(write_own(&methods[i], json, err));
    rs_json_end(json);
  }
  rs_json_end(json);
  return RS_OK;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static void write_columns(rs_json *json, const char *key, const rs_column *columns, size_t count) {
  rs_json_array(json, key);
  for (size_t c = 0; c < count; c++) {
    rs_json_object(json, NULL);
    rs_json_string(json, "name", columns[c].name);
    rs_json_string(json, "unit", columns[c].unit);
    rs_json_string(json, "summary", columns[c].summary);
    rs_json_end(json);
  }
  rs_json_end(json);
}

static void write_metrics(rs_json *json) {
  rs_json_object(json, "metrics");
  for (const char *const *name = rs_explored_metrics; *name != NULL; name++) {
    const rs_metric_kind *metric = rs_metric_find(*name);
    rs_json_object(json, *name);
    rs_json_string(json, "summary", metric->kind.summary);
    write_columns(json, "scalars", metric->scalars, metric->scalar_count);
    write_columns(json, "curve", metric->curve, metric->curve_count);
    rs_json_end(json);
  }
  rs_json_end(json);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

rs_status rs_explore_choices(const rs_explorer *explorer, rs_text *text, rs_err *err) {
  rs_json json = {.text = text};
  rs_json_object(&json, NULL);
  write_start(explorer, &json);
  rs_json_number(&json, "longest", RS_EXPLORE_LONGEST);
  RS_TRY(write_models(explorer, &json, err));
  RS_TRY(write_methods(&json, err));
  write_metrics(&json);
  rs_json_end(&json);
  return rs_text_check(text, err);
}
