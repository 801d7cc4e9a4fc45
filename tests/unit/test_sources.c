/* test_sources.c: what each source promises of its numbers. The engine and the reference row are tested in
 * property/test_engine.c. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/obtain.h"
#include "../fixtures/source_head.h"
#include "attention/attention.h"

/* ---- sources ----------------------------------------------------------------------------------------------------- */

Test(sources, table__each_kind__describes_itself_and_is_found_by_name) {
  size_t count;
  const rs_source_kind *const *kinds = rs_source_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    cr_assert_eq(rs_source_find(kinds[i]->kind.name), kinds[i]);
    cr_assert(strlen(kinds[i]->kind.summary) > 0 && strlen(kinds[i]->kind.reference) > 0 &&
              kinds[i]->kind.version >= 0);
    cr_assert(kinds[i]->keys != NULL && kinds[i]->query != NULL);
    bool planted = strcmp(kinds[i]->kind.name, "needle") == 0 || strcmp(kinds[i]->kind.name, "gap") == 0;
    cr_assert_eq(kinds[i]->needle != NULL, planted || kinds[i]->of_model);
    cr_assert_eq(kinds[i]->needle_is_key, kinds[i]->of_model);
  }
  cr_assert_not_null(rs_source_find("gaussian"));
  cr_assert_null(rs_source_find("gauss"));
}

/* Mean and spread over all dims and tokens, of queries and of keys. */
Test(sources, moments__of_each_kind__are_those_it_states) {
  static const struct {
    const char *name, *setting;
    double value, mean, sd;
  } cases[] = {{"constant", NULL, 0, 1, 0},          {"gaussian", NULL, 0, 0, 1}, {"gaussian", "sd", 2.5, 0, 2.5},
               {"gaussian", "sd", 0, 0, 0},          {"needle", NULL, 0, 0, 1},   {"gaussian_mean", NULL, 0, 0.5, 1},
               {"gaussian_mean", "mean", -3, -3, 1}, {"band", "to", 1, 0, 1},     {"grid", NULL, 0, 0, 1}};
  enum { DIMS = 32, LENGTH = 4096, COUNT = DIMS * LENGTH };
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    for (int queries = 0; queries < 2; queries++) {
      double *sample = vectors(cases[i].name, cases[i].setting, cases[i].value, queries, DIMS, LENGTH);
      moments got = moments_of(sample, COUNT);
      double slack = five_sigma(COUNT) * cases[i].sd;
      cr_assert_float_eq(got.mean, cases[i].mean, slack, "%s: mean %g", cases[i].name, got.mean);
      cr_assert_float_eq(got.sd, cases[i].sd, slack, "%s: sd %g", cases[i].name, got.sd);
      free(sample);
    }
}

/* Any cut of the keys gives the same bytes, whatever was made before. (Rows of files: test_tensors_source.c.) */
Test(sources, keys__in_chunks__are_those_made_at_once) {
  enum { DIMS = 6, LENGTH = 90 };
  size_t count;
  const rs_source_kind *const *kinds = rs_source_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    sim_head h;
    if (kinds[i]->fit != NULL) continue;
    head_make(&h, kinds[i]->kind.name, DIMS, LENGTH);
    double *whole = all_keys(&h), part[LENGTH * DIMS];
    for (size_t begin = 0; begin < LENGTH; begin += 7)
      for (size_t end = begin; end <= LENGTH; end += 3) {
        kinds[i]->keys(&h.in, begin, end, part);
        cr_assert(same_bytes(part, whole + begin * DIMS, (end - begin) * DIMS), "%s", kinds[i]->kind.name);
      }
    free(whole);
    head_clear(&h);
  }
}

/* Keys and queries of a changed head are unrelated to those before, and to each other. */
static void check_fresh(sim_head *h, const double *keys_before, const double *queries_before, const char *what) {
  double *keys = all_keys(h), *queries = all_queries(h);
  size_t count = h->in.length * h->in.head_dim;
  const double *const pairs[][2] = {{keys, keys_before}, {queries, queries_before}, {keys, queries}};
  for (size_t i = 0; i < RS_COUNT(pairs); i++)
    if (fabs(correlation(pairs[i][0], pairs[i][1], count)) > five_sigma(count))
      cr_assert_fail("another %s, pair %zu", what, i);
  free(keys);
  free(queries);
}

