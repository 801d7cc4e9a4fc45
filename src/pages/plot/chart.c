/* chart.c: lines over a grid, with axes at the left and below and the legend beside. The plot area has a fixed width,
 * so that charts compare. */
#include "forms.h"

#include "paper.h"
#include "words.h"

#include <math.h>
#include <string.h>

enum { PLOT_WIDTH = 440, PLOT_HEIGHT = 310, PLOT_TALLEST = 430, LEGEND_GAP = 24, LABEL_GAP = 4 };
enum { COUNT_SIZE = 11, COUNT_GAP = 4, LEVEL_SIZE = 11, LEVEL_DASH = 3 };

static const uint32_t GRID = 0xE6E6E6, ZERO = 0xB3B3B3;

typedef struct layout {
  const rs_plot_chart *chart;
  rs_plot_picture *picture;
  rs_plot_page page;
  rs_plot_legend legend;
  rs_plot_axis x, y;
  rs_text x_label, y_label;
} layout;

/* ---- frame ------------------------------------------------------------------------------------------------------- */

static void draw_grid(layout *l) {
  const rs_plot_page *page = &l->page;
  for (size_t i = 0; i < l->x.count; i++) {
    double x = rs_plot_crisp(l->x.ticks[i].pixel);
    if (l->x.ticks[i].label[0] != '\0') rs_plot_segment_add(l->picture, x, page->top, x, page->bottom, GRID, 1);
  }
  for (size_t i = 0; i < l->y.count; i++) {
    double y = rs_plot_crisp(l->y.ticks[i].pixel);
    if (l->y.ticks[i].label[0] != '\0') rs_plot_segment_add(l->picture, page->left, y, page->right, y, GRID, 1);
  }
  bool signs = l->y.scale == RS_PLOT_LINEAR || l->y.scale == RS_PLOT_SYMLOG;
  if (!signs || !(l->y.low < 0 && l->y.high > 0)) return;
  double zero = rs_plot_crisp(rs_plot_axis_pixel(&l->y, 0));
  rs_plot_segment_add(l->picture, page->left, zero, page->right, zero, ZERO, 1);
}

static void draw_axes(layout *l) {
  const rs_plot_page *page = &l->page;
  double left = rs_plot_crisp(page->left), bottom = rs_plot_crisp(page->bottom);
  rs_plot_segment_add(l->picture, left, page->top, left, page->bottom + 0.5, RS_PLOT_AXIS, 1);
  rs_plot_segment_add(l->picture, page->left, bottom, page->right, bottom, RS_PLOT_AXIS, 1);
  if (l->x.rail) rs_plot_break_add(l->picture, l->x.base - RS_PLOT_BREAK, bottom, false);
  if (l->y.rail) rs_plot_break_add(l->picture, left, l->y.base + RS_PLOT_BREAK, true);
  for (size_t i = 0; i < l->x.count; i++) rs_plot_page_tick_x(page, &l->x.ticks[i], l->x.ticks[i].pixel, page->bottom);
  for (size_t i = 0; i < l->y.count; i++) rs_plot_page_tick_y(page, &l->y.ticks[i], page->left, l->y.ticks[i].pixel);
}

/* A dashed line across, with its name behind it, or on it where the legend is. */
static void draw_level(layout *l) {
  const rs_plot_page *page = &l->page;
  const char *name = l->chart->level_name;
  if (name == NULL) return;
  double y = rs_plot_crisp(rs_plot_axis_pixel(&l->y, l->chart->level));
  bool free_room = y - LEVEL_SIZE > page->top + l->legend.height;
  rs_plot_shape *line = rs_plot_segment_add(l->picture, page->left, y, page->right, y, RS_PLOT_SOFT, 1);
  line->dashes = 2;
  line->dash[0] = line->dash[1] = LEVEL_DASH;
  if (free_room)
    rs_plot_text_add(l->picture, page->right + LABEL_GAP, y + LEVEL_SIZE * 0.36, name, strlen(name), LEVEL_SIZE,
                     RS_PLOT_START, RS_PLOT_SOFT);
  else
    rs_plot_text_add(l->picture, page->right - LABEL_GAP, y - LABEL_GAP, name, strlen(name), LEVEL_SIZE, RS_PLOT_END,
                     RS_PLOT_SOFT);
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

/* From the inside out: the legend gives the height, this the ticks and their width, all that the place of the title. */
static void place(layout *l) {
  const rs_plot_chart *chart = l->chart;
  rs_plot_legend_measure(&l->legend, chart->series, chart->count);
  double height = fmin(fmax(PLOT_HEIGHT, l->legend.height), PLOT_TALLEST);
  rs_plot_axis_place(&l->y, height, 0);
  rs_plot_axis_name(&l->y, chart->y_name, chart->y_unit, &l->y_label);
  const char *name = chart->level_name;
  double level = name != NULL ? rs_plot_text_width(name, strlen(name), LEVEL_SIZE, false) : 0;
  rs_plot_room room = {.width = PLOT_WIDTH,
                       .height = height,
                       .y_name = rs_text_string(&l->y_label),
                       .labels = rs_plot_ticks_width(&l->y) + RS_PLOT_TICK_LENGTH + LABEL_GAP,
                       .beside = fmax(LEGEND_GAP + l->legend.width, LABEL_GAP + level),
                       .beside_height = l->legend.height};
  rs_plot_page_place(&l->page, &room);
  rs_plot_axis_place(&l->y, l->page.bottom, l->page.top);
  if (chart->marks != NULL)
    rs_plot_axis_mark(&l->x, l->page.left, l->page.right, chart->marks, chart->mark_count);
  else
    rs_plot_axis_place(&l->x, l->page.left, l->page.right);
  rs_plot_axis_name(&l->x, chart->x_name, chart->x_unit, &l->x_label);
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
      double width = rs_plot_text_width(rs_text_string(&text), text.length, COUNT_SIZE, false);
      if (x - width / 2 > before + COUNT_GAP) {
        rs_plot_text_add(l->picture, x, l->page.top - 3, rs_text_string(&text), text.length, COUNT_SIZE, RS_PLOT_MIDDLE,
                         RS_PLOT_SOFT);
        before = x + width / 2;
      }
      l->picture->failed = l->picture->failed || text.failed;
      rs_text_clear(&text);
    }
  }
}

static rs_status draw(layout *l, rs_err *err) {
  rs_plot_extent x = rs_plot_values_fit(l->chart, &l->y, true);
  rs_plot_axis_fit(&l->x, &x, l->chart->x_log, strcmp(l->chart->x_unit, "tokens") == 0, false);
  place(l);
  draw_grid(l);
  draw_axes(l);
  draw_level(l);
  rs_plot_page_names(&l->page, rs_text_string(&l->x_label), rs_text_string(&l->y_label));
  l->picture->failed = l->picture->failed || l->x.failed || l->y.failed || l->x_label.failed || l->y_label.failed;
  RS_TRY(rs_plot_lines_draw(l->chart->series, l->chart->count, &l->x, &l->y, l->picture, err));
  draw_counts(l);
  rs_plot_legend_draw(&l->legend, l->page.right + LEGEND_GAP, l->page.top, l->picture);
  return rs_plot_picture_check(l->picture, err);
}

rs_status rs_plot_chart_draw(const rs_plot_chart *chart, rs_plot_picture *picture, rs_err *err) {
  layout l = {.chart = chart, .picture = picture, .page = {.head = &chart->head, .picture = picture}};
  rs_status status = draw(&l, err);
  rs_text_clear(&l.x_label);
  rs_text_clear(&l.y_label);
  return status;
}
