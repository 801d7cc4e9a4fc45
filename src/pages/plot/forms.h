/* Forms: lines, dots, bars, strips and heat maps on a page. */
#ifndef ROPESCOPE_PAGES_PLOT_FORMS_H
#define ROPESCOPE_PAGES_PLOT_FORMS_H

#include "io/io.h"

#include "choice.h"
#include "paper.h"

/* ---- span: what the numbers of series span ----------------------------------------------------------------------- */

/* Adds the points of the series to the extents of x and y, bands too. `*log`, whether a logarithmic axis is wanted for
 * y, turns false where there is none: with a negative number, or nothing above zero. */
void rs_plot_series_span(const rs_plot_series *series, size_t count, rs_plot_extent *x, rs_plot_extent *y, bool *log);

/* Where a linear axis of y would show a few series alone, as the others, which are more, are hundreds of times smaller:
 * the 1, 2 or 5 times a power of ten up to which those reach. 0: there is no such gap. */
double rs_plot_series_bend(const rs_plot_series *series, size_t count);

/* ---- lines: series as strokes ------------------------------------------------------------------------------------ */

enum { RS_PLOT_MAX_POINTS = 2000 };

/* How far, in pixels, bars stand beside the x that they belong to, so that none hides another; 0: no series has bars.
 */
double rs_plot_bars_reach(const rs_plot_series *series, size_t count);

/* Adds the bands or bars, lines and markers of the series. */
rs_status rs_plot_lines_draw(const rs_plot_series *series, size_t count, const rs_plot_axis *x, const rs_plot_axis *y,
                             rs_plot_picture *picture, rs_err *err);

/* ---- chart: a chart of lines ------------------------------------------------------------------------------------- */

typedef struct rs_plot_chart {
  rs_plot_head head;
  const char *x_name, *x_unit, *y_name, *y_unit; /* borrowed */
  bool x_log, y_log;
  const char *const *categories; /* names of x = 0, 1, ..., which is no quantity then; NULL: it is one. Borrowed. */
  size_t category_count;
  const rs_plot_mark *marks; /* names of numbers x; NULL: the numbers say it. Borrowed. */
  size_t mark_count;
  const char *level_name; /* of a y that all series compare with, a line at it; NULL: none. Borrowed. */
  double level;
  const rs_plot_series *series; /* borrowed */
  size_t count;
} rs_plot_chart;

/* Fits an axis to the values of the chart and its level; symlog where a few series are hundreds of
 * times as large as the others. Returns what the series span in x. */
rs_plot_extent rs_plot_values_fit(const rs_plot_chart *chart, rs_plot_axis *axis, bool vertical);

/* Draws the chart into the zeroed `picture`. */
rs_status rs_plot_chart_draw(const rs_plot_chart *chart, rs_plot_picture *picture, rs_err *err);

/* ---- dots: values as dots on rows -------------------------------------------------------------------------------- */

/* Draws into the zeroed `picture` one row for each category, with a dot for each series, or, without categories, one
 * row for each series, whose points are all at one x. The value grows to the right. */
rs_status rs_plot_dots_draw(const rs_plot_chart *chart, rs_plot_picture *picture, rs_err *err);

/* ---- heat: maps as a picture ------------------------------------------------------------------------------------- */

/* Weights below 1e-6 of the largest: 512 of them, a row, hold less than a thousandth together. */
enum { RS_PLOT_SEEN_DECADES = 6 };

typedef struct rs_plot_heat {
  rs_plot_head head;
  const char *x_name, *y_name, *panel_name, *name, *unit; /* panel_name: "" without panels. Borrowed, all of them. */
  bool log, x_tokens;
  bool seen; /* weights of attention: cells without one stay blank, those far below the largest have one colour */
  const char *const *methods; /* names, by number */
  const rs_plot_map *map;
} rs_plot_heat;

/* Draws the maps into the zeroed `picture`, one row of panels per method; without panels, method beside method. */
rs_status rs_plot_heat_draw(const rs_plot_heat *heat, rs_plot_picture *picture, rs_err *err);

/* ---- strip: maps of one row of cells as strips of colours below each other --------------------------------------- */

/* Draws one strip per method into the zeroed `picture`; y_name and panel_name are not shown. */
rs_status rs_plot_strip_draw(const rs_plot_heat *heat, rs_plot_picture *picture, rs_err *err);

/* ---- draw: one picture of the list, from its numbers to shapes --------------------------------------------------- */

/* Draws the item, whose column `measure` holds, into the zeroed `picture`, and writes its words and numbers as members
 * of the object that `numbers` is at; either may be NULL. `styles`: of the data's methods. */
rs_status rs_plot_draw(rs_plot_measure *measure, const rs_plot_item *item, const rs_plot_style *styles,
                       rs_plot_picture *picture, rs_json *numbers, rs_err *err);

/* ---- plotter ----------------------------------------------------------------------------------------------------- */

/* One folder while its pictures are drawn. */
typedef struct rs_plotter {
  const char *directory;
  rs_plot_options options;
  rs_plot_data data;
  rs_plot_style *styles; /* of the data's methods */
  rs_plot_list list;
  rs_plot_measure measure;
  rs_plot_picture picture; /* and its text, a file of it, and where that goes: */
  rs_text text, bytes;
  char *folder, *path; /* DIRECTORY/plots, and a file in it. Owned. */
  bool folder_there;   /* it has been made */
  rs_plot_report *report;
  rs_err *err;
} rs_plotter;

/* Reads the folder and lists its pictures, curves at `length`. */
rs_status rs_plotter_read(rs_plotter *p, double length);

/* Draws one picture as SVG, or writes its members into the object that `numbers` is at. */
rs_status rs_plotter_draw(rs_plotter *p, const rs_plot_item *item, rs_json *numbers);

/* Releases all of it; returns `status`. */
rs_status rs_plotter_finish(rs_plotter *p, rs_status status);

#endif
