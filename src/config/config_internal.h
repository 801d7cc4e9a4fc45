/* The parts of the config check. */
#ifndef ROPESCOPE_CONFIG_CONFIG_INTERNAL_H
#define ROPESCOPE_CONFIG_CONFIG_INTERNAL_H

#include <stddef.h>

#include "config/config.h"

/* ---- choices --------------------------------------------------------------------------------------------------- */

/* Lists in place of values: how many values each has. They form a grid, whose last list runs fastest; zipped, they
 * advance together. */

/* Zero-initialise. */
typedef struct rs_choices {
  size_t *counts; /* (count,) */
  size_t count, room;
  bool zipped;
} rs_choices;

/* False where there is no memory. */
bool rs_choices_add(rs_choices *choices, size_t values);
void rs_choices_clear(rs_choices *choices);

/* Reads the entry's `zip`, and reports lists that cannot advance together. */
void rs_choices_zip(rs_problems *problems, const rs_node *entry, rs_choices *choices);

/* How many combinations there are; a number above `most` where there are more than that. */
size_t rs_choices_combinations(const rs_choices *choices, size_t most);

/* Which of its values a list has in the combination. */
size_t rs_choices_pick(const rs_choices *choices, size_t list, size_t combination);

/* ---- model files ----------------------------------------------------------------------------------------------- */

/* Files of models, as configs and command lines name them. */

/* A file, or the config.json of a folder. Takes `word`, which may be NULL; NULL without memory. Release with free(). */
char *rs_model_file(char *word);

/* Writes the last `parts` parts of a file's path, without ".json" or ".gguf", and without "config.json", whose folder
 * is meant: "b" and "a/b" of x/a/b/config.json. Cut where `out` (size) ends. Returns how many parts were written. */
size_t rs_file_stem(const char *file, size_t parts, char *out, size_t size);

/* ---- parts of the check ---------------------------------------------------------------------------------------- */

/* The parts of the config check. Each reads one key of the config into the experiment and reports what is wrong. */

/* What the readers share. */
typedef struct rs_config_context rs_config_context;
struct rs_config_context {
  rs_experiment *experiment;
  rs_problems *problems;
  const rs_node *root; /* of the config */
  rs_task task;        /* the experiment's, prepared, from where it is read; kind NULL without */
  /* What a source, on model number `model`, is checked for besides its parameters; NULL: nothing. */
  rs_status (*check_source)(const rs_config_context *config, const rs_variant *source, size_t model, rs_err *err);
};

/* What the paths of a checkpoint's parameters begin with. */
#define RS_CHECKPOINT_PATH "checkpoint."

void rs_config_checkpoints(rs_config_context *config, const rs_node *node);
void rs_config_models(rs_config_context *config, const rs_node *node);
void rs_config_methods(rs_config_context *config, const rs_node *node);
void rs_config_targets(rs_config_context *config, const rs_node *node);
void rs_config_baselines(rs_config_context *config, const rs_node *node);
void rs_config_lengths(rs_config_context *config, const rs_node *node);
void rs_config_seeds(rs_config_context *config, const rs_node *node);
void rs_config_heads(rs_config_context *config, const rs_node *node);
void rs_config_queries(rs_config_context *config, const rs_node *node);
void rs_config_mask(rs_config_context *config, const rs_node *node);
void rs_config_tokens(rs_config_context *config, const rs_node *node);
void rs_config_precision(rs_config_context *config, const rs_node *node);
void rs_config_engine(rs_config_context *config, const rs_node *node);

/* One method with single values, as a model publishes it ({name: yarn, factor: 4}). */
bool rs_read_recipe(rs_problems *problems, const rs_node *node, rs_recipe *recipe);

/* The variants of a list of entries of one type. */
typedef struct rs_item_type rs_item_type;
void rs_read_items(rs_config_context *config, const rs_item_type *type, const rs_node *node, rs_variants *variants);

/* The variants of a method, or of a list of them, as `methods` takes them. */
void rs_read_recipes(rs_problems *problems, const rs_node *node, rs_variants *variants);

/* Whether the config reads a checkpoint: simulated heads have then no part in it. */
static inline bool rs_reads_checkpoint(const rs_config_context *config) {
  return rs_node_get(config->root, "checkpoint") != NULL;
}

