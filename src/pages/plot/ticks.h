/* ticks.h: where the ticks of an axis stand and what they say. */
#ifndef ROPESCOPE_PLOT_TICKS_H
#define ROPESCOPE_PLOT_TICKS_H

#include "axis.h"

/* Puts a fitted axis between two pixels and makes its ticks, as many as have room. */
void rs_plot_axis_place(rs_plot_axis *axis, double start, double stop);

/* A number of an axis that has a name. */
typedef struct rs_plot_mark {
  double value;
  char label[RS_PLOT_TICK_CHARS];
} rs_plot_mark;

/* The same with ticks at the marks within the axis alone. */
void rs_plot_axis_mark(rs_plot_axis *axis, double start, double stop, const rs_plot_mark *marks, size_t count);
double rs_plot_tick_width(const rs_plot_tick *tick);

/* Appends the name of a placed axis with its unit: "length (tokens, 1k = 1024)". */
void rs_plot_axis_name(const rs_plot_axis *axis, const char *name, const char *unit, rs_text *label);

#endif
