/* KERPLE, logarithmic: bias = -r1 ln(1 + r2 |m - n|). */
#include "encoding/kinds.h"

#include <math.h>

enum { R1, R2 };

static rs_status prepare(const rs_stage_in *in, double *table, void *state, rs_err *err) {
  static const double span[] = {[R1] = 2, [R2] = 1};
  (void)err;
  rs_kerple_prepare(in, span, table, state);
  return RS_OK;
}

static void row(const void *state, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  double r1 = fmax(RS_KERPLE_LEAST, rs_kerple_number(state, R1, head));
  double r2 = fmax(RS_KERPLE_LEAST, rs_kerple_number(state, R2, head));
  for (size_t n = begin; n < end; n++) bias[n - begin] = -r1 * log1p(r2 * fabs((double)query - (double)n));
}

static size_t learned(const void *state, rs_learned out[RS_LEARNED]) {
  static const char *const names[] = {[R1] = "bias.r1", [R2] = "bias.r2"};
  return rs_kerple_learned(state, names, out);
}

/* A clamped number gets none, as from torch's clamp. */
static void gradient(const void *state, size_t head, size_t query, size_t begin, size_t end, const double *by_bias,
                     double *const *arrays) {
  double given_r1 = rs_kerple_number(state, R1, head), given_r2 = rs_kerple_number(state, R2, head);
  double r1 = fmax(RS_KERPLE_LEAST, given_r1), r2 = fmax(RS_KERPLE_LEAST, given_r2), by_r1 = 0, by_r2 = 0;
  for (size_t n = begin; n < end; n++) {
    double distance = fabs((double)query - (double)n);
    by_r1 -= by_bias[n - begin] * log1p(r2 * distance);
    by_r2 -= by_bias[n - begin] * r1 * distance / (1 + r2 * distance);
  }
  if (given_r1 >= RS_KERPLE_LEAST) arrays[R1][head] += by_r1;
  if (given_r2 >= RS_KERPLE_LEAST) arrays[R2][head] += by_r2;
}

static const rs_param specs[] = {
    {RS_FIELD_AS(rs_kerple_params, numbers[R1], "r1"), .unit = "nats", .min = -1e6, .max = 1e6,
     .summary = "one number a head, at least 0.01 (smaller ones count as that; default: drawn from 0 to 2)"},
    {RS_FIELD_AS(rs_kerple_params, numbers[R2], "r2"), .unit = "1/tokens", .min = -1e6, .max = 1e6,
     .summary = "one number a head, at least 0.01 (smaller ones count as that; default: drawn from 0 to 1)"},
    {RS_FIELD(rs_kerple_params, table_seed), RS_TABLE_SEED},
};

const rs_bias_kind rs_bias_kerple_log = {
    .kind = {.name = "kerple_log",
             .summary = "bias = -r1 ln(1 + r2 distance), r1 and r2 learned for each head",
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
