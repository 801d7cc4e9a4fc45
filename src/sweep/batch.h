/* The parts of running one batch. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_BATCH_H
#define ROPESCOPE_SWEEP_BATCH_H

#include "run.h"

/* What one source, seed and head come to, and who observes it. */
typedef struct rs_content {
  double *q, *k, *needles; /* (Q, D), (L, D), (Q, D) */
  size_t *needle_at;       /* (Q,) */
  rs_engine *engine;
  rs_err why; /* RS_INTERNAL: the run is to end */
} rs_content;

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
  double *ids;          /* (L, RS_AXES) */
  uint32_t *run;        /* (L,) */
  rs_content *contents; /* one for each thread that takes units of its own */
  size_t content_count;
} rs_batch_work;

/* ---- batch.c ----------------------------------------------------------------------------------------------------- */

/* The cell ends with this error, if it has none yet. */
void rs_cell_fail(rs_cell_state *cell, const rs_err *why);

static inline size_t rs_method_of(const rs_cell_state *cell) {
  return cell->cell.axis[RS_BY_METHOD];
}

/* ---- content.c --------------------------------------------------------------------------------------------------- */

/* Room for the contents of as many threads as take units of their own. */
rs_status rs_contents_make(rs_batch_work *work, rs_err *err);
void rs_contents_clear(rs_batch_work *work);

bool rs_cell_has_head(const rs_batch_work *work, const rs_cell_state *cell, size_t head);

/* Tells the caller of the run that work is done, one thread at a time. */
void rs_batch_advance(const rs_batch_work *work, double done);

/* Every cell of unit number `unit`, a source and a seed, for one head. */
void rs_unit_run(const rs_batch_work *work, size_t unit, size_t head, rs_content *of);

#endif
