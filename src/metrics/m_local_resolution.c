/* How well neighbours are told apart: what interpolation takes away near the query. */
#include "metric_list.h"

#include <math.h>

/* The drop of the mean cosine from distance 0 to 1 under plain RoPE of the model, on the pairs this method turns:
 * summed in the order of rs_encoding_mean_cosine, so that plain RoPE keeps exactly 1. */
static double trained_drop(const rs_encoding *encoding) {
  size_t pairs = encoding->rotary_dim / 2, all = encoding->head_dim / 2;
  double sum = (double)(all - pairs);
  for (size_t j = 0; j < pairs; j++) {
    double cosine, sine;
    rs_cos_sin(1, encoding->omega_trained[j], &cosine, &sine);
    sum += cosine;
  }
  return 1 - sum / (double)all;
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
    RS_COLUMN("local_resolution", "1", "1 - mean cosine between the last query and the key before it",
              .better = RS_HIGHER),
    RS_COLUMN("local_resolution_kept", "1", "the same, as a share of plain RoPE's", .better = RS_HIGHER),
};

const rs_metric_kind rs_metric_local_resolution = {
    .kind = {.name = "local_resolution",
             .summary = "drop of the mean cosine from distance 0 to 1, and what is left of plain RoPE's",
             .reference = "NTK-aware scaling (bloc97, 2023); YaRN, arXiv:2309.00071, section 3.2"},
    RS_SCALARS(scalars),
    .finish = finish,
};
