/* Cells that read checkpoints. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_TRAINED_H
#define ROPESCOPE_SWEEP_TRAINED_H

#include "run.h"

/* Who is told of what is done. */
typedef struct rs_trained_watch {
  /* `work` of the run was done, `cells` of it are finished. */
  void (*advance)(void *context, double work, size_t cells);
  void *context;
  const char *checkpoints;           /* where trained models are kept; NULL: nowhere */
  const rs_training_watch *training; /* NULL: nobody */
} rs_trained_watch;

/* Trains what the cells of `states`, all of the experiment's, read, one checkpoint and seed after the other, and reads
 * every cell of it. What is undefined for a cell becomes its status; a training that diverges fails the cells that read
 * it. RS_INTERNAL, RS_MEMORY, and what a task fails with. */
rs_status rs_trained_run(const rs_experiment *experiment, rs_cell_state *states, const rs_trained_watch *watch,
                         rs_err *err);

/* Gives each cell the flops of its readings, and of the trainings that are not done in `checkpoints`, as its weights in
 * the progress; *work gets their sum. */
rs_status rs_trained_weigh(const rs_experiment *experiment, const char *checkpoints, rs_cell_state *states,
                           double *work, rs_err *err);

#endif
