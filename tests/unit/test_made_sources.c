/* test_made_sources.c: the sources made for metrics of scores, and where the largest logit stands. */
#include <criterion/criterion.h>
#include <math.h>

#include "../fixtures/score_bench.h"
#include "attention/attention.h"

/* ---- sources ----------------------------------------------------------------------------------------------------- */

/* The directions are those of the free source; lengths are fixed at sd sqrt(D) = 2 * 4 where they are to be. */
Test(gaussian, fixed_norms__lengths_are_exact__directions_are_kept) {
  static const char *const words[] = {"free", "queries", "both"};
  enum { DIMS = 16, LENGTH = 20 };
  double keys[3][LENGTH * DIMS], queries[3][DIMS];
  for (size_t i = 0; i < 3; i++) {
    sim s;
    sim_open(&s, "gaussian", DIMS, LENGTH, 5);
    bound_set(&s.parameters, "sd", "2");
    bound_set(&s.parameters, "norm", words[i]);
    sim_prepare(&s);
    s.kind->keys(&s.in, 0, LENGTH, keys[i]);
    s.kind->query(&s.in, 7, queries[i]);
    sim_close(&s);
  }
  for (size_t i = 0; i < 3; i++) {
    double ratio = length_of(queries[i], DIMS) / length_of(queries[0], DIMS);
    for (size_t d = 0; d < DIMS; d++) agrees(queries[i][d], ratio * queries[0][d], 1e-14, "query's direction");
    if (i > 0) agrees(length_of(queries[i], DIMS), 8, 1e-14, "query's length");
    for (size_t n = 0; n < LENGTH; n++) {
      const double *key = keys[i] + n * DIMS, *free_key = keys[0] + n * DIMS;
      double of_key = length_of(key, DIMS) / length_of(free_key, DIMS);
      for (size_t d = 0; d < DIMS; d++) agrees(key[d], of_key * free_key[d], 1e-14, "key's direction");
      agrees(length_of(key, DIMS), i == 2 ? 8 : length_of(free_key, DIMS), 1e-14, "key's length");
    }
  }
  cr_assert(fabs(length_of(queries[0], DIMS) - 8) > 0.01 && fabs(length_of(keys[0], DIMS) - 8) > 0.01);
}

/* e^g / (e^g + n - 1) of n = m + 2 keys with the needle, at the depth that was asked for; rotation leaves g times the
 * mean cosine. */
Test(gap, one_key_above_a_flat_row__weight__is_the_closed_form) {
  static const char *const methods[] = {"nope", "rope"};
  static const size_t edges[] = {0, 400};
  rs_model model = model_of(1, 16);
  for (size_t i = 0; i < 2; i++) {
    rs_encoding *encoding = encode(methods[i], &model, 400, NULL);
    sim s;
    bench b;
    sim_open(&s, "gap", 16, 400, 0);
    bound_set(&s.parameters, "gap", "5");
    bound_set(&s.parameters, "depth", "0.25");
    bench_open(&b, "needle", encoding, edges, 1);
    b.result.curve.columns = 9; /* with standard errors */
    feed(&b, &s, 399);
    bench_finish(&b);
    long double g = 5 * (i == 0 ? 1 : rs_encoding_mean_cosine(encoding, 399, 99));
    agrees(b.result.value[0], expl(g) / (expl(g) + 400), 1e-14, "needle_weight");
    agrees(b.result.value[3], g, 1e-14, "needle_logit_nats");
    bench_close(&b);
    sim_close(&s);
    rs_encoding_free(encoding);
  }
}

/* ---- where the largest logit stands ------------------------------------------------------------------------------ */

/* Proposition 3.1 of arXiv:2410.06205 for random contents, both pair layouts, also where a part of the head is still;
 * under interpolation by s the same head looks s times as far. */
