/* What the parts of running one batch share. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_WORK_H
#define ROPESCOPE_SWEEP_WORK_H

#include "run.h"

/* What metrics of tables came to for a method and a group of heads, once it is known. */
typedef struct rs_known_tables {
  bool known;
  size_t seed;   /* for which metrics drew numbers */
  double *value; /* (metrics, RS_METRIC_SCALARS); owned */
} rs_known_tables;

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
  rs_mask mask;
  const rs_token_layout *tokens; /* borrowed */
  double *ids;                   /* (L, RS_AXES) */
  uint32_t *run;                 /* (L,) */
  rs_err why;                    /* what kept all this from being made */
  size_t *units, unit_count;     /* of the portion: source * seeds + seed, each once */
  rs_known_tables *known;        /* (methods, groups) */
  size_t groups;
  rs_text_rows rows; /* of the source that handed on rows last, */
  size_t rows_of;    /* its number from 1; 0: none has */
} rs_batch_work;

/* Index of the cell's method. */
static inline size_t rs_cell_method(const rs_cell_state *cell) {
  return cell->cell.axis[RS_BY_METHOD];
}

bool rs_cell_has_head(const rs_cell_state *cell, size_t head);

/* Random query positions and the weights that project embeddings belong to the experiment, not to the content: one draw
 * for every seed, so that a cell's numbers do not depend on which other cells run. */
enum { RS_QUERY_SEED = 0, RS_WEIGHTS_SEED = 0 };

/* What does not hang on methods: edges, queries, positions of the batch's tokens, which `work->tokens` lays out, and
 * room for what does. Release with rs_batch_work_clear, also after a failure; the encodings are the caller's. */
rs_status rs_batch_work_make(rs_batch_work *work, rs_err *err);
void rs_batch_work_clear(rs_batch_work *work);

/* The states of the metrics of rows; one that cannot be made fails its cell. And, when all rows were seen, what these
 * metrics come to. */
void rs_batch_begin_rows(const rs_batch_work *work);
void rs_batch_finish_rows(const rs_batch_work *work);

/* What metric number `metric` reads of a cell. */
rs_metric_in rs_metric_input(const rs_batch_work *work, rs_cell_state *cell, size_t metric);

/* What that metric comes to. One that fails fails its cell. */
void rs_metric_finish(const rs_batch_work *work, rs_cell_state *cell, size_t metric);

/* What the portions of a batch share, whose cells have at most so many groups of heads. What cannot be made fails the
 * cells of each portion. Close it in any case. RS_MEMORY. */
rs_status rs_batch_open(rs_batch_work *work, const rs_cell_batch *batch, size_t groups, rs_err *err);
void rs_batch_close(rs_batch_work *work);

/* Runs the cells that stand in the batch now, and hands each over. As rs_batch_run. */
rs_status rs_batch_portion(rs_batch_work *work, rs_err *err);

/* Whether the caller of the run wants it to end. */
bool rs_batch_stopped(const rs_batch_work *work);

/* Hands a cell that is done to the caller, once. What `done` fails with. */
rs_status rs_batch_done(const rs_batch_work *work, rs_cell_state *cell, rs_err *err);

/* A cell that a team runs fails on all ranks where it has failed on one. */
void rs_cell_agree(const rs_batch_work *work, rs_cell_state *cell);

/* Tells the caller of the run that work is done. */
void rs_batch_advance(const rs_batch_work *work, double done);

#endif
