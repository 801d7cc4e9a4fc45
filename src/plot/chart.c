/* chart.c: the whole picture. The plot area has a fixed width, so that charts compare; what stands around it makes room
 * for itself, and the picture is as large as all that. Sizes suit a column of a paper: at 8.5 cm the smallest text is
 * about 4.5 points high, at 17 cm it is as large as body text. */
#include "plot_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLOT_WIDTH = 440, PLOT_HEIGHT = 310, PLOT_TALLEST = 430 };
enum { EDGE = 16, TICK = 5, TICK_MINOR = 3 };
enum { TITLE_SIZE = 17, TITLE_ROW = 23, NOTE_SIZE = 13, NOTE_ROW = 18, NAME_SIZE = 15, NAME_ROW = 19 };
enum { LEGEND_SIZE = 14, LEGEND_ROW = 22, LEGEND_WRAPPED = 17, LEGEND_GAP = 24, SAMPLE = 38, SAMPLE_GAP = 9 };
enum { LEGEND_WIDEST = 220, LEGEND_TALLEST = 560 }; /* wider text is wrapped, a taller list set in columns */

static const uint32_t GRID = 0xE6E6E6, ZERO = 0xB3B3B3;

typedef struct layout {
  const rs_plot_chart *chart;
  rs_plot_picture *picture;
  rs_plot_axis x, y;
  double left, top, right, bottom; /* of the plot area */
  rs_text x_label, y_label;
  size_t *order; /* of the series in the legend. Owned. */
  double column_width, legend_width, legend_height;
} layout;

/* ---- legend ------------------------------------------------------------------------------------------------------ */

/* The last value of a line: the legend goes from the top of the right edge down, as the eye does. */
static double last_value(const rs_plot_series *series) {
  for (size_t i = series->count; i-- > 0;) {
    if (!isnan(series->points[i].y)) return series->points[i].y;
  }
  return -INFINITY;
}

static void sort_legend(layout *l) {
  for (size_t i = 0; i < l->chart->count; i++) {
    double value = last_value(&l->chart->series[i]);
    size_t at = i;
    for (; at > 0 && last_value(&l->chart->series[l->order[at - 1]]) < value; at--) l->order[at] = l->order[at - 1];
    l->order[at] = i;
  }
}

static rs_text legend_text(layout *l, const rs_plot_series *series) {
  rs_text text = {0};
  rs_text_puts(&text, series->label);
  if (series->count == 0) rs_text_puts(&text, " (no data)");
  l->picture->failed = l->picture->failed || text.failed;
  return text;
}

/* Height of one entry, and its width as far as that is more than `*width`. */
static double measure_entry(layout *l, const rs_plot_series *series, double *width) {
  rs_text text = legend_text(l, series);
  const char *rest = rs_text_string(&text);
  double height = LEGEND_ROW - LEGEND_WRAPPED;
  while (*rest != '\0') {
    const char *start = rest;
    size_t length = rs_plot_wrap(start, LEGEND_SIZE, false, LEGEND_WIDEST, &rest);
    *width = fmax(*width, rs_plot_text_width(start, length, LEGEND_SIZE, false));
    height += LEGEND_WRAPPED;
  }
  rs_text_clear(&text);
  return height;
}

/* A legend that is too tall is set in columns of about the same height. */
static void measure_legend(layout *l) {
  double text = 0, total = 0, tallest = 0;
  for (size_t i = 0; i < l->chart->count; i++) {
    double height = measure_entry(l, &l->chart->series[i], &text);
    total += height;
    tallest = fmax(tallest, height);
  }
  double columns = fmax(ceil(total / LEGEND_TALLEST), 1);
  l->column_width = SAMPLE + SAMPLE_GAP + text;
  l->legend_height = columns > 1 ? total / columns + tallest : total;
  l->legend_width = columns * (l->column_width + LEGEND_GAP) - LEGEND_GAP;
}

