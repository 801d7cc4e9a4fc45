/* Whether channels of the position table are orthogonal: inner products of its columns over the positions 0 .. L - 1,
 * divided by their lengths. Sines and cosines of different frequencies are orthogonal over whole periods of both. The
 * ladder of 10000^(-2j/d) rad/token has whole periods at no length, and pairs that are slower than the context are
 * nearly parallel. */
#include "metric_list.h"

#include <gsl/gsl_blas.h>
#include <math.h>

enum { AT_ONCE = 256 }; /* rows that are multiplied at once */

/* Products that are taken at most: some minutes. */
static const double most_products = 1e12;

/* Products that differ by rounding are equal: the first is named. */
static const double tie = 1 + 1e-12;

typedef struct columns {
  size_t width;
  double *products; /* (width, width) of columns; then divided by their lengths, NaN where one is 0 */
} columns;

static rs_status multiply(const rs_encoding *encoding, const rs_position_set *set, columns *c, rs_err *err) {
  RS_FREED double *rows = rs_alloc(AT_ONCE, c->width * sizeof *rows, err);
  if (rows == NULL) return RS_MEMORY;
  gsl_matrix_view products = gsl_matrix_view_array(c->products, c->width, c->width);
  for (size_t begin = 0; begin < set->count; begin += AT_ONCE) {
    size_t count = set->count - begin < AT_ONCE ? set->count - begin : AT_ONCE;
    gsl_matrix_view block = gsl_matrix_view_array(rows, count, c->width);
    RS_TRY(rs_encoding_embed(encoding, set->begin + begin, count, rows, err));
    int failed = gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, &block.matrix, &block.matrix, 1, &products.matrix);
    RS_TRY(rs_gsl(failed, "inner products of columns", err));
  }
  return RS_OK;
}

static void normalise(columns *c) {
  size_t width = c->width;
  for (size_t i = 0; i < width; i++)
    for (size_t j = 0; j < width; j++)
      if (i != j) c->products[i * width + j] /= sqrt(c->products[i * width + i] * c->products[j * width + j]);
}

/* The period of a channel that is one sine or cosine, else NaN. *next is the channel's first wave, and becomes that of
 * the one behind it. */
static double wavelength_of(const rs_encoding *encoding, size_t channel, size_t *next) {
  rs_embed_wave wave;
  double wavelength = NAN;
  size_t first = *next;
  for (; rs_encoding_wave(encoding, *next, &wave) && wave.channel == channel; ++*next)
    wavelength = 2 * M_PI / wave.omega;
  return *next == first + 1 ? wavelength : NAN;
}

/* A row for each channel: the other that is most alike. The most alike of all are scalars. */
static rs_status report(const rs_encoding *encoding, const columns *c, rs_result *result, rs_err *err) {
  rs_moments sizes = {0};
  size_t wave = 0;
  for (size_t i = 0; i < c->width; i++) {
    size_t other = SIZE_MAX;
    double largest = NAN;
    for (size_t j = 0; j < c->width; j++) {
      double product = c->products[i * c->width + j];
      if (j == i || isnan(product)) continue;
      rs_moments_add(&sizes, fabs(product));
      if (other != SIZE_MAX && fabs(product) <= tie * fabs(largest)) continue;
      other = j;
      largest = product;
    }
    const double row[] = {(double)i, wavelength_of(encoding, i, &wave), other != SIZE_MAX ? (double)other : NAN,
                          fabs(largest)};
    RS_TRY(rs_curve_add(&result->curve, row, err));
    if (isnan(largest) || fabs(largest) <= tie * fabs(result->value[0])) continue;
    result->value[0] = largest;
    result->value[1] = (double)i;
    result->value[2] = (double)other;
  }
  result->value[3] = rs_moments_mean(&sizes);
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_encoding *encoding = in->encoding;
  const rs_position_set set = rs_positions_of(&encoding->tokens, encoding->length);
  columns c = {.width = encoding->width};
  for (size_t i = 0; i < RS_METRIC_SCALARS; i++) result->value[i] = NAN;
  if (encoding->method->embed == NULL) return RS_OK;
  if ((double)set.count * (double)c.width * (double)c.width > most_products)
    return rs_fail(err, RS_DOMAIN,
                   "embedding_columns: products of %zu channels over %zu positions take too long: "
                   "choose a smaller length",
                   c.width, set.count);
  RS_FREED double *products = c.products = rs_alloc(c.width, c.width * sizeof *c.products, err);
  if (products == NULL) return RS_MEMORY;
  RS_TRY(multiply(encoding, &set, &c, err));
  normalise(&c);
  return report(encoding, &c, result, err);
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)given;
  return in->width;
}

static const rs_column scalars[] = {
    RS_COLUMN("column_product", "1",
              "inner product of two channels over all positions, divided by their lengths: the largest by size"),
    RS_COLUMN("column_product_channel", "", "the first channel of the two", .integer = true),
    RS_COLUMN("column_product_other_channel", "", "the second", .integer = true),
    RS_COLUMN("column_product_mean", "1", "mean size of these products over all pairs of channels"),
};

static const rs_column curve[] = {
    RS_COLUMN("channel", "", "channel of the table", .integer = true),
    RS_COLUMN("wavelength_tokens", "tokens", "period of a channel that is one sine or cosine; else empty",
              .log_axis = true),
    RS_COLUMN("other_channel", "", "the channel that is most like it, or its negative", .integer = true),
    RS_COLUMN("largest_product", "1",
              "size of the inner product of a channel and the one most like it, over their lengths"),
};

const rs_metric_kind rs_metric_embedding_columns = {
    .kind = {.name = "embedding_columns",
             .summary = "inner products of the channels of the position table: are they orthogonal",
             .reference = "Attention Is All You Need, arXiv:1706.03762, section 3.5 (the sines and cosines)"},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
