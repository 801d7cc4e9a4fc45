/* The files of a run, into all of which a cell goes at once, so that no more than one need be in memory; and the
 * folder: whether it may be written, and its set of files. */
#include "ledger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* For one row of a file. */
typedef struct cell_row {
  const rs_experiment *experiment;
  const rs_cell_state *state;
  size_t number;        /* of the cell */
  bool sourced, seeded; /* else the row stands for every source, or every seed, and leaves it empty */
} cell_row;

/* ---- key columns ------------------------------------------------------------------------------------------------- */

static const rs_variant *row_method(const cell_row *row) {
  return &row->experiment->methods.items[row->state->cell.axis[RS_BY_METHOD]];
}

/* What the cell reads: a source, or the task of checkpoints. NULL where the row stands for every source. */
static const rs_variant *row_source(const cell_row *row) {
  if (row->sourced && row->experiment->sources.count == 0) return &row->experiment->task;
  return row->sourced ? &row->experiment->sources.items[row->state->cell.axis[RS_BY_SOURCE]] : NULL;
}

/* The value as config text; a file without its folder, so that no path of this machine gets into the CSV files. */
static void put_value(rs_text *text, const rs_param *param, const rs_value *value) {
  const char *slash = value->file != NULL ? strrchr(value->file, '/') : NULL;
  if (slash != NULL && rs_value_is_file(param, value))
    rs_text_puts(text, slash + 1);
  else
    rs_value_write(param, value, text);
}

