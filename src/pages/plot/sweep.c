/* sweep.c: checkpoints that differ in one number. A swept parameter has a key column of its own, and the name of each
 * of its checkpoints says its value: "rope tune.steps=20". A line joins those whose names are otherwise the same. */
#include "choice.h"

#include "data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_VALUES = 3 };

static const char prefix[] = "checkpoint.";

/* What the column says of a checkpoint, or "". */
static const char *value_of(const rs_plot_file *file, const rs_plot_column *column, size_t checkpoint) {
  for (size_t i = 0; i < file->cell_count; i++) {
    const rs_plot_cell *cell = &file->cells[i];
    if (cell->method == checkpoint) return file->table->fields[cell->begin * file->table->columns + column->place];
  }
  return "";
}

static rs_status read_checkpoint(const rs_plot_data *data, size_t checkpoint, const char *text, rs_plot_sweep *sweep,
                                 rs_err *err) {
  rs_text stem = {0};
  double value;
  sweep->values[checkpoint] = NAN;
  if (!rs_number_read(text, &value)) return RS_OK;
  bool said = rs_plot_write_stem(data->methods.items[checkpoint], rs_plot_sweep_words(sweep), text, &stem);
  rs_status status = rs_text_check(&stem, err);
  if (status == RS_OK && said) {
    sweep->values[checkpoint] = value;
    static const char method[] = "method="; /* a line is called as its method where the name says that */
    const char *name = rs_text_string(&stem), *at = strstr(name, method);
    status =
        rs_plot_names_add(&sweep->lines, at != NULL ? at + sizeof method - 1 : name, &sweep->line[checkpoint], err);
  }
  rs_text_clear(&stem);
  return status;
}

/* Whether some line has enough points. */
static bool is_swept(const rs_plot_sweep *sweep, size_t checkpoints) {
  for (size_t line = 0; line < sweep->lines.count; line++) {
    size_t points = 0;
    for (size_t i = 0; i < checkpoints; i++) points += !isnan(sweep->values[i]) && sweep->line[i] == line;
    if (points >= LEAST_VALUES) return true;
  }
  return false;
}

/* Puts the lines in the order of methods, with their looks. */
static rs_status order_lines(rs_plot_sweep *sweep, size_t checkpoints, rs_err *err) {
  size_t count = sweep->lines.count;
  char **before = rs_arena_take(&sweep->memory, count, sizeof *before);
  sweep->styles = rs_arena_take(&sweep->memory, count, sizeof *sweep->styles);
  RS_TRY(rs_arena_check(&sweep->memory, err));
  memcpy(before, sweep->lines.items, count * sizeof *before);
  qsort(sweep->lines.items, count, sizeof *before, rs_plot_methods_order);
  for (size_t i = 0; i < checkpoints; i++) {
    if (isnan(sweep->values[i])) continue;
    const char *name = before[sweep->line[i]];
    for (sweep->line[i] = 0; sweep->lines.items[sweep->line[i]] != name;) sweep->line[i]++;
  }
  rs_plot_methods_style(&sweep->lines, sweep->styles);
  return RS_OK;
}

/* Over a power of ten and more, numbers above zero are drawn by their logarithm. */
static bool is_wide(const rs_plot_sweep *sweep, size_t checkpoints) {
  double least = INFINITY, most = 0;
  for (size_t i = 0; i < checkpoints; i++) {
    least = fmin(least, sweep->values[i]); /* fmin and fmax leave NaN out */
    most = fmax(most, sweep->values[i]);
  }
  return least > 0 && most > 10 * least;
}

static rs_status read_column(const rs_plot_data *data, const rs_plot_file *file, const rs_plot_column *column,
                             rs_plot_sweep *sweep, rs_err *err) {
  size_t checkpoints = data->methods.count;
  sweep->parameter = column;
  sweep->values = rs_arena_take(&sweep->memory, checkpoints, sizeof *sweep->values);
  sweep->line = rs_arena_take(&sweep->memory, checkpoints, sizeof *sweep->line);
  RS_TRY(rs_arena_check(&sweep->memory, err));
  for (size_t i = 0; i < checkpoints; i++) RS_TRY(read_checkpoint(data, i, value_of(file, column, i), sweep, err));
  if (!is_swept(sweep, checkpoints)) {
    rs_plot_sweep_clear(sweep);
    return RS_OK;
  }
  sweep->log = is_wide(sweep, checkpoints);
  return order_lines(sweep, checkpoints, err);
}

rs_status rs_plot_sweep_read(const rs_plot_data *data, const rs_plot_file *file, rs_plot_sweep *sweep, rs_err *err) {
  for (size_t i = 0; data->by_checkpoint && i < file->count && sweep->parameter == NULL; i++) {
    const rs_plot_column *column = &file->columns[i];
    if (column->role == RS_PLOT_KEY && strncmp(column->name, prefix, sizeof prefix - 1) == 0)
      RS_TRY(read_column(data, file, column, sweep, err));
  }
  return RS_OK;
}

const char *rs_plot_sweep_words(const rs_plot_sweep *sweep) {
  return sweep->parameter->name + sizeof prefix - 1;
}

void rs_plot_sweep_clear(rs_plot_sweep *sweep) {
  rs_arena_clear(&sweep->memory);
  rs_plot_names_clear(&sweep->lines);
  *sweep = (rs_plot_sweep){0};
}
