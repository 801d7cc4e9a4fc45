/* test_needle.c: the needle's logit, weight and rank against closed forms. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "../fixtures/made_rows.h"
#include "../fixtures/metric_bench.h"
#include "attention/attention.h"

/* Opens the needle metric on one query that sees n - 1 equal keys and a needle with logit g. */
static void open_needle(bench *b, size_t n, double g) {
  enum { DIMS = 4 };
  const size_t edges[] = {0, n / 2, n - 1}, last = n - 2, place = n / 4;
  rs_model model = model_of(1, DIMS);
  rs_encoding *encoding = encode("nope", &model, n - 1, NULL);
  double *q = constant(DIMS, 1), *k = constant(DIMS * (n - 1), 0), needle[DIMS] = {g * 2, 0, 0, 0};
  rs_attention_job job = {.encoding = encoding, .queries = &last, .query_count = 1, .q = q, .k = k};
  job.edges = edges;
  job.bins = 2;
  job.needle_at = &place;
  job.needle_key = needle;
  rs_observation *observation = observe(&job);
  bench_open(b, "needle", encoding, edges, 2);
  bench_feed(b, observation);
  bench_finish(b);
  rs_observation_free(observation);
  rs_encoding_free(encoding);
  free(q);
  free(k);
}

/* A needle under softmax: weight e^g / (e^g + n - 1), half at n = 1 + e^g. A tie counts as a win: no other key is
 * larger. */
Test(needle, known_logit_among_equal_keys__weight__is_the_closed_form) {
  static const double logits[] = {-3, 0, 1, 5, 20};
  static const size_t sizes[] = {8, 100, 5001};
  for (size_t i = 0; i < RS_COUNT(logits); i++)
    for (size_t s = 0; s < RS_COUNT(sizes); s++) {
      long double n = sizes[s], g = logits[i], want = expl(g) / (expl(g) + n - 1);
      bench b;
      open_needle(&b, sizes[s], logits[i]);
      agrees(b.result.value[0], want, 1e-14, "needle_weight");
      agrees(b.result.value[1], g < 0 ? n - 1 : 0, 0, "needle_rank");
      agrees(b.result.value[2], g >= 0, 0, "needle_win_rate");
      agrees(b.result.value[3], g, 1e-15, "needle_logit_nats");
      for (size_t e = 0; e < 4; e++) agrees(b.result.error[e], NAN, 0, "one row has no standard error");
      cr_assert_eq(b.result.curve.rows, 1);
      agrees(cell(&b, 0, 0), sizes[s] / 2, 0, "three quarters back: the second bin");
      agrees(cell(&b, 0, 3), want, 1e-14, "weight");
      bench_close(&b);
    }
}

/* SSMax in the same terms (arXiv:2501.19399): g = 1.1 ln n holds the needle at any length. */
Test(needle, ssmax_logits__weights__are_the_published_ones) {
  static const double cases[][2] = {{1024, 0.667}, {8192, 0.711}, {65536, 0.752}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    bench b;
    open_needle(&b, (size_t)cases[i][0], 1.1 * log(cases[i][0]));
    cr_assert_float_eq(b.result.value[0], cases[i][1], 5e-4, "n = %g: %g", cases[i][0], b.result.value[0]);
    bench_close(&b);
  }
}

/* A hidden needle (row 3) weighs 0 and never wins, and has neither rank nor logit. Distances 0, 4, 8, 12 and 99. */
Test(needle, rows__of_seen_and_hidden_needles__are_averaged_each_over_its_own) {
  static const size_t members[BINS][3] = {{0}, {1, 2, 3}, {4}}, sizes[BINS] = {1, 3, 1};
  made_rows table;
  make_rows(&table);
  bench b;
  open_rows(&b, "needle", &table, ROWS);
  static const double weight[] = {0.05, 0.15, 0.25, 0, 0.45}, rank[] = {0, 0, 1, 2}, win[] = {1, 1, 0, 0, 0};
  static const double logit[] = {2, 1, 0, -2};
  check_sample(&b, 0, weight, 5, "needle_weight");
  check_sample(&b, 1, rank, 4, "needle_rank");
  check_sample(&b, 2, win, 5, "needle_win_rate");
  check_sample(&b, 3, logit, 4, "needle_logit_nats");
  cr_assert_eq(b.result.curve.rows, BINS);
  for (size_t bin = 0; bin < BINS; bin++) {
    double weights[3], ranks[3], wins[3], *const samples[] = {weights, ranks, wins};
    size_t seen = 0;
    for (size_t i = 0; i < sizes[bin]; i++) {
      size_t row = members[bin][i];
      weights[i] = weight[row];
      wins[i] = win[row];
      if (row != 3) ranks[seen++] = (double)table.rows[row].needle_rank;
    }
    agrees(cell(&b, bin, 0), made_edges[bin], 0, "distance_tokens");
    agrees(cell(&b, bin, 1), made_edges[bin + 1], 0, "distance_end_tokens");
    agrees(cell(&b, bin, 2), sizes[bin], 0, "needles");
    for (size_t c = 0; c < 3; c++) {
      b.result.value[4] = cell(&b, bin, 3 + 2 * c);
      b.result.error[4] = cell(&b, bin, 4 + 2 * c);
      check_sample(&b, 4, samples[c], c == 1 ? seen : sizes[bin], "a curve's sample");
    }
  }
  bench_close(&b);
}
