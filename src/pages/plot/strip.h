/* strip.h: maps of one row of cells as strips of colours below each other. */
#ifndef ROPESCOPE_PLOT_STRIP_H
#define ROPESCOPE_PLOT_STRIP_H

#include "heat.h"

/* Draws one strip per method into the zeroed `picture`; y_name and panel_name are not shown. */
rs_status rs_plot_strip_draw(const rs_plot_heat *heat, rs_plot_picture *picture, rs_err *err);

#endif
