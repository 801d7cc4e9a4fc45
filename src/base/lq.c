/* Householder's LQ: the reflection of row k, 1 - scale v v^T, makes all but one of what is right of the diagonal 0. v
 * is 1 on the diagonal, where L stands, and its rest is kept in the row. */
#include "factors.h"

#include <math.h>
#include <string.h>

/* Writes v's rest and L's element over x (count,); the scale is 0 where there is nothing to reflect. */
static double make_reflection(double *x, size_t count) {
  double rest = sqrt(rs_dot(x + 1, x + 1, count - 1));
  if (!(rest > 0)) return 0;
  double first = x[0], reflected = -copysign(rs_hypot(first, rest), first);
  for (size_t i = 1; i < count; i++) x[i] /= first - reflected;
  x[0] = reflected;
  return (reflected - first) / reflected;
}

static void reflect(const double *v, double scale, size_t count, double *x) {
  double share = scale * (x[0] + rs_dot(v + 1, x + 1, count - 1));
  x[0] -= share;
  for (size_t i = 1; i < count; i++) x[i] -= share * v[i];
}

void rs_lq(double *a, size_t rows, size_t columns, double *scales) {
  for (size_t k = 0; k < rows; k++) {
    double *v = a + k * columns + k;
    scales[k] = make_reflection(v, columns - k);
    for (size_t below = 1; below < rows - k; below++) reflect(v, scales[k], columns - k, v + below * columns);
  }
}

void rs_lq_turn(const double *lq, size_t rows, size_t columns, const double *scales, double *x) {
  for (size_t k = 0; k < rows; k++) reflect(lq + k * columns + k, scales[k], columns - k, x + k);
}

/* The reflections of later rows leave what is 0 from `row` + 1 on as it is. */
void rs_lq_row(const double *lq, size_t columns, const double *scales, size_t row, double *out) {
  memset(out, 0, columns * sizeof *out);
  out[row] = 1;
  for (size_t k = row + 1; k-- > 0;) reflect(lq + k * columns + k, scales[k], columns - k, out + k);
}
