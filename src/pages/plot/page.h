/* page.h: what all pictures have around their plot area: title, definition and subtitle above, names of axes, ticks. */
#ifndef ROPESCOPE_PLOT_PAGE_H
#define ROPESCOPE_PLOT_PAGE_H

#include "axis.h"
#include "picture.h"

typedef struct rs_plot_head {
  const char *title, *definition, *subtitle, *description; /* borrowed */
} rs_plot_head;

/* What the plot area needs around itself, pixels. */
typedef struct rs_plot_room {
  double width, height;         /* of the area */
  const char *y_name;           /* written upwards at the left; "": none. Borrowed. */
  double labels;                /* between that and the area: labels of ticks, names of rows */
  double over;                  /* above the area: headings of panels */
  double beside, beside_height; /* to its right: a legend, a bar */
  double titles;                /* the least width of titles */
} rs_plot_room;

typedef struct rs_plot_page {
  const rs_plot_head *head;        /* borrowed, as the picture is */
  rs_plot_picture *picture;        /* its size is set */
  double left, top, right, bottom; /* of the plot area */
} rs_plot_page;

enum { RS_PLOT_TICK_LENGTH = 5, RS_PLOT_TICK_MINOR = 3 };

/* The middle of a pixel, where a line one pixel wide is crisp. */
double rs_plot_crisp(double pixel);

/* Sets the size of the picture and the corners of the area, and writes what stands above it. */
void rs_plot_page_place(rs_plot_page *page, const rs_plot_room *room);

/* The names of the axes, below and at the left; "": none. */
void rs_plot_page_names(const rs_plot_page *page, const char *x_name, const char *y_name);

/* A tick below the area's `bottom` at x, or at the left of `left` at y, with its label. */
void rs_plot_page_tick_x(const rs_plot_page *page, const rs_plot_tick *tick, double x, double bottom);
void rs_plot_page_tick_y(const rs_plot_page *page, const rs_plot_tick *tick, double left, double y);

/* A frame one pixel wide around a box. */
void rs_plot_box_add(rs_plot_picture *picture, double left, double top, double right, double bottom);

enum { RS_PLOT_BREAK = 9 }; /* pixels from a break to the range behind it */

/* A break of an axis: two strokes across it, and white between them. */
void rs_plot_break_add(rs_plot_picture *picture, double x, double y, bool vertical);

#endif
