/* iid N(mean, 1) in every dim of q and k: noise around the bare kernel. The expected logit at a distance is
 * mean^2 sqrt(D) times the mean cosine there. */
#include "attention/sources.h"

typedef struct params {
  double mean;
} params;

static void shift(const rs_source_in *in, size_t rows, double *out) {
  const params *p = in->state;
  for (size_t i = 0; i < rows * in->head_dim; i++) out[i] += p->mean;
}

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  rs_gaussian_keys(in, begin, end, out);
  shift(in, end - begin, out);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  rs_gaussian_query(in, position, out);
  shift(in, 1, out);
}

static const rs_param specs[] = {
    {RS_FIELD(params, mean), .unit = "1", .min = -1000, .max = 1000, .fallback = "0.5",
     .summary = "mean of every dim of q and k"},
};

const rs_source_kind rs_source_gaussian_mean = {
    .kind = {.name = "gaussian_mean",
             .summary = "N(mean, 1) in every dim: noise around the bare kernel",
             .reference = "Men et al., arXiv:2405.14591, section 3 (expected score of iid q, k with a mean)",
             RS_KIND(specs, params)},
    .state_size = sizeof(params),
    .keys = keys,
    .query = query,
};
