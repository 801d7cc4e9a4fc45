/* test_projection.c: projections against the dense product. */
#include <criterion/criterion.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "../fixtures/obtain.h"
#include "../fixtures/source_head.h"
#include "../fixtures/threads.h"
#include "attention/attention.h"

/* An embedding whose row n is unit vector n: projecting it shows the rows of W_q and W_k themselves. */
static rs_status keep_width(const rs_stage_in *in, void *state, rs_err *err) {
  (void)err;
  *(size_t *)state = in->width;
  return RS_OK;
}

static rs_status unit_rows(const void *state, size_t begin, size_t count, double *out, rs_err *err) {
  size_t width = *(const size_t *)state;
  (void)err;
  memset(out, 0, count * width * sizeof *out);
  for (size_t row = 0; row < count; row++)
    if (begin + row < width) out[row * width + begin + row] = 1;
  return RS_OK;
}

static const rs_embed_kind unit_embedding = {
    .kind = {.name = "unit"}, .state_size = sizeof(size_t), .prepare = keep_width, .fill = unit_rows};

/* W_q and W_k of a head, (W, D) each, as the projection of `encoding`'s keys and of its queries (all). */
static rs_projection *project(const rs_encoding *encoding, size_t head, uint64_t seed) {
  size_t length = encoding->length, *queries = obtain(length, sizeof *queries);
  rs_projection *projection = NULL;
  for (size_t m = 0; m < length; m++) queries[m] = m;
#ifdef _OPENMP
  omp_set_num_threads(1); /* more would only wait for each other beside the other cases */
#endif
  cr_assert_eq(rs_projection_create(encoding, head, seed, queries, length, &projection, NULL), RS_OK);
  free(queries);
  return projection;
}

static rs_projection *weights(const rs_model *model, size_t head, uint64_t seed) {
  rs_method method = *rs_method_find("sinusoidal");
  method.embed = &unit_embedding;
  rs_encoding *encoding = source_encoding(&method, model, model->heads * model->head_dim);
  rs_projection *projection = project(encoding, head, seed);
  rs_encoding_free(encoding);
  return projection;
}

/* The largest deviation of A^T B from `diagonal` times the identity; A and B are (rows, columns). */
static double off_diagonal(const double *a, const double *b, size_t rows, size_t columns, double diagonal) {
  double worst = 0;
  for (size_t i = 0; i < columns; i++)
    for (size_t j = 0; j < columns; j++) {
      long double sum = 0;
      for (size_t n = 0; n < rows; n++) sum += (long double)a[n * columns + i] * b[n * columns + j];
      worst = fmax(worst, fabs((double)sum - (i == j ? diagonal : 0)));
    }
  return worst;
}

static const size_t shapes[][2] = {{1, 4}, {2, 2}, {2, 8}, {3, 6}, {5, 2}, {8, 16}}; /* heads, dims */

Test(projection, weights__of_each_head__are_orthonormal_and_orthogonal_to_each_other) {
  for (size_t s = 0; s < RS_COUNT(shapes); s++) {
    rs_model model = source_model(shapes[s][0], shapes[s][1], 100);
    size_t width = model.heads * model.head_dim, dims = model.head_dim;
    for (size_t h = 0; h < model.heads; h++) {
      rs_projection *w = weights(&model, h, 11);
      cr_assert_lt(off_diagonal(w->q, w->q, width, dims, 1), 1e-14 * (double)width);
      cr_assert_lt(off_diagonal(w->k, w->k, width, dims, 1), 1e-14 * (double)width);
      double crossed = off_diagonal(w->q, w->k, width, dims, 0);
      cr_assert(!same_bytes(w->q, w->k, width * dims));
      cr_assert(model.heads > 1 ? crossed < 1e-14 * (double)width : crossed > 1e-3, "%g", crossed);
      rs_projection_free(w);
    }
  }
}

