/* Checkpoints: what is trained, on what recipe, or the folder of a model that is there. A list in place of a value is
 * one more axis: several values make several checkpoints. */
#include "checkpoints.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CHECKPOINTS = 10000 };

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* The parameters that stand in a mapping; `others` (ends with NULL) are its keys besides. */
static void read_params(const rs_entry *e, const rs_node *mapping, const char *what, const char *const *others,
                        rs_settings *settings) {
  const rs_chooser chooser = {rs_entry_value, e};
  rs_settings_read(e->config->problems, mapping, what, others, &chooser, settings);
}

static void read_shape(const rs_entry *e, rs_checkpoint *checkpoint, rs_shape_params *params) {
  static const char *const others[] = {"name", "folder", "method", "layers", "train", "tune", "zip", "teacher", NULL};
  rs_settings *settings = &checkpoint->settings[RS_PART_SHAPE];
  rs_err why = {0};
  if (rs_settings_init_specs(settings, rs_shape_specs, rs_shape_spec_count, &why) != RS_OK)
    rs_entry_report(e, &why);
  else
    read_params(e, e->node, "a checkpoint", others, settings);
  rs_bind(settings, rs_shape_specs, rs_shape_spec_count, params);
  checkpoint->format = params->precision;
  checkpoint->seeded = params->seed != RS_NO_COUNT;
  checkpoint->seed = checkpoint->seeded ? params->seed : 0;
}

/* Training settings that contradict each other are reported at the key that says so. */
static void check_training(const rs_entry *e, const rs_node *node, const rs_training *training) {
  rs_err why = {0};
  const rs_node *wrong =
      node != NULL && rs_training_check(training, &why) != RS_OK ? rs_node_get(node, why.subject) : NULL;
  if (wrong != NULL) rs_problem(e->config->problems, rs_entry_value(e, wrong), "%s", why.message);
}

