/* How far a head that was fitted to noise within the trained length runs away beyond it: the argument of Position
 * Interpolation against extrapolation (Chen et al., arXiv:2306.15595, section 2.3, figure 2, appendix C). The fit is by
 * plain RoPE of the model at distances 0 .. train_length - 1; the head is then read under the encoding at hand. What it
 * comes to depends on the solver by many orders, for most of the functions cannot be told apart in the trained range.
 */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

typedef struct params {
  rs_solver solver;
  double ridge, rcond;
  size_t every; /* tokens */
} params;

/* The noise, and its fit. Without rotation there is none: fit->waves is 0. */
static rs_status fit_noise(const rs_metric_in *in, size_t trained, double *wanted, rs_wave_fit *fit, rs_err *err) {
  const params *p = in->params;
  rs_gaussian_fill((rs_stream){in->seed, RS_PURPOSE_CURVE, 0}, 0, trained, wanted);
  rs_wave_fit_in given = {.omega = in->encoding->omega_trained,
                          .waves = in->encoding->rotary_dim / 2,
                          .wanted = wanted,
                          .count = trained,
                          .solver = p->solver,
                          .ridge = p->ridge,
                          .rcond = p->rcond};
  return rs_wave_fit_create(&given, fit, err);
}

/* Every `every`-th distance is a row of the curve. */
static rs_status read_curve(const rs_metric_in *in, const double *wanted, size_t trained, const rs_wave_fit *fit,
                            rs_result *result, rs_err *err) {
  const params *p = in->params;
  size_t last = in->encoding->length - 1;
  double inside = 0, outside = NAN;
  for (size_t x = 0; x <= last; x++) {
    double got = rs_calibrated_logit(in->encoding, fit, last, last - x);
    if (x < trained)
      inside = fmax(inside, fabs(got));
    else
      outside = fmax(outside, fabs(got));
    double row[] = {(double)x, x < trained ? wanted[x] : NAN, got};
    if (x % p->every == 0) RS_TRY(rs_curve_add(&result->curve, row, err));
  }
  result->value[0] = inside;
  result->value[1] = outside;
  result->value[2] = outside / inside;
  result->value[3] = (double)fit->rank;
  result->value[4] = fit->condition;
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  size_t trained = (size_t)in->encoding->train_length;
  rs_wave_fit fit;
  for (size_t i = 0; i < 5; i++) result->value[i] = NAN;
  if (!rs_trained_on_tokens(in->encoding)) return RS_OK;
  double *wanted = rs_alloc(trained, sizeof *wanted, err);
  if (wanted == NULL) return RS_MEMORY;
  rs_status status = fit_noise(in, trained, wanted, &fit, err);
  if (status == RS_OK) {
    status = read_curve(in, wanted, trained, &fit, result, err);
    rs_wave_fit_clear(&fit);
  }
  free(wanted);
  return status;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  const params *p = given;
  return (in->length - 1) / p->every + 1;
}

static const rs_param specs[] = {
    {RS_FIELD(params, solver), .unit = "", RS_WORDS(rs_solver_words), .fallback = "qr",
     .summary = "how the least-squares problem is solved; floats from the angle on (normal_f32), or from the normal "
                "equations on (gram_f32)"},
    {RS_FIELD(params, ridge), .unit = "1", .min = 0, .max = 1e9, .fallback = "0",
     .summary = "what a squared coefficient costs in the fit"},
    {RS_FIELD(params, rcond), .unit = "1", .min = 0, .max = 1, .fallback = "1e-13",
     .summary = "svd: singular values up to this share of the largest are left out"},
    {RS_FIELD(params, every), .unit = "tokens", .min = 1, .max = 1e9, .fallback = "1",
     .summary = "step of the curve's distances"},
};

static const rs_column scalars[] = {
    RS_COLUMN("blowup_inside_nats", "nats",
              "largest |logit| at distances below train_length of a head fitted to N(0, 1) noise there"),
    RS_COLUMN("blowup_outside_nats", "nats", "the same at distances from train_length on", .log_axis = true,
              .better = RS_LOWER),
    RS_COLUMN("blowup_ratio", "1", "outside over inside", .log_axis = true, .better = RS_LOWER),
    RS_COLUMN("fit_rank", "", "functions, or singular values, that the fit used", .integer = true),
    RS_COLUMN("fit_condition", "1", "largest over smallest singular value; of solver svd alone", .log_axis = true),
};

static const rs_column curve[] = {
    RS_COLUMN("distance_tokens", "tokens", "m - n, of the last query", .integer = true),
    RS_COLUMN("wanted_nats", "nats", "the noise that was fitted; empty beyond train_length"),
    RS_COLUMN("fitted_nats", "nats", "the head's logit under the encoding"),
};

const rs_metric_kind rs_metric_least_squares_blowup = {
    .kind = {.name = "least_squares_blowup",
             .summary = "a head fitted to noise within train_length, and how it runs away beyond",
             .reference = "Position Interpolation, arXiv:2306.15595, figure 2 and appendix C",
             .version = 1,
             RS_KIND(specs, params)},
    .draws = true,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
