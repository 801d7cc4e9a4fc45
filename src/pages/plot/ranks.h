/* ranks.h: numbers that occur, as places in a row. */
#ifndef ROPESCOPE_PLOT_RANKS_H
#define ROPESCOPE_PLOT_RANKS_H

#include "base/base.h"

/* Numbers that occur, rising, each once. */
typedef struct rs_plot_ranks {
  double *items; /* owned */
  size_t count;
} rs_plot_ranks;

/* The distinct numbers, without NaN. */
rs_status rs_plot_ranks_read(const double *numbers, size_t count, rs_plot_ranks *ranks, rs_err *err);

/* The rank of a number; the ranks' count where it is none of them. */
size_t rs_plot_rank(const rs_plot_ranks *ranks, double number);

/* Cells in a row, one for each rank: every how many there is a label, when one needs `room` pixels, and whether cell i
 * has one. Whole numbers without gaps have it at multiples of 1, 2, 5, 10, ..., others by their rank. */
size_t rs_plot_label_step(const rs_plot_ranks *ranks, double cell, double room);
bool rs_plot_is_labelled(const rs_plot_ranks *ranks, size_t i, size_t step);

#endif
