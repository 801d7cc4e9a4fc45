/* results.c: one folder, read by its manifest. */
#include "report.h"

#include "io/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANIFEST_LIMIT = 64 << 20, SUMMARY_LIMIT = 2047 << 20 };

const char *report_member(const rs_node *node, const char *key) {
  const rs_node *child = node != NULL && node->kind == RS_MAPPING ? rs_node_get(node, key) : NULL;
  return child != NULL && child->kind == RS_SCALAR ? child->text : "";
}

void report_number(double value, rs_text *out) {
  char digits[40];
  double rounded;
  snprintf(digits, sizeof digits, "%.5e", value);
  rounded = strtod(digits, NULL); /* by the same locale */
  rs_text_number(out, rounded);
}

void report_tokens(double tokens, rs_text *out) {
  const double kilo = 1024, mega = 1048576;
  bool million = tokens >= mega && fmod(tokens, mega) == 0, thousand = tokens >= kilo && fmod(tokens, kilo) == 0;
  rs_text_number(out, million ? tokens / mega : thousand ? tokens / kilo : tokens);
  rs_text_puts(out, million ? "M" : thousand ? "k" : "");
}

const report_column *report_column_find(const report_results *results, const char *name) {
  for (size_t i = 0; i < results->count; i++)
    if (strcmp(results->columns[i].name, name) == 0) return &results->columns[i];
  return NULL;
}

static const char *field_of(const report_results *results, size_t place, size_t row) {
  return results->table->fields[row * results->table->columns + place];
}

