/* Which columns each file has, with their units: written as its header and as the manifest's dictionary from one list.
 * What every cell has is one table of names. */
#include "cell.h"

#include <stdio.h>
#include <stdlib.h>

/* A column that every cell has. */
typedef struct cell_column {
  const char *name, *unit, *summary;
  bool integer, log_axis;
} cell_column;

static const cell_column keys[] = {
    {"cell", "", "number of the cell, from 0, in the order of the config", .integer = true},
    {"model", "", "model geometry, or checkpoint", .integer = false},
    {"method", "", "method, with its swept parameters", .integer = false},
    {"length_tokens", "tokens", "context length L", .integer = true, .log_axis = true},
    {"scale", "1", "context factor s at this length; empty where the method has none", .log_axis = true},
    {"source", "",
     "query/key source, with its swept parameters, or the task of checkpoints; empty where tables alone are read",
     .integer = false},
    {"seed", "", "seed of the source, or of weights and task; empty where tables alone are read", .integer = true},
    {"heads", "", "heads that are averaged", .integer = false},
};

static const cell_column statuses[] = {
    {"status", "", "ok, or why the cell has no values: domain, unsupported, memory", .integer = false},
    {"message", "", "the error of a cell without values, or a warning about one with values", .integer = false},
};

static void add(rs_out_columns *columns, const char *name, rs_out_column column) {
  snprintf(column.name, sizeof column.name, "%s", name);
  if (RS_GROW(columns->columns, &columns->capacity, columns->count + 1, NULL) == RS_OK)
    columns->columns[columns->count++] = column;
  else
    columns->failed = true;
}

static void add_cell_columns(const cell_column *list, size_t count, rs_role role, rs_out_columns *columns) {
  for (size_t i = 0; i < count; i++)
    add(columns, list[i].name,
        (rs_out_column){.unit = list[i].unit,
                        .summary = list[i].summary,
                        .role = role,
                        .integer = list[i].integer,
                        .log_axis = list[i].log_axis});
}

static void add_keys(const rs_experiment *experiment, rs_out_columns *columns) {
  add_cell_columns(keys, RS_COUNT(keys), RS_KEY, columns);
  for (size_t i = 0; i < experiment->swept_count; i++) {
    const rs_param *param = rs_experiment_param(experiment, experiment->swept[i]);
    add(columns, experiment->swept[i],
        (rs_out_column){.unit = param->unit != NULL ? param->unit : "",
                        .summary = param->summary,
                        .role = RS_KEY,
                        .integer = param->type == RS_INTEGER});
  }
}

/* A column of a metric and, where it is a mean over samples, its standard error's. */
static void add_value(const rs_experiment *experiment, const rs_metric_kind *metric, const rs_column *column,
                      rs_role role, rs_out_columns *columns) {
  bool observed = rs_observes(experiment), reads = metric->read != NULL, value = role == RS_VALUE;
  add(columns, column->name,
      (rs_out_column){.unit = column->unit,
                      .summary = column->summary,
                      .role = role,
                      .integer = column->integer,
                      .log_axis = column->log_axis,
                      .better = column->better,
                      .map = column->map,
                      .sourced = value && (rs_metric_observes(metric) || (reads && !observed)),
                      .tasked = value && reads && observed});
  if (!column->sampled) return;
  char name[80];
  snprintf(name, sizeof name, "%.76s_se", column->name);
  add(columns, name,
      (rs_out_column){.unit = column->unit,
                      .summary = reads ? "standard error of the mean, sequences taken as independent"
                                       : "standard error of the mean, rows taken as independent",
                      .role = RS_ERROR});
}

rs_status rs_columns_make(const rs_experiment *experiment, int metric, rs_out_columns *columns, rs_err *err) {
  *columns = (rs_out_columns){0};
  add_keys(experiment, columns);
  for (size_t m = 0; m < experiment->metrics.count && metric < 0; m++) {
    const rs_metric_kind *kind = experiment->metrics.items[m].metric;
    for (size_t i = 0; i < kind->scalar_count; i++) add_value(experiment, kind, &kind->scalars[i], RS_VALUE, columns);
  }
  if (metric < 0) add_cell_columns(statuses, RS_COUNT(statuses), RS_CELL_STATUS, columns);
  const rs_metric_kind *kind = metric < 0 ? NULL : experiment->metrics.items[metric].metric;
  for (size_t i = 0; kind != NULL && i < kind->curve_count; i++)
    add_value(experiment, kind, &kind->curve[i], i < kind->index_count ? RS_INDEX : RS_VALUE, columns);
  if (!columns->failed) return RS_OK;
  free(columns->columns);
  return rs_fail(err, RS_MEMORY, "out of memory for columns");
}

bool rs_curve_file(const rs_experiment *experiment, size_t metric, char name[80]) {
  const rs_metric_kind *kind = experiment->metrics.items[metric].metric;
  snprintf(name, 80, "%.70s.csv", kind->kind.name);
  return kind->curve_count > 0;
}

double rs_curve_rows(const rs_experiment *experiment, const rs_cell *cell) {
  const rs_model *model = &experiment->models[cell->axis[RS_BY_MODEL]];
  size_t length = rs_experiment_read_length(experiment, cell);
  const rs_curve_in in = {.length = length,
                          .pairs = model->head_dim / 2,
                          .heads = model->heads,
                          .width = model->heads * model->head_dim,
                          .bins = rs_log_bins(length, experiment->bins_per_octave),
                          .sequences = experiment->sequences,
                          .observed = rs_needs_heads(experiment) ? rs_head_count(experiment, cell) : 0,
                          .tokens = &experiment->tokens};
  double rows = 0;
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_variant *metric = &experiment->metrics.items[m];
    if (metric->metric->curve_rows != NULL) rows += (double)metric->metric->curve_rows(metric->params, &in);
  }
  return rows;
}
