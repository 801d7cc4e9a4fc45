/* Rows of attention of cells that read checkpoints. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_MODEL_ROWS_H
#define ROPESCOPE_SWEEP_MODEL_ROWS_H

#include "content.h"

/* Cells of one checkpoint, method, length and seed, and what they are read from. All is borrowed. */
typedef struct rs_model_rows {
  const rs_experiment *experiment;
  const rs_transformer *transformer;
  const rs_context *context; /* under the cells' method */
  const rs_task *task;
  size_t length; /* of the task */
  rs_cell_state *const *cells;
  size_t count;
} rs_model_rows;

/* Shows the rows of each cell's source to its metrics, and finishes them: those of a checkpoint's own heads sequence by
 * sequence, of its evaluation split; simulated ones once, as its first block would see them. The same bits for any
 * number of threads. What fails is the cells' own. */
void rs_model_rows_observe(const rs_model_rows *rows);

#endif
