/* The keys of a config whose values are entries: methods, sources, metrics, and the one task. */
#include "config_internal.h"

#include <string.h>

static void read_key(rs_config_context *config, const rs_item_type *type, const rs_node *node, rs_variants *variants) {
  rs_read_items(config, type, node, variants);
}

/* `text` in place of a key that the config leaves out. */
static void read_default(rs_config_context *config, const rs_item_type *type, const char *text, rs_variants *variants) {
  rs_tree *tree = NULL;
  if (rs_yaml_read(text, strlen(text), "default", &tree, NULL) == RS_OK)
    read_key(config, type, &tree->root, variants);
  else
    rs_problem_memory(config->problems);
  rs_tree_free(tree);
}

void rs_config_methods(rs_config_context *config, const rs_node *node) {
  if (node != NULL)
    read_key(config, &rs_method_items, node, &config->experiment->methods);
  else
    read_default(config, &rs_method_items, rs_reads_checkpoint(config) ? RS_TRAINED : "rope",
                 &config->experiment->methods);
}

void rs_config_sources(rs_config_context *config, const rs_node *node) {
  if (node != NULL)
    read_key(config, &rs_source_items, node, &config->experiment->sources);
  else if (!rs_reads_checkpoint(config))
    read_default(config, &rs_source_items, "gaussian", &config->experiment->sources);
}

void rs_config_metrics(rs_config_context *config, const rs_node *node) {
  if (node != NULL)
    read_key(config, &rs_metric_items, node, &config->experiment->metrics);
  else
    read_default(config, &rs_metric_items,
                 !rs_reads_checkpoint(config) ? "[decay, ood_angles, entropy]"
                 : rs_reads_sources(config)   ? "[loss, accuracy, entropy]"
                                              : "[loss, accuracy]",
                 &config->experiment->metrics);
  if (node != NULL) rs_refuse_metrics(config, node);
}

/* The config's one task, with its state, which checkpoints are checked against. */
static void take_task(rs_config_context *config, const rs_node *node, rs_variants *tasks) {
  rs_experiment *experiment = config->experiment;
  const rs_task_in in = {.params = tasks->items[0].params};
  rs_err why = {0};
  experiment->task = tasks->items[0];
  tasks->count = 0;
  if (rs_task_prepare(experiment->task.task, &in, &config->task, &why) != RS_OK)
    rs_problem_err(config->problems, node, &why);
}

void rs_config_task(rs_config_context *config, const rs_node *node) {
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
