/* Checkpoints as transformers. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_CHECKPOINT_H
#define ROPESCOPE_SWEEP_CHECKPOINT_H

#include "ropescope/sweep.h"

/* Where trained models are kept, and who is told of training. */
typedef struct rs_checkpoint_place {
  const char *folder; /* of their folders; NULL: nowhere */
  const rs_training_watch *watch;
} rs_checkpoint_place;

/* The task of the experiment, as this seed draws it. Release with rs_task_clear. */
rs_status rs_checkpoint_task(const rs_experiment *experiment, uint64_t seed, rs_task *task, rs_err *err);

/* The checkpoint of model number `model` before it is trained, with weights from `seed`; or that of its folder. */
rs_status rs_checkpoint_create(const rs_experiment *experiment, size_t model, uint64_t seed,
                               rs_transformer **transformer, rs_err *err);

/* The same, trained and tuned, or as an earlier run has left it: rs_training_obtain says how, and what it fails with.
 */
rs_status rs_checkpoint_obtain(const rs_experiment *experiment, size_t model, uint64_t seed,
                               const rs_checkpoint_place *place, rs_transformer **transformer, rs_err *err);

/* The fingerprint of its training, which all that are tuned from it share; "" where a folder holds what it is. */
rs_status rs_checkpoint_origin(const rs_experiment *experiment, size_t model, uint64_t seed, char hash[65],
                               rs_err *err);

#endif
