/* test_run.c: from a config to the rows of its files. A cell's numbers may depend on nothing but the cell; what is
 * undefined is a row that says so, and never a wrong number. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/runs.h"
#include "run/run.h"

TestSuite(run, .init = enter_folder, .fini = leave_folder);

/* ---- a cell depends on itself alone ------------------------------------------------------------------------------ */

#define TOKENS "tokens: [{text: 5}, {image: [3, 4]}]\nqueries: {random: 9}\n"

/* Every row of a large config, run again as a config of one cell. */
Test(run, cell__alone_and_among_others__has_the_same_row) {
  static const char *const metrics[] = {
      "metrics: [decay, first_violation, ood_angles, local_resolution, score_by_distance, distance_mass, entropy, "
      "effective_tokens, sink_mass, grid_decay, id_growth]\n",
      "metrics: [decay, entropy, needle]\n"};
  static const char *const sources[] = {"[grid, gaussian, needle]", "[gaussian, needle]"};
  for (size_t i = 0; i < RS_COUNT(metrics); i++) {
    rs_text yaml = {0};
    rs_text_printf(&yaml,
                   TINY TOKENS "%smethods: [rope, sinusoidal, self_extend, learned, alibi]\nlengths: [40, 23]\n"
                               "sources: %s\nseeds: [7, 0]\nheads: {each: [1, 0]}\n",
                   metrics[i], sources[i]);
    cr_expect_eq(run(yaml.data, "all").failed, 0);
    rs_table *all = read_table("all", "summary.csv");
    cr_assert_eq(all->rows, 5 * 2 * (3 - i) * 2 * 2, "%zu rows", all->rows);
    for (size_t row = 0; row < all->rows; row++) {
      if (i == 1 && strcmp(field(all, row, "source"), "needle") != 0) continue;
      rs_text_clear(&yaml);
      rs_text_printf(&yaml, TINY TOKENS "%smethods: %s\nlengths: %s\nsources: %s\nseeds: [%s]\nheads: {each: [%s]}\n",
                     metrics[i], field(all, row, "method"), field(all, row, "length_tokens"), field(all, row, "source"),
                     field(all, row, "seed"), field(all, row, "heads"));
      run(yaml.data, "one");
      rs_table *one = read_table("one", "summary.csv");
      cr_assert_eq(one->rows, 1);
      expect_same_row(one, 0, all, row, 1, yaml.data);
      rs_table_free(one);
    }
    rs_table_free(all);
    rs_text_clear(&yaml);
  }
}

/* ---- metrics of tables ------------------------------------------------------------------------------------------- */

#define TABLES "metrics: [decay, first_violation, ood_angles, local_resolution]\n"

static const char *const tables_only =
    "model: [{name: a, head_dim: 8, heads: 4, train_length: 16}, {name: b, head_dim: 4, heads: 2, train_length: 64}]\n"
    "methods: [rope, {name: pi, factor: [2, 4]}, alibi]\nlengths: [16, 40]\nsources: [gaussian, {name: needle, depth: "
    "[0.2, 0.8]}]\nseeds: [3, 1]\nheads: {each: [1, 0]}\n" TABLES;

Test(run, tables_only__rows__have_keys_of_their_own_and_twins_agree) {
  enum { CELLS = 2 * 4 * 2 * 3 * 2 * 2 };
  static const char *const values[] = {"mean_cosine_at_length", "first_violation_tokens", "ood_pairs",
                                       "local_resolution"};
  rs_run_summary summary = run(tables_only, "o");
  cr_expect(summary.cells == CELLS && summary.failed == 0 && summary.starved == 0);
  rs_table *table = read_table("o", "summary.csv");
  cr_assert_eq(table->rows, CELLS);
  for (size_t i = 0; i < table->rows; i++) {
    for (size_t k = 0; k < RS_COUNT(keys); k++) cr_expect_str_neq(field(table, i, keys[k]), "", "%s", keys[k]);
    cr_expect_str_eq(field(table, i, "status"), "ok");
    cr_expect_eq(*field(table, i, "mean_cosine_at_length") == '\0', strcmp(field(table, i, "method"), "alibi") == 0);
    for (size_t j = 0; j < i; j++) {
      cr_expect_not(agree(table, i, table, j, keys, RS_COUNT(keys)), "rows %zu and %zu have the same keys", j, i);
      if (agree(table, i, table, j, table_keys, RS_COUNT(table_keys)))
        cr_expect(agree(table, i, table, j, values, RS_COUNT(values)), "rows %zu and %zu: other values", j, i);
    }
  }
  rs_table_free(table);
}

