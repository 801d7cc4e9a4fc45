/* report/report.h: folders of results as one page for a browser, which holds all it shows: what was asked and what
 * came out in sentences, a table of the summary, the curves and maps, and the CSV files themselves. It reads
 * manifest.json and the CSV files of the folders, and nothing else. Uses base, io, plot and page. */
#ifndef ROPESCOPE_REPORT_H
#define ROPESCOPE_REPORT_H

#include "plot/plot.h"

/* Bytes of the largest CSV file that a page holds; of a larger one it says where it is. */
enum { RS_REPORT_CSV = 32 << 20 };

/* Appends the page of `directories` (count, at least 1), side by side where they are several. Charts answer the mouse
 * and the keyboard where this program has the chart library (rs_page_has_charts) and `still` is false; else they are
 * pictures as rs_plot_results draws them. All text of the folders is plain text in the page. The notes of `notes` say
 * what has no picture, and why. RS_INPUT: a manifest or CSV that is not as promised (file, and line of a CSV). RS_IO:
 * a file could not be read. RS_MEMORY. */
rs_status rs_report_write(const char *const *directories, size_t count, bool still, rs_text *page,
                          rs_plot_report *notes, rs_err *err) RS_NONNULL(1, 4, 5);

#endif