Test(projection, weights__of_heads_and_seeds__all_differ) {
  rs_model model = source_model(4, 4, 100);
  enum { COUNT = 16 * 4 };
  rs_projection *w[6];
  for (size_t i = 0; i < 4; i++) w[i] = weights(&model, i, 5);
  w[4] = weights(&model, 0, 6);
  w[5] = weights(&model, 0, 5);
  cr_assert(same_bytes(w[0]->q, w[5]->q, COUNT) && same_bytes(w[0]->k, w[5]->k, COUNT));
  for (size_t i = 0; i < 5; i++)
    for (size_t j = 0; j < i; j++)
      for (size_t c = 0; c < COUNT; c++) cr_assert(w[i]->q[c] != w[j]->q[c] && w[i]->k[c] != w[j]->k[c]);
  for (size_t i = 0; i < RS_COUNT(w); i++) rs_projection_free(w[i]);
}

enum { SEEDS = 1000, HAAR_WIDTH = 6, HAAR_DIMS = 2, HAAR_CELLS = HAAR_WIDTH * HAAR_DIMS };

/* Columns of Haar distributed matrices have no preferred direction: over seeds, the mean of each entry is 0 and of its
 * square 1/W. `entries` (SEEDS, cells). */
static void check_haar(const double *entries) {
  for (size_t i = 0; i < HAAR_CELLS; i++) {
    double column[SEEDS];
    for (size_t seed = 0; seed < SEEDS; seed++) column[seed] = entries[seed * HAAR_CELLS + i];
    moments entry = moments_of(column, SEEDS);
    cr_assert_float_eq(entry.mean, 0, five_sigma(SEEDS) / sqrt(HAAR_WIDTH));
    cr_assert_float_eq(entry.sd * entry.sd, 1.0 / HAAR_WIDTH, 1.5 * five_sigma(SEEDS) / HAAR_WIDTH);
  }
}

Test(projection, weights__over_seeds__have_no_preferred_direction) {
  rs_model model = source_model(HAAR_WIDTH / HAAR_DIMS, HAAR_DIMS, 100);
  double *q = obtain(SEEDS * HAAR_CELLS, sizeof *q), *k = obtain(SEEDS * HAAR_CELLS, sizeof *k);
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    rs_projection *w = weights(&model, 1, seed);
    memcpy(q + seed * HAAR_CELLS, w->q, HAAR_CELLS * sizeof *q);
    memcpy(k + seed * HAAR_CELLS, w->k, HAAR_CELLS * sizeof *k);
    rs_projection_free(w);
  }
  check_haar(q);
  check_haar(k);
  free(q);
  free(k);
}

/* out (D) = row n of the table times W (W, D), the plain way. */
static void check_product(const rs_encoding *encoding, size_t n, const double *w, const double *got) {
  size_t width = encoding->width, dims = encoding->head_dim;
  double row[256];
  cr_assert_leq(width, RS_COUNT(row));
  cr_assert_eq(rs_encoding_embed(encoding, n, 1, row, NULL), RS_OK);
  for (size_t d = 0; d < dims; d++) {
    long double sum = 0;
    for (size_t i = 0; i < width; i++) sum += (long double)row[i] * w[i * dims + d];
    if (fabsl(got[d] - sum) > 1e-14L * width) cr_assert_fail("token %zu, dim %zu: %g, not %Lg", n, d, got[d], sum);
  }
}

Test(projection, embeddings__through_the_weights__equal_the_dense_product) {
  static const char *const methods[] = {"sinusoidal", "learned"};
  enum { LENGTH = 150 };
  for (size_t s = 0; s < RS_COUNT(shapes); s++)
    for (size_t i = 0; i < RS_COUNT(methods); i++) {
      rs_model model = source_model(shapes[s][0], shapes[s][1], LENGTH);
      size_t head = model.heads - 1, dims = model.head_dim;
      rs_encoding *encoding = source_encoding(rs_method_find(methods[i]), &model, LENGTH);
      rs_projection *w = weights(&model, head, 3), *projection = project(encoding, head, 3);
      for (size_t n = 0; n < LENGTH; n++) {
        check_product(encoding, n, w->q, projection->q + n * dims);
        check_product(encoding, n, w->k, projection->k + n * dims);
      }
      rs_projection_free(w);
      rs_projection_free(projection);
      rs_encoding_free(encoding);
    }
}

