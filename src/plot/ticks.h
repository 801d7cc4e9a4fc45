/* ticks.h: where the ticks of an axis stand and what they say. */
#ifndef ROPESCOPE_PLOT_TICKS_H
#define ROPESCOPE_PLOT_TICKS_H

#include "axis.h"

/* Puts a fitted axis between two pixels and makes its ticks, as many as have room. */
void rs_plot_axis_place(rs_plot_axis *axis, double start, double stop);
double rs_plot_tick_width(const rs_plot_tick *tick);

/* Appends the name of a placed axis with its unit: "length (tokens, 1k = 1024)". */
void rs_plot_axis_name(const rs_plot_axis *axis, const char *name, const char *unit, rs_text *label);

#endif
