/* Sandwich: the inner product of two sinusoidal embeddings, divided by a number that grows with the head. Chi et al.,
 * arXiv:2212.10356:
 *
 *   bias = (sum over k of cos((m - n) / 10000^(2k/d'))) / (8 (h + 1) / H),  k = 0 ... d'/2 - 1
 *
 * d' is the method's own dim, whatever the head's. k counts from 0, as in the embedding itself (arXiv:1706.03762,
 * section 3.5) and in attention-gym's code: the sum is then B_m of arXiv:2405.14591 for base 10000. NVIDIA NeMo's code
 * counts from 1, which is another ladder, and subtracts d'/2, which no softmax sees. */
#include "kinds.h"

#include <math.h>

static const double base = 10000;    /* arXiv:1706.03762, section 3.5 */
static const double compression = 8; /* ratios 8/H, 16/H, ... 8 (arXiv:2212.10356, Fig. 1) */

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  (void)model;
  if (fmod(rs_setting_number(settings, "sandwich_dim"), 2) == 0) return RS_OK;
  return rs_fail_on(err, RS_INPUT, "sandwich_dim", "must be even");
}

/* The heads share one table of L sums, by distance: H rows of this many hold it. */
static size_t table_size(const rs_encoding *encoding) {
  return (encoding->length + encoding->heads - 1) / encoding->heads;
}

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  (void)err;
  double dim = rs_setting_number(&encoding->settings, "sandwich_dim"), cosine, sine;
  for (size_t k = 0; k < (size_t)dim / 2; k++) {
    double omega = pow(base, -2 * (double)k / dim);
    for (size_t distance = 0; distance < encoding->length; distance++) {
      rs_cos_sin((double)distance, omega, &cosine, &sine);
      encoding->bias_table[distance] += cosine;
    }
  }
  return RS_OK;
}

static void row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  double ratio = compression * (double)(head + 1) / (double)encoding->heads;
  for (size_t n = begin; n < end; n++)
    bias[n - begin] = encoding->bias_table[n > query ? n - query : query - n] / ratio;
}

static const rs_param params[] = {
    {.name = "sandwich_dim",
     .type = RS_INTEGER,
     .unit = "dims",
     .min = 2,
     .max = 4096,
     .fallback = "128",
     .summary = "d', width of the sinusoidal embeddings; even (128: the paper)"},
};

const rs_bias_kind rs_bias_sandwich = {
    .kind = {.name = "sandwich",
             .summary = "bias = H / (8 (h + 1)) times the inner product of sinusoidal embeddings",
             .reference = "Sandwich, arXiv:2212.10356",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = check,
    .table_size = table_size,
    .fill = fill,
    .by_distance = rs_always_by_distance,
    .row = row,
};
