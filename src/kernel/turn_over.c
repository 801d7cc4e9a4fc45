/* Matrices turned over. */
#include "net.h"

void NET(turn_over)(const void *x, size_t step, size_t rows, size_t columns, void *out, size_t out_step) {
  const real *from = x;
  real *to = out;
  for (size_t row = 0; row < rows; row++)
    for (size_t column = 0; column < columns; column++) to[column * out_step + row] = from[row * step + column];
}
