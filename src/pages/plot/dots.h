/* dots.h: values as dots on rows. */
#ifndef ROPESCOPE_PLOT_DOTS_H
#define ROPESCOPE_PLOT_DOTS_H

#include "chart.h"

/* Draws into the zeroed `picture` one row for each category, with a dot for each series, or, without categories, one
 * row for each series, whose points are all at one x. The value grows to the right. */
rs_status rs_plot_dots_draw(const rs_plot_chart *chart, rs_plot_picture *picture, rs_err *err);

#endif
