/* Claims beside what a run wrote, and beside published numbers that are joined to it. */
#include "claims.h"

#include "io/io.h"
#include "train/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- published numbers beside a config --------------------------------------------------------------------------- */

/* "FOLDER/expected.csv", "STEM/summary" -> "FOLDER/STEM.csv"; of the config without a stem "FOLDER/config.csv". */
static void facts_path(const char *claims, const char *file, rs_text *path) {
  const char *folder_end = strrchr(claims, '/'), *stem_end = strrchr(file, '/');
  if (folder_end != NULL) rs_text_add(path, claims, (size_t)(folder_end + 1 - claims));
  rs_text_printf(path, "%.*s.csv", stem_end != NULL ? (int)(stem_end - file) : 6, stem_end != NULL ? file : "config");
}

/* The column of the run that each column of the facts is; -1: it is a new one. RS_INPUT where all are new. */
static rs_status match_columns(const rs_table *run, const rs_table *facts, const char *name, int *match, rs_err *err) {
  bool shared = false;
  for (size_t c = 0; c < facts->columns; c++) {
    match[c] = rs_table_column(run, facts->header[c]);
    shared |= match[c] >= 0;
  }
  return shared ? RS_OK : rs_fail(err, RS_INPUT, "%s: none of its columns is one of the run (as method)", name);
}

static bool belongs(const rs_table *run, size_t row, const rs_table *facts, size_t fact, const int *match) {
  for (size_t c = 0; c < facts->columns; c++) {
    if (match[c] < 0) continue;
    const char *wanted = facts->fields[fact * facts->columns + c];
    if (strcmp(run->fields[row * run->columns + (size_t)match[c]], wanted) != 0) return false;
  }
  return true;
}

/* The fact of each row of the run, facts->rows: none. RS_INPUT for a fact without a row, and a row with two. */
static rs_status match_rows(const rs_table *run, const rs_table *facts, const char *name, const int *match,
                            size_t *fact_of, rs_err *err) {
  for (size_t row = 0; row < run->rows; row++) fact_of[row] = facts->rows;
  for (size_t fact = 0; fact < facts->rows; fact++) {
    size_t rows = 0;
    for (size_t row = 0; row < run->rows; row++) {
      if (!belongs(run, row, facts, fact, match)) continue;
      if (fact_of[row] < facts->rows)
        return rs_fail(err, RS_INPUT, "%s: its rows %zu and %zu speak of the same row of the run", name,
                       fact_of[row] + 1, fact + 1);
      fact_of[row] = fact;
      rows++;
    }
    if (rows == 0) return rs_fail(err, RS_INPUT, "%s: no row of the run is the one its row %zu names", name, fact + 1);
  }
  return RS_OK;
}

static void write_joined(const rs_table *run, const rs_table *facts, const int *match, const size_t *fact_of,
                         rs_text *csv) {
  for (size_t c = 0; c < run->columns; c++) rs_csv_text(csv, run->header[c]);
  for (size_t c = 0; c < facts->columns; c++)
    if (match[c] < 0) rs_csv_text(csv, facts->header[c]);
  rs_csv_end_row(csv);
  for (size_t row = 0; row < run->rows; row++) {
    const char *const *fact = (const char *const *)facts->fields + fact_of[row] * facts->columns;
    for (size_t c = 0; c < run->columns; c++) rs_csv_text(csv, run->fields[row * run->columns + c]);
    for (size_t c = 0; c < facts->columns; c++)
      if (match[c] < 0) rs_csv_text(csv, fact_of[row] < facts->rows ? fact[c] : "");
    rs_csv_end_row(csv);
  }
}

/* Replaces the run's table. */
static rs_status join(rs_table **run, const rs_table *facts, const char *name, rs_err *err) {
  rs_text csv = {0};
  rs_table *joined = NULL;
  int *match = rs_alloc(facts->columns, sizeof *match, err);
  size_t *fact_of = rs_alloc((*run)->rows, sizeof *fact_of, err);
  rs_status status = match != NULL && fact_of != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) status = match_columns(*run, facts, name, match, err);
  if (status == RS_OK) status = match_rows(*run, facts, name, match, fact_of, err);
  if (status == RS_OK) write_joined(*run, facts, match, fact_of, &csv);
  if (status == RS_OK) status = rs_text_check(&csv, err);
  if (status == RS_OK) status = rs_csv_read(rs_text_string(&csv), csv.length, name, &joined, err);
  if (status == RS_OK) {
    rs_table_free(*run);
    *run = joined;
  }
  rs_text_clear(&csv);
  free(match);
  free(fact_of);
  return status;
}

