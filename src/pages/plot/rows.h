/* rows.h: names of rows at the left of the plot area. */
#ifndef ROPESCOPE_PLOT_ROWS_H
#define ROPESCOPE_PLOT_ROWS_H

#include "page.h"

/* The width of the widest of the names, wrapped, and the space behind it; `*tallest` is the height of the tallest. */
double rs_plot_row_names_width(const char *const *names, size_t count, double *tallest);

/* Writes a name with its middle at y. */
void rs_plot_row_name_add(const rs_plot_page *page, const char *name, double y, uint32_t colour);

#endif
