/* test_reach.c: how far a base reaches: the least base for a length, distances with a negative mean cosine, and the
 * critical dim, against closed forms, plain searches and published numbers. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../table_metric.h"
#include "advice/advice.h"
#include "kernel/kernel.h"
#include "metrics/metrics.h"

static bool close_to(double got, double want, double relative) {
  return isnan(want) ? isnan(got) : fabs(got - want) <= relative * fabs(want);
}

/* ---- the least base ---------------------------------------------------------------------------------------------- */

static rs_base_bound bound_of(size_t dims, size_t length) {
  rs_base_bound found;
  rs_err err = {0};
  cr_assert_eq(rs_base_bound_find(dims, length, 1000000, &found, &err), RS_OK, "%s", err.message);
  return found;
}

static double cosines(size_t dims, double base, double m) {
  double sum = 0;
  for (size_t j = 0; j < dims / 2; j++) sum += cos(m * pow(base, -2 * (double)j / (double)dims));
  return sum;
}

/* The first distance with a negative sum, or the length. */
static size_t first_negative(size_t dims, double base, size_t length) {
  size_t m = 1;
  while (m < length && cosines(dims, base, (double)m) >= 0) m++;
  return m;
}

/* Two pairs: cos m + cos(m / sqrt b) >= 0. At m = 2 and 3, cos m = -cos(pi - m), so that m / sqrt b <= pi - m; at m = 1
 * the sum is positive. Up to m = 8 the cosines of 4 .. 8 ask for less than those of 3. */
Test(base_bound, two_pairs__closed_form) {
  cr_expect_eq(bound_of(4, 1).base, 1);
  cr_expect_eq(bound_of(4, 2).base, 1);
  cr_expect(close_to(bound_of(4, 3).base, pow(2 / (M_PI - 2), 2), 3e-9));
  cr_expect(close_to(bound_of(4, 4).base, pow(3 / (M_PI - 3), 2), 3e-9));
  cr_expect(close_to(bound_of(4, 9).base, pow(3 / (M_PI - 3), 2), 3e-9));
}

/* The published bases (Su, kexue.fm/archives/10122: 4.3e3, 2.7e4, 8.4e4, 6.3e5 at d = 128), to the digits at which a
 * sum in double precision, by Python's math.cos, changes its sign: at m = 1009, 4012, 8172 and 30704. */
Test(base_bound, published_lengths__found_to_the_resolution) {
  static const struct {
    size_t dims, length;
    double base;
  } cases[] = {
      {128, 1024, 4293.4375693}, {128, 4096, 26952.339228}, {128, 8192, 83763.841016}, {128, 32768, 629978.262858}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_base_bound found = bound_of(cases[i].dims, cases[i].length);
    cr_expect(close_to(found.base, cases[i].base, 3e-9), "%zu: %.12g", cases[i].length, found.base);
    cr_expect(found.base > found.reached && close_to(found.reached, found.base, 2e-9));
    cr_expect_eq(found.resolution, 1e-9);
    cr_expect_eq(found.unproved, 1, "all but the last step is proved, not %zu", found.unproved);
    cr_expect(found.scans > 0 && found.scans < found.steps);
  }
}

/* The base is good, the one before it is not, and neither is any of a dense set below. */
Test(base_bound, small_heads__no_smaller_base_of_a_dense_set_is_good) {
  static const size_t dims[] = {4, 6, 8, 10, 16, 32}, lengths[] = {5, 12, 23, 24, 45, 90};
  for (size_t d = 0; d < RS_COUNT(dims); d++)
    for (size_t i = 0; i < RS_COUNT(lengths); i++) {
      rs_base_bound found = bound_of(dims[d], lengths[i]);
      cr_expect_eq(first_negative(dims[d], found.base, lengths[i]), lengths[i], "%zu, %zu", dims[d], lengths[i]);
      cr_expect_lt(first_negative(dims[d], found.base * (1 - 4e-9), lengths[i]), lengths[i]);
      for (double t = 0; t < log(found.base) - 1e-6; t += 3e-4)
        if (first_negative(dims[d], exp(t), lengths[i]) == lengths[i])
          cr_assert_fail("%zu, %zu: %.9g is good, below %.9g", dims[d], lengths[i], exp(t), found.base);
    }
}

