/* Training that is kept in a folder: found done, gone on with, or begun. */
#ifndef ROPESCOPE_TRAIN_TRAINING_H
#define ROPESCOPE_TRAIN_TRAINING_H

#include "train/train.h"

/* A model that is wanted. All is borrowed. */
typedef struct rs_training_job {
  const rs_trained *trained;     /* what determines it; steps, weights and arithmetic are not read */
  const rs_task *task;           /* prepared as trained->task says, from its seed */
  const rs_transformer *origin;  /* the model of trained->origin, whose weights it starts with; NULL: drawn */
  const rs_transformer *teacher; /* the model of trained->teacher; NULL where that names none, or to find it alone */
  const char *checkpoints;       /* the folder of such folders, made where missing; NULL: nothing is kept */
  const rs_training_watch *watch;
} rs_training_job;

/* The model, from the folder CHECKPOINTS/METHOD-TASK-HASH where its training is done, else trained: from where it was
 * left, or from the start. Processes that want the same model wait for each other. RS_STOPPED where the watch says so;
 * RS_DOMAIN where training diverges; RS_INPUT for a folder that holds something else or was changed; RS_IO. In these
 * cases the state of the last good step stays in the folder. */
rs_status rs_training_obtain(const rs_training_job *job, rs_transformer **transformer, rs_err *err);

/* The same where its training is done; else, and where nothing is kept, *transformer is NULL. */
rs_status rs_training_find(const rs_training_job *job, rs_transformer **transformer, rs_err *err);

/* ---- the folder -------------------------------------------------------------------------------------------------- */

#define RS_TRAINING_STATE "training.safetensors"
#define RS_TRAINING_CSV "training.csv"

typedef struct rs_training_folder {
  rs_arena arena; /* of the texts */
  char *path;
  char *config, *weights, *state, *log; /* paths of its files */
  char hash[65];                        /* the fingerprint of the model that belongs there */
  int lock;                             /* an open directory; -1: not held */
} rs_training_folder;

/* Where the model belongs. Release with rs_training_folder_clear. RS_MEMORY. */
rs_status rs_training_folder_make(const rs_trained *trained, const char *checkpoints, rs_training_folder *folder,
                                  rs_err *err);
void rs_training_folder_clear(rs_training_folder *folder);

/* What its config.json says; *there is false where it has none. RS_INPUT where that is not of this model. */
rs_status rs_training_folder_read(const rs_training_folder *folder, rs_trained *trained, bool *there, rs_err *err);

#endif
