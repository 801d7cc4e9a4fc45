/* series.h: the numbers of a chart: one series of points for each method. */
#ifndef ROPESCOPE_PLOT_SERIES_H
#define ROPESCOPE_PLOT_SERIES_H

#include "measure.h"
#include "style.h"

typedef struct rs_plot_point {
  double x, y, low, high; /* y is NaN at a gap; low <= y <= high the band, all equal where there is none */
  double samples;         /* that y is the mean of; 0: not said */
} rs_plot_point;

/* A mean of fewer samples has a place, but does not speak of a trend: a share of 16 is known to +-0.125. */
enum { RS_PLOT_SAMPLES_LEAST = 16, RS_PLOT_TREND_LEAST = 3 /* points of a trend */ };

typedef struct rs_plot_series {
  const char *label; /* borrowed */
  size_t method;
  rs_plot_style style; /* to be set before it is drawn */
  rs_plot_point *points;
  size_t count;   /* by rising x, each once; 0: no data */
  bool bins;      /* the band of a point goes on to the next point's x */
  bool has_event; /* something happens at x = event: */
  double event;
} rs_plot_series;

typedef enum rs_plot_band { RS_PLOT_NO_BAND, RS_PLOT_MIN_MAX, RS_PLOT_STANDARD_ERROR, RS_PLOT_ENVELOPE } rs_plot_band;

typedef struct rs_plot_set {
  rs_plot_series *series; /* one per method that has a cell */
  size_t count;
  rs_plot_point *points; /* of all series. Owned. */
  bool any;              /* there is something to show */
  rs_plot_band band;
  size_t seeds, heads; /* the most a line is a mean over */
  bool folded;         /* points are means over further index columns */
  bool events;         /* a series has one */
  bool few;            /* a point has too few samples */
  bool trendless;      /* samples are counted, and no series has enough points of enough of them */
} rs_plot_set;

/* Whether the point is of too few samples to be joined with others. */
bool rs_plot_is_few(const rs_plot_point *point);

rs_status rs_plot_set_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_set *set, rs_err *err);
void rs_plot_set_clear(rs_plot_set *set);

#endif
