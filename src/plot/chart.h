/* chart.h: a chart of lines. */
#ifndef ROPESCOPE_PLOT_CHART_H
#define ROPESCOPE_PLOT_CHART_H

#include "page.h"
#include "series.h"

typedef struct rs_plot_chart {
  rs_plot_head head;
  const char *x_name, *x_unit, *y_name, *y_unit; /* borrowed */
  bool x_log, y_log;
  const char *const *categories; /* names of x = 0, 1, ..., which is no quantity then; NULL: it is one. Borrowed. */
  size_t category_count;
  const rs_plot_series *series; /* borrowed */
  size_t count;
} rs_plot_chart;

/* Draws the chart into the zeroed `picture`. */
rs_status rs_plot_chart_draw(const rs_plot_chart *chart, rs_plot_picture *picture, rs_err *err);

#endif
