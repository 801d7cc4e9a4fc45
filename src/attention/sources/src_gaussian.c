/* iid N(0, 1) queries and keys: the null model, in which RoPE shows no decay at all (Barbero et al., arXiv:2410.06205,
 * proposition 3.2). */
#include "attention/sources.h"

#include <math.h>

void rs_gaussian_keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  rs_stream stream = {in->seed, RS_PURPOSE_KEYS, (uint32_t)in->head};
  rs_gaussian_fill(stream, (uint64_t)begin * in->head_dim, (end - begin) * in->head_dim, out);
}

void rs_gaussian_query(const rs_source_in *in, size_t position, double *out) {
  rs_stream stream = {in->seed, RS_PURPOSE_QUERIES, (uint32_t)in->head};
  rs_gaussian_fill(stream, (uint64_t)position * in->head_dim, in->head_dim, out);
}

/* Whose length is fixed. */
typedef enum norm { FREE, QUERIES, BOTH, NORMS } norm;

static const char *const norm_words[NORMS + 1] = {[FREE] = "free", [QUERIES] = "queries", [BOTH] = "both"};

typedef struct params {
  double sd;
  norm norm;
} params;

/* Each row times sd, or to length sd sqrt(D). */
static void scale(double sd, size_t dims, size_t rows, bool fixed, double *out) {
  for (size_t row = 0; row < rows; row++, out += dims) {
    double squares = 0;
    for (size_t d = 0; d < dims; d++) squares += out[d] * out[d];
    double gain = fixed ? sd * sqrt((double)dims / squares) : sd;
    for (size_t d = 0; d < dims; d++) out[d] *= gain;
  }
}

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  const params *p = in->state;
  rs_gaussian_keys(in, begin, end, out);
  scale(p->sd, in->head_dim, end - begin, p->norm == BOTH, out);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  const params *p = in->state;
  rs_gaussian_query(in, position, out);
  scale(p->sd, in->head_dim, 1, p->norm != FREE, out);
}

static const rs_param specs[] = {
    {RS_FIELD(params, sd), .unit = "1", .min = 0, .max = 1000, .fallback = "1",
     .summary = "standard deviation of each dim of q and k; the logits' is sd^2"},
    {RS_FIELD(params, norm), .unit = "", RS_WORDS(norm_words), .fallback = "free",
     .summary = "what has length sd sqrt(D) exactly: queries (a row's logits are then iid N(0, sd^4)), or keys as well "
                "(uniform on spheres)"},
};

const rs_source_kind rs_source_gaussian = {
    .kind = {.name = "gaussian",
             .summary = "iid N(0, sd^2) queries and keys: no content relates them",
             .reference = "Barbero et al., arXiv:2410.06205, proposition 3.2",
             RS_KIND(specs, params)},
    .state_size = sizeof(params),
    .keys = keys,
    .query = query,
};
