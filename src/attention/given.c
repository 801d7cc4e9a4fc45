/* Rows that are there already, as sources hand them on. */
#include "sources.h"

#include <string.h>

void rs_given_keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  const rs_given_rows *rows = in->state;
  for (size_t n = begin; n < end; n++)
    memcpy(out + (n - begin) * in->head_dim, rows->k + n * rows->k_step, in->head_dim * sizeof *out);
}

void rs_given_query(const rs_source_in *in, size_t position, double *out) {
  const rs_given_rows *rows = in->state;
  for (size_t d = 0; d < in->head_dim; d++) out[d] = rows->factor * rows->q[position * rows->q_step + d];
}

rs_score_rule rs_given_rule(const rs_source_in *in) {
  return ((const rs_given_rows *)in->state)->rule;
}

size_t rs_given_needle(const rs_source_in *in, size_t position, const double *query, double *key) {
  const rs_given_rows *rows = in->state;
  (void)query;
  (void)key;
  return rows->sought != NULL ? rows->sought[position] : RS_NO_NEEDLE;
}
