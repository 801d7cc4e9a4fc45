/* cells.h: one CSV file. */
#ifndef ROPESCOPE_PLOT_CELLS_H
#define ROPESCOPE_PLOT_CELLS_H

#include "data.h"
#include "pages/pages.h"

enum { RS_PLOT_LEGEND = 16 }; /* lines that can be told apart at a glance */

/* Reads the table of `file` and its cells. Where cells differ in nothing but keys that a line does not show (say,
 * scale), those keys join the names of their methods ("yarn scale=8"). So do heads that stand each for itself, if that
 * makes a legend of at most RS_PLOT_LEGEND lines; else they are averaged, like seeds. Where cells differ in no key at
 * all, a note says that their mean is shown. */
rs_status rs_plot_cells_read(rs_plot_data *data, rs_plot_file *file, rs_plot_report *report, rs_err *err);

/* The numbers of a column (one per row; free() them): NaN where empty, beyond 1e300, or where the row's status is not
 * "ok". RS_INPUT with file and line for what is no number. */
rs_status rs_plot_numbers(const rs_plot_file *file, const rs_plot_column *column, double **numbers, rs_err *err);

#endif