/* A path in a config is relative to that config's folder (on the command line, to where the program runs). NULL where
 * there is no memory. Release with free(). */
char *rs_beside(const rs_node *node, const char *path);

/* Whether the node names a file: the parameter's value, or what holds the list that is. */
bool rs_names_file(const rs_node *node, const rs_param *param);

/* Adds " name=value" of one parameter to a label: a list from a file as the file's name, a long one by its ends; where
 * `whole`, the file's list too, and every number of a written one. */
void rs_label_param(rs_text *label, const rs_settings *settings, int param, bool whole);

/* Entry `index` of a list, or the one entry that stands in the place of a list, and its path. Borrows. */
const rs_node *rs_entry_at(const rs_node *node, size_t index);

/* Lengthens names that occur twice by the parameters written beside them, and reports labels that still do, with both
 * places. What `label` says is kept as it is written. */
void rs_settle_labels(rs_problems *problems, const rs_node *node, rs_variants *variants);

/* Applies "path=value" to the tree. RS_INPUT names the part of the path that does not fit. */
rs_status rs_tree_edit(rs_node *root, const char *edit, rs_err *err);

/* Makes "rope, {name: pi, factor: 4}" the methods of a config, whatever it has. */
rs_status rs_tree_methods(rs_node *root, const char *list, rs_err *err);

/* Makes "4k,8k" the lengths of a config, whatever it has. */
rs_status rs_tree_lengths(rs_node *root, const char *list, rs_err *err);

/* A method as it is on a model, resolved. RS_INPUT where it is what the model publishes, and that is nothing. */
rs_status rs_variant_recipe(const rs_variant *variant, const rs_model *model, rs_recipe *recipe, rs_err *err);

void rs_variant_clear(rs_variant *variant);
void rs_checkpoint_clear(rs_checkpoint *checkpoint);

/* Frees what the experiment owns, not the experiment. */
void rs_experiment_clear(rs_experiment *experiment);

/* Adds a copy of `name` to the experiment's swept parameters if it is not there. */
rs_status rs_experiment_add_swept(rs_experiment *experiment, const char *name, rs_err *err);

/* Adds loss_difference where loss is read beside a baseline and the config does not list it. */
void rs_add_difference(rs_config_context *config);

/* Refuses metrics that stand twice, that want different things of a row, that want needles where there are none, or
 * that read what the config has not. */
void rs_refuse_metrics(rs_config_context *config, const rs_node *node);

/* RS_OK but for sources of model rows: whether the checkpoint of model number `model`, or the source's own, has the
 * layer and head that it names; its own must have the heads of that model, and know the tokens of the text. RS_INPUT,
 * with the parameter as subject, or without one where there is no checkpoint. */
rs_status rs_model_source_check(const rs_config_context *config, const rs_variant *source, size_t model, rs_err *err);

/* Whether the numbers of a GGUF file's tensors are of types that are read, by its header; RS_OK for a folder.
 * RS_UNSUPPORTED with the first tensor that is not. */
rs_status rs_weight_types_check(const char *folder, rs_err *err);

/* Whether the config has sources; beside a checkpoint rows are then observed. */
static inline bool rs_reads_sources(const rs_config_context *config) {
  return rs_node_get(config->root, "sources") != NULL;
}

/* Refuses metrics of pictures where the tokens, read by then, hold none. */
void rs_refuse_pictureless(rs_config_context *config);

/* Refuses metrics that can have no result in some cell. The config is read; nothing is done where it has problems. */
void rs_refuse_unfit(rs_config_context *config);

/* ---- item types ------------------------------------------------------------------------------------------------ */

/* The lists of entries that a config has: how each is called, and how names in it are looked up. */

struct rs_item_type {
  const char *key, *what;
  /* False: unknown name. Methods may be among those beside the built-in ones. */
  bool (*init)(const rs_method_list *beside, const char *name, rs_variant *variant, rs_err *err);
  const char *(*name)(size_t index); /* NULL past the last */
};

extern const rs_item_type rs_method_items, rs_source_items, rs_metric_items, rs_task_items;

/* ---- resolved -------------------------------------------------------------------------------------------------- */

/* Parts of an experiment as YAML. */

/* "{name: ..., heads: 32, ...}": a model as read_model reads it. */
void rs_model_put(rs_text *yaml, const rs_model *model);

#endif
