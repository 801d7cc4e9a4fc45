/* For which logits a temperature law keeps entropy. The law multiplies logits by (a ln s + 1)^2 at s times the length,
 * a = 0.1 in YaRN (arXiv:2309.00071, eq. 22); entropy needs sqrt(1 + 2 ln s / sd^2) for Gaussian logits (see
 * m_entropy_scaling.c). The fit is the sd at which the two differ least in squares over the given s. */
#include "metric_list.h"

#include <math.h>

typedef struct params {
  double slope;
  rs_real_list scales, sds;
} params;

/* The scales where none are given: YaRN's own factors reach 32. */
static const double octaves[] = {2, 4, 8, 16, 32};

typedef struct law {
  double slope;
  const double *scales;
  size_t count;
} law;

static double law_factor(double slope, double scale) {
  double root = slope * log(scale) + 1;
  return root * root;
}

static double keeping_factor(double sd, double scale) {
  return sqrt(1 + 2 * log(scale) / (sd * sd));
}

static double misfit(const law *l, double log_sd) {
  double sum = 0;
  for (size_t i = 0; i < l->count; i++) {
    double apart = keeping_factor(exp(log_sd), l->scales[i]) - law_factor(l->slope, l->scales[i]);
    sum += apart * apart;
  }
  return sum;
}

/* Its derivative, times a positive number. */
static double misfit_slope(const law *l, double log_sd) {
  double sum = 0, sd = exp(log_sd);
  for (size_t i = 0; i < l->count; i++) {
    double s = l->scales[i], keeping = keeping_factor(sd, s);
    sum -= (keeping - law_factor(l->slope, s)) * log(s) / keeping;
  }
  return sum;
}

/* The best of a grid over e^-3 .. e^5 nats, then where the misfit's slope changes its sign between the neighbours; NaN
 * at the grid's ends, where a law asks for no factor at all. */
static double fit(const law *l) {
  enum { STEPS = 400, HALVINGS = 60 };
  const double least = -3, step = 8.0 / STEPS;
  size_t best = 0;
  for (size_t i = 1; i <= STEPS; i++)
    if (misfit(l, least + step * (double)i) < misfit(l, least + step * (double)best)) best = i;
  if (best == 0 || best == STEPS) return NAN;
  double low = least + step * ((double)best - 1), high = least + step * ((double)best + 1);
  for (size_t i = 0; i < HALVINGS; i++) {
    double middle = (low + high) / 2;
    *(misfit_slope(l, middle) < 0 ? &low : &high) = middle;
  }
  return exp((low + high) / 2);
}

static rs_status add_rows(const law *l, double sd, rs_curve *curve, rs_err *err) {
  for (size_t i = 0; i < l->count; i++) {
    double s = l->scales[i], f = law_factor(l->slope, s);
    double matching = f > 1 ? sqrt(2 * log(s) / (f * f - 1)) : NAN, change = log(s) + sd * sd / 2 * (1 - f * f);
    double row[] = {sd, s, f, keeping_factor(sd, s), change, matching};
    RS_TRY(rs_curve_add(curve, row, err));
  }
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const params *p = in->params;
  bool given = p->scales.list != NULL;
  law l = {.slope = p->slope,
           .scales = given ? p->scales.list : octaves,
           .count = given ? p->scales.count : RS_COUNT(octaves)};
  result->value[0] = fit(&l);
  for (size_t i = 0; i < p->sds.count; i++) RS_TRY(add_rows(&l, p->sds.list[i], &result->curve, err));
  return isnan(result->value[0]) ? RS_OK : add_rows(&l, result->value[0], &result->curve, err);
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)in;
  const params *p = given;
  size_t scales = p->scales.list != NULL ? p->scales.count : RS_COUNT(octaves);
  return (p->sds.count + 1) * scales;
}

static const rs_param specs[] = {
    {RS_FIELD(params, slope), .unit = "1", .min = 0, .max = 100, .fallback = "0.1", .summary = "a of the law"},
    {RS_FIELD(params, scales), .unit = "1", .min = 1.000001, .max = 1e9,
     .summary = "lengths over the training length, s; 2, 4, 8, 16 and 32 where not given"},
    {RS_FIELD(params, sds), .unit = "nats", .min = 1e-3, .max = 1000,
     .summary = "standard deviations of logits to show beside the fitted one"},
};

static const rs_column scalars[] = {
    RS_COLUMN("law_fit_sd_nats", "nats",
              "standard deviation of logits for which the law keeps entropy best (least squares of the factors)"),
};

static const rs_column curve[] = {
    RS_COLUMN("logit_sd_nats", "nats", "standard deviation of the logits", .map = RS_MAP_Y),
    RS_COLUMN("length_ratio", "1", "s, length over training length", .log_axis = true, .map = RS_MAP_X),
    RS_COLUMN("law_factor", "1", "(a ln s + 1)^2, by the law"),
    RS_COLUMN("keeping_factor", "1", "sqrt(1 + 2 ln s / sd^2), which keeps entropy"),
    RS_COLUMN("entropy_change_nats", "nats", "what the law lets entropy gain at this sd"),
    RS_COLUMN("matching_sd_nats", "nats", "standard deviation for which the law is right at this s; empty at slope 0"),
};

const rs_metric_kind rs_metric_temperature_law = {
    .kind = {.name = "temperature_law",
             .summary = "for which logits the factor (a ln s + 1)^2 keeps the entropy of a row",
             .reference = "YaRN, arXiv:2309.00071, eq. 22; Su, kexue.fm/archives/8823",
             .version = 1,
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 2),
    .curve_rows = curve_rows,
    .finish = finish,
};
