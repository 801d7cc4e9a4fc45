/* The transformers that an experiment reads. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_CHECKPOINTS_H
#define ROPESCOPE_SWEEP_CHECKPOINTS_H

#include "ropescope/sweep.h"

/* Where trained models are kept, and who is told of training. */
typedef struct rs_checkpoint_place {
  const char *checkpoints; /* NULL: nowhere */
  const rs_training_watch *watch;
} rs_checkpoint_place;

/* The transformer of a model of the experiment, for a cell of this seed: its folder's, or one that is trained (and
 * tuned) as rs_training_obtain does. RS_STOPPED ends the run; other failures are the cells'. */
rs_status rs_checkpoint_obtain(const rs_experiment *experiment, size_t model, uint64_t seed,
                               const rs_checkpoint_place *place, rs_transformer **transformer, rs_err *err);

/* The transformer of a folder, as it stands there: weights that were changed since are what is wanted. */
rs_status rs_checkpoint_read(const char *folder, rs_transformer **transformer, rs_err *err);

#endif
