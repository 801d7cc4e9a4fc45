/* test_rows.c: metrics of observed rows against values recomputed here from first principles. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "../fixtures/bound.h"
#include "../fixtures/made_rows.h"
#include "../fixtures/metric_bench.h"
#include "../fixtures/obtain.h"
#include "attention/attention.h"

/* ---- observed rows ----------------------------------------------------------------------------------------------- */

Test(distance_mass, alibi_equal_content__weights_and_windows__are_those_of_the_paper) {
  static const double windows[] = {10, 19, 37, 74, 148, 295, 590, 1179};
  rs_model model = model_of(8, 8);
  rs_encoding *encoding = encode("alibi", &model, 8192, NULL);
  size_t *edges = every_distance(8192);
  for (size_t head = 0; head < 8; head++) check_alibi(head, encoding, edges, windows[head]);
  free(edges);
  rs_encoding_free(encoding);
}

Test(entropy, rows__mean_share_and_effective_tokens__are_recomputed) {
  made_rows table;
  make_rows(&table);
  for (size_t count = 0; count <= ROWS; count++) {
    double entropy[ROWS] = {0}, share[ROWS] = {0}, effective[ROWS] = {0}, sink[ROWS] = {0};
    size_t shares = 0;
    for (size_t i = 0; i < count; i++) {
      entropy[i] = table.rows[i].entropy;
      effective[i] = exp(entropy[i]);
      sink[i] = table.rows[i].sink_weight;
      if (table.rows[i].keys > 1) share[shares++] = entropy[i] / log((double)table.rows[i].keys); /* ln 1 = 0 */
    }
    bench b;
    open_rows(&b, "entropy", &table, count);
    check_sample(&b, 0, entropy, count, "entropy_nats");
    check_sample(&b, 1, share, shares, "entropy_share");
    bench_close(&b);
    open_rows(&b, "effective_tokens", &table, count);
    check_sample(&b, 0, effective, count, "effective_tokens");
    bench_close(&b);
    open_rows(&b, "sink_mass", &table, count);
    check_sample(&b, 0, sink, count, "sink_mass");
    bench_close(&b);
  }
}

/* The mean weights are .32 .21 .47: half is reached .18 into the .21 of bin 4 .. 16. */
Test(distance_mass, rows__mean_weights_and_median__are_recomputed) {
  made_rows table;
  make_rows(&table);
  bench b;
  open_rows(&b, "distance_mass", &table, ROWS);
  for (size_t bin = 0; bin < BINS; bin++) {
    double sample[ROWS];
    for (size_t i = 0; i < ROWS; i++) sample[i] = table.weight[i][bin];
    b.result.value[1] = cell(&b, bin, 2);
    b.result.error[1] = cell(&b, bin, 3);
    check_sample(&b, 1, sample, ROWS, "weight");
    agrees(cell(&b, bin, 0), made_edges[bin], 0, "distance_tokens");
    agrees(cell(&b, bin, 1), made_edges[bin + 1], 0, "distance_end_tokens");
  }
  agrees(b.result.value[0], 4 + 12 * 0.18L / 0.21L, 1e-13, "median_distance_tokens");
  bench_close(&b);
  open_rows(&b, "distance_mass", &table, 3); /* .433 .133 .433 */
  agrees(b.result.value[0], 4 + 12 * (0.5L - 1.3L / 3) / (0.4L / 3), 1e-13, "median_distance_tokens");
  bench_close(&b);
  open_rows(&b, "distance_mass", &table, 0);
  agrees(b.result.value[0], NAN, 0, "no rows, no median");
  bench_close(&b);
}

/* ---- parts of the context ---------------------------------------------------------------------------------------- */

