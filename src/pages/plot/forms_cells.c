/* forms_cells.c: maps as a picture. A heat map has panels of one size and one scale of colours, so that they compare: a
 * row of them for each method where there are several panels, else method beside method. The axes stand at the left and
 * below, once; the colour bar at the right. All edges of cells lie on whole pixels, so that none shows a seam. Strips
 * are values over one index as rows of colours, one per method: what each method does to which pair, say. */
#include "forms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR_GAP = 26, BAR_LEAST = 120, BAR_TALLEST = 300, CELL_LARGEST = 40 }; /* pixels */

typedef struct layout {
  const rs_plot_heat *heat;
  const rs_plot_map *map;
  rs_plot_picture *picture;
  rs_plot_page page;   /* its area: all panels */
  size_t across, down; /* panels */
  bool panels;         /* a row of panels for each method */
  double cell_width, cell_height, panel_width, panel_height, pitch_x, pitch_y;
  double head, title_rows; /* height of the headings above all; rows of text above each panel */
  rs_plot_shades shades;
  bool numbers;          /* the cells have room for their values */
  double overhang;       /* of a heading over the right of its panel */
  size_t x_step, y_step; /* a label every so many cells */
} layout;

static const char *method_name(const layout *l, size_t i) {
  return l->heat->methods[l->map->methods[i]];
}

/* Where cell i of a map's panel stands, whose upper left is (left, top). */
static rs_plot_xy place_of(const layout *l, size_t i, double left, double top) {
  return (rs_plot_xy){left + (double)(i % l->map->x.count) * l->cell_width,
                      top + (double)(i / l->map->x.count) * l->cell_height};
}

/* The stroke across a cell that has no value. */
static void draw_missing(layout *l, rs_plot_xy at) {
  rs_plot_segment_add(l->picture, at.x + 1, at.y + l->cell_height - 1, at.x + l->cell_width - 1, at.y + 1, 0xB3B3B3, 1);
}

/* ---- ticks ------------------------------------------------------------------------------------------------------- */

/* 4096 as "4k" where it counts tokens, and a minus as on other axes. */
static rs_plot_tick tick_of(const layout *l, double number, bool tokens) {
  rs_plot_tick tick = {0};
  rs_text text = {0};
  if (!tokens && number < 0) rs_text_puts(&text, "\u2212");
  if (tokens)
    rs_plot_tokens(number, &text);
  else
    rs_text_number(&text, fabs(number));
  snprintf(tick.label, sizeof tick.label, "%s", rs_plot_keep(&l->picture->memory, &text));
  return tick;
}

static double widest_number(const layout *l, const rs_plot_ranks *ranks, bool tokens) {
  double widest = 0;
  for (size_t i = 0; i < ranks->count; i++) {
    rs_plot_tick tick = tick_of(l, ranks->items[i], tokens);
    widest = fmax(widest, rs_plot_tick_width(&tick));
  }
  return widest;
}

static size_t find_x_step(const layout *l) {
  const rs_plot_ranks *x = &l->map->x;
  return rs_plot_label_step(x, l->cell_width, widest_number(l, x, l->heat->x_tokens) + 8);
}

/* Ticks of a side, at the middles of every so many cells from (left, top) on. */
static void draw_ticks(const layout *l, const rs_plot_ranks *ranks, size_t step, bool vertical, double left,
                       double top) {
  for (size_t i = 0; i < ranks->count; i++) {
    double middle = (double)i + 0.5;
    if (!rs_plot_is_labelled(ranks, i, step)) continue;
    rs_plot_tick tick = tick_of(l, ranks->items[i], !vertical && l->heat->x_tokens);
    rs_plot_page_tick(&l->page, &tick, vertical, vertical ? left : left + middle * l->cell_width,
                      vertical ? top + middle * l->cell_height : top);
  }
}

/* ---- heat maps: sizes -------------------------------------------------------------------------------------------- */

enum { GAP_X = 12, GAP_Y = 14, MOST_BESIDE = 4, HEAD_SIZE = 12, HEAD_ROW = 18, HEAD_GAP = 12, NAME_WIDEST = 120 };
enum { TITLES_LEAST = 240 }; /* a title over one small panel needs room of its own */
enum { NUMBER_SIZE = 11, NUMBER_ROOM = 5 };
enum { SQUARE_UP_TO = 4 }; /* sides of a map whose cells are still square */

