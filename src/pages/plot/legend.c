/* legend.c: a sample of each line beside its method's name, in the order of the methods, which is the same in all
 * pictures. Long names are wrapped, a tall list is set in columns. */
#include "words.h"

#include "paper.h"

#include <math.h>

enum { TEXT_SIZE = 14, ROW = 22, ROW_WRAPPED = 17, COLUMN_GAP = 24, SAMPLE = 38, SAMPLE_GAP = 9 };
enum { WIDEST = 220, TALLEST = 560 };

#define MARKER_RADIUS 3.6

static rs_text entry_text(const rs_plot_series *series) {
  rs_text text = {0};
  rs_text_puts(&text, series->label);
  if (series->count == 0) rs_text_puts(&text, " (no data)");
  return text;
}

/* Height of one entry, and its width as far as that is more than `*width`; `*failed` where there is no memory. */
static double measure_entry(const rs_plot_series *series, double *width, bool *failed) {
  rs_text text = entry_text(series);
  *failed |= text.failed;
  const char *rest = rs_text_string(&text);
  double height = ROW - ROW_WRAPPED;
  while (*rest != '\0') {
    const char *start = rest;
    size_t length = rs_plot_wrap(start, TEXT_SIZE, false, WIDEST, &rest);
    *width = fmax(*width, rs_plot_text_width(start, length, TEXT_SIZE, false));
    height += ROW_WRAPPED;
  }
  rs_text_clear(&text);
  return height;
}

void rs_plot_legend_measure(rs_plot_legend *legend, const rs_plot_series *series, size_t count) {
  double text = 0, total = 0, tallest = 0;
  bool failed = false;
  for (size_t i = 0; i < count; i++) {
    double height = measure_entry(&series[i], &text, &failed);
    total += height;
    tallest = fmax(tallest, height);
  }
  double columns = fmax(ceil(total / TALLEST), 1);
  *legend =
      (rs_plot_legend){.series = series, .count = count, .column_width = SAMPLE + SAMPLE_GAP + text, .failed = failed};
  legend->height = columns > 1 ? total / columns + tallest : total;
  legend->width = columns * (legend->column_width + COLUMN_GAP) - COLUMN_GAP;
}

static void draw_sample(const rs_plot_series *series, double x, double y, rs_plot_picture *picture) {
  rs_plot_style style = series->style;
  rs_plot_shape *line = rs_plot_segment_add(picture, x, y, x + SAMPLE, y, style.colour, RS_PLOT_LINE_WIDTH);
  line->dashes = style.dashes;
  for (size_t i = 0; i < 4; i++) line->dash[i] = style.dash[i];
  rs_plot_shape *marker = rs_plot_shape_add(picture, RS_PLOT_MARKERS, style.colour, MARKER_RADIUS);
  marker->marker = style.marker;
  marker->hollow = style.hollow;
  rs_plot_point_add(picture, x + SAMPLE / 2.0, y);
}

static void draw_entry(const rs_plot_series *series, double x, double y, rs_plot_picture *picture) {
  const double half = ROW / 2.0, baseline = half + 0.36 * TEXT_SIZE;
  rs_text text = entry_text(series);
  picture->failed = picture->failed || text.failed;
  if (series->count > 0) draw_sample(series, x, y + half, picture);
  rs_plot_rows_add(picture, x + SAMPLE + SAMPLE_GAP, y + baseline, rs_text_string(&text), TEXT_SIZE, ROW_WRAPPED, false,
                   WIDEST, series->count > 0 ? RS_PLOT_INK : RS_PLOT_SOFT);
  rs_text_clear(&text);
}

void rs_plot_legend_draw(const rs_plot_legend *legend, double left, double top, rs_plot_picture *picture) {
  double x = left, y = top;
  picture->failed |= legend->failed;
  for (size_t i = 0; i < legend->count; i++) {
    double ignored = 0, height = measure_entry(&legend->series[i], &ignored, &picture->failed);
    if (y + height > top + legend->height + 0.5) {
      x += legend->column_width + COLUMN_GAP;
      y = top;
    }
    draw_entry(&legend->series[i], x, y, picture);
    y += height;
  }
}
