/* Functions in plain arithmetic: the C library's exp2, hypot and lgamma_r (glibc 2.36) have other bits on aarch64,
 * where it is compiled with fused multiply-adds, than on x86-64, where these three are not, and so have GSL's (2.7).
 * The C library's sin, cos, exp, log, pow, tanh, atan2 and their like have the same on both, wherever an x86-64 has
 * AVX2 and FMA, and GSL's normal distribution has. */
#include "base/base.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* The polynomial of the kernels' 2^f (lanes.h, in doubles), |f| <= 1/2, with what rounds most kept: the first term's
 * product, of half as long factors and so exact, and its sum with 1. */
static double small_power_of_2(double f) {
  static const double coefficients[] = {4.078071929588336665e-10, 7.07257041281442351e-9, 1.018064765923413889e-7,
                                        1.321544267532982214e-6,  1.52527273851938682e-5, 1.540353044157213033e-4,
                                        1.333355815343996475e-3,  9.61812910760700238e-3, 5.550410866479039455e-2,
                                        2.402265069591009801e-1};
  static const double first = 0x1.62e43p-1, first_rest = -1.904653912575e-09; /* together 0.6931471805599456968 */
  static const double cut = 0x1.8p26; /* what is added to it loses its low half */
  double p = 0, half = f + cut - cut, term = half * first, sum = 1 + term;
  for (size_t i = 0; i < RS_COUNT(coefficients); i++) p = p * f + coefficients[i];
  return sum + (term - (sum - 1) + ((f - half) * first + f * first_rest + f * f * p));
}

double rs_exp2(double x) {
  static const double endless = 1100; /* 2^x is infinite from 1024 on, 0 below -1075 */
  if (!(fabs(x) < endless)) return x > 0 ? INFINITY : x < 0 ? 0 : x;
  double whole = nearbyint(x);
  return ldexp(small_power_of_2(x - whole), (int)whole);
}

double rs_hypot(double x, double y) {
  double most = fmax(fabs(x), fabs(y)), unit = most > 0x1p500 ? 0x1p600 : most < 0x1p-400 ? 0x1p-600 : 1;
  if (isinf(most)) return INFINITY;
  x /= unit;
  y /= unit;
  return unit * sqrt(x * x + y * y);
}

/* From x = 10 on Stirling's series (Abramowitz and Stegun 6.1.41), whose first term left out is below 3e-17; below it
 * Gamma(x + 1) = x Gamma(x) leads there. At whole x the factorial itself, as far as it is a double: none where it is
 * 1. */
double rs_log_gamma(double x) {
  static const double coefficients[] = {1.0 / 156,  -691.0 / 360360, 1.0 / 1188, -1.0 / 1680,
                                        1.0 / 1260, -1.0 / 360,      1.0 / 12};
  double product = 1, sum = 0;
  if (x <= 19 && x == nearbyint(x)) {
    while (x > 2) product *= --x;
    return log(product);
  }
  for (; x < 10; x++) product *= x;
  for (size_t i = 0; i < RS_COUNT(coefficients); i++) sum = sum / (x * x) + coefficients[i];
  return (x - 0.5) * (log(x) - 1) + (log(2 * M_PI) - 1) / 2 + sum / x - log(product);
}

/* Euler's constant + ln x + sum over k of (-x^2)^k / (2k (2k)!): Abramowitz and Stegun 5.2.16. */
static double cosine_integral_series(double x) {
  static const double euler = 0.57721566490153286061;
  double sum = 0, term = 1;
  for (double n = 2; fabs(term) > 1e-18; n += 2) {
    term *= -x * x / ((n - 1) * n);
    sum += term / n;
  }
  return euler + log(x) + sum;
}

/* The real part of -E1(ix), E1(z) e^z = 1 / (z + 1 - 1 / (z + 3 - 4 / (z + 5 - ...))): Abramowitz and Stegun 5.1.22 in
 * its even form, from the end. */
static double cosine_integral_fraction(double x) {
  enum { LEVELS = 100 };
  double real = 2 * LEVELS + 1, imaginary = x;
  for (double k = LEVELS; k > 0; k--) {
    double share = k * k / (real * real + imaginary * imaginary);
    real = 2 * k - 1 - share * real;
    imaginary = x + share * imaginary;
  }
  return (sin(x) * imaginary - cos(x) * real) / (real * real + imaginary * imaginary);
}

double rs_cosine_integral(double x) {
  return x < 4 ? cosine_integral_series(x) : cosine_integral_fraction(x);
}

/* Abramowitz and Stegun 26.2.23, good to 4.5e-4, then two of Halley's steps, each of which leaves about the cube. */
double rs_normal_quantile(double share) {
  if (share > 0.5) return -rs_normal_quantile(1 - share);
  double t = sqrt(-2 * log(share));
  double x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (size_t step = 0; step < 2; step++) {
    double off = (gsl_cdf_ugaussian_P(x) - share) * sqrt(2 * M_PI) * exp(x * x / 2);
    x -= off / (1 + x * off / 2);
  }
  return x;
}
