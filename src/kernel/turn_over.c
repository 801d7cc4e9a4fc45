/* Matrices turned over, a square of WIDTH x WIDTH numbers at a time in registers. */
#include "net.h"

/* Interleaving row i with row i + WIDTH / 2 moves the highest bit of a number's row to the lowest of its column, and
 * each bit of its column one up: after log2(WIDTH) rounds rows are columns. */
RS_INLINE void turn_square(vec square[WIDTH]) {
#pragma GCC unroll 4
  for (size_t round = 1; round < WIDTH; round *= 2) {
    vec next[WIDTH];
#pragma GCC unroll 8
    for (size_t i = 0; i < WIDTH / 2; i++) interleave(square[i], square[i + WIDTH / 2], &next[2 * i], &next[2 * i + 1]);
#pragma GCC unroll 16
    for (size_t i = 0; i < WIDTH; i++) square[i] = next[i];
  }
}

/* The square at the edge has fewer rows or columns: others read as zeros, and are not written. */
RS_INLINE void turn_part(const real *from, size_t step, size_t rows, size_t columns, real *to, size_t to_step) {
  vec square[WIDTH];
#pragma GCC unroll 16
  for (size_t i = 0; i < WIDTH; i++) square[i] = i < rows ? load_first(from + i * step, columns) : all(0);
  turn_square(square);
#pragma GCC unroll 16
  for (size_t i = 0; i < WIDTH; i++)
    if (i < columns) store_first(to + i * to_step, square[i], rows);
}

void NET(turn_over)(const void *x, size_t step, size_t rows, size_t columns, void *out, size_t out_step) {
  for (size_t row = 0; row < rows; row += WIDTH)
    for (size_t column = 0; column < columns; column += WIDTH) {
      const real *from = (const real *)x + row * step + column;
      real *to = (real *)out + column * out_step + row;
      if (rows - row >= WIDTH && columns - column >= WIDTH)
        turn_part(from, step, WIDTH, WIDTH, to, out_step);
      else
        turn_part(from, step, rows - row, columns - column, to, out_step);
    }
}
