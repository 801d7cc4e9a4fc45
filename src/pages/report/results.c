/* results.c: one folder, read by its manifest. */
#include "report.h"

#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void report_value(const report_line *line, size_t column, rs_text *out) {
  const rs_interval *interval = &line->intervals[column];
  report_number(line->means[column], out);
  if (isnan(interval->low) || isnan(interval->high)) return;
  rs_text_puts(out, " [");
  report_number(interval->low, out);
  rs_text_puts(out, ", ");
  report_number(interval->high, out);
  rs_text_puts(out, "]");
}

void report_put(rs_text *out, const char *format, ...) {
  va_list words;
  va_start(words, format);
  for (const char *mark; (mark = strchr(format, '%')) != NULL; format = mark + 2) {
    rs_text_add(out, format, (size_t)(mark - format));
    if (mark[1] == 's')
      rs_xml_escape(va_arg(words, const char *), out);
    else if (mark[1] == 'z')
      rs_text_printf(out, "%zu", va_arg(words, size_t));
    else
      rs_text_puts(out, "%");
  }
  rs_text_puts(out, format);
  va_end(words);
}

const report_column *report_column_find(const report_results *results, const char *name) {
  for (size_t i = 0; i < results->count; i++)
    if (strcmp(results->columns[i].name, name) == 0) return &results->columns[i];
  return NULL;
}

