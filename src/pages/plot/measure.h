/* measure.h: the numbers of one value column, and which of them a picture shows. */
#ifndef ROPESCOPE_PLOT_MEASURE_H
#define ROPESCOPE_PLOT_MEASURE_H

#include "data.h"

/* One value column, with what it is drawn against; one number per row. */
typedef struct rs_plot_measure {
  const rs_plot_data *data;
  const rs_plot_file *file;
  const rs_plot_column *column;
  double *x;                   /* the index; NULL: x is the length. Owned. */
  double *y;                   /* NaN where not available. Owned. */
  double *error;               /* standard errors, or NULL. Owned. */
  double *low, *high;          /* the least and the largest of the bin, or NULL, both. Owned. */
  double *part[RS_PLOT_PARTS]; /* the indices of a map, or NULL. Owned. */
  bool density;                /* y is divided by the width of its bin */
  bool category;               /* x numbers things that have names */
  bool any;                    /* some y is a number */
  bool per_source;             /* y depends on the source */
  bool map;                    /* some y is a number at an x and y of a map */
  bool over_lengths;           /* of such a map, the x is the length of the cells */
  bool strip;                  /* y is drawn as a strip: part x is the first index, part y zero */
} rs_plot_measure;

struct rs_plot_family;
struct rs_plot_sweep;

/* Which cells a chart shows: of one model, of one source (or RS_PLOT_ANY), at one length (0: any); and which rows. */
typedef struct rs_plot_choice {
  size_t model, source;
  double length;
  bool in_panel; /* rows of this panel alone: */
  double panel;
  const struct rs_plot_family *family; /* the sources that have a place; NULL: as `source` says. Borrowed. */
  const struct rs_plot_sweep *sweep;   /* what a summary is drawn over; NULL: the length. Borrowed. */
} rs_plot_choice;

rs_status rs_plot_measure_read(const rs_plot_data *data, const rs_plot_file *file, const rs_plot_column *column,
                               rs_plot_measure *measure, rs_err *err);
void rs_plot_measure_clear(rs_plot_measure *measure);

/* What a row of the cell is drawn against: its index, or the length. */
double rs_plot_row_x(const rs_plot_measure *measure, const rs_plot_cell *cell, size_t row);
bool rs_plot_chosen(const rs_plot_cell *cell, const rs_plot_choice *choice);

/* The longest length at which the chosen cells have a value; 0: none has. */
double rs_plot_longest(const rs_plot_measure *measure, const rs_plot_choice *choice);

#endif
