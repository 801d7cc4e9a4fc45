/* Sandwich: the inner product of two sinusoidal embeddings, divided by a number that grows with the head. Chi et al.,
 * arXiv:2212.10356:
 *
 *   bias = (sum over k of cos((m - n) / 10000^(2k/d'))) / (8 (h + 1) / H),  k = 0 ... d'/2 - 1
 *
 * d' is the method's own dim, whatever the head's. k counts from 0, as in the embedding itself (arXiv:1706.03762,
 * section 3.5) and in attention-gym's code: the sum is then B_m of arXiv:2405.14591 for base 10000. NVIDIA NeMo's code
 * counts from 1, which is another ladder, and subtracts d'/2, which no softmax sees. */
#include "encoding/kinds.h"

#include <math.h>

static const double base = 10000;    /* arXiv:1706.03762, section 3.5 */
static const double compression = 8; /* ratios 8/H, 16/H, ... 8 (arXiv:2212.10356, Fig. 1) */

typedef struct params {
  size_t sandwich_dim;
} params;

typedef struct state {
  const double *sums; /* (L,) by distance */
  double heads;
} state;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  (void)model;
  if (((const params *)binding->fields)->sandwich_dim % 2 == 0) return RS_OK;
  return rs_binding_fail(binding, offsetof(params, sandwich_dim), err, "must be even");
}

/* The heads share one table of sums, by distance. */
static size_t table_size(const rs_stage_in *in) {
  return in->length;
}

/* Adds the cosines of all pairs at distances begin ... end - 1, or at those numbers of the ones that are read. */
static void add_cosines(const rs_stage_in *in, size_t dim, size_t begin, size_t end, double *sums) {
  for (size_t k = 0; k < dim / 2; k++) {
    double omega = pow(base, -2 * (double)k / (double)dim), cosine, sine;
    for (size_t i = begin; i < end; i++) {
      size_t distance = in->read != NULL ? in->length - 1 - in->read[i] : i;
      rs_cos_sin((double)distance, omega, &cosine, &sine);
      sums[distance] += cosine;
    }
  }
}

/* Each distance is summed by one thread, in the order of the pairs: the same bits for any number of them. */
static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  (void)err;
  enum { PIECE = 4096 }; /* distances */
  size_t dim = ((const params *)in->params)->sandwich_dim, count = in->read != NULL ? in->read_count : in->length;
#pragma omp parallel for schedule(static) if (count > PIECE)
  for (size_t begin = 0; begin < count; begin += PIECE)
    add_cosines(in, dim, begin, begin + PIECE < count ? begin + PIECE : count, table);
  *(state *)out = (state){table, (double)in->heads};
  return RS_OK;
}

static void row(const void *prepared, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const state *s = prepared;
  double ratio = compression * (double)(head + 1) / s->heads;
  for (size_t n = begin; n < end; n++) bias[n - begin] = s->sums[n > query ? n - query : query - n] / ratio;
}

static const rs_param specs[] = {
    {RS_FIELD(params, sandwich_dim), .unit = "dims", .min = 2, .max = 4096, .fallback = "128",
     .summary = "d', width of the sinusoidal embeddings; even (128: the paper)"},
};

const rs_bias_kind rs_bias_sandwich = {
    .kind = {.name = "sandwich",
             .summary = "bias = H / (8 (h + 1)) times the inner product of sinusoidal embeddings",
             .reference = "Sandwich, arXiv:2212.10356",
             RS_KIND(specs, params)},
    .check = check,
    .table_size = table_size,
    .state_size = sizeof(state),
    .prepare = prepare,
    .by_distance = rs_always_by_distance,
    .row = row,
};
