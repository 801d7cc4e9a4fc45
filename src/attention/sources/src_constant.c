/* q = k = 1 in every dim: the logit is the bare kernel, 2 sum_j cos(angle_j) / sqrt(D) when every dim turns. */
#include "attention/sources.h"

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  for (size_t i = 0; i < (end - begin) * in->head_dim; i++) out[i] = 1;
}

static void query(const rs_source_in *in, size_t position, double *out) {
  keys(in, position, position + 1, out);
}

const rs_source_kind rs_source_constant = {
    .kind = {.name = "constant",
             .summary = "q = k = 1: the bare positional kernel",
             .reference = "RoFormer, arXiv:2104.09864, section 3.4.3"},
    .keys = keys,
    .query = query,
};