Test(sources, another_seed_or_head__numbers__are_unrelated) {
  sim_head h;
  head_make(&h, "gaussian", 16, 512);
  double *keys = all_keys(&h), *queries = all_queries(&h);
  h.in.seed = 2;
  check_fresh(&h, keys, queries, "seed");
  h.in.seed = 1;
  h.in.head = 1;
  check_fresh(&h, keys, queries, "head");
  free(keys);
  free(queries);
  head_clear(&h);
}

/* Common random numbers: one seed, the same noise, whatever the source; differences between sources have no noise. */
Test(sources, same_seed__numbers__are_shared_by_the_sources) {
  enum { DIMS = 8, LENGTH = 100, COUNT = DIMS * LENGTH };
  for (int queries = 0; queries < 2; queries++) {
    double *plain = vectors("gaussian", NULL, 0, queries, DIMS, LENGTH);
    double *needle = vectors("needle", NULL, 0, queries, DIMS, LENGTH);
    double *shifted = vectors("gaussian_mean", "mean", 2, queries, DIMS, LENGTH);
    double *grid = vectors("grid", NULL, 0, queries, DIMS, LENGTH);
    double *incoherent = vectors("grid", "coherence", 0, queries, DIMS, LENGTH);
    cr_assert(same_bytes(plain, needle, COUNT) && same_bytes(plain, incoherent, COUNT));
    for (size_t i = 0; i < COUNT; i++) cr_assert_eq(shifted[i], plain[i] + 2);
    cr_assert(same_bytes(plain, grid, IMAGE * DIMS), "text before the picture");
    cr_assert(same_bytes(plain + (VIDEO - 2) * DIMS, grid + (VIDEO - 2) * DIMS, 2 * DIMS), "text between");
    cr_assert(same_bytes(plain + LAYOUT_END * DIMS, grid + LAYOUT_END * DIMS, COUNT - LAYOUT_END * DIMS), "text after");
    double *all[] = {plain, needle, shifted, grid, incoherent};
    for (size_t i = 0; i < RS_COUNT(all); i++) free(all[i]);
  }
}

/* ---- the needle -------------------------------------------------------------------------------------------------- */

Test(needle, overlap__of_needle_and_query__is_their_correlation) {
  enum { DIMS = 64, LENGTH = 2000, COUNT = DIMS * LENGTH };
  static const double overlaps[] = {0, 0.3, 0.8, 1};
  for (size_t i = 0; i < RS_COUNT(overlaps); i++) {
    sim_head h;
    head_make(&h, "needle", DIMS, LENGTH);
    head_set(&h, "overlap", overlaps[i]);
    double *queries = all_queries(&h), *keys = all_keys(&h), *needles = obtain(COUNT, sizeof *needles);
    for (size_t m = 0; m < LENGTH; m++) h.kind->needle(&h.in, m, queries + m * DIMS, needles + m * DIMS);
    moments all = moments_of(needles, COUNT);
    double slack = five_sigma(COUNT);
    cr_assert_float_eq(correlation(needles, queries, COUNT), overlaps[i], 2 * slack);
    cr_assert_float_eq(correlation(needles, keys, COUNT), 0, slack, "the needle's noise is no key's");
    cr_assert_float_eq(all.mean, 0, slack);
    cr_assert_float_eq(all.sd, 1, slack);
    if (overlaps[i] == 1) cr_assert(same_bytes(needles, queries, COUNT));
    free(queries);
    free(keys);
    free(needles);
    head_clear(&h);
  }
}

