/* Which columns each file has: written as its header and as the manifest's dictionary from one list. What every cell
 * has is one table of names. */
#include "cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- key columns ------------------------------------------------------------------------------------------------- */

static const rs_variant *row_method(const rs_cell_row *row) {
  return &row->experiment->methods.items[row->state->cell.axis[RS_BY_METHOD]];
}

/* What the cell reads: a source, or the task of checkpoints. NULL where the row stands for every source. */
static const rs_variant *row_source(const rs_cell_row *row) {
  if (row->sourced && row->experiment->sources.count == 0) return &row->experiment->task;
  return row->sourced ? &row->experiment->sources.items[row->state->cell.axis[RS_BY_SOURCE]] : NULL;
}

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

/* The value as config text; a file without its folder, so that no path of this machine gets into the CSV files. */
static void put_value(rs_text *text, const rs_param *param, const rs_value *value) {
  const char *slash = value->file != NULL ? strrchr(value->file, '/') : NULL;
  if (slash != NULL && rs_value_is_file(param, value))
    rs_text_puts(text, slash + 1);
  else
    rs_value_write(param, value, text);
}

/* A swept parameter's value, from the method, the source or the checkpoint that has it. */
static void put_swept(const rs_cell_row *row, const char *name, rs_text *csv) {
  rs_text value = {0};
  const rs_variant *variants[] = {row_method(row), row_source(row)};
  for (size_t i = 0; i < RS_COUNT(variants) && value.length == 0; i++) {
    int index = variants[i] != NULL ? rs_settings_find(&variants[i]->settings, name) : -1;
    if (index < 0 || !variants[i]->settings.values[index].set) continue;
    put_value(&value, variants[i]->settings.params[index], &variants[i]->settings.values[index]);
  }
  if (value.length == 0)
    rs_experiment_checkpoint_value(row->experiment, row->state->cell.axis[RS_BY_MODEL], name, &value);
  csv->failed |= value.failed;
  rs_csv_text(csv, rs_text_string(&value));
  rs_text_clear(&value);
}

void rs_put_keys(const rs_cell_row *row, rs_text *csv) {
  const rs_experiment *experiment = row->experiment;
  const size_t *axis = row->state->cell.axis;
  const rs_variant *source = row_source(row);
  rs_csv_number(csv, (double)row->number); /* in the order of `keys` */
  rs_csv_text(csv, experiment->models[axis[RS_BY_MODEL]].name);
  rs_csv_text(csv, row_method(row)->label);
  rs_csv_number(csv, (double)experiment->lengths[axis[RS_BY_LENGTH]]);
  rs_csv_number(csv, row->state->scale);
  rs_csv_text(csv, source != NULL ? source->label : "");
  rs_csv_number(csv, row->seeded ? (double)experiment->seeds[axis[RS_BY_SEED]] : NAN);
  rs_csv_text(csv, row->state->heads);
  for (size_t i = 0; i < row->experiment->swept_count; i++) put_swept(row, row->experiment->swept[i], csv);
}

void rs_put_status(const rs_cell_row *row, rs_text *csv) {
  rs_csv_text(csv, rs_status_name(row->state->status));
  rs_csv_text(csv, row->state->message);
}

/* ---- the columns of a file --------------------------------------------------------------------------------------- */

static rs_status add(rs_out_columns *columns, const rs_out_column *column, rs_err *err) {
  rs_status status = RS_GROW(columns->columns, &columns->capacity, columns->count + 1, err);
  if (status == RS_OK) columns->columns[columns->count++] = *column;
  return status;
}

static rs_status add_cell_columns(const cell_column *list, size_t count, rs_role role, rs_out_columns *columns,
                                  rs_err *err) {
  for (size_t i = 0; i < count; i++) {
    rs_out_column out = {.unit = list[i].unit,
                         .summary = list[i].summary,
                         .role = role,
                         .integer = list[i].integer,
                         .log_axis = list[i].log_axis};
    snprintf(out.name, sizeof out.name, "%s", list[i].name);
    RS_TRY(add(columns, &out, err));
  }
  return RS_OK;
}