static void draw_sample(layout *l, const rs_plot_series *series, double x, double y) {
  rs_plot_style style = rs_plot_style_of(series->style);
  rs_plot_shape *line = rs_plot_segment_add(l->picture, x, y, x + SAMPLE, y, style.colour, RS_PLOT_LINE_WIDTH);
  line->dashes = style.dashes;
  for (size_t i = 0; i < 4; i++) line->dash[i] = style.dash[i];
  rs_plot_shape *marker = rs_plot_shape_add(l->picture, RS_PLOT_MARKERS, style.colour, 3.6);
  marker->marker = style.marker;
  marker->hollow = style.hollow;
  rs_plot_point_add(l->picture, x + SAMPLE / 2.0, y);
}

static void draw_entry(layout *l, const rs_plot_series *series, double x, double y) {
  const double half = LEGEND_ROW / 2.0, baseline = half + 0.36 * LEGEND_SIZE;
  rs_text text = legend_text(l, series);
  if (series->count > 0) draw_sample(l, series, x, y + half);
  rs_plot_rows_add(l->picture, x + SAMPLE + SAMPLE_GAP, y + baseline, rs_text_string(&text), LEGEND_SIZE,
                   LEGEND_WRAPPED, false, LEGEND_WIDEST, series->count > 0 ? RS_PLOT_INK : RS_PLOT_SOFT);
  rs_text_clear(&text);
}

static void draw_legend(layout *l) {
  double x = l->right + LEGEND_GAP, y = l->top;
  for (size_t i = 0; i < l->chart->count; i++) {
    const rs_plot_series *series = &l->chart->series[l->order[i]];
    double ignored = 0, height = measure_entry(l, series, &ignored);
    if (y + height > l->top + l->legend_height + 0.5) {
      x += l->column_width + LEGEND_GAP;
      y = l->top;
    }
    draw_entry(l, series, x, y);
    y += height;
  }
}

/* ---- frame ------------------------------------------------------------------------------------------------------- */

/* The middle of a pixel, where a line one pixel wide is crisp. */
static double crisp(double pixel) {
  return floor(pixel) + 0.5;
}

static void draw_grid(layout *l) {
  for (size_t i = 0; i < l->x.count; i++) {
    double x = crisp(l->x.ticks[i].pixel);
    if (l->x.ticks[i].label[0] != '\0') rs_plot_segment_add(l->picture, x, l->top, x, l->bottom, GRID, 1);
  }
  for (size_t i = 0; i < l->y.count; i++) {
    double y = crisp(l->y.ticks[i].pixel);
    if (l->y.ticks[i].label[0] != '\0') rs_plot_segment_add(l->picture, l->left, y, l->right, y, GRID, 1);
  }
  if (l->y.scale != RS_PLOT_LINEAR || !(l->y.low < 0 && l->y.high > 0)) return;
  double zero = crisp(rs_plot_axis_pixel(&l->y, 0));
  rs_plot_segment_add(l->picture, l->left, zero, l->right, zero, ZERO, 1);
}

static void label_tick(layout *l, const rs_plot_tick *tick, double x, double y, rs_plot_anchor anchor) {
  rs_plot_shape *text =
      rs_plot_text_add(l->picture, x, y, tick->label, strlen(tick->label), RS_PLOT_TICK_SIZE, anchor, RS_PLOT_INK);
  rs_plot_power_add(l->picture, text, tick->power);
}

static void draw_ticks(layout *l) {
  for (size_t i = 0; i < l->x.count; i++) {
    const rs_plot_tick *tick = &l->x.ticks[i];
    bool major = tick->label[0] != '\0';
    double x = crisp(tick->pixel);
    rs_plot_segment_add(l->picture, x, l->bottom, x, l->bottom + (major ? TICK : TICK_MINOR), RS_PLOT_AXIS, 1);
    if (major) label_tick(l, tick, tick->pixel, l->bottom + TICK + 3 + RS_PLOT_TICK_SIZE, RS_PLOT_MIDDLE);
  }
  for (size_t i = 0; i < l->y.count; i++) {
    const rs_plot_tick *tick = &l->y.ticks[i];
    bool major = tick->label[0] != '\0';
    double y = crisp(tick->pixel);
    rs_plot_segment_add(l->picture, l->left - (major ? TICK : TICK_MINOR), y, l->left, y, RS_PLOT_AXIS, 1);
    if (major) label_tick(l, tick, l->left - TICK - 4, tick->pixel + 0.36 * RS_PLOT_TICK_SIZE, RS_PLOT_END);
  }
}

