/* The loops of networks, by the file that holds them; net.c puts them into one table for each instruction set and real.
 * Private to the kernel layer. */
#ifndef ROPESCOPE_KERNEL_NET_H
#define ROPESCOPE_KERNEL_NET_H

#include "lanes.h"

#define NET(name) RS_OF_REAL(rs_network_##name)

/* product.c */
void NET(product)(const rs_product *product);
void NET(panels)(const void *x, size_t depth, size_t columns, void *out);

/* widen.c */
void NET(widen)(const void *numbers, rs_format format, size_t step, size_t count, void *out);

/* turn_over.c */
void NET(turn_over)(const void *x, size_t step, size_t rows, size_t columns, void *out, size_t out_step);

/* turn_rows.c */
void NET(turn_rows)(const rs_row_turn *turn, const void *x, size_t x_step, void *y, size_t y_step);

/* norm.c */
void NET(norm)(const rs_norm_call *call, void *y, size_t y_step);
void NET(norm_back)(const rs_norm_call *call, const void *dy, size_t dy_step, void *dx, size_t dx_step, void *dweight,
                    void *dbias);

/* curve.c */
void NET(curve)(const rs_curve_call *call, void *y, size_t y_step);
void NET(curve_back)(const rs_curve_call *call, const void *dy, size_t dy_step, void *dx, size_t dx_step);

/* soften.c */
void NET(soften)(const rs_soft_tile *tile, void *top, void *sum, void *shrink);
void NET(soften_back)(const rs_soft_tile *tile, const void *level, const void *dot, void *dp, size_t dp_step);
void NET(scale_rows)(void *x, size_t step, size_t rows, size_t columns, const void *factor);

/* cap.c */
void NET(cap_rows)(double cap, size_t rows, size_t columns, void *x, size_t step, void *slopes);

/* cross_entropy.c */
void NET(cross_entropy)(void *logits, size_t step, size_t rows, size_t classes, const int32_t *targets, double weight,
                        double *loss, int32_t *answer);

/* update.c */
void NET(add)(const void *x, size_t count, void *into);
double NET(squares)(const void *x, size_t count);
void NET(adam)(const rs_adam *adam, const void *gradient, size_t count, void *values, void *first, void *second);

#endif
