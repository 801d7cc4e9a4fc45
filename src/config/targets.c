/* What a run scores: the same targets at all lengths, or each length its own; and the baselines that stand beside its
 * methods. */
#include "checkpoints.h"

#include <stdio.h>
#include <string.h>

/* ---- targets ----------------------------------------------------------------------------------------------------- */

enum { SAME, PER_LENGTH };
static const char *const target_words[] = {[SAME] = "same", [PER_LENGTH] = "per_length", NULL};
static const rs_param targets_param = {.name = "targets", .type = RS_CHOICE, RS_WORDS(target_words)};

/* The fewest tokens of a length, or that a checkpoint was trained at before it was tuned. */
static size_t fewest_tokens(const rs_experiment *experiment) {
  size_t fewest = SIZE_MAX;
  for (size_t i = 0; i < experiment->length_count; i++)
    if (experiment->lengths[i] < fewest) fewest = experiment->lengths[i];
  for (size_t i = 0; i < experiment->model_count; i++)
    if (experiment->checkpoints[i].trained_tokens < fewest) fewest = experiment->checkpoints[i].trained_tokens;
  return fewest;
}

static size_t longest_length(const rs_experiment *experiment) {
  size_t longest = 0;
  for (size_t i = 0; i < experiment->length_count; i++)
    if (experiment->lengths[i] > longest) longest = experiment->lengths[i];
  return longest;
}

/* Parameters of a task that say which part of a length's own sequences is scored. */
static void find_own_scoring(const rs_variant *task, const rs_same_targets *same, rs_text *why) {
  static const char *const names[] = {"stride", "unscored"};
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    int index = rs_settings_find(&task->settings, names[i]);
    const rs_value *value = index >= 0 ? &task->settings.values[index] : NULL;
    if (value == NULL || !value->set) continue;
    bool stride = i == 0, usual = rs_value_usual(task->settings.params[index], value) || value->number == 0;
    size_t before = stride ? same->longest : (size_t)(value->number * (double)same->longest);
    if (usual && before <= same->longest - same->tokens) continue;
    rs_text_printf(why, "%s says what is scored of each length", names[i]);
    if (usual) rs_text_printf(why, " (the first %zu of %zu tokens are not)", before, same->longest);
    return;
  }
}

/* Why lengths cannot score these targets: nothing is added where they can. */
static void find_obstacle(const rs_config_context *config, const rs_same_targets *same, rs_text *why) {
  const rs_task *task = &config->task;
  rs_example_shape shape;
  rs_err err = {0};
  if (task->kind->crop == RS_CROP_NEVER)
    rs_text_printf(why, "sequences of %s cannot be cut to their last tokens, so each length draws others",
                   task->kind->kind.name);
  else
    find_own_scoring(&config->experiment->task, same, why);
  if (why->length == 0 && task->kind->shape(task->state, same->longest, &shape, &err) != RS_OK)
    rs_text_printf(why, "all lengths read the last tokens of sequences of %zu: %s", same->longest, err.message);
}

/* How many tokens at the end are scored. */
static size_t read_target_tokens(rs_config_context *config, size_t most) {
  const rs_node *node = rs_node_get(config->root, "target_tokens");
  if (node == NULL) return most;
  size_t tokens = rs_read_count(config->problems, node, 1, 1 << 28, most);
  if (tokens > most)
    rs_problem(config->problems, node,
               "must not exceed %zu tokens: the least of the lengths, and of what checkpoints were trained at", most);
  return tokens < most ? tokens : most;
}

static void choose_targets(rs_config_context *config, const rs_node *node) {
  rs_experiment *experiment = config->experiment;
  rs_same_targets same = {.longest = longest_length(experiment)};
  rs_text why = {0};
  same.tokens = read_target_tokens(config, fewest_tokens(experiment));
  find_obstacle(config, &same, &why);
  if (why.failed)
    rs_problem_memory(config->problems);
  else if (why.length == 0)
    experiment->targets = same;
  else if (node != NULL)
    rs_problem(config->problems, node, "%s (targets: per_length)", rs_text_string(&why));
  else if ((experiment->own_targets = rs_strdup(rs_text_string(&why), NULL)) == NULL)
    rs_problem_memory(config->problems);
  rs_text_clear(&why);
}

void rs_config_targets(rs_config_context *config, const rs_node *node) {
  const rs_node *tokens = rs_node_get(config->root, "target_tokens");
  rs_value value = {.choice = SAME};
  if (!rs_reads_checkpoint(config)) {
    if (node != NULL) rs_problem(config->problems, node, "are of a checkpoint's task: there is none");
    if (tokens != NULL) rs_problem(config->problems, tokens, "are of a checkpoint's task: there is none");
    return;
  }
  config->experiment->targets_chosen = node != NULL;
  if (node != NULL && !rs_read_value(config->problems, node, &targets_param, &value)) return;
  if (config->problems->count > 0 || config->task.kind == NULL) return; /* which is reported already */
  if (value.choice == SAME) choose_targets(config, node);
  if (tokens != NULL && config->experiment->targets.longest == 0 && config->problems->count == 0)
    rs_problem(config->problems, tokens, "are scored with targets: same alone%s%s", value.choice == SAME ? ": " : "",
               config->experiment->own_targets != NULL ? config->experiment->own_targets : "");
}

/* ---- baselines --------------------------------------------------------------------------------------------------- */

