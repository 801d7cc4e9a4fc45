/* data_means.c: from the rows of a value column to means over seeds, heads and further indices: series of points by
 * method, and maps by method and panel. */
#include "data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

static int compare_numbers(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

rs_status rs_plot_ranks_read(const double *numbers, size_t count, rs_arena *memory, rs_plot_ranks *ranks, rs_err *err) {
  size_t kept = 0, unique = 0;
  *ranks = (rs_plot_ranks){.items = rs_arena_take(memory, count, sizeof *ranks->items)};
  RS_TRY(rs_arena_check(memory, err));
  for (size_t i = 0; i < count; i++)
    if (!isnan(numbers[i])) ranks->items[kept++] = numbers[i];
  qsort(ranks->items, kept, sizeof *ranks->items, compare_numbers);
  for (size_t i = 0; i < kept; i++)
    if (unique == 0 || ranks->items[i] != ranks->items[unique - 1]) ranks->items[unique++] = ranks->items[i];
  ranks->count = unique;
  return RS_OK;
}

size_t rs_plot_rank(const rs_plot_ranks *ranks, double number) {
  const double *found = bsearch(&number, ranks->items, ranks->count, sizeof number, compare_numbers);
  return found != NULL ? (size_t)(found - ranks->items) : ranks->count;
}

/* Whether the numbers are whole and without gaps. */
static bool is_consecutive(const rs_plot_ranks *ranks) {
  for (size_t i = 0; i < ranks->count; i++) {
    if (ranks->items[i] != floor(ranks->items[i])) return false;
    if (i > 0 && ranks->items[i] != ranks->items[i - 1] + 1) return false;
  }
  return true;
}

size_t rs_plot_label_step(const rs_plot_ranks *ranks, double cell, double room) {
  static const size_t factors[] = {1, 2, 5};
  size_t step = 1;
  if (!is_consecutive(ranks)) return (size_t)fmax(ceil(room / cell), 1);
  for (size_t i = 1; (double)step * cell < room && step < ranks->count; i++) {
    size_t tens = 1;
    for (size_t k = 0; k < i / 3; k++) tens *= 10;
    step = factors[i % 3] * tens;
  }
  return step;
}

bool rs_plot_is_labelled(const rs_plot_ranks *ranks, size_t i, size_t step) {
  return is_consecutive(ranks) ? fmod(ranks->items[i], (double)step) == 0 : i % step == 0;
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

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

bool rs_plot_is_few(const rs_plot_point *point) {
  return !isnan(point->y) && point->samples > 0 && point->samples < RS_PLOT_SAMPLES_LEAST;
}

/* The interval of a point in place of its samples' spread: that of one cell is in its row, that of several seeds is
 * made of their blocks; there is none where cells differ in more than that. */
static rs_status find_interval(const rs_plot_measure *measure, const sample *samples, size_t count, rs_plot_set *set,
                               rs_plot_point *point, rs_err *err) {
  const rs_plot_cell *cells = measure->file->cells, *first = &cells[samples[0].cell];
  const rs_plot_column *cell = rs_plot_column_named(measure->file, "", "cell", "");
  const char **words = rs_arena_take(&set->memory, count, sizeof *words);
  rs_interval interval = {NAN, NAN, NAN};
  size_t used = 0;
  bool seeds = true;
  RS_TRY(rs_arena_check(&set->memory, err));
  for (size_t i = 0; i < count; i++) {
    const rs_plot_cell *here = &cells[samples[i].cell];
    if (isnan(samples[i].y)) continue;
    interval.low = samples[i].low;
    interval.high = samples[i].high;
    words[used++] = rs_plot_field(measure->file, samples[i].row, cell);
    seeds = seeds && here->model == first->model && here->source == first->source && here->heads == first->heads;
  }
  if (used > 1) RS_TRY(rs_blocks_interval(&measure->blocks, words, NULL, used, &interval, err));
  bool known = seeds && !isnan(interval.low) && !isnan(interval.high);
  point->low = known ? interval.low : point->y;
  point->high = known ? interval.high : point->y;
  return RS_OK;
}

/* Turns the samples of one method into the points of a series, which has room behind those of the set. */
static rs_status merge_series(const rs_plot_measure *measure, const sample *samples, size_t count, rs_plot_set *set,
                              rs_plot_series *series, rs_err *err) {
  size_t values = 0, enough = 0;
  series->points = &set->points[set->point_count];
  for (size_t i = 0, next; i < count; i = next) {
    for (next = i + 1; next < count && samples[next].x == samples[i].x; next++)
      set->folded |= samples[next].cell == samples[next - 1].cell; /* two samples of one cell share a point */
    rs_plot_point *point = &series->points[series->count++];
    *point = merge(&samples[i], next - i);
    if (measure->interval) RS_TRY(find_interval(measure, &samples[i], next - i, set, point, err));
    bool one = set->seeds <= 1 && set->heads <= 1 && !set->folded; /* sample: its band is the standard error */
    if (one && !measure->interval && !isnan(point->y) && samples[i].error > 0) {
      point->low = point->y - samples[i].error;
      point->high = point->y + samples[i].error;
    }
    if (point->high > point->low) set->band = RS_PLOT_MIN_MAX;
    values += !isnan(point->y);
    enough += !isnan(point->y) && !rs_plot_is_few(point);
    set->few |= rs_plot_is_few(point);
  }
  set->point_count += series->count;
  set->any |= values > 0;
  set->trendless &= enough < RS_PLOT_TREND_LEAST; /* points of enough samples to speak of a trend */
  if (values == 0) series->count = 0;
  return RS_OK;
}

/* How many different names of a key the samples with a value have. `seen` has room for all there are. */
static size_t count_different(const rs_plot_measure *measure, const sample *samples, size_t count, size_t key,
                              bool *seen) {
  size_t different = 0;
  memset(seen, 0, measure->data->names[key].count * sizeof *seen);
  for (size_t i = 0; i < count; i++) {
    size_t value = measure->file->cells[samples[i].cell].keys[key];
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
    size_t of_seeds = count_different(measure, &samples[i], next - i, RS_PLOT_SEED, seen);
    size_t of_heads = count_different(measure, &samples[i], next - i, RS_PLOT_HEADS, seen);
    if (of_seeds > set->seeds) set->seeds = of_seeds;
    if (of_heads > set->heads) set->heads = of_heads;
  }
  return RS_OK;
}

static rs_status fill_set(const rs_plot_measure *measure, const rs_plot_choice *choice, const sample *samples,
                          size_t count, rs_plot_set *set, rs_err *err) {
  const rs_plot_names *lines = choice->sweep != NULL ? &choice->sweep->lines : &measure->data->methods;
  set->trendless = measure->part[RS_PLOT_SAMPLES] != NULL;
  for (size_t i = 0, next; i < count; i = next) {
    next = method_end(samples, count, i);
    rs_plot_series *series = &set->series[set->count++];
    *series = (rs_plot_series){.label = lines->items[samples[i].method],
                               .method = samples[i].method,
                               .bins = measure->low != NULL && !measure->interval,
                               .bars = measure->interval};
    RS_TRY(merge_series(measure, &samples[i], next - i, set, series, err));
  }
  bool means = set->seeds > 1 || set->heads > 1 || set->folded;
  if (set->band != RS_PLOT_NO_BAND && !means) set->band = RS_PLOT_STANDARD_ERROR;
  if (set->band != RS_PLOT_NO_BAND && measure->low != NULL)
    set->band = measure->interval ? RS_PLOT_INTERVAL : RS_PLOT_ENVELOPE;
  return RS_OK;
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
  return fill_set(measure, choice, samples, count, set, err);
}

void rs_plot_set_clear(rs_plot_set *set) {
  rs_arena_clear(&set->memory);
  *set = (rs_plot_set){0};
}

/* ---- the rows of a chart ----------------------------------------------------------------------------------------- */

typedef struct place {
  size_t row, method;
  double x, y, panel;
} place;

/* The rows of the chosen cells that have a place on a map, also those without a value. */
static size_t take_places(const rs_plot_measure *measure, const rs_plot_choice *choice, place *places) {
  const double *x = measure->part[RS_PLOT_MAP_X], *y = measure->part[RS_PLOT_MAP_Y];
  const double *panel = measure->part[RS_PLOT_MAP_PANEL];
  size_t count = 0;
  for (size_t i = 0; i < measure->file->cell_count; i++) {
    const rs_plot_cell *cell = &measure->file->cells[i];
    if (!rs_plot_chosen(cell, choice)) continue;
    for (size_t row = cell->begin; row < cell->end; row++) {
      if (isnan(x[row]) || isnan(y[row]) || (panel != NULL && isnan(panel[row]))) continue;
      places[count++] = (place){row, cell->method, x[row], y[row], panel != NULL ? panel[row] : 0};
    }
  }
  return count;
}

/* Of too many panels some are shown, from the first to the last; 0, where offsets start, takes the place of the one
 * next to it. */
static void thin_panels(rs_plot_map *map) {
  double *items = map->panel.items;
  size_t all = map->panel.count, nearest = 0;
  bool origin = rs_plot_rank(&map->panel, 0) < all;
  map->panels = all;
  if (all <= RS_PLOT_PANELS) return;
  for (size_t i = 0; i < RS_PLOT_PANELS; i++) {
    items[i] = items[i * (all - 1) / (RS_PLOT_PANELS - 1)];
    if (fabs(items[i]) < fabs(items[nearest])) nearest = i;
  }
  if (origin) items[nearest] = 0;
  map->panel.count = RS_PLOT_PANELS;
}

static rs_status find_ranks(const place *places, size_t count, rs_plot_map *map, rs_err *err) {
  static const size_t offsets[] = {offsetof(place, x), offsetof(place, y), offsetof(place, panel)};
  rs_plot_ranks *ranks[] = {&map->x, &map->y, &map->panel};
  double *buffer = rs_arena_take(&map->memory, count, sizeof *buffer);
  RS_TRY(rs_arena_check(&map->memory, err));
  for (size_t k = 0; k < RS_COUNT(offsets); k++) {
    for (size_t i = 0; i < count; i++) memcpy(&buffer[i], (const char *)&places[i] + offsets[k], sizeof *buffer);
    RS_TRY(rs_plot_ranks_read(buffer, count, &map->memory, ranks[k], err));
  }
  thin_panels(map);
  return RS_OK;
}

/* Appends the methods in this state, rising. */
static size_t list_methods(const unsigned char *states, size_t all, unsigned char state, size_t *methods) {
  size_t count = 0;
  for (size_t m = 0; m < all; m++)
    if (states[m] == state) methods[count++] = m;
  return count;
}

/* The methods that have a value in a panel that is shown, rising, and behind them those that have only cells. */
static rs_status find_methods(const rs_plot_measure *measure, const place *places, size_t count, size_t all,
                              rs_plot_map *map, rs_err *err) {
  enum { ABSENT = 1, PRESENT };
  unsigned char *states = rs_arena_take(&map->memory, all, sizeof *states);
  map->methods = rs_arena_take(&map->memory, all, sizeof *map->methods);
  RS_TRY(rs_arena_check(&map->memory, err));
  for (size_t i = 0; i < count; i++) {
    bool shown = rs_plot_rank(&map->panel, places[i].panel) < map->panel.count && !isnan(measure->y[places[i].row]);
    if (states[places[i].method] != PRESENT) states[places[i].method] = shown ? PRESENT : ABSENT;
  }
  map->count = list_methods(states, all, PRESENT, map->methods);
  map->absent = list_methods(states, all, ABSENT, map->methods + map->count);
  return RS_OK;
}

/* ---- the values -------------------------------------------------------------------------------------------------- */

/* Sums and counts first, then means. */
static void fill_values(const rs_plot_measure *measure, const place *places, size_t count, rs_plot_map *map,
                        size_t *counts) {
  size_t cells = map->x.count * map->y.count, total = map->count * map->panel.count * cells;
  const double *mark = measure->part[RS_PLOT_MAP_MARK], *share = measure->part[RS_PLOT_SHARE];
  for (size_t i = 0; i < count; i++) {
    size_t panel = rs_plot_rank(&map->panel, places[i].panel);
    size_t cell = rs_plot_rank(&map->y, places[i].y) * map->x.count + rs_plot_rank(&map->x, places[i].x);
    double value = measure->y[places[i].row];
    if (panel == map->panel.count) continue;
    if (mark != NULL && mark[places[i].row] == places[i].panel) map->marks[panel] = cell;
    if (isnan(value)) continue;
    size_t slot = 0; /* of the method among those with a value */
    while (map->methods[slot] != places[i].method) slot++;
    size_t where = (slot * map->panel.count + panel) * cells + cell;
    if (share != NULL) map->shares[where / cells] += share[places[i].row];
    map->values[where] += value;
    counts[where]++;
  }
  for (size_t i = 0; i < total; i++) {
    map->values[i] = counts[i] > 0 ? map->values[i] / (double)counts[i] : NAN;
    if (counts[i] > map->folded) map->folded = counts[i];
    if (counts[i] == 0) continue;
    map->low = map->any ? fmin(map->low, map->values[i]) : map->values[i];
    map->high = map->any ? fmax(map->high, map->values[i]) : map->values[i];
    map->any = true;
  }
}

static rs_status make_values(const rs_plot_measure *measure, const place *places, size_t count, rs_plot_map *map,
                             rs_err *err) {
  size_t cells = map->x.count * map->y.count, panels = map->count * map->panel.count;
  if (cells > 0 && panels > SIZE_MAX / cells) return rs_fail(err, RS_MEMORY, "too many cells of maps");
  size_t *counts = rs_arena_take(&map->memory, panels * cells, sizeof *counts);
  map->values = rs_arena_take(&map->memory, panels * cells, sizeof *map->values);
  map->marks = rs_arena_take(&map->memory, map->panel.count, sizeof *map->marks);
  if (measure->part[RS_PLOT_SHARE] != NULL) map->shares = rs_arena_take(&map->memory, panels, sizeof *map->shares);
  RS_TRY(rs_arena_check(&map->memory, err));
  for (size_t i = 0; i < map->panel.count; i++) map->marks[i] = SIZE_MAX;
  fill_values(measure, places, count, map, counts);
  for (size_t p = 0; p < panels && map->shares != NULL; p++) { /* the rows of a panel all say it */
    size_t rows = 0;
    for (size_t i = 0; i < cells; i++) rows += counts[p * cells + i];
    map->shares[p] = rows > 0 ? map->shares[p] / (double)rows : NAN;
  }
  return RS_OK;
}

rs_status rs_plot_map_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_map *map,
                           rs_err *err) {
  *map = (rs_plot_map){0};
  place *places = rs_arena_take(&map->memory, measure->file->table->rows, sizeof *places);
  RS_TRY(rs_arena_check(&map->memory, err));
  size_t count = take_places(measure, choice, places);
  RS_TRY(find_ranks(places, count, map, err));
  RS_TRY(find_methods(measure, places, count, measure->data->methods.count, map, err));
  bool fits = map->x.count <= RS_PLOT_MAP_SIDE && map->y.count <= RS_PLOT_MAP_SIDE;
  return fits ? make_values(measure, places, count, map, err) : RS_OK;
}

void rs_plot_map_clear(rs_plot_map *map) {
  rs_arena_clear(&map->memory);
  *map = (rs_plot_map){0};
}
