/* What trainings and readings take. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_COSTS_H
#define ROPESCOPE_SWEEP_COSTS_H

#include "checkpoint.h"
#include "run.h"

/* One checkpoint, before it is trained. */
typedef struct rs_checkpoint_cost {
  rs_transformer *begun;   /* owned; NULL: it cannot be made, and costs nothing */
  double training, tuning; /* flops of each whole */
  double bytes;            /* alive while it is trained */
} rs_checkpoint_cost;

typedef struct rs_costs {
  const rs_experiment *experiment;
  rs_task task;              /* owned */
  rs_checkpoint_cost *items; /* (model_count,) owned */
} rs_costs;

/* What trainings are left, where a run keeps its models in a folder. */
typedef struct rs_work_left {
  double flops;
  size_t trainings, there; /* to be done, and done by earlier runs */
} rs_work_left;

/* RS_MEMORY, and what a task fails with. Release with rs_costs_clear. */
rs_status rs_costs_make(const rs_experiment *experiment, rs_costs *costs, rs_err *err);
void rs_costs_clear(rs_costs *costs);

/* Flops and bytes of the readings and rows of one cell; 0 where the task has no sequence of the length. */
double rs_reading_flops(const rs_costs *costs, const rs_cell *cell);
double rs_reading_bytes(const rs_costs *costs, const rs_cell *cell);

/* The seed of the weights that a cell reads. */
uint64_t rs_weights_seed(const rs_experiment *experiment, const rs_cell *cell);

/* Whether two cells read the same weights. */
bool rs_same_weights(const rs_experiment *experiment, const rs_cell *a, const rs_cell *b);

/* Whether no cell before number `index` has the same weights: their training is counted with it. */
bool rs_is_first(const rs_experiment *experiment, const rs_cell *cells, size_t index);

/* The trainings that each cell (count,) is the first to need: left[i]. One that several checkpoints share, as they are
 * tuned from it, is counted once; `checkpoints` (NULL: nothing) holds what is done. RS_MEMORY. */
rs_status rs_costs_left(const rs_costs *costs, const rs_cell *cells, size_t count, const char *checkpoints,
                        rs_work_left *left, rs_err *err);

/* The parts of a plan that are of trainings and readings. */
rs_status rs_costs_plan(const rs_experiment *experiment, const rs_cell *cells, size_t count, const char *checkpoints,
                        rs_plan *plan, rs_err *err);

/* As rs_estimate_seconds. */
rs_status rs_costs_seconds(const rs_experiment *experiment, const rs_cell *cells, size_t count, const char *checkpoints,
                           double budget, double *seconds, rs_err *err);

#endif
