/* The entries of `ropescope list` as JSON. */
#include "list.h"

#include <string.h>

static void write_head(rs_json *json, const char *name, const char *summary, const char *reference) {
  rs_json_string(json, "name", name);
  rs_json_string(json, "summary", summary);
  rs_json_string(json, "reference", reference);
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

/* All that a config may say of the method; a default of its own stands in place of the parameter's. */
static void write_method_params(rs_json *json, const rs_method *method) {
  rs_recipe recipe = {0};
  json->text->failed |= rs_recipe_init(&recipe, method, NULL) != RS_OK;
  rs_json_array(json, "parameters");
  for (size_t p = 0; p < recipe.settings.count; p++) {
    rs_param param = *recipe.settings.params[p];
    for (size_t d = 0; d < RS_COUNT(method->defaults) && method->defaults[d].name != NULL; d++)
      if (strcmp(method->defaults[d].name, param.name) == 0) param.fallback = method->defaults[d].value;
    rs_json_param(json, &param);
  }
  rs_json_end(json);
  rs_recipe_clear(&recipe);
}

static void write_dialects(rs_json *json, const rs_method *method) {
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  rs_json_array(json, "dialects");
  for (size_t d = 0; d < count; d++) {
    if (!rs_dialect_fits(&dialects[d], method)) continue;
    rs_json_object(json, NULL);
    write_head(json, dialects[d].name, dialects[d].summary, dialects[d].reference);
    rs_json_end(json);
  }
  rs_json_end(json);
}

void list_write_method(rs_json *json, size_t i) {
  size_t count;
  const rs_method *method = &rs_methods(&count)[i];
  rs_json_object(json, NULL);
  write_head(json, method->name, method->summary, method->reference);
  write_method_params(json, method);
  write_dialects(json, method);
  rs_json_end(json);
}

/* ---- the other lists --------------------------------------------------------------------------------------------- */

static void write_kind(rs_json *json, const rs_kind *kind) {
  write_head(json, kind->name, kind->summary, kind->reference);
  rs_json_array(json, "parameters");
  for (size_t p = 0; p < kind->param_count; p++) rs_json_param(json, &kind->params[p]);
  rs_json_end(json);
}

void list_write_kind(rs_json *json, size_t i) {
  staged_kind staged = list_kind_at(i);
  rs_json_object(json, NULL);
  rs_json_string(json, "stage", staged.stage);
  write_kind(json, staged.kind);
  rs_json_end(json);
}

void list_write_source(rs_json *json, size_t i) {
  size_t count;
  rs_json_object(json, NULL);
  write_kind(json, &rs_source_kinds(&count)[i]->kind);
  rs_json_end(json);
}

void list_write_task(rs_json *json, size_t i) {
  size_t count;
  const rs_task_kind *task = rs_task_kinds(&count)[i];
  rs_json_object(json, NULL);
  write_kind(json, &task->kind);
  rs_json_string(json, "form", rs_form_words[task->form]);
  rs_json_array(json, "parts");
  for (size_t p = 0; task->parts[p] != NULL; p++) {
    rs_json_object(json, NULL);
    rs_json_string(json, "name", task->parts[p]);
    rs_json_bool(json, "probe", task->probes >> p & 1);
    rs_json_end(json);
  }
  rs_json_end(json);
  rs_json_end(json);
}

void list_write_part(rs_json *json, size_t i) {
  const checkpoint_part *part = list_part_at(i);
  rs_json_object(json, NULL);
  rs_json_string(json, "name", part->name);
  rs_json_string(json, "summary", part->summary);
  rs_json_array(json, "parameters");
  for (size_t p = 0; p < list_part_count(i); p++) {
    rs_param param = list_part_param(i, p);
    rs_json_param(json, &param);
  }
  rs_json_end(json);
  rs_json_end(json);
}

static void write_columns(rs_json *json, const char *key, const rs_column *columns, size_t count) {
  static const char *const better[] = {NULL, "higher", "lower"};
  rs_json_array(json, key);
  for (size_t i = 0; i < count; i++) {
    rs_json_object(json, NULL);
    rs_json_string(json, "name", columns[i].name);
    rs_json_string(json, "unit", columns[i].unit);
    rs_json_string(json, "summary", columns[i].summary);
    rs_json_string(json, "better", better[columns[i].better]);
    rs_json_bool(json, "standard_error", columns[i].sampled);
    rs_json_end(json);
  }
  rs_json_end(json);
}

void list_write_metric(rs_json *json, size_t i) {
  size_t count;
  const rs_metric_kind *metric = rs_metric_kinds(&count)[i];
  rs_json_object(json, NULL);
  write_kind(json, &metric->kind);
  write_columns(json, "summary_columns", metric->scalars, metric->scalar_count);
  write_columns(json, "curve_columns", metric->curve, metric->curve_count);
  rs_json_end(json);
}

void list_write_model(rs_json *json, size_t i) {
  size_t count;
  rs_model model;
  if (rs_preset_model(rs_presets(&count)[i].name, &model, NULL) != RS_OK) {
    json->text->failed = true; /* a test reads each */
    return;
  }
  rs_json_object(json, NULL);
  rs_json_string(json, "name", model.name);
  rs_json_number(json, "heads", (double)model.heads);
  rs_json_number(json, "head_dim", (double)model.head_dim);
  rs_json_number(json, "rotary_dim", (double)model.rotary_dim);
  rs_json_number(json, "rope_theta", model.rope_theta);
  rs_json_number(json, "train_length", (double)model.train_length);
  rs_json_number(json, "max_length", (double)model.max_length);
  rs_json_string(json, "publishes", model.published.method != NULL ? model.published.method->name : NULL);
  rs_json_end(json);
  rs_model_clear(&model);
}

void list_write_architecture(rs_json *json, size_t i) {
  const rs_architecture_entry *entry = rs_architectures(i);
  rs_json_object(json, NULL);
  rs_json_string(json, "model_type", entry->model_type);
  rs_json_string(json, "models", entry->models);
  rs_json_end(json);
}

void list_write_dialect(rs_json *json, size_t i) {
  size_t count;
  const rs_dialect *dialect = &rs_dialects(&count)[i];
  rs_json_object(json, NULL);
  write_head(json, dialect->name, dialect->summary, dialect->reference);
  rs_json_string(json, "method", dialect->method);
  rs_json_end(json);
}

void list_write_finding(rs_json *json, size_t i) {
  const rs_rule *rule = rs_rules(i);
  rs_json_object(json, NULL);
  rs_json_string(json, "code", rule->code);
  write_head(json, rule->name, rule->summary, rule->reference);
  rs_json_string(json, "severity", rs_severity_words[rule->severity]);
  rs_json_end(json);
}

void list_write_engine(rs_json *json, size_t i) {
  const rs_config_engine *engine = rs_config_engines(i);
  rs_json_object(json, NULL);
  write_head(json, engine->name, engine->says, engine->source);
  rs_json_string(json, "title", engine->title);
  rs_json_end(json);
}
