/* chart.h: a chart of lines. */
#ifndef ROPESCOPE_PLOT_CHART_H
#define ROPESCOPE_PLOT_CHART_H

#include "page.h"
#include "series.h"
#include "ticks.h"

typedef struct rs_plot_chart {
  rs_plot_head head;
  const char *x_name, *x_unit, *y_name, *y_unit; /* borrowed */
  bool x_log, y_log;
  const char *const *categories; /* names of x = 0, 1, ..., which is no quantity then; NULL: it is one. Borrowed. */
  size_t category_count;
  const rs_plot_mark *marks; /* names of numbers x; NULL: the numbers say it. Borrowed. */
  size_t mark_count;
  const char *level_name; /* of a y that all series compare with, a line across; NULL: none. Borrowed. */
  double level;
  const rs_plot_series *series; /* borrowed */
  size_t count;
} rs_plot_chart;

/* Draws the chart into the zeroed `picture`. */
rs_status rs_plot_chart_draw(const rs_plot_chart *chart, rs_plot_picture *picture, rs_err *err);

#endif
