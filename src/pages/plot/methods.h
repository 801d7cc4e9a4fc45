/* methods.h: how each method looks and where it stands, the same in every picture of every folder. */
#ifndef ROPESCOPE_PLOT_METHODS_H
#define ROPESCOPE_PLOT_METHODS_H

#include "data.h"
#include "style.h"

/* Puts the methods of the data in their order: as in the table of methods.c, what belongs to a method (as "yarn
 * factor=4" does) behind it, by name with numbers as numbers; other names last. */
rs_status rs_plot_methods_sort(rs_plot_data *data, rs_err *err);

/* The order of two names of methods (char *const *), for qsort. */
int rs_plot_methods_order(const void *left, const void *right);

/* Fills `styles` (methods->count). A method of the table has its own look; any other name has that which its letters
 * choose, or, where another method of the list has that colour, the next that is free. */
void rs_plot_methods_style(const rs_plot_names *methods, rs_plot_style *styles);

#endif
