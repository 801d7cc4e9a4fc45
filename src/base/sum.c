/* Sums of products, and moments of samples. */
#include "base/base.h"

#include <math.h>

void rs_moments_add(rs_moments *moments, double value) {
  moments->count += 1;
  double shift = value - moments->mean;
  moments->mean += shift / moments->count;
  moments->squares += shift * (value - moments->mean);
}

double rs_moments_mean(const rs_moments *moments) {
  return moments->count > 0 ? moments->mean : NAN;
}

double rs_moments_sd(const rs_moments *moments) {
  return moments->count > 1 ? sqrt(moments->squares / (moments->count - 1)) : NAN;
}

double rs_moments_se(const rs_moments *moments) {
  return rs_moments_sd(moments) / sqrt(moments->count);
}

double rs_dot(const double *a, const double *b, size_t count) {
  double parts[8] = {0}; /* independent chains, so that the sum is not one long wait */
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (size_t k = 0; k < 8; k++) parts[k] += a[i + k] * b[i + k];
  double sum = ((parts[0] + parts[4]) + (parts[1] + parts[5])) + ((parts[2] + parts[6]) + (parts[3] + parts[7]));
  for (; i < count; i++) sum += a[i] * b[i];
  return sum;
}