rs_status rs_facts_join(const char *claims, const char *file, rs_table **run, rs_err *err) {
  rs_text path = {0};
  char *text = NULL;
  size_t length;
  rs_table *facts = NULL;
  facts_path(claims, file, &path);
  rs_status status = rs_text_check(&path, err);
  if (status == RS_OK && access(rs_text_string(&path), F_OK) == 0) {
    status = rs_results_read(rs_text_string(&path), RS_LARGEST_TABLE, &text, &length, err);
    if (status == RS_OK) status = rs_csv_read(text, length, rs_text_string(&path), &facts, err);
    if (status == RS_OK) status = join(run, facts, rs_text_string(&path), err);
  }
  rs_table_free(facts);
  free(text);
  rs_text_clear(&path);
  return status;
}

/* ---- claims beside what a run wrote ------------------------------------------------------------------------------ */

/* The CSV file that was read last: claims about one file stand together. */
typedef struct source {
  char *path, *text;
  rs_table *table;
} source;

static void clear(source *from) {
  rs_table_free(from->table);
  free(from->text);
  free(from->path);
  *from = (source){0};
}

/* Whether the claim selects the models of this name, "model=NAME", or none by name. */
static bool is_about(const rs_claim *claim, const char *name) {
  static const char key[] = "model=";
  const char *at = strstr(claim->where, key);
  size_t length = strlen(name);
  if (at == NULL || (at > claim->where && at[-1] != ' ')) return true;
  for (; at != NULL; at = strstr(at, key)) {
    at += sizeof key - 1;
    const char *end = at + length;
    if (strncmp(at, name, length) == 0 && (*end == '\0' || *end == ';' || strncmp(end, " less ", 6) == 0)) return true;
  }
  return false;
}

/* A checkpoint that cannot be made fails its cells, and counts for none. */
static rs_status measure_model(rs_claims *claims, const rs_experiment *experiment, size_t model, const bool *concerned,
                               rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  rs_transformer *begun;
  rs_err why = {0};
  rs_status status = rs_checkpoint_create(experiment, model, &begun, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK) return RS_OK;
  for (size_t i = 0; i < claims->count; i++) {
    rs_claim *claim = &claims->items[i];
    if (!concerned[i] || !is_about(claim, experiment->models[model].name)) continue;
    if (claim->seeds == 0 || begun->size < claim->least_weights) claim->least_weights = begun->size;
    if (begun->size > claim->most_weights) claim->most_weights = begun->size;
    claim->seeds = checkpoint->folder != NULL || checkpoint->seeded ? 1 : experiment->seed_count;
  }
  rs_transformer_free(begun);
  return RS_OK;
}

rs_status rs_claims_measure(rs_claims *claims, const char *stem, size_t length, const rs_experiment *experiment,
                            rs_err *err) {
  bool trained = experiment->checkpoints != NULL;
  bool *concerned = rs_alloc(claims->count, sizeof *concerned, err);
  rs_status status = concerned != NULL ? RS_OK : RS_MEMORY;
  for (size_t i = 0; i < claims->count && status == RS_OK; i++) {
    const rs_claim *claim = &claims->items[i];
    const char *slash = strrchr(claim->file, '/'), *name = slash != NULL ? claim->file : "config";
    size_t size = slash != NULL ? (size_t)(slash - claim->file) : strlen(name);
    concerned[i] = size == length && memcmp(name, stem, size) == 0;
    if (concerned[i] && trained && claim->verdict == RS_REFUTED)
      status = rs_fail(err, RS_INPUT,
                       "%s:%zu: verdict: is refuted, but %.*s.yaml reads trained models, which refute "
                       "nothing (missed for a number, does_not_appear for an order or a statement)",
                       claims->name, claim->line, (int)length, stem);
    if (concerned[i] && !trained && claim->verdict == RS_DOES_NOT_APPEAR)
      status = rs_fail(err, RS_INPUT,
                       "%s:%zu: verdict: is does_not_appear, but %.*s.yaml reads no trained model "
                       "(refuted, or missed for a number)",
                       claims->name, claim->line, (int)length, stem);
  }
  for (size_t m = 0; m < experiment->model_count && status == RS_OK && trained; m++)
    status = measure_model(claims, experiment, m, concerned, err);
  free(concerned);
  return status;
}

