/* series.c: from the rows of a value column to one series of points per method. Rows are samples; samples of the same
 * method at the same x become one point: their mean, with their minimum and maximum as the band. */
#include "plot_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int order(double a, double b) {
  return (a > b) - (a < b);
}

/* ---- one value column -------------------------------------------------------------------------------------------- */

static const rs_plot_column *error_of(const rs_plot_file *file, const rs_plot_column *column) {
  size_t length = strlen(column->name);
  for (size_t i = 0; i < file->count; i++) {
    const char *name = file->columns[i].name;
    if (file->columns[i].role == RS_PLOT_ERROR && strncmp(name, column->name, length) == 0 &&
        strcmp(name + length, "_se") == 0)
      return &file->columns[i];
  }
  return NULL;
}

static double x_of(const rs_plot_measure *measure, const rs_plot_cell *cell, size_t row) {
  return measure->x != NULL ? measure->x[row] : cell->length;
}

static bool has_value(const rs_plot_measure *measure, const rs_plot_cell *cell) {
  for (size_t row = cell->begin; row < cell->end; row++) {
    if (!isnan(measure->y[row]) && !isnan(x_of(measure, cell, row))) return true;
  }
  return false;
}

static int compare_but_source(const rs_plot_cell *a, const rs_plot_cell *b) {
  int by = order((double)a->model, (double)b->model);
  if (by == 0) by = order((double)a->method, (double)b->method);
  if (by == 0) by = order((double)a->seed, (double)b->seed);
  if (by == 0) by = order((double)a->heads, (double)b->heads);
  return by != 0 ? by : order(a->length, b->length);
}

static int compare_cells(const void *a, const void *b) {
  int by = compare_but_source(a, b);
  return by != 0 ? by : order((double)((const rs_plot_cell *)a)->begin, (double)((const rs_plot_cell *)b)->begin);
}

/* True if two cells say the same wherever both have a value; sets *compared if they have one in common. */
static bool agree(const rs_plot_measure *measure, const rs_plot_cell *a, const rs_plot_cell *b, bool *compared) {
  size_t rows = a->end - a->begin;
  if (b->end - b->begin != rows) return !has_value(measure, a) || !has_value(measure, b);
  for (size_t i = 0; i < rows; i++) {
    double ya = measure->y[a->begin + i], yb = measure->y[b->begin + i];
    if (isnan(ya) || isnan(yb)) continue;
    if (ya != yb || x_of(measure, a, a->begin + i) != x_of(measure, b, b->begin + i)) return false;
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
  rs_plot_cell *cells = rs_alloc(file->cell_count, sizeof *cells, err);
  bool *linked = rs_alloc(measure->data->sources.count, sizeof *linked, err);
  rs_status status = cells != NULL && linked != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK && file->cell_count > 0) {
    memcpy(cells, file->cells, file->cell_count * sizeof *cells);
    qsort(cells, file->cell_count, sizeof *cells, compare_cells);
    measure->per_source = !sources_agree(measure, cells, file->cell_count, linked);
  }
  free(linked);
  free(cells);
  return status;
}

/* A strip is a map of one row of cells. */
static rs_status read_strip(rs_plot_measure *measure, const rs_plot_column *x, rs_err *err) {
  measure->part[RS_PLOT_MAP_Y] = rs_alloc(measure->file->table->rows, sizeof(double), err);
  return measure->part[RS_PLOT_MAP_Y] != NULL ? rs_plot_numbers(measure->file, x, &measure->part[RS_PLOT_MAP_X], err)
                                              : RS_MEMORY;
}

static rs_status read_parts(rs_plot_measure *measure, rs_err *err) {
  for (size_t part = RS_PLOT_MAP_X; part < RS_PLOT_PARTS; part++) {
    const rs_plot_column *column = rs_plot_part_of(measure->file, (rs_plot_part)part);
    if (column != NULL) RS_TRY(rs_plot_numbers(measure->file, column, &measure->part[part], err));
  }
  const double *x = measure->part[RS_PLOT_MAP_X], *y = measure->part[RS_PLOT_MAP_Y];
  for (size_t row = 0; row < measure->file->table->rows && x != NULL && y != NULL; row++)
    measure->map |= !isnan(measure->y[row]) && !isnan(x[row]) && !isnan(y[row]);
  return RS_OK;
}