Test(needle, depth__of_each_query__is_a_share_of_what_it_sees) {
  static const double depths[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 1};
  sim_head h;
  head_make(&h, "needle", 4, 60);
  double query[4] = {1, 2, 3, 4}, key[4], again[4];
  for (size_t i = 0; i < RS_COUNT(depths); i++)
    for (size_t m = 0; m < 1000; m++) {
      head_set(&h, "depth", depths[i]);
      size_t place = h.kind->needle(&h.in, m, query, key);
      cr_assert(place <= m && place <= depths[i] * m && place + 1 > depths[i] * m, "depth %g of %zu: %zu", depths[i], m,
                place);
      head_set(&h, "depth", 0);
      cr_assert_eq(h.kind->needle(&h.in, m, query, again), 0);
      cr_assert(same_bytes(key, again, 4), "the same needle at every depth");
    }
  head_clear(&h);
}

/* ---- the constant source under RoPE ------------------------------------------------------------------------------ */

/* 2 sum_j cos((m - n) theta_j) / sqrt(D). */
Test(sources, constant__logit_under_rope__is_the_bare_kernel) {
  enum { DIMS = 64, LENGTH = 200 };
  rs_model model = source_model(1, DIMS, LENGTH);
  rs_encoding *encoding = source_encoding(rs_method_find("rope"), &model, LENGTH);
  double *k = vectors("constant", NULL, 0, false, DIMS, LENGTH), *q = vectors("constant", NULL, 0, true, DIMS, 1);
  double logits[LENGTH], needle;
  size_t last = LENGTH - 1;
  rs_attention_job job = {.encoding = encoding, .queries = &last, .query_count = 1, .q = q, .k = k};
  cr_assert_eq(rs_reference_row(&job, 0, logits, &needle, NULL), RS_OK);
  for (size_t n = 0; n < LENGTH; n++) {
    long double kernel = 0;
    for (size_t j = 0; j < DIMS / 2; j++) kernel += cosl((last - n) * powl(10000, -2.0L * j / DIMS));
    cr_assert_float_eq(logits[n], 2 * kernel / sqrtl(DIMS), 1e-13, "key %zu", n);
  }
  rs_encoding_free(encoding);
  free(k);
  free(q);
}

/* ---- rows that are there already --------------------------------------------------------------------------------- */

/* Two heads side by side; the second is handed on, its queries three times as large. */
Test(given_rows, model__hands_on_rows__queries_by_their_factor__needles_as_told) {
  enum { DIMS = 3, LENGTH = 5, STEP = 2 * DIMS };
  const rs_source_kind *kind = rs_source_find("model");
  double q[LENGTH * STEP], k[LENGTH * STEP], got[LENGTH * DIMS];
  const size_t sought[LENGTH] = {RS_NO_NEEDLE, 0, RS_NO_NEEDLE, 2, 1};
  const rs_given_rows given = {
      q + DIMS, k + DIMS, STEP, STEP, 3, sought, {.soft_cap = 30, .sinks = true, .learned_sink = -2}};
  rs_source_in in = {.head_dim = DIMS, .length = LENGTH, .given = &given};
  for (size_t i = 0; i < RS_COUNT(q); i++) q[i] = (double)i, k[i] = -(double)i;
  cr_assert_eq(rs_source_prepare(kind, &in, NULL), RS_OK);
  kind->keys(&in, 1, LENGTH, got);
  for (size_t n = 1; n < LENGTH; n++)
    for (size_t d = 0; d < DIMS; d++) cr_expect_eq(got[(n - 1) * DIMS + d], -(double)(n * STEP + DIMS + d));
  for (size_t n = 0; n < LENGTH; n++) {
    kind->query(&in, n, got);
    for (size_t d = 0; d < DIMS; d++) cr_expect_eq(got[d], 3 * (double)(n * STEP + DIMS + d));
    cr_expect_eq(kind->needle(&in, n, got, NULL), sought[n]);
  }
  rs_score_rule rule = kind->rule(&in);
  cr_expect(rule.soft_cap == 30 && rule.sinks && rule.learned_sink == -2);
  rs_source_release(kind, &in);
}

Test(given_rows, model__without_a_checkpoint__is_refused) {
  rs_source_in in = {.head_dim = 2, .length = 3};
  rs_err err = {0};
  cr_expect_eq(rs_source_prepare(rs_source_find("model"), &in, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "model: there is no checkpoint whose queries and keys it is");
}
