/* forms_chart.c: lines over a grid, with axes at the left and below and the legend beside; and values as dots on rows.
 * The plot area has a fixed width, so that charts compare. Results at one length have no trend; a row for each method
 * says which is larger, and by how much, without a legend to look up. Categories are rows too, with a dot for each
 * method, and no line between. */
#include "forms.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 440, PLOT_HEIGHT = 310, PLOT_TALLEST = 430, LEGEND_GAP = 24, LABEL_GAP = 4 };

static const uint32_t GRID = 0xE6E6E6, GUIDE = 0xC8C8C8, ZERO = 0xB3B3B3;

typedef struct layout {
  const rs_plot_chart *chart;
  rs_plot_picture *picture;
  rs_plot_page page;
  rs_plot_legend legend;
  rs_plot_axis x, y;      /* of dots, x is that of the values, and there is no y */
  bool lines;             /* not dots */
  const char **names;     /* of the rows */
  size_t rows, *category; /* (rows,) which category a row is, where the chart has such */
  double row;             /* its height */
} layout;

/* ---- frame ------------------------------------------------------------------------------------------------------- */

/* A line across the area at a number of the axis. */
static void draw_across(layout *l, const rs_plot_axis *axis, double pixel, uint32_t colour) {
  const rs_plot_page *page = &l->page;
  double at = rs_plot_crisp(pixel);
  if (axis->vertical)
    rs_plot_segment_add(l->picture, page->left, at, page->right, at, colour, 1);
  else
    rs_plot_segment_add(l->picture, at, page->top, at, page->bottom, colour, 1);
}

static void draw_grid(layout *l, const rs_plot_axis *axis) {
  for (size_t i = 0; i < axis->count; i++)
    if (axis->ticks[i].label[0] != '\0') draw_across(l, axis, axis->ticks[i].pixel, GRID);
}

static void draw_frame(layout *l) {
  const rs_plot_page *page = &l->page;
  const rs_plot_axis *values = l->lines ? &l->y : &l->x;
  double left = rs_plot_crisp(page->left), bottom = rs_plot_crisp(page->bottom);
  draw_grid(l, &l->x);
  if (l->lines) draw_grid(l, &l->y);
  bool signs = values->scale == RS_PLOT_LINEAR || values->scale == RS_PLOT_SYMLOG;
  if (signs && values->low < 0 && values->high > 0) draw_across(l, values, rs_plot_axis_pixel(values, 0), ZERO);
  if (l->lines) rs_plot_segment_add(l->picture, left, page->top, left, page->bottom + 0.5, RS_PLOT_AXIS, 1);
  rs_plot_segment_add(l->picture, page->left, bottom, page->right, bottom, RS_PLOT_AXIS, 1);
  if (l->x.rail) rs_plot_break_add(l->picture, l->x.base - RS_PLOT_BREAK, bottom, false);
  if (l->y.rail) rs_plot_break_add(l->picture, left, l->y.base + RS_PLOT_BREAK, true);
  for (size_t i = 0; i < l->x.count; i++)
    rs_plot_page_tick(page, &l->x.ticks[i], false, l->x.ticks[i].pixel, page->bottom);
  for (size_t i = 0; i < l->y.count; i++)
    rs_plot_page_tick(page, &l->y.ticks[i], true, page->left, l->y.ticks[i].pixel);
  l->picture->memory.failed |= l->x.failed || l->y.failed;
}

