/* A head that looks one distance back: each query holds the same Gaussian content c, each key R^r c, c turned as plain
 * RoPE of the model turns it in r tokens. The logit at distance x is then sum_j |c_j|^2 cos((x - r) theta_j) / sqrt(D),
 * largest at x = r whatever c is (Barbero et al., arXiv:2410.06205, proposition 3.1). Methods that turn otherwise than
 * plain RoPE move the distance. */
#include "attention/sources.h"

#include <math.h>

typedef struct params {
  size_t distance; /* r, tokens */
} params;

/* One vector for all queries: element 0 of their stream. */
static void content(const rs_source_in *in, double *out) {
  rs_gaussian_query(in, 0, out);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  (void)position;
  content(in, out);
}

static void turn(const rs_source_in *in, double tokens, double *x) {
  size_t pairs = in->rotary_dim / 2;
  bool interleaved = in->pair_layout == RS_INTERLEAVED;
  for (size_t j = 0; j < pairs; j++) {
    size_t first = interleaved ? 2 * j : j, second = interleaved ? 2 * j + 1 : j + pairs;
    double a = x[first], b = x[second], c, s;
    rs_cos_sin(tokens, rs_ladder_at(in->rope_theta, (double)in->rotary_dim, j), &c, &s);
    x[first] = a * c - b * s;
    x[second] = a * s + b * c;
  }
}

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  const params *p = in->state;
  content(in, out);
  turn(in, (double)p->distance, out);
  for (size_t i = in->head_dim; i < (end - begin) * in->head_dim; i++) out[i] = out[i - in->head_dim];
}

static const rs_param specs[] = {
    {RS_FIELD(params, distance), .unit = "tokens", .min = 0, .max = 1e9, .fallback = "100",
     .summary = "r, at which plain RoPE of the model gives the largest logit"},
};

const rs_source_kind rs_source_lookback = {
    .kind = {.name = "lookback",
             .summary = "keys are the queries' one content, turned so that plain RoPE looks r tokens back",
             .reference = "Barbero et al., arXiv:2410.06205, proposition 3.1",
             RS_KIND(specs, params)},
    .state_size = sizeof(params),
    .keys = keys,
    .query = query,
};
