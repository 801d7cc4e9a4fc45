/* dots.c: values as dots on rows. Results at one length have no trend; a row for each method says which is larger, and
 * by how much, without a legend to look up. Categories are rows too, with a dot for each method, and no line between.
 */
#include "forms.h"

#include "paper.h"
#include "words.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 440, ROW_LEAST = 26, ROW_GAP = 9, DODGE = 10, LEGEND_GAP = 24, CAP = 3, NO_DATA_SIZE = 12 };

#define RADIUS 4.2

static const uint32_t GRID = 0xE6E6E6, GUIDE = 0xC8C8C8, ZERO = 0xB3B3B3;

typedef struct layout {
  const rs_plot_chart *chart;
  rs_plot_picture *picture;
  rs_plot_page page;
  rs_plot_legend legend;
  rs_plot_axis axis;
  rs_arena memory;
  const char **names;     /* of the rows */
  size_t rows, *category; /* (rows,) which category a row is, where the chart has such */
  double row;             /* its height */
  rs_text label;
} layout;

/* ---- layout ------------------------------------------------------------------------------------------------------ */

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
static rs_status make_rows(layout *l, rs_err *err) {
  size_t most = has_categories(l) ? l->chart->category_count : l->chart->count;
  l->names = rs_arena_take(&l->memory, most, sizeof *l->names);
  l->category = rs_arena_take(&l->memory, most, sizeof *l->category);
  RS_TRY(rs_arena_check(&l->memory, err));
  for (size_t i = 0; i < most; i++) {
    if (has_categories(l) && !has_value(l->chart, i)) continue;
    l->names[l->rows] = has_categories(l) ? l->chart->categories[i] : l->chart->series[i].label;
    l->category[l->rows++] = i;
  }
  return RS_OK;
}

/* How far a label of the axis goes beyond the right of the plot. */
static double overhang(const rs_plot_axis *axis) {
  double most = 0;
  for (size_t i = 0; i < axis->count; i++)
    most = fmax(most, axis->ticks[i].pixel + rs_plot_tick_width(&axis->ticks[i]) / 2 - axis->stop);
  return most;
}

static void place(layout *l) {
  const rs_plot_chart *chart = l->chart;
  double tallest, names = rs_plot_row_names_width(l->names, l->rows, &tallest);
  double dots = has_categories(l) ? DODGE * (double)chart->count : 0;
  l->row = fmax(ROW_LEAST, fmax(tallest, dots) + ROW_GAP);
  rs_plot_room room = {
      .width = WIDTH, .height = l->row * (double)l->rows, .y_name = "", .labels = names, .beside = overhang(&l->axis)};
  if (has_categories(l)) {
    rs_plot_legend_measure(&l->legend, chart->series, chart->count);
    room.beside = fmax(room.beside, LEGEND_GAP + l->legend.width);
    room.beside_height = l->legend.height;
  }
  rs_plot_page_place(&l->page, &room);
  rs_plot_axis_place(&l->axis, l->page.left, l->page.right);
}