const char *report_field(const report_results *results, const char *column, size_t row) {
  const report_column *found = report_column_find(results, column);
  return found != NULL ? rs_plot_field(results->summary, row, found->is) : "";
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Whether rows that differ in this column are different lines. */
static bool splits(const report_column *column) {
  return column->key && strcmp(column->name, "cell") != 0 && strcmp(column->name, "seed") != 0;
}

static int compare_lines(const void *left, const void *right) {
  const report_line *a = left, *b = right;
  const report_results *results = a->of;
  int sign = 0;
  for (size_t i = 0; i < results->count && sign == 0; i++)
    if (splits(&results->columns[i]))
      sign = strcmp(rs_plot_field(results->summary, a->row, results->columns[i].is),
                    rs_plot_field(results->summary, b->row, results->columns[i].is));
  return sign;
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

rs_status report_rival(const report_results *results, const report_line *line, const report_column *column,
                       rs_arena *memory, rs_rival *rival, rs_err *err) {
  const char **cells = rs_arena_take(memory, line->rows, sizeof *cells);
  const char **seeds = rs_arena_take(memory, line->rows, sizeof *seeds);
  RS_TRY(rs_arena_check(memory, err));
  *rival = (rs_rival){.cells = cells, .seeds = seeds, .mean = line->means[column - results->columns]};
  for (size_t row = line->row; row < results->summary->table->rows; row++) {
    const report_line here = {.of = results, .row = row};
    const char *state = report_field(results, "status", row);
    bool empty = *rs_plot_field(results->summary, row, column->is) == '\0';
    if (empty || (*state != '\0' && strcmp(state, "ok") != 0) || compare_lines(&here, line) != 0) continue;
    cells[rival->count] = report_field(results, "cell", row);
    seeds[rival->count++] = report_field(results, "seed", row);
  }
  return RS_OK;
}

/* The blocks of the column, whose table is read. */
static rs_status read_blocks(report_results *results, report_column *column, rs_err *err) {
  const rs_plot_column *low, *high;
  column->interval = rs_plot_interval_of(results->summary, column->is, &low, &high);
  for (size_t i = 0; i < results->count && column->interval; i++)
    results->columns[i].end |= results->columns[i].is == low || results->columns[i].is == high;
  rs_plot_file *file = rs_plot_blocks_file(&results->data, column->is);
  if (file != NULL && file->table == NULL) RS_TRY(rs_plot_table_read(file, err));
  column->blocks = rs_plot_blocks_of(file, column->is);
  return RS_OK;
}

/* Of one seed the summary says it, of several their blocks do. */
static rs_status find_interval(const report_results *results, const report_column *column, report_line *line,
                               rs_err *err) {
  rs_interval *interval = &line->intervals[column - results->columns];
  rs_arena memory = {0};
  rs_rival cells;
  rs_status status = report_rival(results, line, column, &memory, &cells, err);
  if (status == RS_OK && cells.count > 1)
    status = rs_blocks_interval(&column->blocks, cells.cells, NULL, cells.count, interval, err);
  rs_arena_clear(&memory);
  if (status != RS_OK || cells.count != 1) return status;
  const rs_plot_column *low, *high;
  rs_plot_interval_of(results->summary, column->is, &low, &high);
  for (size_t i = 0; i < results->count; i++) { /* means of one row are its values */
    if (results->columns[i].is == low) interval->low = line->means[i];
    if (results->columns[i].is == high) interval->high = line->means[i];
  }
  return RS_OK;
}

static rs_status find_intervals(report_results *results, rs_err *err) {
  for (size_t c = 0; c < results->count; c++)
    if (results->columns[c].value) RS_TRY(read_blocks(results, &results->columns[c], err));
  for (size_t k = 0; k < results->line_count; k++) {
    report_line *line = &results->lines[k];
    line->intervals = rs_arena_take(&results->memory, results->count, sizeof *line->intervals);
    RS_TRY(rs_arena_check(&results->memory, err));
    for (size_t c = 0; c < results->count; c++) {
      line->intervals[c] = (rs_interval){NAN, NAN, NAN};
      if (results->columns[c].interval) RS_TRY(find_interval(results, &results->columns[c], line, err));
    }
  }
  return RS_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Adds the values of one row to the sums of its line. */
static rs_status add_row(report_results *results, size_t row, report_line *line, rs_err *err) {
  const char *state = report_field(results, "status", row);
  bool bad = *state != '\0' && strcmp(state, "ok") != 0;
  line->rows++;
  line->bad += bad;
  for (size_t i = 0; i < results->count && !bad; i++) {
    report_column *column = &results->columns[i];
    const char *text = column->value ? rs_plot_field(results->summary, row, column->is) : "";
    double value = NAN;
    if (*text != '\0' && !rs_number_read(text, &value))
      return rs_fail(err, RS_INPUT, "%s/summary.csv: row %zu: %s: \"%s\" is no number", results->directory, row + 1,
                     column->name, text);
    if (isnan(value)) continue;
    line->means[i] += value;
    line->counts[i]++;
    column->any = true;
  }
  return RS_OK;
}

/* The line of a row, made where it is new: `tree` holds all of them by their keys. */
static rs_status take_row(report_results *results, size_t row, void **tree, rs_err *err) {
  report_line *line = &results->lines[results->line_count], **found;
  *line = (report_line){.of = results, .row = row, .length = NAN};
  found = tsearch(line, tree, compare_lines);
  if (found == NULL) return rs_fail(err, RS_MEMORY, "out of memory for the lines of a table");
  if (*found == line) {
    if (!rs_number_read(report_field(results, "length_tokens", row), &line->length)) line->length = NAN;
    line->means = rs_arena_take(&results->memory, results->count, sizeof *line->means);
    line->counts = rs_arena_take(&results->memory, results->count, sizeof *line->counts);
    RS_TRY(rs_arena_check(&results->memory, err));
    results->line_count++;
  }
  return add_row(results, row, *found, err);
}

static void finish_lines(report_results *results) {
  for (size_t k = 0; k < results->line_count; k++) {
    report_line *line = &results->lines[k];
    results->longest = fmax(results->longest, line->length);
    for (size_t i = 0; i < results->count; i++) {
      report_column *column = &results->columns[i];
      line->means[i] = line->counts[i] > 0 ? line->means[i] / (double)line->counts[i] : NAN;
      if (splits(column) && !column->varies)
        column->varies = strcmp(rs_plot_field(results->summary, line->row, column->is),
                                rs_plot_field(results->summary, results->lines[0].row, column->is)) != 0;
    }
  }
}

static void keep(void *line) {
  (void)line;
}

static rs_status read_lines(report_results *results, rs_err *err) {
  const rs_plot_file *file = results->summary;
  size_t rows = file->table->rows;
  void *tree = NULL;
  results->columns = rs_arena_take(&results->memory, file->count, sizeof *results->columns);
  results->lines = rs_arena_take(&results->memory, rows + 1, sizeof *results->lines);
  rs_status status = rs_arena_check(&results->memory, err);
  for (size_t i = 0; i < file->count && status == RS_OK; i++) {
    const rs_plot_column *is = &file->columns[i];
    results->columns[results->count++] =
        (report_column){.is = is, .name = is->name, .key = is->role == RS_PLOT_KEY, .value = is->role == RS_PLOT_VALUE};
  }
  for (size_t row = 0; row < rows && status == RS_OK; row++) status = take_row(results, row, &tree, err);
  tdestroy(tree, keep);
  if (status != RS_OK) return status;
  finish_lines(results);
  return find_intervals(results, err);
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

rs_status report_results_read(const char *directory, report_results *results, rs_err *err) {
  *results = (report_results){.directory = directory, .label = directory, .longest = NAN};
  RS_TRY(rs_plot_manifest_read(directory, &results->data, err));
  results->root = &results->data.manifest->root;
  const char *config = report_member(results->root, "config");
  rs_err why = {0}; /* a config that a newer program wrote may not be read: the report then says less */
  if (*config != '\0' && rs_yaml_read(config, strlen(config), "config", &results->config, &why) == RS_MEMORY)
    return rs_fail(err, RS_MEMORY, "%s", why.message);
  for (size_t i = 0; i < results->data.count; i++) {
    rs_plot_file *file = &results->data.files[i];
    if (strcmp(file->name, "summary.csv") != 0) continue;
    RS_TRY(rs_plot_table_read(file, err));
    results->summary = file;
    return read_lines(results, err);
  }
  return RS_OK;
}

void report_results_clear(report_results *results) {
  rs_plot_data_clear(&results->data);
  rs_tree_free(results->config);
  rs_arena_clear(&results->memory);
  *results = (report_results){0};
}
