/* Orthonormal columns by Householder QR of a Gaussian matrix, as the LQ of its transpose: there the long vectors lie in
 * memory as they are read. */
#include "factors.h"

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
static void unit_rows(const double *lq, size_t rows, size_t columns, const double *scales, double *out) {
  for (size_t j = 0; j < columns; j++) {
    double *row = out + j * rows;
    rs_lq_row(lq, rows, scales, j, row);
    for (size_t i = 0; i < rows && lq[j * rows + j] < 0; i++) row[i] = -row[i];
  }
}

rs_status rs_orthonormal(rs_stream stream, size_t rows, size_t columns, double *out, rs_err *err) {
  double *lq = rs_alloc(columns * (rows + 1), sizeof *lq, err);
  if (lq == NULL) return RS_MEMORY;
  double *scales = lq + columns * rows;
  rs_status status = draw_transposed(stream, rows, columns, lq, err);
  if (status == RS_OK) {
    rs_lq(lq, columns, rows, scales);
    unit_rows(lq, rows, columns, scales, out);
  }
  free(lq);
  return status;
}
