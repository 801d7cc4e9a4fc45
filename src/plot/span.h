/* span.h: what the numbers of series span. */
#ifndef ROPESCOPE_PLOT_SPAN_H
#define ROPESCOPE_PLOT_SPAN_H

#include "axis.h"
#include "series.h"

/* Adds the points of the series to the extents of x and y, bands too. `*log`, whether a logarithmic axis is wanted for
 * y, turns false where there is none: with a negative number, or nothing above zero. */
void rs_plot_series_span(const rs_plot_series *series, size_t count, rs_plot_extent *x, rs_plot_extent *y, bool *log);

#endif
