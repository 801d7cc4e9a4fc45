/* How many dimensions a position table really uses: the share of its variance along each principal component, over the
 * positions of the first picture's first frame, else of the sequence. Jolliffe, Principal Component Analysis, 2nd ed.,
 * 2002, section 1.1; of position tables: Wang and Chen, arXiv:2010.04903.
 *
 * The shares are the eigenvalues of the centred table's Gram matrix, over positions or over channels, whichever are
 * fewer: both have the same. Small ones are good to some 1e-16 of the largest. */
#include "metric_list.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sort_vector.h>
#include <math.h>
#include <stdlib.h>

enum { POSITIONS = 1024 }; /* more are sampled evenly */

#define EXPLAINED 0.9

/* The table less each channel's mean, and what comes of it. */
typedef struct analysis {
  size_t positions, width, side; /* side: the smaller of the two */
  double *table;                 /* (positions, width) */
  double *mean;                  /* (width,) */
  double *gram;                  /* (side, side) */
  double *values;                /* (side,) its eigenvalues, largest first */
} analysis;

static rs_status analysis_init(analysis *a, size_t positions, size_t width, rs_err *err) {
  *a = (analysis){.positions = positions, .width = width, .side = positions < width ? positions : width};
  a->table = rs_alloc(positions * width, sizeof *a->table, err);
  a->mean = rs_alloc(width, sizeof *a->mean, err);
  a->gram = rs_alloc(a->side * a->side, sizeof *a->gram, err);
  a->values = rs_alloc(a->side, sizeof *a->values, err);
  return a->table != NULL && a->mean != NULL && a->gram != NULL && a->values != NULL ? RS_OK : RS_MEMORY;
}

