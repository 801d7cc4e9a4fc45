/* What kinds with one half of their pairs for the column of a patch and one for its row have in common. Private to the
 * encoding layer. */
#ifndef ROPESCOPE_ENCODING_AXIAL_H
#define ROPESCOPE_ENCODING_AXIAL_H

#include "kinds.h"

typedef enum rs_axis_order { RS_COLUMN_FIRST, RS_ROW_FIRST, RS_AXIS_ORDERS } rs_axis_order;
extern const char *const rs_axis_order_words[RS_AXIS_ORDERS + 1]; /* "wh", "hw"; ends at NULL */

/* The same for all of them: as many pairs for rows as for columns, and no sections. */
rs_status rs_axial_check(const rs_binding *binding, const rs_model *model, rs_err *err);

/* theta^(-k/n) for the k-th of n pairs of each axis, n = R/4. */
void rs_axial_ladders(const rs_freq_in *in, double *omega);

/* The axis of a pair: 1 h, 2 w. */
size_t rs_axial_axis(rs_axis_order order, size_t pair, size_t pairs);

#endif
