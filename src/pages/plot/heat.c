/* heat.c: maps as a picture. Panels of one size and one scale of colours, so that they compare: a row of them for each
 * method where there are several panels, else method beside method. The axes stand at the left and below, once; the
 * colour bar at the right. All edges of cells lie on whole pixels, so that none shows a seam. */
#include "forms.h"

#include "paper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP_X = 12, GAP_Y = 14, MOST_BESIDE = 4, NAME_SIZE = 14, NAME_ROW = 20 };
enum { HEAD_SIZE = 12, HEAD_ROW = 18, HEAD_GAP = 12, NAME_WIDEST = 120 };
enum { BAR_GAP = 26, BAR_TALLEST = 300 };
enum { TITLES_LEAST = 240 }; /* a title over one small panel needs room of its own */
enum { NUMBER_SIZE = 11, NUMBER_ROOM = 5 };
enum { CELL_LARGEST = 40, SQUARE_UP_TO = 4 }; /* pixels; sides of a map whose cells are still square */

#define MINUS "\u2212" /* as on other axes */

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
  bool numbers;    /* the cells have room for their values */
  double overhang; /* of a heading over the right of its panel */
  size_t *order;   /* the cells of a panel by colour. Owned. */
} layout;

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* "row 0, column 13" where the panel has a mark, else "dt 3". */
static rs_text heading_of(const layout *l, size_t panel) {
  const rs_plot_map *map = l->map;
  rs_text text = {0};
  size_t mark = map->marks[panel];
  if (mark == SIZE_MAX) {
    rs_text_printf(&text, "%s ", l->heat->panel_name);
    rs_text_number(&text, map->panel.items[panel]);
    return text;
  }
  rs_text_printf(&text, "%s ", l->heat->y_name);
  rs_text_number(&text, map->y.items[mark / map->x.count]);
  rs_text_printf(&text, ", %s ", l->heat->x_name);
  rs_text_number(&text, map->x.items[mark % map->x.count]);
  return text;
}

static const char *method_name(const layout *l, size_t i) {
  return l->heat->methods[l->map->methods[i]];
}

/* 4096 as "4k" where it counts tokens. */
static rs_text number_text(double number, bool tokens) {
  rs_text text = {0};
  if (tokens)
    rs_plot_tokens(number, &text);
  else if (number < 0)
    rs_text_puts(&text, MINUS), rs_text_number(&text, -number);
  else
    rs_text_number(&text, number);
  return text;
}

