/* The CSV files of a run, each written whole. */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rs_status write_file(const char *directory, const char *name, const rs_text *text, rs_err *err) {
  RS_TRY(rs_text_check(text, err));
  char *path = rs_path_join(directory, name, err);
  if (path == NULL) return RS_MEMORY;
  rs_status status = rs_file_write(path, rs_text_string(text), text->length, err);
  free(path);
  return status;
}

static rs_status put_header(rs_text *csv, const rs_experiment *experiment, int metric, rs_err *err) {
  rs_out_columns columns;
  RS_TRY(rs_columns_make(experiment, metric, &columns, err));
  for (size_t i = 0; i < columns.count; i++) rs_csv_text(csv, columns.columns[i].name);
  rs_csv_end_row(csv);
  free(columns.columns);
  return RS_OK;
}

/* The value as config text; a file without its folder, so that no path of this machine gets into the CSV files. */
static void put_value(rs_text *text, const rs_param *param, const rs_value *value) {
  const char *slash = value->file != NULL ? strrchr(value->file, '/') : NULL;
  if (slash != NULL && value->count > RS_INLINE_NUMBERS)
    rs_text_puts(text, slash + 1);
  else
    rs_value_write(param, value, text);
}

/* A swept parameter's value, from the method or the source that has it. */
static void put_swept(rs_text *csv, const char *name, const rs_variant *method, const rs_variant *source) {
  rs_text value = {0};
  const rs_variant *variants[] = {method, source};
  for (size_t i = 0; i < RS_COUNT(variants) && value.length == 0; i++) {
    int index = variants[i] != NULL ? rs_settings_find(&variants[i]->settings, name) : -1;
    if (index < 0 || !variants[i]->settings.values[index].set) continue;
    put_value(&value, variants[i]->settings.params[index], &variants[i]->settings.values[index]);
  }
  csv->failed |= value.failed;
  rs_csv_text(csv, rs_text_string(&value));
  rs_text_clear(&value);
}

/* The key columns; rows that stand for every source (or seed) leave it empty. */
static void put_keys(rs_text *csv, const rs_experiment *experiment, const rs_cell_state *state, size_t index,
                     bool of_source, bool of_seed) {
  const size_t *axis = state->cell.axis;
  const rs_variant *method = &experiment->methods.items[axis[RS_BY_METHOD]];
  const rs_variant *source = of_source ? &experiment->sources.items[axis[RS_BY_SOURCE]] : NULL;
  rs_csv_number(csv, (double)index);
  rs_csv_text(csv, experiment->models[axis[RS_BY_MODEL]].name);
  rs_csv_text(csv, method->label);
  rs_csv_number(csv, (double)experiment->lengths[axis[RS_BY_LENGTH]]);
  rs_csv_number(csv, state->scale);
  rs_csv_text(csv, source != NULL ? source->label : "");
  rs_csv_number(csv, of_seed ? (double)experiment->seeds[axis[RS_BY_SEED]] : NAN);
  rs_csv_text(csv, state->heads);
  for (size_t i = 0; i < experiment->swept_count; i++) put_swept(csv, experiment->swept[i], method, source);
}

static void put_scalars(rs_text *csv, const rs_experiment *experiment, const rs_cell_state *state) {
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_metric_kind *metric = experiment->metrics.items[m].metric;
    const rs_result *result = &state->results[m];
    for (size_t i = 0; i < metric->scalar_count; i++) {
      rs_csv_number(csv, state->status == RS_OK ? result->value[i] : NAN);
      if (metric->scalars[i].sampled) rs_csv_number(csv, state->status == RS_OK ? result->error[i] : NAN);
    }
  }
}

rs_status rs_write_summary(const rs_experiment *experiment, const rs_cell_state *cells, size_t count,
                           const char *directory, rs_err *err) {
  rs_text csv = {0};
  rs_status status = put_header(&csv, experiment, -1, err);
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    put_keys(&csv, experiment, &cells[i], i, true, true);
    put_scalars(&csv, experiment, &cells[i]);
    rs_csv_text(&csv, rs_status_name(cells[i].status));
    rs_csv_text(&csv, cells[i].message);
    rs_csv_end_row(&csv);
  }
  if (status == RS_OK) status = write_file(directory, "summary.csv", &csv, err);
  rs_text_clear(&csv);
  return status;
}

rs_status rs_write_curve(const rs_experiment *experiment, size_t metric, const rs_cell_state *cells, size_t count,
                         const char *directory, rs_err *err) {
  char name[80];
  rs_text csv = {0};
  const rs_metric_kind *kind = experiment->metrics.items[metric].metric;
  bool sampled = kind->row != NULL;
  rs_curve_file(experiment, metric, name);
  rs_status status = put_header(&csv, experiment, (int)metric, err);
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    const rs_curve *curve = &cells[i].results[metric].curve;
    bool shown = !sampled || cells[i].status == RS_OK; /* tables hold, whatever became of the rows */
    for (size_t row = 0; row < curve->rows && shown; row++) {
      put_keys(&csv, experiment, &cells[i], i, sampled, sampled || kind->draws);
      for (size_t c = 0; c < curve->columns; c++) rs_csv_number(&csv, curve->cells[row * curve->columns + c]);
      rs_csv_end_row(&csv);
    }
  }
  if (status == RS_OK) status = write_file(directory, name, &csv, err);
  rs_text_clear(&csv);
  return status;
}

rs_status rs_write_timings(const rs_cell_state *cells, size_t count, const char *directory, rs_err *err) {
  rs_text csv = {0};
  rs_text_puts(&csv, "cell,attention_seconds,scores,score_error,skipped_share,skipped_weight\n");
  for (size_t i = 0; i < count; i++) {
    const rs_cell_scores *scores = &cells[i].scores;
    const char *format = scores->f32 && scores->f64 ? "f32 f64" : scores->f32 ? "f32" : scores->f64 ? "f64" : "";
    rs_text_printf(&csv, "%zu,%.6f,%s,%.2g,%.4g,%.2g\n", i, cells[i].seconds, format, scores->error,
                   scores->pairs > 0 ? scores->skipped / scores->pairs : 0, scores->skipped_weight);
  }
  rs_status status = write_file(directory, "timings.csv", &csv, err);
  rs_text_clear(&csv);
  return status;
}
