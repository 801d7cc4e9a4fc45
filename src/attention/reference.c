/* The reference row: the formula of encoding.h, key by key, in double, with nothing clever in it. Engines are tested
 * against this. */
#include "attention/attention.h"

#include <math.h>
#include <stdlib.h>

static bool sees(const rs_attention_job *job, size_t query, size_t key) {
  rs_range ranges[2];
  size_t count = rs_mask_ranges(&job->mask, job->encoding->length, query, ranges);
  for (size_t i = 0; i < count; i++)
    if (key >= ranges[i].begin && key < ranges[i].end) return true;
  return false;
}

static void add(const double *x, const double *embedded, size_t dims, double *out) {
  for (size_t d = 0; d < dims; d++) out[d] = x[d] + (embedded != NULL ? embedded[d] : 0);
}

/* What vectors of distance add to <q, k>; `r` (D,) gets the one that is read. */
static double of_vectors(const rs_attention_job *job, size_t m, size_t n, const double *q, const double *k, double *r) {
  size_t dims = job->encoding->head_dim;
  const double *u, *v;
  rs_vectors form;
  double sum = 0;
  if (!rs_encoding_vectors(job->encoding, &form)) return 0;
  size_t table = form.tables > 1 ? job->head : 0, column = rs_vector_column(&form, m, n);
  rs_encoding_vectors_fill(job->encoding, &(rs_vector_part){table, 1, column, column + 1}, r, 1);
  rs_encoding_vectors_added(job->encoding, job->head, &u, &v);
  for (size_t d = 0; d < dims; d++) {
    sum += (u != NULL ? u[d] : 0) * k[d] + (q[d] + (v != NULL ? v[d] : 0)) * r[d];
    if (form.keys) sum += k[d] * r[d];
  }
  return sum;
}

/* logit(h, m, n) of query number `index` with the content `key`, standing at position n. */
static double logit(const rs_attention_job *job, size_t index, const double *key, size_t n, double *work) {
  const rs_encoding head = rs_encoding_of_head(job->encoding, job->head), *e = &head;
  size_t m = job->queries[index], dims = e->head_dim, view = rs_encoding_view(e, m, n);
  double *q = work, *k = work + dims, sum = 0, bias = 0;
  bool across = job->mask.kind == RS_CROSS;
  add(job->q + index * dims, job->projection != NULL ? job->projection->q + index * dims : NULL, dims, q);
  add(key, job->projection != NULL ? job->projection->k + n * dims : NULL, dims, k);
  if (!across) rs_encoding_rotate_token(e, RS_QUERY_SIDE, view, m, q, q);
  if (!across) rs_encoding_rotate_token(e, RS_KEY_SIDE, view, n, k, k);
  for (size_t d = 0; d < dims; d++) sum += q[d] * k[d];
  if (!across) sum += of_vectors(job, m, n, q, k, k + dims);
  if (!across) rs_encoding_bias_row(e, job->head, m, n, n + 1, &bias);
  double product = e->logit_scale[m] * rs_encoding_head_scale(e, job->head) * sum / sqrt((double)dims);
  if (job->soft_cap != 0) product = job->soft_cap * tanh(product / job->soft_cap);
  return product + bias;
}

rs_status rs_reference_row(const rs_attention_job *job, size_t index, double *logits, double *needle, rs_err *err) {
  size_t dims = job->encoding->head_dim, m = job->queries[index];
  RS_FREED double *work = rs_alloc(3 * dims, sizeof *work, err);
  if (work == NULL) return RS_MEMORY;
  for (size_t n = 0; n < job->encoding->length; n++)
    logits[n] = sees(job, m, n) ? logit(job, index, job->k + n * dims, n, work) : -INFINITY;
  *needle = NAN;
  size_t n = job->needle_at != NULL ? job->needle_at[index] : RS_NO_NEEDLE;
  if (n != RS_NO_NEEDLE && sees(job, m, n))
    *needle = logit(job, index, job->needle_key != NULL ? job->needle_key + index * dims : job->k + n * dims, n, work);
  return RS_OK;
}
