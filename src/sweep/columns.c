/* Which columns each file has: written as its header and as the manifest's dictionary from one list. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>

static const rs_out_column keys[] = {
    {"cell", "", "number of the cell, from 0, in the order of the config", RS_KEY, false, RS_NEITHER, RS_MAP_NONE},
    {"model", "", "model geometry", RS_KEY, false, RS_NEITHER, RS_MAP_NONE},
    {"method", "", "method, with its swept parameters", RS_KEY, false, RS_NEITHER, RS_MAP_NONE},
    {"length_tokens", "tokens", "context length L", RS_KEY, true, RS_NEITHER, RS_MAP_NONE},
    {"scale", "1", "context factor s at this length; empty where the method has none", RS_KEY, true, RS_NEITHER,
     RS_MAP_NONE},
    {"source", "", "query/key source, with its swept parameters; empty where tables alone are read", RS_KEY, false,
     RS_NEITHER, RS_MAP_NONE},
    {"seed", "", "seed of the source; empty where tables alone are read", RS_KEY, false, RS_NEITHER, RS_MAP_NONE},
    {"heads", "", "heads that are averaged", RS_KEY, false, RS_NEITHER, RS_MAP_NONE},
};

static const rs_out_column statuses[] = {
    {"status", "", "ok, or why the cell has no values: domain, unsupported, memory", RS_CELL_STATUS, false, RS_NEITHER,
     RS_MAP_NONE},
    {"message", "", "the error of a cell without values, or a warning about one with values", RS_CELL_STATUS, false,
     RS_NEITHER, RS_MAP_NONE},
};

static rs_status add(rs_out_columns *columns, const rs_out_column *column, rs_err *err) {
  void *list = columns->columns;
  rs_status status = rs_grow(&list, &columns->capacity, columns->count + 1, sizeof *column, err);
  columns->columns = list;
  if (status == RS_OK) columns->columns[columns->count++] = *column;
  return status;
}

/* The parameter of this name, of a method or else of a source. */
static const rs_param *find_param(const rs_experiment *experiment, const char *name) {
  const rs_variants *lists[] = {&experiment->methods, &experiment->sources};
  for (size_t l = 0; l < RS_COUNT(lists); l++)
    for (size_t i = 0; i < lists[l]->count; i++) {
      int index = rs_settings_find(&lists[l]->items[i].settings, name);
      if (index >= 0) return lists[l]->items[i].settings.params[index];
    }
  return NULL;
}

static rs_status add_keys(const rs_experiment *experiment, rs_out_columns *columns, rs_err *err) {
  for (size_t i = 0; i < RS_COUNT(keys); i++) RS_TRY(add(columns, &keys[i], err));
  for (size_t i = 0; i < experiment->swept_count; i++) {
    const rs_param *param = find_param(experiment, experiment->swept[i]);
    rs_out_column swept = {.unit = param->unit != NULL ? param->unit : "", .summary = param->summary, .role = RS_KEY};
    snprintf(swept.name, sizeof swept.name, "%s", experiment->swept[i]);
    RS_TRY(add(columns, &swept, err));
  }
  return RS_OK;
}

/* A metric's column and, where it is a mean over samples, its standard error's. */
static rs_status add_value(const rs_column *column, rs_role role, rs_out_columns *columns, rs_err *err) {
  rs_out_column out = {.unit = column->unit,
                       .summary = column->summary,
                       .role = role,
                       .log_axis = column->log_axis,
                       .better = column->better,
                       .map = column->map};
  snprintf(out.name, sizeof out.name, "%s", column->name);
  RS_TRY(add(columns, &out, err));
  if (!column->sampled) return RS_OK;
  rs_out_column error = {
      .unit = column->unit, .summary = "standard error of the mean, rows taken as independent", .role = RS_ERROR};
  snprintf(error.name, sizeof error.name, "%s_se", column->name);
  return add(columns, &error, err);
}

static rs_status add_summary(const rs_experiment *experiment, rs_out_columns *columns, rs_err *err) {
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_metric_kind *metric = experiment->metrics.items[m].metric;
    for (size_t i = 0; i < metric->scalar_count; i++) RS_TRY(add_value(&metric->scalars[i], RS_VALUE, columns, err));
  }
  for (size_t i = 0; i < RS_COUNT(statuses); i++) RS_TRY(add(columns, &statuses[i], err));
  return RS_OK;
}

static rs_status add_curve(const rs_metric_kind *metric, rs_out_columns *columns, rs_err *err) {
  for (size_t i = 0; i < metric->curve_count; i++)
    RS_TRY(add_value(&metric->curve[i], i < metric->index_count ? RS_INDEX : RS_VALUE, columns, err));
  return RS_OK;
}

rs_status rs_columns_make(const rs_experiment *experiment, int metric, rs_out_columns *columns, rs_err *err) {
  *columns = (rs_out_columns){0};
  rs_status status = add_keys(experiment, columns, err);
  if (status == RS_OK)
    status = metric < 0 ? add_summary(experiment, columns, err)
                        : add_curve(experiment->metrics.items[metric].metric, columns, err);
  if (status != RS_OK) free(columns->columns);
  return status;
}

bool rs_curve_file(const rs_experiment *experiment, size_t metric, char name[80]) {
  const rs_metric_kind *kind = experiment->metrics.items[metric].metric;
  snprintf(name, 80, "%.70s.csv", kind->kind.name);
  return kind->curve_count > 0;
}
