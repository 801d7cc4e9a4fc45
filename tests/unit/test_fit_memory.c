/* test_fit_memory.c: each allocation of what GSL computes, and of the bootstrap, fails in turn; its own end nothing,
 * for its handler is off.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "../fixtures/heap.h"
#include "../table_metric.h"

static rs_encoding *encoding;
static bound_params parameters;
static const rs_metric_kind *metric;

static rs_status use_metric(size_t number, rs_err *err) {
  (void)number;
  rs_metric_in in = {.encoding = encoding, .params = parameters.binding.fields};
  rs_result result = {.curve.columns = metric->curve_count};
  rs_status status = metric->finish(&in, NULL, &result, err);
  rs_curve_clear(&result.curve);
  return status;
}

static rs_status use_fit(size_t solver, rs_err *err) {
  static const double omega[] = {2.0, 0.7, 0.1}, wanted[] = {3, -1, 4, 1, -5, 9, 2, 6};
  rs_wave_fit_in in = {omega, RS_COUNT(omega), wanted, RS_COUNT(wanted), (rs_solver)solver, 1};
  rs_wave_fit fit;
  rs_status status = rs_wave_fit_create(&in, &fit, err);
  if (status == RS_OK) rs_wave_fit_clear(&fit);
  return status;
}

static rs_status use_columns(size_t number, rs_err *err) {
  double out[12 * 5];
  return rs_orthonormal((rs_stream){number, RS_PURPOSE_CURVE, 0}, 12, 5, out, err);
}

static rs_status use_bootstrap(size_t seeds, rs_err *err) {
  static const double values[] = {1, 5, 2, 8, 3, 7};
  rs_interval interval;
  return rs_bootstrap_mean(values, seeds, RS_COUNT(values) / seeds, &interval, err);
}

/* Fails the n-th allocation, or all from the n-th on, for each n. */
static void survives(rs_status (*use)(size_t, rs_err *), size_t number, const char *name) {
  for (int all = 0; all < 2; all++) {
    refused = true;
    for (long n = 0; refused; n++) {
      rs_err err = {0};
      long before = blocks;
      refused = false;
      refuse_all = all;
      allocations = n;
      rs_status status = use(number, &err);
      allocations = -1;
      cr_assert_eq(blocks, before, "%s %zu, allocation %ld: %ld blocks leaked", name, number, n, blocks - before);
      cr_assert_eq(status, refused ? RS_MEMORY : RS_OK, "%s %zu, allocation %ld: %s", name, number, n, err.message);
      cr_assert_lt(n, 1000);
    }
  }
}

Test(fit_memory, each_failing_allocation__is_survived_without_leak) {
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  for (size_t solver = 0; solver <= RS_SOLVER_SUMS; solver++) survives(use_fit, solver, "solver");
  survives(use_columns, 7, "orthonormal columns");
  survives(use_bootstrap, 2, "bootstrap");
  rs_model model = table_model(16, 1e4, 64);
  metric = rs_metric_find("position_pca");
  encoding = table_encode("sinusoidal", &model, 24, NULL, NULL, NULL);
  bound_make(&parameters, &metric->kind);
  survives(use_metric, 0, "metric");
  bound_clear(&parameters);
  rs_encoding_free(encoding);
}