/* Good bases are no interval: above the least there are bad ones, so that bisection would miss it. */
Test(base_bound, bad_bases_above_the_least__it_is_found_all_the_same) {
  size_t bad = 0;
  double base = bound_of(64, 4096).base;
  for (double more = 1; more < 1.5; more *= 1.004) bad += first_negative(64, base * more, 4096) < 4096;
  cr_expect_gt(bad, 0);
  cr_expect_eq(first_negative(64, base, 4096), 4096u);
}

/* A longer context needs no smaller base. */
Test(base_bound, growing_length__never_falls) {
  double before = 1;
  for (size_t length = 1; length < 300; length += length < 40 ? 1 : 17) {
    double base = bound_of(32, length).base;
    cr_expect_geq(base, before * (1 - 3e-9), "%zu", length);
    before = base;
  }
}

Test(base_bound, one_pair__or_too_few_steps__no_answer) {
  rs_base_bound found;
  rs_err err = {0};
  cr_expect_eq(rs_base_bound_find(2, 3, 100, &found, &err), RS_DOMAIN);
  cr_expect(strstr(err.message, "fewer than two pairs") != NULL, "%s", err.message);
  cr_expect_eq(bound_of(2, 2).base, 1);
  /* Each step of two pairs tests every distance, which counts for 85 here: not 10^4 passes over a million. */
  cr_expect_eq(rs_base_bound_find(4, 1 << 20, 10000, &found, NULL), RS_OK);
  cr_expect(isnan(found.base) && found.scans <= 10000 / 85 + 1, "%zu scans", found.scans);
  cr_expect_eq(rs_base_bound_find(128, 4096, 50, &found, NULL), RS_OK);
  cr_expect(isnan(found.base) && found.steps == 50 && found.reached > 1 && found.reached < 26952);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static rs_model model_of(size_t dims, double base, size_t trained) {
  return (rs_model){.heads = 1,
                    .head_dim = dims,
                    .rotary_dim = dims,
                    .rope_theta = base,
                    .train_length = trained,
                    .max_length = trained};
}

/* Scalars of a metric of tables; its parameters at their defaults but for one. */
static void measure(const char *metric, const char *name, const char *number, const rs_encoding *encoding,
                    double *values) {
  const rs_metric_kind *kind = rs_metric_find(metric);
  bound_params parameters;
  rs_result result = {0};
  rs_err err = {0};
  cr_assert_not_null(kind);
  bound_make(&parameters, &kind->kind);
  if (name != NULL) bound_set(&parameters, name, number);
  rs_metric_in in = {.encoding = encoding, .params = parameters.binding.fields};
  cr_assert_eq(kind->finish(&in, NULL, &result, &err), RS_OK, "%s", err.message);
  memcpy(values, result.value, kind->scalar_count * sizeof *values);
  bound_clear(&parameters);
}

/* `settings` are name, value pairs that end at the first NULL. */
static rs_encoding *encode(const char *method, const rs_model *model, size_t length, const char *const settings[]) {
  return table_encode(method, model, length, settings, NULL, NULL);
}

static void metric_of(const char *metric, const char *method, const rs_model *model, size_t length,
                      const char *const settings[], double *values) {
  rs_encoding *encoding = encode(method, model, length, settings);
  measure(metric, NULL, NULL, encoding, values);
  rs_encoding_free(encoding);
}

/* What the solver says, of any base and method; nothing of a method that does not turn, or turns one pair. */
Test(base_bound, metric__depends_on_dims_and_length_alone) {
  rs_model model = model_of(32, 1e4, 64), pair = model_of(2, 1e4, 64), part = model_of(64, 500, 64);
  static const char *const half[] = {"rotary_dim", "32", NULL};
  double values[4], expected = bound_of(32, 100).base;
  metric_of("base_bound", "rope", &model, 100, NULL, values);
  cr_expect(values[0] == expected && values[1] == 1e-9 && values[2] > 10 && values[3] >= 1);
  metric_of("base_bound", "yarn", &model, 100, NULL, values);
  cr_expect_eq(values[0], expected);
  metric_of("base_bound", "rope", &part, 100, half, values);
  cr_expect_eq(values[0], expected);
  metric_of("base_bound", "nope", &model, 100, NULL, values);
  cr_expect(isnan(values[0]) && isnan(values[1]) && isnan(values[2]) && isnan(values[3]));
  metric_of("base_bound", "rope", &pair, 100, NULL, values);
  cr_expect(isnan(values[0]) && isnan(values[3]));
  rs_encoding *encoding = encode("rope", &model, 100, NULL);
  measure("base_bound", "most_steps", "7", encoding, values);
  cr_expect(isnan(values[0]) && values[2] == 7);
  rs_encoding_free(encoding);
}

static void expect_tally(const rs_encoding *encoding) {
  double values[3], count = 0, least = INFINITY, where = 0, first;
  size_t last = encoding->length - 1;
  for (size_t m = last; m >= 1; m--) {
    double mean = rs_encoding_mean_cosine(encoding, last, last - m);
    count += mean < 0;
    if (mean < 0) first = (double)m;
    if (mean <= least) where = (double)m;
    least = fmin(mean, least);
  }
  measure("violations", NULL, NULL, encoding, values);
  cr_expect_eq(values[0], count);
  cr_expect(fabs(values[1] - least) < 1e-13, "%.17g, not %.17g", values[1], least);
  cr_expect_eq(values[2], where);
  measure("first_violation", NULL, NULL, encoding, values);
  cr_expect(count > 0 ? values[0] == first : isnan(values[0]));
}

/* Rotation of the distance alone, and positions that are not (self_extend); across the borders of chunks. */
Test(violations, methods__as_a_plain_count) {
  static const char *const methods[] = {"rope", "self_extend", "pi"};
  rs_model model = model_of(16, 100, 512), part = model_of(32, 100, 512);
  static const char *const half[] = {"rotary_dim", "16", NULL};
  for (size_t i = 0; i < RS_COUNT(methods); i++)
    for (size_t length = 2; length < 10000; length = length * 3 + 1) {
      rs_encoding *encoding = encode(methods[i], &model, length, NULL);
      expect_tally(encoding);
      rs_encoding_free(encoding);
      encoding = encode(methods[i], &part, length, half); /* still pairs count as 1 */
      expect_tally(encoding);
      rs_encoding_free(encoding);
    }
}

Test(violations, nothing_to_count__empty) {
  rs_model model = model_of(16, 100, 512);
  double values[3];
  metric_of("violations", "nope", &model, 100, NULL, values);
  cr_expect(isnan(values[0]) && isnan(values[1]) && isnan(values[2]));
  metric_of("violations", "rope", &model, 1, NULL, values);
  cr_expect(isnan(values[0]) && isnan(values[1]) && isnan(values[2]));
}

/* A pair that turns by half a circle a token beside a still one: 2 and 0 in turn, and 0 is no violation. */
Test(violations, sums_that_are_zero__do_not_count) {
  const double halves[] = {M_PI, 0};
  rs_model pairs = model_of(4, 100, 512);
  rs_recipe recipe;
  rs_err err = {0};
  rs_encoding *encoding = NULL;
  double values[3];
  cr_assert_eq(rs_recipe_init(&recipe, rs_method_find("explicit"), NULL), RS_OK);
  int index = rs_settings_find(&recipe.settings, "inv_freq");
  cr_assert_eq(rs_value_list(recipe.settings.params[index], halves, 2, &recipe.settings.values[index], &err), RS_OK);
  cr_assert_eq(rs_encoding_create(&recipe, &pairs, 9000, NULL, NULL, &encoding, &err), RS_OK, "%s", err.message);
  measure("violations", NULL, NULL, encoding, values);
  cr_expect(values[0] == 0 && values[1] == 0 && values[2] == 1, "%g, %g at %g", values[0], values[1], values[2]);
  rs_encoding_free(encoding);
  rs_recipe_clear(&recipe);
}

/* Liu et al., arXiv:2310.05209: 92 dims of Llama-2 at 4096; at base 1e6 the next pair has a period of 129027 tokens;
 * beta_1,2,3 = 2607.6, 1303.8, 651.9. LongRoPE2, arXiv:2502.20082: 62 of Phi3-mini (d = 96, 2048 tokens), whose slowest
 * pair has a period of 51861.7 of which 3.95 % were seen; 35 pairs of LLaMA3-8B. */
Test(critical_dim, published_models__as_published) {
  static const char *const large[] = {"rope_theta", "1e6", NULL};
  rs_model llama2 = model_of(128, 1e4, 4096), phi3 = model_of(96, 1e4, 2048), llama3 = model_of(128, 5e5, 8192);
  double values[7];
  metric_of("critical_dim", "abf", &llama2, 16, large, values);
  cr_expect_eq(values[0], 92);
  cr_expect(close_to(values[1], 129027, 4e-6), "%.9g", values[1]);
  cr_expect(close_to(values[1], 2 * M_PI * pow(1e6, 92.0 / 128), 1e-12));
  cr_expect(close_to(values[2], 2607.6, 2e-5) && close_to(values[3], 1303.8, 4e-5) && close_to(values[4], 651.9, 8e-5));
  cr_expect(close_to(values[5], 2 * M_PI * pow(1e4, 126.0 / 128), 1e-12)); /* as trained */
  metric_of("critical_dim", "rope", &llama2, 16, NULL, values);
  cr_expect(close_to(values[1], 2 * M_PI * pow(1e4, 92.0 / 128), 1e-12));
  metric_of("critical_dim", "rope", &phi3, 16, NULL, values);
  cr_expect(values[0] == 62 && close_to(values[5], 51861.7, 1e-6) && close_to(values[6], 0.0395, 1.3e-3), "%.9g %.9g",
            values[5], values[6]);
  metric_of("critical_dim", "rope", &llama3, 16, NULL, values);
  cr_expect_eq(values[0], 70);
}

/* Every pair full circle, none, and methods that have no such pair. */
Test(critical_dim, ends__all_pairs_and_none) {
  rs_model model = model_of(16, 10, 1000), brief = model_of(16, 10, 6);
  double values[7];
  metric_of("critical_dim", "rope", &model, 16, NULL, values);
  cr_expect(values[0] == 16 && isnan(values[1]) && values[6] > 1);
  metric_of("critical_dim", "rope", &brief, 16, NULL, values);
  cr_expect(values[0] == 0 && close_to(values[1], 2 * M_PI, 1e-15));
  metric_of("critical_dim", "p_rope", &brief, 16, (const char *[]){"rotary_fraction", "0", NULL}, values);
  cr_expect(values[0] == 0 && isnan(values[1]), "a pair that stands still has no period: %g", values[1]);
  metric_of("critical_dim", "nope", &model, 16, NULL, values);
  for (size_t i = 0; i < 7; i++) cr_expect(isnan(values[i]));
  metric_of("critical_dim", "mrope", &model, 16, NULL, values);
  for (size_t i = 0; i < 7; i++) cr_expect(isnan(values[i]));
}

/* ---- solvers ----------------------------------------------------------------------------------------------------- */

/* The ladder of a base, (pairs,). */
static const double *ladder(double base, size_t pairs, double *omega) {
  for (size_t j = 0; j < pairs; j++) omega[j] = pow(base, -(double)j / (double)pairs);
  return omega;
}

static uint64_t violation_of(double base, size_t pairs, size_t still, uint64_t most) {
  double omega[64];
  rs_turning turning = {.omega = ladder(base, pairs, omega), .pairs = pairs, .still = still};
  uint64_t length;
  rs_err err = {0};
  cr_assert_eq(rs_reach_first_violation(&turning, most, &length, &err), RS_OK, "%s", err.message);
  return length;
}

/* Lengths on both sides of where a second look begins (32768). */
Test(reach, first_violation__longest_good_context) {
  cr_expect_eq(violation_of(1e4, 64, 0, 1 << 20), 1707);
  cr_expect_eq(violation_of(1e4, 64, 0, 1708), 1707);
  cr_expect_eq(violation_of(1e4, 64, 0, 1707), 1707);
  cr_expect_eq(violation_of(1e4, 64, 0, 100), 100);
  cr_expect_eq(violation_of(1e7, 64, 0, 1 << 20), 144660);
  cr_expect_eq(violation_of(1e7, 64, 0, 100000), 100000);
  cr_expect_eq(violation_of(1e4, 64, 64, 100000), 100000, "as many still pairs as turning ones");
  cr_expect_eq(violation_of(1e4, 1, 0, 100), 2);
  cr_expect_eq(violation_of(1e4, 1, 1, 100), 100, "cos m + 1 is never negative");
  for (uint64_t wanted = 32767; wanted <= 32769; wanted++) { /* the distance at which one slow cosine turns negative */
    const double omega = M_PI / (2 * (double)wanted - 1);
    uint64_t length;
    cr_assert_eq(rs_reach_first_violation(&(rs_turning){.omega = &omega, .pairs = 1}, 1 << 20, &length, NULL), RS_OK);
    cr_expect_eq(length, wanted, "%g", (double)length);
  }
}

/* Up to the reach no angle is new to a pair that did not go full circle, and the next token brings one. */
Test(reach, in_range__first_new_angle) {
  double trained[64], omega[64];
  for (double base = 1e4; base < 1e9; base *= 7) {
    rs_turning turning = {ladder(base, 64, omega), ladder(1e4, 64, trained), 64, 0, 4096};
    double length = rs_reach_in_range(&turning);
    size_t outside[2] = {0};
    for (size_t j = 0; j < 64; j++)
      for (size_t more = 0; more < 2; more++)
        outside[more] += 4096 * trained[j] < 2 * M_PI && (length - 1 + (double)more) * omega[j] > 4096 * trained[j];
    cr_expect(outside[0] == 0 && outside[1] > 0, "base %g: %g", base, length);
  }
}

Test(reach, bases__bring_the_reach_to_the_length) {
  double trained[64], omega[64];
  rs_turning turning = {omega, ladder(1e4, 64, trained), 64, 0, 4096};
  size_t pair = rs_critical_pair(trained, 64, 4096);
  cr_assert_eq(pair, 46);
  for (double length = 5000; length < 1e6; length *= 3) {
    ladder(rs_base_critical(pair, 64, length), 64, omega);
    cr_expect(close_to(rs_reach_critical(&turning), length, 1e-12));
    ladder(rs_base_in_range(1e4, pair, 64, 4096, length), 64, omega);
    cr_expect_eq(rs_reach_in_range(&turning), length, "%g", rs_reach_in_range(&turning));
    ladder(rs_base_in_range(1e4, pair, 64, 4096, length) * (1 - 1e-9), 64, omega);
    cr_expect_lt(rs_reach_in_range(&turning), length);
  }
  turning.train_length = 1e6;
  cr_expect_eq(rs_critical_pair(trained, 64, 1e6), 64u);
  cr_expect(isinf(rs_reach_critical(&turning)) && isinf(rs_reach_in_range(&turning)));
}

/* NTK-aware: the last pair is slowed by the factor; Code Llama's base is a factor of 93.06 (the paper says 88.6). */
Test(reach, ntk__factor_and_base_answer_each_other) {
  double base = rs_base_ntk(1e4, 64, 8);
  cr_expect(close_to(pow(base, -126.0 / 128), pow(1e4, -126.0 / 128) / 8, 1e-14));
  cr_expect(close_to(rs_factor_ntk(1e4, 64, base), 8, 1e-14));
  cr_expect(close_to(rs_factor_ntk(1e4, 64, 1e6), 93.057204, 1e-8));
}

/* Good bases are so near to bad ones that no digit may be rounded away. */
Test(solve, least_base__is_written_as_it_was_found) {
  static const double lengths[] = {100, 400, 600};
  for (size_t i = 0; i < RS_COUNT(lengths); i++) {
    const rs_question question = {RS_SOLVE_BASE, RS_FIRST_VIOLATION, .length = lengths[i], .head_dim = 32};
    rs_solution solution = {0};
    rs_problems problems = {0};
    rs_base_bound found;
    double written;
    cr_assert_eq(rs_solve(&question, &solution, &problems, NULL), RS_OK);
    cr_assert_eq(rs_base_bound_find(32, (size_t)lengths[i], 1000000, &found, NULL), RS_OK);
    cr_assert(rs_number_read(solution.number, &written));
    cr_expect(written == solution.value && written == found.base, "%s: %.17g", solution.number, found.base);
    rs_problems_clear(&problems);
  }
}