Test(argmax_distance, lookback__largest_logit__stands_at_the_distance) {
  enum { LENGTH = 300 };
  static const size_t edges[] = {0, 10, 16, 17, 100, LENGTH};
  static const char *const by_4[] = {"scale", "4", NULL};
  for (size_t i = 0; i < 12; i++) {
    rs_model model = model_of(1, 32);
    model.pair_layout = i % 2 ? RS_INTERLEAVED : RS_HALF_SPLIT;
    model.rotary_dim = i % 3 == 2 ? 16 : 32;
    bool stretched = i % 4 >= 2;
    rs_encoding *encoding = encode(stretched ? "pi" : "rope", &model, LENGTH, stretched ? by_4 : NULL);
    sim s;
    bench b;
    sim_open(&s, "lookback", 32, LENGTH, i);
    bound_set(&s.parameters, "distance", stretched ? "4" : "16");
    s.in.pair_layout = model.pair_layout;
    s.in.rotary_dim = model.rotary_dim;
    bench_open(&b, "argmax_distance", encoding, edges, 5);
    feed(&b, &s, 200);
    bench_finish(&b);
    agrees(b.result.value[0], 16, 0, "argmax_distance_tokens");
    agrees(b.result.error[0], 0, 0, "its standard error");
    agrees(b.result.value[1], 16, 0, "argmax_mode_tokens");
    agrees(b.result.value[2], 1, 0, "argmax_mode_share");
    for (size_t bin = 0; bin < 5; bin++) agrees(cell(&b, bin, 2), bin == 2, 0, "share");
    bench_close(&b);
    sim_close(&s);
    rs_encoding_free(encoding);
  }
}

/* Each key is the one content of the queries, turned by r tokens of the model's own RoPE. */
Test(lookback, keys__are_the_content_turned_by_the_distance) {
  enum { DIMS = 12, LENGTH = 9 };
  for (size_t i = 0; i < 4; i++) {
    rs_model model = model_of(1, DIMS);
    model.rope_theta = 300;
    model.rotary_dim = i < 2 ? DIMS : 8;
    model.pair_layout = i % 2 ? RS_INTERLEAVED : RS_HALF_SPLIT;
    rs_encoding *encoding = encode("rope", &model, LENGTH, NULL);
    sim s;
    double keys[LENGTH * DIMS], query[DIMS], other[DIMS], turned[DIMS];
    const double distance = 57;
    sim_open(&s, "lookback", DIMS, LENGTH, 3);
    bound_set(&s.parameters, "distance", "57");
    s.in.rope_theta = model.rope_theta;
    s.in.rotary_dim = model.rotary_dim;
    s.in.pair_layout = model.pair_layout;
    sim_prepare(&s);
    s.kind->keys(&s.in, 0, LENGTH, keys);
    s.kind->query(&s.in, 2, query);
    s.kind->query(&s.in, 7, other);
    rs_encoding_rotate(encoding, &distance, query, turned);
    for (size_t d = 0; d < DIMS; d++) {
      agrees(other[d], query[d], 0, "all queries are one");
      for (size_t n = 0; n < LENGTH; n++) agrees(keys[n * DIMS + d], turned[d], 1e-14, "key");
    }
    sim_close(&s);
    rs_encoding_free(encoding);
  }
}

/* Distances 3, 5, 5, 2 (a later key), 3, 9: mean 4.5, modes 3 and 5. */
Test(argmax_distance, rows__mean_mode_and_shares__are_recomputed) {
  static const size_t queries[] = {3, 9, 15, 4, 10, 9}, argmax[] = {0, 4, 10, 6, 7, 0}, edges[] = {0, 3, 4, 16};
  static const double shares[] = {1 / 6.0, 2 / 6.0, 3 / 6.0};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("nope", &model, 16, NULL);
  bench b;
  bench_open(&b, "argmax_distance", encoding, edges, 3);
  for (size_t i = 0; i < 6; i++) {
    rs_row row = {.query = queries[i], .argmax = argmax[i]};
    b.kind->row(b.state, &row);
  }
  bench_finish(&b);
  agrees(b.result.value[0], 4.5, 1e-15, "argmax_distance_tokens");
  agrees(b.result.error[0], sqrtl(31.5L / 5 / 6), 1e-14, "its standard error");
  agrees(b.result.value[1], 3, 0, "argmax_mode_tokens");
  agrees(b.result.value[2], 2 / 6.0L, 1e-15, "argmax_mode_share");
  for (size_t bin = 0; bin < 3; bin++) {
    agrees(cell(&b, bin, 0), edges[bin], 0, "distance_tokens");
    agrees(cell(&b, bin, 1), edges[bin + 1], 0, "distance_end_tokens");
    agrees(cell(&b, bin, 2), shares[bin], 1e-15, "share");
  }
  bench_close(&b);
  bench_open(&b, "argmax_distance", encoding, edges, 3);
  bench_finish(&b);
  for (size_t i = 0; i < 3; i++) agrees(b.result.value[i], NAN, 0, "no rows");
  cr_assert_eq(b.result.curve.rows, 0);
  bench_close(&b);
  rs_encoding_free(encoding);
}
