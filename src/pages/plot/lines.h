/* lines.h: series as strokes. */
#ifndef ROPESCOPE_PLOT_LINES_H
#define ROPESCOPE_PLOT_LINES_H

#include "axis.h"
#include "series.h"

enum { RS_PLOT_MAX_POINTS = 2000 };

/* Adds the bands, lines and markers of the series. */
rs_status rs_plot_lines_draw(const rs_plot_series *series, size_t count, const rs_plot_axis *x, const rs_plot_axis *y,
                             rs_plot_picture *picture, rs_err *err);

#endif
