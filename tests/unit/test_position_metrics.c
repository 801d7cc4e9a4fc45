/* test_position_metrics.c: the metrics that look at position tables, against formulas written down here another way. */
#include <gsl/gsl_linalg.h>

#include "../fixtures/bound.h"
#include "../fixtures/picture_worlds.h"
#include "../golden.h"
#include "metrics/metrics.h"

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static rs_result measure(const char *metric, const rs_encoding *encoding) {
  const rs_metric_kind *kind = rs_metric_find(metric);
  cr_assert_not_null(kind);
  bound_params parameters;
  bound_make(&parameters, &kind->kind);
  rs_metric_in in = {.encoding = encoding, .params = parameters.binding.fields};
  rs_result result = {.curve.columns = kind->curve_count};
  rs_err err = {0};
  cr_assert_eq(kind->finish(&in, NULL, &result, &err), RS_OK, "%s", err.message);
  bound_clear(&parameters);
  return result;
}

static double mean_cosine_kernel(size_t width, double distance) {
  double sum = 0;
  for (size_t k = 0; k < width / 2; k++) sum += cos(distance * pow(10000, -2 * (double)k / (double)width));
  return sum / (double)(width / 2);
}

/* Sines and cosines of one position against another's: the mean of cos(omega (m - n)), and the norms are equal. */
Test(position_similarity, sinusoids__is_the_mean_cosine_kernel) {
  rs_model model = model_of_width(4, 16);
  rs_encoding *encoding = encode("sinusoidal", "", &model, 41);
  rs_result result = measure("position_similarity", encoding);
  static const double references[] = {0, 20, 40};
  rs_moments others = {0};
  cr_assert_eq(result.curve.rows, 3u * 41);
  for (size_t i = 0; i < result.curve.rows; i++) {
    const double *row = result.curve.cells + 5 * i;
    double expected = mean_cosine_kernel(64, row[0] - row[1]);
    cr_assert(row[0] == references[i / 41] && row[1] == (double)(i % 41) && isnan(row[2]) && isnan(row[3]), "row %zu",
              i);
    cr_assert(close_to(row[4], expected, 0, 1e-14), "row %zu: %.17g, not %.17g", i, row[4], expected);
    if (row[0] != row[1]) rs_moments_add(&others, expected);
  }
  cr_assert(close_to(result.value[0], mean_cosine_kernel(64, 1), 1e-14, 0));
  cr_assert(isnan(result.value[1]));
  cr_assert(close_to(result.value[2], others.mean, 1e-13, 0));
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

/* concat: the mean of both axes' kernels. The corners and the centre of the first frame, of 3 x 4 patches at token 1.
 */
Test(position_similarity, picture__corners_and_centre__against_every_patch) {
  rs_model model = model_of_width(2, 16);
  rs_encoding *encoding = encode_mixed("sinusoidal_2d", "", &model);
  rs_result result = measure("position_similarity", encoding);
  static const double references[] = {1, 4, 7, 9, 12};
  cr_assert_eq(result.curve.rows, 5u * 12, "%zu rows", result.curve.rows);
  for (size_t i = 0; i < result.curve.rows; i++) {
    const double *row = result.curve.cells + 5 * i;
    int down = (int)(row[0] - 1) / 4, right = (int)(row[0] - 1) % 4;
    double expected = (mean_cosine_kernel(16, row[2] - down) + mean_cosine_kernel(16, row[3] - right)) / 2;
    cr_assert(row[0] == references[i / 12] && row[1] == (double)(1 + i % 12) && row[2] == (double)(i % 12 / 4) &&
                  row[3] == (double)(i % 4),
              "row %zu: %g %g %g %g", i, row[0], row[1], row[2], row[3]);
    cr_assert(close_to(row[4], expected, 0, 1e-14), "row %zu: %.17g, not %.17g", i, row[4], expected);
  }
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

/* By hand, on unequal axes: vectors of a 2 x 2 picture, and their cosines. Zero vectors have none. */
Test(position_similarity, neighbours__by_hand) {
  double table[4 * W] = {1, 0, 0, 0, /**/ 3, 4, 0, 0, /**/ 0, 2, 0, 0, /**/ 0, 0, 0, 0};
  rs_token_run run = picture_run(RS_IMAGE, 1, 2, 2);
  rs_token_layout layout = {.runs = &run, .count = 1};
  rs_model model = model_of_width(2, 2);
  rs_recipe recipe = make_recipe("learned_2d", "");
  recipe_set_list(&recipe, "table", table, RS_COUNT(table));
  rs_encoding *encoding = encode_with(&recipe, &model, 4, &layout);
  rs_result result = measure("position_similarity", encoding);
  cr_assert(close_to(result.value[0], 0.6, 1e-15, 0), "columns: 3/5 in row 0, nothing in row 1; %g", result.value[0]);
  cr_assert(close_to(result.value[1], 0, 0, 1e-15), "rows: 0 in column 0, nothing in column 1; %g", result.value[1]);
  cr_assert(close_to(result.value[2], (0.6 + 0 + 0.8) / 3, 1e-15, 0), "each pair twice; %g", result.value[2]);
  cr_assert_eq(result.curve.rows, 4u * 4, "the centre is a corner");
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

/* A rotation sees the same from both sides, and any two tokens in either order. */
Test(position_similarity, rotary__is_the_mean_cosine_in_either_order) {
  rs_token_run runs[4];
  rs_token_layout layout = mixed_layout(runs);
  rs_model model = plain_model(12, 100, 64);
  rs_recipe recipe = make_recipe("mrope", "mrope_section=2,1,3");
  rs_encoding *encoding = encode_with(&recipe, &model, LENGTH, &layout);
  rs_result result = measure("position_similarity", encoding);
  static const int axes[] = {0, 0, 1, 2, 2, 2};
  cr_assert_eq(result.curve.rows, 60u);
  for (size_t i = 0; i < result.curve.rows; i++) {
    const double *row = result.curve.cells + 5 * i;
    double turn[3] = {0, row[2] - (double)((int)(row[0] - 1) / 4), row[3] - (double)((int)(row[0] - 1) % 4)}, sum = 0;
    for (size_t j = 0; j < 6; j++) sum += cos(turn[axes[j]] * pow(100, -(double)j / 6)) / 6;
    cr_assert(close_to(row[4], sum, 0, 1e-14), "row %zu: %.17g, not %.17g", i, row[4], sum);
  }
  for (int axis = 1; axis < 3; axis++) { /* neighbours: in a row, whose axis is 2, and in a column */
    double sum = 0;
    for (size_t j = 0; j < 6; j++) sum += (axes[j] == axis ? cos(pow(100, -(double)j / 6)) : 1) / 6;
    cr_assert(close_to(result.value[2 - axis], sum, 1e-14, 0), "%g, not %g", result.value[2 - axis], sum);
  }
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

Test(position_metrics, methods_without_a_table__report_nothing) {
  /* Keys as they were cached have gains of their own under yarn: no pure rotation. */
  static const char *const methods[][2] = {
      {"nope", ""}, {"alibi", ""}, {"self_extend", ""}, {"yarn", "scale=dynamic cached_keys=4"}, {"rope", ""}};
  rs_model model = plain_model(8, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_encoding *encoding = encode(methods[i][0], methods[i][1], &model, 16);
    rs_result pca = measure("position_pca", encoding), similarity = measure("position_similarity", encoding);
    bool rotates = i == 4;
    cr_assert(pca.curve.rows == 0 && isnan(pca.value[0]) && isnan(pca.value[1]), "%s", methods[i][0]);
    cr_assert_eq(similarity.curve.rows > 0, rotates, "%s", methods[i][0]);
    for (size_t k = 0; k < 3 && !rotates; k++) cr_assert(isnan(similarity.value[k]), "%s", methods[i][0]);
    rs_curve_clear(&similarity.curve);
    rs_encoding_free(encoding);
  }
}

/* Long sequences: fewer rows, ascending, each distance on both sides; neighbours are still one apart. */
Test(position_similarity, long_sequence__is_thinned) {
  enum { LONG = 5000 };
  rs_model model = model_of_width(1, 4);
  rs_encoding *encoding = encode("sinusoidal", "", &model, LONG);
  rs_result result = measure("position_similarity", encoding);
  bool near[2] = {false, false};
  cr_assert(result.curve.rows > 300 && result.curve.rows < 1500, "%zu rows", result.curve.rows);
  for (size_t i = 0; i < result.curve.rows; i++) {
    const double *row = result.curve.cells + 5 * i, *before = i > 0 ? row - 5 : NULL;
    cr_assert(before == NULL || before[0] < row[0] || before[1] < row[1], "row %zu does not ascend", i);
    cr_assert(row[1] >= 0 && row[1] < LONG);
    cr_assert(close_to(row[4], mean_cosine_kernel(4, row[0] - row[1]), 0, 1e-12), "row %zu", i);
    if (row[0] == LONG / 2) near[0] |= row[1] == LONG / 2 - 1, near[1] |= row[1] == LONG / 2 + 1;
  }
  cr_assert(near[0] && near[1]);
  cr_assert(close_to(result.value[0], mean_cosine_kernel(4, 1), 1e-12, 0));
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

/* Large pictures: every row and column of the sample, both ends among them. */
Test(position_similarity, large_picture__is_sampled_evenly) {
  rs_token_run run = picture_run(RS_IMAGE, 1, 200, 2);
  rs_token_layout layout = {.runs = &run, .count = 1};
  rs_model model = model_of_width(1, 4);
  rs_recipe recipe = make_recipe("sinusoidal_2d", "");
  rs_encoding *encoding = encode_with(&recipe, &model, 400, &layout);
  rs_result result = measure("position_similarity", encoding);
  cr_assert_eq(result.curve.rows, 5u * 128 * 2, "%zu", result.curve.rows);
  for (size_t i = 0; i < 256; i++) {
    const double *row = result.curve.cells + 5 * i;
    cr_assert(row[2] == floor((double)(i / 2) * 199 / 127) && row[3] == (double)(i % 2), "row %zu: %g", i, row[2]);
    cr_assert_eq(row[1], 2 * row[2] + row[3]);
  }
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

/* ---- principal components ---------------------------------------------------------------------------------------- */

static rs_encoding *encode_sequence(const double *table, size_t rows, size_t width) {
  rs_model model = model_of_width(1, width);
  rs_recipe recipe = make_recipe("learned", "");
  recipe_set_list(&recipe, "table", table, rows * width);
  return encode_with(&recipe, &model, rows, NULL);
}

/* Two directions with variances 4 : 1 about a mean far from zero. */
Test(position_pca, known_table__has_its_shares) {
  static const double table[] = {109, 50, 7, 3, /**/ 91, 50, 7, 3, /**/ 100, 54.5, 7, 3, /**/ 100, 45.5, 7, 3};
  rs_encoding *encoding = encode_sequence(table, 4, 4);
  rs_result result = measure("position_pca", encoding);
  static const double shares[] = {0.8, 0.2, 0, 0};
  cr_assert_eq(result.curve.rows, 4u);
  for (size_t i = 0; i < 4; i++) {
    const double *row = result.curve.cells + 3 * i;
    cr_assert(row[0] == (double)(i + 1) && close_to(row[1], shares[i], 1e-14, 1e-15), "%zu: %.17g", i, row[1]);
    cr_assert(close_to(row[2], i == 0 ? 0.8 : 1, 1e-14, 0));
  }
  cr_assert(result.value[0] == 2 && close_to(result.value[1], 1, 1e-14, 0));
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}

/* More positions than are read, all on one line: one component. */
Test(position_pca, rank_one__is_one_component) {
  enum { ROWS = 3000 };
  double *table = obtain(ROWS * 2);
  for (size_t i = 0; i < ROWS; i++) table[2 * i] = 3 * (double)i, table[2 * i + 1] = -4 * (double)i;
  rs_encoding *encoding = encode_sequence(table, ROWS, 2);
  rs_result result = measure("position_pca", encoding);
  cr_assert(result.curve.rows == 2 && close_to(result.curve.cells[1], 1, 1e-14, 0));
  cr_assert_eq(result.value[0], 1);
  free(table);
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
  rs_model model = model_of_width(1, 4);
  encoding = encode("learned", "init=zeros", &model, 8);
  result = measure("position_pca", encoding);
  cr_assert(result.curve.rows == 0 && isnan(result.value[0]) && isnan(result.value[1]), "no variance, no shares");
  rs_encoding_free(encoding);
}

/* Against singular values of the centred table itself, by Jacobi's method; more positions than channels, and fewer. */
Test(position_pca, any_table__shares_are_squared_singular_values) {
  static const size_t sizes[][2] = {{12, 6}, {7, 24}, {16, 16}};
  for (size_t s = 0; s < RS_COUNT(sizes); s++) {
    size_t rows = sizes[s][0], width = sizes[s][1], side = rows < width ? rows : width, far = rows + width - side;
    rs_model model = model_of_width(1, width);
    rs_encoding *encoding = encode("learned", "table_seed=9", &model, rows);
    double *table = rows_of(encoding), total = 0, sum = 0, running = 0;
    rs_result result = measure("position_pca", encoding);
    gsl_matrix *a = gsl_matrix_calloc(far, side), *q = gsl_matrix_alloc(side, side);
    gsl_vector *values = gsl_vector_alloc(side);
    for (size_t c = 0; c < width; c++) {
      double mean = 0;
      for (size_t i = 0; i < rows; i++) mean += table[i * width + c] / (double)rows;
      for (size_t i = 0; i < rows; i++)
        gsl_matrix_set(a, rows >= width ? i : c, rows >= width ? c : i, table[i * width + c] - mean);
    }
    gsl_linalg_SV_decomp_jacobi(a, q, values);
    for (size_t i = 0; i < side; i++) total += pow(gsl_vector_get(values, i), 2);
    cr_assert_eq(result.curve.rows, side);
    for (size_t i = 0; i < side; i++) {
      const double *row = result.curve.cells + 3 * i;
      double expected = pow(gsl_vector_get(values, i), 2) / total;
      running += expected;
      cr_assert(close_to(row[1], expected, 1e-12, 1e-14), "%zu x %zu: %zu: %.17g, not %.17g", rows, width, i, row[1],
                expected);
      cr_assert(close_to(row[2], running, 1e-12, 0));
      if (i < 2) cr_assert(i == 0 || close_to(result.value[1], running, 1e-12, 0));
      if (i + 1 == result.value[0]) cr_assert(running >= 0.9 && running - expected < 0.9);
      sum += row[1];
    }
    cr_assert(close_to(sum, 1, 1e-14, 0));
    cr_assert(result.value[0] >= 1);
    gsl_matrix_free(a), gsl_matrix_free(q), gsl_vector_free(values);
    free(table);
    rs_curve_clear(&result.curve);
    rs_encoding_free(encoding);
  }
}

/* The class token's vector is no position of the picture: it would be a second direction. */
Test(position_pca, picture__leaves_text_out) {
  double table[13 * W] = {9, 9, 9, 9};
  for (size_t i = 1; i < 13; i++) table[i * W] = 5, table[i * W + 1] = (double)i;
  rs_encoding *encoding = encode_table("", table, 13);
  rs_result result = measure("position_pca", encoding);
  cr_assert_eq(result.curve.rows, (size_t)W);
  cr_assert(close_to(result.curve.cells[1], 1, 1e-14, 0), "%g", result.curve.cells[1]);
  rs_curve_clear(&result.curve);
  rs_encoding_free(encoding);
}
