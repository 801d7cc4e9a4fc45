/* test_entropy.c: entropy and temperature against values recomputed here from first principles, closed forms and
 * published numbers. */
#include <criterion/criterion.h>
#include <math.h>

#include "../fixtures/score_bench.h"
#include "attention/attention.h"

/* Two rows made by hand: bins of (3, mean 1, squares 2) and (2, mean 4, squares 1): all squares 3 + 9 * 6/5 = 13.8 over
 * 4; and a row of one key, which has no variance. */
Test(entropy_scaling, rows__variance_and_deficit__are_recomputed) {
  static const size_t edges[] = {0, 8, 5120};
  double keys[][2] = {{3, 2}, {2, 0}, {1, 0}}, mean[][2] = {{1, 4}, {7, 0}, {2, 0}},
         squares[][2] = {{2, 1}, {0.5, 0}, {0, 0}};
  static const double entropy[] = {1.25, 0.5, 0};
  static const size_t seen[] = {5, 2, 1};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("yarn", &model, 32768, by_8);
  bench b;
  bench_open(&b, "entropy_scaling", encoding, edges, 2);
  for (size_t i = 0; i < 3; i++) {
    rs_row row = {.keys = seen[i], .entropy = entropy[i], .bin_keys = keys[i], .bin_mean = mean[i]};
    row.bin_squares = squares[i];
    b.kind->row(b.state, &row);
  }
  bench_finish(&b);
  long double variance = (13.8L / 4 + 0.5L) / 2, log_keys = (logl(5) + logl(2)) / 3, root = 0.1L * logl(8) + 1;
  long double content = variance / (root * root * root * root);
  agrees(b.result.value[0], sqrtl(variance), 1e-14, "row_logit_sd_nats");
  agrees(b.result.value[1], (1.75L - logl(5) - logl(2)) / 3, 1e-14, "entropy_deficit_nats");
  agrees(b.result.value[2], NAN, 0, "frozen: 1.975 > 2 * 0.7675");
  agrees(b.result.value[3], NAN, 0, "frozen");
  cr_assert_gt(variance, 2 * log_keys);
  agrees(b.result.value[4], root * root, 1e-14, "logit_factor");
  agrees(b.result.value[5], sqrtl(1 + 2 * logl(8) / content), 1e-14, "keeping_factor");
  agrees(b.result.value[6], sqrtl(2 * logl(8) / (root * root * root * root - 1)), 1e-14, "matching_sd_nats");
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* log_n sharpens late queries alone: rows of one content, each times its own query's factor, have that content's
 * variance, whichever queries are looked at. */
Test(entropy_scaling, factors_that_grow__content__is_the_same_at_every_query) {
  static const char *const grows[] = {"logit_scale", "log_n", NULL};
  static const size_t edges[] = {0, 32768}, queries[] = {9, 4095, 16383, 32767};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("rope", &model, 32768, grows);
  bench b;
  bench_open(&b, "entropy_scaling", encoding, edges, 1);
  for (size_t i = 0; i < RS_COUNT(queries); i++) {
    double factor = fmax(1, log((double)queries[i] + 1) / log(4096)), keys = 5, mean = 0, squares = 4 * factor * factor;
    rs_row row = {.query = queries[i], .keys = 5, .entropy = 1, .bin_keys = &keys, .bin_mean = &mean};
    row.bin_squares = &squares;
    b.kind->row(b.state, &row);
  }
  bench_finish(&b);
  agrees(b.result.value[4], 1.25, 1e-14, "logit_factor");
  agrees(b.result.value[5], sqrtl(1 + 2 * logl(8)), 1e-14, "keeping_factor: v = 1");
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* An amp on a quarter of the head is no factor of the logits: none is named, and nothing is made of it. */
Test(logit_factor, amp_on_a_part_of_the_head__is_empty) {
  static const char *const part[] = {"factor", "8", "rotary_dim", "4", NULL};
  static const struct {
    const char *metric;
    size_t scalar;
  } cases[] = {{"frequencies", 3}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = model_of(1, 16);
    rs_encoding *encoding = encode("yarn", &model, 64, part);
    bench b;
    bench_open(&b, cases[i].metric, encoding, NULL, 0);
    bench_finish(&b);
    agrees(b.result.value[cases[i].scalar], NAN, 0, cases[i].metric);
    bench_close(&b);
    rs_encoding_free(encoding);
  }
}

/* Entropies of Gaussian rows are measured, not assumed: iid N(0, 1) logits of 4096 keys lose half a nat; on spheres of
 * 128 dims what is lost is ln 0F1(; d/2; d/4) less its slope, -0.4942 (von Mises and Fisher's entropy), where
 * kexue.fm/archives/8823 has -0.24 sqrt(128) = -2.7. */
/* Logits that are all alike keep their entropy under no factor. */
Test(entropy_scaling, no_spread__no_factor_keeps_entropy) {
  static const size_t edges[] = {0, 5120};
  double keys = 5, mean = 3, squares = 0;
  rs_row row = {.keys = 5, .entropy = log(5), .bin_keys = &keys, .bin_mean = &mean, .bin_squares = &squares};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("nope", &model, 8192, NULL);
  bench b;
  bench_open(&b, "entropy_scaling", encoding, edges, 1);
  b.kind->row(b.state, &row);
  bench_finish(&b);
  agrees(b.result.value[0], 0, 0, "row_logit_sd_nats");
  agrees(b.result.value[5], NAN, 0, "keeping_factor");
  bench_close(&b);
  rs_encoding_free(encoding);
}

Test(entropy_scaling, gaussian_sources__deficits__are_the_closed_forms) {
  enum { LENGTH = 4096, DIMS = 128, QUERIES = 32, SEEDS = 4 };
  static const size_t edges[] = {0, 64, LENGTH};
  static const char *const norms[] = {"queries", "both"};
  static const double expected[] = {-0.5, -0.4942};
  rs_model model = model_of(1, DIMS);
  rs_encoding *encoding = encode("rope", &model, LENGTH, NULL);
  for (size_t i = 0; i < 2; i++) {
    bench b;
    bench_open(&b, "entropy_scaling", encoding, edges, 2);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      sim s;
      sim_open(&s, "gaussian", DIMS, LENGTH, seed);
      bound_set(&s.parameters, "norm", norms[i]);
      feed(&b, &s, LENGTH - QUERIES);
      sim_close(&s);
    }
    bench_finish(&b);
    cr_assert_float_eq(b.result.value[0], 1, 0.01, "sd %g", b.result.value[0]);
    cr_assert_float_eq(b.result.value[1], expected[i], 0.005, "%g", b.result.value[1]);
    cr_assert_float_eq(b.result.value[2], -0.5, 0.01, "%g", b.result.value[2]);
    cr_assert_float_eq(b.result.value[3], log(LENGTH) - 0.5, 0.015, "%g", b.result.value[3]);
    agrees(b.result.value[4], 1, 0, "logit_factor");
    agrees(b.result.value[5], 1, 1e-15, "at train_length nothing is to be kept");
    agrees(b.result.value[6], NAN, 0, "matching_sd_nats");
    cr_assert(b.result.error[1] > 0 && b.result.error[1] < 0.003);
    bench_close(&b);
  }
  rs_encoding_free(encoding);
}

/* Logits that are all alike have the entropy of the length, whatever multiplies them. */
Test(entropy_scaling, equal_logits__keeping_factor__is_empty) {
  static const size_t edges[] = {0, 8192};
  rs_model model = model_of(1, 8);
  rs_encoding *encoding = encode("nope", &model, 8192, NULL);
  double keys = 5, mean = 3, squares = 0;
  rs_row row = {.query = 8191, .keys = 5, .entropy = log(5), .bin_keys = &keys, .bin_mean = &mean};
  bench b;
  bench_open(&b, "entropy_scaling", encoding, edges, 1);
  row.bin_squares = &squares;
  b.kind->row(b.state, &row);
  bench_finish(&b);
  agrees(b.result.value[0], 0, 0, "row_logit_sd_nats");
  agrees(b.result.value[5], NAN, 0, "keeping_factor");
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* No spread of logits makes a factor of 1 right beyond train_length, nor one above 1 below it; without rows nothing is
 * known of the logits. */
Test(entropy_scaling, no_matching_factor__is_empty) {
  static const size_t edges[] = {0, 8};
  static const struct {
    const char *method, *const *settings;
    size_t length;
  } cases[] = {{"nope", NULL, 8192}, {"yarn", by_8, 2048}, {"nope", NULL, 4096}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = model_of(1, 8);
    rs_encoding *encoding = encode(cases[i].method, &model, cases[i].length, cases[i].settings);
    bench b;
    bench_open(&b, "entropy_scaling", encoding, edges, 1);
    bench_finish(&b);
    for (size_t c = 0; c < 7; c++)
      if (c != 4) agrees(b.result.value[c], NAN, 0, b.kind->scalars[c].name);
    bench_close(&b);
    rs_encoding_free(encoding);
  }
}