bool rs_claims_is_full(const char *stem, size_t length) {
  static const char end[] = "full";
  size_t size = sizeof end - 1;
  return length >= size && memcmp(stem + length - size, end, size) == 0;
}

/* "decay" -> RESULTS/NAME/decay.csv, "STEM/decay" -> RESULTS/NAME-STEM/decay.csv. NULL: no memory. */
static char *path_of(const char *results, const char *name, const char *file) {
  const char *slash = strrchr(file, '/');
  rs_text path = {0};
  if (slash == NULL)
    rs_text_printf(&path, "%s/%s/%s.csv", results, name, file);
  else
    rs_text_printf(&path, "%s/%s-%.*s/%s.csv", results, name, (int)(slash - file), file, slash + 1);
  if (!path.failed) return path.data;
  rs_text_clear(&path);
  return NULL;
}

/* The table of `file` with the published numbers that stand beside the claims. */
static rs_status read_table(source *from, const char *claims, const char *results, const char *name, const char *file,
                            rs_err *err) {
  size_t length;
  char *path = path_of(results, name, file);
  if (path == NULL) return rs_fail(err, RS_MEMORY, "out of memory");
  if (from->table != NULL && strcmp(path, from->path) == 0) {
    free(path);
    return RS_OK;
  }
  clear(from);
  from->path = path;
  RS_TRY(rs_results_read(path, RS_LARGEST_TABLE, &from->text, &length, err));
  RS_TRY(rs_csv_read(from->text, length, path, &from->table, err));
  rs_status status = rs_facts_join(claims, file, &from->table, err);
  if (status != RS_OK) clear(from);
  return status;
}

void rs_claim_judge(const rs_claim *claim, rs_claim_result *finding) {
  char number[RS_NUMBER_CHARS];
  bool contradicts = rs_claim_contradicts(claim);
  bool expected = !claim->claimed.stated || rs_bound_holds(&claim->claimed, finding->value);
  if (claim->verdict == RS_DOES_NOT_APPEAR)
    expected = expected && !(fabs(finding->value - claim->claimed.number) <= claim->here.tolerance);
  bool here = !claim->here.stated || rs_bound_holds(&claim->here, finding->value);
  rs_number_format(finding->value, number);
  finding->held = here && expected == !contradicts;
  if (finding->held) return;
  if (!here)
    snprintf(finding->why, sizeof finding->why, "comes to %s, not to %g as said here", number, claim->here.number);
  else if (contradicts)
    snprintf(finding->why, sizeof finding->why, "comes to %s, which does not contradict %.40s", number,
             claim->expected);
  else if (claim->claimed.tolerance > 0)
    snprintf(finding->why, sizeof finding->why, "comes to %s, not %.40s within %g", number, claim->expected,
             claim->claimed.tolerance);
  else
    snprintf(finding->why, sizeof finding->why, "comes to %s, not %.40s", number, claim->expected);
}

static bool is_left_out(const rs_claim *claim, bool full) {
  const char *slash = strrchr(claim->file, '/');
  return !full && slash != NULL && rs_claims_is_full(claim->file, (size_t)(slash - claim->file));
}

static rs_status check_one(const rs_claims *claims, const rs_claim *claim, source *from, const char *results,
                           const char *name, rs_claim_result *finding) {
  rs_err why = {0};
  rs_status status = read_table(from, claims->name, results, name, claim->file, &why);
  if (status == RS_OK) status = rs_table_select(from->table, claim->column, claim->where, NULL, &finding->value, &why);
  if (status == RS_OK)
    rs_claim_judge(claim, finding);
  else
    rs_shorten(why.message, sizeof finding->why, finding->why);
  return status;
}

rs_status rs_claims_check(const rs_claims *claims, const char *results, const char *name, bool full,
                          rs_claim_result *findings, rs_err *err) {
  source from = {0};
  rs_status status = RS_OK;
  for (size_t i = 0; i < claims->count && status != RS_MEMORY; i++) {
    findings[i] = (rs_claim_result){.value = NAN, .left_out = is_left_out(&claims->items[i], full)};
    if (!findings[i].left_out) status = check_one(claims, &claims->items[i], &from, results, name, &findings[i]);
  }
  clear(&from);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "out of memory") : RS_OK;
}
