/* The top level of a config: which keys there are, and who reads each. */
#include "config_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- entries ----------------------------------------------------------------------------------------------------- */

/* A list of names (ends with NULL) in place of a key that the config leaves out. */
static void read_default(rs_config_context *config, const rs_item_type *type, const char *const *names,
                         rs_variants *variants) {
  enum { MOST = 3 };
  rs_node items[MOST], root = {.kind = RS_SEQUENCE, .file = "default", .key = (char *)type->key, .items = items};
  for (; root.count < MOST && names[root.count] != NULL; root.count++)
    items[root.count] =
        (rs_node){.kind = RS_SCALAR, .text = (char *)names[root.count], .file = root.file, .parent = &root};
  rs_read_items(config, type, &root, variants);
}

void rs_config_methods(rs_config_context *config, const rs_node *node) {
  static const char *const own[] = {RS_TRAINED, NULL}, *const rope[] = {"rope", NULL};
  rs_variants *methods = &config->experiment->methods;
  if (node != NULL)
    rs_read_items(config, &rs_method_items, node, methods);
  else
    read_default(config, &rs_method_items, rs_reads_checkpoint(config) ? own : rope, methods);
}

static void config_sources(rs_config_context *config, const rs_node *node) {
  static const char *const gaussian[] = {"gaussian", NULL};
  rs_variants *sources = &config->experiment->sources;
  if (node != NULL)
    rs_read_items(config, &rs_source_items, node, sources);
  else if (!rs_reads_checkpoint(config))
    read_default(config, &rs_source_items, gaussian, sources);
}

static void config_metrics(rs_config_context *config, const rs_node *node) {
  static const char *const simulated[] = {"decay", "ood_angles", "entropy", NULL},
                           *const read[] = {"loss", "accuracy", NULL},
                           *const observed[] = {"loss", "accuracy", "entropy", NULL};
  rs_variants *metrics = &config->experiment->metrics;
  if (node != NULL)
    rs_read_items(config, &rs_metric_items, node, metrics);
  else
    read_default(config, &rs_metric_items,
                 !rs_reads_checkpoint(config) ? simulated
                 : rs_reads_sources(config)   ? observed
                                              : read,
                 metrics);
  rs_add_difference(config);
  if (node != NULL) rs_refuse_metrics(config, node);
  rs_refuse_pictureless(config);
}

/* The config's one task, with its state, which checkpoints are checked against. */
static void take_task(rs_config_context *config, const rs_node *node, rs_variants *tasks) {
  rs_experiment *experiment = config->experiment;
  const rs_task_in in = {.params = tasks->items[0].params};
  rs_err why = {0};
  experiment->task = tasks->items[0];
  tasks->count = 0;
  if (rs_task_prepare(experiment->task.task, &in, &config->task, &why) == RS_OK) return;
  const rs_node *at = rs_node_get(node, why.subject);
  rs_problem_err(config->problems, at != NULL && at->kind == RS_SCALAR ? at : node, &why);
}