/* Two strokes across the axis, between the strip for zeros and the range; white between them. */
static void draw_break(layout *l, double x, double y, bool vertical) {
  enum { HALF = 5, SLANT = 2, APART = 2 };
  for (int side = -1; side <= 1; side++) {
    double width = side == 0 ? 3 : 1, dx = vertical ? 0 : side * APART, dy = vertical ? side * APART : 0;
    double ax = vertical ? HALF : SLANT, ay = vertical ? SLANT : HALF;
    rs_plot_segment_add(l->picture, x - ax + dx, y + ay + dy, x + ax + dx, y - ay + dy,
                        side == 0 ? 0xFFFFFF : RS_PLOT_AXIS, width);
  }
}

static void draw_axes(layout *l) {
  enum { BREAK_AT = 9 }; /* pixels before the range */
  rs_plot_segment_add(l->picture, crisp(l->left), l->top, crisp(l->left), l->bottom + 0.5, RS_PLOT_AXIS, 1);
  rs_plot_segment_add(l->picture, l->left, crisp(l->bottom), l->right, crisp(l->bottom), RS_PLOT_AXIS, 1);
  if (l->x.rail) draw_break(l, l->x.base - BREAK_AT, crisp(l->bottom), false);
  if (l->y.rail) draw_break(l, crisp(l->left), l->y.base + BREAK_AT, true);
}

