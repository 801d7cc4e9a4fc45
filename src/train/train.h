/* train/train.h: the checkpoints that an experiment trains: found in their folders, gone on with, or begun. */
#ifndef ROPESCOPE_TRAIN_H
#define ROPESCOPE_TRAIN_H

#include "config/config.h"

/* ---- watching ---------------------------------------------------------------------------------------------------- */

/* What a training of a run is at. */
typedef struct rs_training_report {
  const char *checkpoint; /* its name; borrowed */
  uint64_t seed;          /* of its weights */
  bool tuning;            /* at the longer length */
  size_t step, steps;
  double loss; /* of this step, nats */
  double tokens_per_second;
} rs_training_report;

/* Who is told of training, from the calling thread. Each function may be NULL. */
typedef struct rs_training_watch {
  void (*wait)(void *context, const char *folder);               /* another process trains the model that is wanted */
  bool (*step)(void *context, const rs_training_report *report); /* false: stop behind this step */
  /* A model is at hand, read from its folder or just trained: `arithmetic` is what computed it, "v3; v4". */
  void (*ready)(void *context, const char *folder, const char *arithmetic);
  void *context;
  double save_interval; /* seconds from one state on the disk to the next; 0: 30 */
} rs_training_watch;

/* Tells the watch, which may be NULL, that the model of a folder is at hand. */
void rs_training_ready(const rs_training_watch *watch, const char *folder, const char *arithmetic);

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

/* Where trained models are kept, and who is told of training. */
typedef struct rs_checkpoint_place {
  const char *folder; /* of their folders; NULL: nowhere */
  const rs_training_watch *watch;
} rs_checkpoint_place;

/* The trainings of a checkpoint: of the model, and of that model further. */
typedef enum rs_checkpoint_stage { RS_STAGE_TRAINING, RS_STAGE_TUNING, RS_STAGES } rs_checkpoint_stage;

/* One of them. */
typedef struct rs_stage_state {
  bool wanted;   /* what is there already is not, nor the training of what is tuned already */
  bool there;    /* done by an earlier run */
  char hash[65]; /* the fingerprint of what it gives, where it is one or the other */
} rs_stage_state;

/* Which weights of an experiment's: those of its model number `model`, trained from a seed. */
typedef struct rs_weights_in {
  size_t model;
  bool untuned; /* as they were before they were tuned */
  uint64_t seed;
} rs_weights_in;

/* What it still takes to obtain a checkpoint, of which `folder` may hold parts (NULL: none). What cannot be read there
 * counts as missing: whoever obtains it is told. RS_MEMORY, and what rs_checkpoint_create fails with. */
rs_status rs_checkpoint_stages(const rs_experiment *experiment, const rs_weights_in *in, const char *folder,
                               rs_stage_state stages[RS_STAGES], rs_err *err);

/* The task of the experiment, as this seed draws it, and as all lengths score it. Release with rs_task_clear. */
rs_status rs_checkpoint_task(const rs_experiment *experiment, uint64_t seed, rs_task *task, rs_err *err);

/* The transformer of a folder: a published one in numbers of `format`; one that a run has trained in its own. RS_INPUT
 * where the folder does not hold it whole, RS_UNSUPPORTED, RS_IO, RS_MEMORY. */
rs_status rs_folder_load(const char *folder, rs_format format, rs_transformer **transformer, rs_err *err);

/* The SHA-256 of what stands in such a folder: of its weights, and of its config.json; of a GGUF file, its own.
 * RS_IO, RS_INPUT, RS_MEMORY. */
rs_status rs_folder_fingerprint(const char *folder, char hash[65], rs_err *err);

/* The checkpoint of model number `model` before it is trained, all of its weights 0; or that of its folder. */
rs_status rs_checkpoint_create(const rs_experiment *experiment, size_t model, rs_transformer **transformer,
                               rs_err *err);

/* The same, trained and tuned, or as an earlier run has left it: rs_training_obtain says how, and what it fails with.
 */
rs_status rs_checkpoint_obtain(const rs_experiment *experiment, const rs_weights_in *in,
                               const rs_checkpoint_place *place, rs_transformer **transformer, rs_err *err);

#endif
