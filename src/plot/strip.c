/* strip.c: values over one index as rows of colours, one per method: what each method does to which pair, say. Where a
 * row keeps one value for long enough, that value is written on it, so that nobody needs to look it up in the bar. */
#include "plot_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE = 16, TICK = 4, LABEL_GAP = 8, BAR_GAP = 26, ROW_GAP = 5, ROW_LEAST = 20, BAR_LEAST = 120 };
enum { TITLE_SIZE = 17, TITLE_ROW = 23, NOTE_SIZE = 13, NOTE_ROW = 18, NAME_SIZE = 15 };
enum { METHOD_SIZE = 14, METHOD_ROW = 17, METHOD_WIDEST = 170, VALUE_SIZE = 12, VALUE_ROOM = 8, VALUE_LONGEST = 4 };
enum { WIDTH = 440, CELL_WIDEST = 40, RUN_LEAST = 2 }; /* pixels; cells of one value that are worth a text */

static const uint32_t MISSING = 0xB3B3B3;

typedef struct layout {
  const rs_plot_heat *heat;
  const rs_plot_map *map;
  rs_plot_picture *picture;
  rs_plot_shades shades;
  double cell, row, left, top, right, bottom; /* of all rows; a row's height, gap included */
} layout;

static const char *method_name(const layout *l, size_t i) {
  return l->heat->methods[l->map->methods[i]];
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* The width of the names; the tallest gives the rows their height. */
static double measure_names(layout *l) {
  double widest = 0;
  size_t rows = 1;
  for (size_t i = 0; i < l->map->count; i++) {
    const char *rest = method_name(l, i);
    for (size_t row = 1; *rest != '\0'; row++) {
      const char *start = rest;
      size_t length = rs_plot_wrap(start, METHOD_SIZE, false, METHOD_WIDEST, &rest);
      widest = fmax(widest, rs_plot_text_width(start, length, METHOD_SIZE, false));
      if (row > rows) rows = row;
    }
  }
  l->row = fmax(ROW_LEAST, (double)rows * METHOD_ROW) + ROW_GAP;
  return widest;
}

static double bar_height(const layout *l) {
  return fmax(l->bottom - l->top, BAR_LEAST);
}

static void place(layout *l) {
  const rs_plot_heat *heat = l->heat;
  l->cell = fmin(fmax(floor(WIDTH / (double)l->map->x.count), 1), CELL_WIDEST);
  l->left = ceil(EDGE + measure_names(l) + LABEL_GAP);
  l->right = l->left + l->cell * (double)l->map->x.count;
  l->bottom = l->row * (double)l->map->count - ROW_GAP;
  rs_plot_axis_place(&l->shades.scale, bar_height(l), 0);
  double after = l->right + BAR_GAP + rs_plot_bar_width(&l->shades), titled = l->left + WIDTH;
  l->picture->width = ceil(fmax(after, titled) + EDGE);
  double width = l->picture->width - l->left - EDGE;
  size_t titles = rs_plot_rows_count(heat->title, TITLE_SIZE, true, width);
  size_t notes = rs_plot_rows_count(heat->definition, NOTE_SIZE, false, width);
  notes += rs_plot_rows_count(heat->subtitle, NOTE_SIZE, false, width);
  double block = l->bottom, below = TICK + 4 + RS_PLOT_TICK_SIZE + 8 + NAME_SIZE + 5 + EDGE;
  l->top = EDGE + (double)titles * TITLE_ROW + (double)notes * NOTE_ROW + 12;
  l->bottom = l->top + block;
  l->picture->height = ceil(fmax(l->bottom + below, l->top + fmax(block, BAR_LEAST) + EDGE));
  rs_plot_axis_place(&l->shades.scale, l->top + bar_height(l), l->top);
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
    double x = l->left + (double)i * l->cell;
    if (isnan(values[i])) {
      rs_plot_segment_add(l->picture, x + 1, top + tall - 1, x + l->cell - 1, top + 1, MISSING, 1);
      continue;
    }
    uint32_t colour = rs_plot_level_colour(rs_plot_level_of(&l->shades, values[i]));
    rs_plot_shape_add(l->picture, RS_PLOT_CELLS, colour, l->cell)->tall = tall;
    for (size_t k = i; k < end; k++) rs_plot_point_add(l->picture, l->left + (double)k * l->cell, top);
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
    if (isnan(values[i]) || end - i < RUN_LEAST) continue;
    rs_text text = value_text(l, values[i]);
    double room = (double)(end - i) * l->cell, x = l->left + (double)i * l->cell + room / 2;
    if (rs_plot_text_width(rs_text_string(&text), text.length, VALUE_SIZE, false) + VALUE_ROOM <= room)
      rs_plot_shade_text_add(l->picture, &l->shades, values[i], &text, x, middle, VALUE_SIZE);
    rs_text_clear(&text);
  }
}