static const char *name_of(const layout *l, const rs_plot_axis *axis, const char *name, const char *unit) {
  rs_text text = {0};
  rs_plot_axis_name(axis, name, unit, &text);
  return rs_plot_keep(&l->picture->memory, &text);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

enum { COUNT_SIZE = 11, COUNT_GAP = 4, LEVEL_SIZE = 11, LEVEL_DASH = 3 };

/* A dashed line across, with its name behind it, or on it where the legend is; upright among dots, with its name on
 * top. */
static void draw_level(layout *l) {
  const rs_plot_page *page = &l->page;
  const char *name = l->chart->level_name;
  if (name == NULL) return;
  if (!l->lines) {
    double x = rs_plot_crisp(rs_plot_axis_pixel(&l->x, l->chart->level));
    rs_plot_shape *upright = rs_plot_segment_add(l->picture, x, page->top, x, page->bottom, RS_PLOT_SOFT, 1);
    upright->dashes = 2;
    upright->dash[0] = upright->dash[1] = LEVEL_DASH;
    double half = rs_plot_text_width(name, strlen(name), LEVEL_SIZE, false) / 2;
    x = fmin(fmax(x, page->left + half), page->right - half);
    rs_plot_text_add(l->picture, x, page->top - LABEL_GAP, name, LEVEL_SIZE, RS_PLOT_MIDDLE, RS_PLOT_SOFT);
    return;
  }
  double y = rs_plot_crisp(rs_plot_axis_pixel(&l->y, l->chart->level));
  bool free_room = y - LEVEL_SIZE > page->top + l->legend.height;
  rs_plot_shape *line = rs_plot_segment_add(l->picture, page->left, y, page->right, y, RS_PLOT_SOFT, 1);
  line->dashes = 2;
  line->dash[0] = line->dash[1] = LEVEL_DASH;
  if (free_room)
    rs_plot_text_add(l->picture, page->right + LABEL_GAP, y + LEVEL_SIZE * 0.36, name, LEVEL_SIZE, RS_PLOT_START,
                     RS_PLOT_SOFT);
  else
    rs_plot_text_add(l->picture, page->right - LABEL_GAP, y - LABEL_GAP, name, LEVEL_SIZE, RS_PLOT_END, RS_PLOT_SOFT);
}

/* From the inside out: the legend gives the height, this the ticks and their width, all that the place of the title. */
static void place(layout *l) {
  const rs_plot_chart *chart = l->chart;
  rs_plot_legend_measure(&l->legend, chart->series, chart->count, l->picture);
  double height = fmin(fmax(PLOT_HEIGHT, l->legend.height), PLOT_TALLEST);
  rs_plot_axis_place(&l->y, height, 0);
  const char *y_name = name_of(l, &l->y, chart->y_name, chart->y_unit);
  const char *name = chart->level_name;
  double level = name != NULL ? rs_plot_text_width(name, strlen(name), LEVEL_SIZE, false) : 0;
  rs_plot_room room = {.width = WIDTH,
                       .height = height,
                       .y_name = y_name,
                       .labels = rs_plot_ticks_width(&l->y) + RS_PLOT_TICK_LENGTH + LABEL_GAP,
                       .beside = fmax(LEGEND_GAP + l->legend.width, LABEL_GAP + level),
                       .beside_height = l->legend.height};
  rs_plot_page_place(&l->page, &room);
  rs_plot_axis_place(&l->y, l->page.bottom, l->page.top);
  double reach = rs_plot_bars_reach(chart->series, chart->count), left = l->page.left + reach;
  if (chart->marks != NULL)
    rs_plot_axis_mark(&l->x, left, l->page.right - reach, chart->marks, chart->mark_count);
  else
    rs_plot_axis_place(&l->x, left, l->page.right - reach);
}

/* Above the points of too few samples, how many they are; once for a place, and none over another. */
static void draw_counts(layout *l) {
  double before = -INFINITY;
  for (size_t place = 0; place < l->chart->count; place++) {
    const rs_plot_series *series = &l->chart->series[place];
    for (size_t i = 0; i < series->count; i++) {
      rs_text text = {0};
      double x = rs_plot_axis_pixel(&l->x, series->points[i].x);
      if (!rs_plot_is_few(&series->points[i])) continue;
      rs_text_puts(&text, "n = ");
      rs_text_number(&text, series->points[i].samples);
      const char *words = rs_plot_keep(&l->picture->memory, &text);
      double width = rs_plot_text_width(words, strlen(words), COUNT_SIZE, false);
      if (x - width / 2 > before + COUNT_GAP) {
        rs_plot_text_add(l->picture, x, l->page.top - 3, words, COUNT_SIZE, RS_PLOT_MIDDLE, RS_PLOT_SOFT);
        before = x + width / 2;
      }
    }
  }
}

rs_status rs_plot_chart_draw(const rs_plot_chart *chart, rs_plot_picture *picture, rs_err *err) {
  layout l = {.chart = chart, .picture = picture, .page = {.head = &chart->head, .picture = picture}, .lines = true};
  rs_plot_extent x = rs_plot_values_fit(chart, &l.y, true);
  rs_plot_axis_fit(&l.x, &x, chart->x_log, strcmp(chart->x_unit, "tokens") == 0, false);
  place(&l);
  draw_frame(&l);
  draw_level(&l);
  rs_plot_page_names(&l.page, name_of(&l, &l.x, chart->x_name, chart->x_unit),
                     name_of(&l, &l.y, chart->y_name, chart->y_unit));
  RS_TRY(rs_plot_lines_draw(chart->series, chart->count, &l.x, &l.y, picture, err));
  draw_counts(&l);
  rs_plot_legend_draw(&l.legend, l.page.right + LEGEND_GAP, l.page.top, picture);
  return rs_plot_picture_check(picture, err);
}

/* ---- dots -------------------------------------------------------------------------------------------------------- */

enum { ROW_LEAST = 26, ROW_GAP = 9, DODGE = 10, CAP = 3, NO_DATA_SIZE = 12 };

#define RADIUS 4.2

static bool has_categories(const layout *l) {
  return l->chart->categories != NULL;
}

static bool has_value(const rs_plot_chart *chart, size_t category) {
  for (size_t s = 0; s < chart->count; s++)
    for (size_t i = 0; i < chart->series[s].count; i++)
      if (chart->series[s].points[i].x == (double)category && !isnan(chart->series[s].points[i].y)) return true;
  return false;
}

/* A row a series, or a row a category; a category without a value, as a part of a task that nothing asks for, has none.
 */
static void make_rows(layout *l) {
  size_t most = has_categories(l) ? l->chart->category_count : l->chart->count;
  l->names = rs_arena_take(&l->picture->memory, most, sizeof *l->names);
  l->category = rs_arena_take(&l->picture->memory, most, sizeof *l->category);
  if (l->category == NULL) return;
  for (size_t i = 0; i < most; i++) {
    if (has_categories(l) && !has_value(l->chart, i)) continue;
    l->names[l->rows] = has_categories(l) ? l->chart->categories[i] : l->chart->series[i].label;
    l->category[l->rows++] = i;
  }
}

/* How far a label of the axis goes beyond the right of the plot. */
static double overhang(const rs_plot_axis *axis) {
  double most = 0;
  for (size_t i = 0; i < axis->count; i++)
    most = fmax(most, axis->ticks[i].pixel + rs_plot_tick_width(&axis->ticks[i]) / 2 - axis->stop);
  return most;
}

static void place_rows(layout *l) {
  const rs_plot_chart *chart = l->chart;
  double tallest, names = rs_plot_row_names_width(l->names, l->rows, &tallest);
  double dots = has_categories(l) ? DODGE * (double)chart->count : 0;
  l->row = fmax(ROW_LEAST, fmax(tallest, dots) + ROW_GAP);
  rs_plot_room room = {.width = WIDTH,
                       .height = l->row * (double)l->rows,
                       .y_name = "",
                       .labels = names,
                       .beside = overhang(&l->x),
                       .over = chart->level_name != NULL ? LEVEL_SIZE : 0};
  if (has_categories(l)) {
    rs_plot_legend_measure(&l->legend, chart->series, chart->count, l->picture);
    room.beside = fmax(room.beside, LEGEND_GAP + l->legend.width);
    room.beside_height = l->legend.height;
  }
  rs_plot_page_place(&l->page, &room);
  rs_plot_axis_place(&l->x, l->page.left, l->page.right);
}

static double row_middle(const layout *l, size_t row) {
  return l->page.top + ((double)row + 0.5) * l->row;
}

/* A dot, with its band as a bar with caps. */
static void draw_dot(layout *l, const rs_plot_series *series, const rs_plot_point *point, double y) {
  const rs_plot_style *style = &series->style;
  double low = rs_plot_axis_pixel(&l->x, point->low), high = rs_plot_axis_pixel(&l->x, point->high);
  if (high - low > 1) {
    rs_plot_segment_add(l->picture, low, y, high, y, style->colour, 1);
    rs_plot_segment_add(l->picture, low, y - CAP, low, y + CAP, style->colour, 1);
    rs_plot_segment_add(l->picture, high, y - CAP, high, y + CAP, style->colour, 1);
  }
  rs_plot_markers_add(l->picture, style, RADIUS);
  rs_plot_point_add(l->picture, rs_plot_axis_pixel(&l->x, point->y), y);
}

/* The dots of a series, or those of a category, below each other in the order of the legend, so that equal ones are all
 * seen. */
static void draw_row_dots(layout *l, size_t row) {
  bool one = !has_categories(l);
  double first = row_middle(l, row) - (one ? 0 : DODGE * (double)(l->chart->count - 1) / 2);
  for (size_t s = one ? row : 0; s < (one ? row + 1 : l->chart->count); s++) {
    const rs_plot_series *series = &l->chart->series[s];
    for (size_t i = 0; i < series->count; i++) {
      const rs_plot_point *point = &series->points[i];
      if (!isnan(point->y) && (one || point->x == (double)l->category[row]))
        draw_dot(l, series, point, first + (one ? 0 : DODGE * (double)s));
    }
  }
}

static void draw_rows(layout *l) {
  const rs_plot_page *page = &l->page;
  for (size_t i = 0; i < l->rows; i++) {
    double middle = row_middle(l, i), y = rs_plot_crisp(middle);
    bool empty = !has_categories(l) && l->chart->series[i].count == 0;
    rs_plot_row_name_add(page, l->names[i], middle, empty ? RS_PLOT_SOFT : RS_PLOT_INK);
    if (has_categories(l) && i > 0)
      rs_plot_segment_add(l->picture, page->left, y - l->row / 2, page->right, y - l->row / 2, GUIDE, 1);
    if (!has_categories(l) && !empty) rs_plot_segment_add(l->picture, page->left, y, page->right, y, GRID, 1);
    draw_row_dots(l, i);
    if (empty)
      rs_plot_text_add(l->picture, page->left + 6, middle + 0.36 * NO_DATA_SIZE, "no data", NO_DATA_SIZE, RS_PLOT_START,
                       RS_PLOT_SOFT);
  }
}

rs_status rs_plot_dots_draw(const rs_plot_chart *chart, rs_plot_picture *picture, rs_err *err) {
  layout l = {.chart = chart, .picture = picture, .page = {.head = &chart->head, .picture = picture}};
  make_rows(&l);
  (void)rs_plot_values_fit(chart, &l.x, false);
  rs_plot_axis_place(&l.x, 0, WIDTH);
  place_rows(&l);
  draw_frame(&l);
  draw_level(&l);
  draw_rows(&l);
  rs_plot_page_names(&l.page, name_of(&l, &l.x, chart->y_name, chart->y_unit), "");
  if (has_categories(&l)) rs_plot_legend_draw(&l.legend, l.page.right + LEGEND_GAP, l.page.top, picture);
  return rs_plot_picture_check(picture, err);
}
