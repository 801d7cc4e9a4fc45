/* map.h: the numbers of a heat map or of strips: one map for each method and panel. */
#ifndef ROPESCOPE_PLOT_MAP_H
#define ROPESCOPE_PLOT_MAP_H

#include "measure.h"
#include "ranks.h"

enum { RS_PLOT_PANELS = 6, RS_PLOT_MAP_SIDE = 512 }; /* most panels side by side, and cells along a side, of a chart */

/* Values over x, y, panel and method. */
typedef struct rs_plot_map {
  rs_plot_ranks x, y, panel; /* panel: of those shown; one without panels */
  size_t panels;             /* of those there are */
  size_t *methods, count;    /* numbers of the methods that have a value, in their order. Owned. */
  double *values;            /* (count, panel.count, y.count, x.count): means; NaN: none. Owned. */
  size_t *marks;             /* (panel.count,) the marked cell as y * x.count + x; SIZE_MAX: none. Owned. */
  double low, high;          /* of the values */
  size_t folded;             /* most rows that a value is the mean of */
  bool any;                  /* false also where a side has more than RS_PLOT_MAP_SIDE cells */
  size_t absent;             /* methods that have cells, but no value: their numbers stand behind the others */
} rs_plot_map;

rs_status rs_plot_map_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_map *map, rs_err *err);
void rs_plot_map_clear(rs_plot_map *map);

#endif
