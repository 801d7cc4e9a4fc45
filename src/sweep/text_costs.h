/* What the passes of sources' own checkpoints over their texts take. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_TEXT_COSTS_H
#define ROPESCOPE_SWEEP_TEXT_COSTS_H

#include "run.h"

/* A pass, counted with the first of the cells that share it; 0 for the others, and where it cannot be. */
typedef struct rs_text_cost {
  double flops;
  double bytes; /* of the model's work space, of its tables, and of the queries and keys that are kept */
} rs_text_cost;

/* Fills costs (count,) of the experiment's cells. RS_MEMORY. */
rs_status rs_text_costs(const rs_experiment *experiment, const rs_cell *cells, size_t count, rs_text_cost *costs,
                        rs_err *err);

/* Adds to seconds (count,) what those passes take here, by passes over the beginnings of the texts. `budget`: seconds
 * that may be spent on that, but for reading the weights. RS_MEMORY. */
rs_status rs_text_seconds(const rs_experiment *experiment, const rs_cell *cells, size_t count, double budget,
                          double *seconds, rs_err *err);

#endif
