/* series.c: from the rows of a value column to one series of points per method. Rows are samples; samples of the same
 * method at the same x become one point: their mean, with their minimum and maximum as the band. */
#include "choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int order(double a, double b) {
  return (a > b) - (a < b);
}

typedef struct sample {
  size_t method, cell, row;
  double x, y, error, low, high, samples; /* low, high: NaN where there is no envelope; samples: 0 where not said */
} sample;

static int compare_samples(const void *left, const void *right) {
  const sample *a = left, *b = right;
  int sign = order((double)a->method, (double)b->method);
  if (sign == 0) sign = order(a->x, b->x);
  return sign != 0 ? sign : order((double)a->row, (double)b->row);
}

/* The samples of the chosen cells, in order; also those without a value, which make gaps. */
static size_t take_samples(const rs_plot_measure *measure, const rs_plot_choice *choice, sample *samples) {
  const rs_plot_sweep *sweep = choice->sweep;
  size_t count = 0;
  for (size_t i = 0; i < measure->file->cell_count; i++) {
    const rs_plot_cell *cell = &measure->file->cells[i];
    if (!rs_plot_chosen(cell, choice)) continue;
    for (size_t row = cell->begin; row < cell->end; row++) {
      double x = sweep != NULL ? sweep->values[cell->method] : rs_plot_row_x(measure, cell, row);
      const double *panel = measure->part[RS_PLOT_MAP_PANEL], *counts = measure->part[RS_PLOT_SAMPLES];
      if (choice->in_panel && panel != NULL && panel[row] != choice->panel) continue;
      if (isnan(x)) continue;
      samples[count++] = (sample){.method = sweep != NULL ? sweep->line[cell->method] : cell->method,
                                  .cell = i,
                                  .row = row,
                                  .x = x,
                                  .y = measure->y[row],
                                  .error = measure->error != NULL ? measure->error[row] : NAN,
                                  .low = measure->low != NULL ? measure->low[row] : NAN,
                                  .high = measure->high != NULL ? measure->high[row] : NAN,
                                  .samples = counts != NULL ? counts[row] : 0};
    }
  }
  if (count > 0) qsort(samples, count, sizeof *samples, compare_samples);
  return count;
}

/* One point of `count` samples. Equal samples give their value, not a mean with a rounding error. */
static rs_plot_point merge(const sample *samples, size_t count) {
  rs_plot_point point = {.x = samples[0].x, .y = NAN, .low = INFINITY, .high = -INFINITY};
  double sum = 0, least = INFINITY, most = -INFINITY;
  size_t values = 0;
  for (size_t i = 0; i < count; i++) {
    if (isnan(samples[i].y)) continue;
    sum += samples[i].y;
    values++;
    least = fmin(least, samples[i].y);
    most = fmax(most, samples[i].y);
    point.low = fmin(point.low, fmin(samples[i].y, samples[i].low)); /* fmin and fmax leave NaN out */
    point.high = fmax(point.high, fmax(samples[i].y, samples[i].high));
    point.samples += samples[i].samples;
  }
  if (values == 0)
    point.low = point.high = NAN;
  else
    point.y = least == most ? least : sum / (double)values;
  return point;
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
  size_t filled = 0;
  for (size_t i = 0, next; i < count; i = next) {
    for (next = i + 1; next < count && samples[next].x == samples[i].x;) next++;
    rs_plot_point *point = &points[filled++];
    *point = merge(&samples[i], next - i);
    if (is_folded(&samples[i], next - i)) set->folded = true;
    bool one = set->seeds <= 1 && set->heads <= 1 && !set->folded; /* sample: its band is the standard error */
    if (one && !isnan(point->y) && samples[i].error > 0) {
      point->low = point->y - samples[i].error;
      point->high = point->y + samples[i].error;
    }
    if (point->high > point->low) set->band = RS_PLOT_MIN_MAX;
    if (!isnan(point->y)) set->any = true;
    if (rs_plot_is_few(point)) set->few = true;
  }
  return filled;
}

