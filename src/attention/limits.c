#include "engine.h"

#include <float.h>
#include <math.h>

const char *const rs_score_format_words[RS_SCORE_FORMATS + 1] = {
    [RS_SCORES_AUTO] = "auto", [RS_SCORES_F32] = "f32", [RS_SCORES_F64] = "f64"};

/* Numbers below which threads cost more than they bring. */
static const double WORTH_THREADS = 5e5;

/* The largest norm of a row, for what is finite; NaN or infinity otherwise. `factor` (rows,) may be NULL. */
static double largest_norm(const double *x, const double *embedded, const size_t *factor_of, const double *factor,
                           size_t rows, size_t dims) {
  double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most) if ((double)(rows * dims) >= WORTH_THREADS)
  for (size_t i = 0; i < rows; i++) {
    double squares = 0, gain = factor != NULL ? fabs(factor[factor_of[i]]) : 1;
    for (size_t d = i * dims; d < (i + 1) * dims; d++) {
      double value = x[d] + (embedded != NULL ? embedded[d] : 0);
      squares += value * value;
    }
    double norm = gain * sqrt(squares);
    if (!(norm <= most)) most = isnan(norm) ? INFINITY : norm;
  }
  return most;
}

/* The largest factor rotation puts on a token of one side. */
static double largest_gain(const rs_attention_job *job, double *const *gains) {
  const rs_encoding *encoding = job->encoding;
  double most = 1;
  if (job->mask.kind == RS_CROSS) return 1;
  for (size_t v = 0; v < encoding->views; v++)
    for (size_t i = 0; gains[v] != NULL && i < encoding->length * (encoding->rotary_dim / 2); i++)
      most = fmax(most, fabs(gains[v][i]));
  return most * fmax(1, fabs(encoding->amp));
}

static double norm_of(const double *x, size_t dims) {
  double squares = 0;
  for (size_t d = 0; d < dims && x != NULL; d++) squares += x[d] * x[d];
  return sqrt(squares);
}

static double largest_factor(const rs_attention_job *job) {
  double most = 0;
  for (size_t i = 0; i < job->query_count; i++) most = fmax(most, fabs(job->encoding->logit_scale[job->queries[i]]));
  return most;
}

/* What vectors of distance add at most, of queries and keys of these norms, the queries' times their scale. */
static double largest_of_vectors(const rs_loaded_job *loaded, double q, double k) {
  const rs_vector_table *vectors = &loaded->vectors;
  size_t dims = loaded->job.encoding->head_dim;
  double scale = largest_factor(&loaded->job), r = rs_vector_norm(vectors, dims);
  return scale * norm_of(vectors->u, dims) * k +
         (q + scale * (norm_of(vectors->v, dims) + (vectors->form.keys ? k : 0))) * r;
}

/* B of engine.h, nats. */
static double largest_logit(const rs_loaded_job *loaded) {
  const rs_attention_job *job = &loaded->job;
  const rs_encoding *encoding = job->encoding;
  const rs_projection *projection = job->projection;
  size_t dims = encoding->head_dim;
  double q = largest_norm(job->q, projection != NULL ? projection->q : NULL, job->queries, encoding->logit_scale,
                          job->query_count, dims);
  double k = largest_norm(job->k, projection != NULL ? projection->k : NULL, NULL, NULL, encoding->length, dims);
  double needle = job->needle_key != NULL ? largest_norm(job->needle_key, NULL, NULL, NULL, job->query_count, dims) : 0;
  double scale = fabs(rs_encoding_head_scale(encoding, job->head));
  double product = scale * q * largest_gain(job, encoding->gain_q) * fmax(k, needle) *
                   largest_gain(job, encoding->gain_k) / sqrt((double)dims);
  if (!loaded->vectors.any) return product;
  return product + scale * largest_of_vectors(loaded, q, fmax(k, needle)) / sqrt((double)dims);
}

static double error_bound(double unit, double dims, double logit, double bias) {
  return unit * (dims * logit / 2 + 3 * (logit + bias) + 28 + 128);
}

rs_status rs_limits_choose(rs_loaded_job *loaded, rs_err *err) {
  const rs_attention_job *job = &loaded->job;
  const rs_bias_table *bias = &loaded->bias;
  size_t length = job->encoding->length;
  double logit = largest_logit(loaded), above = 0, dims = (double)job->encoding->head_dim;
  for (size_t d = 0; d < length && bias->by_distance; d++)
    above = fmax(above, fmax(bias->past[d], bias->future[d]) * M_LN2);
  if (!(logit + above < DBL_MAX))
    return rs_fail(err, RS_DOMAIN,
                   "logits are not finite (an angle beyond its float format, or gains beyond doubles?)");
  bool unknown = rs_job_adds(loaded) && !rs_job_adds_by_distance(loaded);
  double f32 = error_bound(FLT_EPSILON / 2, dims, logit, above);
  bool small = f32 <= RS_SCORE_TOLERANCE && !unknown;
  loaded->scores = job->scores == RS_SCORES_AUTO ? (small ? RS_SCORES_F32 : RS_SCORES_F64) : job->scores;
  const rs_kernels *kernels = rs_kernels_get();
  bool single = loaded->scores == RS_SCORES_F32;
  loaded->kernel = single ? kernels->scores_f32 : kernels->scores_f64;
  loaded->error = single ? f32 : error_bound(DBL_EPSILON / 2, dims, logit, above);
  if (single && !(logit + above < FLT_MAX * 1e-10))
    return rs_fail(err, RS_DOMAIN, "logits up to %g are too large for float (scores: f64)", logit + above);
  return RS_OK;
}

double rs_limits_error(const rs_loaded_job *loaded, double above) {
  double unit = (loaded->scores == RS_SCORES_F32 ? FLT_EPSILON : DBL_EPSILON) / 2;
  return loaded->error + (rs_job_adds_by_distance(loaded) ? 0 : unit * 3 * above);
}

double rs_job_pairs(const rs_attention_job *job, size_t first, size_t count) {
  double pairs = 0;
  for (size_t i = first; i < first + count; i++) {
    rs_range seen[2];
    size_t ranges = rs_mask_ranges(&job->mask, job->encoding->length, job->queries[i], seen);
    for (size_t r = 0; r < ranges; r++) pairs += (double)(seen[r].end - seen[r].begin);
  }
  return pairs;
}
