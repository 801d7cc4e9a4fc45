/* Functions that are ours so that their bits are: accuracy beside long doubles, ends of the range, and the bits. */
#include "../golden.h"
#include "base/base.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_expint.h>

enum { COUNT = 200000 };

/* By how many units of 2^-53 `got` misses, relative. */
static double roundings(double got, long double expected) {
  return (double)(fabsl((long double)got - expected) / expected * 0x1p53L);
}

Test(same_bits, exp2__random_powers__as_good_as_a_libm) {
  uint64_t state = 5;
  for (size_t i = 0; i < COUNT; i++) {
    double reach = i % 2 == 0 ? 1 : 1021, x = draw_real(&state, -reach, reach), off = roundings(rs_exp2(x), exp2l(x));
    cr_assert_leq(off, 1.25, "2^%.17g: %g roundings", x, off);
  }
}

Test(same_bits, exp2__whole_powers_and_ends__exact) {
  for (int x = -1074; x < 1024; x++) cr_assert_eq(rs_exp2(x), ldexp(1, x), "2^%d: got %.17g", x, rs_exp2(x));
  static const struct {
    double x, expected;
  } cases[] = {{1024, INFINITY}, {1e300, INFINITY}, {INFINITY, INFINITY}, {-1076, 0}, {-1e300, 0}, {-INFINITY, 0}};
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    cr_assert_eq(rs_exp2(cases[i].x), cases[i].expected, "2^%g: got %g", cases[i].x, rs_exp2(cases[i].x));
  cr_assert(isnan(rs_exp2(NAN)));
}

Test(same_bits, hypot__random_sides__within_2_roundings) {
  static const double scales[] = {1, 1e-5, 0x1p520, 0x1p-520, 0x1p1022, 0x1p-1015};
  uint64_t state = 6;
  for (size_t i = 0; i < COUNT; i++) {
    double scale = scales[i % RS_COUNT(scales)], x = scale * draw_real(&state, -1, 1),
           y = scale * draw_real(&state, 0.1, 1);
    if (i % 7 == 0) x *= 1e-9;
    double off = roundings(rs_hypot(x, y), hypotl(x, y)), turned = rs_hypot(y, -x);
    cr_assert_leq(off, 2, "(%g, %g): %g roundings", x, y, off);
    cr_assert_eq(turned, rs_hypot(x, y), "(%g, %g): the order of sides matters", x, y);
  }
}

Test(same_bits, hypot__ends__as_the_c_standard_has_it) {
  static const struct {
    double x, y, expected;
  } cases[] = {{0, 0, 0},
               {-3, 4, 5},
               {0, -1e-320, 1e-320},
               {DBL_MAX, 0, DBL_MAX},
               {DBL_MAX, DBL_MAX, INFINITY},
               {-INFINITY, 1, INFINITY},
               {NAN, INFINITY, INFINITY},
               {INFINITY, NAN, INFINITY}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double got = rs_hypot(cases[i].x, cases[i].y);
    cr_assert_eq(got, cases[i].expected, "(%g, %g): got %g", cases[i].x, cases[i].y, got);
  }
  cr_assert(isnan(rs_hypot(NAN, 1)) && isnan(rs_hypot(1, NAN)) && isnan(rs_hypot(NAN, 0)));
}

Test(same_bits, log_gamma__wholes_halves_and_between__good_to_1e_14) {
  uint64_t state = 7;
  for (size_t i = 0; i < COUNT; i++) {
    double x = i % 2 == 0 ? draw_real(&state, 0.5, 30) : exp(draw_real(&state, 0, 30));
    if (i % 3 == 0) x = fmax(0.5, floor(2 * x) / 2);
    long double expected = lgammal(x), off = fabsl(rs_log_gamma(x) - expected) / fmaxl(1, fabsl(expected));
    cr_assert_leq((double)off, 1e-14, "ln Gamma(%.17g): off by %Lg", x, off);
  }
  cr_assert(rs_log_gamma(1) == 0 && rs_log_gamma(2) == 0);
}

/* Known: Abramowitz and Stegun, tables 5.1 and 5.3. */
Test(same_bits, cosine_integral__any_size__is_that_of_gsl) {
  uint64_t state = 9;
  for (size_t i = 0; i < COUNT; i++) {
    double x = exp(draw_real(&state, -14, 16)), expected = gsl_sf_Ci(x), off = fabs(rs_cosine_integral(x) - expected);
    cr_assert_leq(off / fmax(1, fabs(expected)), 2e-15, "Ci(%.17g): off by %g", x, off);
  }
  for (double x = 3.5; x < 4.5; x += 1e-3) /* where one way to it ends and the other begins */
    cr_assert_float_eq(rs_cosine_integral(x), gsl_sf_Ci(x), 2e-15, "Ci(%.17g)", x);
  cr_assert_float_eq(rs_cosine_integral(1), 0.3374039229, 5e-11);
  cr_assert_float_eq(rs_cosine_integral(10), -0.0454564330, 5e-11);
}

Test(same_bits, normal_quantile__all_shares__is_that_of_gsl) {
  for (double share = 1e-4; share < 1; share += 7e-5) {
    double got = rs_normal_quantile(share);
    cr_assert_float_eq(got, gsl_cdf_ugaussian_Pinv(share), 1e-14, "%.17g: %.17g", share, got);
    cr_assert_float_eq(gsl_cdf_ugaussian_P(got), share, 1e-15);
  }
  cr_assert_float_eq(rs_normal_quantile(0.975), 1.959963984540054, 1e-14);
}

/* What all machines must agree on, to the last bit: sums over the bits of many values, as first computed on an x86-64.
 * glibc's exp2 and hypot, of whatever machine, round otherwise at some of them. */
Test(same_bits, exp2_and_hypot__known_sums_of_bits__agree) {
  static const uint64_t expected[] = {0x2ae66490c8bc4961u, 0x72f32a335d883a32u};
  uint64_t state = 8, sums[2] = {0};
  for (size_t i = 0; i < COUNT; i++) {
    double x = draw_real(&state, -60, 4), y = draw_real(&state, -2, 2), values[] = {rs_exp2(x), rs_hypot(x, y)};
    for (size_t f = 0; f < RS_COUNT(values); f++) {
      uint64_t bits;
      memcpy(&bits, &values[f], sizeof bits);
      sums[f] = (sums[f] ^ bits) * 0x100000001b3u;
      sums[f] ^= sums[f] >> 29;
    }
  }
  for (size_t f = 0; f < RS_COUNT(sums); f++)
    cr_assert_eq(sums[f], expected[f], "function %zu: got 0x%016lx", f, (unsigned long)sums[f]);
}