static const rs_plot_letters letters = {.size = 14, .row = 20, .bold = true};

/* "row 0, column 13" where the panel has a mark, else "dt 3"; with the share that this method has in it "dt 3: 42 %".
 */
static const char *heading_of(const layout *l, size_t method, size_t panel) {
  const rs_plot_map *map = l->map;
  rs_text text = {0};
  size_t mark = map->marks[panel];
  rs_text_printf(&text, "%s ", mark == SIZE_MAX ? l->heat->panel_name : l->heat->y_name);
  rs_text_number(&text, mark == SIZE_MAX ? map->panel.items[panel] : map->y.items[mark / map->x.count]);
  if (mark != SIZE_MAX) {
    rs_text_printf(&text, ", %s ", l->heat->x_name);
    rs_text_number(&text, map->x.items[mark % map->x.count]);
  }
  double share = map->shares != NULL ? map->shares[method * map->panel.count + panel] : NAN;
  if (!isnan(share)) rs_text_printf(&text, ": %.3g\u00a0%%", 100 * share);
  return rs_plot_keep(&l->picture->memory, &text);
}

/* Maps of few panels are larger; those of many still suit a column of a paper. */
static void size_cells(layout *l, double heading) {
  double least = l->across <= 2 ? 260 : l->across == 3 ? 168 : l->across == 4 ? 128 : 96;
  double side = fmax(least, floor(heading)), x = (double)l->map->x.count, y = (double)l->map->y.count;
  double width = fmin(fmax(floor(side / x), 1), CELL_LARGEST), height = fmin(fmax(floor(side / y), 1), CELL_LARGEST);
  bool square = !l->heat->x_tokens && x <= SQUARE_UP_TO * y && y <= SQUARE_UP_TO * x;
  l->cell_width = square ? fmin(width, height) : width;
  l->cell_height = square ? fmin(width, height) : height;
  l->panel_width = l->cell_width * x;
  l->panel_height = l->cell_height * y;
}

/* Headings stand once, above all panels, or, where methods have shares of their own, above each method's. */
static size_t heading_rows(const layout *l) {
  return l->map->shares != NULL ? l->map->count : 1;
}

/* The widest text that stands over one panel. Methods' names are wrapped where they are wider still. */
static double widest_heading(const layout *l) {
  double widest = 0;
  for (size_t i = 0; i < heading_rows(l) * l->map->panel.count && l->panels; i++) {
    const char *text = heading_of(l, i / l->map->panel.count, i % l->map->panel.count);
    widest = fmax(widest, rs_plot_text_width(text, strlen(text), HEAD_SIZE, false));
  }
  for (size_t i = 0; i < l->map->count && !l->panels; i++) {
    const char *name = method_name(l, i);
    widest = fmax(widest, fmin(rs_plot_text_width(name, strlen(name), letters.size, true), NAME_WIDEST));
  }
  return widest;
}

/* The room for a method's name. */
static double name_width(const layout *l) {
  return l->panels ? l->pitch_x * (double)l->across : l->pitch_x - HEAD_GAP;
}

static void size_panels(layout *l) {
  bool several = l->map->panel.count > 1 || l->map->shares != NULL; /* a single one is in the subtitle */
  l->panels = *l->heat->panel_name != '\0' && several;
  size_t rows = (l->map->count + MOST_BESIDE - 1) / MOST_BESIDE; /* about equally long */
  l->across = l->panels ? l->map->panel.count : (l->map->count + rows - 1) / rows;
  l->down = l->panels ? l->map->count : (l->map->count + l->across - 1) / l->across;
  double heading = widest_heading(l);
  size_cells(l, heading);
  l->pitch_x = ceil(fmax(l->panel_width + GAP_X, heading + HEAD_GAP));
  l->overhang = ceil(fmax(heading - l->panel_width, 0));
  l->head = l->panels ? HEAD_ROW : 0;
  l->title_rows = 1;
  for (size_t i = 0; i < l->map->count; i++)
    l->title_rows = fmax(l->title_rows, (double)rs_plot_rows_count(method_name(l, i), &letters, name_width(l), NULL));
  l->pitch_y = l->panel_height + GAP_Y + letters.row * l->title_rows + (heading_rows(l) > 1 ? l->head : 0);
}

