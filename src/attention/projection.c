/* Additive embeddings as the head sees them: the table through the head's columns of W_q and W_k. */
#include "attention/attention.h"

#include <stdlib.h>

/* Rows of the embedding table alive at a time and thread: 16 of 4096 numbers stay in a second cache. */
enum { BLOCK = 16 };

/* Orthonormal columns of the head, [W_q | W_k]: one draw of 2D columns where the width has room, so that the two
 * subspaces are orthogonal; two draws of D where a single head fills the width. */
static rs_status head_columns(const rs_encoding *encoding, size_t head, uint64_t seed, double *columns, rs_err *err) {
  size_t width = encoding->width, dims = encoding->head_dim;
  rs_stream stream = {seed, RS_PURPOSE_PROJECTION, (uint32_t)(2 * head)};
  if (width >= 2 * dims) return rs_orthonormal(stream, width, 2 * dims, columns, err);
  RS_TRY(rs_orthonormal(stream, width, dims, columns, err));
  stream.head++;
  return rs_orthonormal(stream, width, dims, columns + width * dims, err);
}

/* out[row * D + d] = column d . table[row]. A column stays in cache while the block's rows pass. */
static void project_rows(const rs_encoding *encoding, const double *columns, const double *table, size_t rows,
                         double *out) {
  size_t width = encoding->width, dims = encoding->head_dim;
  for (size_t d = 0; d < dims; d++)
    for (size_t row = 0; row < rows; row++)
      out[row * dims + d] = rs_dot(table + row * width, columns + d * width, width);
}

/* Rows of the embedding table and where their projections go. */
typedef struct task {
  const rs_encoding *encoding;
  const double *columns; /* (D, width) */
  const size_t *tokens;  /* (count,); NULL: 0, 1, ... */
  size_t count;
  double *out; /* (count, D) */
} task;

/* Rows [begin, begin + rows) of the task; `table` (rows, width). */
static rs_status project_block(const task *t, size_t begin, size_t rows, double *table) {
  rs_status status = RS_OK;
  if (t->tokens == NULL) status = rs_encoding_embed(t->encoding, begin, rows, table, NULL);
  for (size_t row = 0; row < rows && status == RS_OK && t->tokens != NULL; row++)
    status = rs_encoding_embed(t->encoding, t->tokens[begin + row], 1, table + row * t->encoding->width, NULL);
  if (status == RS_OK) project_rows(t->encoding, t->columns, table, rows, t->out + begin * t->encoding->head_dim);
  return status;
}

/* Block by block on all threads: no row knows which block it is in. Every row of the table exists, or there would be no
 * encoding. */
static rs_status project_all(const task *t, rs_err *err) {
  size_t blocks = (t->count + BLOCK - 1) / BLOCK;
  bool failed = false;
#pragma omp parallel reduction(|| : failed) if (blocks > 1)
  {
    double *table = rs_alloc(BLOCK * t->encoding->width, sizeof *table, NULL);
    failed = table == NULL;
#pragma omp for schedule(static)
    for (size_t b = 0; b < blocks; b++) {
      size_t begin = b * BLOCK, rows = t->count - begin < BLOCK ? t->count - begin : BLOCK;
      failed = failed || project_block(t, begin, rows, table) != RS_OK;
    }
    free(table);
  }
  return failed ? rs_fail(err, RS_MEMORY, "out of memory: projecting the embedding") : RS_OK;
}

static rs_status project(const rs_encoding *encoding, size_t head, uint64_t weights_seed, const size_t *queries,
                         size_t query_count, rs_projection *out, rs_err *err) {
  size_t dims = encoding->head_dim;
  RS_FREED double *columns = rs_alloc(2 * dims * encoding->width, sizeof *columns, err);
  if (columns == NULL) return RS_MEMORY;
  RS_TRY(head_columns(encoding, head, weights_seed, columns, err));
  const task of_queries = {encoding, columns, queries, query_count, out->q};
  const task of_keys = {encoding, columns + dims * encoding->width, NULL, encoding->length, out->k};
  RS_TRY(project_all(&of_queries, err));
  return project_all(&of_keys, err);
}

rs_status rs_projection_create(const rs_encoding *encoding, size_t head, uint64_t weights_seed, const size_t *queries,
                               size_t query_count, rs_projection **projection, rs_err *err) {
  *projection = NULL;
  rs_projection *out = rs_alloc(1, sizeof *out, err);
  if (out == NULL) return RS_MEMORY;
  rs_status status = RS_MEMORY;
  out->q = rs_alloc(query_count * encoding->head_dim, sizeof *out->q, err);
  out->k = rs_alloc(encoding->length * encoding->head_dim, sizeof *out->k, err);
  if (out->q != NULL && out->k != NULL) status = project(encoding, head, weights_seed, queries, query_count, out, err);
  if (status == RS_OK)
    *projection = out;
  else
    rs_projection_free(out);
  return status;
}

void rs_projection_free(rs_projection *projection) {
  if (projection == NULL) return;
  free(projection->q);
  free(projection->k);
  free(projection);
}
