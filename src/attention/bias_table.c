/* The bias as the kernel reads it. A softmax does not see a constant of the row, so each row's is taken relative to the
 * query's own place: then float holds it as well as it needs to be where weights are. */
#include "worker.h"

#include <math.h>
#include <stdlib.h>

double rs_bias_of_query(const rs_attention_job *job, size_t query, size_t begin, size_t end, double *bits) {
  double offset;
  rs_encoding_quick_bias_row(job->encoding, job->head, query, query, query + 1, &offset);
  rs_encoding_quick_bias_row(job->encoding, job->head, query, begin, end, bits);
  for (size_t i = 0; i < end - begin; i++) bits[i] = (bits[i] - offset) * M_LOG2E;
  return offset;
}

/* past[d] and future[d]: the largest bias at distance d or more on either side. */
static void keep_largest(rs_bias_table *bias, size_t length) {
  for (size_t d = length - 1; d-- > 0;) {
    bias->past[d] = fmax(bias->past[d], bias->past[d + 1]);
    bias->future[d] = fmax(bias->future[d], bias->future[d + 1]);
  }
}

rs_status rs_bias_table_measure(rs_bias_table *bias, const rs_attention_job *job, rs_err *err) {
  size_t length = job->encoding->length;
  bias->any = job->mask.kind != RS_CROSS && job->encoding->method->bias != NULL;
  bias->by_distance = bias->any && rs_encoding_bias_of_distance(job->encoding);
  bias->offset = 0;
  if (!bias->by_distance) return RS_OK;
  if (bias->past == NULL) bias->past = rs_alloc(bias->room, sizeof *bias->past, err);
  if (bias->future == NULL) bias->future = rs_alloc(bias->room, sizeof *bias->future, err);
  if (bias->past == NULL || bias->future == NULL) return RS_MEMORY;
  bias->offset = rs_bias_of_query(job, length - 1, 0, length, bias->past);
  for (size_t d = 0; d < length / 2; d++) { /* key 0 is the farthest */
    double near = bias->past[length - 1 - d];
    bias->past[length - 1 - d] = bias->past[d];
    bias->past[d] = near;
  }
  rs_bias_of_query(job, 0, 0, length, bias->future);
  return RS_OK;
}

rs_status rs_bias_table_load(rs_bias_table *bias, const rs_attention_job *job, const rs_score_kernel *kernel,
                             rs_err *err) {
  size_t length = job->encoding->length, bytes = kernel->real_bytes;
  if (!bias->by_distance) return RS_OK;
  /* The kernel reads whole vectors and whole panels: some places past either end. */
  bias->origin = length - 1 + kernel->rows;
  size_t count = 2 * length + kernel->rows + RS_SCORE_LANES;
  RS_TRY(rs_reals_reserve(&bias->table, count, bytes, err));
  for (size_t i = 0; i < count; i++) rs_real_put(bias->table.data, bytes, i, 0);
  for (size_t d = 0; d < length; d++) {
    rs_real_put(bias->table.data, bytes, bias->origin + d, bias->past[d]);
    rs_real_put(bias->table.data, bytes, bias->origin - d, bias->future[d]);
  }
  keep_largest(bias, length);
  return RS_OK;
}

void rs_bias_table_clear(rs_bias_table *bias) {
  rs_reals_clear(&bias->table);
  free(bias->past);
  free(bias->future);
}