/* Whether all values have room in their cells. */
static void fit_numbers(layout *l) {
  const rs_plot_map *map = l->map;
  size_t count = map->count * map->panel.count * map->x.count * map->y.count;
  double widest = 0;
  l->numbers = l->shades.texts && NUMBER_SIZE + NUMBER_ROOM <= l->cell_height;
  for (size_t i = 0; i < count && l->numbers; i++) {
    if (isnan(l->map->values[i])) continue;
    const char *text = rs_plot_shade_text(&l->shades, l->map->values[i], &l->picture->memory);
    widest = fmax(widest, rs_plot_text_width(text, strlen(text), NUMBER_SIZE, false));
    l->numbers = widest + NUMBER_ROOM <= l->cell_width;
  }
}

/* The area of this size, a bar as tall at its right. */
static void place(layout *l, rs_plot_room *room, double bar) {
  rs_plot_axis_place(&l->shades.scale, bar, 0);
  room->beside = l->overhang + BAR_GAP + rs_plot_bar_width(&l->shades);
  room->beside_height = bar;
  rs_plot_page_place(&l->page, room);
  rs_plot_axis_place(&l->shades.scale, l->page.top + bar, l->page.top);
}

static void draw_bar(const layout *l) {
  rs_plot_bar_add(l->picture, &l->shades, l->page.right + l->overhang + BAR_GAP, l->page.top, l->heat->name,
                  l->heat->unit);
}

static void place_panels(layout *l) {
  double block = l->pitch_y * (double)(l->down - 1) + l->panel_height;
  rs_plot_room room = {.width = l->pitch_x * (double)(l->across - 1) + l->panel_width,
                       .height = block,
                       .y_name = l->heat->y_name,
                       .labels = widest_number(l, &l->map->y, false) + RS_PLOT_TICK_LENGTH + 5,
                       .over = l->head + letters.row * l->title_rows,
                       .titles = l->panels ? TITLES_LEAST : 0};
  l->x_step = find_x_step(l);
  l->y_step = rs_plot_label_step(&l->map->y, l->cell_height, RS_PLOT_TICK_SIZE + 5);
  if (l->map->x.count == l->map->y.count && l->y_step < l->x_step) l->y_step = l->x_step; /* alike both ways */
  place(l, &room, fmin(block, BAR_TALLEST));
}

/* ---- heat maps: panels ------------------------------------------------------------------------------------------- */

/* One shape for each colour; `levels` has room for the colours of the cells. */
static void draw_cells(layout *l, const double *values, uint16_t *levels, double left, double top) {
  size_t cells = l->map->x.count * l->map->y.count;
  for (size_t i = 0; i < cells; i++)
    levels[i] = isnan(values[i]) ? RS_PLOT_LEVELS : (uint16_t)rs_plot_level_of(&l->shades, values[i]);
  for (uint16_t level = 0; level < RS_PLOT_LEVELS; level++) {
    bool begun = false;
    for (size_t i = 0; i < cells; i++) {
      if (levels[i] != level) continue;
      if (!begun)
        rs_plot_shape_add(l->picture, RS_PLOT_CELLS, rs_plot_level_colour(level), l->cell_width)->tall = l->cell_height;
      begun = true;
      rs_plot_xy at = place_of(l, i, left, top);
      rs_plot_point_add(l->picture, at.x, at.y);
    }
  }
  for (size_t i = 0; i < cells && !l->heat->seen; i++)
    if (isnan(values[i])) draw_missing(l, place_of(l, i, left, top));
}

static void draw_numbers(layout *l, const double *values, double left, double top) {
  for (size_t i = 0; i < l->map->x.count * l->map->y.count && l->numbers; i++) {
    rs_plot_xy at = place_of(l, i, left, top);
    if (!isnan(values[i]))
      rs_plot_shade_text_add(l->picture, &l->shades, values[i],
                             rs_plot_shade_text(&l->shades, values[i], &l->picture->memory), at.x + 0.5 * l->cell_width,
                             at.y + 0.5 * l->cell_height, NUMBER_SIZE);
  }
}

