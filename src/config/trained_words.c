/* Recipes and tasks in words that say all of them. */
#include "checkpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

static bool same_recipe(const rs_recipe *a, const rs_recipe *b) {
  bool same = a->method == b->method && a->settings.count == b->settings.count;
  for (size_t i = 0; same && i < a->settings.count; i++)
    same = rs_value_same(&a->settings.values[i], &b->settings.values[i]);
  return same;
}

/* The recipe with what its words say alone: what was given, and where `all`, what dialects and models gave. */
static rs_status keep_said(const rs_recipe *recipe, bool all, rs_recipe *said, rs_err *err) {
  RS_TRY(rs_recipe_init(said, recipe->method, err));
  for (size_t p = 0; p < recipe->settings.count; p++) {
    const rs_value *value = &recipe->settings.values[p];
    if (!value->set || !(value->given || (all && !rs_value_usual(recipe->settings.params[p], value)))) continue;
    rs_value_clear(&said->settings.values[p]);
    RS_TRY(rs_value_copy(&said->settings.values[p], value, err));
    said->settings.values[p].given = true;
  }
  return RS_OK;
}

/* Adds those words where they make this recipe of the model again. */
static rs_status spell(const rs_recipe *recipe, const rs_model *model, bool all, bool *same, rs_text *words,
                       rs_err *err) {
  rs_recipe said = {0};
  rs_err why = {0};
  rs_text text = {0};
  rs_status status = keep_said(recipe, all, &said, err);
  if (status == RS_OK) rs_entry_write(said.method->name, &said.settings, &text);
  *same = status == RS_OK && rs_method_find(said.method->name) == said.method &&
          rs_recipe_resolve(&said, model, &why) == RS_OK && rs_recipe_check(&said, model, &why) == RS_OK &&
          same_recipe(recipe, &said);
  if (*same) rs_text_puts(words, rs_text_string(&text));
  words->failed |= text.failed;
  rs_text_clear(&text);
  rs_recipe_clear(&said);
  return why.status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : status;
}

rs_status rs_recipe_spell(const rs_recipe *recipe, const rs_model *model, rs_text *words, rs_err *err) {
  for (size_t all = 0; all < 2; all++) {
    bool same;
    RS_TRY(spell(recipe, model, all == 1, &same, words, err));
    if (same) return rs_text_check(words, err);
  }
  return rs_fail(err, RS_UNSUPPORTED, "the recipe %s of this model has no words that say all of it",
                 recipe->method->name);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static void write_file(rs_json *json, const char *key, const rs_value *value, bool paths) {
  rs_json_object(json, key);
  if (paths) rs_json_string(json, "file", value->file);
  rs_json_string(json, "sha256", value->hash);
  rs_json_end(json);
}

/* As if it had not been given. */
static void write_usual(rs_json *json, const rs_param *param) {
  rs_value usual = {0};
  if (param->fallback == NULL || rs_value_parse(param, param->fallback, &usual, NULL) != RS_OK) return;
  rs_value_json(json, param->name, param, &usual);
  rs_value_clear(&usual);
}

void rs_task_write(rs_json *json, const char *key, const rs_variant *task, bool whole) {
  rs_json_object(json, key);
  rs_json_string(json, "name", task->task->kind.name);
  for (size_t i = 0; i < task->settings.count; i++) {
    const rs_param *param = task->settings.params[i];
    const rs_value *value = &task->settings.values[i];
    if (param->reading && !whole)
      write_usual(json, param);
    else if (value->set && param->type == RS_FILE && value->choice < 0)
      write_file(json, param->name, value, whole);
    else if (value->set)
      rs_value_json(json, param->name, param, value);
  }
  rs_json_end(json);
}

static void read_file(rs_problems *problems, const rs_node *node, rs_value *value) {
  if (!rs_expect(problems, node, RS_MAPPING, "a file and its sha256")) return;
  const rs_node *file = rs_member_of(problems, node, "file", RS_SCALAR, "a path");
  const rs_node *hash = rs_member_of(problems, node, "sha256", RS_SCALAR, "a SHA-256");
  if (file == NULL || hash == NULL) return;
  *value = (rs_value){.set = true, .given = true, .choice = RS_NO_WORD, .file = rs_strdup(file->text, NULL)};
  snprintf(value->hash, sizeof value->hash, "%.64s", hash->text);
  if (value->file == NULL) rs_problem_memory(problems);
}

/* One parameter; what was written down counts as given. */
static void read_param(rs_problems *problems, const rs_node *node, rs_settings *settings) {
  int index = rs_settings_find(settings, node->key);
  if (index < 0) {
    rs_problem(problems, node, "is no parameter of the task");
    return;
  }
  const rs_param *param = settings->params[index];
  rs_value value = {0};
  size_t before = problems->count;
  if (param->type == RS_FILE)
    read_file(problems, node, &value);
  else
    (void)rs_read_param(problems, node, param, &value);
  if (problems->count > before) {
    rs_value_clear(&value);
    return;
  }
  value.given = true;
  rs_value_clear(&settings->values[index]);
  settings->values[index] = value;
}

void rs_task_read(rs_problems *problems, const rs_node *node, rs_variant *task) {
  rs_err why = {0};
  if (!rs_expect(problems, node, RS_MAPPING, "a task")) return;
  const rs_node *name = rs_member_of(problems, node, "name", RS_SCALAR, "the name of a task");
  if (name == NULL) return;
  task->task = rs_task_find(name->text);
  if (task->task == NULL) {
    rs_problem(problems, name, "is no task of this program");
    return;
  }
  const rs_kind *kind = &task->task->kind;
  if (rs_settings_init_specs(&task->settings, kind->params, kind->param_count, &why) != RS_OK) {
    rs_problem_err(problems, node, &why);
    return;
  }
  for (size_t i = 0; i < node->count; i++) {
    if (&node->items[i] != name) read_param(problems, &node->items[i], &task->settings);
  }
}
