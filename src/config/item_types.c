#include "config_internal.h"

static rs_status init_kind(rs_variant *variant, const rs_kind *kind, rs_err *err) {
  return rs_settings_init_specs(&variant->settings, kind->params, kind->param_count, err);
}

static bool init_method(const rs_method_list *beside, const char *name, rs_variant *variant, rs_err *err) {
  rs_recipe recipe;
  variant->method = rs_method_find_in(beside, name);
  if (variant->method == NULL) return false;
  if (rs_recipe_init(&recipe, variant->method, err) == RS_OK) variant->settings = recipe.settings;
  return true;
}

static const char *method_name(size_t index) {
  size_t count;
  const rs_method *methods = rs_methods(&count);
  return index < count ? methods[index].name : NULL;
}

static bool init_source(const rs_method_list *beside, const char *name, rs_variant *variant, rs_err *err) {
  (void)beside;
  variant->source = rs_source_find(name);
  if (variant->source != NULL) (void)init_kind(variant, &variant->source->kind, err);
  return variant->source != NULL;
}

static const char *source_name(size_t index) {
  size_t count;
  const rs_source_kind *const *kinds = rs_source_kinds(&count);
  return index < count ? kinds[index]->kind.name : NULL;
}

static bool init_metric(const rs_method_list *beside, const char *name, rs_variant *variant, rs_err *err) {
  (void)beside;
  variant->metric = rs_metric_find(name);
  if (variant->metric != NULL) (void)init_kind(variant, &variant->metric->kind, err);
  return variant->metric != NULL;
}

static const char *metric_name(size_t index) {
  size_t count;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  return index < count ? kinds[index]->kind.name : NULL;
}

static bool init_task(const rs_method_list *beside, const char *name, rs_variant *variant, rs_err *err) {
  (void)beside;
  variant->task = rs_task_find(name);
  if (variant->task != NULL) (void)init_kind(variant, &variant->task->kind, err);
  return variant->task != NULL;
}

static const char *task_name(size_t index) {
  size_t count;
  const rs_task_kind *const *kinds = rs_task_kinds(&count);
  return index < count ? kinds[index]->kind.name : NULL;
}

const rs_item_type rs_method_items = {"methods", "method", init_method, method_name};
const rs_item_type rs_source_items = {"sources", "source", init_source, source_name};
const rs_item_type rs_metric_items = {"metrics", "metric", init_metric, metric_name};
const rs_item_type rs_task_items = {"tasks", "task", init_task, task_name};
