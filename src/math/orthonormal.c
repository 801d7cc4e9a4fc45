/* Orthonormal columns by Householder QR (GSL) of a Gaussian matrix. */
#include "ropescope/math.h"

#include <gsl/gsl_linalg.h>
#include <stdlib.h>

/* Column j of Q times the sign of R's diagonal makes the factorisation unique and the columns Haar distributed. */
static void copy_columns(const gsl_matrix *q, const gsl_matrix *r, double *out) {
  for (size_t j = 0; j < q->size2; j++) {
    double sign = gsl_matrix_get(r, j, j) < 0 ? -1 : 1;
    for (size_t i = 0; i < q->size1; i++) out[j * q->size1 + i] = sign * gsl_matrix_get(q, i, j);
  }
}

/* Q's first columns: the Householder reflections applied to the unit vectors (GSL's QR_unpack would build all of Q). */
static int unit_columns(const gsl_matrix *qr, const gsl_vector *tau, gsl_matrix *q) {
  for (size_t j = 0; j < q->size2; j++) {
    gsl_vector_view column = gsl_matrix_column(q, j);
    gsl_vector_set_basis(&column.vector, j);
    int failed = gsl_linalg_QR_Qvec(qr, tau, &column.vector);
    if (failed) return failed;
  }
  return 0;
}

rs_status rs_orthonormal(rs_stream stream, size_t rows, size_t columns, double *out, rs_err *err) {
  rs_status status = RS_OK;
  gsl_matrix *matrix = gsl_matrix_alloc(rows, columns), *q = gsl_matrix_alloc(rows, columns);
  gsl_vector *tau = gsl_vector_alloc(columns);
  if (matrix == NULL || q == NULL || tau == NULL) {
    status = rs_fail(err, RS_MEMORY, "out of memory: %zu x %zu projection", rows, columns);
    goto out;
  }
  rs_gaussian_fill(stream, 0, rows * columns, matrix->data);
  if (gsl_linalg_QR_decomp(matrix, tau) || unit_columns(matrix, tau, q))
    status = rs_fail(err, RS_INTERNAL, "QR of a %zu x %zu Gaussian matrix failed", rows, columns);
  else
    copy_columns(q, matrix, out);
out:
  gsl_vector_free(tau);
  gsl_matrix_free(q);
  gsl_matrix_free(matrix);
  return status;
}
