/* The loops of networks, by the file that holds them; net.c puts them into one table for each instruction set and real.
 * Private to the kernel layer. */
#ifndef ROPESCOPE_KERNEL_NET_H
#define ROPESCOPE_KERNEL_NET_H

#include "lanes.h"

#define NET(name) RS_OF_REAL(rs_network_##name)

/* product.c */
void NET(product)(const rs_product *product);
void NET(panels)(const void *x, size_t depth, size_t columns, void *out);
void NET(widen)(const void *numbers, rs_format format, size_t step, size_t count, void *out);
void NET(turn_over)(const void *x, size_t step, size_t rows, size_t columns, void *out, size_t out_step);
void NET(turn_rows)(const rs_row_turn *turn, const void *x, size_t x_step, void *y, size_t y_step);

/* softmax.c */
void NET(soften)(const rs_soft_tile *tile, void *top, void *sum, void *shrink);
void NET(soften_back)(const rs_soft_tile *tile, const void *level, const void *dot, void *dp, size_t dp_step);
void NET(scale_rows)(void *x, size_t step, size_t rows, size_t columns, const void *factor);
void NET(cap_rows)(double cap, size_t rows, size_t columns, void *x, size_t step, void *slopes);
void NET(cross_entropy)(void *logits, size_t step, size_t rows, size_t classes, const int32_t *targets, double weight,
                        double *loss, int32_t *answer);

#endif
