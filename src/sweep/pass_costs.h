/* What a transformer's pass takes, from its shape alone. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_PASS_COSTS_H
#define ROPESCOPE_SWEEP_PASS_COSTS_H

#include "model/model.h"

/* Flops of the first `count` blocks of a stack over one sequence of so many tokens; `source`: tokens of the encoder
 * that they read beside it. */
double rs_stack_flops(const rs_stack *stack, size_t count, double width, double tokens, double source);

/* Flops of a pass forward over one sequence. */
double rs_pass_flops(const rs_shape *shape, const rs_example_shape *example);

/* Numbers that a pass over `rows` tokens of the first `count` blocks keeps in memory: those of the widest block, or, in
 * training, of all. */
double rs_stack_numbers(const rs_stack *stack, size_t count, double width, double rows, bool training);

/* Bytes of the weights that are in memory; a mapped file, which the system may let go, is not. */
double rs_weight_bytes(const rs_transformer *transformer);

#endif