rs_status rs_plot_measure_read(const rs_plot_data *data, const rs_plot_file *file, const rs_plot_column *column,
                               rs_plot_measure *measure, rs_err *err) {
  *measure = (rs_plot_measure){.data = data, .file = file, .column = column};
  const rs_plot_column *x = rs_plot_x_of(file), *error = error_of(file, column);
  RS_TRY(rs_plot_numbers(file, column, &measure->y, err));
  if (x != NULL) RS_TRY(rs_plot_numbers(file, x, &measure->x, err));
  if (error != NULL) RS_TRY(rs_plot_numbers(file, error, &measure->error, err));
  measure->strip = column->part == RS_PLOT_MAP_STRIP && x != NULL;
  RS_TRY(measure->strip ? read_strip(measure, x, err) : read_parts(measure, err));
  for (size_t i = 0; i < file->cell_count && !measure->any; i++) measure->any = has_value(measure, &file->cells[i]);
  return find_per_source(measure, err);
}

void rs_plot_measure_clear(rs_plot_measure *measure) {
  free(measure->x);
  free(measure->y);
  free(measure->error);
  for (size_t part = 0; part < RS_PLOT_PARTS; part++) free(measure->part[part]);
  *measure = (rs_plot_measure){0};
}

/* ---- one chart --------------------------------------------------------------------------------------------------- */

typedef struct sample {
  size_t method, cell, row;
  double x, y, error;
} sample;

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

static int compare_samples(const void *left, const void *right) {
  const sample *a = left, *b = right;
  int by = order((double)a->method, (double)b->method);
  if (by == 0) by = order(a->x, b->x);
  return by != 0 ? by : order((double)a->row, (double)b->row);
}

/* The samples of the chosen cells, in order; also those without a value, which make gaps. */
static size_t take_samples(const rs_plot_measure *measure, const rs_plot_choice *choice, sample *samples) {
  size_t count = 0;
  for (size_t i = 0; i < measure->file->cell_count; i++) {
    const rs_plot_cell *cell = &measure->file->cells[i];
    if (!rs_plot_chosen(cell, choice)) continue;
    for (size_t row = cell->begin; row < cell->end; row++) {
      double x = x_of(measure, cell, row), error = measure->error != NULL ? measure->error[row] : NAN;
      const double *panel = measure->part[RS_PLOT_MAP_PANEL];
      if (choice->panel != NULL && panel != NULL && panel[row] != *choice->panel) continue;
      if (!isnan(x)) samples[count++] = (sample){cell->method, i, row, x, measure->y[row], error};
    }
  }
  if (count > 0) qsort(samples, count, sizeof *samples, compare_samples);
  return count;
}

/* One point of `count` samples. Equal samples give their value, not a mean with a rounding error. */
static rs_plot_point merge(const sample *samples, size_t count) {
  rs_plot_point point = {.x = samples[0].x, .y = NAN, .low = INFINITY, .high = -INFINITY};
  double sum = 0;
  size_t values = 0;
  for (size_t i = 0; i < count; i++) {
    if (isnan(samples[i].y)) continue;
    sum += samples[i].y;
    values++;
    point.low = fmin(point.low, samples[i].y);
    point.high = fmax(point.high, samples[i].y);
  }
  if (values == 0)
    point.low = point.high = NAN;
  else
    point.y = point.low == point.high ? point.low : sum / (double)values;
  return point;
}

/* Where a point is one sample, its band is the standard error. */
static void add_error(rs_plot_point *point, const sample *of) {
  if (isnan(point->y) || !(of->error > 0)) return;
  point->low = point->y - of->error;
  point->high = point->y + of->error;
}

/* True if two samples of one cell share a point. */
static bool is_folded(const sample *samples, size_t count) {
  for (size_t i = 1; i < count; i++) {
    if (samples[i].cell == samples[i - 1].cell) return true;
  }
  return false;
}