bool rs_plot_is_few(const rs_plot_point *point) {
  return !isnan(point->y) && point->samples > 0 && point->samples < RS_PLOT_SAMPLES_LEAST;
}

/* Whether the series has enough points of enough samples to speak of a trend. */
static bool has_trend(const rs_plot_series *series) {
  size_t enough = 0;
  for (size_t i = 0; i < series->count; i++)
    enough += !isnan(series->points[i].y) && !rs_plot_is_few(&series->points[i]);
  return enough >= RS_PLOT_TREND_LEAST;
}

static bool all_gaps(const rs_plot_point *points, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!isnan(points[i].y)) return false;
  }
  return true;
}

/* How many different seeds, or heads, the samples with a value have. `seen` has room for all there are (room). */
static size_t count_different(const rs_plot_measure *measure, const sample *samples, size_t count, bool heads,
                              bool *seen, size_t room) {
  size_t different = 0;
  memset(seen, 0, room * sizeof *seen);
  for (size_t i = 0; i < count; i++) {
    const rs_plot_cell *cell = &measure->file->cells[samples[i].cell];
    size_t value = heads ? cell->heads : cell->seed;
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
  bool *seen = rs_arena_take(&set->memory, seeds > heads ? seeds : heads, sizeof *seen);
  RS_TRY(rs_arena_check(&set->memory, err));
  for (size_t i = 0, next; i < count; i = next) {
    next = method_end(samples, count, i);
    size_t of_seeds = count_different(measure, &samples[i], next - i, false, seen, seeds);
    size_t of_heads = count_different(measure, &samples[i], next - i, true, seen, heads);
    if (of_seeds > set->seeds) set->seeds = of_seeds;
    if (of_heads > set->heads) set->heads = of_heads;
  }
  return RS_OK;
}

static void fill_set(const rs_plot_measure *measure, const rs_plot_choice *choice, const sample *samples, size_t count,
                     rs_plot_set *set) {
  const rs_plot_names *lines = choice->sweep != NULL ? &choice->sweep->lines : &measure->data->methods;
  set->trendless = measure->part[RS_PLOT_SAMPLES] != NULL;
  for (size_t i = 0, next, used = 0; i < count; i = next) {
    next = method_end(samples, count, i);
    rs_plot_series *series = &set->series[set->count++];
    *series = (rs_plot_series){.label = lines->items[samples[i].method], .method = samples[i].method};
    series->points = &set->points[used];
    series->count = merge_series(&samples[i], next - i, set, series->points);
    used += series->count;
    if (all_gaps(series->points, series->count)) series->count = 0;
    series->bins = measure->low != NULL;
    if (has_trend(series)) set->trendless = false;
  }
  bool means = set->seeds > 1 || set->heads > 1 || set->folded;
  if (set->band != RS_PLOT_NO_BAND && !means) set->band = RS_PLOT_STANDARD_ERROR;
  if (set->band != RS_PLOT_NO_BAND && measure->low != NULL) set->band = RS_PLOT_ENVELOPE;
}

rs_status rs_plot_set_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_set *set,
                           rs_err *err) {
  *set = (rs_plot_set){0};
  sample *samples = rs_arena_take(&set->memory, measure->file->table->rows, sizeof *samples);
  RS_TRY(rs_arena_check(&set->memory, err));
  size_t count = take_samples(measure, choice, samples);
  RS_TRY(count_means(measure, samples, count, set, err));
  set->points = rs_arena_take(&set->memory, count, sizeof *set->points);
  set->series = rs_arena_take(&set->memory, measure->data->methods.count, sizeof *set->series);
  RS_TRY(rs_arena_check(&set->memory, err));
  fill_set(measure, choice, samples, count, set);
  return RS_OK;
}

void rs_plot_set_clear(rs_plot_set *set) {
  rs_arena_clear(&set->memory);
  *set = (rs_plot_set){0};
}