/* Row i of q belongs to query i, wherever it stands. */
Test(projection, chosen_queries__rows__are_those_of_their_positions) {
  static const size_t queries[] = {3, 4, 17, 99};
  rs_model model = source_model(3, 4, 100);
  rs_encoding *encoding = source_encoding(rs_method_find("sinusoidal"), &model, 100);
  rs_projection *all = project(encoding, 2, 9), *some = NULL;
  cr_assert_eq(rs_projection_create(encoding, 2, 9, queries, RS_COUNT(queries), &some, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(queries); i++) cr_assert(same_bytes(some->q + 4 * i, all->q + 4 * queries[i], 4));
  cr_assert(same_bytes(some->k, all->k, 400));
  rs_projection_free(all);
  rs_projection_free(some);
  rs_encoding_free(encoding);
  rs_projection_free(NULL);
}

/* Counts rows that are asked for one by one, as queries are, by thread. */
static size_t rows_by[8];

static rs_status counted_rows(const void *state, size_t begin, size_t count, double *out, rs_err *err) {
  size_t width = *(const size_t *)state;
  (void)err;
  if (count == 1) rows_by[rs_engine_thread()]++; /* each thread has a place of its own */
  for (size_t i = 0; i < count * width; i++) out[i] = sin((double)(begin * width + i));
  return RS_OK;
}

static const rs_embed_kind counted_embedding = {
    .kind = {.name = "counted"}, .state_size = sizeof(size_t), .prepare = keep_width, .fill = counted_rows};

Test(projection, any_number_of_threads__shares_queries_and_gives_the_same_bytes) {
  enum { LENGTH = 333, QUERIES = 200, DIMS = 6 };
  rs_model model = source_model(3, DIMS, LENGTH);
  rs_method method = *rs_method_find("sinusoidal");
  method.embed = &counted_embedding;
  rs_encoding *encoding = source_encoding(&method, &model, LENGTH);
  size_t queries[QUERIES];
  rs_projection *one = NULL;
  for (size_t i = 0; i < QUERIES; i++) queries[i] = LENGTH - QUERIES + i;
  for (size_t threads = 1; threads <= RS_COUNT(rows_by); threads++) {
    rs_projection *some = NULL;
    size_t rows = 0;
    use_threads((int)threads);
    memset(rows_by, 0, sizeof rows_by);
    cr_assert_eq(rs_projection_create(encoding, 1, 5, queries, QUERIES, &some, NULL), RS_OK);
    for (size_t t = 0; t < RS_COUNT(rows_by); t++) {
      rows += rows_by[t];
      cr_assert(rows_by[t] > 0 || t >= rs_engine_threads(), "%zu threads: number %zu has no query", threads, t);
    }
    cr_assert_eq(rows, (size_t)QUERIES);
    if (one == NULL) one = some;
    cr_assert(same_bytes(one->q, some->q, QUERIES * DIMS) && same_bytes(one->k, some->k, LENGTH * DIMS), "%zu",
              threads);
    if (some != one) rs_projection_free(some);
  }
  rs_projection_free(one);
  rs_encoding_free(encoding);
}

Test(projection, learned_table__beyond_its_end__is_a_domain_error) {
  for (size_t length = 63; length <= 200; length += 17) {
    rs_model model = source_model(2, 4, 97);
    rs_recipe recipe;
    rs_encoding *encoding;
    rs_err err = {0};
    cr_assert_eq(rs_recipe_init(&recipe, rs_method_find("learned"), NULL), RS_OK);
    rs_status status = rs_encoding_create(&recipe, &model, length, NULL, NULL, &encoding, &err);
    cr_assert_eq(status, length <= 97 ? RS_OK : RS_DOMAIN, "length %zu: %s", length, err.message);
    cr_assert_eq(encoding != NULL, length <= 97);
    if (length > 97) cr_assert_not_null(strstr(err.message, "beyond the table of 97 rows"), "%s", err.message);
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
}