static double widest_number(const rs_plot_ranks *ranks, bool tokens) {
  double widest = 0;
  for (size_t i = 0; i < ranks->count; i++) {
    rs_text text = number_text(ranks->items[i], tokens);
    widest = fmax(widest, rs_plot_text_width(rs_text_string(&text), text.length, RS_PLOT_TICK_SIZE, false));
    rs_text_clear(&text);
  }
  return widest;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

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

/* The widest text that stands over one panel. Methods' names are wrapped where they are wider still. */
static double widest_heading(layout *l) {
  double widest = 0;
  for (size_t p = 0; p < l->map->panel.count && l->panels; p++) {
    rs_text text = heading_of(l, p);
    widest = fmax(widest, rs_plot_text_width(rs_text_string(&text), text.length, HEAD_SIZE, false));
    l->picture->failed = l->picture->failed || text.failed;
    rs_text_clear(&text);
  }
  for (size_t i = 0; i < l->map->count && !l->panels; i++) {
    const char *name = method_name(l, i);
    widest = fmax(widest, fmin(rs_plot_text_width(name, strlen(name), NAME_SIZE, true), NAME_WIDEST));
  }
  return widest;
}

static void size_panels(layout *l) {
  l->panels = *l->heat->panel_name != '\0' && l->map->panel.count > 1; /* a single one is in the subtitle */
  size_t rows = (l->map->count + MOST_BESIDE - 1) / MOST_BESIDE;       /* about equally long */
  l->across = l->panels ? l->map->panel.count : (l->map->count + rows - 1) / rows;
  l->down = l->panels ? l->map->count : (l->map->count + l->across - 1) / l->across;
  double heading = widest_heading(l);
  size_cells(l, heading);
  l->pitch_x = ceil(fmax(l->panel_width + GAP_X, heading + HEAD_GAP));
  l->overhang = ceil(fmax(heading - l->panel_width, 0));
  l->head = l->panels ? HEAD_ROW : 0;
  double width = l->panels ? l->pitch_x * (double)l->across : l->pitch_x - HEAD_GAP;
  l->title_rows = 1;
  for (size_t i = 0; i < l->map->count; i++)
    l->title_rows = fmax(l->title_rows, (double)rs_plot_rows_count(method_name(l, i), NAME_SIZE, true, width));
  l->pitch_y = l->panel_height + GAP_Y + NAME_ROW * l->title_rows;
}

static size_t count_values(const rs_plot_map *map) {
  return map->count * map->panel.count * map->x.count * map->y.count;
}

static void place(layout *l) {
  double block = l->pitch_y * (double)l->down - GAP_Y - NAME_ROW * l->title_rows;
  double bar = fmin(block, BAR_TALLEST);
  rs_plot_axis_place(&l->shades.scale, bar, 0);
  rs_plot_room room = {.width = l->pitch_x * (double)(l->across - 1) + l->panel_width,
                       .height = block,
                       .y_name = l->heat->y_name,
                       .labels = widest_number(&l->map->y, false) + RS_PLOT_TICK_LENGTH + 5,
                       .over = l->head + NAME_ROW * l->title_rows,
                       .beside = l->overhang + BAR_GAP + rs_plot_bar_width(&l->shades),
                       .beside_height = bar,
                       .titles = l->panels ? TITLES_LEAST : 0};
  rs_plot_page_place(&l->page, &room);
  rs_plot_axis_place(&l->shades.scale, l->page.top + bar, l->page.top);
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* Sorts the panel's cells by colour, by counting; `ends` gets where each colour's cells end. */
static void sort_cells(layout *l, const double *values, size_t cells, size_t ends[RS_PLOT_LEVELS]) {
  memset(ends, 0, RS_PLOT_LEVELS * sizeof *ends);
  for (size_t i = 0; i < cells; i++) {
    if (!isnan(values[i])) ends[rs_plot_level_of(&l->shades, values[i])]++;
  }
  for (size_t k = 0, start = 0; k < RS_PLOT_LEVELS; k++) {
    size_t count = ends[k];
    ends[k] = start; /* for now where they start */
    start += count;
  }
  for (size_t i = 0; i < cells; i++) {
    if (!isnan(values[i])) l->order[ends[rs_plot_level_of(&l->shades, values[i])]++] = i;
  }
}

/* One shape for each colour. */
static void draw_cells(layout *l, const double *values, double left, double top) {
  size_t ends[RS_PLOT_LEVELS], width = l->map->x.count, cells = width * l->map->y.count;
  sort_cells(l, values, cells, ends);
  for (size_t k = 0, i = 0; k < RS_PLOT_LEVELS; k++) {
    if (i == ends[k]) continue;
    rs_plot_shape *shape = rs_plot_shape_add(l->picture, RS_PLOT_CELLS, rs_plot_level_colour(k), l->cell_width);
    shape->tall = l->cell_height;
    for (; i < ends[k]; i++)
      rs_plot_point_add(l->picture, left + (double)(l->order[i] % width) * l->cell_width,
                        top + (double)(l->order[i] / width) * l->cell_height);
  }
  for (size_t i = 0; i < cells; i++) {
    if (isnan(values[i]))
      rs_plot_missing_add(l->picture, left + (double)(i % width) * l->cell_width,
                          top + (double)(i / width) * l->cell_height, l->cell_width, l->cell_height);
  }
}

/* ---- numbers in cells -------------------------------------------------------------------------------------------- */

/* Whether all values have room in their cells. */
static void fit_numbers(layout *l) {
  double widest = 0;
  for (size_t i = 0; i < count_values(l->map) && l->shades.texts; i++) {
    if (isnan(l->map->values[i])) continue;
    rs_text text = rs_plot_shade_text(&l->shades, l->map->values[i]);
    widest = fmax(widest, rs_plot_text_width(rs_text_string(&text), text.length, NUMBER_SIZE, false));
    rs_text_clear(&text);
  }
  bool room = widest + NUMBER_ROOM <= l->cell_width && NUMBER_SIZE + NUMBER_ROOM <= l->cell_height;
  l->numbers = l->shades.texts && room;
}

static void draw_numbers(layout *l, const double *values, double left, double top) {
  size_t width = l->map->x.count, cells = width * l->map->y.count;
  for (size_t i = 0; i < cells && l->numbers; i++) {
    if (isnan(values[i])) continue;
    rs_text text = rs_plot_shade_text(&l->shades, values[i]);
    rs_plot_shade_text_add(l->picture, &l->shades, values[i], &text, left + ((double)(i % width) + 0.5) * l->cell_width,
                           top + ((double)(i / width) + 0.5) * l->cell_height, NUMBER_SIZE);
    rs_text_clear(&text);
  }
}

static void draw_mark(layout *l, size_t mark, double left, double top) {
  double radius = fmin(fmax(0.28 * fmin(l->cell_width, l->cell_height), 1.8), 5);
  if (mark == SIZE_MAX) return;
  rs_plot_shape_add(l->picture, RS_PLOT_MARKERS, RS_PLOT_INK, radius);
  rs_plot_point_add(l->picture, left + ((double)(mark % l->map->x.count) + 0.5) * l->cell_width,
                    top + ((double)(mark / l->map->x.count) + 0.5) * l->cell_height);
}

/* ---- ticks ------------------------------------------------------------------------------------------------------- */

static rs_plot_tick number_tick(layout *l, double number, bool tokens) {
  rs_plot_tick tick = {0};
  rs_text text = number_text(number, tokens);
  l->picture->failed = l->picture->failed || text.failed;
  snprintf(tick.label, sizeof tick.label, "%s", rs_text_string(&text));
  rs_text_clear(&text);
  return tick;
}

static size_t x_step(const layout *l) {
  return rs_plot_label_step(&l->map->x, l->cell_width, widest_number(&l->map->x, l->heat->x_tokens) + 8);
}

static void draw_x_ticks(layout *l, double left, double bottom) {
  const rs_plot_ranks *ranks = &l->map->x;
  size_t step = x_step(l);
  for (size_t i = 0; i < ranks->count; i++) {
    double x = left + ((double)i + 0.5) * l->cell_width;
    if (!rs_plot_is_labelled(ranks, i, step)) continue;
    rs_plot_tick tick = number_tick(l, ranks->items[i], l->heat->x_tokens);
    rs_plot_page_tick_x(&l->page, &tick, x, bottom + 1);
  }
}

static void draw_y_ticks(layout *l, double left, double top) {
  const rs_plot_ranks *ranks = &l->map->y;
  size_t step = rs_plot_label_step(ranks, l->cell_height, RS_PLOT_TICK_SIZE + 5);
  if (l->map->x.count == l->map->y.count && step < x_step(l)) step = x_step(l); /* a square looks the same both ways */
  for (size_t i = 0; i < ranks->count; i++) {
    double y = top + ((double)i + 0.5) * l->cell_height;
    if (!rs_plot_is_labelled(ranks, i, step)) continue;
    rs_plot_tick tick = number_tick(l, ranks->items[i], false);
    rs_plot_page_tick_y(&l->page, &tick, left - 1, y);
  }
}

/* ---- panels ------------------------------------------------------------------------------------------------------ */

/* Panel number i in reading order; without panels each is a method. */
static void draw_panel(layout *l, size_t i) {
  size_t column = i % l->across, row = i / l->across, cells = l->map->x.count * l->map->y.count;
  double left = l->page.left + (double)column * l->pitch_x, top = l->page.top + (double)row * l->pitch_y;
  double bottom = top + l->panel_height;
  draw_cells(l, l->map->values + i * cells, left, top);
  draw_numbers(l, l->map->values + i * cells, left, top);
  draw_mark(l, l->map->marks[l->panels ? column : 0], left, top);
  rs_plot_box_add(l->picture, left, top, left + l->panel_width, bottom);
  if (column == 0) draw_y_ticks(l, left, top);
  if (row + 1 == l->down || i + l->across >= l->map->count * (l->panels ? l->across : 1)) draw_x_ticks(l, left, bottom);
}

static void draw_method_names(layout *l) {
  double width = l->panels ? l->pitch_x * (double)l->across : l->pitch_x - HEAD_GAP;
  for (size_t i = 0; i < l->map->count; i++) {
    size_t column = l->panels ? 0 : i % l->across, row = l->panels ? i : i / l->across;
    double rows = (double)rs_plot_rows_count(method_name(l, i), NAME_SIZE, true, width);
    double top = l->page.top + (double)row * l->pitch_y - (row == 0 ? l->head : 0);
    rs_plot_rows_add(l->picture, l->page.left + (double)column * l->pitch_x, top - 6 - (rows - 1) * NAME_ROW,
                     method_name(l, i), NAME_SIZE, NAME_ROW, true, width, RS_PLOT_INK);
  }
}

static void draw_headings(layout *l) {
  for (size_t p = 0; p < l->map->panel.count && l->panels; p++) {
    rs_text text = heading_of(l, p);
    rs_plot_text_add(l->picture, l->page.left + (double)p * l->pitch_x, l->page.top - 6, rs_text_string(&text),
                     text.length, HEAD_SIZE, RS_PLOT_START, RS_PLOT_SOFT);
    rs_text_clear(&text);
  }
}

rs_status rs_plot_heat_draw(const rs_plot_heat *heat, rs_plot_picture *picture, rs_err *err) {
  layout *l = rs_alloc(1, sizeof *l, err);
  if (l == NULL) return RS_MEMORY;
  rs_status status = RS_MEMORY;
  *l = (layout){.heat = heat, .map = heat->map, .picture = picture, .page = {.head = &heat->head, .picture = picture}};
  l->order = rs_alloc(heat->map->x.count * heat->map->y.count, sizeof *l->order, err);
  if (l->order == NULL) goto out;
  rs_plot_shades_fit(&l->shades, l->map, heat->log, false);
  size_panels(l);
  fit_numbers(l);
  place(l);
  draw_headings(l);
  draw_method_names(l);
  for (size_t i = 0; i < l->map->count * l->map->panel.count; i++) draw_panel(l, i);
  rs_plot_page_names(&l->page, heat->x_name, heat->y_name);
  rs_plot_bar_add(picture, &l->shades, l->page.right + l->overhang + BAR_GAP, l->page.top, heat->name, heat->unit);
  status = rs_plot_picture_check(picture, err);
out:
  free(l->order);
  free(l);
  return status;
}