static void read_training(const rs_entry *e, rs_checkpoint *checkpoint) {
  static const char *const none[] = {NULL}, *const method[] = {"method", NULL};
  const rs_node *train = rs_node_get(e->node, "train"), *tune = rs_node_get(e->node, "tune");
  static const char mapping[] = "a mapping, like {steps: 1000, length: 64}";
  rs_settings *first = &checkpoint->settings[RS_PART_TRAINING], *second = &checkpoint->settings[RS_PART_TUNING];
  rs_problems *problems = e->config->problems;
  rs_err why = {0};
  checkpoint->tuned = tune != NULL;
  if (rs_settings_init_specs(first, rs_training_specs, rs_training_spec_count, &why) != RS_OK ||
      (checkpoint->tuned && rs_tune_settings(second, &why) != RS_OK)) {
    rs_entry_report(e, &why);
    return;
  }
  if (train != NULL && rs_expect(problems, train, RS_MAPPING, mapping)) read_params(e, train, "training", none, first);
  if (tune != NULL && rs_expect(problems, tune, RS_MAPPING, mapping)) read_params(e, tune, "tuning", method, second);
  rs_bind(first, rs_training_specs, rs_training_spec_count, &checkpoint->training);
  rs_bind(second, rs_training_specs, rs_training_spec_count, &checkpoint->tuning);
  check_training(e, train, &checkpoint->training);
  check_training(e, tune, &checkpoint->tuning);
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* The tokens that a model reads of the task at the length of a training, `lead` of them before patches. */
static size_t tokens_at(const rs_entry *e, const char *training, size_t length, size_t lead, rs_example_shape *shape) {
  const rs_task *task = &e->config->task;
  const rs_node *mapping = rs_node_get(e->node, training), *node = mapping ? rs_node_get(mapping, "length") : NULL;
  rs_token_layout layout = {0};
  rs_err why = {0};
  size_t tokens = length;
  *shape = (rs_example_shape){.length = length};
  if (task->kind == NULL) return length; /* which is reported already */
  if (task->kind->shape(task->state, length, shape, &why) == RS_OK)
    (void)rs_task_layout(shape, lead, &layout, &tokens, &why);
  rs_token_layout_clear(&layout);
  if (why.status == RS_OK && shape->untrainable)
    (void)rs_fail(&why, RS_INPUT, "the task has nothing to train on: all of it is held out (give a share below 1)");
  if (why.status == RS_OK) return tokens;
  if (why.status == RS_MEMORY)
    rs_problem_memory(e->config->problems);
  else if (node != NULL)
    rs_problem(e->config->problems, rs_entry_value(e, node), "%s", why.message);
  else
    rs_problem(e->config->problems, e->node, "%s.length = %zu: %s", training, length, why.message);
  return length;
}

/* The shape with what the task says must be one. */
static void check_whole(const rs_entry *e, const rs_checkpoint *checkpoint, const rs_example_shape *example) {
  rs_shape whole = checkpoint->shape;
  rs_err why = {0};
  if (e->config->task.kind == NULL) return;
  whole.vocabulary = example->vocabulary;
  whole.patch_numbers = example->patch_numbers;
  whole.classes = example->classes;
  if (rs_shape_check(&whole, &why) != RS_OK) rs_entry_report(e, &why);
}

/* Embeddings of the checkpoint's recipes must have the width of its tokens, and suit the pictures of training. */
static void check_embeddings(const rs_entry *e, const rs_checkpoint *checkpoint, const rs_model *model,
                             const rs_example_shape *example) {
  const rs_node *node = rs_node_get(e->node, "method");
  rs_token_layout layout;
  size_t tokens;
  rs_err why = {0};
  rs_status status = rs_task_layout(example, rs_shape_lead(&checkpoint->shape), &layout, &tokens, &why);
  for (size_t r = 0; r < checkpoint->recipe_count && status == RS_OK; r++) {
    const rs_method *method = checkpoint->recipes[r].method;
    status = rs_recipe_fit(&checkpoint->recipes[r], model, &layout, &why);
    if (status == RS_OK && method->embed != NULL && checkpoint->shape.width != rs_model_width(model))
      status = rs_fail_on(&why, RS_INPUT, method->name,
                          "adds heads * head_dim = %zu numbers to tokens of width %zu (leave head_dim out)",
                          rs_model_width(model), checkpoint->shape.width);
  }
  rs_token_layout_clear(&layout);
  if (status == RS_MEMORY)
    rs_problem_memory(e->config->problems);
  else if (status != RS_OK)
    rs_problem(e->config->problems, node != NULL ? node : e->node, "%s: %s", why.subject, why.message);
}

/* ---- one checkpoint ---------------------------------------------------------------------------------------------- */

/* From parameters to shape, geometry and recipes. */
static void make_trained(const rs_entry *e, rs_shape_params *params, rs_checkpoint *checkpoint, rs_model *model) {
  const rs_task_kind *task = e->config->task.kind;
  rs_form form = task != NULL ? task->form : RS_DECODER;
  rs_example_shape example, longer;
  rs_err why = {0};
  rs_status status = rs_shape_settle(params, form, &why);
  if (status == RS_OK && params->pool == RS_POOL_MEAN && form == RS_ENCODER && !task->single)
    status = rs_fail_on(&why, RS_INPUT, "pool",
                        "the task %s asks at each token, and the mean says one class a sequence", task->kind.name);
  if (status != RS_OK) rs_entry_report(e, &why);
  size_t rule_count;
  rs_layer_rule *rules = rs_entry_failed(e) ? NULL : rs_entry_rules(e, params, form, &rule_count);
  if (rules == NULL) return;
  rs_shape_defaults(params, &checkpoint->settings[RS_PART_SHAPE]);
  *model = rs_shape_geometry(params);
  if (rs_shape_build(params, form, rules, rule_count, &checkpoint->shape, &why) != RS_OK) rs_entry_report(e, &why);
  size_t lead = rs_shape_lead(&checkpoint->shape);
  checkpoint->trained_tokens = tokens_at(e, "train", checkpoint->training.length, lead, &example);
  model->train_length = model->max_length = checkpoint->trained_tokens;
  checkpoint->layers = checkpoint->shape.decoder.count;
  if (!rs_entry_failed(e)) check_whole(e, checkpoint, &example);
  if (!rs_entry_failed(e)) rs_entry_recipes(e, rules, rule_count, model, checkpoint);
  if (!rs_entry_failed(e)) check_embeddings(e, checkpoint, model, &example);
  free(rules);
  if (rs_entry_failed(e) || !checkpoint->tuned) return;
  model->train_length = model->max_length = tokens_at(e, "tune", checkpoint->tuning.length, lead, &longer);
  rs_entry_tuned_recipes(e, model, checkpoint);
}

/* ---- the folder of a model that is there ------------------------------------------------------------------------- */

static bool holds(const char *folder, const char *file) {
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  return access(path, R_OK) == 0;
}

/* The folder, or GGUF file, by the path with which any later run finds it; NULL, and reported, where it is no
 * checkpoint. */
static char *find_folder(const rs_entry *e, const rs_node *node) {
  rs_problems *problems = e->config->problems;
  const char *word = rs_read_word(problems, node);
  char *beside = word != NULL ? rs_beside(node, word) : NULL, *folder = beside != NULL ? realpath(beside, NULL) : NULL;
  bool gguf = folder != NULL && rs_hf_is_gguf(folder);
  if (word != NULL && (beside == NULL || (folder == NULL && errno == ENOMEM)))
    rs_problem_memory(problems);
  else if (word != NULL && folder == NULL)
    rs_problem(problems, node, "cannot be found: %s", strerror(errno));
  else if (folder != NULL && !gguf && !holds(folder, "."))
    rs_problem(problems, node, "is neither the folder of a checkpoint nor a GGUF file");
  else if (folder != NULL && !gguf && !holds(folder, "config.json"))
    rs_problem(problems, node, "is no folder of a checkpoint: it has no config.json");
  else if (folder != NULL && !gguf && !holds(folder, "model.safetensors") &&
           !holds(folder, "model.safetensors.index.json"))
    rs_problem(problems, node, "is no folder of a checkpoint: it has no model.safetensors");
  free(beside);
  if (!rs_entry_failed(e)) return folder;
  free(folder);
  return NULL;
}

static void refuse_shape(const rs_entry *e) {
  static const char *const known[] = {"name", "folder", "tune", "precision", "seed", "zip", "teacher"};
  for (size_t i = 0; i < e->node->count; i++) {
    const rs_node *child = &e->node->items[i];
    bool kept = false;
    for (size_t k = 0; k < RS_COUNT(known); k++) kept |= strcmp(child->key, known[k]) == 0;
    if (!kept)
      rs_problem(e->config->problems, child, "stands beside a folder (or GGUF file), which says what the model is");
  }
}

/* What stands in no config is said by the folder: no default is a value of its own. */
static void forget_defaults(rs_checkpoint *checkpoint) {
  rs_settings *shape = &checkpoint->settings[RS_PART_SHAPE];
  for (size_t p = 0; p < shape->count; p++)
    if (!shape->values[p].given) rs_value_clear(&shape->values[p]);
  rs_settings_clear(&checkpoint->settings[RS_PART_TRAINING]);
}

/* Gives a found model's recipes to the checkpoint, those of its layers behind the first, which becomes the published
 * one. */
static void take_recipes(rs_checkpoint *checkpoint, rs_model *model, rs_recipe **recipes, size_t *count) {
  rs_recipe_clear(&model->published);
  model->published = (*recipes)[0];
  checkpoint->recipes = *recipes;
  checkpoint->recipe_count = *count;
  checkpoint->recipes[0] = (rs_recipe){0};
  *recipes = NULL;
  *count = 0;
}

/* The shape of a folder's model, without its blocks. */
static void take_shape(rs_checkpoint *checkpoint, const rs_shape *found) {
  checkpoint->layers = found->decoder.count;
  checkpoint->shape = *found;
  checkpoint->shape.encoder = checkpoint->shape.decoder = (rs_stack){0};
}

/* What a model of this program was trained with last. */
static rs_status read_trained(const char *folder, rs_checkpoint *checkpoint, rs_model *model, rs_err *why) {
  rs_trained trained;
  RS_TRY(rs_trained_read(folder, &trained, why));
  take_shape(checkpoint, &trained.shape);
  *model = trained.geometry;
  trained.geometry = (rs_model){0};
  take_recipes(checkpoint, model, &trained.recipes, &trained.recipe_count);
  rs_trained_clear(&trained);
  return RS_OK;
}

/* What somebody else's folder publishes, where all of it is computed here, and can be tuned where it is to be. */
static rs_status read_published(const char *folder, rs_checkpoint *checkpoint, rs_model *model, rs_err *why) {
  rs_hf_checkpoint found;
  RS_TRY(rs_hf_checkpoint_read(folder, &found, why));
  rs_status status = rs_weight_types_check(folder, why);
  if (status == RS_OK && checkpoint->tuned) status = rs_shape_trains(&found.shape, why);
  if (status == RS_OK) {
    take_shape(checkpoint, &found.shape);
    *model = found.geometry;
    found.geometry = (rs_model){0};
    checkpoint->doubt = found.doubt;
    found.doubt = NULL;
    take_recipes(checkpoint, model, &found.recipes, &found.recipe_count);
  }
  rs_hf_checkpoint_clear(&found);
  return status;
}

static void check_form(const rs_entry *e, const rs_node *node, rs_form form) {
  const rs_task_kind *task = e->config->task.kind;
  if (task == NULL || task->form == form) return;
  rs_problem(e->config->problems, node, "is a model of the form %s; the task %s is for one of the form %s",
             rs_form_words[form], task->kind.name, rs_form_words[task->form]);
}

static void make_found(const rs_entry *e, rs_checkpoint *checkpoint, rs_model *model) {
  const rs_node *node = rs_node_get(e->node, "folder");
  rs_err why = {0};
  forget_defaults(checkpoint);
  checkpoint->folder = find_folder(e, node);
  if (checkpoint->folder == NULL) return;
  bool marked;
  rs_status status = rs_trained_marked(checkpoint->folder, &marked, &why);
  if (status == RS_OK)
    status = marked ? read_trained(checkpoint->folder, checkpoint, model, &why)
                    : read_published(checkpoint->folder, checkpoint, model, &why);
  if (status == RS_MEMORY)
    rs_problem_memory(e->config->problems);
  else if (status != RS_OK)
    rs_problem_lines(e->config->problems, node, why.message);
  else
    check_form(e, node, checkpoint->shape.form);
  if (rs_entry_failed(e)) return;
  checkpoint->trained_tokens = model->train_length;
  (void)rs_entry_recipe(e, e->node, &model->published, model, model->train_length, &checkpoint->recipes[0]);
  if (rs_entry_failed(e) || !checkpoint->tuned) return;
  rs_example_shape longer;
  model->train_length = tokens_at(e, "tune", checkpoint->tuning.length, rs_shape_lead(&checkpoint->shape), &longer);
  if (model->max_length < model->train_length) model->max_length = model->train_length;
  rs_entry_tuned_recipes(e, model, checkpoint);
}

/* ---- names of checkpoints ---------------------------------------------------------------------------------------- */

static const char *base_label(const rs_entry *e, const char *folder) {
  const rs_node *name = rs_node_get(e->node, "name");
  const rs_variant *method = rs_entry_method(e, e->node);
  if (name != NULL) return rs_read_word(e->config->problems, name);
  const char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
  if (slash != NULL) return slash + 1;
  return method != NULL ? method->label : "rope";
}

/* What an axis is in the combination: the method's label, or the value. */
static void put_choice(const rs_entry *e, const rs_checkpoint *checkpoint, size_t axis, rs_text *label) {
  const rs_entry_axis *list = &e->axes[axis];
  size_t choice = rs_choices_pick(&e->choices, axis, e->combination), before = label->length;
  if (list->methods.count > 0) {
    rs_text_puts(label, list->methods.items[choice].label);
    return;
  }
  rs_checkpoint_value(checkpoint, list->name, label);
  const rs_node *value = &list->node->items[choice];
  if (label->length == before && value->kind == RS_SCALAR) rs_text_puts(label, value->text); /* of layers */
}

void rs_entry_label(const rs_entry *e, const rs_checkpoint *checkpoint, rs_model *model) {
  const char *base = base_label(e, checkpoint->folder);
  bool named = rs_node_get(e->node, "name") != NULL;
  rs_text label = {0};
  rs_text_puts(&label, base != NULL ? base : "");
  for (size_t a = 0; a < e->choices.count; a++) {
    if (e->choices.counts[a] == 1 || (!named && strcmp(e->axes[a].name, "method") == 0)) continue;
    rs_text_printf(&label, " %s=", e->axes[a].name);
    put_choice(e, checkpoint, a, &label);
  }
  if (label.failed)
    rs_problem_memory(e->config->problems);
  else if (label.length >= sizeof model->name || label.length == 0)
    rs_problem(e->config->problems, e->node, "is called \"%s\", which must be 1 to %zu letters (give it a name: ...)",
               rs_text_string(&label), sizeof model->name - 1);
  else
    memcpy(model->name, rs_text_string(&label), label.length + 1);
  rs_text_clear(&label);
}

/* Whether another checkpoint has the name already. */
static bool name_taken(const rs_experiment *experiment, size_t index) {
  for (size_t i = 0; i < experiment->model_count; i++)
    if (i != index && strcmp(experiment->models[i].name, experiment->models[index].name) == 0) return true;
  return false;
}

/* The name with every given parameter that it does not hold yet, where there is room for it. */
static void lengthen(rs_problems *problems, const rs_checkpoint *checkpoint, rs_model *model) {
  rs_text label = {0};
  rs_text_puts(&label, model->name);
  for (size_t part = 0; part < RS_CHECKPOINT_PARTS; part++)
    for (size_t p = 0; p < checkpoint->settings[part].count; p++) {
      const rs_settings *settings = &checkpoint->settings[part];
      char word[80];
      snprintf(word, sizeof word, " %s%s=", rs_part_prefixes[part], settings->params[p]->name);
      if (!settings->values[p].given || strstr(model->name, word) != NULL) continue;
      rs_text_puts(&label, word);
      rs_value_write(settings->params[p], &settings->values[p], &label);
    }
  if (label.failed)
    rs_problem_memory(problems);
  else if (label.length < sizeof model->name)
    memcpy(model->name, rs_text_string(&label), label.length + 1);
  rs_text_clear(&label);
}

void rs_settle_checkpoints(rs_config_context *config, const rs_node *node) {
  rs_experiment *experiment = config->experiment;
  bool *taken = rs_alloc(experiment->model_count, sizeof *taken, NULL);
  if (taken == NULL) {
    rs_problem_memory(config->problems);
    return;
  }
  for (size_t i = 0; i < experiment->model_count; i++) taken[i] = name_taken(experiment, i);
  for (size_t i = 0; i < experiment->model_count; i++)
    if (taken[i]) lengthen(config->problems, &experiment->checkpoints[i], &experiment->models[i]);
  free(taken);
  for (size_t i = 0; i < experiment->model_count; i++)
    if (name_taken(experiment, i)) {
      rs_problem(config->problems, node, "has \"%s\" twice (give one a name: ...)", experiment->models[i].name);
      return;
    }
}

/* ---- the key ----------------------------------------------------------------------------------------------------- */

/* Adds one to the experiment, which owns it from then on. */
static void add_checkpoint(const rs_entry *e, rs_checkpoint *checkpoint, rs_model *model) {
  rs_experiment *experiment = e->config->experiment;
  size_t count = experiment->model_count + 1;
  if (RS_GROW(experiment->models, &e->room->models, count, NULL) != RS_OK ||
      RS_GROW(experiment->checkpoints, &e->room->checkpoints, count, NULL) != RS_OK) {
    rs_problem_memory(e->config->problems);
    return;
  }
  experiment->models[count - 1] = *model;
  experiment->checkpoints[count - 1] = *checkpoint;
  experiment->model_count = count;
  *model = (rs_model){0};
  *checkpoint = (rs_checkpoint){0};
}

static void read_combination(const rs_entry *e) {
  bool found = rs_node_get(e->node, "folder") != NULL;
  rs_checkpoint checkpoint = {0};
  rs_model model = {0};
  rs_shape_params params;
  read_shape(e, &checkpoint, &params);
  read_training(e, &checkpoint);
  if (!rs_entry_failed(e) && found)
    make_found(e, &checkpoint, &model);
  else if (!rs_entry_failed(e))
    make_trained(e, &params, &checkpoint, &model);
  if (!rs_entry_failed(e)) rs_entry_label(e, &checkpoint, &model);
  if (!rs_entry_failed(e)) add_checkpoint(e, &checkpoint, &model);
  rs_checkpoint_clear(&checkpoint);
  rs_model_clear(&model);
}

/* Parameters with several values get key columns: "checkpoint.train.steps"; those of layers are told by the name. */
static void add_swept(const rs_entry *e) {
  for (size_t a = 0; a < e->choices.count; a++) {
    char name[RS_ENTRY_AXIS_NAME + 16];
    snprintf(name, sizeof name, RS_CHECKPOINT_PATH "%s", e->axes[a].name);
    if (e->choices.counts[a] < 2 || strncmp(e->axes[a].name, "layers", 6) == 0) continue;
    if (rs_experiment_add_swept(e->config->experiment, name, NULL) != RS_OK) rs_problem_memory(e->config->problems);
  }
}

/* What is wrong with several combinations is told once, wherever it was told since `mark`. */
static void read_next_combination(rs_entry *e, rs_problem_mark mark) {
  rs_problem_mark here = rs_problems_mark(e->config->problems);
  e->problems_before = here.count;
  read_combination(e);
  rs_problems_once(e->config->problems, mark, here);
}

static void read_entry(rs_config_context *config, const rs_node *node, rs_list_room *room) {
  rs_entry e = {.config = config, .node = node, .problems_before = config->problems->count, .room = room};
  if (!rs_expect(config->problems, node, RS_MAPPING, "a mapping, like {method: rope, width: 64}")) return;
  if (rs_node_get(node, "folder") != NULL) refuse_shape(&e);
  const rs_problem_mark mark = {.count = e.problems_before, .length = config->problems->text.length};
  rs_entry_find_axes(&e);
  rs_choices_zip(config->problems, node, &e.choices);
  size_t count = rs_entry_failed(&e) ? 0 : rs_choices_combinations(&e.choices, MOST_CHECKPOINTS);
  if (count > MOST_CHECKPOINTS) rs_problem(config->problems, node, "makes more than %d combinations", MOST_CHECKPOINTS);
  for (e.combination = 0; e.combination < count && !config->problems->memory; e.combination++)
    read_next_combination(&e, mark);
  e.problems_before = mark.count;
  if (!rs_entry_failed(&e)) add_swept(&e);
  rs_entry_clear(&e);
}

void rs_config_checkpoints(rs_config_context *config, const rs_node *node) {
  size_t before = config->problems->count, count;
  rs_list_room room = {0};
  if (node == NULL) return;
  count = node->kind == RS_SEQUENCE ? node->count : 1;
  if (count == 0) rs_problem(config->problems, node, "is an empty list");
  size_t *ends = rs_alloc(count, sizeof *ends, NULL);
  if (ends == NULL) rs_problem_memory(config->problems);
  for (size_t i = 0; i < count && ends != NULL; i++) {
    read_entry(config, rs_entry_at(node, i), &room);
    ends[i] = config->experiment->model_count;
  }
  if (config->problems->count == before) rs_settle_checkpoints(config, node);
  if (config->problems->count == before && !config->problems->memory) rs_settle_teachers(config, node, ends);
  free(ends);
}
