/* Orthonormal columns by Householder QR of a Gaussian matrix, as the LQ of its transpose (GSL): there the long vectors
 * lie in memory as they are read. */
#include "base/base.h"

#include <gsl/gsl_linalg.h>
#include <stdlib.h>

/* The transpose of a (rows, columns) matrix that is drawn row by row. */
static rs_status draw_transposed(rs_stream stream, size_t rows, size_t columns, double *out, rs_err *err) {
  double *row = rs_alloc(columns, sizeof *row, err);
  if (row == NULL) return RS_MEMORY;
  for (size_t i = 0; i < rows; i++) {
    rs_gaussian_fill(stream, (uint64_t)i * columns, columns, row);
    for (size_t j = 0; j < columns; j++) out[j * rows + i] = row[j];
  }
  free(row);
  return RS_OK;
}

/* The sign of L's diagonal makes the factors unique and the rows Haar distributed. */
static int unit_rows(const gsl_matrix *lq, const gsl_vector *tau, double *out) {
  int failed = 0;
  for (size_t j = 0; j < lq->size1 && !failed; j++) {
    gsl_vector_view row = gsl_vector_view_array(out + j * lq->size2, lq->size2);
    gsl_vector_set_basis(&row.vector, j);
    failed = gsl_linalg_LQ_vecQ(lq, tau, &row.vector);
    if (gsl_matrix_get(lq, j, j) < 0) gsl_vector_scale(&row.vector, -1);
  }
  return failed;
}

rs_status rs_orthonormal(rs_stream stream, size_t rows, size_t columns, double *out, rs_err *err) {
  double *room = rs_alloc(columns * (rows + 1), sizeof *room, err);
  if (room == NULL) return RS_MEMORY;
  gsl_matrix_view lq = gsl_matrix_view_array(room, columns, rows);
  gsl_vector_view tau = gsl_vector_view_array(room + columns * rows, columns);
  rs_status status = draw_transposed(stream, rows, columns, room, err);
  int failed = status == RS_OK ? gsl_linalg_LQ_decomp(&lq.matrix, &tau.vector) : 0;
  if (status == RS_OK && !failed) failed = unit_rows(&lq.matrix, &tau.vector, out);
  free(room);
  return status == RS_OK ? rs_gsl(failed, "QR", err) : status;
}
