/* The geometric ladder of frequencies, and what can be read off one. */
#include "base/base.h"

#include <math.h>

void rs_ladder(double theta, double dims, size_t pairs, double *omega) {
  for (size_t j = 0; j < pairs; j++) omega[j] = pow(theta, -2.0 * (double)j / dims);
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
