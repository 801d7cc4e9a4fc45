/* Parts of blocks, forwards and back. Private to the model layer; compiled for float and for double. */
#ifndef ROPESCOPE_MODEL_LAYERS_H
#define ROPESCOPE_MODEL_LAYERS_H

#include "work.h"

/* Each name is of two functions, one for each arithmetic. */
#define rs_norm_rows RS_OF_REAL(rs_norm_rows)
#define rs_norm_rows_back RS_OF_REAL(rs_norm_rows_back)
#define rs_experts_read RS_OF_REAL(rs_experts_read)
#define rs_rows_copy RS_OF_REAL(rs_rows_copy)
#define rs_stack_forward RS_OF_REAL(rs_stack_forward)
#define rs_stack_backward RS_OF_REAL(rs_stack_backward)

/* Norms of x (rows, parts, width), part by part: `x_step` numbers from row to row. What it gives, tightly packed, or x
 * itself where there is none. */
rs_rows rs_norm_rows(const real *values, const rs_norm *norm, rs_norm_place place, size_t rows, size_t parts,
                     size_t width, rs_rows x, const rs_norm_work *work);

/* Adds the gradient by x to dx, given that by what the norm gave; without a norm adds dy itself. */
void rs_norm_rows_back(const real *values, const rs_norm *norm, rs_norm_place place, size_t rows, size_t parts,
                       size_t width, rs_rows x, const rs_norm_work *work, rs_rows dy, rs_rows dx, real *gradient);

/* work->experts.mixed = what the experts say of x (rows, d), at most RS_PIECE rows. */
void rs_experts_read(const rs_context *context, const rs_feed_forward *shape, const rs_block_place *place, size_t rows,
                     rs_rows x, const rs_block_work *work);

/* to (rows, columns) = from. */
void rs_rows_copy(rs_rows from, size_t rows, size_t columns, rs_rows to);

/* Reads `rows` = sequences x length embeddings, which stand in stack->blocks[0].x, through stack->end blocks; the last
 * of all gives stack->last. `source`: the encoder's states (source rows, d) and how many a sequence; data NULL without.
 */
void rs_stack_forward(rs_work *w, const rs_stack *shape, const rs_stack_place *place, const rs_stack_context *context,
                      rs_stack_work *stack, size_t sequences, rs_rows source);

/* The way back: w->back.x holds the gradient by what the last block gave, and then that by the embeddings. Adds to
 * w->back.source that by the encoder's states. */
void rs_stack_backward(rs_work *w, const rs_stack *shape, const rs_stack_place *place, const rs_stack_context *context,
                       rs_stack_work *stack, size_t sequences, rs_rows source, real *gradient);

#endif
