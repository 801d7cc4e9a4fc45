/* Checkpoints as transformers. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_CHECKPOINT_H
#define ROPESCOPE_SWEEP_CHECKPOINT_H

#include "ropescope/sweep.h"

/* Who is told of each step of a training. */
typedef struct rs_training_watch {
  void (*step)(void *context, const rs_training_report *report);
  void *context;
} rs_training_watch;

/* The task of the experiment, as this seed draws it. Release with rs_task_clear. */
rs_status rs_checkpoint_task(const rs_experiment *experiment, uint64_t seed, rs_task *task, rs_err *err);

/* The checkpoint of model number `model` before it is trained, with weights from `seed`. */
rs_status rs_checkpoint_create(const rs_experiment *experiment, size_t model, uint64_t seed,
                               rs_transformer **transformer, rs_err *err);

/* The same, trained and tuned. RS_DOMAIN where training diverges, or where the task or a method is undefined at the
 * length it is trained at. */
rs_status rs_checkpoint_obtain(const rs_experiment *experiment, size_t model, uint64_t seed,
                               const rs_training_watch *watch, rs_transformer **transformer, rs_err *err);

#endif
