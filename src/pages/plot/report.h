/* report.h: what was done and what is to be said of it. */
#ifndef ROPESCOPE_PLOT_REPORT_H
#define ROPESCOPE_PLOT_REPORT_H

#include "pages/pages.h"

/* Appends a note. */
rs_status rs_plot_note(rs_plot_report *report, rs_err *err, const char *format, ...) RS_PRINTF(3, 4);

/* Appends a path of a picture that was written. */
rs_status rs_plot_report_add(rs_plot_report *report, const char *path, rs_err *err);

#endif
