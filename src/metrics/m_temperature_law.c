/* For which logits a temperature law keeps entropy. The law multiplies logits by (a ln s + 1)^2 at s times the length,
 * a = 0.1 in YaRN (arXiv:2309.00071, eq. 22); entropy needs sqrt(1 + 2 ln s / sd^2) for Gaussian logits (see
 * m_entropy_scaling.c). The fit is the sd at which the two differ least in squares over the given s. */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>
#include <math.h>

#include "metrics.h"

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

static double misfit(double log_sd, void *context) {
  const law *l = context;
  double sum = 0;
  for (size_t i = 0; i < l->count; i++) {
    double apart = keeping_factor(exp(log_sd), l->scales[i]) - law_factor(l->slope, l->scales[i]);
    sum += apart * apart;
  }
  return sum;
}

/* The best of a grid over e^-3 .. e^5 nats, then Brent's method between its neighbours; NaN at the grid's ends, where a
 * law asks for no factor at all. */
static rs_status fit(law *l, double *sd, rs_err *err) {
  enum { STEPS = 400, ROUNDS = 200 };
  const double least = -3, step = 8.0 / STEPS;
  size_t best = 0;
  for (size_t i = 1; i <= STEPS; i++)
    if (misfit(least + step * (double)i, l) < misfit(least + step * (double)best, l)) best = i;
  *sd = NAN;
  if (best == 0 || best == STEPS) return RS_OK;
  double middle = least + step * (double)best;
  gsl_min_fminimizer *search = gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent);
  if (search == NULL) return rs_fail(err, RS_MEMORY, "out of memory");
  gsl_function function = {misfit, l};
  int status = gsl_min_fminimizer_set(search, &function, middle, middle - step, middle + step);
  for (size_t i = 0; i < ROUNDS && status == GSL_SUCCESS; i++) status = gsl_min_fminimizer_iterate(search);
  *sd = exp(gsl_min_fminimizer_x_minimum(search));
  gsl_min_fminimizer_free(search);
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
  rs_gsl_errors_begin();
  rs_status status = fit(&l, &result->value[0], err);
  rs_gsl_errors_end();
  if (status != RS_OK) return status;
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
    {.name = "law_fit_sd_nats",
     .unit = "nats",
     .summary = "standard deviation of logits for which the law keeps entropy best (least squares of the factors)"},
};

static const rs_column curve[] = {
    {.name = "logit_sd_nats", .unit = "nats", .summary = "standard deviation of the logits", .map = RS_MAP_Y},
    {.name = "length_ratio",
     .unit = "1",
     .summary = "s, length over training length",
     .log_axis = true,
     .map = RS_MAP_X},
    {.name = "law_factor", .unit = "1", .summary = "(a ln s + 1)^2, by the law"},
    {.name = "keeping_factor", .unit = "1", .summary = "sqrt(1 + 2 ln s / sd^2), which keeps entropy"},
    {.name = "entropy_change_nats", .unit = "nats", .summary = "what the law lets entropy gain at this sd"},
    {.name = "matching_sd_nats",
     .unit = "nats",
     .summary = "standard deviation for which the law is right at this s; empty at slope 0"},
};

const rs_metric_kind rs_metric_temperature_law = {
    .kind = {.name = "temperature_law",
             .summary = "for which logits the factor (a ln s + 1)^2 keeps the entropy of a row",
             .reference = "YaRN, arXiv:2309.00071, eq. 22; Su, kexue.fm/archives/8823",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(params)},
    .scalars = scalars,
    .scalar_count = RS_COUNT(scalars),
    .curve = curve,
    .curve_count = RS_COUNT(curve),
    .index_count = 2,
    .curve_rows = curve_rows,
    .finish = finish,
};