static void analysis_clear(analysis *a) {
  free(a->table);
  free(a->mean);
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
    a->mean[c] = rs_sum_total(&sum) / (double)a->positions;
    for (size_t i = 0; i < a->positions; i++) a->table[i * a->width + c] -= a->mean[c];
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

/* ---- components -------------------------------------------------------------------------------------------------- */

/* Where positions stand along the first components: maps over the grid. */

enum { SIDE = 128, SEQUENCE = 2048 };      /* rows and columns of a picture, tokens of a sequence that are shown */
enum { MOST_COMPONENTS = 6, CHECKED = 2 }; /* a picture has no more panels; components that scalars are of */

#define TIE 1e-9      /* relative: numbers that differ by less are equal */
#define NOTHING 1e-12 /* singular values below this share of the largest are rounding */

typedef struct params {
  size_t components;
} params;

typedef struct decomposition {
  analysis a;
  const rs_encoding *encoding;
  rs_position_set set;
  size_t shown;    /* positions */
  double *axes;    /* (width, side) column k: the direction of component k */
  double *spread;  /* (side,) singular values, largest first */
  double *weights; /* (side,) */
  double *row;     /* (width,) */
  double *scores;  /* (shown,) of one component */
  rs_arena memory;
} decomposition;

static rs_status decomposition_init(decomposition *d, const rs_encoding *encoding, rs_err *err) {
  size_t width = encoding->width;
  *d = (decomposition){.encoding = encoding, .set = rs_positions_of(&encoding->tokens, encoding->length)};
  d->shown = rs_positions_shown(&d->set, SIDE, SEQUENCE);
  RS_TRY(analysis_init(&d->a, d->set.count < POSITIONS ? d->set.count : POSITIONS, width, err));
  d->axes = rs_arena_take(&d->memory, width * d->a.side, sizeof *d->axes);
  d->spread = rs_arena_take(&d->memory, d->a.side, sizeof *d->spread);
  d->weights = rs_arena_take(&d->memory, d->a.side, sizeof *d->weights);
  d->row = rs_arena_take(&d->memory, width, sizeof *d->row);
  d->scores = rs_arena_take(&d->memory, d->shown, sizeof *d->scores);
  return rs_arena_check(&d->memory, err);
}

static void decomposition_clear(decomposition *d) {
  analysis_clear(&d->a);
  rs_arena_clear(&d->memory);
}

/* The singular values of the centred table, or of its transpose where that is the taller one; the table's memory holds
 * other numbers then. */
static rs_status decompose(decomposition *d, rs_err *err) {
  analysis *a = &d->a;
  bool tall = a->positions >= a->width;
  gsl_matrix_view table = gsl_matrix_view_array(a->table, a->positions, a->width);
  gsl_matrix_view axes = gsl_matrix_view_array(d->axes, a->width, a->side);
  gsl_matrix_view square = gsl_matrix_view_array(a->gram, a->side, a->side);
  gsl_vector_view spread = gsl_vector_view_array(d->spread, a->side), work = gsl_vector_view_array(a->values, a->side);
  if (!tall) (void)gsl_matrix_transpose_memcpy(&axes.matrix, &table.matrix);
  int failed = tall ? gsl_linalg_SV_decomp(&table.matrix, &axes.matrix, &spread.vector, &work.vector)
                    : gsl_linalg_SV_decomp(&axes.matrix, &square.matrix, &spread.vector, &work.vector);
  return rs_gsl(failed, "principal components", err);
}

/* The channel whose unit vector has the longest projection on these components; of equals the first. */
static size_t nearest_channel(const decomposition *d, size_t first, size_t count) {
  size_t side = d->a.side, channel = 0;
  double most = 0;
  for (size_t c = 0; c < d->a.width; c++) {
    d->row[c] = 0;
    for (size_t k = first; k < first + count; k++) d->row[c] += d->axes[c * side + k] * d->axes[c * side + k];
    most = fmax(most, d->row[c]);
  }
  while (d->row[channel] < most * (1 - TIE)) channel++;
  return channel;
}

/* Reflects `count` components among themselves (Householder), so that the channel is seen by the first of them alone,
 * and there it is positive. */
static void reflect(decomposition *d, size_t first, size_t count, size_t channel) {
  size_t side = d->a.side;
  double *h = d->weights, norm = 0, length = 0;
  for (size_t k = 0; k < count; k++) h[k] = d->axes[channel * side + first + k];
  for (size_t k = 0; k < count; k++) norm += h[k] * h[k];
  for (size_t k = 0; k < count; k++) h[k] = h[k] / sqrt(norm) - (k == 0);
  for (size_t k = 0; k < count; k++) length += h[k] * h[k];
  for (size_t c = 0; c < d->a.width && length > 0; c++) {
    double *entries = d->axes + c * side + first, along = 0;
    for (size_t k = 0; k < count; k++) along += entries[k] * h[k];
    for (size_t k = 0; k < count; k++) entries[k] -= 2 * along / length * h[k];
  }
}

/* Any basis of the span of components of equal variance will do: the first is where the channel that lies in it most
 * points to, the others follow in what is left. Rows and columns of a square grid come apart by that. Of a single
 * component it makes the largest entry positive. */
static void choose_basis(decomposition *d) {
  size_t side = d->a.side;
  for (size_t first = 0, end; first < side && d->spread[first] > NOTHING * d->spread[0]; first = end) {
    for (end = first + 1; end < side && d->spread[end] >= d->spread[first] * (1 - TIE);) end++;
    for (size_t k = first; k < end && k < MOST_COMPONENTS; k++) reflect(d, k, end - k, nearest_channel(d, k, end - k));
  }
}

static rs_status score(decomposition *d, size_t component, rs_err *err) {
  for (size_t i = 0; i < d->shown; i++) {
    size_t token = d->set.begin + rs_position_shown(&d->set, SIDE, SEQUENCE, i);
    rs_sum sum = {0};
    RS_TRY(rs_encoding_embed(d->encoding, token, 1, d->row, err));
    for (size_t c = 0; c < d->a.width; c++)
      rs_sum_add(&sum, (d->row[c] - d->a.mean[c]) * d->axes[c * d->a.side + component]);
    d->scores[i] = rs_sum_total(&sum);
  }
  return RS_OK;
}

static rs_status add_scores(const decomposition *d, size_t component, double share, rs_result *result, rs_err *err) {
  bool picture = d->set.rows > 0;
  for (size_t i = 0; i < d->shown; i++) {
    size_t place = rs_position_shown(&d->set, SIDE, SEQUENCE, i);
    double row[] = {(double)(component + 1),
                    (double)(d->set.begin + place),
                    picture ? (double)(place / d->set.columns) : NAN,
                    picture ? (double)(place % d->set.columns) : NAN,
                    share,
                    d->scores[i]};
    RS_TRY(rs_curve_add(&result->curve, row, err));
  }
  return RS_OK;
}

/* The share of the scores' variance that lies between the means of rows (or of columns): number i of `shown` is in line
 * i / across (or i % across). */
static double line_share(const decomposition *d, bool by_row) {
  size_t across = d->set.columns < SIDE ? d->set.columns : SIDE, lines = by_row ? d->shown / across : across;
  rs_moments all = {0}, means = {0};
  for (size_t l = 0; l < lines; l++) {
    rs_moments line = {0};
    for (size_t i = 0; i < d->shown; i++)
      if ((by_row ? i / across : i % across) == l) rs_moments_add(&line, d->scores[i]);
    rs_moments_add(&means, rs_moments_mean(&line));
  }
  for (size_t i = 0; i < d->shown; i++) rs_moments_add(&all, d->scores[i]);
  return fmin(means.squares / means.count / (all.squares / all.count), 1);
}

static rs_status add_components(decomposition *d, size_t count, rs_result *result, rs_err *err) {
  double total = 0;
  for (size_t k = 0; k < d->a.side; k++) total += d->spread[k] * d->spread[k];
  for (size_t k = 0; k < count && k < d->a.side && d->spread[k] > NOTHING * d->spread[0]; k++) {
    RS_TRY(score(d, k, err));
    RS_TRY(add_scores(d, k, d->spread[k] * d->spread[k] / total, result, err));
    if (k < CHECKED && d->set.rows > 0) result->value[k] = fmax(line_share(d, true), line_share(d, false));
  }
  return RS_OK;
}

static rs_status finish_components(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const params *p = in->params;
  decomposition d;
  for (size_t k = 0; k < CHECKED; k++) result->value[k] = NAN;
  if (in->encoding->method->embed == NULL) return RS_OK;
  rs_status status = decomposition_init(&d, in->encoding, err);
  if (status == RS_OK) status = read_table(in->encoding, &d.set, &d.a, err);
  if (status == RS_OK) status = decompose(&d, err);
  if (status == RS_OK) choose_basis(&d);
  if (status == RS_OK) status = add_components(&d, p->components, result, err);
  decomposition_clear(&d);
  return status;
}

static size_t component_rows(const void *given, const rs_curve_in *in) {
  const rs_position_set set = rs_positions_of(in->tokens, in->length);
  return ((const params *)given)->components * rs_positions_shown(&set, SIDE, SEQUENCE);
}

static const rs_param component_specs[] = {
    {RS_FIELD(params, components), .unit = "1", .min = 1, .max = MOST_COMPONENTS, .fallback = "3",
     .summary = "how many are shown"},
};

static const rs_column component_scalars[] = {
    RS_COLUMN("first_component_axis", "1",
              "share of the first component's variance that rows alone, or columns alone, explain, the larger; empty "
              "without a picture"),
    RS_COLUMN("second_component_axis", "1", "the same of the second"),
};

static const rs_column component_curve[] = {
    RS_COLUMN("component", "", "principal component, from 1, largest first", .integer = true, .map = RS_MAP_PANEL),
    RS_COLUMN("token", "", "the position", .integer = true),
    RS_COLUMN("row", "", "its row in the picture; empty in a sequence", .integer = true, .map = RS_MAP_Y),
    RS_COLUMN("column", "", "its column in the picture; empty in a sequence", .integer = true, .map = RS_MAP_X),
    RS_COLUMN("explained_variance", "1", "the component's share of the table's variance over positions",
              .map = RS_MAP_SHARE),
    RS_COLUMN("score", "1",
              "the position's vector less the mean one, along the component, whose largest entry is positive",
              .map = RS_MAP_ONE),
};

const rs_metric_kind rs_metric_position_components = {
    .kind = {.name = "position_components",
             .summary = "where positions stand along the first principal components of the table: the first frame of "
                        "the first picture, without a class token, else the sequence",
             .reference = "Jolliffe, Principal Component Analysis, 2002; Wang and Chen, arXiv:2010.04903",
             RS_KIND(component_specs, params)},
    RS_SCALARS(component_scalars),
    RS_CURVE(component_curve, 4),
    .curve_rows = component_rows,
    .finish = finish_components,
};