/* A swept parameter's value, from the method, the source or the checkpoint that has it. */
static void put_swept(const cell_row *row, const char *name, rs_text *csv) {
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

static void put_keys(const cell_row *row, rs_text *csv) {
  const rs_experiment *experiment = row->experiment;
  const size_t *axis = row->state->cell.axis;
  const rs_variant *source = row_source(row);
  rs_csv_number(csv, (double)row->number); /* in the order of the columns */
  rs_csv_text(csv, experiment->models[axis[RS_BY_MODEL]].name);
  rs_csv_text(csv, row_method(row)->label);
  rs_csv_number(csv, (double)experiment->lengths[axis[RS_BY_LENGTH]]);
  rs_csv_number(csv, row->state->scale);
  rs_csv_text(csv, source != NULL ? source->label : "");
  rs_csv_number(csv, row->seeded ? (double)experiment->seeds[axis[RS_BY_SEED]] : NAN);
  rs_csv_text(csv, row->state->heads);
  for (size_t i = 0; i < row->experiment->swept_count; i++) put_swept(row, row->experiment->swept[i], csv);
}

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

/* ---- cells ------------------------------------------------------------------------------------------------------- */

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

static rs_status put_summary(rs_output *output, size_t number, const rs_cell_state *state, rs_err *err) {
  rs_text *csv = rs_out_file_text(output->files[SUMMARY]);
  cell_row row = {output->experiment, state, number, .sourced = true, .seeded = true};
  put_keys(&row, csv);
  put_scalars(csv, output->experiment, state);
  rs_csv_text(csv, rs_status_name(state->status));
  rs_csv_text(csv, state->message);
  rs_csv_end_row(csv);
  output->rows[SUMMARY]++;
  return rs_out_file_put(output->files[SUMMARY], err);
}

static rs_status put_curve(rs_output *output, size_t number, const rs_cell_state *state, size_t metric, rs_err *err) {
  rs_out_file *file = output->files[CURVES + metric];
  const rs_metric_kind *kind = output->experiment->metrics.items[metric].metric;
  bool observed = rs_metric_observes(kind), trained = output->experiment->checkpoints != NULL;
  bool sourced = observed || (trained && !rs_observes(output->experiment)); /* of checkpoints: else all on the task */
  bool seeded = observed || kind->draws || trained;
  const rs_curve *curve = &state->results[metric].curve;
  bool shown = !sourced || state->status == RS_OK; /* tables hold, whatever became of the rows */
  cell_row row = {output->experiment, state, number, .sourced = sourced, .seeded = seeded};
  for (size_t r = 0; r < curve->rows && shown; r++) {
    rs_text *csv = rs_out_file_text(file);
    put_keys(&row, csv);
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

static rs_status put_cell(rs_output *output, size_t number, const rs_cell_state *state, rs_err *err) {
  RS_TRY(put_summary(output, number, state, err));
  for (size_t m = 0; m < output->experiment->metrics.count; m++)
    if (output->files[CURVES + m] != NULL) RS_TRY(put_curve(output, number, state, m, err));
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

static rs_status end_files(rs_output *output, rs_err *err) {
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

/* ---- what stands in a folder ------------------------------------------------------------------------------------- */

/* Whether the file begins as every CSV file of a run does: then it is a result, committed without its manifest. */
static bool is_result(const char *path) {
  static const char begins[] = "cell,";
  char head[sizeof begins - 1];
  FILE *file = fopen(path, "rb");
  bool result = file != NULL && fread(head, 1, sizeof head, file) == sizeof head;
  if (file != NULL) fclose(file);
  return result && memcmp(head, begins, sizeof head) == 0;
}

/* A folder without a manifest is not ours: what stands in it under our names is somebody's, unless it reads like ours.
 * A folder or device under our name cannot be replaced. */
rs_status rs_target_check(const rs_experiment *experiment, const char *directory, rs_err *err) {
  static const char *const always[] = {"summary.csv", "config.yaml", "timings.csv", "manifest.json"};
  bool ours = rs_folder_has(directory, "manifest.json");
  for (size_t i = 0; i < RS_COUNT(always) + experiment->metrics.count; i++) {
    char name[80], path[RS_PATH_CHARS];
    struct stat info;
    bool fixed = i < RS_COUNT(always);
    if (fixed) snprintf(name, sizeof name, "%s", always[i]);
    if (!fixed && !rs_curve_file(experiment, i - RS_COUNT(always), name)) continue;
    RS_TRY(rs_folder_path(directory, name, path, err));
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
      return rs_fail(err, RS_IO, "%s: cannot write: not a regular file", path);
    if (!ours && access(path, F_OK) == 0 && !is_result(path))
      return rs_fail(err, RS_IO,
                     "%s/%s is there already, and no manifest.json says that a run made it (another --out, "
                     "or move it away)",
                     directory, name);
  }
  return RS_OK;
}

/* ---- its files --------------------------------------------------------------------------------------------------- */

/* All cells that are done into a new set of files, in their order. */
static rs_status fill_set(const rs_ledger *ledger, const char *directory, const char *shown, rs_run_summary *summary,
                          rs_err *err) {
  const rs_experiment *experiment = ledger->experiment;
  rs_output output = {.experiment = experiment,
                      .directory = directory,
                      .shown = shown,
                      .count = CURVES + experiment->metrics.count,
                      .cells = ledger->count,
                      .isa = ledger->isa,
                      .summary = summary};
  output.files = rs_arena_take(&output.arena, output.count, sizeof(rs_out_file *));
  output.rows = rs_arena_take(&output.arena, output.count, sizeof *output.rows);
  output.sums = rs_arena_take(&output.arena, output.count + 1, sizeof *output.sums); /* and config.yaml */
  rs_status status = rs_arena_check(&output.arena, err);
  if (status == RS_OK) status = open_files(&output, err);
  for (size_t i = 0; i < ledger->count && status == RS_OK; i++) {
    rs_cell_state state;
    if (ledger->places[i] == 0) continue;
    status = rs_ledger_read(ledger, i, &state, err);
    if (status == RS_OK) status = put_cell(&output, i, &state, err);
    rs_cell_state_clear(experiment, &state);
  }
  if (status == RS_OK) status = end_files(&output, err);
  for (size_t i = 0; i < output.count && output.files != NULL; i++) rs_out_file_free(output.files[i]);
  rs_arena_clear(&output.arena);
  free(output.totals.arithmetic);
  return status;
}

/* The set then takes the old one's place. */
rs_status rs_target_write(const rs_ledger *ledger, const char *directory, bool partial, rs_run_summary *summary,
                          rs_err *err) {
  rs_folder_change change;
  RS_TRY(rs_folder_change_begin(directory, rs_is_run_file, &change, err));
  rs_status status = fill_set(ledger, change.staged, directory, summary, err);
  /* results that are there are not given for such as lack cells */
  if (status == RS_OK && summary->starved > 0 && !partial && rs_folder_has(directory, "manifest.json"))
    status = rs_fail(err, RS_MEMORY,
                     "%zu cells ran out of memory, and the results in %s stay as they were (ropescope plan says what a "
                     "run takes; what is done is kept: the same command goes on, --partial writes it as it is)",
                     summary->starved, directory);
  if (status == RS_OK) status = rs_folder_change_commit(&change, err);
  rs_folder_change_clear(&change);
  return status;
}

/* ---- results of other configs ------------------------------------------------------------------------------------ */

/* The config of the folder as this version writes it out; one that cannot be read is another one. */
static rs_status read_back(const char *path, const rs_method_list *beside, rs_text *yaml, bool *read, rs_err *err) {
  rs_experiment *experiment = NULL;
  rs_problems problems = {0};
  rs_err why = {0};
  rs_status status = rs_config_load(path, (rs_config_edits){.beside = beside}, &experiment, &problems, &why);
  *read = status == RS_OK;
  if (*read) rs_experiment_write(experiment, yaml);
  rs_experiment_free(experiment);
  rs_problems_clear(&problems);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : rs_text_check(yaml, err);
}

/* Both are compared as written out, so that a config of an older version, or one whose keys stand in another order, is
 * still the same. Without summary.csv there are no whole results. */
rs_status rs_folder_differs(const rs_experiment *experiment, const char *directory, bool *differs, rs_err *err) {
  rs_text mine = {0}, theirs = {0};
  char path[RS_PATH_CHARS];
  bool read = false;
  *differs = false;
  if (!rs_folder_has(directory, "summary.csv") || !rs_folder_has(directory, "config.yaml")) return RS_OK;
  RS_TRY(rs_folder_path(directory, "config.yaml", path, err));
  rs_experiment_write(experiment, &mine);
  rs_status status = rs_text_check(&mine, err);
  if (status == RS_OK) status = read_back(path, experiment->beside, &theirs, &read, err);
  if (status == RS_OK) *differs = !read || strcmp(rs_text_string(&mine), rs_text_string(&theirs)) != 0;
  rs_text_clear(&mine);
  rs_text_clear(&theirs);
  return status;
}
