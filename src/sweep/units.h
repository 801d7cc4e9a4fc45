/* A sweep in units: cells that share what is costly to make, a trained checkpoint or queries and keys, and what each
 * unit is planned to take. All of it follows from the config alone, so that every process finds the same. Private to
 * the sweep layer. */
#ifndef ROPESCOPE_SWEEP_UNITS_H
#define ROPESCOPE_SWEEP_UNITS_H

#include "run.h"

typedef struct rs_unit {
  size_t first, count; /* of its cells, in `order` */
  size_t shared; /* what is made for all its cells, counted from 0: parts of a unit that was split have it in common */
  double making; /* flops of that: a training, queries and keys */
  double own;    /* and of its cells themselves */
} rs_unit;

typedef struct rs_units {
  size_t *order; /* (cells,) numbers of cells, unit after unit; owned, as all here */
  double *costs; /* (cells,) planned flops of each cell, by number; positive */
  rs_unit *items;
  size_t count, capacity;
  bool trained; /* what units share are trainings: one part does it, and the others read it */
} rs_units;

/* The units of all cells (count,) of an experiment. Release with rs_units_clear, also after a failure. RS_MEMORY, and
 * what a task fails with. */
rs_status rs_units_make(const rs_experiment *experiment, const rs_cell *cells, size_t count, rs_units *units,
                        rs_err *err);
void rs_units_clear(rs_units *units);

/* What all units take together. */
double rs_units_total(const rs_units *units);

/* Splits units whose cells take more than `most`, near the half of them, as long as they have two cells; but where what
 * they share is then made again, only those whose cells take far more than that. RS_MEMORY. */
rs_status rs_units_split(rs_units *units, double most, rs_err *err);

/* Splits the largest units until there are at least `least`, or every cell is one. RS_MEMORY. */
rs_status rs_units_multiply(rs_units *units, size_t least, rs_err *err);

/* The largest first, and of equal ones that which begins with the first cell. */
void rs_units_sort(rs_units *units);

#endif