const char *report_field(const report_results *results, const char *column, size_t row) {
  const report_column *found = results->table != NULL ? report_column_find(results, column) : NULL;
  return found != NULL ? field_of(results, found->place, row) : "";
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* The columns that the manifest lists for `file`, or NULL. */
static const rs_node *columns_of(const rs_node *root, const char *file) {
  const rs_node *files = rs_node_get(root, "files");
  for (size_t i = 0; files != NULL && i < files->count; i++)
    if (strcmp(report_member(&files->items[i], "file"), file) == 0) return rs_node_get(&files->items[i], "columns");
  return NULL;
}

static rs_status read_columns(report_results *results, const rs_node *columns, rs_err *err) {
  results->columns = rs_arena_take(&results->memory, columns->count, sizeof *results->columns);
  RS_TRY(rs_arena_check(&results->memory, err));
  for (size_t i = 0; i < columns->count; i++) {
    const rs_node *node = &columns->items[i];
    const char *name = report_member(node, "name"), *role = report_member(node, "role"),
               *better = report_member(node, "better");
    int place = rs_table_column(results->table, name);
    if (place < 0)
      return rs_fail(err, RS_INPUT, "%s/summary.csv:1: no column \"%s\", which manifest.json lists", results->directory,
                     name);
    results->columns[results->count++] = (report_column){.name = name,
                                                         .unit = report_member(node, "unit"),
                                                         .summary = report_member(node, "summary"),
                                                         .key = strcmp(role, "key") == 0,
                                                         .value = strcmp(role, "value") == 0,
                                                         .sourced = *report_member(node, "reads") != '\0',
                                                         .better = strcmp(better, "higher") == 0  ? 1
                                                                   : strcmp(better, "lower") == 0 ? -1
                                                                                                  : 0,
                                                         .place = (size_t)place};
  }
  return RS_OK;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Whether rows that differ in this column are different lines. */
static bool splits(const report_column *column) {
  return column->key && strcmp(column->name, "cell") != 0 && strcmp(column->name, "seed") != 0;
}

static bool same_line(const report_results *results, size_t a, size_t b) {
  for (size_t i = 0; i < results->count; i++) {
    const report_column *column = &results->columns[i];
    if (splits(column) && strcmp(field_of(results, column->place, a), field_of(results, column->place, b)) != 0)
      return false;
  }
  return true;
}

/* FNV-1a over the keys of a row. */
static uint64_t hash_row(const report_results *results, size_t row) {
  uint64_t value = 14695981039346656037u;
  for (size_t i = 0; i < results->count; i++) {
    if (!splits(&results->columns[i])) continue;
    const char *c = field_of(results, results->columns[i].place, row);
    do value = (value ^ (unsigned char)*c) * 1099511628211u;
    while (*c++ != '\0');
  }
  return value;
}

/* The line of each row, made where it is new: `slots` (room, a power of two) holds numbers of lines plus 1. */
static size_t line_of(report_results *results, size_t row, size_t *slots, size_t room) {
  size_t slot = (size_t)hash_row(results, row) & (room - 1);
  while (slots[slot] != 0 && !same_line(results, results->lines[slots[slot] - 1].row, row))
    slot = (slot + 1) & (room - 1);
  if (slots[slot] == 0) {
    double length = NAN;
    if (!rs_number_read(report_field(results, "length_tokens", row), &length)) length = NAN;
    results->lines[results->line_count++] = (report_line){.row = row, .length = length};
    slots[slot] = results->line_count;
  }
  return slots[slot] - 1;
}

static rs_status read_number(const report_results *results, const report_column *column, size_t row, double *value,
                             rs_err *err) {
  const char *text = field_of(results, column->place, row);
  *value = NAN;
  if (*text == '\0' || rs_number_read(text, value)) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s/summary.csv: row %zu: %s: \"%s\" is no number", results->directory, row + 1,
                 column->name, text);
}

/* Sums and counts of the values of one row. */
static rs_status add_row(report_results *results, size_t row, report_line *line, size_t *counts, rs_err *err) {
  line->rows++;
  const char *state = report_field(results, "status", row);
  if (*state != '\0' && strcmp(state, "ok") != 0) {
    line->bad++;
    return RS_OK;
  }
  for (size_t i = 0; i < results->count; i++) {
    double value;
    if (!results->columns[i].value) continue;
    RS_TRY(read_number(results, &results->columns[i], row, &value, err));
    if (isnan(value)) continue;
    line->means[i] += value;
    counts[i]++;
    results->columns[i].any = true;
  }
  return RS_OK;
}

static void note_keys(report_results *results) {
  for (size_t i = 0; i < results->count; i++) {
    report_column *column = &results->columns[i];
    for (size_t k = 1; k < results->line_count && splits(column) && !column->varies; k++)
      column->varies = strcmp(field_of(results, column->place, results->lines[k].row),
                              field_of(results, column->place, results->lines[0].row)) != 0;
  }
}

static rs_status fill_lines(report_results *results, size_t *of_row, size_t *counts, rs_err *err) {
  size_t columns = results->count;
  for (size_t i = 0; i < results->line_count; i++) results->lines[i].means = &results->means[i * columns];
  for (size_t row = 0; row < results->table->rows; row++)
    RS_TRY(add_row(results, row, &results->lines[of_row[row]], &counts[of_row[row] * columns], err));
  for (size_t i = 0; i < results->line_count * columns; i++)
    results->means[i] = counts[i] > 0 ? results->means[i] / (double)counts[i] : NAN;
  note_keys(results);
  results->longest = NAN;
  for (size_t i = 0; i < results->line_count; i++) results->longest = fmax(results->longest, results->lines[i].length);
  return RS_OK;
}

static rs_status read_lines(report_results *results, rs_err *err) {
  rs_arena *memory = &results->memory;
  size_t rows = results->table->rows, room = 16;
  while (room < 2 * rows) room *= 2;
  size_t *slots = rs_arena_take(memory, room, sizeof *slots), *of_row = rs_arena_take(memory, rows, sizeof *of_row);
  results->lines = rs_arena_take(memory, rows, sizeof *results->lines);
  RS_TRY(rs_arena_check(memory, err));
  for (size_t row = 0; row < rows; row++) of_row[row] = line_of(results, row, slots, room);
  size_t values = results->line_count * results->count, *counts = rs_arena_take(memory, values, sizeof *counts);
  results->means = rs_arena_take(memory, values, sizeof *results->means);
  RS_TRY(rs_arena_check(memory, err));
  return fill_lines(results, of_row, counts, err);
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

static rs_status read_file(const char *directory, const char *name, size_t limit, char **path, char **text,
                           size_t *length, rs_err *err) {
  *path = rs_path_join(directory, name, err);
  return *path != NULL ? rs_results_read(*path, limit, text, length, err) : RS_MEMORY;
}

static rs_status read_manifest(report_results *results, rs_err *err) {
  char *path, *text = NULL;
  size_t length;
  rs_status status = read_file(results->directory, "manifest.json", MANIFEST_LIMIT, &path, &text, &length, err);
  if (status == RS_OK) status = rs_json_read(text, length, path, &results->manifest, err);
  free(text);
  free(path);
  if (status != RS_OK) return status;
  const rs_node *root = &results->manifest->root;
  const char *config = report_member(root, "config");
  results->name = report_member(root, "name");
  results->version = report_member(root, "version");
  results->sha = report_member(root, "config_sha256");
  /* A config that a newer program wrote may not be read: the report then says less. */
  rs_err why = {0};
  status = *config != '\0' ? rs_yaml_read(config, strlen(config), "config", &results->config, &why) : RS_OK;
  return status == RS_MEMORY ? rs_fail(err, status, "%s", why.message) : RS_OK;
}

rs_status report_results_read(const char *directory, report_results *results, rs_err *err) {
  *results = (report_results){.directory = directory, .label = directory, .longest = NAN};
  RS_TRY(read_manifest(results, err));
  const rs_node *columns = columns_of(&results->manifest->root, "summary.csv");
  if (columns == NULL || columns->kind != RS_SEQUENCE) return RS_OK;
  char *path, *text = NULL;
  size_t length;
  rs_status status = read_file(directory, "summary.csv", SUMMARY_LIMIT, &path, &text, &length, err);
  if (status == RS_OK) status = rs_csv_read(text, length, path, &results->table, err);
  free(text);
  free(path);
  if (status == RS_OK) status = read_columns(results, columns, err);
  return status == RS_OK ? read_lines(results, err) : status;
}

void report_results_clear(report_results *results) {
  rs_tree_free(results->manifest);
  rs_tree_free(results->config);
  rs_table_free(results->table);
  rs_arena_clear(&results->memory);
  *results = (report_results){0};
}