/* Each takes the node of its key, NULL where the config has none. */
static void config_task(rs_config_context *config, const rs_node *node) {
  rs_variants tasks = {0};
  size_t before = config->problems->count;
  if (node == NULL && rs_reads_checkpoint(config) && rs_mistyped(config->root, "task") == NULL)
    rs_problem(config->problems, config->root, "the config has a checkpoint, but no task (add task: dictionary)");
  if (node == NULL) return;
  if (!rs_reads_checkpoint(config)) {
    if (rs_mistyped(config->root, "checkpoint") != NULL) return; /* told as an unknown key */
    rs_problem(config->problems, node, "is what checkpoints read: there is none (add checkpoint: {method: rope})");
    return;
  }
  rs_read_items(config, &rs_task_items, node, &tasks);
  if (config->problems->count == before && tasks.count == 1)
    take_task(config, node, &tasks);
  else if (config->problems->count == before)
    rs_problem(config->problems, node, "must be one task, without lists of values (several are several configs)");
  rs_variants_clear(&tasks);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

enum { LARGEST_CONFIG = 32 << 20 }; /* room for lists written out: ViT-L's table of 577 x 1024 numbers of 24 digits */

static void config_name(rs_config_context *config, const rs_node *node) {
  const char *name = node != NULL ? rs_read_word(config->problems, node) : "unnamed";
  if (name == NULL) return;
  for (const char *c = name; *c != '\0'; c++) {
    if (isalnum((unsigned char)*c) || strchr("._-", *c) != NULL) continue;
    rs_problem(config->problems, node, "may hold letters, digits, '.', '_' and '-' only: it names the results folder");
    return;
  }
  if (*name == '.' || *name == '\0' || strlen(name) > 100) {
    rs_problem(config->problems, node, "must be 1 to 100 letters that do not start with '.'");
    return;
  }
  config->experiment->name = rs_strdup(name, NULL);
  if (config->experiment->name == NULL) rs_problem_memory(config->problems);
}

static void config_description(rs_config_context *config, const rs_node *node) {
  const char *text = node != NULL ? rs_read_word(config->problems, node) : "";
  config->experiment->description = rs_strdup(text != NULL ? text : "", NULL);
  if (config->experiment->description == NULL) rs_problem_memory(config->problems);
}

static void config_bins(rs_config_context *config, const rs_node *node) {
  config->experiment->bins_per_octave = rs_read_count(config->problems, node, 1, 64, 4);
}

/* Axes that may be zipped, by their key; checkpoints stand in the place of models. */
static const char *const axis_names[RS_AXIS_COUNT] = {"model", "methods", "lengths", "sources", "seeds"};

static const char *axis_name(const rs_config_context *config, size_t axis) {
  return axis == RS_BY_MODEL && rs_reads_checkpoint(config) ? "checkpoint" : axis_names[axis];
}

static bool has_axis(const rs_config_context *config, size_t axis) {
  return axis != RS_BY_SOURCE || !rs_reads_checkpoint(config) || rs_reads_sources(config);
}

static size_t axis_size(const rs_experiment *experiment, size_t axis) {
  const size_t sizes[RS_AXIS_COUNT] = {experiment->model_count, experiment->methods.count, experiment->length_count,
                                       experiment->sources.count, experiment->seed_count};
  return sizes[axis];
}

static void zip_axis(rs_config_context *config, const rs_node *node) {
  const char *word = rs_read_word(config->problems, node);
  for (size_t a = 0; a < RS_AXIS_COUNT && word != NULL; a++)
    if (has_axis(config, a) && strcmp(word, axis_name(config, a)) == 0) {
      config->experiment->zipped[a] = true;
      return;
    }
  if (word != NULL)
    rs_problem(config->problems, node, "must be one of %s, methods, lengths, %sseeds", axis_name(config, RS_BY_MODEL),
               has_axis(config, RS_BY_SOURCE) ? "sources, " : "");
}

static void config_zip(rs_config_context *config, const rs_node *node) {
  size_t common = 0;
  if (node == NULL || !rs_expect(config->problems, node, RS_SEQUENCE, "a list of axes, like [model, lengths]")) return;
  for (size_t i = 0; i < node->count; i++) {
    zip_axis(config, &node->items[i]);
  }
  for (size_t a = 0; a < RS_AXIS_COUNT && config->problems->count == 0; a++) {
    size_t size = axis_size(config->experiment, a);
    if (!config->experiment->zipped[a]) continue;
    if (common > 0 && size != common)
      rs_problem(config->problems, node, "%s has %zu entries where another axis has %zu; zipped axes advance together",
                 axis_name(config, a), size, common);
    common = size;
  }
}

/* Parameters that get a key column although they are not swept. */
static void config_columns(rs_config_context *config, const rs_node *node) {
  if (node == NULL || !rs_expect(config->problems, node, RS_SEQUENCE, "a list of parameters, like [depth]")) return;
  for (size_t i = 0; i < node->count; i++) {
    const char *word = rs_read_word(config->problems, &node->items[i]);
    const rs_param *param = word != NULL ? rs_experiment_param(config->experiment, word) : NULL;
    if (param == NULL && word != NULL)
      rs_problem(config->problems, &node->items[i], "is no parameter of the methods or sources above");
    if (param != NULL && rs_experiment_add_swept(config->experiment, word, NULL) != RS_OK)
      rs_problem_memory(config->problems);
  }
}

/* What simulated heads have and checkpoints have not, and what stands in its place; `rows`: it is of observed rows, and
 * belongs where sources give them. */
static const struct {
  const char *key, *instead;
  bool rows;
} simulated[] = {
    {"heads",
     "a checkpoint is read with all its heads (checkpoint: {heads: N} says how many it has, sources: [{name: "
     "model, head: N}] which one is observed)",
     false},
    {"queries",
     "a checkpoint reads whole sequences: each token is a query (observed rows have queries: add sources: "
     "[{name: model, layer: 0}])",
     true},
    {"mask", "what a checkpoint's heads see is its own (checkpoint: {window: W, sinks: S}, or layers, limit it)",
     false},
    {"tokens", "which tokens of a checkpoint are images is said by its task (take it away)", false},
    {"precision", "a checkpoint computes in floats of its own (checkpoint: {precision: f64})", false},
    {"engine", "is of observed rows, of which there are none (add sources: [{name: model, layer: 0}])", true},
};

static void refuse_simulated(rs_config_context *config) {
  for (size_t i = 0; i < RS_COUNT(simulated) && rs_reads_checkpoint(config); i++) {
    const rs_node *node = rs_node_get(config->root, simulated[i].key);
    if (node != NULL && !(simulated[i].rows && rs_reads_sources(config)))
      rs_problem(config->problems, node, "%s", simulated[i].instead);
  }
}

static void config_sequences(rs_config_context *config, const rs_node *node) {
  const rs_task_kind *task = config->task.kind;
  size_t before = config->problems->count;
  if (node != NULL && !rs_reads_checkpoint(config))
    rs_problem(config->problems, node, "are of a checkpoint's task: there is none (add checkpoint: {method: rope})");
  else if (rs_reads_checkpoint(config))
    config->experiment->sequences = rs_read_count(config->problems, node, 1, 1 << 20, 64);
  if (config->problems->count == before && task != NULL && task->twins && config->experiment->sequences % 2 != 0)
    rs_problem(config->problems, node, "must be even: %s's sequences are twins (%zu)", task->kind.name,
               config->experiment->sequences + 1);
}

static void skip(rs_config_context *config, const rs_node *node) {
  (void)config;
  (void)node;
}

/* In the order of reading: tasks before checkpoints, and these, models and tokens before methods, which are checked
 * against them; everything before zip. */
static const struct {
  const char *key;
  void (*read)(rs_config_context *config, const rs_node *node);
} readers[] = {
    {"name", config_name},
    {"description", config_description},
    {"task", config_task},
    {"checkpoint", rs_config_checkpoints},
    {"model", rs_config_models},
    {"lengths", rs_config_lengths},
    {"tokens", rs_config_tokens},
    {"methods", rs_config_methods},
    {"sources", config_sources},
    {"sequences", config_sequences},
    {"target_tokens", skip}, /* a part of targets */
    {"targets", rs_config_targets},
    {"baselines", rs_config_baselines},
    {"metrics", config_metrics},
    {"seeds", rs_config_seeds},
    {"heads", rs_config_heads},
    {"queries", rs_config_queries},
    {"mask", rs_config_mask},
    {"precision", rs_config_precision},
    {"engine", rs_config_engine},
    {"bins_per_octave", config_bins},
    {"zip", config_zip},
    {"columns", config_columns},
};

static void read_config(rs_config_context *config, const rs_node *root) {
  const char *known[RS_COUNT(readers)];
  for (size_t i = 0; i < RS_COUNT(readers); i++) known[i] = readers[i].key;
  if (root->kind != RS_MAPPING) {
    rs_problem(config->problems, root, "a config is a mapping of keys (see configs/quickstart.yaml)");
    return;
  }
  rs_check_keys(config->problems, root, "a config", known, RS_COUNT(known));
  for (size_t i = 0; i < RS_COUNT(readers); i++) readers[i].read(config, rs_node_get(root, readers[i].key));
  refuse_simulated(config);
  rs_refuse_unfit(config);
}

static rs_status check_tree(const rs_tree *tree, const rs_method_list *beside, rs_experiment **experiment,
                            rs_problems *problems, rs_err *err) {
  rs_config_context config = {.experiment = rs_alloc(1, sizeof(rs_experiment), err),
                              .problems = problems,
                              .root = &tree->root,
                              .check_source = rs_model_source_check};
  if (config.experiment == NULL) return RS_MEMORY;
  config.experiment->beside = beside;
  read_config(&config, &tree->root);
  rs_task_clear(&config.task);
  rs_status status = rs_text_check(&problems->text, err);
  if (status == RS_OK && problems->memory) status = rs_fail(err, RS_MEMORY, "%s: out of memory", tree->file);
  if (status == RS_OK && problems->count > RS_PROBLEMS_SHOWN)
    rs_text_printf(&problems->text, "\n... and %zu more", problems->count - RS_PROBLEMS_SHOWN);
  if (status == RS_OK && problems->count > 0)
    status = rs_fail(err, RS_INPUT, "%s: %zu problem%s", tree->file, problems->count, problems->count > 1 ? "s" : "");
  if (status == RS_OK)
    *experiment = config.experiment;
  else
    rs_experiment_free(config.experiment);
  return status;
}

static rs_status read_text(const char *text, size_t length, const char *name, rs_config_edits edits,
                           rs_experiment **experiment, rs_problems *problems, rs_err *err) {
  rs_tree *tree = NULL;
  *experiment = NULL;
  rs_status status = rs_yaml_read(text, length, name, &tree, err);
  if (status == RS_OK && edits.methods != NULL) status = rs_tree_methods(&tree->root, edits.methods, err);
  for (size_t i = 0; i < edits.count && status == RS_OK; i++) status = rs_tree_edit(&tree->root, edits.edits[i], err);
  if (status == RS_OK && edits.lengths != NULL) status = rs_tree_lengths(&tree->root, edits.lengths, err);
  if (status == RS_OK) rs_node_adopt(&tree->root);
  if (status == RS_OK) status = check_tree(tree, edits.beside, experiment, problems, err);
  rs_tree_free(tree);
  return status;
}

rs_status rs_config_read(const char *text, const char *name, rs_config_edits edits, rs_experiment **experiment,
                         rs_problems *problems, rs_err *err) {
  return read_text(text, strlen(text), name, edits, experiment, problems, err);
}

rs_status rs_config_load(const char *file, rs_config_edits edits, rs_experiment **experiment, rs_problems *problems,
                         rs_err *err) {
  char *text;
  size_t length;
  if (file == NULL) return rs_config_read(rs_demo_config(), "built-in demo", edits, experiment, problems, err);
  *experiment = NULL;
  RS_TRY(rs_file_read(file, LARGEST_CONFIG, &text, &length, err));
  rs_status status = read_text(text, length, file, edits, experiment, problems, err);
  free(text);
  return status;
}
