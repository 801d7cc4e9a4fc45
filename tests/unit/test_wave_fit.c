/* test_wave_fit.c: least squares by waves: exact curves come back, the normal equations hold, and two
 * solvers agree where functions depend on each other. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { POINTS = 100, WAVES = 3 };

static const double omegas[WAVES] = {2.0, 0.7, 0.1};
static const double cosines[WAVES] = {1.5, -2, 0.25}, sines[WAVES] = {0.5, 3, -1};

static const rs_solver all[] = {RS_SOLVER_QR, RS_SOLVER_SUMS};

static void fill_curve(double *out, size_t count) {
  for (size_t x = 0; x < count; x++) {
    out[x] = 0;
    for (size_t j = 0; j < WAVES; j++)
      out[x] += cosines[j] * cos(omegas[j] * (double)x) + sines[j] * sin(omegas[j] * (double)x);
  }
}

static rs_wave_fit fit_of(const double *omega, size_t waves, const double *wanted, size_t count, rs_solver solver,
                          double ridge) {
  rs_wave_fit fit;
  rs_err err = {0};
  rs_wave_fit_in in = {omega, waves, wanted, count, solver, ridge};
  cr_assert_eq(rs_wave_fit_create(&in, &fit, &err), RS_OK, "solver %d: %s", (int)solver, err.message);
  return fit;
}

Test(wave_fit, sum_of_waves__every_solver__gives_its_coefficients) {
  double wanted[POINTS];
  fill_curve(wanted, POINTS);
  for (size_t i = 0; i < RS_COUNT(all); i++) {
    rs_wave_fit fit = fit_of(omegas, WAVES, wanted, POINTS, all[i], 0);
    for (size_t j = 0; j < WAVES; j++) {
      cr_assert_float_eq(fit.cosine[j], cosines[j], 1e-13, "solver %zu, cosine %zu: %.17g", i, j, fit.cosine[j]);
      cr_assert_float_eq(fit.sine[j], sines[j], 1e-13, "solver %zu, sine %zu: %.17g", i, j, fit.sine[j]);
    }
    cr_assert_eq(fit.waves, WAVES);
    rs_wave_fit_clear(&fit);
  }
}

/* The last point counts, and nothing past it does: six points that six functions pass through. */
Test(wave_fit, as_many_points_as_functions__qr__passes_through_all) {
  double wanted[2 * WAVES] = {3, -1, 4, 1, -5, 9};
  rs_wave_fit fit = fit_of(omegas, WAVES, wanted, 2 * WAVES, RS_SOLVER_QR, 0);
  for (size_t x = 0; x < 2 * WAVES; x++) {
    double sum = 0;
    for (size_t j = 0; j < WAVES; j++)
      sum += fit.cosine[j] * cos(omegas[j] * (double)x) + fit.sine[j] * sin(omegas[j] * (double)x);
    cr_assert_float_eq(sum, wanted[x], 1e-10);
  }
  rs_wave_fit_clear(&fit);
}

/* At the least of |A c - y|^2 + ridge |c|^2: A^T (y - A c) = ridge c. */
static void check_stationary(const rs_wave_fit *fit, const double *wanted, double ridge, double slack) {
  for (size_t k = 0; k < 2 * WAVES; k++) {
    long double slope = 0;
    for (size_t x = 0; x < POINTS; x++) {
      long double left = wanted[x], angle = omegas[k / 2] * (long double)x;
      for (size_t j = 0; j < WAVES; j++)
        left -= fit->cosine[j] * cosl(omegas[j] * (long double)x) + fit->sine[j] * sinl(omegas[j] * (long double)x);
      slope += left * (k % 2 ? sinl(angle) : cosl(angle));
    }
    double coefficient = k % 2 ? fit->sine[k / 2] : fit->cosine[k / 2];
    cr_assert_float_eq((double)slope, ridge * coefficient, slack);
  }
}

Test(wave_fit, noise__every_solver_and_ridge__is_the_least) {
  static const double ridges[] = {0, 1, 30};
  double wanted[POINTS];
  rs_gaussian_fill((rs_stream){5, RS_PURPOSE_CURVE, 0}, 0, POINTS, wanted);
  for (size_t i = 0; i < RS_COUNT(all); i++)
    for (size_t r = 0; r < RS_COUNT(ridges); r++) {
      rs_wave_fit fit = fit_of(omegas, WAVES, wanted, POINTS, all[i], ridges[r]);
      check_stationary(&fit, wanted, ridges[r], 1e-11);
      rs_wave_fit_clear(&fit);
    }
}

