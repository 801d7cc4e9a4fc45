/* axis.h: ranges and pixels. */
#ifndef ROPESCOPE_PLOT_AXIS_H
#define ROPESCOPE_PLOT_AXIS_H

#include "label.h"

enum { RS_PLOT_TICKS = 128, RS_PLOT_TICK_CHARS = 40, RS_PLOT_TICK_SIZE = 13 };

typedef enum rs_plot_scale {
  RS_PLOT_LINEAR,
  RS_PLOT_LOG2,
  RS_PLOT_LOG10,
  RS_PLOT_SYMLOG /* linear up to a bend on both sides of zero, logarithmic beyond */
} rs_plot_scale;

typedef struct rs_plot_tick {
  double pixel;
  char label[RS_PLOT_TICK_CHARS];  /* "" for a minor tick */
  char power[RS_PLOT_POWER_CHARS]; /* exponent to raise behind the label, or "" */
} rs_plot_tick;

/* What the numbers of an axis span. Zero-initialise, then rs_plot_extent_add. */
typedef struct rs_plot_extent {
  bool any;
  double low, high;
  double positive; /* the smallest number above zero; 0: none */
  bool broken;     /* some number is not whole */
} rs_plot_extent;

typedef struct rs_plot_axis {
  rs_plot_scale scale;
  bool vertical, tokens;
  bool whole;  /* all numbers are whole: there are no ticks between */
  bool single; /* all numbers are (nearly) the same, and this one: */
  double only;
  bool rail;  /* log: numbers below `low` stand apart, at pixel `rail_at` */
  bool floor; /* log: not all of those are zeros, but they are below this power of ten: */
  int floor_power;
  double bend; /* symlog: 1, 2 or 5 times a power of ten */
  double low, high;
  double start, base, stop; /* pixels: of the axis' start, of low, of high */
  double rail_at;
  rs_plot_tick ticks[RS_PLOT_TICKS];
  size_t count;
  bool kilo;   /* a label ends in k or M */
  bool failed; /* no memory for a label */
} rs_plot_axis;

void rs_plot_extent_add(rs_plot_extent *extent, double value);

/* Scale and range: log when wanted and possible, in powers of two for tokens, padded. */
void rs_plot_axis_fit(rs_plot_axis *axis, const rs_plot_extent *extent, bool log, bool tokens, bool vertical);

/* The same for numbers of which some are hundreds of times as large as those up to `bend`: symlog. */
void rs_plot_axis_fit_symlog(rs_plot_axis *axis, const rs_plot_extent *extent, double bend, bool tokens, bool vertical);

/* Lays a fitted axis between two pixels; it has no ticks yet. */
void rs_plot_axis_span(rs_plot_axis *axis, double start, double stop);
double rs_plot_axis_pixel(const rs_plot_axis *axis, double value);

#endif
