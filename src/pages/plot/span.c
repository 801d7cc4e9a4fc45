/* span.c: what the numbers of series span. */
#include "forms.h"

#include <math.h>
#include <string.h>

#define LARGE 10 /* shares and cosines near zero are next to nothing, and are to look so */
#define GAP 100  /* times as large as the largest of the others: these have three pixels of three hundred */

void rs_plot_series_span(const rs_plot_series *series, size_t count, rs_plot_extent *x, rs_plot_extent *y, bool *log) {
  rs_plot_extent band = {0};
  for (size_t s = 0; s < count; s++) {
    for (size_t i = 0; i < series[s].count; i++) {
      const rs_plot_point *point = &series[s].points[i];
      rs_plot_extent_add(x, point->x);
      rs_plot_extent_add(y, point->y);
      rs_plot_extent_add(&band, point->low);
      rs_plot_extent_add(&band, point->high);
    }
  }
  *log = *log && y->low >= 0 && y->positive > 0;
  if (!band.any) return;
  /* On a log axis the foot of mean -+ error, which may be negative, is not worth a break. */
  rs_plot_extent_add(y, *log ? band.positive : band.low);
  rs_plot_extent_add(y, band.high);
}

static double largest_size(const rs_plot_series *series) {
  double largest = 0;
  for (size_t i = 0; i < series->count; i++) largest = fmax(largest, fabs(series->points[i].y)); /* without NaN */
  return largest;
}

/* The largest size below `limit` that a series has; 0: none. */
static double next_size(const rs_plot_series *series, size_t count, double limit) {
  double next = 0;
  for (size_t s = 0; s < count; s++) {
    double size = largest_size(&series[s]);
    if (size < limit) next = fmax(next, size);
  }
  return next;
}

/* Series of at least this size. */
static size_t count_from(const rs_plot_series *series, size_t count, double size) {
  size_t found = 0;
  for (size_t s = 0; s < count; s++) found += largest_size(&series[s]) >= size;
  return found;
}

double rs_plot_series_bend(const rs_plot_series *series, size_t count) {
  double above = next_size(series, count, INFINITY);
  for (double below; (below = next_size(series, count, above)) > 0; above = below) {
    bool few = 2 * count_from(series, count, above) < count_from(series, count, below) + 1;
    if (above < GAP * below || above <= LARGE || !few) continue;
    double power = pow(10, floor(log10(below) + 1e-9)), share = below / power * (1 - 1e-9);
    return (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10) * power;
  }
  return 0;
}

rs_plot_extent rs_plot_values_fit(const rs_plot_chart *chart, rs_plot_axis *axis, bool vertical) {
  rs_plot_extent x = {0}, y = {0};
  bool log = chart->y_log, tokens = strcmp(chart->y_unit, "tokens") == 0;
  rs_plot_series_span(chart->series, chart->count, &x, &y, &log);
  if (vertical && chart->level_name != NULL) rs_plot_extent_add(&y, chart->level);
  double bend = log ? 0 : rs_plot_series_bend(chart->series, chart->count);
  if (bend > 0)
    rs_plot_axis_fit_symlog(axis, &y, bend, tokens, vertical);
  else
    rs_plot_axis_fit(axis, &y, log, tokens, vertical);
  return x;
}
