/* Linear layers: three products of a matrix each. OpenBLAS picks its kernels by the machine; each thread calls it for
 * itself. Its Fortran names are used: those of CBLAS may be GSL's own plain ones. */
#include "linear.h"

#include <f77blas.h>
#include <string.h>

/* A matrix in rows, as Fortran does not have it. */
typedef struct matrix {
  const real *data;
  size_t step;
  bool turned;
} matrix;

/* c (rows, columns) = a b, plus c where `add`. To Fortran, whose matrices stand in columns, it is c' = b' a'. */
static void multiply(size_t rows, size_t columns, size_t depth, matrix a, matrix b, rs_rows c, bool add) {
  char turn_a = a.turned ? 'T' : 'N', turn_b = b.turned ? 'T' : 'N';
  blasint m = (blasint)columns, n = (blasint)rows, k = (blasint)depth;
  blasint lda = (blasint)a.step, ldb = (blasint)b.step, ldc = (blasint)c.step;
  real one = 1, beta = add ? 1 : 0;
#if RS_REAL_BITS == 32
  sgemm_(&turn_b, &turn_a, &m, &n, &k, &one, (real *)b.data, &ldb, (real *)a.data, &lda, &beta, c.data, &ldc);
#else
  dgemm_(&turn_b, &turn_a, &m, &n, &k, &one, (real *)b.data, &ldb, (real *)a.data, &lda, &beta, c.data, &ldc);
#endif
}

static void add_bias(const real *bias, size_t rows, size_t outputs, rs_rows y, bool add) {
  for (size_t r = 0; r < rows; r++) {
    real *row = y.data + r * y.step;
    if (!add) memset(row, 0, outputs * sizeof *row);
    for (size_t i = 0; i < outputs; i++) row[i] += bias[i];
  }
}

void RS_OF_REAL(rs_linear)(const real *values, const rs_linear_place *place, size_t rows, rs_rows x, rs_rows y,
                           bool add) {
  bool bias = place->bias != RS_NOWHERE;
  if (bias) add_bias(values + place->bias, rows, place->outputs, y, add);
  matrix inputs = {x.data, x.step, false}, weights = {values + place->weight, place->inputs, true};
  multiply(rows, place->outputs, place->inputs, inputs, weights, y, add || bias);
}

void RS_OF_REAL(rs_linear_back)(const real *values, const rs_linear_place *place, size_t rows, rs_rows x, rs_rows dy,
                                rs_rows dx, bool add, real *gradient) {
  matrix by_output = {dy.data, dy.step, false}, turned = {dy.data, dy.step, true};
  matrix weights = {values + place->weight, place->inputs, false}, inputs = {x.data, x.step, false};
  if (dx.data != NULL) multiply(rows, place->inputs, place->outputs, by_output, weights, dx, add);
  multiply(place->outputs, place->inputs, rows, turned, inputs, (rs_rows){gradient + place->weight, place->inputs},
           true);
  for (size_t r = 0; r < rows && place->bias != RS_NOWHERE; r++)
    for (size_t i = 0; i < place->outputs; i++) gradient[place->bias + i] += dy.data[r * dy.step + i];
}
