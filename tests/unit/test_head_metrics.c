/* test_head_metrics.c: metrics of single heads, of their queries and keys or of their needles, against values
 * recomputed here. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "../fixtures/bound.h"
#include "../fixtures/made_rows.h"
#include "../fixtures/metric_bench.h"
#include "../table_metric.h"

enum { DIMS = 8, PAIRS = DIMS / 2, QUERIES = 3, KEYS = 7 };

static const size_t heads[] = {2, 5};

/* Opens a metric for heads 2 and 5 of an encoding. */
static void open_heads(bench *b, const char *metric, const rs_encoding *encoding) {
  bench_open(b, metric, encoding, made_edges, BINS);
  free(b->state);
  b->in.heads = heads;
  b->in.head_count = RS_COUNT(heads);
  cr_assert_eq(b->kind->prepare(&b->in, &b->state, NULL), RS_OK);
}

static void show(bench *b, size_t head, const double *q, const double *k) {
  b->kind->content(b->state, &(rs_head_content){head, QUERIES, KEYS, q, k});
}

static rs_encoding *encode_pairs(const char *method, size_t rotary_dim, bool interleaved) {
  rs_model model = model_of(6, DIMS);
  model.rotary_dim = rotary_dim;
  model.train_length = 100; /* turns of 100, 10, 1 and 0.1 rad */
  model.pair_layout = interleaved ? RS_INTERLEAVED : RS_HALF_SPLIT;
  return encode(method, &model, 40, NULL);
}

/* ---- norms of pairs ---------------------------------------------------------------------------------------------- */

/* Mean norm of a pair of one head. */
static long double mean_pair(const double *x, size_t tokens, size_t first, size_t second) {
  long double sum = 0;
  for (size_t n = 0; n < tokens; n++) {
    long double a = x[n * DIMS + first], b = x[n * DIMS + second];
    sum += sqrtl(a * a + b * b);
  }
  return sum / tokens;
}

static void check_pairs(size_t rotary_dim, bool interleaved) {
  size_t pairs = rotary_dim / 2;
  rs_encoding *encoding = encode_pairs("rope", rotary_dim, interleaved);
  double *q[2], *k[2];
  bench b;
  open_heads(&b, "pair_norms", encoding);
  for (size_t h = 0; h < 2; h++) {
    q[h] = gaussian(10 + h, QUERIES * DIMS);
    k[h] = gaussian(20 + h, KEYS * DIMS);
    show(&b, heads[h], q[h], k[h]);
  }
  bench_finish(&b);
  cr_assert_eq(b.result.curve.rows, pairs);
  long double product[PAIRS], all = 0, slow = 0;
  size_t strongest = 0;
  for (size_t j = 0; j < pairs; j++) {
    size_t first = interleaved ? 2 * j : j, second = interleaved ? 2 * j + 1 : j + pairs;
    long double of_q[2], of_k[2];
    for (size_t h = 0; h < 2; h++) {
      of_q[h] = mean_pair(q[h], QUERIES, first, second);
      of_k[h] = mean_pair(k[h], KEYS, first, second);
    }
    product[j] = (of_q[0] * of_k[0] + of_q[1] * of_k[1]) / 2;
    agrees(cell(&b, j, 0), j, 0, "pair");
    agrees(cell(&b, j, 1), 2 * acosl(-1) / encoding->omega[j], 1e-14, "wavelength");
    agrees(cell(&b, j, 2), (of_q[0] + of_q[1]) / 2, 1e-14, "q_norm");
    agrees(cell(&b, j, 4), (of_k[0] + of_k[1]) / 2, 1e-14, "k_norm");
    agrees(cell(&b, j, 6), product[j], 1e-14, "norm_product");
    all += product[j];
    slow += j >= pairs / 2 ? product[j] : 0;
    if (product[j] > product[strongest]) strongest = j;
  }
  double shares = 0;
  for (size_t j = 0; j < pairs; j++) {
    agrees(cell(&b, j, 7), product[j] / all, 1e-14, "norm_share");
    shares += cell(&b, j, 7);
  }
  agrees(shares, 1, 1e-15, "shares sum to 1");
  agrees(b.result.value[0], slow / all, 1e-14, "slow_pair_share");
  agrees(b.result.value[2], strongest, 0, "strongest_pair");
  bench_close(&b);
  for (size_t h = 0; h < 2; h++) {
    free(q[h]);
    free(k[h]);
  }
  rs_encoding_free(encoding);
}

