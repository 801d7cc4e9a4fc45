/* grids.h: what the lengths of a task on images or films are: grids of patches. */
#ifndef ROPESCOPE_PLOT_GRIDS_H
#define ROPESCOPE_PLOT_GRIDS_H

#include "data.h"
#include "ticks.h"

/* Zero-initialise; release with rs_plot_grids_clear. */
typedef struct rs_plot_grids {
  rs_plot_mark *marks; /* (count,) a length, and "6 × 6" or "8"; owned */
  size_t count;
  const char *name; /* "image" or "film" */
  rs_text unit;     /* "patches" or "frames of 3 × 3 patches" */
} rs_plot_grids;

/* Reads the grids of the manifest's task; none where it has none. RS_MEMORY. */
rs_status rs_plot_grids_read(const rs_plot_data *data, rs_plot_grids *grids, rs_err *err);
void rs_plot_grids_clear(rs_plot_grids *grids);

#endif
