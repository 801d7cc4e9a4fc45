/* How many dimensions a position table really uses: the share of its variance along each principal component, over the
 * positions of the first picture's first frame, else of the sequence. Jolliffe, Principal Component Analysis, 2nd ed.,
 * 2002, section 1.1; of position tables: Wang and Chen, arXiv:2010.04903.
 *
 * The shares are the eigenvalues of the centred table's Gram matrix, over positions or over channels, whichever are
 * fewer: both have the same. Small ones are good to some 1e-16 of the largest. */
#include "metric_list.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_sort_vector.h>
#include <math.h>
#include <stdlib.h>

enum { POSITIONS = 1024 }; /* more are sampled evenly */

#define EXPLAINED 0.9

/* The table less each channel's mean, and what comes of it. */
typedef struct analysis {
  size_t positions, width, side; /* side: the smaller of the two */
  double *table;                 /* (positions, width) */
  double *gram;                  /* (side, side) */
  double *values;                /* (side,) its eigenvalues, largest first */
} analysis;

static rs_status analysis_init(analysis *a, size_t positions, size_t width, rs_err *err) {
  *a = (analysis){.positions = positions, .width = width, .side = positions < width ? positions : width};
  a->table = rs_alloc(positions * width, sizeof *a->table, err);
  a->gram = rs_alloc(a->side * a->side, sizeof *a->gram, err);
  a->values = rs_alloc(a->side, sizeof *a->values, err);
  return a->table != NULL && a->gram != NULL && a->values != NULL ? RS_OK : RS_MEMORY;
}

static void analysis_clear(analysis *a) {
  free(a->table);
  free(a->gram);
  free(a->values);
}

static rs_status read_table(const rs_encoding *encoding, const rs_position_set *set, analysis *a, rs_err *err) {
  for (size_t i = 0; i < a->positions; i++)
    RS_TRY(rs_encoding_embed(encoding, set->begin + rs_even_sample(i, POSITIONS, set->count), 1,
                             a->table + i * a->width, err));
  for (size_t c = 0; c < a->width; c++) {
    rs_sum sum = {0};
    for (size_t i = 0; i < a->positions; i++) rs_sum_add(&sum, a->table[i * a->width + c]);
    double mean = rs_sum_total(&sum) / (double)a->positions;
    for (size_t i = 0; i < a->positions; i++) a->table[i * a->width + c] -= mean;
  }
  return RS_OK;
}

/* The Gram matrix, and its eigenvalues in room of our own: GSL's (2.7) is lost where it gets but a part of it. */
static rs_status analyse(analysis *a, rs_err *err) {
  double *diagonals = rs_alloc(2 * a->side, sizeof *diagonals, err);
  if (diagonals == NULL) return RS_MEMORY;
  gsl_eigen_symm_workspace work = {.size = a->side, .d = diagonals, .sd = diagonals + a->side};
  gsl_matrix_view table = gsl_matrix_view_array(a->table, a->positions, a->width);
  gsl_matrix_view gram = gsl_matrix_view_array(a->gram, a->side, a->side);
  gsl_vector_view values = gsl_vector_view_array(a->values, a->side);
  CBLAS_TRANSPOSE_t over = a->positions <= a->width ? CblasNoTrans : CblasTrans;
  int failed = gsl_blas_dsyrk(CblasLower, over, 1, &table.matrix, 0, &gram.matrix);
  if (!failed) failed = gsl_eigen_symm(&gram.matrix, &values.vector, &work);
  free(diagonals);
  gsl_sort_vector(&values.vector);
  gsl_vector_reverse(&values.vector);
  return rs_gsl(failed, "principal components", err);
}

static rs_status report(const analysis *a, rs_result *result, rs_err *err) {
  double total = 0, cumulative = 0;
  for (size_t i = 0; i < a->side; i++) total += fmax(a->values[i], 0);
  if (!(total > 0)) return RS_OK;
  for (size_t i = 0; i < a->side; i++) {
    double share = fmax(a->values[i], 0) / total;
    cumulative = fmin(cumulative + share, 1);
    if (isnan(result->value[0]) && cumulative >= EXPLAINED) result->value[0] = (double)(i + 1);
    if (i < 2) result->value[1] = cumulative;
    double row[] = {(double)(i + 1), share, cumulative};
    RS_TRY(rs_curve_add(&result->curve, row, err));
  }
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_encoding *encoding = in->encoding;
  result->value[0] = result->value[1] = NAN;
  if (encoding->method->embed == NULL) return RS_OK;
  rs_position_set set = rs_positions_of(&encoding->tokens, encoding->length);
  analysis a;
  rs_status status = analysis_init(&a, set.count < POSITIONS ? set.count : POSITIONS, encoding->width, err);
  if (status == RS_OK) status = read_table(encoding, &set, &a, err);
  if (status == RS_OK) status = analyse(&a, err);
  if (status == RS_OK) status = report(&a, result, err);
  analysis_clear(&a);
  return status;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)given;
  size_t positions = rs_positions_of(in->tokens, in->length).count;
  if (positions > POSITIONS) positions = POSITIONS;
  return positions < in->width ? positions : in->width;
}

static const rs_column scalars[] = {
    RS_COLUMN("pca_components_90", "", "principal components that hold 90 % of the table's variance", .integer = true),
    RS_COLUMN("pca_first_two", "1", "share of the variance that the first two components hold"),
};

static const rs_column curve[] = {
    RS_COLUMN("component", "", "principal component, from 1, largest first", .integer = true, .log_axis = true),
    RS_COLUMN("explained_variance", "1", "its share of the table's variance over positions"),
    RS_COLUMN("cumulative", "1", "share of this component and all before it"),
};

const rs_metric_kind rs_metric_position_pca = {
    .kind = {.name = "position_pca",
             .summary = "principal components of the position table: the share of the variance each explains",
             .reference = "Jolliffe, Principal Component Analysis, 2002; Wang and Chen, arXiv:2010.04903"},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
