/* measure.c: the numbers of one value column, whether they depend on the source, and whether they are a map. */
#include "data.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The column that is called as `column` with this behind it, or NULL. */
static const rs_plot_column *find_beside(const rs_plot_file *file, const rs_plot_column *column, const char *tail) {
  size_t length = strlen(column->name);
  for (size_t i = 0; i < file->count; i++) {
    const char *name = file->columns[i].name;
    if (strncmp(name, column->name, length) == 0 && strcmp(name + length, tail) == 0) return &file->columns[i];
  }
  return NULL;
}

double rs_plot_row_x(const rs_plot_measure *measure, const rs_plot_cell *cell, size_t row) {
  return measure->x != NULL ? measure->x[row] : cell->length;
}

static bool has_value(const rs_plot_measure *measure, const rs_plot_cell *cell) {
  for (size_t row = cell->begin; row < cell->end; row++) {
    if (!isnan(measure->y[row]) && !isnan(rs_plot_row_x(measure, cell, row))) return true;
  }
  return false;
}

static int compare_but_source(const rs_plot_cell *a, const rs_plot_cell *b) {
  return rs_plot_cells_order(a, b, offsetof(rs_plot_cell, source));
}

static int compare_cells(const void *a, const void *b) {
  int sign = compare_but_source(a, b);
  size_t x = ((const rs_plot_cell *)a)->begin, y = ((const rs_plot_cell *)b)->begin;
  return sign != 0 ? sign : (x > y) - (x < y);
}

/* True if two cells say the same wherever both have a value; sets *compared if they have one in common. */
static bool agree(const rs_plot_measure *measure, const rs_plot_cell *a, const rs_plot_cell *b, bool *compared) {
  size_t rows = a->end - a->begin;
  if (b->end - b->begin != rows) return !has_value(measure, a) || !has_value(measure, b);
  for (size_t i = 0; i < rows; i++) {
    double ya = measure->y[a->begin + i], yb = measure->y[b->begin + i];
    if (isnan(ya) || isnan(yb)) continue;
    if (ya != yb || rs_plot_row_x(measure, a, a->begin + i) != rs_plot_row_x(measure, b, b->begin + i)) return false;
    *compared = true;
  }
  return true;
}

/* Compares each cell with the first of its kind. `linked` (sources): those seen to agree with another. */
static bool sources_agree(const rs_plot_measure *measure, const rs_plot_cell *cells, size_t count, bool *linked) {
  for (size_t first = 0, i = 1; i < count; i++) {
    if (compare_but_source(&cells[first], &cells[i]) != 0) first = i;
    if (cells[first].source == cells[i].source) continue;
    bool compared = false;
    if (!agree(measure, &cells[first], &cells[i], &compared)) return false;
    if (compared) linked[cells[first].source] = linked[cells[i].source] = true;
  }
  for (size_t i = 0; i < count; i++) {
    if (!linked[cells[i].source] && has_value(measure, &cells[i])) return false; /* nothing speaks for it */
  }
  return true;
}

static rs_status find_per_source(rs_plot_measure *measure, rs_err *err) {
  const rs_plot_file *file = measure->file;
  rs_plot_cell *cells = rs_arena_take(&measure->memory, file->cell_count, sizeof *cells);
  bool *linked = rs_arena_take(&measure->memory, measure->data->sources.count, sizeof *linked);
  RS_TRY(rs_arena_check(&measure->memory, err));
  if (file->cell_count == 0) return RS_OK;
  memcpy(cells, file->cells, file->cell_count * sizeof *cells);
  qsort(cells, file->cell_count, sizeof *cells, compare_cells);
  measure->per_source = !sources_agree(measure, cells, file->cell_count, linked);
  return RS_OK;
}

static bool has_lengths(const rs_plot_file *file) {
  for (size_t i = 1; i < file->cell_count; i++)
    if (file->cells[i].length != file->cells[0].length) return true;
  return false;
}

/* A map without a first side is one over the lengths of the cells, where these have several. */
static rs_status read_lengths(rs_plot_measure *measure, rs_err *err) {
  const rs_plot_file *file = measure->file;
  if (measure->part[RS_PLOT_MAP_Y] == NULL || measure->part[RS_PLOT_MAP_X] != NULL || !has_lengths(file)) return RS_OK;
  double *x = measure->part[RS_PLOT_MAP_X] = rs_arena_take(&measure->memory, file->table->rows, sizeof *x);
  RS_TRY(rs_arena_check(&measure->memory, err));
  for (size_t i = 0; i < file->cell_count; i++)
    for (size_t row = file->cells[i].begin; row < file->cells[i].end; row++) x[row] = file->cells[i].length;
  measure->over_lengths = true;
  return RS_OK;
}

