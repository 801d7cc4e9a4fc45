/* Metrics: those that cannot stand together, that would be columns of nothing, or that are listed beside any config. */
#include "config_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- paired differences ------------------------------------------------------------------------------------------ */

static bool has_metric(const rs_variants *metrics, const char *name) {
  for (size_t i = 0; i < metrics->count; i++)
    if (strcmp(metrics->items[i].metric->kind.name, name) == 0) return true;
  return false;
}

void rs_add_difference(rs_config_context *config) {
  rs_experiment *experiment = config->experiment;
  rs_tree *tree = NULL;
  char words[80];
  size_t baseline = 0;
  while (baseline < RS_BASELINES && !experiment->baselines[baseline]) baseline++;
  if (config->problems->count > 0 || baseline == RS_BASELINES) return;
  if (!has_metric(&experiment->metrics, "loss") || has_metric(&experiment->metrics, "loss_difference")) return;
  snprintf(words, sizeof words, "[{name: loss_difference, baseline: %s}]", rs_baseline_words[baseline]);
  if (rs_yaml_read(words, strlen(words), "default", &tree, NULL) == RS_OK)
    rs_read_items(config, &rs_metric_items, &tree->root, &experiment->metrics);
  else
    rs_problem_memory(config->problems);
  rs_tree_free(tree);
}

