/* The CSV files of a run, each written whole. */
#include "run.h"

#include <math.h>
#include <stdlib.h>

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

static void put_scalars(rs_text *csv, const rs_experiment *experiment, const rs_cell_state *state) {
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_metric_kind *metric = experiment->metrics.items[m].metric;
    const rs_result *result = &state->results[m];
    bool known = state->status == RS_OK || (state->read && metric->row == NULL);
    for (size_t i = 0; i < metric->scalar_count; i++) {
      rs_csv_number(csv, known ? result->value[i] : NAN);
      if (metric->scalars[i].sampled) rs_csv_number(csv, known ? result->error[i] : NAN);
    }
  }
}

rs_status rs_write_summary(const rs_experiment *experiment, const rs_cell_state *cells, size_t count,
                           const char *directory, rs_err *err) {
  rs_text csv = {0};
  rs_status status = put_header(&csv, experiment, -1, err);
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    rs_cell_row row = {experiment, &cells[i], i, .sourced = true, .seeded = true};
    rs_put_keys(&row, &csv);
    put_scalars(&csv, experiment, &cells[i]);
    rs_put_status(&row, &csv);
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
  bool sourced = rs_is_sourced(experiment, kind), seeded = rs_is_seeded(experiment, kind);
  rs_curve_file(experiment, metric, name);
  rs_status status = put_header(&csv, experiment, (int)metric, err);
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    const rs_curve *curve = &cells[i].results[metric].curve;
    bool shown = !sourced || cells[i].status == RS_OK; /* tables hold, whatever became of the rows */
    rs_cell_row row = {experiment, &cells[i], i, .sourced = sourced, .seeded = seeded};
    for (size_t r = 0; r < curve->rows && shown; r++) {
      rs_put_keys(&row, &csv);
      for (size_t c = 0; c < curve->columns; c++) rs_csv_number(&csv, curve->cells[r * curve->columns + c]);
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
