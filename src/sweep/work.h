/* What the parts of running one batch share. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_WORK_H
#define ROPESCOPE_SWEEP_WORK_H

#include "run.h"

/* What the cells of a batch share. */
typedef struct rs_batch_work {
  const rs_cell_batch *batch;
  const rs_experiment *experiment;
  const rs_model *model;
  rs_encoding **encodings;     /* one for each method; NULL where undefined or unused */
  rs_projection **projections; /* one for each method, of the head at hand */
  size_t *edges, bins;
  rs_row_needs needs; /* of the metrics */
  size_t *queries, query_count;
  rs_head_group *groups;
  size_t group_count;
  double *ids;   /* (L, RS_AXES) */
  uint32_t *run; /* (L,) */
} rs_batch_work;

/* Index of the cell's method. */
static inline size_t rs_cell_method(const rs_cell_state *cell) {
  return cell->cell.axis[RS_BY_METHOD];
}

bool rs_cell_has_head(const rs_batch_work *work, const rs_cell_state *cell, size_t head);

/* What metric number `metric` reads of a cell. */
rs_metric_in rs_metric_input(const rs_batch_work *work, const rs_cell_state *cell, size_t metric);

/* Tells the caller of the run that work is done, one thread at a time. */
void rs_batch_advance(const rs_batch_work *work, double done);

#endif
