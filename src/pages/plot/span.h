/* span.h: what the numbers of series span. */
#ifndef ROPESCOPE_PLOT_SPAN_H
#define ROPESCOPE_PLOT_SPAN_H

#include "axis.h"
#include "series.h"

/* Adds the points of the series to the extents of x and y, bands too. `*log`, whether a logarithmic axis is wanted for
 * y, turns false where there is none: with a negative number, or nothing above zero. */
void rs_plot_series_span(const rs_plot_series *series, size_t count, rs_plot_extent *x, rs_plot_extent *y, bool *log);

/* Where a linear axis of y would show a few series alone, as the others, which are more, are hundreds of times smaller:
 * the 1, 2 or 5 times a power of ten up to which those reach. 0: there is no such gap. */
double rs_plot_series_bend(const rs_plot_series *series, size_t count);

#endif
