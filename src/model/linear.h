/* Linear layers. Private to the model layer; compiled for float and for double. */
#ifndef ROPESCOPE_MODEL_LINEAR_H
#define ROPESCOPE_MODEL_LINEAR_H

#include "context.h"
#include "real.h"

/* Each name is of two functions, one for each arithmetic. */
#define rs_linear RS_OF_REAL(rs_linear)
#define rs_linear_back RS_OF_REAL(rs_linear_back)

/* Rows of numbers: row r begins at data + r * step. */
typedef struct rs_rows {
  real *data;
  size_t step;
} rs_rows;

/* y (rows, outputs) = x (rows, inputs) W^T + b, plus y where `add`. */
void rs_linear(const rs_context *context, const rs_linear_place *place, size_t rows, rs_rows x, rs_rows y, bool add);

/* dx = dy W, plus dx where `add`; dx.data NULL: not wanted. Adds dy^T x and the sum of dy to `gradient`, which is
 * arranged as the weights are. */
void rs_linear_back(const rs_context *context, const rs_linear_place *place, size_t rows, rs_rows x, rs_rows dy,
                    rs_rows dx, bool add, real *gradient);

#endif
