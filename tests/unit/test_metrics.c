/* test_metrics.c: the catalogue of metrics, curves, and what is reported where there is nothing to report. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../fixtures/made_rows.h"
#include "../fixtures/metric_bench.h"
#include "metrics/metrics.h"

/* ---- the catalogue ----------------------------------------------------------------------------------------------- */

static const struct {
  const char *unit, *in_name;
} units[] = {{"nats", "_nats"}, {"tokens", "_tokens"},
             {"rad", "_rad"},   {"pairs", "_pairs"},
             {"keys", "_keys"}, {"frames", "_frames"},
             {"rows", "_rows"}, {"columns", "_columns"},
             {"ids", "_ids"},   {"1", ""},
             {"", ""},          {"rad/token", "_rad_per_token"}};

static void check_column(const rs_column *column) {
  cr_assert(column->name != NULL && column->unit != NULL && column->summary != NULL);
  cr_assert(strlen(column->name) > 0 && strlen(column->summary) > 0, "%s", column->name);
  bool known = false;
  for (size_t i = 0; i < RS_COUNT(units); i++) {
    if (strcmp(column->unit, units[i].unit) != 0) continue;
    known = true;
    cr_assert_not_null(strstr(column->name, units[i].in_name), "%s is in %s", column->name, column->unit);
  }
  cr_assert(known, "%s has the unknown unit %s", column->name, column->unit);
}

Test(catalogue, columns__of_every_metric__have_name_unit_and_summary) {
  size_t count;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    const rs_metric_kind *kind = kinds[i];
    cr_assert_eq(rs_metric_find(kind->kind.name), kind);
    cr_assert(strlen(kind->kind.summary) > 0 && strlen(kind->kind.reference) > 0 && kind->kind.version >= 0);
    cr_assert(kind->scalar_count <= RS_METRIC_SCALARS && kind->scalar_count + kind->curve_count > 0);
    cr_assert(kind->curve_count == 0 ? kind->index_count == 0 : kind->index_count < kind->curve_count);
    cr_assert_eq(kind->row != NULL || kind->content != NULL, rs_metric_observes(kind));
    cr_assert_eq(kind->finish == NULL, kind->read != NULL, "%s reads one thing", kind->kind.name);
    for (size_t c = 0; c < kind->scalar_count; c++) check_column(&kind->scalars[c]);
    for (size_t c = 0; c < kind->curve_count; c++) check_column(&kind->curve[c]);
    for (size_t c = 0; c < kind->index_count; c++) cr_assert_not(kind->curve[c].sampled);
  }
  cr_assert_not_null(rs_metric_find("entropy"));
  cr_assert_null(rs_metric_find("perplexity"));
}

/* The names of `columns`, with those of the standard errors, appended to `names`. */
static size_t add_names(const rs_column *columns, size_t count, char names[][64], size_t used) {
  for (size_t i = 0; i < count; i++) {
    snprintf(names[used++], sizeof names[0], "%s", columns[i].name);
    if (columns[i].sampled) snprintf(names[used++], sizeof names[0], "%s_se", columns[i].name);
  }
  return used;
}

static void check_unique(char names[][64], size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < i; j++) cr_assert_str_neq(names[i], names[j]);
}

Test(catalogue, names__of_summary_columns_and_of_each_curve__are_unique) {
  size_t count, used = 0;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  char summary[256][64], curve[32][64];
  for (size_t i = 0; i < count; i++) {
    used = add_names(kinds[i]->scalars, kinds[i]->scalar_count, summary, used);
    check_unique(curve, add_names(kinds[i]->curve, kinds[i]->curve_count, curve, 0));
    for (size_t j = 0; j < i; j++) cr_assert_str_neq(kinds[i]->kind.name, kinds[j]->kind.name);
  }
  check_unique(summary, used);
}

