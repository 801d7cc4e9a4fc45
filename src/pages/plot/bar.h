/* bar.h: colours of values, and the bar that explains them. */
#ifndef ROPESCOPE_PLOT_BAR_H
#define ROPESCOPE_PLOT_BAR_H

#include "axis.h"
#include "map.h"
#include "style.h"

typedef struct rs_plot_shades {
  rs_plot_axis scale; /* to be placed: from the dark end of the bar to the light one */
  bool texts;         /* values can be told in a few digits: */
  int power;          /* as multiples of ten to this */
} rs_plot_shades;

/* The ends of the colours are the least and largest value, or a little more where they are one; `whole`: 0 and 1 too.
 */
void rs_plot_shades_fit(rs_plot_shades *shades, const rs_plot_map *map, bool log, bool whole);
size_t rs_plot_level_of(const rs_plot_shades *shades, double value);

/* Two digits of the largest number (of 1: three), and of the others as many behind the point: 0.347 as "0.35". */
rs_text rs_plot_shade_text(const rs_plot_shades *shades, double value);

/* Writes `text` with its middle at a point on the colour of a value, in white or ink, whichever stands out. */
void rs_plot_shade_text_add(rs_plot_picture *picture, const rs_plot_shades *shades, double value, const rs_text *text,
                            double x, double y, double size);

/* The bar of a placed scale, with ticks and name, and how wide all that is. */
double rs_plot_bar_width(const rs_plot_shades *shades);
void rs_plot_bar_add(rs_plot_picture *picture, const rs_plot_shades *shades, double left, double top, const char *name,
                     const char *unit);

#endif
