/* series.h: the numbers of a chart: one series of points for each method. */
#ifndef ROPESCOPE_PLOT_SERIES_H
#define ROPESCOPE_PLOT_SERIES_H

#include "measure.h"
#include "style.h"

typedef struct rs_plot_point {
  double x, y, low, high; /* y is NaN at a gap; low <= y <= high the band, all equal where there is none */
} rs_plot_point;

typedef struct rs_plot_series {
  const char *label; /* borrowed */
  size_t method;
  rs_plot_style style; /* to be set before it is drawn */
  rs_plot_point *points;
  size_t count; /* by rising x, each once; 0: no data */
} rs_plot_series;

typedef enum rs_plot_band { RS_PLOT_NO_BAND, RS_PLOT_MIN_MAX, RS_PLOT_STANDARD_ERROR } rs_plot_band;

typedef struct rs_plot_set {
  rs_plot_series *series; /* one per method that has a cell */
  size_t count;
  rs_plot_point *points; /* of all series. Owned. */
  bool any;              /* there is something to show */
  rs_plot_band band;
  size_t seeds, heads; /* the most a line is a mean over */
  bool folded;         /* points are means over further index columns */
} rs_plot_set;

rs_status rs_plot_set_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_set *set, rs_err *err);
void rs_plot_set_clear(rs_plot_set *set);

#endif