static void draw_mark(layout *l, size_t mark, double left, double top) {
  double radius = fmin(fmax(0.28 * fmin(l->cell_width, l->cell_height), 1.8), 5);
  rs_plot_xy at = place_of(l, mark, left, top);
  rs_plot_shape_add(l->picture, RS_PLOT_MARKERS, RS_PLOT_INK, radius);
  rs_plot_point_add(l->picture, at.x + 0.5 * l->cell_width, at.y + 0.5 * l->cell_height);
}

/* Panel number i in reading order; without panels each is a method. */
static void draw_panel(layout *l, size_t i, uint16_t *levels) {
  const rs_plot_map *map = l->map;
  size_t column = i % l->across, row = i / l->across, mark = map->marks[l->panels ? column : 0];
  double left = l->page.left + (double)column * l->pitch_x, top = l->page.top + (double)row * l->pitch_y;
  double bottom = top + l->panel_height;
  const double *values = map->values + i * map->x.count * map->y.count;
  draw_cells(l, values, levels, left, top);
  draw_numbers(l, values, left, top);
  if (mark != SIZE_MAX) draw_mark(l, mark, left, top);
  rs_plot_box_add(l->picture, left, top, left + l->panel_width, bottom);
  if (column == 0) draw_ticks(l, &map->y, l->y_step, true, left - 1, top);
  if (row + 1 == l->down || i + l->across >= map->count * (l->panels ? l->across : 1))
    draw_ticks(l, &map->x, l->x_step, false, left, bottom + 1);
}

static void draw_headings(layout *l) {
  size_t panels = l->map->panel.count, rows_of_headings = heading_rows(l);
  for (size_t i = 0; i < rows_of_headings * panels && l->panels; i++)
    rs_plot_text_add(l->picture, l->page.left + (double)(i % panels) * l->pitch_x,
                     l->page.top + (double)(i / panels) * l->pitch_y - 6, heading_of(l, i / panels, i % panels),
                     HEAD_SIZE, RS_PLOT_START, RS_PLOT_SOFT);
  for (size_t i = 0; i < l->map->count; i++) {
    size_t column = l->panels ? 0 : i % l->across, row = l->panels ? i : i / l->across;
    double rows = (double)rs_plot_rows_count(method_name(l, i), &letters, name_width(l), NULL);
    double top = l->page.top + (double)row * l->pitch_y - (row < rows_of_headings ? l->head : 0);
    rs_plot_rows_add(l->picture, l->page.left + (double)column * l->pitch_x, top - 6 - (rows - 1) * letters.row,
                     method_name(l, i), &letters, name_width(l), RS_PLOT_INK);
  }
}

rs_status rs_plot_heat_draw(const rs_plot_heat *heat, rs_plot_picture *picture, rs_err *err) {
  const rs_plot_map *map = heat->map;
  layout l = {.heat = heat, .map = map, .picture = picture, .page = {.head = &heat->head, .picture = picture}};
  uint16_t *levels = rs_arena_take(&picture->memory, map->x.count * map->y.count, sizeof *levels);
  if (levels == NULL) return rs_plot_picture_check(picture, err);
  rs_plot_shades_fit(&l.shades, map, heat->log, false, heat->seen ? RS_PLOT_SEEN_DECADES : 0);
  size_panels(&l);
  fit_numbers(&l);
  place_panels(&l);
  draw_headings(&l);
  for (size_t i = 0; i < map->count * map->panel.count; i++) draw_panel(&l, i, levels);
  rs_plot_page_names(&l.page, heat->x_name, heat->y_name);
  draw_bar(&l);
  return rs_plot_picture_check(picture, err);
}

/* ---- strips ------------------------------------------------------------------------------------------------------ */

enum { WIDTH = 440, ROW_GAP = 5, ROW_LEAST = 20, VALUE_SIZE = 12, VALUE_ROOM = 8, VALUE_LONGEST = 4 };

