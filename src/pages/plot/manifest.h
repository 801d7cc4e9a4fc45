/* manifest.h: which files there are and what their columns mean. */
#ifndef ROPESCOPE_PLOT_MANIFEST_H
#define ROPESCOPE_PLOT_MANIFEST_H

#include "data.h"

/* Reads DIRECTORY/manifest.json into zeroed `data`: names, files and columns, no table yet. */
rs_status rs_plot_manifest_read(const char *directory, rs_plot_data *data, rs_err *err);

#endif
