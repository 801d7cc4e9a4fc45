/* KERPLE, power: bias = -a |m - n|^p. p = 1 is ALiBi with a for the slope. */
#include "encoding/kinds.h"

#include <math.h>

enum { A, P };

static const double steepest = 2; /* the code clamps p to it at every use */

static rs_status prepare(const rs_stage_in *in, double *table, void *state, rs_err *err) {
  static const double span[] = {[A] = 1, [P] = 2};
  (void)err;
  rs_kerple_prepare(in, span, table, state);
  return RS_OK;
}

static double clamped_power(double given) {
  return fmin(steepest, fmax(RS_KERPLE_LEAST, given));
}

static void row(const void *state, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  double a = fmax(RS_KERPLE_LEAST, rs_kerple_number(state, A, head));
  double p = clamped_power(rs_kerple_number(state, P, head));
  for (size_t n = begin; n < end; n++) bias[n - begin] = -a * pow(fabs((double)query - (double)n), p);
}

static size_t learned(const void *state, rs_learned out[RS_LEARNED]) {
  static const char *const names[] = {[A] = "bias.a", [P] = "bias.p"};
  return rs_kerple_learned(state, names, out);
}

/* A clamped number gets none, as from torch's clamp. */
static void gradient(const void *state, size_t head, size_t query, size_t begin, size_t end, const double *by_bias,
                     double *const *arrays) {
  double given_a = rs_kerple_number(state, A, head), given_p = rs_kerple_number(state, P, head);
  double a = fmax(RS_KERPLE_LEAST, given_a), p = clamped_power(given_p), by_a = 0, by_p = 0;
  for (size_t n = begin; n < end; n++) {
    double distance = fabs((double)query - (double)n), power = pow(distance, p);
    by_a -= by_bias[n - begin] * power;
    if (distance > 0) by_p -= by_bias[n - begin] * a * power * log(distance);
  }
  if (given_a >= RS_KERPLE_LEAST) arrays[A][head] += by_a;
  if (given_p >= RS_KERPLE_LEAST && given_p <= steepest) arrays[P][head] += by_p;
}

static const rs_param specs[] = {
    {RS_FIELD_AS(rs_kerple_params, numbers[A], "a"), .unit = "nats", .min = -1e6, .max = 1e6,
     .summary = "one number a head, at least 0.01 (smaller ones count as that; default: drawn from 0 to 1)"},
    {RS_FIELD_AS(rs_kerple_params, numbers[P], "p"), .unit = "1", .min = -1e6, .max = 1e6,
     .summary = "one number a head, clamped to 0.01 ... 2 (default: drawn from 0 to 2)"},
    {RS_FIELD(rs_kerple_params, table_seed), RS_TABLE_SEED},
};

const rs_bias_kind rs_bias_kerple_power = {
    .kind = {.name = "kerple_power",
             .summary = "bias = -a distance^p, a and p learned for each head",
             .reference = "KERPLE, arXiv:2205.09921",
             .version = 1,
             RS_KIND(specs, rs_kerple_params)},
    .check = rs_kerple_check,
    .table_size = rs_kerple_table_size,
    .state_size = sizeof(rs_kerple_state),
    .prepare = prepare,
    .by_distance = rs_always_by_distance,
    .row = row,
    .learned = learned,
    .gradient = gradient,
};