Test(curve, added_rows__are_kept_in_order) {
  rs_curve curve = {.columns = 3};
  for (size_t i = 0; i < 1000; i++) {
    double row[] = {(double)i, 2.0 * i, -1.0 * i};
    cr_assert_eq(rs_curve_add(&curve, row, NULL), RS_OK);
  }
  cr_assert_eq(curve.rows, 1000);
  for (size_t i = 0; i < 3000; i++)
    cr_assert_eq(curve.cells[i], (double)(i / 3) * (i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : -1));
  rs_curve_clear(&curve);
  cr_assert(curve.cells == NULL && curve.rows == 0 && curve.capacity == 0 && curve.columns == 3);
}

/* ---- nothing to report ------------------------------------------------------------------------------------------- */

Test(undefined, no_rows__sampled_scalars__are_nan_and_curves_empty) {
  made_rows table;
  make_rows(&table);
  static const char *const metrics[] = {"entropy", "effective_tokens", "sink_mass", "needle", "score_by_distance"};
  for (size_t i = 0; i < RS_COUNT(metrics); i++) {
    bench b;
    open_rows(&b, metrics[i], &table, 0);
    for (size_t s = 0; s < b.kind->scalar_count; s++) {
      agrees(b.result.value[s], NAN, 0, b.kind->scalars[s].name);
      if (b.kind->scalars[s].sampled) agrees(b.result.error[s], NAN, 0, b.kind->scalars[s].name);
    }
    cr_assert_eq(b.result.curve.rows, 0);
    bench_close(&b);
  }
}

/* Where no pair turns, what tables alone say of turns is empty: a 0 or 1 would read as best. */
Test(undefined, no_pair_turns__metrics_of_tables_with_a_better_side__are_nan) {
  static const char *const methods[] = {"nope", "alibi", "t5", "sandwich", "kerple_log"};
  size_t count;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  rs_model model = model_of(4, 16);
  for (size_t m = 0; m < RS_COUNT(methods); m++) {
    rs_encoding *encoding = encode(methods[m], &model, 100, NULL);
    for (size_t i = 0; i < count; i++) {
      if (rs_metric_observes(kinds[i]) || kinds[i]->read != NULL) continue;
      bench b;
      bench_open(&b, kinds[i]->kind.name, encoding, NULL, 0);
      bench_finish(&b);
      for (size_t s = 0; s < b.kind->scalar_count; s++) {
        bool turns = b.kind->scalars[s].better != RS_NEITHER || strstr(b.kind->scalars[s].name, "cosine") != NULL;
        if (turns)
          cr_expect(isnan(b.result.value[s]), "%s of %s: %g", b.kind->scalars[s].name, methods[m], b.result.value[s]);
      }
      bench_close(&b);
    }
    rs_encoding_free(encoding);
  }
}

Test(undefined, rows_without_needles__needle_metric__is_nan) {
  made_rows table;
  make_rows(&table);
  for (size_t i = 0; i < ROWS; i++) table.rows[i].needle_planted = table.rows[i].has_needle = false;
  bench b;
  open_rows(&b, "needle", &table, ROWS);
  for (size_t s = 0; s < b.kind->scalar_count; s++) agrees(b.result.value[s], NAN, 0, b.kind->scalars[s].name);
  cr_assert_eq(b.result.curve.rows, 0);
  bench_close(&b);
}

/* A needle that the mask hides from every query: it was planted, so its weight and wins are 0, not unknown. */
Test(undefined, needle_hidden_from_all__weight_is_zero__rank_is_nan) {
  made_rows table;
  make_rows(&table);
  for (size_t i = 0; i < ROWS; i++) {
    table.rows[i].has_needle = false;
    table.rows[i].needle_weight = 0;
  }
  bench b;
  open_rows(&b, "needle", &table, ROWS);
  static const double expected[] = {0, NAN, 0, NAN};
  for (size_t s = 0; s < 4; s++) agrees(b.result.value[s], expected[s], 0, b.kind->scalars[s].name);
  bench_close(&b);
}