Test(pair_norms, gaussian_heads__norms_products_and_shares__are_recomputed) {
  check_pairs(DIMS, false);
  check_pairs(DIMS, true);
  check_pairs(6, false); /* three pairs, of which that in the middle is a slow one; two dims stand still */
  check_pairs(2, true);
}

/* Pairs of norms 1, 2, 3 and 4 in queries, and 1 in keys: 10 in all. */
static double known_share(const char *method, size_t scalar) {
  rs_encoding *encoding = encode_pairs(method, DIMS, false);
  double *k = constant(KEYS * DIMS, 0), *q = constant(QUERIES * DIMS, 0);
  for (size_t j = 0; j < PAIRS; j++) {
    for (size_t n = 0; n < QUERIES; n++) {
      q[n * DIMS + j] = 0.6 * (double)(j + 1);
      q[n * DIMS + j + PAIRS] = -0.8 * (double)(j + 1);
    }
    for (size_t n = 0; n < KEYS; n++) k[n * DIMS + j + PAIRS] = -1;
  }
  bench b;
  open_heads(&b, "pair_norms", encoding);
  show(&b, 2, q, k);
  bench_finish(&b);
  agrees(cell(&b, 2, 3), 0, 1e-15, "equal norms have no error");
  double value = b.result.value[scalar];
  bench_close(&b);
  free(q);
  free(k);
  rs_encoding_free(encoding);
  return value;
}

/* Of plain RoPE's turns in training the last two pairs' are below 2 pi, whatever a method makes of them. */
Test(pair_norms, known_norms__shares_of_slow_and_of_partly_turned_pairs) {
  agrees(known_share("rope", 0), 0.7L, 1e-15, "slow_pair_share");
  agrees(known_share("rope", 1), 0.7L, 1e-15, "partial_turn_share");
  agrees(known_share("ntk", 1), 0.7L, 1e-15, "partial_turn_share");
  agrees(known_share("rope", 2), 3, 0, "strongest_pair");
}

Test(pair_norms, rotated_content__gives_the_same) {
  for (size_t layout = 0; layout < 2; layout++) {
    rs_encoding *encoding = encode_pairs("rope", DIMS, layout == 1);
    double *q = gaussian(3, QUERIES * DIMS), *k = gaussian(4, KEYS * DIMS);
    bench plain, turned;
    open_heads(&plain, "pair_norms", encoding);
    open_heads(&turned, "pair_norms", encoding);
    show(&plain, 5, q, k);
    for (size_t n = 0; n < QUERIES; n++)
      rs_encoding_rotate_token(encoding, RS_QUERY_SIDE, 0, 11 + n, q + n * DIMS, q + n * DIMS);
    for (size_t n = 0; n < KEYS; n++) rs_encoding_rotate_token(encoding, RS_KEY_SIDE, 0, n, k + n * DIMS, k + n * DIMS);
    show(&turned, 5, q, k);
    bench_finish(&plain);
    bench_finish(&turned);
    for (size_t i = 0; i < PAIRS * plain.result.curve.columns; i++)
      agrees(turned.result.curve.cells[i], plain.result.curve.cells[i], 1e-13, "norms");
    bench_close(&plain);
    bench_close(&turned);
    free(q);
    free(k);
    rs_encoding_free(encoding);
  }
}

Test(pair_norms, nothing_shown_or_nothing_turned__no_lines) {
  rs_encoding *rope = encode_pairs("rope", DIMS, false), *alibi = encode_pairs("alibi", DIMS, false);
  double *x = gaussian(1, KEYS * DIMS);
  bench b;
  open_heads(&b, "pair_norms", rope);
  bench_finish(&b);
  cr_expect(b.result.curve.rows == 0 && isnan(b.result.value[0]) && isnan(b.result.value[2]));
  bench_close(&b);
  open_heads(&b, "pair_norms", alibi);
  show(&b, 2, x, x);
  bench_finish(&b);
  cr_expect(b.result.curve.rows == 0 && isnan(b.result.value[1]));
  bench_close(&b);
  free(x);
  rs_encoding_free(rope);
  rs_encoding_free(alibi);
}

/* Pairs of norms 1, 2, 3, 4 again, whose turns are 1, 0.5, 0.5 and 0: of equals the first is the faster one, and what
 * does not turn has no wavelength. */
