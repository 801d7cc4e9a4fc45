/* Checkpoints: what is trained, on what recipe, or the folder of a model that is there. A list in place of a value is
 * one more axis: several values make several checkpoints. */
#include "checkpoints.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CHECKPOINTS = 10000, AXIS_NAME = 64 };

/* A list of values, or a method's variants; of one value, too, where it is a method. */
typedef struct axis {
  const rs_node *node;
  char name[AXIS_NAME]; /* "train.steps", "layers[0].method": as labels have it */
  size_t count;
  rs_variants methods; /* empty: the node's items are the values */
} axis;

/* Places that were made in the experiment's lists. */
typedef struct list_room {
  size_t models, checkpoints;
} list_room;

/* The entry being read, and which of its combinations. */
typedef struct entry {
  rs_config_context *config;
  const rs_node *node;
  rs_path path;
  axis *axes;
  size_t axis_count, axis_room;
  bool zip;
  size_t index;
  size_t problems_before;
  list_room *room;
} entry;

/* A value in the config. */
typedef struct found_value {
  const rs_node *node;
  rs_path path;
} found_value;

static bool failed(const entry *e) {
  return e->config->problems->count > e->problems_before;
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

static axis *add_axis(entry *e, const rs_node *node, const char *prefix, const char *key) {
  void *axes = e->axes;
  if (rs_grow(&axes, &e->axis_room, e->axis_count + 1, sizeof *e->axes, NULL) != RS_OK) {
    rs_problem_memory(e->config->problems);
    return NULL;
  }
  e->axes = axes;
  axis *added = &e->axes[e->axis_count++];
  *added = (axis){.node = node, .count = node->count};
  snprintf(added->name, sizeof added->name, "%.20s%.40s", prefix, key);
  return added;
}

static void add_methods(entry *e, const rs_node *node, const rs_path *path, const char *prefix) {
  axis *added = add_axis(e, node, prefix, node->key);
  if (added == NULL) return;
  rs_read_recipes(e->config->problems, node, path, &added->methods);
  added->count = added->methods.count;
}

/* Keys that are no parameters, and so never axes. */
static bool stands_alone(const char *key) {
  static const char *const keys[] = {"name", "folder", "zip", "train", "tune", "layers"};
  for (size_t i = 0; i < RS_COUNT(keys); i++)
    if (strcmp(key, keys[i]) == 0) return true;
  return false;
}

/* The lists among the values of a mapping. `prefix` stands before their names: "train.". */
static void add_axes(entry *e, const rs_node *mapping, const rs_path *path, const char *prefix) {
  for (size_t i = 0; mapping->kind == RS_MAPPING && i < mapping->count; i++) {
    const rs_node *child = &mapping->items[i];
    rs_path inner = rs_path_key(path, child->key);
    if (stands_alone(child->key)) continue;
    if (strcmp(child->key, "method") == 0)
      add_methods(e, child, &inner, prefix);
    else if (child->kind == RS_SEQUENCE && child->count == 0)
      rs_problem(e->config->problems, child, &inner, "is an empty list");
    else if (child->kind == RS_SEQUENCE)
      (void)add_axis(e, child, prefix, child->key);
  }
}

static void find_axes(entry *e) {
  const rs_node *layers = rs_node_get(e->node, "layers");
  const char *const inner[] = {"train", "tune"};
  add_axes(e, e->node, &e->path, "");
  for (size_t i = 0; i < RS_COUNT(inner); i++) {
    const rs_node *node = rs_node_get(e->node, inner[i]);
    rs_path path = rs_path_key(&e->path, inner[i]);
    char prefix[8];
    snprintf(prefix, sizeof prefix, "%s.", inner[i]);
    if (node != NULL) add_axes(e, node, &path, prefix);
  }
  for (size_t i = 0; layers != NULL && layers->kind == RS_SEQUENCE && i < layers->count; i++) {
    rs_path path = rs_path_key(&e->path, "layers"), rule = rs_path_index(&path, i);
    char prefix[32];
    snprintf(prefix, sizeof prefix, "layers[%zu].", i);
    add_axes(e, &layers->items[i], &rule, prefix);
  }
}

static void clear_axes(entry *e) {
  for (size_t a = 0; a < e->axis_count; a++) rs_variants_clear(&e->axes[a].methods);
  free(e->axes);
}

static void read_zip(entry *e) {
  static const rs_param param = {.name = "zip", .type = RS_BOOL};
  const rs_node *node = rs_node_get(e->node, "zip");
  rs_path path = rs_path_key(&e->path, "zip");
  rs_value value;
  size_t common = 0;
  if (node == NULL || !rs_read_value(e->config->problems, node, &path, &param, &value)) return;
  e->zip = value.number == 1;
  for (size_t a = 0; a < e->axis_count && e->zip; a++) {
    if (e->axes[a].count == 1) continue;
    if (common > 0 && e->axes[a].count != common)
      rs_problem(e->config->problems, node, &path, "its lists have %zu and %zu values; zipped lists advance together",
                 common, e->axes[a].count);
    common = e->axes[a].count;
  }
}

static size_t combinations(const entry *e) {
  size_t product = 1, longest = 1;
  for (size_t a = 0; a < e->axis_count; a++) {
    product = e->axes[a].count > 0 && product <= MOST_CHECKPOINTS ? product * e->axes[a].count : product;
    if (e->axes[a].count > longest) longest = e->axes[a].count;
  }
  return e->zip ? longest : product;
}

/* Which value an axis has in the combination: the last axis runs fastest. */
static size_t choice_at(const entry *e, const axis *wanted) {
  size_t index = e->index;
  if (e->zip) return wanted->count > 1 ? index : 0;
  for (size_t later = e->axis_count; &e->axes[later - 1] != wanted; later--) index /= e->axes[later - 1].count;
  return index % wanted->count;
}

static const axis *axis_of(const entry *e, const rs_node *node) {
  for (size_t a = 0; a < e->axis_count; a++)
    if (e->axes[a].node == node) return &e->axes[a];
  return NULL;
}

/* A value of a mapping: itself, or that of its list which the combination has. */
static found_value value_at(const entry *e, const rs_node *child, const rs_path *mapping) {
  const axis *list = axis_of(e, child);
  found_value value = {child, rs_path_key(mapping, child->key)};
  if (list == NULL || list->methods.count > 0) return value;
  size_t choice = choice_at(e, list);
  return (found_value){&child->items[choice], rs_path_index(&value.path, choice)};
}

/* The method that a mapping names, NULL where it names none. */
static const rs_variant *method_at(const entry *e, const rs_node *mapping) {
  const rs_node *node = mapping != NULL ? rs_node_get(mapping, "method") : NULL;
  const axis *list = node != NULL ? axis_of(e, node) : NULL;
  return list != NULL && list->methods.count > 0 ? &list->methods.items[choice_at(e, list)] : NULL;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* The parameters that stand in a mapping; `others` (ends with NULL) are its keys besides. */
static void read_params(const entry *e, const rs_node *mapping, const rs_path *path, const char *what,
                        const char *const *others, rs_settings *settings) {
  const char *known[64];
  size_t count = 0;
  for (; others[count] != NULL; count++) known[count] = others[count];
  for (size_t p = 0; p < settings->count && count < RS_COUNT(known); p++) known[count++] = settings->params[p]->name;
  rs_check_keys(e->config->problems, mapping, path, what, known, count);
  for (size_t i = 0; i < mapping->count; i++) {
    int index = rs_settings_find(settings, mapping->items[i].key);
    if (index < 0) continue;
    found_value value = value_at(e, &mapping->items[i], path);
    rs_value_clear(&settings->values[index]);
    settings->values[index].given =
        rs_read_value(e->config->problems, value.node, &value.path, settings->params[index], &settings->values[index]);
  }
}

/* A contradiction, at the parameter that it is about where that was written. */
static void report(const entry *e, const rs_err *why) {
  const rs_node *node = *why->subject != '\0' ? rs_node_get(e->node, why->subject) : NULL;
  found_value at = node != NULL ? value_at(e, node, &e->path) : (found_value){e->node, e->path};
  if (why->status == RS_MEMORY)
    rs_problem_memory(e->config->problems);
  else
    rs_problem(e->config->problems, at.node, &at.path, "%s%s%s", node == NULL ? why->subject : "",
               node == NULL && *why->subject != '\0' ? ": " : "", why->message);
}

static void read_shape(const entry *e, rs_checkpoint *checkpoint, rs_shape_params *params) {
  static const char *const others[] = {"name", "folder", "method", "layers", "train", "tune", "zip", NULL};
  rs_settings *settings = &checkpoint->settings[RS_PART_SHAPE];
  rs_err why = {0};
  if (rs_settings_init_specs(settings, rs_shape_specs, rs_shape_spec_count, &why) != RS_OK)
    report(e, &why);
  else
    read_params(e, e->node, &e->path, "a checkpoint", others, settings);
  rs_bind(settings, rs_shape_specs, rs_shape_spec_count, params);
  checkpoint->format = params->precision;
  checkpoint->seeded = params->seed != RS_NO_COUNT;
  checkpoint->seed = checkpoint->seeded ? params->seed : 0;
}

static void read_training(const entry *e, rs_checkpoint *checkpoint) {
  static const char *const none[] = {NULL}, *const method[] = {"method", NULL};
  const rs_node *train = rs_node_get(e->node, "train"), *tune = rs_node_get(e->node, "tune");
  const rs_path train_path = rs_path_key(&e->path, "train"), tune_path = rs_path_key(&e->path, "tune");
  static const char mapping[] = "a mapping, like {steps: 1000, length: 64}";
  rs_settings *first = &checkpoint->settings[RS_PART_TRAINING], *second = &checkpoint->settings[RS_PART_TUNING];
  rs_problems *problems = e->config->problems;
  rs_err why = {0};
  checkpoint->tuned = tune != NULL;
  if (rs_settings_init_specs(first, rs_training_specs, rs_training_spec_count, &why) != RS_OK ||
      (checkpoint->tuned && rs_tune_settings(second, &why) != RS_OK)) {
    report(e, &why);
    return;
  }
  if (train != NULL && rs_expect(problems, train, &train_path, RS_MAPPING, mapping))
    read_params(e, train, &train_path, "training", none, first);
  if (tune != NULL && rs_expect(problems, tune, &tune_path, RS_MAPPING, mapping))
    read_params(e, tune, &tune_path, "tuning", method, second);
  rs_bind(first, rs_training_specs, rs_training_spec_count, &checkpoint->training);
  rs_bind(second, rs_training_specs, rs_training_spec_count, &checkpoint->tuning);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static size_t rule_count(const entry *e) {
  const rs_node *layers = rs_node_get(e->node, "layers");
  return layers != NULL && layers->kind == RS_SEQUENCE ? layers->count : 0;
}

/* A count in a rule; RS_NO_COUNT where it has none. */
static size_t rule_number(const entry *e, const rs_node *node, const rs_path *path, const char *key, double min,
                          double max) {
  const rs_node *child = rs_node_get(node, key);
  if (child == NULL) return RS_NO_COUNT;
  found_value value = value_at(e, child, path);
  return rs_read_count(e->config->problems, value.node, &value.path, min, max, RS_NO_COUNT);
}

static void refuse_rule(const entry *e, const rs_node *node, const rs_path *path, const rs_layer_rule *rule,
                        bool ranged, rs_form form) {
  rs_problems *problems = e->config->problems;
  if (ranged == (rule->every > 0))
    rs_problem(problems, node, path, "needs {every: N} or {from: I, to: J}, one of the two");
  if (rule->to < rule->from)
    rs_problem(problems, node, path, "ends with block %zu, before it begins with %zu", rule->to, rule->from);
  if (rule->method == NULL && rule->window == RS_NO_COUNT)
    rs_problem(problems, node, path, "changes nothing (give it a method or a window)");
  if (rule->sinks != RS_NO_COUNT && rule->window == RS_NO_COUNT)
    rs_problem(problems, node, path, "has sinks without a window");
  if (rule->window != RS_NO_COUNT && rs_form_sees_ahead(form))
    rs_problem(problems, node, path, "has a window of causal heads, but the task's models (%s) see both ways",
               rs_form_words[form]);
}

static void read_rule(const entry *e, const rs_node *node, const rs_path *path, const rs_shape_params *params,
                      rs_form form, rs_layer_rule *rule) {
  static const char *const known[] = {"every", "from", "to", "method", "window", "sinks"};
  const double blocks = (double)params->blocks, longest = 1 << 28;
  size_t before = e->config->problems->count;
  if (!rs_expect(e->config->problems, node, path, RS_MAPPING, "a mapping, like {every: 4, method: nope}")) return;
  rs_check_keys(e->config->problems, node, path, "a rule of layers", known, RS_COUNT(known));
  size_t every = rule_number(e, node, path, "every", 1, blocks),
         from = rule_number(e, node, path, "from", 0, blocks - 1), to = rule_number(e, node, path, "to", 0, blocks - 1);
  *rule = (rs_layer_rule){.every = every != RS_NO_COUNT ? every : 0,
                          .from = from != RS_NO_COUNT ? from : 0,
                          .to = to != RS_NO_COUNT ? to : params->blocks - 1,
                          .method = method_at(e, node),
                          .window = rule_number(e, node, path, "window", 1, longest),
                          .sinks = rule_number(e, node, path, "sinks", 1, longest)};
  bool ranged = rs_node_get(node, "from") != NULL || rs_node_get(node, "to") != NULL;
  if (e->config->problems->count == before) refuse_rule(e, node, path, rule, ranged, form);
}

/* The rules of `layers`, of which there are rule_count; NULL where something is wrong. Release with free(). */
static rs_layer_rule *read_rules(const entry *e, const rs_shape_params *params, rs_form form) {
  const rs_node *layers = rs_node_get(e->node, "layers");
  const rs_path path = rs_path_key(&e->path, "layers");
  rs_layer_rule *rules = rs_alloc(rule_count(e), sizeof *rules, NULL);
  if (rules == NULL) rs_problem_memory(e->config->problems);
  if (layers != NULL)
    (void)rs_expect(e->config->problems, layers, &path, RS_SEQUENCE, "a list, like [{every: 4, method: nope}]");
  for (size_t i = 0; i < rule_count(e) && rules != NULL; i++) {
    rs_path place = rs_path_index(&path, i);
    read_rule(e, &layers->items[i], &place, params, form, &rules[i]);
  }
  if (!failed(e)) return rules;
  free(rules);
  return NULL;
}

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

/* A recipe keeps the length it is trained at, whatever its model sees later. */
static void keep_length(rs_recipe *recipe, size_t tokens) {
  int index = rs_settings_find(&recipe->settings, "train_length");
  rs_value *value = index >= 0 ? &recipe->settings.values[index] : NULL;
  if (value == NULL || value->given) return;
  *value = (rs_value){.set = true, .choice = RS_NO_WORD, .number = (double)tokens};
}

/* The recipe of a method (NULL: rope) for a geometry. Cleared, and reported, where it does not fit. */
static bool make_recipe(const entry *e, const rs_node *mapping, const rs_path *path, const rs_variant *method,
                        const rs_model *geometry, size_t tokens, rs_recipe *recipe) {
  const rs_node *node = rs_node_get(mapping, "method");
  rs_path place = node != NULL ? rs_path_key(path, "method") : *path;
  rs_err why = {0};
  rs_recipe given = {0};
  rs_status status;
  if (method != NULL) {
    given = (rs_recipe){method->method, method->settings};
    status = rs_recipe_copy(recipe, &given, &why);
  } else {
    status = rs_recipe_init(recipe, rs_method_find("rope"), &why);
  }
  if (status == RS_OK) status = rs_recipe_resolve(recipe, geometry, &why);
  if (status == RS_OK) status = rs_recipe_check(recipe, geometry, &why);
  if (status == RS_OK) keep_length(recipe, tokens);
  if (status == RS_OK) return true;
  rs_recipe_clear(recipe);
  if (status == RS_MEMORY)
    rs_problem_memory(e->config->problems);
  else
    rs_problem(e->config->problems, node != NULL ? node : mapping, &place, "%s%s%s", why.subject,
               *why.subject != '\0' ? ": " : "", why.message);
  return false;
}

static bool same_value(const rs_param *param, const rs_value *a, const rs_value *b) {
  rs_text one = {0}, other = {0};
  rs_value_write(param, a, &one);
  rs_value_write(param, b, &other);
  bool same =
      a->given == b->given && !one.failed && !other.failed && strcmp(rs_text_string(&one), rs_text_string(&other)) == 0;
  rs_text_clear(&one);
  rs_text_clear(&other);
  return same;
}

static bool same_method(const rs_variant *a, const rs_variant *b) {
  bool same = a->method == b->method;
  for (size_t p = 0; same && p < a->settings.count; p++)
    same = same_value(a->settings.params[p], &a->settings.values[p], &b->settings.values[p]);
  return same;
}

/* The recipe that rule `rule` makes, which an earlier rule may have made, too: its index among the checkpoint's. */
static size_t rule_recipe(const entry *e, const rs_layer_rule *rules, size_t rule, const rs_model *geometry,
                          size_t *made, rs_checkpoint *checkpoint) {
  const rs_node *layers = rs_node_get(e->node, "layers");
  rs_path path = rs_path_key(&e->path, "layers"), place = rs_path_index(&path, rule);
  for (size_t r = 0; r < rule_count(e) && made[rule] == 0; r++)
    if (made[r] > 0 && same_method(rules[r].method, rules[rule].method)) made[rule] = made[r];
  if (made[rule] == 0 && make_recipe(e, &layers->items[rule], &place, rules[rule].method, geometry,
                                     checkpoint->trained_tokens, &checkpoint->recipes[checkpoint->recipe_count]))
    made[rule] = checkpoint->recipe_count++;
  return made[rule];
}

/* Blocks name recipes in the order in which they have them, each once. */
static void number_recipes(const entry *e, const rs_layer_rule *rules, const rs_model *geometry,
                           rs_checkpoint *checkpoint) {
  rs_stack *stacks[] = {&checkpoint->shape.decoder, &checkpoint->shape.encoder};
  size_t *made = rs_alloc(rule_count(e), sizeof *made, NULL), plain = 0;
  if (made == NULL) rs_problem_memory(e->config->problems);
  for (size_t s = 0; s < RS_COUNT(stacks) && made != NULL; s++)
    for (size_t b = 0; b < stacks[s]->count && !failed(e); b++) {
      size_t *recipe = &stacks[s]->blocks[b].recipe;
      plain += *recipe == 0;
      if (*recipe > 0) *recipe = rule_recipe(e, rules, *recipe - 1, geometry, made, checkpoint);
    }
  free(made);
  const rs_node *layers = rs_node_get(e->node, "layers");
  rs_path path = rs_path_key(&e->path, "layers");
  if (plain == 0 && !failed(e))
    rs_problem(e->config->problems, layers, &path,
               "gives every block a method of its own: the checkpoint's has none left (leave it a block)");
}

static void make_recipes(const entry *e, const rs_layer_rule *rules, const rs_model *geometry,
                         rs_checkpoint *checkpoint) {
  checkpoint->recipes = rs_alloc(1 + rule_count(e), sizeof *checkpoint->recipes, NULL);
  if (checkpoint->recipes == NULL) {
    rs_problem_memory(e->config->problems);
    return;
  }
  if (!make_recipe(e, e->node, &e->path, method_at(e, e->node), geometry, checkpoint->trained_tokens,
                   &checkpoint->recipes[0]))
    return;
  checkpoint->recipe_count = 1;
  number_recipes(e, rules, geometry, checkpoint);
}

/* The recipes of a tuned checkpoint, where tuning has a method of its own. */
static void make_tuned(const entry *e, const rs_model *geometry, rs_checkpoint *checkpoint) {
  const rs_node *tune = rs_node_get(e->node, "tune");
  const rs_variant *method = method_at(e, tune);
  rs_path path = rs_path_key(&e->path, "tune");
  rs_err why = {0};
  if (method == NULL) return;
  checkpoint->tuned_recipes = rs_alloc(checkpoint->recipe_count, sizeof *checkpoint->tuned_recipes, &why);
  if (checkpoint->tuned_recipes == NULL ||
      !make_recipe(e, tune, &path, method, geometry, checkpoint->trained_tokens, &checkpoint->tuned_recipes[0])) {
    if (why.status != RS_OK) report(e, &why);
    return;
  }
  for (size_t r = 1; r < checkpoint->recipe_count && why.status == RS_OK; r++)
    if (rs_recipe_copy(&checkpoint->tuned_recipes[r], &checkpoint->recipes[r], &why) != RS_OK) report(e, &why);
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* The tokens that a model reads of the task at the length of a training. */
static size_t tokens_at(const entry *e, const char *training, size_t length, rs_example_shape *shape) {
  const rs_task *task = &e->config->task;
  const rs_node *mapping = rs_node_get(e->node, training), *node = mapping ? rs_node_get(mapping, "length") : NULL;
  rs_path path = rs_path_key(&e->path, training);
  rs_token_layout layout = {0};
  rs_err why = {0};
  size_t tokens = length;
  *shape = (rs_example_shape){.length = length};
  if (task->kind == NULL) return length; /* which is reported already */
  if (task->kind->shape(task->state, length, shape, &why) == RS_OK) (void)rs_task_layout(shape, &layout, &tokens, &why);
  rs_token_layout_clear(&layout);
  if (why.status == RS_OK) return tokens;
  if (why.status == RS_MEMORY)
    rs_problem_memory(e->config->problems);
  else if (node != NULL) {
    found_value value = value_at(e, node, &path);
    rs_problem(e->config->problems, value.node, &value.path, "%s", why.message);
  } else {
    rs_problem(e->config->problems, e->node, &e->path, "%s.length = %zu: %s", training, length, why.message);
  }
  return length;
}

/* The shape with what the task says must be one. */
static void check_whole(const entry *e, const rs_checkpoint *checkpoint, const rs_example_shape *example) {
  rs_shape whole = checkpoint->shape;
  rs_err why = {0};
  if (e->config->task.kind == NULL) return;
  whole.vocabulary = example->vocabulary;
  whole.patch_numbers = example->patch_numbers;
  whole.classes = example->classes;
  if (rs_shape_check(&whole, &why) != RS_OK) report(e, &why);
}

/* ---- one checkpoint ---------------------------------------------------------------------------------------------- */

/* From parameters to shape, geometry and recipes. */
static void make_trained(const entry *e, rs_shape_params *params, rs_checkpoint *checkpoint, rs_model *model) {
  const rs_task_kind *task = e->config->task.kind;
  rs_form form = task != NULL ? task->form : RS_DECODER;
  rs_example_shape example, longer;
  rs_err why = {0};
  if (rs_shape_settle(params, form, &why) != RS_OK) report(e, &why);
  rs_layer_rule *rules = failed(e) ? NULL : read_rules(e, params, form);
  if (rules == NULL) return;
  rs_shape_defaults(params, &checkpoint->settings[RS_PART_SHAPE]);
  *model = rs_shape_geometry(params);
  checkpoint->trained_tokens = tokens_at(e, "train", checkpoint->training.length, &example);
  model->train_length = model->max_length = checkpoint->trained_tokens;
  if (rs_shape_build(params, form, rules, rule_count(e), &checkpoint->shape, &why) != RS_OK) report(e, &why);
  if (!failed(e)) check_whole(e, checkpoint, &example);
  if (!failed(e)) make_recipes(e, rules, model, checkpoint);
  free(rules);
  if (failed(e) || !checkpoint->tuned) return;
  model->train_length = model->max_length = tokens_at(e, "tune", checkpoint->tuning.length, &longer);
  make_tuned(e, model, checkpoint);
}

/* ---- the folder of a model that is there ------------------------------------------------------------------------- */

static bool holds(const char *folder, const char *file) {
  rs_text path = {0};
  rs_text_printf(&path, "%s/%s", folder, file);
  bool there = !path.failed && access(rs_text_string(&path), R_OK) == 0;
  rs_text_clear(&path);
  return there;
}

/* The folder by the path with which any later run finds it; NULL, and reported, where it holds no checkpoint. */
static char *find_folder(const entry *e, const rs_node *node, const rs_path *path) {
  rs_problems *problems = e->config->problems;
  const char *word = rs_read_word(problems, node, path);
  char *beside = word != NULL ? rs_beside(node, word) : NULL, *folder = beside != NULL ? realpath(beside, NULL) : NULL;
  if (word != NULL && (beside == NULL || (folder == NULL && errno == ENOMEM)))
    rs_problem_memory(problems);
  else if (word != NULL && folder == NULL)
    rs_problem(problems, node, path, "cannot be found: %s", strerror(errno));
  else if (folder != NULL && !holds(folder, "config.json"))
    rs_problem(problems, node, path, "is no folder of a checkpoint: it has no config.json");
  else if (folder != NULL && !holds(folder, "model.safetensors") && !holds(folder, "model.safetensors.index.json"))
    rs_problem(problems, node, path, "is no folder of a checkpoint: it has no model.safetensors");
  free(beside);
  if (!failed(e)) return folder;
  free(folder);
  return NULL;
}

static void refuse_shape(const entry *e) {
  static const char *const known[] = {"name", "folder", "tune", "precision", "seed", "zip"};
  for (size_t i = 0; i < e->node->count; i++) {
    const rs_node *child = &e->node->items[i];
    rs_path path = rs_path_key(&e->path, child->key);
    bool kept = false;
    for (size_t k = 0; k < RS_COUNT(known); k++) kept |= strcmp(child->key, known[k]) == 0;
    if (!kept)
      rs_problem(e->config->problems, child, &path, "stands beside a folder, whose config.json says what the model is");
  }
}

/* The geometry that the folder publishes, and its recipe. */
static void make_found(const entry *e, rs_checkpoint *checkpoint, rs_model *model) {
  const rs_node *node = rs_node_get(e->node, "folder");
  const rs_path path = rs_path_key(&e->path, "folder");
  rs_text file = {0};
  rs_err why = {0};
  checkpoint->folder = find_folder(e, node, &path);
  if (checkpoint->folder == NULL) return;
  rs_text_printf(&file, "%s/config.json", checkpoint->folder);
  if (file.failed || rs_hf_model_load(rs_text_string(&file), model, &why) == RS_MEMORY)
    rs_problem_memory(e->config->problems);
  else if (why.status != RS_OK)
    rs_problem_lines(e->config->problems, node, &path, why.message);
  rs_text_clear(&file);
  if (failed(e)) return;
  const rs_variant published = {.method = model->published.method, .settings = model->published.settings};
  checkpoint->trained_tokens = model->train_length;
  checkpoint->recipes = rs_alloc(1, sizeof *checkpoint->recipes, NULL);
  if (checkpoint->recipes == NULL)
    rs_problem_memory(e->config->problems);
  else if (make_recipe(e, e->node, &e->path, published.method != NULL ? &published : NULL, model, model->train_length,
                       &checkpoint->recipes[0]))
    checkpoint->recipe_count = 1;
  if (failed(e) || !checkpoint->tuned) return;
  rs_example_shape longer;
  model->train_length = tokens_at(e, "tune", checkpoint->tuning.length, &longer);
  if (model->max_length < model->train_length) model->max_length = model->train_length;
  make_tuned(e, model, checkpoint);
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

/* What an axis is in the combination: the method's label, or the value as it was written. */
static const char *axis_word(const entry *e, const axis *list) {
  size_t choice = choice_at(e, list);
  if (list->methods.count > 0) return list->methods.items[choice].label;
  return list->node->items[choice].kind == RS_SCALAR ? list->node->items[choice].text : "";
}

static const char *base_label(const entry *e, const char *folder) {
  const rs_node *name = rs_node_get(e->node, "name");
  const rs_variant *method = method_at(e, e->node);
  rs_path path = rs_path_key(&e->path, "name");
  if (name != NULL) return rs_read_word(e->config->problems, name, &path);
  const char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
  if (slash != NULL) return slash + 1;
  return method != NULL ? method->label : "rope";
}

/* "rope width=128": the name, else the method, and what is swept. */
static void put_label(const entry *e, const char *folder, char *out, size_t space) {
  const char *base = base_label(e, folder);
  bool named = rs_node_get(e->node, "name") != NULL;
  rs_text label = {0};
  rs_text_puts(&label, base != NULL ? base : "");
  for (size_t a = 0; a < e->axis_count; a++) {
    const axis *list = &e->axes[a];
    if (list->count == 1 || (!named && strcmp(list->name, "method") == 0)) continue;
    rs_text_printf(&label, " %s=%s", list->name, axis_word(e, list));
  }
  if (label.failed)
    rs_problem_memory(e->config->problems);
  else if (label.length >= space || label.length == 0)
    rs_problem(e->config->problems, e->node, &e->path,
               "is called \"%s\": must be 1 to %zu letters (give it a name: ...)", rs_text_string(&label), space - 1);
  else
    memcpy(out, rs_text_string(&label), label.length + 1);
  rs_text_clear(&label);
}

/* Whether another checkpoint has the name already. */
static bool name_taken(const rs_experiment *experiment, size_t index) {
  for (size_t i = 0; i < experiment->model_count; i++)
    if (i != index && strcmp(experiment->models[i].name, experiment->models[index].name) == 0) return true;
  return false;
}

/* The name with every given parameter that it does not hold yet. */
static bool lengthen(const rs_checkpoint *checkpoint, rs_model *model) {
  static const char *const prefixes[] = {"", "train.", "tune."};
  rs_text label = {0};
  rs_text_puts(&label, model->name);
  for (size_t part = 0; part < RS_CHECKPOINT_PARTS; part++)
    for (size_t p = 0; p < checkpoint->settings[part].count; p++) {
      const rs_settings *settings = &checkpoint->settings[part];
      char word[80];
      snprintf(word, sizeof word, " %s%s=", prefixes[part], settings->params[p]->name);
      if (!settings->values[p].given || strstr(model->name, word) != NULL) continue;
      rs_text_puts(&label, word);
      rs_value_write(settings->params[p], &settings->values[p], &label);
    }
  bool fits = !label.failed && label.length < sizeof model->name;
  if (fits) memcpy(model->name, rs_text_string(&label), label.length + 1);
  rs_text_clear(&label);
  return fits;
}

static void settle_names(rs_config_context *config, const rs_node *node, const rs_path *path) {
  rs_experiment *experiment = config->experiment;
  bool *taken = rs_alloc(experiment->model_count, sizeof *taken, NULL);
  if (taken == NULL) rs_problem_memory(config->problems);
  for (size_t i = 0; i < experiment->model_count && taken != NULL; i++) taken[i] = name_taken(experiment, i);
  for (size_t i = 0; i < experiment->model_count && taken != NULL; i++)
    if (taken[i]) (void)lengthen(&experiment->checkpoints[i], &experiment->models[i]);
  free(taken);
  for (size_t i = 0; i < experiment->model_count; i++)
    if (name_taken(experiment, i)) {
      rs_problem(config->problems, node, path, "has \"%s\" twice (give one a name: ...)", experiment->models[i].name);
      return;
    }
}

/* ---- the key ----------------------------------------------------------------------------------------------------- */

/* Adds one to the experiment, which owns it from then on. */
static void add_checkpoint(const entry *e, rs_checkpoint *checkpoint, rs_model *model) {
  rs_experiment *experiment = e->config->experiment;
  void *models = experiment->models, *checkpoints = experiment->checkpoints;
  size_t count = experiment->model_count + 1;
  bool grown = rs_grow(&models, &e->room->models, count, sizeof *model, NULL) == RS_OK;
  grown &= rs_grow(&checkpoints, &e->room->checkpoints, count, sizeof *checkpoint, NULL) == RS_OK;
  experiment->models = models;
  experiment->checkpoints = checkpoints;
  if (!grown) {
    rs_problem_memory(e->config->problems);
    return;
  }
  experiment->models[count - 1] = *model;
  experiment->checkpoints[count - 1] = *checkpoint;
  experiment->model_count = count;
  *model = (rs_model){0};
  *checkpoint = (rs_checkpoint){0};
}

static void read_combination(const entry *e) {
  bool found = rs_node_get(e->node, "folder") != NULL;
  rs_checkpoint checkpoint = {0};
  rs_model model = {0};
  rs_shape_params params;
  read_shape(e, &checkpoint, &params);
  read_training(e, &checkpoint);
  if (!failed(e) && found)
    make_found(e, &checkpoint, &model);
  else if (!failed(e))
    make_trained(e, &params, &checkpoint, &model);
  if (!failed(e)) put_label(e, checkpoint.folder, model.name, sizeof model.name);
  if (!failed(e)) add_checkpoint(e, &checkpoint, &model);
  rs_checkpoint_clear(&checkpoint);
  rs_model_clear(&model);
}

/* Parameters with several values get key columns: "checkpoint.train.steps"; those of layers are told by the name. */
static void add_swept(const entry *e) {
  for (size_t a = 0; a < e->axis_count; a++) {
    char name[AXIS_NAME + 16];
    snprintf(name, sizeof name, RS_CHECKPOINT_PATH "%s", e->axes[a].name);
    if (e->axes[a].count < 2 || strncmp(e->axes[a].name, "layers", 6) == 0) continue;
    if (rs_experiment_add_swept(e->config->experiment, name, NULL) != RS_OK) rs_problem_memory(e->config->problems);
  }
}

static void read_entry(rs_config_context *config, const rs_node *node, const rs_path *path, list_room *room) {
  entry e = {.config = config, .node = node, .path = *path, .problems_before = config->problems->count, .room = room};
  if (!rs_expect(config->problems, node, path, RS_MAPPING, "a mapping, like {method: rope, width: 64}")) return;
  if (rs_node_get(node, "folder") != NULL) refuse_shape(&e);
  find_axes(&e);
  read_zip(&e);
  size_t count = failed(&e) ? 0 : combinations(&e);
  if (count > MOST_CHECKPOINTS)
    rs_problem(config->problems, node, path, "makes more than %d combinations", MOST_CHECKPOINTS);
  for (e.index = 0; e.index < count && !failed(&e); e.index++) read_combination(&e);
  if (!failed(&e)) add_swept(&e);
  clear_axes(&e);
}

void rs_config_checkpoints(rs_config_context *config, const rs_node *node) {
  const rs_path path = rs_path_key(NULL, "checkpoint");
  size_t before = config->problems->count;
  list_room room = {0};
  if (node == NULL) return;
  if (node->kind == RS_SEQUENCE && node->count == 0) rs_problem(config->problems, node, &path, "is an empty list");
  for (size_t i = 0; i < (node->kind == RS_SEQUENCE ? node->count : 1); i++) {
    rs_path place = node->kind == RS_SEQUENCE ? rs_path_index(&path, i) : path;
    read_entry(config, node->kind == RS_SEQUENCE ? &node->items[i] : node, &place, &room);
  }
  if (config->problems->count == before) settle_names(config, node, &path);
}
