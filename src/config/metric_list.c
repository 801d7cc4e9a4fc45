/* Metrics by name, beside any config: for rows that a program brings itself. */
#include "config_internal.h"

#include <string.h>

static void refuse(rs_problems *problems, const rs_node *node, const rs_variants *metrics) {
  for (size_t i = 0; i < metrics->count; i++) {
    const rs_metric_kind *kind = metrics->items[i].metric;
    for (size_t k = 0; k < i; k++)
      if (metrics->items[k].metric == kind)
        rs_problem(problems, node, "has %s twice (a metric is computed once)", kind->kind.name);
    if (kind->read != NULL)
      rs_problem(problems, node, "has %s, which reads a trained model, not rows", kind->kind.name);
  }
}

rs_status rs_metrics_read(const char *text, const char *name, rs_variants *metrics, rs_problems *problems,
                          rs_err *err) {
  rs_experiment scratch = {0};
  rs_tree *tree = NULL;
  *metrics = (rs_variants){0};
  RS_TRY(rs_yaml_read(text, strlen(text), name, &tree, err));
  rs_config_context config = {.experiment = &scratch, .problems = problems, .root = &tree->root};
  tree->root.key = rs_strdup("metrics", NULL);
  if (tree->root.key != NULL)
    rs_read_items(&config, &rs_metric_items, &tree->root, metrics);
  else
    rs_problem_memory(problems);
  refuse(problems, &tree->root, metrics);
  rs_status status = problems->memory ? rs_fail(err, RS_MEMORY, "out of memory") : RS_OK;
  if (status == RS_OK && problems->count > 0)
    status = rs_fail(err, RS_INPUT, "%s: %zu problem%s", name, problems->count, problems->count > 1 ? "s" : "");
  rs_tree_free(tree);
  rs_experiment_clear(&scratch);
  if (status == RS_OK) return RS_OK;
  rs_variants_clear(metrics);
  *metrics = (rs_variants){0};
  return status;
}