Test(pair_norms, equal_and_still_pairs__stand_in_their_order) {
  static const double turns[PAIRS] = {1, 0.5, 0.5, 0};
  rs_model model = model_of(6, DIMS);
  model.train_length = 100;
  rs_encoding *encoding = table_encode_turns(&model, 40, turns);
  double *k = constant(KEYS * DIMS, 0), *q = constant(QUERIES * DIMS, 0), *none = constant(KEYS * DIMS, 0);
  for (size_t j = 0; j < PAIRS; j++) {
    for (size_t n = 0; n < QUERIES; n++) q[n * DIMS + j] = (double)(j + 1);
    for (size_t n = 0; n < KEYS; n++) k[n * DIMS + j] = 1;
  }
  bench b;
  open_heads(&b, "pair_norms", encoding);
  show(&b, 2, q, k);
  bench_finish(&b);
  agrees(b.result.value[0], 0.7L, 1e-15, "slow_pair_share");
  agrees(cell(&b, 0, 1), 2 * acosl(-1), 1e-15, "wavelength");
  agrees(cell(&b, 3, 1), NAN, 0, "of no turn");
  bench_close(&b);
  open_heads(&b, "pair_norms", encoding);
  show(&b, 2, none, none);
  bench_finish(&b);
  cr_assert_eq(b.result.curve.rows, PAIRS);
  for (size_t j = 0; j < PAIRS; j++) {
    agrees(cell(&b, j, 6), 0, 0, "norm_product");
    agrees(cell(&b, j, 7), NAN, 0, "a share of nothing");
  }
  agrees(b.result.value[0], NAN, 0, "slow_pair_share");
  bench_close(&b);
  free(q);
  free(k);
  free(none);
  rs_encoding_free(encoding);
}

/* ---- massive values ---------------------------------------------------------------------------------------------- */

/* Norms over tokens of 10, 4, 4, 2, 0, 0, 0 and five times `fifth`, in different tokens, with either sign. */
static double *known_dims(size_t tokens, double fifth) {
  static const double norms[DIMS] = {10, 4, 4, 2, 0, 0, 0, 0};
  double *x = constant(tokens * DIMS, 0);
  for (size_t d = 0; d + 1 < DIMS; d++) x[d % tokens * DIMS + d] = d % 2 == 0 ? norms[d] : -norms[d];
  x[DIMS - 1] = 3 * fifth;
  x[DIMS + DIMS - 1] = -4 * fifth;
  return x;
}

Test(massive_values, known_norms__dims_above_the_threshold__are_counted) {
  rs_encoding *encoding = encode_pairs("rope", DIMS, false);
  double *q = known_dims(QUERIES, 4), *k = known_dims(KEYS, 12), *none = constant(KEYS * DIMS, 0);
  static const struct {
    double threshold, q, k; /* dims of head 2 above it; of q two are 2 and 4 times the mean, 5; of k 1 and 6 times 10 */
  } cases[] = {{1, 2, 1}, {1.9, 2, 1}, {2, 1, 1}, {3.9, 1, 1}, {4, 0, 1}, {5, 0, 1}, {6, 0, 0}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    bench b;
    open_heads(&b, "massive_values", encoding);
    bound_number(&b.parameters, "threshold", cases[c].threshold);
    show(&b, 5, none, none);
    show(&b, 2, q, k);
    bench_finish(&b);
    agrees(b.result.value[0], cases[c].q, 0, "massive_q_dims, of the head that holds anything");
    agrees(b.result.value[1], 4, 1e-15, "largest_q_ratio");
    agrees(b.result.value[2], cases[c].k, 0, "massive_k_dims");
    agrees(b.result.value[3], 6, 1e-15, "largest_k_ratio");
    cr_assert_eq(b.result.curve.rows, DIMS);
    agrees(cell(&b, 0, 1), 2, 1e-15, "q_ratio");
    agrees(cell(&b, 7, 1), 4, 1e-15, "q_ratio");
    agrees(cell(&b, 7, 2), 6, 1e-15, "k_ratio");
    agrees(cell(&b, 7, 3), cases[c].threshold < 4, 0, "q_massive");
    agrees(cell(&b, 7, 4), cases[c].threshold < 6, 0, "k_massive");
    bench_close(&b);
  }
  free(q);
  free(k);
  free(none);
  rs_encoding_free(encoding);
}

/* Where queries or keys are all 0 there is no mean to compare with, and so no line of both. */
Test(massive_values, sides_that_hold_nothing__have_no_lines) {
  rs_encoding *encoding = encode_pairs("rope", DIMS, false);
  double *q = known_dims(QUERIES, 4), *k = known_dims(KEYS, 12), *none = constant(KEYS * DIMS, 0);
  for (size_t side = 0; side < 2; side++) {
    bench b;
    open_heads(&b, "massive_values", encoding);
    show(&b, 2, side == 0 ? none : q, side == 0 ? k : none);
    bench_finish(&b);
    cr_expect_eq(b.result.curve.rows, 0);
    agrees(b.result.value[1], side == 0 ? NAN : 4, 1e-15, "largest_q_ratio");
    agrees(b.result.value[3], side == 0 ? 6 : NAN, 1e-15, "largest_k_ratio");
    bench_close(&b);
  }
  free(q);
  free(k);
  free(none);
  rs_encoding_free(encoding);
}

