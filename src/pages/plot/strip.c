/* strip.c: values over one index as rows of colours, one per method: what each method does to which pair, say. Where a
 * row keeps one value for long enough, that value is written on it, so that nobody needs to look it up in the bar. */
#include "forms.h"

#include "paper.h"

#include <math.h>
#include <stdlib.h>

enum { BAR_GAP = 26, ROW_GAP = 5, ROW_LEAST = 20, BAR_LEAST = 120, BAR_TALLEST = 300 };
enum { VALUE_SIZE = 12, VALUE_ROOM = 8, VALUE_LONGEST = 4 };
enum { WIDTH = 440, CELL_WIDEST = 40 }; /* pixels */

typedef struct layout {
  const rs_plot_heat *heat;
  const rs_plot_map *map;
  rs_plot_picture *picture;
  rs_plot_shades shades;
  const char **names; /* of the rows. Owned. */
  rs_plot_page page;  /* its area: all rows */
  double cell, row;   /* a cell's width; a row's height, gap included */
} layout;

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static void place(layout *l) {
  double tallest, names = rs_plot_row_names_width(l->names, l->map->count, &tallest);
  l->row = fmax(ROW_LEAST, tallest) + ROW_GAP;
  l->cell = fmin(fmax(floor(WIDTH / (double)l->map->x.count), 1), CELL_WIDEST);
  double height = l->row * (double)l->map->count - ROW_GAP;
  double bar = fmin(fmax(height, BAR_LEAST), BAR_TALLEST);
  rs_plot_axis_place(&l->shades.scale, bar, 0);
  rs_plot_room room = {.width = l->cell * (double)l->map->x.count,
                       .height = height,
                       .y_name = "",
                       .labels = names,
                       .beside = BAR_GAP + rs_plot_bar_width(&l->shades),
                       .beside_height = bar,
                       .titles = WIDTH};
  rs_plot_page_place(&l->page, &room);
  rs_plot_axis_place(&l->shades.scale, l->page.top + bar, l->page.top);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static size_t run_end(const double *values, size_t begin, size_t count) {
  size_t end = begin + 1;
  while (end < count && values[end] == values[begin]) end++;
  return end;
}

/* One shape for each stretch of one value. */
static void draw_cells(layout *l, const double *values, double top) {
  double tall = l->row - ROW_GAP;
  for (size_t i = 0, end; i < l->map->x.count; i = end) {
    end = run_end(values, i, l->map->x.count);
    double x = l->page.left + (double)i * l->cell;
    if (isnan(values[i])) {
      rs_plot_missing_add(l->picture, x, top, l->cell, tall);
      continue;
    }
    uint32_t colour = rs_plot_level_colour(rs_plot_level_of(&l->shades, values[i]));
    rs_plot_shape_add(l->picture, RS_PLOT_CELLS, colour, l->cell)->tall = tall;
    for (size_t k = i; k < end; k++) rs_plot_point_add(l->picture, l->page.left + (double)k * l->cell, top);
  }
}

/* As it is if that is short: a stretch of one value is mostly 0 or 1. */
static rs_text value_text(const layout *l, double value) {
  rs_text text = {0};
  rs_text_number(&text, value);
  if (text.length <= VALUE_LONGEST) return text;
  rs_text_clear(&text);
  return rs_plot_shade_text(&l->shades, value);
}

static void draw_values(layout *l, const double *values, double top) {
  double middle = top + (l->row - ROW_GAP) / 2;
  for (size_t i = 0, end; i < l->map->x.count && l->shades.texts; i = end) {
    end = run_end(values, i, l->map->x.count);
    if (isnan(values[i])) continue;
    rs_text text = value_text(l, values[i]);
    double room = (double)(end - i) * l->cell, x = l->page.left + (double)i * l->cell + room / 2;
    if (rs_plot_text_width(rs_text_string(&text), text.length, VALUE_SIZE, false) + VALUE_ROOM <= room)
      rs_plot_shade_text_add(l->picture, &l->shades, values[i], &text, x, middle, VALUE_SIZE);
    rs_text_clear(&text);
  }
}

static void draw_rows(layout *l) {
  for (size_t i = 0; i < l->map->count; i++) {
    const double *values = l->map->values + i * l->map->x.count;
    double top = l->page.top + (double)i * l->row, bottom = top + l->row - ROW_GAP;
    draw_cells(l, values, top);
    draw_values(l, values, top);
    rs_plot_box_add(l->picture, l->page.left, top, l->page.right, bottom);
    rs_plot_row_name_add(&l->page, l->names[i], (top + bottom) / 2, RS_PLOT_INK);
  }
}

/* ---- axis and title ---------------------------------------------------------------------------------------------- */

/* Under the cells, whose middles are at their numbers where these are evenly spaced; else under every so many. */
static void draw_ticks(layout *l) {
  const rs_plot_ranks *x = &l->map->x;
  double widest = 0;
  for (size_t i = 0; i < x->count; i++) {
    char text[RS_NUMBER_CHARS];
    widest = fmax(widest, rs_plot_text_width(text, rs_number_format(x->items[i], text), RS_PLOT_TICK_SIZE, false));
  }
  size_t step = rs_plot_label_step(x, l->cell, widest + 8);
  for (size_t i = 0; i < x->count; i++) {
    rs_plot_tick tick = {0};
    if (!rs_plot_is_labelled(x, i, step)) continue;
    rs_number_format(x->items[i], tick.label);
    rs_plot_page_tick_x(&l->page, &tick, l->page.left + ((double)i + 0.5) * l->cell, l->page.bottom + 1);
  }
}

rs_status rs_plot_strip_draw(const rs_plot_heat *heat, rs_plot_picture *picture, rs_err *err) {
  layout l = {.heat = heat, .map = heat->map, .picture = picture, .page = {.head = &heat->head, .picture = picture}};
  bool whole = *rs_plot_unit(heat->unit) == '\0' && heat->map->low >= 0 && heat->map->high <= 1; /* a share */
  l.names = rs_alloc(heat->map->count, sizeof *l.names, err);
  if (l.names == NULL) return RS_MEMORY;
  for (size_t i = 0; i < heat->map->count; i++) l.names[i] = heat->methods[heat->map->methods[i]];
  rs_plot_shades_fit(&l.shades, heat->map, heat->log, whole);
  place(&l);
  draw_rows(&l);
  draw_ticks(&l);
  rs_plot_page_names(&l.page, heat->x_name, "");
  rs_plot_bar_add(picture, &l.shades, l.page.right + BAR_GAP, l.page.top, heat->name, heat->unit);
  free(l.names);
  return rs_plot_picture_check(picture, err);
}
