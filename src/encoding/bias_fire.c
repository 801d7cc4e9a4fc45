/* FIRE: a small network of the distance in proportion to the query's position. Li et al., arXiv:2310.04418, section 3:
 *
 *   bias = (W2 relu(w1 u + b1) + b2)_h,  u = ln(1 + c |m - n|) / (ln(1 + c max(m, threshold)) + eps)
 *
 * with positions from 0, and the eps, the sizes and the draw at initialisation of the published PyTorch listing. u is
 * in [0, 1) for keys up to the query; for keys after it, whose distance counts alike, it may exceed 1. */
#include "kinds.h"

#include <math.h>

static const double eps = 1e-6;

static size_t units_of(const rs_settings *settings) {
  return (size_t)rs_setting_number(settings, "mlp_width");
}

static size_t weight_count(size_t units, size_t heads) {
  return 2 * units + heads * (units + 1);
}

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  const rs_value *weights = rs_setting(settings, "weights");
  size_t units = units_of(settings), count = weight_count(units, model->heads);
  if (!weights->set) return RS_OK;
  if (weights->count != count)
    return rs_fail_on(err, RS_INPUT, "weights", "has %zu numbers, but w1, b1 (%zu each), w2 (%zu x %zu) and b2 are %zu",
                      weights->count, units, model->heads, units, count);
  return rs_unused_check(settings, "table_seed", "weights", err);
}

/* A head's w1, b1, w2 (one number a unit each), b2. */
static size_t table_size(const rs_encoding *encoding) {
  return 3 * units_of(&encoding->settings) + 1;
}

/* Weight number `index` of w1, b1, w2 (H, units), b2. A drawn one is uniform within 1/sqrt(inputs of its layer), as
 * torch initialises a linear layer and its bias. */
static double weight(const rs_encoding *encoding, size_t units, size_t index) {
  const rs_value *given = rs_setting(&encoding->settings, "weights");
  double bound = index < 2 * units ? 1 : 1 / sqrt((double)units);
  if (given->set) return given->list[index];
  return bound * (2 * rs_uniform(rs_bias_stream(&encoding->settings, 0), index) - 1);
}

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  (void)err;
  size_t units = units_of(&encoding->settings), w2 = 2 * units, b2 = w2 + encoding->heads * units;
  for (size_t h = 0; h < encoding->heads; h++) {
    double *of_head = encoding->bias_table + h * encoding->bias_size;
    for (size_t k = 0; k < 2 * units; k++) of_head[k] = weight(encoding, units, k);
    for (size_t k = 0; k < units; k++) of_head[2 * units + k] = weight(encoding, units, w2 + h * units + k);
    of_head[3 * units] = weight(encoding, units, b2 + h);
  }
  return RS_OK;
}

static void row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const rs_settings *settings = &encoding->settings;
  size_t units = units_of(settings);
  double c = rs_setting_number(settings, "c"), threshold = rs_setting_number(settings, "threshold");
  double norm = log1p(c * fmax((double)query, threshold)) + eps;
  const double *w1 = encoding->bias_table + head * encoding->bias_size, *b1 = w1 + units, *w2 = b1 + units;
  for (size_t n = begin; n < end; n++) {
    double u = log1p(c * fabs((double)query - (double)n)) / norm, sum = w2[units]; /* b2 stands after w2 */
    for (size_t k = 0; k < units; k++) sum += w2[k] * fmax(0, w1[k] * u + b1[k]);
    bias[n - begin] = sum;
  }
}

static const rs_param params[] = {
    {.name = "c",
     .type = RS_REAL,
     .unit = "1/tokens",
     .min = 1e-9,
     .max = 1e9,
     .fallback = "0.1",
     .summary = "how soon the logarithm bends (0.1: the listing's initial value)"},
    {.name = "threshold",
     .type = RS_REAL,
     .unit = "tokens",
     .min = 1,
     .max = 1e9,
     .fallback = "512",
     .summary = "queries before it are normalised as if they stood there (512: the listing's initial value)"},
    {.name = "mlp_width",
     .type = RS_INTEGER,
     .unit = "units",
     .min = 1,
     .max = 4096,
     .fallback = "32",
     .summary = "hidden units of the network (32: the paper)"},
    {.name = "weights",
     .type = RS_REALS,
     .unit = "",
     .min = -1e6,
     .max = 1e6,
     .summary =
         "w1, b1 (one number a unit), w2 (a row of units for each head), b2 (one number a head) (default: drawn)"},
    RS_TABLE_SEED_PARAM,
};

const rs_bias_kind rs_bias_fire = {
    .kind = {.name = "fire",
             .summary = "a small network of the log distance in proportion to the log position",
             .reference = "FIRE, arXiv:2310.04418, section 3",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = check,
    .table_size = table_size,
    .fill = fill,
    .row = row,
};