/* Each curve once for each model, method, length and heads, whatever sources and seeds there are. */
static void expect_curves_once(const char *name, const char *index, size_t groups) {
  rs_table *table = read_table("o", name);
  size_t begun = 0;
  for (size_t i = 0; i < table->rows; i++) {
    cr_expect_str_eq(field(table, i, "source"), "", "%s row %zu", name, i);
    cr_expect_str_eq(field(table, i, "seed"), "", "%s row %zu", name, i);
    begun += i == 0 || !agree(table, i, table, i - 1, table_keys, RS_COUNT(table_keys));
    for (size_t j = 0; j < i; j++)
      if (agree(table, i, table, j, table_keys, RS_COUNT(table_keys)))
        cr_expect_str_neq(field(table, i, index), field(table, j, index), "%s: rows %zu and %zu", name, j, i);
  }
  cr_expect_eq(begun, groups, "%s: %zu curves, not %zu", name, begun, groups);
  rs_table_free(table);
}

Test(run, tables_only__curves__are_there_once_without_source_and_seed) {
  run(tables_only, "o");
  expect_curves_once("decay.csv", "distance_tokens", 2 * 4 * 2 * 2);
  expect_curves_once("ood_angles.csv", "pair", 2 * 3 * 2 * 2); /* alibi turns no pair */
}

/* Self-Extend has no rows where the mask sees the future; its tables hold all the same. */
Test(run, cells_without_rows__curves_of_tables__are_there) {
  rs_run_summary summary =
      run(TINY "methods: [rope, self_extend]\nlengths: [32]\nmask: bidirectional\nsources: [gaussian, needle]\nseeds: "
               "2\nheads: {each: 2}\nmetrics: [decay, entropy, ood_angles, distance_mass]\n",
          "o");
  cr_expect(summary.cells == 16 && summary.failed == 8 && summary.starved == 0, "%zu failed", summary.failed);
  expect_curves_once("decay.csv", "distance_tokens", 2 * 2);
  expect_curves_once("ood_angles.csv", "pair", 2 * 2);
  rs_table *mass = read_table("o", "distance_mass.csv");
  for (size_t i = 0; i < mass->rows; i++) cr_expect_str_eq(field(mass, i, "method"), "rope");
  rs_table *table = read_table("o", "summary.csv");
  for (size_t i = 0; i < table->rows; i++) {
    bool undefined = strcmp(field(table, i, "method"), "self_extend") == 0;
    cr_expect_str_eq(field(table, i, "status"), undefined ? "unsupported" : "ok");
    cr_expect_str_eq(field(table, i, "message"), undefined ? "self_extend is defined for causal attention only" : "");
    cr_expect_eq(*field(table, i, "entropy_nats") == '\0', undefined);
  }
  rs_table_free(table);
  rs_table_free(mass);
}

/* Across sequences neither rotation, views nor bias act: every method has the numbers of nope. */
Test(run, cross_mask__every_method__is_nope) {
  run(TINY "methods: [nope, rope, self_extend, alibi, t5]\nlengths: [32]\nmask: cross\nsources: gaussian\nmetrics: "
           "entropy\n",
      "o");
  rs_table *table = read_table("o", "summary.csv");
  cr_assert_eq(table->rows, 5);
  for (size_t i = 0; i < table->rows; i++) {
    cr_expect_str_eq(field(table, i, "status"), "ok");
    cr_expect_str_eq(field(table, i, "entropy_nats"), field(table, 0, "entropy_nats"), "%s", field(table, i, "method"));
  }
  rs_table_free(table);
}

Test(run, bias_nats__empty_without_a_bias) {
  run(TINY "methods: [rope, nope, sinusoidal, self_extend, alibi]\nlengths: [20]\nmetrics: decay\n", "o");
  rs_table *table = read_table("o", "decay.csv");
  size_t biased = 0;
  for (size_t i = 0; i < table->rows; i++) {
    double bias = NAN;
    bool alibi = strcmp(field(table, i, "method"), "alibi") == 0;
    const char *text = field(table, i, "bias_nats");
    cr_expect_eq(rs_number_read(text, &bias), alibi, "%s has bias_nats \"%s\"", field(table, i, "method"), text);
    if (!alibi) cr_expect_str_eq(text, "");
    biased += alibi && bias < 0;
  }
  cr_expect_gt(biased, 0);
  rs_table_free(table);
}

