/* legend.h: which line is which method. */
#ifndef ROPESCOPE_PLOT_LEGEND_H
#define ROPESCOPE_PLOT_LEGEND_H

#include "series.h"

typedef struct rs_plot_legend {
  const rs_plot_series *series; /* (count,) in their order. Borrowed. */
  size_t count;
  double column_width, width, height; /* pixels */
  bool failed;                        /* no memory to measure it */
} rs_plot_legend;

/* How large the legend of `series` is. */
void rs_plot_legend_measure(rs_plot_legend *legend, const rs_plot_series *series, size_t count);
void rs_plot_legend_draw(const rs_plot_legend *legend, double left, double top, rs_plot_picture *picture);

#endif
