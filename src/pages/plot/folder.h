/* folder.h: a folder of results, read and checked. */
#ifndef ROPESCOPE_PLOT_FOLDER_H
#define ROPESCOPE_PLOT_FOLDER_H

#include "data.h"
#include "pages/pages.h"
#include "style.h"

/* Reads the manifest and every file that pictures are drawn from into zeroed `data`, with the methods in their order,
 * and gives each method its look: styles (methods,), which the caller frees. Notes go to the report. RS_INPUT, RS_IO,
 * RS_MEMORY; `data` is to be cleared after a failure too. */
rs_status rs_plot_folder_read(const char *directory, rs_plot_data *data, rs_plot_style **styles, rs_plot_report *report,
                              rs_err *err);

#endif