/* Heads are taken each by itself, in whatever order; sequences of one head together. */
Test(massive_values, heads_and_sequences__means_over_heads_of_norms_over_tokens) {
  rs_encoding *encoding = encode_pairs("rope", DIMS, false);
  double *q[3], *k[3];
  static const size_t shown[] = {5, 2, 5};
  bench b;
  open_heads(&b, "massive_values", encoding);
  for (size_t i = 0; i < 3; i++) {
    q[i] = gaussian(30 + i, QUERIES * DIMS);
    k[i] = gaussian(40 + i, KEYS * DIMS);
    show(&b, shown[i], q[i], k[i]);
  }
  bench_finish(&b);
  for (size_t side = 0; side < 2; side++) {
    double *const *x = side == 0 ? q : k;
    size_t tokens = side == 0 ? QUERIES : KEYS;
    long double norm[2][DIMS] = {0}, mean[2] = {0}, largest[2] = {0};
    for (size_t h = 0; h < 2; h++)
      for (size_t d = 0; d < DIMS; d++) {
        for (size_t i = 0; i < 3; i++)
          for (size_t n = 0; n < tokens && shown[i] == heads[h]; n++)
            norm[h][d] += (long double)x[i][n * DIMS + d] * x[i][n * DIMS + d];
        norm[h][d] = sqrtl(norm[h][d]);
        mean[h] += norm[h][d] / DIMS;
      }
    for (size_t d = 0; d < DIMS; d++) {
      agrees(cell(&b, d, 1 + side), (norm[0][d] / mean[0] + norm[1][d] / mean[1]) / 2, 1e-14, "ratio");
      for (size_t h = 0; h < 2; h++) largest[h] = fmaxl(largest[h], norm[h][d] / mean[h]);
    }
    agrees(b.result.value[1 + 2 * side], (largest[0] + largest[1]) / 2, 1e-14, "largest ratio");
  }
  bench_close(&b);
  for (size_t i = 0; i < 3; i++) {
    free(q[i]);
    free(k[i]);
  }
  rs_encoding_free(encoding);
}

/* ---- retrieval --------------------------------------------------------------------------------------------------- */

/* Of head 2 rows 0, 2 and 3, of which the first wins and the last is hidden; of head 5 rows 1, which wins, and 4. */
Test(retrieval, rows_of_two_heads__each_has_its_score) {
  made_rows table;
  make_rows(&table);
  for (size_t i = 0; i < ROWS; i++) table.rows[i].head = i == 1 || i == 4 ? 5 : 2;
  static const struct { double threshold, heads; } cases[] = {{0.1, 1}, {0.5, 0.5}, {0.51, 0}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    bench b;
    open_heads(&b, "retrieval", NULL);
    bound_number(&b.parameters, "threshold", cases[c].threshold);
    bench_feed(&b, &table.observation);
    bench_finish(&b);
    agrees(b.result.value[0], (1.0L / 3 + 0.5L) / 2, 1e-15, "retrieval_score");
    agrees(b.result.value[1], 0.5, 0, "best_retrieval_score");
    agrees(b.result.value[2], cases[c].heads, 0, "retrieval_heads");
    cr_assert_eq(b.result.curve.rows, 2);
    static const double lines[][3] = {{2, 3, 1.0 / 3}, {5, 2, 0.5}};
    for (size_t i = 0; i < 6; i++) agrees(cell(&b, i / 3, i % 3), lines[i / 3][i % 3], 1e-15, "line");
    agrees(cell(&b, 1, 3), 0.5, 1e-15, "standard error");
    bench_close(&b);
  }
}

Test(retrieval, heads_that_nothing_asks__are_left_out) {
  made_rows table;
  make_rows(&table);
  for (size_t i = 0; i < ROWS; i++) {
    table.rows[i].head = i == 0 ? 2 : 5;
    table.rows[i].needle_planted &= i != 0;
  }
  bench b;
  open_heads(&b, "retrieval", NULL);
  bench_feed(&b, &table.observation);
  bench_finish(&b);
  cr_expect_eq(b.result.curve.rows, 1);
  agrees(cell(&b, 0, 0), 5, 0, "head");
  agrees(b.result.value[0], 0.25, 0, "retrieval_score");
  bench_close(&b);
}