static void place_strips(layout *l, const char *const *names) {
  double tallest, labels = rs_plot_row_names_width(names, l->map->count, &tallest);
  l->cell_height = fmax(ROW_LEAST, tallest);
  l->cell_width = fmin(fmax(floor(WIDTH / (double)l->map->x.count), 1), CELL_LARGEST);
  l->pitch_y = l->cell_height + ROW_GAP;
  rs_plot_room room = {.width = l->cell_width * (double)l->map->x.count,
                       .height = l->pitch_y * (double)l->map->count - ROW_GAP,
                       .y_name = "",
                       .labels = labels,
                       .titles = WIDTH};
  place(l, &room, fmin(fmax(room.height, BAR_LEAST), BAR_TALLEST));
}

static size_t run_end(const double *values, size_t begin, size_t count) {
  size_t end = begin + 1;
  while (end < count && values[end] == values[begin]) end++;
  return end;
}

/* One shape for each stretch of one value. */
static void draw_strip(layout *l, const double *values, double top) {
  for (size_t i = 0, end; i < l->map->x.count; i = end) {
    end = run_end(values, i, l->map->x.count);
    if (isnan(values[i])) {
      draw_missing(l, place_of(l, i, l->page.left, top));
      continue;
    }
    uint32_t colour = rs_plot_level_colour(rs_plot_level_of(&l->shades, values[i]));
    rs_plot_shape_add(l->picture, RS_PLOT_CELLS, colour, l->cell_width)->tall = l->cell_height;
    for (size_t k = i; k < end; k++) rs_plot_point_add(l->picture, l->page.left + (double)k * l->cell_width, top);
  }
}

/* As it is if that is short: a stretch of one value is mostly 0 or 1. */
static const char *value_text(const layout *l, double value) {
  char text[RS_NUMBER_CHARS];
  if (rs_number_format(value, text) > VALUE_LONGEST) return rs_plot_shade_text(&l->shades, value, &l->picture->memory);
  const char *copy = rs_arena_text(&l->picture->memory, text);
  return copy != NULL ? copy : "";
}

/* Where a row keeps one value for long enough, that value is written on it, so that nobody needs to look it up in the
 * bar. */
static void draw_values(layout *l, const double *values, double top) {
  for (size_t i = 0, end; i < l->map->x.count && l->shades.texts; i = end) {
    end = run_end(values, i, l->map->x.count);
    if (isnan(values[i])) continue;
    const char *text = value_text(l, values[i]);
    double room = (double)(end - i) * l->cell_width, x = l->page.left + (double)i * l->cell_width + room / 2;
    if (rs_plot_text_width(text, strlen(text), VALUE_SIZE, false) + VALUE_ROOM <= room)
      rs_plot_shade_text_add(l->picture, &l->shades, values[i], text, x, top + l->cell_height / 2, VALUE_SIZE);
  }
}

rs_status rs_plot_strip_draw(const rs_plot_heat *heat, rs_plot_picture *picture, rs_err *err) {
  const rs_plot_map *map = heat->map;
  layout l = {.heat = heat, .map = map, .picture = picture, .page = {.head = &heat->head, .picture = picture}};
  bool whole = *rs_plot_unit(heat->unit) == '\0' && map->low >= 0 && map->high <= 1; /* a share */
  const char **names = rs_arena_take(&picture->memory, map->count, sizeof *names);
  if (names == NULL) return rs_plot_picture_check(picture, err);
  for (size_t i = 0; i < map->count; i++) names[i] = method_name(&l, i);
  rs_plot_shades_fit(&l.shades, map, heat->log, whole, 0);
  place_strips(&l, names);
  for (size_t i = 0; i < map->count; i++) {
    const double *values = map->values + i * map->x.count;
    double top = l.page.top + (double)i * l.pitch_y;
    draw_strip(&l, values, top);
    draw_values(&l, values, top);
    rs_plot_box_add(picture, l.page.left, top, l.page.right, top + l.cell_height);
    rs_plot_row_name_add(&l.page, names[i], top + l.cell_height / 2, RS_PLOT_INK);
  }
  draw_ticks(&l, &map->x, find_x_step(&l), false, l.page.left, l.page.bottom + 1);
  rs_plot_page_names(&l.page, heat->x_name, "");
  draw_bar(&l);
  return rs_plot_picture_check(picture, err);
}