Test(segment_mass, rows__parts_are_averaged_each_by_itself) {
  made_rows table;
  make_rows(&table);
  bench b;
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t s = 0; s < RS_ROW_SEGMENTS; s++) table.rows[i].segment_weight[s] = (double)((s + 1) * (i + 1)) / 100;
    table.rows[i].learned_weight = 1 - (double)(10 * (i + 1)) / 100;
  }
  open_rows(&b, "segment_mass", &table, ROWS);
  long double all = 0;
  for (size_t s = 0; s <= RS_ROW_SEGMENTS; s++) {
    double sample[ROWS];
    for (size_t i = 0; i < ROWS; i++)
      sample[i] = s < RS_ROW_SEGMENTS ? table.rows[i].segment_weight[s] : table.rows[i].learned_weight;
    check_sample(&b, s, sample, ROWS, b.kind->scalars[s].name);
    all += b.result.value[s];
  }
  agrees(1, all, 1e-15, "all parts");
  cr_expect_str_eq(b.kind->scalars[RS_ROW_LOCAL].name, "local_mass");
  bench_close(&b);
}

Test(segment_mass, parameters__are_what_rows_are_to_hold) {
  rs_row_needs needs = {0};
  bound_params b;
  const rs_metric_kind *kind = rs_metric_find("segment_mass"), *sinks = rs_metric_find("sink_mass");
  bound_make(&b, &kind->kind);
  bound_number(&b, "sinks", 7);
  bound_number(&b, "local", 33);
  cr_assert_eq(rs_row_needs_add(&needs, kind, b.binding.fields, NULL), RS_OK);
  cr_expect(needs.rows && !needs.content && needs.sinks == 7 && needs.local == 33 && needs.top_count == 0);
  bound_params four;
  bound_make(&four, &sinks->kind);
  cr_expect_eq(rs_row_needs_add(&needs, sinks, four.binding.fields, NULL), RS_UNSUPPORTED);
  bound_clear(&b);
  bound_clear(&four);
}

Test(top_mass, rows__weights_of_the_largest__are_averaged) {
  static const double two[] = {2, 30};
  double tops[ROWS][2];
  made_rows table;
  make_rows(&table);
  bench b;
  bench_open(&b, "top_mass", NULL, made_edges, BINS);
  free(b.state);
  bound_list(&b.parameters, "k", two, 2);
  b.in.params = b.parameters.binding.fields;
  cr_assert_eq(b.kind->prepare(&b.in, &b.state, NULL), RS_OK);
  for (size_t i = 0; i < ROWS; i++) {
    tops[i][0] = 0.1 * (double)i;
    tops[i][1] = 1 - 0.01 * (double)(i * i);
    table.rows[i].top_weight = tops[i];
  }
  bench_feed(&b, &table.observation);
  bench_finish(&b);
  cr_assert_eq(b.result.curve.rows, 2);
  for (size_t k = 0; k < 2; k++) {
    double sample[ROWS];
    for (size_t i = 0; i < ROWS; i++) sample[i] = tops[i][k];
    agrees(cell(&b, k, 0), two[k], 0, "k_keys");
    b.result.value[1] = cell(&b, k, 1);
    b.result.error[1] = cell(&b, k, 2);
    check_sample(&b, 1, sample, ROWS, "top_mass");
  }
  bench_close(&b);
}

Test(top_mass, lists__ascending_whole_numbers__else_refused) {
  static const struct {
    double list[2];
    rs_status status;
  } cases[] = {{{1, 2}, RS_OK}, {{2, 2}, RS_INPUT}, {{3, 2}, RS_INPUT}, {{1, 2.5}, RS_INPUT}};
  const rs_metric_kind *kind = rs_metric_find("top_mass");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    bound_params b;
    rs_err err = {0};
    bound_make(&b, &kind->kind);
    cr_expect_eq(kind->check(&b.binding, NULL), RS_OK, "the list that is used without one");
    bound_list(&b, "k", cases[i].list, 2);
    cr_expect_eq(kind->check(&b.binding, &err), cases[i].status, "case %zu: %s", i, err.message);
    bound_clear(&b);
  }
}

/* A learned sink takes weight from all distances alike: half of what is left lies where half of all lay. */
Test(distance_mass, learned_sink__takes_weight__median_stays) {
  made_rows table;
  make_rows(&table);
  bench plain, less;
  open_rows(&plain, "distance_mass", &table, ROWS);
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t bin = 0; bin < BINS; bin++) table.weight[i][bin] *= 0.25;
    table.rows[i].learned_weight = 0.75;
  }
  open_rows(&less, "distance_mass", &table, ROWS);
  agrees(less.result.value[0], plain.result.value[0], 1e-14, "median_distance_tokens");
  bench_close(&plain);
  bench_close(&less);
}