/* Whether methods advance with another axis: a baseline has no partner there. */
static const rs_node *zipped_methods(const rs_config_context *config) {
  const rs_node *zip = rs_node_get(config->root, "zip");
  for (size_t i = 0; zip != NULL && zip->kind == RS_SEQUENCE && i < zip->count; i++)
    if (zip->items[i].kind == RS_SCALAR && strcmp(zip->items[i].text, "methods") == 0) return zip;
  return NULL;
}

static void read_baseline(rs_config_context *config, const rs_node *node, bool *none) {
  static const rs_param param = {
      .name = "baselines", .type = RS_CHOICE, .words = rs_baseline_words, .word_count = RS_BASELINES};
  rs_value value;
  if (node->kind == RS_SCALAR && strcmp(node->text, "none") == 0)
    *none = true;
  else if (rs_read_value(config->problems, node, &param, &value))
    config->experiment->baselines[value.choice] = true;
}

static void read_baselines(rs_config_context *config, const rs_node *node) {
  bool none = false, any = false;
  for (size_t i = 0; i < (node->kind == RS_SEQUENCE ? node->count : 1); i++)
    read_baseline(config, rs_entry_at(node, i), &none);
  for (size_t i = 0; i < RS_BASELINES; i++) any |= config->experiment->baselines[i];
  if (none && any) rs_problem(config->problems, node, "has none beside others");
  if (!any) return;
  if (config->experiment->targets.longest == 0)
    rs_problem(config->problems, node, "stand beside methods that score the same targets (targets: same)%s%s",
               config->experiment->own_targets != NULL ? ": " : "",
               config->experiment->own_targets != NULL ? config->experiment->own_targets : "");
  else if (zipped_methods(config) != NULL)
    rs_problem(config->problems, node, "stand beside methods of all checkpoints and lengths, not zipped ones");
}

/* Whether two resolved recipes are one on the model, where that says the length that neither does. */
static bool is_same(const rs_recipe *a, const rs_recipe *b, const rs_model *model) {
  bool same = a->method == b->method && rs_recipe_train_length(a, model) == rs_recipe_train_length(b, model);
  for (size_t i = 0; same && i < a->settings.count; i++)
    same = strcmp(a->settings.params[i]->name, "train_length") == 0 ||
           rs_value_same(&a->settings.values[i], &b->settings.values[i]);
  return same;
}

/* Whether every checkpoint reads with the method as it does without: its first recipe, not tuned to another. */
static rs_status is_unchanged(const rs_experiment *experiment, size_t method, bool *unchanged, rs_err *err) {
  *unchanged = true;
  for (size_t m = 0; m < experiment->model_count && *unchanged; m++) {
    const rs_checkpoint *checkpoint = &experiment->checkpoints[m];
    rs_recipe recipe;
    RS_TRY(rs_experiment_recipe(experiment, m, method, &recipe, err));
    *unchanged = !checkpoint->tuned && is_same(&recipe, &checkpoint->recipes[0], &experiment->models[m]);
    rs_recipe_clear(&recipe);
  }
  return RS_OK;
}

static rs_status add_baseline(rs_variants *methods, rs_baseline baseline, rs_err *err) {
  const char *word = rs_baseline_words[baseline];
  char label[64];
  bool taken = false;
  for (size_t i = 0; i < methods->count; i++) taken = taken || strcmp(methods->items[i].label, word) == 0;
  snprintf(label, sizeof label, "%s%s", taken ? "baseline " : "", word);
  RS_TRY(RS_GROW(methods->items, &methods->capacity, methods->count + 1, err));
  rs_variant *variant = &methods->items[methods->count++];
  *variant = (rs_variant){
      .label = rs_strdup(label, err), .entry = SIZE_MAX, .stands = true, .added = true, .baseline = baseline};
  return variant->label != NULL ? RS_OK : RS_MEMORY;
}

/* The methods of the config are no baselines yet. */
static rs_status add_baselines(rs_experiment *experiment, rs_err *err) {
  size_t methods = experiment->methods.count;
  bool served = !experiment->baselines[RS_BASELINE_UNCHANGED];
  for (size_t i = 0; i < methods && !served; i++) {
    RS_TRY(is_unchanged(experiment, i, &served, err));
    experiment->methods.items[i].stands = served;
    experiment->methods.items[i].baseline = RS_BASELINE_UNCHANGED;
  }
  if (experiment->baselines[RS_BASELINE_WINDOW]) RS_TRY(add_baseline(&experiment->methods, RS_BASELINE_WINDOW, err));
  return served ? RS_OK : add_baseline(&experiment->methods, RS_BASELINE_UNCHANGED, err);
}

void rs_config_baselines(rs_config_context *config, const rs_node *node) {
  rs_experiment *experiment = config->experiment;
  rs_err why = {0};
  if (!rs_reads_checkpoint(config)) {
    if (node != NULL) rs_problem(config->problems, node, "stand beside the methods of a checkpoint: there is none");
    return;
  }
  experiment->baselines_chosen = node != NULL;
  if (config->problems->count > 0) return;
  if (node != NULL)
    read_baselines(config, node);
  else if (experiment->targets.longest > 0 && zipped_methods(config) == NULL)
    for (size_t i = 0; i < RS_BASELINES; i++) experiment->baselines[i] = true;
  if (config->problems->count == 0 && add_baselines(experiment, &why) != RS_OK)
    rs_problem_err(config->problems, node != NULL ? node : config->root, &why);
}
