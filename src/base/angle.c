/* Angles: one product, its rounding error, one reduction (libm's, which is exact for doubles). */
#include "base/base.h"

#include <math.h>

void rs_cos_sin(double position, double omega, double *cosine, double *sine) {
  double angle = position * omega;
  double lost = fma(position, omega, -angle); /* position * omega == angle + lost exactly */
  double c, s;
  sincos(angle, &s, &c);
  /* cos and sin of angle + lost; |lost| <= 2^-22 for angles under 2^31, so cos(lost) = 1 - lost^2/2 to 1e-27. */
  double keep = 1 - 0.5 * lost * lost;
  *cosine = c * keep - s * lost;
  *sine = s * keep + c * lost;
}
