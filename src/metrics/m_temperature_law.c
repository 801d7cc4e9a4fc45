/* For which logits a temperature law keeps entropy. The law multiplies logits by (a ln s + 1)^2 at s times the length,
 * a = 0.1 in YaRN (arXiv:2309.00071, eq. 22); entropy needs sqrt(1 + 2 ln s / sd^2) for Gaussian logits (see
 * m_entropy_scaling.c). The fit is the sd at which the two differ least in squares over the given s. */
#include "metric_list.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
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
static double misfit_slope(double log_sd, void *given) {
  const law *l = given;
  double sum = 0, sd = exp(log_sd);
  for (size_t i = 0; i < l->count; i++) {
    double s = l->scales[i], keeping = keeping_factor(sd, s);
    sum -= (keeping - law_factor(l->slope, s)) * log(s) / keeping;
  }
  return sum;
}

/* Where the misfit's slope is 0 between low and high, which a search of the misfit would only find to 1e-8. */
static rs_status find_least(law *l, double low, double high, double *log_sd, rs_err *err) {
  enum { STEPS = 200 };
  static const double rounding = 4e-16;
  gsl_function slope = {misfit_slope, l};
  gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
  if (solver == NULL) return rs_fail(err, RS_MEMORY, "out of memory: a root");
  int status = gsl_root_fsolver_set(solver, &slope, low, high);
  for (size_t i = 0; i < STEPS && status == GSL_SUCCESS; i++) {
    status = gsl_root_fsolver_iterate(solver);
    double apart = gsl_root_fsolver_x_upper(solver) - gsl_root_fsolver_x_lower(solver);
    if (apart <= rounding * (1 + fabs(gsl_root_fsolver_root(solver)))) break;
  }
  *log_sd = gsl_root_fsolver_root(solver);
  gsl_root_fsolver_free(solver);
  return rs_gsl(status, "the slope of a misfit", err);
}

/* The best of a grid over e^-3 .. e^5 nats, then the least between its neighbours; NaN at the grid's ends, where a law
 * asks for no factor at all. */
static rs_status fit(law *l, double *sd, rs_err *err) {
  enum { STEPS = 400 };
  const double least = -3, step = 8.0 / STEPS;
  size_t best = 0;
  for (size_t i = 1; i <= STEPS; i++)
    if (misfit(l, least + step * (double)i) < misfit(l, least + step * (double)best)) best = i;
  *sd = NAN;
  if (best == 0 || best == STEPS) return RS_OK;
  double middle = least + step * (double)best, log_sd = NAN;
  RS_TRY(find_least(l, middle - step, middle + step, &log_sd, err));
  *sd = exp(log_sd);
  return RS_OK;
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
  RS_TRY(fit(&l, &result->value[0], err));
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
