/* Sequences of a task, side by side. Private to the model layer. */
#ifndef ROPESCOPE_MODEL_EXAMPLES_H
#define ROPESCOPE_MODEL_EXAMPLES_H

#include "model/model.h"

typedef struct rs_examples {
  const rs_task *task;
  rs_example_shape shape;
  size_t sequences, answers; /* A: targets of a sequence */
  int32_t *tokens, *source;  /* (sequences, L), (sequences, source_length); NULL where there are none */
  float *patches;            /* (sequences, L, patch_numbers) */
  int32_t *targets;          /* (sequences, L), of which the first A of each count */
  uint8_t *parts;            /* (sequences, L) */
  float *depths;             /* (sequences, L) */
  size_t *sought;            /* (sequences, L); NULL unless somebody wants it */
} rs_examples;

/* Room for so many. RS_DOMAIN where the task has no such length. Release with rs_examples_clear. */
rs_status rs_examples_make(const rs_task *task, size_t length, size_t sequences, rs_examples *examples, rs_err *err);
void rs_examples_clear(rs_examples *examples);

/* Draws number `index` of the split into place `place`. Threads may fill different places. */
void rs_examples_draw(const rs_examples *examples, rs_split split, uint64_t index, size_t place);

/* Places [first, first + count) as a batch, whose targets go to `targets` (count, A). */
rs_batch rs_examples_batch(const rs_examples *examples, size_t first, size_t count, int32_t *targets);

/* RS_INPUT where a model of this shape cannot read the task's sequences. */
rs_status rs_examples_fit(const rs_examples *examples, const rs_shape *shape, rs_err *err);

#endif
