/* Published numbers beside those of a run: STEM.csv, next to STEM.yaml, says which rows of the run they belong to. */
#include "claims.h"

#include "io/io.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "FOLDER/expected.csv", "STEM/summary" -> "FOLDER/STEM.csv"; of the config without a stem "FOLDER/config.csv". */
static void path_of(const char *claims, const char *file, rs_text *path) {
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
  path_of(claims, file, &path);
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