static rs_status add_keys(const rs_experiment *experiment, rs_out_columns *columns, rs_err *err) {
  RS_TRY(add_cell_columns(keys, RS_COUNT(keys), RS_KEY, columns, err));
  for (size_t i = 0; i < experiment->swept_count; i++) {
    const rs_param *param = rs_experiment_param(experiment, experiment->swept[i]);
    rs_out_column swept = {.unit = param->unit != NULL ? param->unit : "",
                           .summary = param->summary,
                           .role = RS_KEY,
                           .integer = param->type == RS_INTEGER};
    snprintf(swept.name, sizeof swept.name, "%s", experiment->swept[i]);
    RS_TRY(add(columns, &swept, err));
  }
  return RS_OK;
}

/* A column of a metric and, where it is a mean over samples, its standard error's. */
static rs_status add_value(const rs_experiment *experiment, const rs_metric_kind *metric, const rs_column *column,
                           rs_role role, rs_out_columns *columns, rs_err *err) {
  bool observed = rs_observes(experiment);
  rs_out_column out = {.unit = column->unit,
                       .summary = column->summary,
                       .role = role,
                       .integer = column->integer,
                       .log_axis = column->log_axis,
                       .better = column->better,
                       .map = column->map,
                       .sourced =
                           role == RS_VALUE && (rs_metric_observes(metric) || (metric->read != NULL && !observed)),
                       .tasked = role == RS_VALUE && metric->read != NULL && observed};
  snprintf(out.name, sizeof out.name, "%s", column->name);
  RS_TRY(add(columns, &out, err));
  if (!column->sampled) return RS_OK;
  const char *summary = metric->read != NULL ? "standard error of the mean, sequences taken as independent"
                                             : "standard error of the mean, rows taken as independent";
  rs_out_column error = {.unit = column->unit, .summary = summary, .role = RS_ERROR};
  snprintf(error.name, sizeof error.name, "%s_se", column->name);
  return add(columns, &error, err);
}

static rs_status add_summary(const rs_experiment *experiment, rs_out_columns *columns, rs_err *err) {
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_metric_kind *metric = experiment->metrics.items[m].metric;
    for (size_t i = 0; i < metric->scalar_count; i++)
      RS_TRY(add_value(experiment, metric, &metric->scalars[i], RS_VALUE, columns, err));
  }
  return add_cell_columns(statuses, RS_COUNT(statuses), RS_CELL_STATUS, columns, err);
}

static rs_status add_curve(const rs_experiment *experiment, const rs_metric_kind *metric, rs_out_columns *columns,
                           rs_err *err) {
  for (size_t i = 0; i < metric->curve_count; i++) {
    bool value = i >= metric->index_count;
    RS_TRY(add_value(experiment, metric, &metric->curve[i], value ? RS_VALUE : RS_INDEX, columns, err));
  }
  return RS_OK;
}

rs_status rs_columns_make(const rs_experiment *experiment, int metric, rs_out_columns *columns, rs_err *err) {
  *columns = (rs_out_columns){0};
  rs_status status = add_keys(experiment, columns, err);
  if (status == RS_OK)
    status = metric < 0 ? add_summary(experiment, columns, err)
                        : add_curve(experiment, experiment->metrics.items[metric].metric, columns, err);
  if (status != RS_OK) free(columns->columns);
  return status;
}

bool rs_is_sourced(const rs_experiment *experiment, const rs_metric_kind *metric) {
  return rs_metric_observes(metric) || (experiment->checkpoints != NULL && !rs_observes(experiment));
}

bool rs_is_seeded(const rs_experiment *experiment, const rs_metric_kind *metric) {
  return rs_metric_observes(metric) || metric->draws || experiment->checkpoints != NULL;
}

bool rs_curve_file(const rs_experiment *experiment, size_t metric, char name[80]) {
  const rs_metric_kind *kind = experiment->metrics.items[metric].metric;
  snprintf(name, 80, "%.70s.csv", kind->kind.name);
  return kind->curve_count > 0;
}