static void draw_names(layout *l) {
  const char *y_label = rs_text_string(&l->y_label), *x_label = rs_text_string(&l->x_label);
  double x = EDGE + 0.75 * NAME_SIZE, middle = (l->top + l->bottom) / 2;
  while (*y_label != '\0') {
    const char *start = y_label;
    size_t length = rs_plot_wrap(start, NAME_SIZE, false, l->bottom - l->top, &y_label);
    rs_plot_text_add(l->picture, x, middle, start, length, NAME_SIZE, RS_PLOT_MIDDLE, RS_PLOT_INK)->upright = true;
    x += NAME_ROW;
  }
  double y = l->bottom + TICK + 3 + RS_PLOT_TICK_SIZE + 8 + NAME_SIZE;
  rs_plot_text_add(l->picture, (l->left + l->right) / 2, y, x_label, strlen(x_label), NAME_SIZE, RS_PLOT_MIDDLE,
                   RS_PLOT_INK);
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

static bool is_tokens(const char *unit) {
  return strcmp(unit, "tokens") == 0;
}

/* The bands count too; but on a log axis the foot of mean -+ error, which may be negative, is not worth a break. */
static void fit_axes(layout *l) {
  const rs_plot_chart *chart = l->chart;
  rs_plot_extent x = {0}, y = {0}, band = {0};
  for (size_t s = 0; s < chart->count; s++) {
    for (size_t i = 0; i < chart->series[s].count; i++) {
      const rs_plot_point *point = &chart->series[s].points[i];
      rs_plot_extent_add(&x, point->x);
      rs_plot_extent_add(&y, point->y);
      rs_plot_extent_add(&band, point->low);
      rs_plot_extent_add(&band, point->high);
    }
  }
  bool log = chart->y_log && y.low >= 0 && y.positive > 0;
  if (band.any && !log) rs_plot_extent_add(&y, band.low);
  if (band.any && log) rs_plot_extent_add(&y, band.positive);
  if (band.any) rs_plot_extent_add(&y, band.high);
  rs_plot_axis_fit(&l->x, &x, chart->x_log, is_tokens(chart->x_unit), false);
  rs_plot_axis_fit(&l->y, &y, log, is_tokens(chart->y_unit), true);
}

static void name_axis(rs_text *label, const char *name, const char *unit, const rs_plot_axis *axis) {
  const char *kilo = axis->kilo ? "1k = 1024" : "";
  unit = rs_plot_unit(unit);
  rs_text_puts(label, name);
  if (*unit == '\0') return;
  rs_text_printf(label, " (%s%s%s)", unit, *kilo != '\0' ? ", " : "", kilo);
}

static double widest_label(const rs_plot_axis *axis) {
  double widest = 0;
  for (size_t i = 0; i < axis->count; i++) widest = fmax(widest, rs_plot_tick_width(&axis->ticks[i]));
  return widest;
}

/* From the inside out: the legend gives the height, this the ticks and their width, all that the place of the title. */
static void place(layout *l) {
  const rs_plot_chart *chart = l->chart;
  rs_plot_picture *picture = l->picture;
  double height = fmin(fmax(PLOT_HEIGHT, l->legend_height), PLOT_TALLEST);
  rs_plot_axis_place(&l->y, height, 0);
  name_axis(&l->y_label, chart->y_name, chart->y_unit, &l->y);
  size_t name_rows = rs_plot_rows_count(rs_text_string(&l->y_label), NAME_SIZE, false, height);
  l->left = ceil(EDGE + (double)name_rows * NAME_ROW + 6 + widest_label(&l->y) + TICK + 4);
  l->right = l->left + PLOT_WIDTH;
  picture->width = ceil(l->right + LEGEND_GAP + l->legend_width + EDGE);
  double width = picture->width - l->left - EDGE;
  size_t titles = rs_plot_rows_count(chart->title, TITLE_SIZE, true, width);
  size_t notes = rs_plot_rows_count(chart->definition, NOTE_SIZE, false, width);
  notes += rs_plot_rows_count(chart->subtitle, NOTE_SIZE, false, width);
  l->top = EDGE + (double)titles * TITLE_ROW + (double)notes * NOTE_ROW + 12;
  l->bottom = l->top + height;
  double below = TICK + 3 + RS_PLOT_TICK_SIZE + 8 + NAME_SIZE + 5 + EDGE;
  picture->height = ceil(fmax(l->bottom + below, l->top + l->legend_height + EDGE));
  rs_plot_axis_place(&l->y, l->bottom, l->top);
  rs_plot_axis_place(&l->x, l->left, l->right);
  name_axis(&l->x_label, chart->x_name, chart->x_unit, &l->x);
}

static void draw_title(layout *l) {
  double width = l->picture->width - l->left - EDGE, y = EDGE + TITLE_SIZE - 2;
  y = rs_plot_rows_add(l->picture, l->left, y, l->chart->title, TITLE_SIZE, TITLE_ROW, true, width, RS_PLOT_INK);
  y += NOTE_ROW - TITLE_ROW + 2;
  y = rs_plot_rows_add(l->picture, l->left, y, l->chart->definition, NOTE_SIZE, NOTE_ROW, false, width, RS_PLOT_INK);
  rs_plot_rows_add(l->picture, l->left, y, l->chart->subtitle, NOTE_SIZE, NOTE_ROW, false, width, RS_PLOT_SOFT);
}

static rs_status draw_all(layout *l, rs_err *err) {
  rs_text_puts(&l->picture->title, l->chart->title);
  rs_text_puts(&l->picture->description, l->chart->description);
  draw_title(l);
  draw_grid(l);
  draw_axes(l);
  draw_ticks(l);
  draw_names(l);
  l->picture->failed = l->picture->failed || l->x.failed || l->y.failed;
  RS_TRY(rs_plot_lines_draw(l->chart, &l->x, &l->y, l->picture, err));
  draw_legend(l);
  return rs_plot_picture_check(l->picture, err);
}

rs_status rs_plot_chart_draw(const rs_plot_chart *chart, rs_plot_picture *picture, rs_err *err) {
  layout *l = rs_alloc(1, sizeof *l, err);
  if (l == NULL) return RS_MEMORY;
  rs_status status = RS_MEMORY;
  l->chart = chart;
  l->picture = picture;
  l->order = rs_alloc(chart->count, sizeof *l->order, err);
  if (l->order == NULL) goto out;
  sort_legend(l);
  measure_legend(l);
  fit_axes(l);
  place(l);
  status = draw_all(l, err);
  if (status == RS_OK) status = rs_text_check(&l->x_label, err);
  if (status == RS_OK) status = rs_text_check(&l->y_label, err);
out:
  rs_text_clear(&l->x_label);
  rs_text_clear(&l->y_label);
  free(l->order);
  free(l);
  return status;
}