static double row_middle(const layout *l, size_t row) {
  return l->page.top + ((double)row + 0.5) * l->row;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static void draw_frame(layout *l) {
  const rs_plot_page *page = &l->page;
  double bottom = rs_plot_crisp(page->bottom);
  for (size_t i = 0; i < l->axis.count; i++) {
    double x = rs_plot_crisp(l->axis.ticks[i].pixel);
    if (l->axis.ticks[i].label[0] != '\0') rs_plot_segment_add(l->picture, x, page->top, x, page->bottom, GRID, 1);
  }
  bool signs = l->axis.scale == RS_PLOT_LINEAR || l->axis.scale == RS_PLOT_SYMLOG;
  if (signs && l->axis.low < 0 && l->axis.high > 0) {
    double zero = rs_plot_crisp(rs_plot_axis_pixel(&l->axis, 0));
    rs_plot_segment_add(l->picture, zero, page->top, zero, page->bottom, ZERO, 1);
  }
  rs_plot_segment_add(l->picture, page->left, bottom, page->right, bottom, RS_PLOT_AXIS, 1);
  if (l->axis.rail) rs_plot_break_add(l->picture, l->axis.base - RS_PLOT_BREAK, bottom, false);
  for (size_t i = 0; i < l->axis.count; i++)
    rs_plot_page_tick_x(page, &l->axis.ticks[i], l->axis.ticks[i].pixel, page->bottom);
}

/* A dot, with its band as a bar with caps. */
static void draw_dot(layout *l, const rs_plot_series *series, const rs_plot_point *point, double y) {
  const rs_plot_style *style = &series->style;
  double low = rs_plot_axis_pixel(&l->axis, point->low), high = rs_plot_axis_pixel(&l->axis, point->high);
  if (high - low > 1) {
    rs_plot_segment_add(l->picture, low, y, high, y, style->colour, 1);
    rs_plot_segment_add(l->picture, low, y - CAP, low, y + CAP, style->colour, 1);
    rs_plot_segment_add(l->picture, high, y - CAP, high, y + CAP, style->colour, 1);
  }
  rs_plot_shape *shape = rs_plot_shape_add(l->picture, RS_PLOT_MARKERS, style->colour, RADIUS);
  shape->marker = style->marker;
  shape->hollow = style->hollow;
  rs_plot_point_add(l->picture, rs_plot_axis_pixel(&l->axis, point->y), y);
}

static void draw_series_row(layout *l, size_t row) {
  static const char none[] = "no data";
  const rs_plot_series *series = &l->chart->series[row];
  double y = row_middle(l, row);
  for (size_t i = 0; i < series->count; i++) {
    if (!isnan(series->points[i].y)) draw_dot(l, series, &series->points[i], y);
  }
  if (series->count == 0)
    rs_plot_text_add(l->picture, l->page.left + 6, y + 0.36 * NO_DATA_SIZE, none, strlen(none), NO_DATA_SIZE,
                     RS_PLOT_START, RS_PLOT_SOFT);
}

/* The dots of one row stand below each other in the order of the legend, so that equal ones are all seen. */
static void draw_category_row(layout *l, size_t row) {
  double first = row_middle(l, row) - DODGE * (double)(l->chart->count - 1) / 2;
  for (size_t s = 0; s < l->chart->count; s++) {
    const rs_plot_series *series = &l->chart->series[s];
    for (size_t i = 0; i < series->count; i++) {
      const rs_plot_point *point = &series->points[i];
      if (point->x == (double)l->category[row] && !isnan(point->y))
        draw_dot(l, series, point, first + DODGE * (double)s);
    }
  }
}

static void draw_rows(layout *l) {
  for (size_t i = 0; i < l->rows; i++) {
    double y = rs_plot_crisp(row_middle(l, i));
    bool empty = !has_categories(l) && l->chart->series[i].count == 0;
    rs_plot_row_name_add(&l->page, l->names[i], row_middle(l, i), empty ? RS_PLOT_SOFT : RS_PLOT_INK);
    if (has_categories(l)) {
      if (i > 0) rs_plot_segment_add(l->picture, l->page.left, y - l->row / 2, l->page.right, y - l->row / 2, GUIDE, 1);
      draw_category_row(l, i);
    } else {
      if (!empty) rs_plot_segment_add(l->picture, l->page.left, y, l->page.right, y, GRID, 1);
      draw_series_row(l, i);
    }
  }
}

static rs_status draw(layout *l, rs_err *err) {
  RS_TRY(make_rows(l, err));
  (void)rs_plot_values_fit(l->chart, &l->axis, false);
  rs_plot_axis_place(&l->axis, 0, WIDTH);
  rs_plot_axis_name(&l->axis, l->chart->y_name, l->chart->y_unit, &l->label);
  place(l);
  draw_frame(l);
  draw_rows(l);
  rs_plot_page_names(&l->page, rs_text_string(&l->label), "");
  if (has_categories(l)) rs_plot_legend_draw(&l->legend, l->page.right + LEGEND_GAP, l->page.top, l->picture);
  l->picture->failed = l->picture->failed || l->axis.failed || l->label.failed;
  return rs_plot_picture_check(l->picture, err);
}

rs_status rs_plot_dots_draw(const rs_plot_chart *chart, rs_plot_picture *picture, rs_err *err) {
  layout l = {.chart = chart, .picture = picture, .page = {.head = &chart->head, .picture = picture}};
  rs_status status = draw(&l, err);
  rs_text_clear(&l.label);
  rs_arena_clear(&l.memory);
  return status;
}
