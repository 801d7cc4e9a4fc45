/* Orthonormal columns by Householder QR of a Gaussian matrix, as the LQ factorisation (GSL) of its transpose: there the
 * long vectors lie in memory as they are read. */
#include "ropescope/math.h"

#include <gsl/gsl_linalg.h>
#include <stdlib.h>

/* The transpose of a (rows, columns) matrix that is drawn row by row. */
static rs_status draw_transposed(rs_stream stream, gsl_matrix *lq, rs_err *err) {
  size_t columns = lq->size1, rows = lq->size2;
  double *row = rs_alloc(columns, sizeof *row, err);
  if (row == NULL) return RS_MEMORY;
  for (size_t i = 0; i < rows; i++) {
    rs_gaussian_fill(stream, (uint64_t)i * columns, columns, row);
    for (size_t j = 0; j < columns; j++) gsl_matrix_set(lq, j, i, row[j]);
  }
  free(row);
  return RS_OK;
}

/* Q's rows: the Householder reflections applied to the unit vectors (GSL's LQ_unpack would build all of Q). The sign of
 * L's diagonal makes the factorisation unique and the rows Haar distributed. */
static int unit_rows(const gsl_matrix *lq, const gsl_vector *tau, double *out) {
  size_t columns = lq->size1, rows = lq->size2;
  for (size_t j = 0; j < columns; j++) {
    gsl_vector_view row = gsl_vector_view_array(out + j * rows, rows);
    gsl_vector_set_basis(&row.vector, j);
    int failed = gsl_linalg_LQ_vecQ(lq, tau, &row.vector);
    if (failed) return failed;
    if (gsl_matrix_get(lq, j, j) < 0) gsl_vector_scale(&row.vector, -1);
  }
  return 0;
}

rs_status rs_orthonormal(rs_stream stream, size_t rows, size_t columns, double *out, rs_err *err) {
  /* Room of our own: GSL's loses a block where the second of two allocations fails. */
  double *room = rs_alloc(columns * (rows + 1), sizeof *room, err);
  if (room == NULL) return RS_MEMORY;
  gsl_matrix_view lq = gsl_matrix_view_array(room, columns, rows);
  gsl_vector_view tau = gsl_vector_view_array(room + columns * rows, columns);
  rs_status status = draw_transposed(stream, &lq.matrix, err);
  if (status == RS_OK && (gsl_linalg_LQ_decomp(&lq.matrix, &tau.vector) || unit_rows(&lq.matrix, &tau.vector, out)))
    status = rs_fail(err, RS_INTERNAL, "QR of a %zu x %zu Gaussian matrix failed", rows, columns);
  free(room);
  return status;
}
