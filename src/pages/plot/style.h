/* style.h: colours, dashes, markers. */
#ifndef ROPESCOPE_PLOT_STYLE_H
#define ROPESCOPE_PLOT_STYLE_H

#include "picture.h"

enum { RS_PLOT_COLOURS = 16, RS_PLOT_ROUNDS = 4 };

/* How a method looks. Looks 0 to 15 differ in colour and in marker, each of the other three rounds of 16 differs from
 * those of the same colour in marker and dash. */
typedef struct rs_plot_style {
  uint32_t colour;
  size_t marker;
  bool hollow;
  double dash[4];
  size_t dashes;
} rs_plot_style;

/* The ink of texts, of lesser texts, of axes. */
enum { RS_PLOT_INK = 0x1A1A1A, RS_PLOT_SOFT = 0x595959, RS_PLOT_AXIS = 0x4D4D4D };

enum { RS_PLOT_LEVELS = 256 };

/* The colour of a level 0..RS_PLOT_LEVELS - 1, dark to light. */
uint32_t rs_plot_level_colour(size_t level);

enum { RS_PLOT_CORNERS = 16 };

#define RS_PLOT_LINE_WIDTH 1.8 /* pixels: 0.5 mm where the picture is as wide as a page */

rs_plot_style rs_plot_style_of(size_t look);

/* The corners of a marker around the origin; returns their number (0: a circle). */
size_t rs_plot_marker_corners(size_t marker, double radius, rs_plot_xy corners[RS_PLOT_CORNERS]);

#endif
