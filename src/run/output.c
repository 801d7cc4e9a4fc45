/* The files of a run: cell after cell goes into all of them at once, so that no more than one need be in memory. */
#include "cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUMMARY, TIMINGS, CURVES }; /* files in their order; curves by the number of their metric */

/* ---- names ------------------------------------------------------------------------------------------------------- */

bool rs_is_run_file(const char *name) {
  static const char *const always[] = {"summary.csv", "timings.csv", "config.yaml", "manifest.json", "shard.json"};
  size_t count, length = strlen(name), end = length > 4 ? length - 4 : 0;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  for (size_t i = 0; i < RS_COUNT(always); i++)
    if (strcmp(name, always[i]) == 0) return true;
  for (size_t i = 0; i < count; i++) {
    const char *metric = kinds[i]->kind.name;
    bool same = strlen(metric) == end && strncmp(metric, name, end) == 0 && strcmp(name + end, ".csv") == 0;
    if (same && kinds[i]->curve_count > 0) return true;
  }
  return false;
}

/* ---- beginning --------------------------------------------------------------------------------------------------- */

static rs_status put_header(rs_out_file *file, const rs_experiment *experiment, int metric, rs_err *err) {
  rs_out_columns columns;
  rs_text *csv = rs_out_file_text(file);
  RS_TRY(rs_columns_make(experiment, metric, &columns, err));
  for (size_t i = 0; i < columns.count; i++) rs_csv_text(csv, columns.columns[i].name);
  rs_csv_end_row(csv);
  free(columns.columns);
  return RS_OK;
}

static rs_status open_files(rs_output *output, rs_err *err) {
  RS_TRY(rs_out_file_create(output->directory, output->shown, "summary.csv", &output->files[SUMMARY], err));
  RS_TRY(put_header(output->files[SUMMARY], output->experiment, -1, err));
  RS_TRY(rs_out_file_create(output->directory, output->shown, "timings.csv", &output->files[TIMINGS], err));
  rs_text_puts(rs_out_file_text(output->files[TIMINGS]),
               "cell,attention_seconds,scores,score_error,skipped_share,skipped_weight\n");
  for (size_t m = 0; m < output->experiment->metrics.count; m++) {
    char name[80];
    if (!rs_curve_file(output->experiment, m, name)) continue;
    RS_TRY(rs_out_file_create(output->directory, output->shown, name, &output->files[CURVES + m], err));
    RS_TRY(put_header(output->files[CURVES + m], output->experiment, (int)m, err));
  }
  return RS_OK;
}

rs_status rs_output_begin(const rs_experiment *experiment, const char *directory, const char *shown, rs_output *output,
                          rs_err *err) {
  *output = (rs_output){
      .experiment = experiment, .directory = directory, .shown = shown, .count = CURVES + experiment->metrics.count};
  output->files = rs_arena_take(&output->arena, output->count, sizeof(rs_out_file *));
  output->rows = rs_arena_take(&output->arena, output->count, sizeof *output->rows);
  output->sums = rs_arena_take(&output->arena, output->count + 1, sizeof *output->sums); /* and config.yaml */
  RS_TRY(rs_arena_check(&output->arena, err));
  return open_files(output, err);
}