static void draw_name(layout *l, const char *name, double middle) {
  double rows = (double)rs_plot_rows_count(name, METHOD_SIZE, false, METHOD_WIDEST);
  double y = middle - (rows - 1) / 2 * METHOD_ROW + 0.36 * METHOD_SIZE;
  while (*name != '\0') {
    const char *start = name;
    size_t length = rs_plot_wrap(start, METHOD_SIZE, false, METHOD_WIDEST, &name);
    rs_plot_text_add(l->picture, l->left - LABEL_GAP, y, start, length, METHOD_SIZE, RS_PLOT_END, RS_PLOT_INK);
    y += METHOD_ROW;
  }
}

static void draw_rows(layout *l) {
  for (size_t i = 0; i < l->map->count; i++) {
    const double *values = l->map->values + i * l->map->x.count;
    double top = l->top + (double)i * l->row, bottom = top + l->row - ROW_GAP;
    draw_cells(l, values, top);
    draw_values(l, values, top);
    rs_plot_frame_add(l->picture, l->left, top, l->right, bottom);
    draw_name(l, method_name(l, i), (top + bottom) / 2);
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
    char text[RS_NUMBER_CHARS];
    double at = l->left + ((double)i + 0.5) * l->cell;
    if (!rs_plot_is_labelled(x, i, step)) continue;
    rs_plot_segment_add(l->picture, at, l->bottom + 1, at, l->bottom + 1 + TICK, RS_PLOT_AXIS, 1);
    rs_plot_text_add(l->picture, at, l->bottom + TICK + 4 + RS_PLOT_TICK_SIZE, text,
                     rs_number_format(x->items[i], text), RS_PLOT_TICK_SIZE, RS_PLOT_MIDDLE, RS_PLOT_INK);
  }
  rs_plot_text_add(l->picture, (l->left + l->right) / 2, l->bottom + TICK + 4 + RS_PLOT_TICK_SIZE + 8 + NAME_SIZE,
                   l->heat->x_name, strlen(l->heat->x_name), NAME_SIZE, RS_PLOT_MIDDLE, RS_PLOT_INK);
}

static void draw_title(layout *l) {
  double width = l->picture->width - l->left - EDGE, y = EDGE + TITLE_SIZE - 2;
  y = rs_plot_rows_add(l->picture, l->left, y, l->heat->title, TITLE_SIZE, TITLE_ROW, true, width, RS_PLOT_INK);
  y += NOTE_ROW - TITLE_ROW + 2;
  y = rs_plot_rows_add(l->picture, l->left, y, l->heat->definition, NOTE_SIZE, NOTE_ROW, false, width, RS_PLOT_INK);
  rs_plot_rows_add(l->picture, l->left, y, l->heat->subtitle, NOTE_SIZE, NOTE_ROW, false, width, RS_PLOT_SOFT);
}

rs_status rs_plot_strip_draw(const rs_plot_heat *heat, rs_plot_picture *picture, rs_err *err) {
  layout l = {.heat = heat, .map = heat->map, .picture = picture};
  bool whole = *rs_plot_unit(heat->unit) == '\0' && heat->map->low >= 0 && heat->map->high <= 1; /* a share */
  rs_text_puts(&picture->title, heat->title);
  rs_text_puts(&picture->description, heat->description);
  rs_plot_shades_fit(&l.shades, heat->map, heat->log, whole);
  place(&l);
  draw_title(&l);
  draw_rows(&l);
  draw_ticks(&l);
  rs_plot_bar_add(picture, &l.shades, l.right + BAR_GAP, l.top, heat->name, heat->unit);
  return rs_plot_picture_check(picture, err);
}
