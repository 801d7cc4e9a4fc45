/* heat.h: maps as a picture. */
#ifndef ROPESCOPE_PLOT_HEAT_H
#define ROPESCOPE_PLOT_HEAT_H

#include "map.h"
#include "page.h"

typedef struct rs_plot_heat {
  rs_plot_head head;
  const char *x_name, *y_name, *panel_name, *name, *unit; /* panel_name: "" without panels. Borrowed, all of them. */
  bool log, x_tokens;
  const char *const *methods; /* names, by number */
  const rs_plot_map *map;
} rs_plot_heat;

/* Draws the maps into the zeroed `picture`, one row of panels per method; without panels, method beside method. */
rs_status rs_plot_heat_draw(const rs_plot_heat *heat, rs_plot_picture *picture, rs_err *err);

#endif
