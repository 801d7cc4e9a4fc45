/* The entropy that attention loses when queries and keys are uniform on spheres of radius sqrt(d), as n grows: with
 * logits lambda q.k = kappa t, kappa = lambda d and t the cosine between the two,
 *
 *   H - ln n = ln E[e^(kappa t)] - kappa E[t e^(kappa t)] / E[e^(kappa t)],
 *
 * where E[e^(kappa t)] = 0F1(; d/2; kappa^2 / 4) = sum_k (kappa^2 / 4)^k / (k! (d/2)_k) (Von Mises and Fisher's
 * distribution: Mardia and Jupp, Directional Statistics, 2000, section 9.3). For wide heads, by saddle point,
 *
 *   H - ln n = -(d/2) ln((1 + sqrt(1 + 4 lambda^2)) / 2),
 *
 * which is -lambda^2 d / 2 for small lambda and -0.2406 d at lambda = 1. Su, kexue.fm/archives/8823, has -0.24 lambda
 * d. The series is summed in logarithms: GSL's 0F1 (2.7) overflows from 1024 dims on at lambda = 1.
 */
#include "metric_list.h"

#include <gsl/gsl_sf_gamma.h>
#include <math.h>

typedef struct params {
  rs_real_list lambdas;
  double slope;
} params;

/* From this kappa on the Bessel function that 0F1 is has its large-argument form, I_nu(kappa) = e^kappa / sqrt(2 pi
 * kappa) (1 - a / kappa), a = (4 nu^2 - 1) / 8, nu = d/2 - 1, to 1e-5 nats in 4096 dims and better in fewer; the series
 * would take kappa / 2 terms. */
static const double sharp = 1e8;

static double sharp_deficit(double dims, double kappa) {
  double nu = dims / 2 - 1, correction = (4 * nu * nu - 1) / 8 / kappa;
  return gsl_sf_lngamma(dims / 2) + nu * log(2 / kappa) - log(2 * M_PI * kappa) / 2 + nu + 0.5 - 2 * correction;
}

/* All terms of the series and of its slope, kappa d/dkappa = 2k, are positive: nothing cancels. Each is the one before
 * times kappa^2 / (4 k (d/2 + k - 1)), so that they rise to one peak and fall from there. */
static double deficit(double dims, double lambda) {
  const double negligible = -45; /* ln of what a term may be of the largest: e^-45 = 3e-20 */
  double kappa = lambda * dims, quarter = 2 * log(kappa / 2), term = 0, largest = 0, slope = 0, sum = 1;
  if (kappa > sharp) return sharp_deficit(dims, kappa);
  for (double k = 1; kappa > 0; k++) {
    term += quarter - log(k) - log(dims / 2 + k - 1);
    if (term < largest + negligible) break;
    double shrink = exp(fmin(0, largest - term)), weight = exp(fmin(0, term - largest));
    sum = sum * shrink + weight;
    slope = slope * shrink + 2 * k * weight;
    largest = fmax(largest, term);
  }
  return isnan(kappa) ? NAN : largest + log(sum) - slope / sum;
}

static rs_status add_row(double dims, double lambda, double slope, rs_curve *curve, rs_err *err) {
  double exact = deficit(dims, lambda), wide = -dims / 2 * log((1 + sqrt(1 + 4 * lambda * lambda)) / 2);
  double linear = -slope * lambda * dims, row[] = {lambda, exact, wide, linear, exact / linear};
  return rs_curve_add(curve, row, err);
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const params *p = in->params;
  double dims = (double)in->encoding->head_dim;
  double lambda = rs_logit_factor(in->encoding, in->encoding->length - 1) / sqrt(dims);
  result->value[0] = deficit(dims, lambda);
  RS_TRY(add_row(dims, lambda, p->slope, &result->curve, err));
  for (size_t i = 0; i < p->lambdas.count; i++)
    RS_TRY(add_row(dims, p->lambdas.list[i], p->slope, &result->curve, err));
  return RS_OK;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)in;
  const params *p = given;
  return 1 + p->lambdas.count;
}

static const rs_param specs[] = {
    {RS_FIELD(params, lambdas), .unit = "1", .min = 1e-6, .max = 1000,
     .summary = "what multiplies q.k, beside the encoding's own, its factor over sqrt(D)"},
    {RS_FIELD(params, slope), .unit = "1", .min = 1e-9, .max = 1000, .fallback = "0.24",
     .summary = "of the linear law to compare with, nats per lambda and dim"},
};

static const rs_column scalars[] = {
    RS_COLUMN("sphere_deficit_nats", "nats",
              "entropy less ln n of n keys without end, all vectors uniform on spheres of radius sqrt(D), biases left "
              "out; empty where amp multiplies a part of the head alone"),
};

static const rs_column curve[] = {
    RS_COLUMN("lambda", "1", "what multiplies q.k", .log_axis = true),
    RS_COLUMN("deficit_nats", "nats", "entropy less ln n, exact"),
    RS_COLUMN("wide_deficit_nats", "nats", "-(D/2) ln((1 + sqrt(1 + 4 lambda^2)) / 2)"),
    RS_COLUMN("linear_deficit_nats", "nats", "-slope lambda D"),
    RS_COLUMN("share_of_linear", "1", "the exact deficit over the linear one"),
};

const rs_metric_kind rs_metric_sphere_entropy = {
    .kind = {.name = "sphere_entropy",
             .summary = "entropy lost to temperature when queries and keys are uniform on spheres",
             .reference = "Su, kexue.fm/archives/8823; Mardia and Jupp, Directional Statistics, 2000, section 9.3",
             .version = 1,
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
