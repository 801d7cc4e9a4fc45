/* Linear layers, through CBLAS. Private to the model layer; compiled for float and for double. */
#ifndef ROPESCOPE_MODEL_LINEAR_H
#define ROPESCOPE_MODEL_LINEAR_H

#include "places.h"
#include "real.h"

/* Rows of numbers: row r begins at data + r * step. */
typedef struct rs_rows {
  real *data;
  size_t step;
} rs_rows;

/* y (rows, outputs) = x (rows, inputs) W^T + b, plus y where `add`. `values` are the transformer's. */
void RS_OF_REAL(rs_linear)(const real *values, const rs_linear_place *place, size_t rows, rs_rows x, rs_rows y,
                           bool add);

/* dx = dy W, plus dx where `add`; dx.data NULL: not wanted. Adds dy^T x and the sum of dy to `gradient`, which is
 * arranged as `values` are. */
void RS_OF_REAL(rs_linear_back)(const real *values, const rs_linear_place *place, size_t rows, rs_rows x, rs_rows dy,
                                rs_rows dx, bool add, real *gradient);

#endif
