/* Trained models: config.json of their folders, out and in, and what it takes to build them again. */
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

/* A recipe as text that reads back to the same values for this model. RS_UNSUPPORTED where no words do. */
static rs_status spell_recipe(const rs_recipe *recipe, const rs_model *model, rs_text *words, rs_err *err) {
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

/* A task with its parameters: the `whole`, or what determines what is trained, to which it does not matter where a file
 * is, nor how a model will be read (those parameters stand at their defaults). */
static void write_task(rs_json *json, const char *key, const rs_variant *task, bool whole) {
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

static void read_task(rs_problems *problems, const rs_node *node, rs_variant *task) {
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

enum { SCHEMA = 2 }; /* raised when the same words mean other weights */

/* ---- out --------------------------------------------------------------------------------------------------------- */

static rs_status write_recipes(rs_json *json, const rs_trained *trained, rs_err *err) {
  rs_json_array(json, "recipes");
  for (size_t i = 0; i < trained->recipe_count; i++) {
    rs_text words = {0};
    rs_status status = spell_recipe(&trained->recipes[i], &trained->geometry, &words, err);
    if (status == RS_OK) rs_json_string(json, NULL, rs_text_string(&words));
    rs_text_clear(&words);
    RS_TRY(status);
  }
  rs_json_end(json);
  return RS_OK;
}

static void write_seed(rs_json *json, uint64_t seed) {
  char digits[24]; /* as text: a double cannot hold every seed */
  snprintf(digits, sizeof digits, "%llu", (unsigned long long)seed);
  rs_json_string(json, "seed", digits);
}

static void write_kind(rs_json *json, const char *stage, const rs_kind *kind) {
  char words[128];
  snprintf(words, sizeof words, "%s %s %d", stage, kind->name, rs_kind_version(kind));
  rs_json_string(json, NULL, words);
}

/* Versions of what takes part: a kind that computes something else by the same name makes other weights. */
static void write_kinds(rs_json *json, const rs_trained *trained) {
  rs_json_array(json, "kinds");
  write_kind(json, "task", &trained->task.task->kind);
  for (size_t i = 0; i < trained->recipe_count; i++) {
    const rs_method *method = trained->recipes[i].method;
    const rs_lscale_kind *lscale = rs_lscale_chosen(&trained->recipes[i].settings);
    write_kind(json, "pos", &method->pos->kind);
    if (method->freq != NULL) write_kind(json, "freq", &method->freq->kind);
    if (method->embed != NULL) write_kind(json, "embed", &method->embed->kind);
    if (method->bias != NULL) write_kind(json, "bias", &method->bias->kind);
    if (method->vectors != NULL) write_kind(json, "vectors", &method->vectors->kind);
    if (lscale != NULL) write_kind(json, "logit_scale", &lscale->kind);
  }
  rs_json_end(json);
}

/* What determines the weights. */
static rs_status write_cause(rs_json *json, const rs_trained *trained, bool paths, rs_err *err) {
  rs_json_number(json, "version", SCHEMA);
  rs_json_string(json, "format", rs_format_words[trained->format]);
  write_seed(json, trained->seed);
  rs_json_string(json, "tuned_from", *trained->origin != '\0' ? trained->origin : NULL);
  if (*trained->teacher != '\0') rs_json_string(json, "teacher", trained->teacher);
  rs_json_number(json, "drawn_before", (double)trained->drawn);
  write_task(json, "task", &trained->task, paths);
  rs_training_write(json, "training", &trained->training);
  RS_TRY(write_recipes(json, trained, err));
  rs_geometry_write(json, "geometry", &trained->geometry);
  rs_layout_write(json, "tokens", &trained->tokens);
  rs_shape_write(json, "shape", &trained->shape);
  write_kinds(json, trained);
  return RS_OK;
}

rs_status rs_trained_fingerprint(const rs_trained *trained, char hash[65], rs_err *err) {
  rs_text text = {0};
  rs_json json = {.text = &text};
  rs_json_object(&json, NULL);
  rs_status status = write_cause(&json, trained, false, err);
  if (status == RS_OK) {
    rs_json_end(&json);
    status = rs_text_check(&text, err);
  }
  rs_sha256_hex(rs_text_string(&text), text.length, hash);
  rs_text_clear(&text);
  return status;
}

static rs_status write_result(rs_json *json, const rs_trained *trained, rs_err *err) {
  rs_json_object(json, "ropescope");
  rs_json_string(json, "name", trained->geometry.name);
  RS_TRY(write_cause(json, trained, true, err));
  rs_json_number(json, "steps_done", (double)trained->steps);
  rs_json_string(json, "weights_sha256", *trained->weights != '\0' ? trained->weights : NULL);
  rs_json_string(json, "arithmetic", trained->arithmetic);
  rs_json_end(json);
  return RS_OK;
}

rs_status rs_trained_write(const rs_trained *trained, rs_text *text, rs_err *err) {
  rs_json json = {.text = text};
  bool llama;
  rs_json_object(&json, NULL);
  RS_TRY(rs_trained_write_llama(trained, &json, &llama, err));
  if (!llama) {
    rs_json_list(&json, "architectures");
    rs_json_string(&json, NULL, "RopescopeModel");
    rs_json_end(&json);
    rs_json_string(&json, "model_type", "ropescope");
  }
  RS_TRY(write_result(&json, trained, err));
  rs_json_end(&json);
  return rs_text_check(text, err);
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

static bool is_hash(const char *text) {
  return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

static void read_hash(rs_problems *problems, const rs_node *parent, const char *key, char hash[65]) {
  const rs_node *node = rs_member(problems, parent, key);
  if (node == NULL || rs_node_is_null(node)) return;
  if (node->kind == RS_SCALAR && is_hash(node->text))
    memcpy(hash, node->text, 65);
  else
    rs_problem(problems, node, "must be a SHA-256 (64 digits of 0-9a-f) or null");
}

static void read_seed(rs_problems *problems, const rs_node *parent, uint64_t *seed) {
  char digits[24];
  const rs_node *node = rs_member_of(problems, parent, "seed", RS_SCALAR, "one number in quotes");
  if (node == NULL) return;
  *seed = strtoull(node->text, NULL, 10);
  snprintf(digits, sizeof digits, "%llu", (unsigned long long)*seed);
  if (strcmp(digits, node->text) != 0) rs_problem(problems, node, "must be a whole number below 2^64, in quotes");
}

static void read_recipe(rs_problems *problems, const rs_node *node, rs_trained *trained) {
  rs_tree *tree = NULL;
  rs_err why = {0};
  rs_recipe *recipe = &trained->recipes[trained->recipe_count];
  const char *words = rs_read_word(problems, node);
  size_t before = problems->count;
  if (words == NULL) return;
  if (rs_yaml_read(words, strlen(words), node->file, &tree, &why) == RS_OK) {
    tree->root.parent = node;
    if (rs_read_recipe(problems, &tree->root, recipe)) {
      trained->recipe_count++;
      if (rs_recipe_resolve(recipe, &trained->geometry, &why) == RS_OK)
        (void)rs_recipe_check(recipe, &trained->geometry, &why);
    }
  }
  if (why.status != RS_OK && problems->count == before) rs_problem_err(problems, node, &why);
  rs_tree_free(tree);
}

static void read_recipes(rs_problems *problems, const rs_node *parent, rs_trained *trained) {
  const rs_node *node = rs_member_of(problems, parent, "recipes", RS_SEQUENCE, "a list of recipes");
  if (node == NULL) return;
  if (node->count == 0) rs_problem(problems, node, "is an empty list");
  trained->recipes = rs_alloc(node->count, sizeof *trained->recipes, NULL);
  if (trained->recipes == NULL) rs_problem_memory(problems);
  for (size_t i = 0; i < node->count && trained->recipes != NULL; i++) {
    read_recipe(problems, &node->items[i], trained);
  }
}

static void read_name(rs_problems *problems, const rs_node *parent, rs_model *model) {
  const rs_node *node = rs_member_of(problems, parent, "name", RS_SCALAR, "one word");
  if (node == NULL) return;
  if (strlen(node->text) < sizeof model->name)
    memcpy(model->name, node->text, strlen(node->text) + 1);
  else
    rs_problem(problems, node, "is longer than %zu bytes", sizeof model->name - 1);
}

static void read_arithmetic(rs_problems *problems, const rs_node *parent, rs_trained *trained) {
  const rs_node *node = rs_member_of(problems, parent, "arithmetic", RS_SCALAR, "text or null");
  if (node == NULL || rs_node_is_null(node)) return;
  trained->arithmetic = rs_strdup(node->text, NULL);
  if (trained->arithmetic == NULL) rs_problem_memory(problems);
}

static const char *const formats[] = {[RS_F64] = "f64", [RS_F32] = "f32", NULL};
static const rs_param fields[] = {
    {RS_FIELD(rs_trained, format), RS_WORDS(formats)},
    {RS_FIELD_AS(rs_trained, steps, "steps_done"), .max = 1e9},
    {RS_FIELD_AS(rs_trained, drawn, "drawn_before"), .max = 0x1p53},
};
static const char *const others[] = {"name",     "version",        "seed",       "tuned_from", "task",
                                     "training", "recipes",        "geometry",   "tokens",     "shape",
                                     "kinds",    "weights_sha256", "arithmetic", "teacher",    NULL};
static const rs_record record = {.what = "a trained model", RS_RECORD_FIELDS(fields), .others = others};

static void read_words(rs_problems *problems, const rs_node *node, rs_trained *trained) {
  const rs_node *version = rs_member(problems, node, "version");
  if (version != NULL) (void)rs_read_count(problems, version, SCHEMA, SCHEMA, SCHEMA);
  read_name(problems, node, &trained->geometry);
  read_seed(problems, node, &trained->seed);
  read_hash(problems, node, "tuned_from", trained->origin);
  if (rs_node_get(node, "teacher") != NULL) read_hash(problems, node, "teacher", trained->teacher);
  read_hash(problems, node, "weights_sha256", trained->weights);
  read_arithmetic(problems, node, trained);
}

/* Recipes come after the geometry that they are resolved for. */
static void read_parts(rs_problems *problems, const rs_node *node, rs_trained *trained) {
  const rs_node *part = rs_member(problems, node, "task");
  if (part != NULL) read_task(problems, part, &trained->task);
  part = rs_member(problems, node, "training");
  if (part != NULL) rs_training_read(problems, part, &trained->training);
  part = rs_member(problems, node, "tokens");
  if (part != NULL) rs_layout_read(problems, part, &trained->tokens);
  part = rs_member(problems, node, "shape");
  if (part != NULL) rs_shape_read(problems, part, &trained->shape);
  size_t before = problems->count;
  part = rs_member(problems, node, "geometry");
  if (part != NULL) rs_geometry_read(problems, part, &trained->geometry);
  if (problems->count == before) read_recipes(problems, node, trained);
}

static void read_all(rs_problems *problems, const rs_node *root, rs_trained *trained) {
  const rs_node *node = rs_node_get(root, "ropescope");
  if (node == NULL) {
    rs_problem(problems, root, "has no object \"ropescope\": no model that this program has trained");
    return;
  }
  if (!rs_expect(problems, node, RS_MAPPING, "an object")) return;
  rs_record_read(problems, node, &record, NULL, trained);
  read_words(problems, node, trained);
  read_parts(problems, node, trained);
}

rs_status rs_trained_marked(const char *folder, bool *marked, rs_err *err) {
  rs_tree *tree;
  rs_err why = {0};
  rs_status status = rs_json_load(folder, RS_TRAINED_CONFIG, RS_LARGEST_FILE, &tree, &why);
  *marked = status == RS_OK && rs_node_get(&tree->root, "ropescope") != NULL;
  rs_tree_free(tree);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
}

rs_status rs_trained_read(const char *folder, rs_trained *trained, rs_err *err) {
  rs_tree *tree;
  rs_problems problems = {0};
  *trained = (rs_trained){0};
  RS_TRY(rs_json_load(folder, RS_TRAINED_CONFIG, RS_LARGEST_FILE, &tree, err));
  read_all(&problems, &tree->root, trained);
  rs_status status = rs_problems_end(&problems, tree->file, err);
  rs_tree_free(tree);
  if (status != RS_OK) rs_trained_clear(trained);
  return status;
}

void rs_trained_clear(rs_trained *trained) {
  for (size_t i = 0; i < trained->recipe_count; i++) rs_recipe_clear(&trained->recipes[i]);
  free(trained->recipes);
  rs_shape_clear(&trained->shape);
  rs_token_layout_clear(&trained->tokens);
  rs_model_clear(&trained->geometry);
  rs_settings_clear(&trained->task.settings);
  free(trained->arithmetic);
  *trained = (rs_trained){0};
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

static rs_status create(const rs_trained *trained, const rs_safetensors *stored, bool blank,
                        rs_transformer **transformer, rs_err *err) {
  const rs_transformer_in in = {.shape = &trained->shape,
                                .geometry = &trained->geometry,
                                .recipes = trained->recipes,
                                .recipe_count = trained->recipe_count,
                                .tokens = &trained->tokens,
                                .format = trained->format,
                                .seed = trained->seed,
                                .stored = stored,
                                .blank = blank};
  return rs_transformer_create(&in, transformer, err);
}

rs_status rs_trained_create(const rs_trained *trained, bool blank, rs_transformer **transformer, rs_err *err) {
  return create(trained, NULL, blank, transformer, err);
}

/* What is wrong with a shape is wrong with the config that gives it, what a file has not with the file. */
static rs_status create_named(const rs_trained *trained, const char *folder, const rs_safetensors *stored,
                              rs_transformer **transformer, rs_err *err) {
  rs_err why = {0};
  rs_status status = create(trained, stored, true, transformer, &why);
  if (status == RS_OK) return RS_OK;
  if (strncmp(why.message, stored->path, strlen(stored->path)) == 0) return rs_fail(err, status, "%s", why.message);
  return rs_fail(err, status, "%s/" RS_TRAINED_CONFIG ": %s", folder, why.message);
}

rs_status rs_trained_load(const rs_trained *trained, const char *folder, rs_transformer **transformer, rs_err *err) {
  rs_safetensors *stored = NULL;
  *transformer = NULL;
  char *path = rs_path_join(folder, RS_TRAINED_WEIGHTS, err);
  if (path == NULL) return RS_MEMORY;
  rs_status status = rs_safetensors_map(path, &stored, err);
  if (status == RS_OK) status = create_named(trained, folder, stored, transformer, err);
  if (status == RS_OK) status = rs_weights_read(*transformer, path, err);
  rs_safetensors_free(stored);
  free(path);
  if (status != RS_OK) {
    rs_transformer_free(*transformer);
    *transformer = NULL;
  }
  return status;
}
