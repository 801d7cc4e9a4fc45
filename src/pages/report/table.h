/* table.h: the summaries of all folders as one table. */
#ifndef ROPESCOPE_REPORT_TABLE_H
#define ROPESCOPE_REPORT_TABLE_H

#include "results.h"

/* Appends an HTML table: a row for each line of the folders (count,), a column for each key that lines differ in and
 * for each value that some line has. Rows of other lengths than the folder's longest are hidden where scripts run,
 * which show them again. RS_MEMORY. */
rs_status report_table(const report_results *folders, size_t count, rs_text *out, rs_err *err);

#endif
