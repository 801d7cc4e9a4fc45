/* Cells that read checkpoints. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_TRAINED_H
#define ROPESCOPE_SWEEP_TRAINED_H

#include "ledger.h"

/* Who is told of what is done. */
typedef struct rs_trained_watch {
  /* `work` of the run was done, `cells` of it are finished. From any thread, one at a time in each run. */
  void (*advance)(void *context, double work, size_t cells);
  bool (*stop)(void *context); /* whether the run is to end where it is; NULL: never */
  void *context;
  const char *checkpoints;           /* where trained models are kept; NULL: nowhere */
  const rs_training_watch *training; /* NULL: nobody */
} rs_trained_watch;

/* Trains what the cells that are to be done read, one checkpoint and seed after the other, and reads every cell of it;
 * those that are read together are recorded, and on the disk, before the next. What is undefined for a cell becomes its
 * status; a training that diverges fails the cells that read it. RS_INTERNAL, RS_MEMORY, RS_IO, RS_STOPPED, and what a
 * task fails with. */
rs_status rs_trained_run(rs_ledger *ledger, const rs_trained_watch *watch, rs_err *err);

/* Trains what a cell reads, as all ranks of the team do, and keeps it in watch->checkpoints, which is needed; nothing
 * is tuned. What the training fails with is left to whoever reads it. RS_INTERNAL, RS_MEMORY, RS_IO, RS_STOPPED. */
rs_status rs_trained_join(rs_ledger *ledger, const rs_trained_watch *watch, size_t cell, rs_team *team, rs_err *err);

/* Gives each cell that is to be done the flops of its readings as its weight in the progress; *work gets their sum, and
 * that of the trainings which are not done in `checkpoints`. */
rs_status rs_trained_weigh(rs_ledger *ledger, const char *checkpoints, double *work, rs_err *err);

#endif
