/* How well neighbours are told apart: what interpolation takes away near the query. */
#include "metrics.h"

#include <math.h>

/* The drop of the mean cosine from distance 0 to 1 under plain RoPE of the model, on the pairs this method turns. */
static double trained_drop(const rs_encoding *encoding) {
  double drop = 0;
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    double half = sin(encoding->omega_trained[j] / 2);
    drop += 2 * half * half; /* 1 - cos without cancellation */
  }
  return drop / (double)(encoding->head_dim / 2);
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  (void)err;
  size_t last = in->encoding->length - 1;
  result->value[0] = result->value[1] = NAN;
  if (last == 0 || in->encoding->rotary_dim == 0) return RS_OK;
  result->value[0] = 1 - rs_encoding_mean_cosine(in->encoding, last, last - 1);
  result->value[1] = result->value[0] / trained_drop(in->encoding);
  return RS_OK;
}

static const rs_column scalars[] = {
    {.name = "local_resolution",
     .unit = "1",
     .summary = "1 - mean cosine between the last query and the key before it",
     .better = RS_HIGHER},
    {.name = "local_resolution_kept",
     .unit = "1",
     .summary = "the same, as a share of plain RoPE's",
     .better = RS_HIGHER},
};

const rs_metric_kind rs_metric_local_resolution = {
    .kind = {.name = "local_resolution",
             .summary = "drop of the mean cosine from distance 0 to 1, and what is left of plain RoPE's",
             .reference = "NTK-aware scaling (bloc97, 2023); YaRN, arXiv:2309.00071, section 3.2",
             .version = 1},
    .scalars = scalars,
    .scalar_count = RS_COUNT(scalars),
    .finish = finish,
};
