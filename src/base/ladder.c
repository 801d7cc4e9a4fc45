/* The geometric ladder of frequencies, and what can be read off one. */
#include "base/base.h"

#include <math.h>
#include <stdlib.h>

double rs_ladder_at(double theta, double dims, size_t pair) {
  return pow(theta, -2.0 * (double)pair / dims);
}

void rs_ladder(double theta, double dims, size_t pairs, double *omega) {
  for (size_t j = 0; j < pairs; j++) omega[j] = rs_ladder_at(theta, dims, j);
}

size_t rs_critical_pair(const double *trained, size_t pairs, double train_length) {
  size_t pair = 0;
  while (pair < pairs && train_length * trained[pair] >= 2 * M_PI) pair++;
  return pair;
}

double rs_angle_range(double angle) {
  static const double rounding = 1e-12; /* relative: of the products and quotients of doubles that make an angle */
  return angle < 2 * M_PI ? angle * (1 + rounding) : INFINITY;
}

double rs_ladder_base(const double *omega, size_t pairs, double slack) {
  if (pairs < 2 || !(omega[pairs - 1] > 0)) return NAN;
  double steps = (double)(pairs - 1), fall = log(omega[0] / omega[pairs - 1]);
  for (size_t j = 0; j < pairs; j++)
    if (!(fabs(log(omega[0] / omega[j]) - fall * (double)j / steps) < slack)) return NAN;
  return exp(fall * (double)pairs / steps); /* R/(R-2) = pairs / steps */
}

double rs_base_ntk(double theta, size_t pairs, double factor) {
  return theta * pow(factor, (double)pairs / (double)(pairs - 1));
}

double rs_factor_ntk(double theta, size_t pairs, double base) {
  return pow(base / theta, (double)(pairs - 1) / (double)pairs);
}

double rs_yarn_magnitude(double mscale, double s) {
  return s > 1 ? 0.1 * mscale * log(s) + 1 : 1;
}

double rs_longrope_magnitude(double s, double train_length) {
  return s > 1 ? sqrt(1 + log(s) / log(train_length)) : 1;
}

/* Log-spaced integer edges, so that 10^6 distances fit in some 70 bins. */

rs_status rs_log_edges(size_t length, size_t per_octave, size_t **edges, size_t *count, rs_err *err) {
  void *list = NULL;
  size_t capacity = 0, used = 0;
  for (size_t step = 0, edge = 0; edge < length; step++) {
    /* Step 0 is distance 0 alone; after it 2^(step / per_octave), rounded down, each integer once. The slack keeps a
     * power of two, which exp2 may leave an ulp short, from falling to the integer below. */
    edge = step == 0 ? 0 : (size_t)floor(exp2((double)(step - 1) / (double)per_octave) + 1e-9);
    if (edge > length) edge = length;
    if (used > 0 && edge == ((size_t *)list)[used - 1]) continue;
    if (rs_grow(&list, &capacity, used + 2, sizeof **edges, err) != RS_OK) {
      free(list);
      return RS_MEMORY;
    }
    ((size_t *)list)[used++] = edge;
  }
  *edges = list;
  *count = used - 1;
  return RS_OK;
}

/* That of distance 0 and those of the steps up to the one that reaches the length. */
size_t rs_log_bins(size_t length, size_t per_octave) {
  size_t steps = (size_t)((double)per_octave * log2((double)length));
  return length < steps + 2 ? length : steps + 2;
}
