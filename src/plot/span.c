/* span.c: what the numbers of series span. */
#include "span.h"

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
