/* How many dimensions a position table really uses: the share of its variance along each principal component, over the
 * positions of the first picture's first frame, else of the sequence. Jolliffe, Principal Component Analysis, 2nd ed.,
 * 2002, section 1.1; of position tables: Wang and Chen, arXiv:2010.04903.
 *
 * The shares are the eigenvalues of the centred table's Gram matrix, over positions or over channels, whichever are
 * fewer: both have the same. Small ones are good to 1e-16 of the largest. */
#include "metrics.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_sort_vector.h>
#include <math.h>
#include <stdlib.h>

enum { POSITIONS = 1024 }; /* more are sampled evenly */

#define EXPLAINED 0.9

/* The table (positions, width), each channel less its mean. */
static rs_status read_table(const rs_encoding *encoding, const rs_position_set *set, gsl_matrix *table, rs_err *err) {
  for (size_t i = 0; i < table->size1; i++)
    RS_TRY(rs_encoding_embed(encoding, set->begin + rs_even_sample(i, POSITIONS, set->count), 1,
                             gsl_matrix_ptr(table, i, 0), err));
  for (size_t c = 0; c < table->size2; c++) {
    rs_sum sum = {0};
    for (size_t i = 0; i < table->size1; i++) rs_sum_add(&sum, gsl_matrix_get(table, i, c));
    double mean = rs_sum_total(&sum) / (double)table->size1;
    for (size_t i = 0; i < table->size1; i++) *gsl_matrix_ptr(table, i, c) -= mean;
  }
  return RS_OK;
}

/* The eigenvalues of the smaller Gram matrix, largest first. */
static rs_status solve(const gsl_matrix *table, gsl_matrix *gram, gsl_vector *values, rs_err *err) {
  CBLAS_TRANSPOSE_t side = table->size1 <= table->size2 ? CblasNoTrans : CblasTrans;
  double *diagonals = rs_alloc(gram->size1, 2 * sizeof *diagonals, err);
  if (diagonals == NULL) return RS_MEMORY;
  /* Not by gsl_eigen_symm_alloc, which (GSL 2.7) frees nothing where it gets but a part of this. */
  gsl_eigen_symm_workspace work = {.size = gram->size1, .d = diagonals, .sd = diagonals + gram->size1};
  bool failed = gsl_blas_dsyrk(CblasLower, side, 1, table, 0, gram) || gsl_eigen_symm(gram, values, &work);
  free(diagonals);
  if (failed) return rs_fail(err, RS_INTERNAL, "eigenvalues of a %zu x %zu matrix failed", gram->size1, gram->size1);
  gsl_sort_vector(values);
  gsl_vector_reverse(values);
  return RS_OK;
}

static rs_status report(const gsl_vector *values, rs_result *result, rs_err *err) {
  double total = 0, cumulative = 0;
  for (size_t i = 0; i < values->size; i++) total += fmax(gsl_vector_get(values, i), 0);
  if (!(total > 0)) return RS_OK;
  for (size_t i = 0; i < values->size; i++) {
    double share = fmax(gsl_vector_get(values, i), 0) / total;
    cumulative = fmin(cumulative + share, 1);
    if (isnan(result->value[0]) && cumulative >= EXPLAINED) result->value[0] = (double)(i + 1);
    if (i < 2) result->value[1] = cumulative;
    double row[] = {(double)(i + 1), share, cumulative};
    RS_TRY(rs_curve_add(&result->curve, row, err));
  }
  return RS_OK;
}

static rs_status analyse(const rs_encoding *encoding, rs_result *result, rs_err *err) {
  rs_position_set set = rs_positions_of(&encoding->tokens, encoding->length);
  size_t positions = set.count < POSITIONS ? set.count : POSITIONS, width = encoding->width;
  size_t side = positions < width ? positions : width;
  gsl_matrix *table = gsl_matrix_alloc(positions, width), *gram = gsl_matrix_alloc(side, side);
  gsl_vector *values = gsl_vector_alloc(side);
  rs_status status = RS_OK;
  if (table == NULL || gram == NULL || values == NULL)
    status = rs_fail(err, RS_MEMORY, "out of memory: %zu x %zu table", positions, width);
  if (status == RS_OK) status = read_table(encoding, &set, table, err);
  if (status == RS_OK) status = solve(table, gram, values, err);
  if (status == RS_OK) status = report(values, result, err);
  gsl_vector_free(values);
  gsl_matrix_free(gram);
  gsl_matrix_free(table);
  return status;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  result->value[0] = result->value[1] = NAN;
  if (in->encoding->method->embed == NULL) return RS_OK;
  rs_gsl_errors_begin();
  rs_status status = analyse(in->encoding, result, err);
  rs_gsl_errors_end();
  return status;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)given;
  size_t positions = rs_positions_of(in->tokens, in->length).count;
  if (positions > POSITIONS) positions = POSITIONS;
  return positions < in->width ? positions : in->width;
}

static const rs_column scalars[] = {
    {.name = "pca_components_90", .unit = "", .summary = "principal components that hold 90 % of the table's variance"},
    {.name = "pca_first_two", .unit = "1", .summary = "share of the variance that the first two components hold"},
};

static const rs_column curve[] = {
    {.name = "component", .unit = "", .summary = "principal component, from 1, largest first", .log_axis = true},
    {.name = "explained_variance", .unit = "1", .summary = "its share of the table's variance over positions"},
    {.name = "cumulative", .unit = "1", .summary = "share of this component and all before it"},
};

const rs_metric_kind rs_metric_position_pca = {
    .kind = {.name = "position_pca",
             .summary = "principal components of the position table: the share of the variance each explains",
             .reference = "Jolliffe, Principal Component Analysis, 2002; Wang and Chen, arXiv:2010.04903",
             .version = 1},
    .scalars = scalars,
    .scalar_count = RS_COUNT(scalars),
    .curve = curve,
    .curve_count = RS_COUNT(curve),
    .index_count = 1,
    .curve_rows = curve_rows,
    .finish = finish,
};