void rs_output_clear(rs_output *output) {
  for (size_t i = 0; i < output->count && output->files != NULL; i++) rs_out_file_free(output->files[i]);
  rs_arena_clear(&output->arena);
  free(output->totals.arithmetic);
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

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

static rs_status add_summary(rs_output *output, size_t number, const rs_cell_state *state, rs_err *err) {
  rs_text *csv = rs_out_file_text(output->files[SUMMARY]);
  rs_cell_row row = {output->experiment, state, number, .sourced = true, .seeded = true};
  rs_put_keys(&row, csv);
  put_scalars(csv, output->experiment, state);
  rs_put_status(&row, csv);
  rs_csv_end_row(csv);
  output->rows[SUMMARY]++;
  return rs_out_file_put(output->files[SUMMARY], err);
}

static rs_status add_curve(rs_output *output, size_t number, const rs_cell_state *state, size_t metric, rs_err *err) {
  rs_out_file *file = output->files[CURVES + metric];
  const rs_metric_kind *kind = output->experiment->metrics.items[metric].metric;
  bool sourced = rs_is_sourced(output->experiment, kind), seeded = rs_is_seeded(output->experiment, kind);
  const rs_curve *curve = &state->results[metric].curve;
  bool shown = !sourced || state->status == RS_OK; /* tables hold, whatever became of the rows */
  rs_cell_row row = {output->experiment, state, number, .sourced = sourced, .seeded = seeded};
  for (size_t r = 0; r < curve->rows && shown; r++) {
    rs_text *csv = rs_out_file_text(file);
    rs_put_keys(&row, csv);
    for (size_t c = 0; c < curve->columns; c++) rs_csv_number(csv, curve->cells[r * curve->columns + c]);
    rs_csv_end_row(csv);
    output->rows[CURVES + metric]++;
    RS_TRY(rs_out_file_put(file, err));
  }
  return RS_OK;
}

static rs_status add_timings(rs_output *output, size_t number, const rs_cell_state *state, rs_err *err) {
  const rs_cell_scores *scores = &state->scores;
  const char *format = scores->f32 && scores->f64 ? "f32 f64" : scores->f32 ? "f32" : scores->f64 ? "f64" : "";
  rs_text_printf(rs_out_file_text(output->files[TIMINGS]), "%zu,%.6f,%s,%.2g,%.4g,%.2g\n", number, state->seconds,
                 format, scores->error, scores->pairs > 0 ? scores->skipped / scores->pairs : 0,
                 scores->skipped_weight);
  output->rows[TIMINGS]++;
  return rs_out_file_put(output->files[TIMINGS], err);
}

/* Each instruction set once for each model. */
static rs_status note_arithmetic(rs_totals *totals, const rs_cell_state *state, rs_err *err) {
  if (*state->arithmetic == '\0') return RS_OK;
  for (size_t i = 0; i < totals->arithmetic_count; i++)
    if (totals->arithmetic[i].model == state->cell.axis[RS_BY_MODEL] &&
        strcmp(totals->arithmetic[i].words, state->arithmetic) == 0)
      return RS_OK;
  RS_TRY(RS_GROW(totals->arithmetic, &totals->arithmetic_capacity, totals->arithmetic_count + 1, err));
  rs_arithmetic *added = &totals->arithmetic[totals->arithmetic_count++];
  added->model = state->cell.axis[RS_BY_MODEL];
  memcpy(added->words, state->arithmetic, sizeof added->words);
  return RS_OK;
}

void rs_summary_note(rs_run_summary *summary, size_t number, const rs_cell_state *state) {
  if (state->status != RS_OK && summary->failed++ == 0) {
    summary->first_failed = number;
    snprintf(summary->message, sizeof summary->message, "%s", state->message);
  }
  summary->starved += state->status == RS_MEMORY;
}

static rs_status add_totals(rs_totals *totals, const rs_cell_state *state, rs_err *err) {
  totals->written++;
  totals->single += state->scores.f32;
  totals->twice += state->scores.f64;
  totals->error = fmax(totals->error, state->scores.error);
  totals->weight = fmax(totals->weight, state->scores.skipped_weight);
  return note_arithmetic(totals, state, err);
}

rs_status rs_output_add(rs_output *output, size_t number, const rs_cell_state *state, rs_err *err) {
  RS_TRY(add_summary(output, number, state, err));
  for (size_t m = 0; m < output->experiment->metrics.count; m++)
    if (output->files[CURVES + m] != NULL) RS_TRY(add_curve(output, number, state, m, err));
  RS_TRY(add_timings(output, number, state, err));
  rs_summary_note(output->summary, number, state);
  return add_totals(&output->totals, state, err);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static rs_status write_text(const rs_output *output, const char *name, const rs_text *text, rs_file_sums *sums,
                            rs_err *err) {
  rs_out_file *file;
  RS_TRY(rs_text_check(text, err));
  RS_TRY(rs_out_file_create(output->directory, output->shown, name, &file, err));
  rs_text_add(rs_out_file_text(file), rs_text_string(text), text->length);
  rs_status status = rs_out_file_close(file, sums, err);
  sums->rows = RS_NO_COUNT;
  rs_out_file_free(file);
  return status;
}

rs_status rs_output_end(rs_output *output, rs_err *err) {
  rs_text config = {0}, manifest = {0};
  rs_file_sums unread;
  for (size_t i = 0; i < output->count; i++) {
    if (output->files[i] == NULL) continue;
    rs_file_sums *sums = &output->sums[output->sum_count++];
    RS_TRY(rs_out_file_close(output->files[i], sums, err));
    sums->rows = output->rows[i];
  }
  rs_experiment_write(output->experiment, &config);
  rs_status status = write_text(output, "config.yaml", &config, &output->sums[output->sum_count++], err);
  if (status == RS_OK) status = rs_manifest_write(output, &config, &manifest, err);
  if (status == RS_OK) status = write_text(output, "manifest.json", &manifest, &unread, err);
  rs_text_clear(&config);
  rs_text_clear(&manifest);
  return status;
}