/* A difference needs what it is taken from. */
static void refuse_baseless(rs_config_context *config, const rs_node *node) {
  const rs_variants *metrics = &config->experiment->metrics;
  for (size_t i = 0; i < metrics->count && config->problems->count == 0; i++) {
    const rs_metric_kind *metric = metrics->items[i].metric;
    if (metric->baseline == NULL) continue;
    rs_baseline baseline = metric->baseline(metrics->items[i].params);
    if (!config->experiment->baselines[baseline])
      rs_problem(config->problems, node, "has %s, which is taken from the baseline %s: there is none (baselines: [%s])",
                 metric->kind.name, rs_baseline_words[baseline], rs_baseline_words[baseline]);
  }
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* A metric names its columns, so that it can be there once only. */
static void refuse_repeats(rs_config_context *config, const rs_node *node) {
  const rs_variants *metrics = &config->experiment->metrics;
  for (size_t i = 0; i < metrics->count && config->problems->count == 0; i++)
    for (size_t k = 0; k < i; k++)
      if (metrics->items[k].metric == metrics->items[i].metric)
        rs_problem(config->problems, node, "has %s twice (a metric is computed once a cell)",
                   metrics->items[i].metric->kind.name);
}

/* A metric of needles without any would be a column of nothing. */
static void refuse_needless(rs_config_context *config, const rs_node *node) {
  const rs_experiment *experiment = config->experiment;
  const rs_task_kind *task = experiment->task.task;
  bool planted = false, asked = false; /* asked: by a task that does not say what for */
  for (size_t i = 0; i < experiment->sources.count; i++) {
    const rs_source_kind *source = experiment->sources.items[i].source;
    bool silent = source->of_model && (task == NULL || !task->seeks);
    planted |= source->needle != NULL && !silent;
    asked |= silent && task != NULL;
  }
  for (size_t i = 0; i < experiment->metrics.count && !planted && config->problems->count == 0; i++) {
    const char *name = experiment->metrics.items[i].metric->kind.name;
    if (!experiment->metrics.items[i].metric->needs_needle) continue;
    if (asked)
      rs_problem(config->problems, node,
                 "has %s, but %s does not say which token holds what it asks for (dictionary does)", name,
                 task->kind.name);
    else
      rs_problem(config->problems, node, "has %s, but no source plants needles (add sources: [needle])", name);
  }
}

/* Metrics that want different things of one row. */
static void refuse_sinks(rs_config_context *config, const rs_node *node) {
  const rs_variants *metrics = &config->experiment->metrics;
  rs_row_needs needs = {0};
  rs_err why = {0};
  for (size_t i = 0; i < metrics->count && config->problems->count == 0; i++)
    if (rs_row_needs_add(&needs, metrics->items[i].metric, metrics->items[i].params, &why) != RS_OK)
      rs_problem_err(config->problems, node, &why);
}

/* Rows are of sources, readings of checkpoints; tables both have. */
static void refuse_unread(rs_config_context *config, const rs_node *node) {
  const rs_variants *metrics = &config->experiment->metrics;
  bool checkpoint = rs_reads_checkpoint(config), sources = !checkpoint || rs_reads_sources(config);
  for (size_t i = 0; i < metrics->count && config->problems->count == 0; i++) {
    const rs_metric_kind *metric = metrics->items[i].metric;
    if (!sources && rs_metric_observes(metric))
      rs_problem(config->problems, node,
                 "has %s, which reads %s: of whose heads? (add sources: [{name: model, layer: 0}] for the "
                 "checkpoint's own)",
                 metric->kind.name, metric->row != NULL ? "rows of attention" : "queries and keys");
    if (!checkpoint && metric->read != NULL)
      rs_problem(config->problems, node,
                 "has %s, which reads what a checkpoint says (add checkpoint: {method: rope} in place of the model)",
                 metric->kind.name);
  }
}

void rs_refuse_metrics(rs_config_context *config, const rs_node *node) {
  refuse_repeats(config, node);
  refuse_unread(config, node);
  refuse_baseless(config, node);
  refuse_sinks(config, node);
  refuse_needless(config, node);
}

void rs_refuse_pictureless(rs_config_context *config) {
  const rs_experiment *experiment = config->experiment;
  const rs_node *node = rs_node_get(config->root, "metrics");
  const rs_task_kind *task = experiment->task.task;
  size_t begin;
  if (rs_token_layout_picture(&experiment->tokens, &begin) != NULL || (task != NULL && task->form == RS_VISION)) return;
  for (size_t i = 0; i < experiment->metrics.count && config->problems->count == 0; i++)
    if (experiment->metrics.items[i].metric->needs_picture)
      rs_problem(config->problems, node, "has %s, but the %s", experiment->metrics.items[i].metric->kind.name,
                 rs_reads_checkpoint(config) ? "task has no pictures (as where and film have)"
                                             : "tokens hold no picture (add tokens: [{image: [16, 24]}])");
}

/* The cell as metrics see it before anything is computed; `layout` is filled for a task's pictures. RS_DOMAIN where
 * there is no such cell, which other checks report. */
static rs_status describe_cell(const rs_config_context *config, const rs_cell *cell, rs_token_layout *layout,
                               rs_curve_in *in) {
  const rs_experiment *experiment = config->experiment;
  const rs_model *model = &experiment->models[cell->axis[RS_BY_MODEL]];
  rs_example_shape shape;
  *in = (rs_curve_in){.length = experiment->lengths[cell->axis[RS_BY_LENGTH]],
                      .pairs = model->head_dim / 2,
                      .heads = model->heads,
                      .width = model->heads * model->head_dim,
                      .sequences = experiment->sequences,
                      .observed = experiment->sources.count > 0 ? rs_head_count(experiment, cell) : 0,
                      .queries = &experiment->queries,
                      .tokens = &experiment->tokens};
  in->bins = rs_log_bins(in->length, experiment->bins_per_octave);
  if (config->task.kind == NULL) return RS_OK;
  RS_TRY(rs_task_shape(&config->task, in->length, &shape, NULL));
  in->tokens = layout;
  in->trained = shape.trained;
  size_t lead = rs_shape_lead(&experiment->checkpoints[cell->axis[RS_BY_MODEL]].shape);
  return rs_task_layout(&shape, lead, layout, &in->length, NULL);
}

static void refuse_cell(rs_config_context *config, const rs_cell *cell) {
  const rs_variants *metrics = &config->experiment->metrics;
  RS_OWNED(rs_token_layout) layout = {0};
  rs_curve_in in;
  if (describe_cell(config, cell, &layout, &in) != RS_OK) return;
  for (size_t i = 0; i < metrics->count && config->problems->count == 0; i++) {
    rs_err why = {0};
    if (metrics->items[i].metric->fit != NULL &&
        metrics->items[i].metric->fit(metrics->items[i].params, &in, &why) != RS_OK)
      rs_problem(config->problems, rs_node_get(config->root, "metrics"), "has %s, which %s",
                 metrics->items[i].metric->kind.name, why.message);
  }
}

void rs_refuse_unfit(rs_config_context *config) {
  const rs_experiment *experiment = config->experiment;
  RS_FREED rs_cell *cells = NULL;
  size_t count = 0;
  bool fits = false;
  for (size_t i = 0; i < experiment->metrics.count; i++) fits |= experiment->metrics.items[i].metric->fit != NULL;
  if (!fits || config->problems->count > 0) return;
  if (rs_experiment_cells(experiment, &cells, &count, NULL) != RS_OK) rs_problem_memory(config->problems);
  for (size_t i = 0; i < count && config->problems->count == 0; i++) refuse_cell(config, &cells[i]);
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

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
