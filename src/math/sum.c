/* Moments of samples. */
#include "ropescope/math.h"

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