/* ---- logits against distance ------------------------------------------------------------------------------------- */

/* Means and spreads of joined rows are those of all their logits together. */
Test(score_by_distance, joined_rows__mean_and_sd__are_those_of_all_logits) {
  enum { LENGTH = 60, DIMS = 4 };
  rs_model model = model_of(1, DIMS);
  rs_encoding *encoding = encode("rope", &model, LENGTH, NULL);
  static const size_t edges[] = {0, 1, 5, 40, 59, LENGTH};
  size_t queries[LENGTH];
  for (size_t i = 0; i < LENGTH; i++) queries[i] = i;
  double *q = gaussian(1, LENGTH * DIMS), *k = gaussian(2, LENGTH * DIMS), logits[LENGTH], needle;
  rs_attention_job job = {.encoding = encoding, .queries = queries, .query_count = LENGTH, .q = q, .k = k};
  job.edges = edges;
  job.bins = RS_COUNT(edges) - 1;
  rs_observation *observation = observe(&job);
  bench b;
  bench_open(&b, "score_by_distance", encoding, edges, job.bins);
  bench_feed(&b, observation);
  bench_finish(&b);
  cr_assert_eq(b.result.curve.rows, job.bins);
  for (size_t bin = 0; bin <= job.bins; bin++) { /* the last: all of them */
    size_t least = bin < job.bins ? edges[bin] : 0, most = bin < job.bins ? edges[bin + 1] : LENGTH;
    long double count = 0, sum = 0, squares = 0;
    for (size_t m = 0; m < LENGTH; m++) {
      cr_assert_eq(rs_reference_row(&job, m, logits, &needle, NULL), RS_OK);
      for (size_t n = 0; n <= m; n++)
        if (m - n >= least && m - n < most) {
          count += 1;
          sum += logits[n];
          squares += (long double)logits[n] * logits[n];
        }
    }
    long double mean = sum / count, sd = count > 1 ? sqrtl((squares - count * mean * mean) / (count - 1)) : NAN;
    agrees(bin < job.bins ? cell(&b, bin, 3) : b.result.value[0], mean, 1e-13, "mean");
    agrees(bin < job.bins ? cell(&b, bin, 4) : b.result.value[1], sd, 1e-12, "sd");
    if (bin == job.bins) break;
    agrees(cell(&b, bin, 0), least, 0, "distance_tokens");
    agrees(cell(&b, bin, 1), most, 0, "distance_end_tokens");
    agrees(cell(&b, bin, 2), count, 0, "logits");
  }
  bench_close(&b);
  rs_observation_free(observation);
  rs_encoding_free(encoding);
  free(q);
  free(k);
}

/* The gaussian source, as a sweep would feed it: one head and seed. */
static void feed_gaussian(bench *b, const rs_encoding *encoding, const size_t *edges, size_t bins, uint64_t seed) {
  const rs_source_kind *source = rs_source_find("gaussian");
  bound_params parameters;
  bound_make(&parameters, &source->kind);
  size_t length = encoding->length, dims = encoding->head_dim, *queries = every_distance(length);
  rs_source_in in = {
      .params = parameters.binding.fields, .seed = seed, .head_dim = dims, .length = length, .train_length = length};
  cr_assert_eq(rs_source_prepare(source, &in, NULL), RS_OK);
  double *q = obtain(length * dims, sizeof *q), *k = obtain(length * dims, sizeof *k);
  source->keys(&in, 0, length, k);
  for (size_t m = 0; m < length; m++) source->query(&in, m, q + m * dims);
  rs_attention_job job = {.encoding = encoding, .queries = queries, .query_count = length, .q = q, .k = k};
  job.edges = edges;
  job.bins = bins;
  rs_observation *observation = observe(&job);
  bench_feed(b, observation);
  rs_observation_free(observation);
  rs_source_release(source, &in);
  bound_clear(&parameters);
  free(queries);
  free(q);
  free(k);
}