/* Turns the samples of one method into the points of a series. */
static size_t merge_series(const sample *samples, size_t count, rs_plot_set *set, rs_plot_point *points) {
  size_t made = 0;
  for (size_t i = 0, next; i < count; i = next) {
    for (next = i + 1; next < count && samples[next].x == samples[i].x;) next++;
    rs_plot_point *point = &points[made++];
    *point = merge(&samples[i], next - i);
    if (is_folded(&samples[i], next - i)) set->folded = true;
    if (set->seeds <= 1 && set->heads <= 1 && !set->folded) add_error(point, &samples[i]);
    if (point->high > point->low) set->band = RS_PLOT_MIN_MAX;
    if (!isnan(point->y)) set->any = true;
  }
  return made;
}

static bool all_gaps(const rs_plot_point *points, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!isnan(points[i].y)) return false;
  }
  return true;
}

static size_t seed_of(const rs_plot_cell *cell) {
  return cell->seed;
}

static size_t heads_of(const rs_plot_cell *cell) {
  return cell->heads;
}

/* How many different seeds, say, the samples with a value have. `seen` has room for all there are (room). */
static size_t count_different(const rs_plot_measure *measure, const sample *samples, size_t count,
                              size_t (*key)(const rs_plot_cell *), bool *seen, size_t room) {
  size_t different = 0;
  memset(seen, 0, room * sizeof *seen);
  for (size_t i = 0; i < count; i++) {
    size_t value = key(&measure->file->cells[samples[i].cell]);
    if (isnan(samples[i].y) || seen[value]) continue;
    seen[value] = true;
    different++;
  }
  return different;
}

/* The end of the samples that have the method of the one at `begin`. */
static size_t method_end(const sample *samples, size_t count, size_t begin) {
  size_t end = begin + 1;
  while (end < count && samples[end].method == samples[begin].method) end++;
  return end;
}

static rs_status count_means(const rs_plot_measure *measure, const sample *samples, size_t count, rs_plot_set *set,
                             rs_err *err) {
  size_t seeds = measure->data->seeds.count, heads = measure->data->heads.count;
  bool *seen = rs_alloc(seeds > heads ? seeds : heads, sizeof *seen, err);
  if (seen == NULL) return RS_MEMORY;
  for (size_t i = 0, next; i < count; i = next) {
    next = method_end(samples, count, i);
    size_t of_seeds = count_different(measure, &samples[i], next - i, seed_of, seen, seeds);
    size_t of_heads = count_different(measure, &samples[i], next - i, heads_of, seen, heads);
    if (of_seeds > set->seeds) set->seeds = of_seeds;
    if (of_heads > set->heads) set->heads = of_heads;
  }
  free(seen);
  return RS_OK;
}

static void fill_set(const rs_plot_measure *measure, const sample *samples, size_t count, rs_plot_set *set) {
  for (size_t i = 0, next, used = 0; i < count; i = next) {
    next = method_end(samples, count, i);
    rs_plot_series *series = &set->series[set->count++];
    *series = (rs_plot_series){.label = measure->data->methods.items[samples[i].method], .style = samples[i].method};
    series->points = &set->points[used];
    series->count = merge_series(&samples[i], next - i, set, series->points);
    used += series->count;
    if (all_gaps(series->points, series->count)) series->count = 0;
  }
  bool means = set->seeds > 1 || set->heads > 1 || set->folded;
  if (set->band != RS_PLOT_NO_BAND && !means) set->band = RS_PLOT_STANDARD_ERROR;
}

rs_status rs_plot_set_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_set *set,
                           rs_err *err) {
  *set = (rs_plot_set){0};
  size_t rows = measure->file->table->rows;
  sample *samples = rs_alloc(rows, sizeof *samples, err);
  rs_status status = RS_MEMORY;
  if (samples == NULL) goto out;
  size_t count = take_samples(measure, choice, samples);
  status = count_means(measure, samples, count, set, err);
  if (status != RS_OK) goto out;
  set->points = rs_alloc(count, sizeof *set->points, err);
  set->series = rs_alloc(measure->data->methods.count, sizeof *set->series, err);
  status = set->points != NULL && set->series != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) fill_set(measure, samples, count, set);
out:
  free(samples);
  return status;
}

void rs_plot_set_clear(rs_plot_set *set) {
  free(set->points);
  free(set->series);
  *set = (rs_plot_set){0};
}
