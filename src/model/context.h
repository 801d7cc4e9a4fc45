/* A transformer at one length. Private to the model layer. */
#ifndef ROPESCOPE_MODEL_CONTEXT_H
#define ROPESCOPE_MODEL_CONTEXT_H

#include "attend.h"
#include "places.h"

/* What one stack of blocks reads. */
typedef struct rs_stack_context {
  size_t length;           /* of the sequences it reads */
  rs_encoding **encodings; /* (recipe_count,); NULL: the model has no such stack */
  size_t *attend;          /* (blocks,) the attention of each block, among the context's */
  size_t *cross;           /* (blocks,) that to the encoder; RS_NOWHERE without */
  double *added;           /* (length, d) on top of embeddings; NULL: nothing */
} rs_stack_context;

/* One attention, of all blocks that have the same. */
typedef struct rs_context_attend {
  rs_attend *attend;
  rs_attend_shape shape;
  size_t recipe; /* which it reads; RS_NOWHERE: none */
} rs_context_attend;

struct rs_context {
  const rs_transformer *transformer;
  rs_recipe *recipes; /* (recipe_count,) as they are here; copies */
  rs_stack_context encoder, decoder;
  void *turned; /* (transformer->size,) matrices in panels of (inputs, outputs), where they stand; NULL: they stay in
                   their file */
  rs_context_attend *attends;
  size_t attend_count, attend_capacity;
};

/* The recipe whose embedding a stack adds: its first block's. */
size_t rs_stack_recipe(const rs_stack *stack);

/* Whether gradients by all that the context's recipes learn have a place among the model's: RS_UNSUPPORTED where they
 * learn what the model has not. */
rs_status rs_context_trains(const rs_context *context, rs_err *err);

#endif