Test(wave_fit, fewer_points_than_functions__ridge__chooses_one) {
  static const double one[] = {M_PI / 2};
  static const double wanted[] = {2};
  rs_wave_fit fit = fit_of(one, 1, wanted, 1, RS_SOLVER_QR, 1);
  cr_assert_float_eq(fit.cosine[0], 1, 1e-14, "2 / (1 + ridge)");
  rs_wave_fit_clear(&fit);
}

Test(wave_fit, undetermined__every_solver__says_so) {
  static const double still[] = {0, 1};
  double wanted[POINTS];
  rs_wave_fit fit;
  fill_curve(wanted, POINTS);
  for (size_t i = 0; i < RS_COUNT(all); i++) {
    rs_err err = {0};
    rs_wave_fit_in few = {omegas, WAVES, wanted, 2 * WAVES - 1, all[i], 0};
    cr_assert_eq(rs_wave_fit_create(&few, &fit, &err), RS_DOMAIN);
    cr_assert_not_null(strstr(err.message, "5 points"), "%s", err.message);
    rs_wave_fit_in zero = {still, 2, wanted, POINTS, all[i], 0}; /* sin(0 x) is no function */
    cr_assert_eq(rs_wave_fit_create(&zero, &fit, NULL), RS_DOMAIN, "solver %zu", i);
  }
}

Test(wave_fit, no_numbers__every_solver__says_so) {
  static const double odd[] = {2.0, NAN, 0.1};
  double wanted[POINTS];
  fill_curve(wanted, POINTS);
  wanted[POINTS / 2] = NAN;
  for (size_t i = 0; i < RS_COUNT(all); i++) {
    rs_wave_fit fit;
    rs_wave_fit_in in = {omegas, WAVES, wanted, POINTS, all[i], 0};
    cr_assert_eq(rs_wave_fit_create(&in, &fit, NULL), RS_DOMAIN, "solver %zu", i);
  }
  fill_curve(wanted, POINTS);
  for (size_t i = 0; i < RS_COUNT(all); i++) {
    rs_wave_fit fit;
    rs_wave_fit_in in = {odd, WAVES, wanted, POINTS, all[i], 0};
    cr_assert_eq(rs_wave_fit_create(&in, &fit, NULL), RS_DOMAIN, "solver %zu", i);
  }
}

/* A head of 128 dims over 2048 tokens, whose functions are nearly dependent; and a wave of half a turn a token, of
 * which sums and differences are whole turns. */
Test(wave_fit, sums__with_a_ridge__agree_with_qr) {
  enum { PAIRS = 64, LONG = 2048 };
  double omega[PAIRS + 1] = {M_PI}, *wanted = malloc(LONG * sizeof *wanted);
  for (size_t j = 0; j < PAIRS; j++) omega[j + 1] = pow(1e4, -(double)j / PAIRS);
  rs_gaussian_fill((rs_stream){6, RS_PURPOSE_CURVE, 0}, 0, LONG, wanted);
  rs_wave_fit sums = fit_of(omega, PAIRS + 1, wanted, LONG, RS_SOLVER_SUMS, 1);
  rs_wave_fit qr = fit_of(omega, PAIRS + 1, wanted, LONG, RS_SOLVER_QR, 1);
  for (size_t j = 0; j <= PAIRS; j++) {
    cr_assert_float_eq(sums.cosine[j], qr.cosine[j], 1e-9);
    cr_assert_float_eq(sums.sine[j], qr.sine[j], 1e-9);
  }
  rs_wave_fit_clear(&sums);
  rs_wave_fit_clear(&qr);
  free(wanted);
}

Test(wave_fit, solver__by_its_ridge__is_sums_where_they_are_as_good) {
  cr_assert_eq(rs_wave_fit_solver(4096, 64, 1), RS_SOLVER_SUMS);
  cr_assert_eq(rs_wave_fit_solver(4096, 64, 0.02), RS_SOLVER_QR);
  cr_assert_eq(rs_wave_fit_solver(4096, 64, 0), RS_SOLVER_QR);
}