/* What `plot` needs to know of a curve over two indices stands in the manifest, and only there. */
Test(run, position_similarity__manifest__says_what_columns_are_to_a_picture) {
  run(TINY "tokens: [{image: [2, 3]}]\nmethods: [sinusoidal_2d]\nlengths: [6]\nmetrics: [position_similarity, decay]\n",
      "o");
  size_t length, maps = 0;
  char *text = read_path("o", "manifest.json", &length);
  static const char *const parts[] = {"panel", "mark", "y", "x", "low", "high"};
  const char *cursor = text;
  for (size_t i = 0; i < RS_COUNT(parts) && cursor != NULL; i++) {
    char entry[32];
    snprintf(entry, sizeof entry, "\"map\": \"%s\"", parts[i]);
    cursor = strstr(cursor, entry);
    cr_assert_not_null(cursor, "no %s after the one before it", entry);
  }
  for (cursor = text; (cursor = strstr(cursor, "\"map\":")) != NULL; cursor++) maps++;
  cr_assert_eq(maps, RS_COUNT(parts));
  free(text);
  rs_table *table = read_table("o", "position_similarity.csv");
  cr_assert_eq(table->rows, 5u * 6u);
  rs_table_free(table);
}

/* Every source by its name in the CSV files, with the phrases that follow from its parameters. */
Test(run, needles__manifest__says_what_captions_do) {
  run(TINY
      "methods: [rope]\nlengths: [16]\nsources: [gaussian, {name: needle, label: far, depth: [0, 0.9], overlap: 0.5, "
      "from: 0.75}]\nmetrics: [decay, needle]\n",
      "o");
  static const char *const parts[] = {"\"sources\": [",
                                      "\"name\": \"gaussian\"",
                                      "\"kind\": \"gaussian\"",
                                      "\"caption\": []",
                                      "\"name\": \"far depth=0\"",
                                      "\"kind\": \"needle\"",
                                      "\"correlation 0.5 with the query\"",
                                      "\"content in the slow quarter of the pairs\"",
                                      "\"depth 0\"",
                                      "\"name\": \"far depth=0.9\"",
                                      "\"correlation 0.5 with the query\"",
                                      "\"content in the slow quarter of the pairs\"",
                                      "\"depth 0.9\""};
  size_t length;
  char *text = read_path("o", "manifest.json", &length);
  const char *place = text;
  for (size_t i = 0; i < RS_COUNT(parts); i++) {
    place = strstr(place, parts[i]);
    cr_assert_not_null(place, "no %s after the one before it", parts[i]);
  }
  place = strstr(text, "\"needle_weight\"");
  cr_assert(place != NULL && strstr(place, "\"reads\"") < strchr(place, '}'), "observed");
  place = strstr(text, "\"mean_cosine_at_length\"");
  cr_assert(place != NULL && strstr(place, "\"reads\"") > strchr(place, '}'), "of tables");
  place = strstr(text, "\"needles\"");
  cr_assert(place != NULL && strstr(place, "\"reads\"") > strchr(place, '}'), "an index");
  place = strstr(place, "\"weight\"");
  cr_assert(place != NULL && strstr(place, "\"reads\"") < strchr(place, '}'), "a curve's value");
  free(text);
}

/* ---- undefined lengths ------------------------------------------------------------------------------------------- */

