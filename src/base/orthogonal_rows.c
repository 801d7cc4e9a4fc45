/* One-sided Jacobi: two rows at a time are turned in their plane so that they are orthogonal, in rounds over all pairs,
 * until a round finds none to turn. */
#include "factors.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 60 }; /* far above what is needed: some ten */

static void turn(double cosine, double sine, size_t count, double *a, double *b) {
  for (size_t i = 0; i < count; i++) {
    double kept = a[i];
    a[i] = cosine * kept - sine * b[i];
    b[i] = sine * kept + cosine * b[i];
  }
}

/* The smaller of the two angles that make rows p and q orthogonal; false where they are, as far as a sum can tell. */
static bool turn_pair(double *a, double *turned, size_t side, size_t p, size_t q) {
  double *row_p = a + p * side, *row_q = a + q * side;
  double pp = rs_dot(row_p, row_p, side), qq = rs_dot(row_q, row_q, side), pq = rs_dot(row_p, row_q, side);
  if (!(fabs(pq) > DBL_EPSILON * sqrt((double)side) * sqrt(pp) * sqrt(qq))) return false;
  double cotangent = (qq - pp) / (2 * pq); /* of twice the angle */
  double tangent = copysign(1 / (fabs(cotangent) + rs_hypot(1, cotangent)), cotangent);
  double cosine = 1 / sqrt(1 + tangent * tangent), sine = cosine * tangent;
  turn(cosine, sine, side, row_p, row_q);
  turn(cosine, sine, side, turned + p * side, turned + q * side);
  return true;
}

void rs_orthogonal_rows(double *a, size_t side, double *turned) {
  bool turns = true;
  memset(turned, 0, side * side * sizeof *turned);
  for (size_t i = 0; i < side; i++) turned[i * side + i] = 1;
  for (size_t round = 0; round < ROUNDS && turns; round++) {
    turns = false;
    for (size_t p = 0; p < side; p++)
      for (size_t q = p + 1; q < side; q++) turns |= turn_pair(a, turned, side, p, q);
  }
}
