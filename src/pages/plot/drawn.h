/* drawn.h: which pictures of a folder are ours, and of which results. */
#ifndef ROPESCOPE_PLOT_DRAWN_H
#define ROPESCOPE_PLOT_DRAWN_H

#include "data.h"
#include "pages/pages.h"

/* A fingerprint of the config and of the bytes of all files that pictures are drawn from. */
enum { RS_PLOT_FINGERPRINT = 17 };
rs_status rs_plot_fingerprint(const rs_plot_data *data, char fingerprint[RS_PLOT_FINGERPRINT], rs_err *err);

/* Lists the report's files in `folder` as drawn from results of this fingerprint, and removes what an earlier list
 * names as drawn from others, unless it was drawn again. A note says how many. */
rs_status rs_plot_drawn_update(const char *folder, const char *fingerprint, rs_plot_report *report, rs_err *err);

#endif