/* A table that ends is undefined beyond, whether the metrics read rows or tables alone. */
Test(run, learned_beyond_its_table__is_a_row_with_status_domain) {
  static const char *const metrics[] = {TABLES, "metrics: decay\n", "metrics: entropy\n",
                                        "metrics: [decay, entropy]\n"};
  for (size_t m = 0; m < RS_COUNT(metrics); m++) {
    rs_text yaml = {0};
    rs_text_printf(&yaml, TINY "methods: [learned, rope]\nlengths: [65, 64, 90]\nsources: [gaussian, needle]\n%s",
                   metrics[m]);
    rs_run_summary summary = run(yaml.data, "o");
    cr_expect(summary.cells == 12 && summary.failed == 4 && summary.starved == 0, "%s: %zu failed", metrics[m],
              summary.failed);
    rs_table *table = read_table("o", "summary.csv");
    for (size_t i = 0; i < table->rows; i++) {
      bool learned = strcmp(field(table, i, "method"), "learned") == 0;
      const char *length = field(table, i, "length_tokens"), *message = "";
      if (learned && strcmp(length, "65") == 0) message = "learned: position 64 is beyond the table of 64 rows";
      if (learned && strcmp(length, "90") == 0) message = "learned: position 89 is beyond the table of 64 rows";
      cr_expect_str_eq(field(table, i, "status"), *message != '\0' ? "domain" : "ok", "%s row %zu", metrics[m], i);
      cr_expect_str_eq(field(table, i, "message"), message, "%s row %zu", metrics[m], i);
      for (size_t c = 8; c + 2 < table->columns && *message != '\0'; c++)
        cr_expect_str_eq(table->fields[i * table->columns + c], "", "%s of row %zu", table->header[c], i);
    }
    if (m < 2) {
      rs_table *curve = read_table("o", "decay.csv");
      for (size_t i = 0; i < curve->rows; i++)
        cr_expect(strcmp(field(curve, i, "method"), "rope") == 0 ||
                  strcmp(field(curve, i, "length_tokens"), "64") == 0);
      rs_table_free(curve);
    }
    rs_table_free(table);
    rs_text_clear(&yaml);
  }
}

/* One metric that cannot be had takes the cell with it, and the message says which it was. */
Test(run, metric_that_cannot_be_had__is_named_in_the_row) {
  run("methods: rope\nlengths: 32\nmetrics: [entropy, {name: calibration, ridge: 0}]\n"
      "model: {heads: 2, head_dim: 16, train_length: 8}\n",
      "o");
  rs_table *table = read_table("o", "summary.csv");
  for (size_t i = 0; i < table->rows; i++)
    cr_expect_str_eq(field(table, i, "message"),
                     "metric calibration: 8 points do not determine 16 functions: take a ridge above 0");
  rs_table_free(table);
}

/* A source that cannot be made is an error of each of its cells, and of no other. */
Test(run, source_that_cannot_be_fitted__is_rows_with_status_domain) {
  run("methods: [rope, pi]\nlengths: 32\nsources: [gaussian, {name: calibrated, ridge: 0}]\nmetrics: entropy\n"
      "model: {heads: 2, head_dim: 16, train_length: 8}\n",
      "o");
  rs_table *table = read_table("o", "summary.csv");
  cr_assert_geq(table->rows, 4);
  for (size_t i = 0; i < table->rows; i++) {
    bool fitted = strncmp(field(table, i, "source"), "calibrated", 10) == 0;
    cr_expect_str_eq(field(table, i, "status"), fitted ? "domain" : "ok");
    cr_expect_eq(*field(table, i, "entropy_nats") == '\0', fitted);
    cr_expect_eq(strstr(field(table, i, "message"), "source calibrated: 8 points do not determine 16 functions") !=
                     NULL,
                 fitted);
  }
  rs_table_free(table);
}

/* A float format that cannot hold the positions. */
Test(run, positions_beyond_their_format__are_rows_with_status_domain) {
  rs_run_summary summary = run(TINY "precision: {positions: f16}\nlengths: [16, 70000]\nmetrics: decay\n", "o");
  cr_expect(summary.cells == 2 && summary.failed == 1);
  rs_table *table = read_table("o", "summary.csv");
  cr_expect_str_eq(field(table, 0, "status"), "ok");
  cr_expect_str_eq(field(table, 1, "status"), "domain");
  cr_expect_str_eq(field(table, 1, "message"),
                   "length 70000 is beyond the range of the float format of positions or angles");
  rs_table_free(table);
}

/* ---- old results ------------------------------------------------------------------------------------------------- */

Test(run, stale_curves__are_removed_by_a_run_that_makes_none) {
  static const char *const curves[] = {"o/decay.csv", "o/ood_angles.csv", "o/score_by_distance.csv",
                                       "o/distance_mass.csv", "o/needle.csv"};
  run(TINY "sources: needle\nlengths: 16\n" ALL_METRICS, "o");
  for (size_t i = 0; i < RS_COUNT(curves); i++) cr_expect(exists(curves[i]), "no %s", curves[i]);
  FILE *note = fopen("o/notes.csv", "w");
  cr_assert_not_null(note);
  fclose(note);
  run(TINY "lengths: 16\nmetrics: [entropy, decay]\n", "o");
  for (size_t i = 0; i < RS_COUNT(curves); i++) cr_expect_eq(exists(curves[i]), i == 0, "%s", curves[i]);
  cr_expect(exists("o/summary.csv") && exists("o/notes.csv"));
}