static rs_status read_parts(rs_plot_measure *measure, rs_err *err) {
  for (size_t part = RS_PLOT_MAP_X; part < RS_PLOT_PARTS; part++) {
    const rs_plot_column *column = rs_plot_part_of(measure->file, (rs_plot_part)part);
    if (column != NULL) RS_TRY(rs_plot_numbers(measure->file, column, &measure->memory, &measure->part[part], err));
  }
  RS_TRY(read_lengths(measure, err));
  const double *x = measure->part[RS_PLOT_MAP_X], *y = measure->part[RS_PLOT_MAP_Y];
  for (size_t row = 0; row < measure->file->table->rows && x != NULL && y != NULL; row++)
    measure->map |= !isnan(measure->y[row]) && !isnan(x[row]) && !isnan(y[row]);
  return RS_OK;
}

static rs_status read_envelope(rs_plot_measure *measure, rs_err *err) {
  const rs_plot_column *low = find_beside(measure->file, measure->column, "_low");
  const rs_plot_column *high = find_beside(measure->file, measure->column, "_high");
  if (low == NULL || low->part != RS_PLOT_LOW || high == NULL || high->part != RS_PLOT_HIGH) return RS_OK;
  RS_TRY(rs_plot_numbers(measure->file, low, &measure->memory, &measure->low, err));
  return rs_plot_numbers(measure->file, high, &measure->memory, &measure->high, err);
}

/* What falls into a bin grows with its width; divided by it, it compares with the next. */
static void divide_by_widths(rs_plot_measure *measure) {
  const double *end = measure->part[RS_PLOT_BIN_END];
  if (measure->column->part != RS_PLOT_MASS || end == NULL || measure->x == NULL) return;
  measure->density = true;
  for (size_t row = 0; row < measure->file->table->rows; row++) {
    double width = end[row] - measure->x[row];
    measure->y[row] = width > 0 ? measure->y[row] / width : NAN;
    if (measure->error != NULL) measure->error[row] /= width;
  }
}

rs_status rs_plot_measure_read(const rs_plot_data *data, const rs_plot_file *file, const rs_plot_column *column,
                               rs_plot_measure *measure, rs_err *err) {
  if (measure->column == column) return RS_OK;
  rs_plot_measure_clear(measure);
  *measure = (rs_plot_measure){.data = data, .file = file, .column = column};
  const rs_plot_column *x = rs_plot_x_of(file), *error = find_beside(file, column, "_se");
  RS_TRY(rs_plot_numbers(file, column, &measure->memory, &measure->y, err));
  if (x != NULL) RS_TRY(rs_plot_numbers(file, x, &measure->memory, &measure->x, err));
  if (error != NULL && error->role == RS_PLOT_ERROR)
    RS_TRY(rs_plot_numbers(file, error, &measure->memory, &measure->error, err));
  measure->category = x != NULL && x->part == RS_PLOT_CATEGORY;
  measure->strip = column->part == RS_PLOT_STRIP && x != NULL;
  if (measure->strip) { /* a map of one row of cells */
    measure->part[RS_PLOT_MAP_Y] = rs_arena_take(&measure->memory, file->table->rows, sizeof(double));
    RS_TRY(rs_plot_numbers(file, x, &measure->memory, &measure->part[RS_PLOT_MAP_X], err));
  } else {
    RS_TRY(read_parts(measure, err));
  }
  RS_TRY(read_envelope(measure, err));
  divide_by_widths(measure);
  for (size_t i = 0; i < file->cell_count && !measure->any; i++) measure->any = has_value(measure, &file->cells[i]);
  return find_per_source(measure, err);
}

void rs_plot_measure_clear(rs_plot_measure *measure) {
  rs_arena_clear(&measure->memory);
  *measure = (rs_plot_measure){0};
}

bool rs_plot_chosen(const rs_plot_cell *cell, const rs_plot_choice *choice) {
  return cell->model == choice->model && (choice->source == RS_PLOT_ANY || cell->source == choice->source) &&
         (!(choice->length > 0) || cell->length == choice->length);
}

double rs_plot_longest(const rs_plot_measure *measure, const rs_plot_choice *choice) {
  double longest = 0;
  for (size_t i = 0; i < measure->file->cell_count; i++) {
    const rs_plot_cell *cell = &measure->file->cells[i];
    if (cell->length > longest && rs_plot_chosen(cell, choice) && has_value(measure, cell)) longest = cell->length;
  }
  return longest;
}
