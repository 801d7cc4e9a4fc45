/* map.c: from the rows of a value column over two indices to maps, one for each method and panel. Rows of the same
 * method at the same place become one value: their mean. A map's cells stand in the order of their numbers, evenly. */
#include "choice.h"

#include <math.h>
#include <string.h>

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
  for (size_t m = 0; m < all; m++) {
    if (states[m] == state) methods[count++] = m;
  }
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

/* Where a method with a value stands among them; their number for others. */
static size_t slot_of(const rs_plot_map *map, size_t method) {
  size_t slot = 0;
  while (slot < map->count && map->methods[slot] != method) slot++;
  return slot;
}

/* ---- the values -------------------------------------------------------------------------------------------------- */

/* Sums and counts first, then means. */
static void fill_values(const rs_plot_measure *measure, const place *places, size_t count, rs_plot_map *map,
                        size_t *counts) {
  size_t cells = map->x.count * map->y.count, total = map->count * map->panel.count * cells;
  const double *mark = measure->part[RS_PLOT_MAP_MARK];
  for (size_t i = 0; i < count; i++) {
    size_t panel = rs_plot_rank(&map->panel, places[i].panel);
    size_t cell = rs_plot_rank(&map->y, places[i].y) * map->x.count + rs_plot_rank(&map->x, places[i].x);
    double value = measure->y[places[i].row];
    if (panel == map->panel.count) continue;
    if (mark != NULL && mark[places[i].row] == places[i].panel) map->marks[panel] = cell;
    if (isnan(value)) continue;
    size_t where = (slot_of(map, places[i].method) * map->panel.count + panel) * cells + cell;
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
  RS_TRY(rs_arena_check(&map->memory, err));
  for (size_t i = 0; i < map->panel.count; i++) map->marks[i] = SIZE_MAX;
  fill_values(measure, places, count, map, counts);
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