/* Barbero et al., arXiv:2410.06205, proposition 3.2: iid Gaussian q and k score 0 on average with sd 1 (sqrt(d) before
 * the division) at every distance: RoPE alone does not decay. Logits of one query share |q|^2, keys are used by every
 * query: the fourth moments add about 3 / D to the variance of a product, hence the slack of the sd. */
Test(score_by_distance, gaussian_source_under_rope__mean_zero_and_sd_one__at_every_distance) {
  enum { SEEDS = 24, LENGTH = 160, DIMS = 32 };
  rs_model model = model_of(1, DIMS);
  rs_encoding *encoding = encode("rope", &model, LENGTH, NULL);
  size_t *edges, bins;
  cr_assert_eq(rs_log_edges(LENGTH, 4, &edges, &bins, NULL), RS_OK);
  bench b;
  bench_open(&b, "score_by_distance", encoding, edges, bins);
  for (uint64_t seed = 0; seed < SEEDS; seed++) feed_gaussian(&b, encoding, edges, bins, seed);
  bench_finish(&b);
  cr_assert_eq(b.result.curve.rows, bins);
  for (size_t i = 0; i < bins; i++) {
    double count = cell(&b, i, 2);
    cr_assert_float_eq(cell(&b, i, 3), 0, 5 / sqrt(count), "distance %g", cell(&b, i, 0));
    cr_assert_float_eq(cell(&b, i, 4), 1, 5 / sqrt(2 * count) + 5 * sqrt(1.0 / (DIMS * SEEDS * (LENGTH / 2))),
                       "distance %g: %g", cell(&b, i, 0), cell(&b, i, 4));
  }
  agrees(b.result.value[0], 0, 0.01, "logit_mean_nats");
  agrees(b.result.value[1], 1, 0.01, "logit_sd_nats");
  bench_close(&b);
  free(edges);
  rs_encoding_free(encoding);
}

/* The random energy model: q = (1, .., 1) sigma makes the logits exactly iid N(0, sigma^2). The mean over rows of 4096
 * keys is ln n - sigma^2 / 2 for sigma = 1; for sigma = 2 the formula is 0.034 low: 6.352 +- 0.003 over 10^4 rows of an
 * independent program (rows scatter by 0.26, hence 6.382 from a few of them). */
Test(entropy, gaussian_logits__is_ln_n_less_half_the_variance) {
  enum { LENGTH = 4096, DIMS = 4, DRAWS = 200 };
  static const double cases[][4] = {{1, 7.818, 7.820, 7.818},
                                    {2, 6.352, 6.382, 6.318}}; /* of many rows, of a few, formula */
  static const size_t edges[] = {0, LENGTH};
  const size_t last = LENGTH - 1;
  rs_model model = model_of(1, DIMS);
  rs_encoding *encoding = encode("nope", &model, LENGTH, NULL);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double *q = constant(DIMS, cases[i][0]), sigma2 = cases[i][0] * cases[i][0];
    bench b;
    bench_open(&b, "entropy", encoding, edges, 1);
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
      double *k = gaussian(seed, LENGTH * DIMS);
      rs_attention_job job = {.encoding = encoding, .queries = &last, .query_count = 1, .q = q, .k = k};
      job.edges = edges;
      job.bins = 1;
      rs_observation *observation = observe(&job);
      bench_feed(&b, observation);
      rs_observation_free(observation);
      free(k);
    }
    bench_finish(&b);
    cr_assert_float_eq(log(LENGTH) - sigma2 / 2, cases[i][3], 5e-4);
    cr_assert_float_eq(b.result.value[0], cases[i][1], 5 * b.result.error[0], "%g", b.result.value[0]);
    cr_assert_float_eq(b.result.value[0], cases[i][2], 0.005 + 5 * b.result.error[0], "%g", b.result.value[0]);
    cr_assert_float_eq(b.result.error[0], i == 0 ? 0.0202 / sqrt(DRAWS) : 0.262 / sqrt(DRAWS), 0.2 * b.result.error[0]);
    agrees(b.result.value[1], b.result.value[0] / log(LENGTH), 1e-12, "entropy_share");
    bench_close(&b);
    free(q);
  }
  rs_encoding_free(encoding);
}
