/* test_model_rows.c: rows of attention of checkpoints in runs. That rows are what the model attends with is tested in
 * test_block_reader.c; here, which of them a cell observes, and what stands beside them. */
#include <criterion/criterion.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/npy.h"
#include "../fixtures/runs.h"

TestSuite(model_rows, .init = enter_folder, .fini = leave_folder);

#define CHECKPOINT                                                                                                     \
  "checkpoint: {name: tiny, width: 16, heads: 2, train: {steps: 3, length: 32, sequences: 2}}\nsequences: 5\n"         \
  "seeds: [1]\n"
#define COPY "task: {name: copy, symbols: 9}\n"
#define LENGTHS "lengths: [32, 64]\nmethods: [trained, pi, rerope]\n"
#define METRICS "metrics: [loss, loss_by_position, decay, entropy, sink_mass, distance_mass, needle]\n"

static double number(const rs_table *table, size_t row, const char *column) {
  return strtod(field(table, row, column), NULL);
}

/* The row of a method, length, source and heads. */
static size_t row_of(const rs_table *table, const char *method, const char *length, const char *source,
                     const char *heads) {
  for (size_t i = 0; i < table->rows; i++)
    if (strcmp(field(table, i, "method"), method) == 0 && strcmp(field(table, i, "length_tokens"), length) == 0 &&
        strcmp(field(table, i, "source"), source) == 0 && strcmp(field(table, i, "heads"), heads) == 0)
      return i;
  cr_assert_fail("no row of %s at %s, %s, heads %s", method, length, source, heads);
  return 0;
}

static void expect_same_files(const char *a, const char *b, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    size_t length, other;
    char *left = read_path(a, names[i], &length), *right = read_path(b, names[i], &other);
    cr_expect(length == other && memcmp(left, right, length) == 0, "%s", names[i]);
    free(left);
    free(right);
  }
}

Test(model_rows, threads__same_bytes) {
  static const char config[] = CHECKPOINT COPY LENGTHS METRICS
      "queries: all\nsources: [{name: model, layer: [0, 1], head: each}, gaussian, needle]\n";
  static const char *const files[] = {"summary.csv", "distance_mass.csv", "needle.csv", "loss_by_position.csv"};
  omp_set_num_threads(1);
  cr_assert_eq(run(config, "one").failed, 0);
  omp_set_num_threads(3);
  run(config, "three");
  expect_same_files("one", "three", files, RS_COUNT(files));
}

/* Threads show queries and keys in the order of sequences, too; without metrics of rows nothing is observed, and what
 * the others say is the same. A retrieval score is the share of needles that a head finds. */
Test(model_rows, queries_and_keys__same_bytes__with_rows_or_without) {
#define HEADS_READ "queries: all\nsources: [{name: model, layer: [0, 1], head: each}, {name: model, label: both}]\n"
  static const char rows[] =
      CHECKPOINT COPY LENGTHS HEADS_READ "metrics: [pair_norms, massive_values, retrieval, needle, top_mass, "
                                         "segment_mass, {name: attention_map, sequence: "
                                         "3}, {name: attention_rollout, sequence: 3}]\n";
  static const char *const files[] = {"summary.csv",  "pair_norms.csv",    "massive_values.csv",   "retrieval.csv",
                                      "top_mass.csv", "attention_map.csv", "attention_rollout.csv"};
  omp_set_num_threads(1);
  cr_assert_eq(run(rows, "one").failed, 0);
  omp_set_num_threads(3);
  run(rows, "three");
  expect_same_files("one", "three", files, RS_COUNT(files));
  run(CHECKPOINT COPY LENGTHS HEADS_READ "metrics: [massive_values, pair_norms]\n", "content");
  expect_same_files("one", "content", files + 1, 2);
  rs_table *t = read_table("one", "summary.csv");
  for (size_t i = 0; i < t->rows; i++) {
    double parts = number(t, i, "needle_mass") + number(t, i, "first_keys_mass") + number(t, i, "local_mass") +
                   number(t, i, "rest_mass");
    cr_expect(fabs(parts - 1) < 1e-12, "row %zu: %.15g", i, parts);
    cr_expect(fabs(number(t, i, "retrieval_score") - number(t, i, "needle_win_rate")) < 1e-12, "row %zu", i);
  }
  rs_table_free(t);
#undef HEADS_READ
}

/* 100 bytes are held out: three windows of 32, and one of 64. */
Test(model_rows, texts__no_window_is_read_twice) {
#define TEXT(sequences)                                                                                                \
  "checkpoint: {name: tiny, width: 16, heads: 2, train: {steps: 3, length: 32, sequences: 2}}\nsequences: " sequences  \
  "\ntask: {name: bytes, file: text}\nseeds: [1]\ntargets: per_length\nbaselines: none\n" LENGTHS                      \
  "metrics: [loss, entropy]\nsources: {name: model, layer: 1}\n"
  static const char *const files[] = {"summary.csv"};
  char text[1001] = {0};
  for (size_t i = 0; i < 1000; i++) text[i] = (char)('a' + i * i % 23);
  cr_assert_eq(rs_file_write("text", text, strlen(text), NULL), RS_OK);
  run(TEXT("3"), "three");
  run(TEXT("7"), "seven");
  expect_same_files("three", "seven", files, RS_COUNT(files));
  rs_table *t = read_table("three", "summary.csv");
  cr_expect_gt(number(t, row_of(t, "trained", "32", "model", "0 1"), "loss_nats_se"), 0);
  cr_expect_str_eq(field(t, row_of(t, "trained", "64", "model", "0 1"), "loss_nats_se"), "");
  rs_table_free(t);
#undef TEXT
}

Test(model_rows, resolved_config__same_bytes) {
  static const char *const files[] = {"summary.csv", "needle.csv", "config.yaml"};
  size_t length;
  run(CHECKPOINT COPY LENGTHS METRICS
      "queries: {every: 7}\nengine: {scores: f64, epsilon: 0}\nzip: [sources, methods]\n"
      "sources: [{name: model, layer: 1, head: 1}, {name: model, head: each}, gaussian]\n",
      "a");
  char *again = read_path("a", "config.yaml", &length);
  run(again, "b");
  expect_same_files("a", "b", files, RS_COUNT(files));
  free(again);
}

Test(model_rows, heads__all_is_the_mean_of_each__a_number_is_one) {
  run(CHECKPOINT COPY LENGTHS METRICS
      "sources: [{name: model, label: all, layer: 1}, {name: model, label: each, layer: 1, head: each}, {name: model, "
      "label: one, layer: 1, head: 1}]\n",
      "a");
  static const char *const columns[] = {"entropy_nats", "sink_mass", "needle_weight"};
  rs_table *t = read_table("a", "summary.csv");
  cr_assert_eq(t->rows, 3 * 2 * 4);
  size_t all = row_of(t, "pi", "64", "all", "0 1"), first = row_of(t, "pi", "64", "each", "0");
  size_t second = row_of(t, "pi", "64", "each", "1"), one = row_of(t, "pi", "64", "one", "1");
  for (size_t c = 0; c < RS_COUNT(columns); c++) {
    double mean = (number(t, first, columns[c]) + number(t, second, columns[c])) / 2;
    cr_expect(fabs(number(t, all, columns[c]) - mean) <= 1e-14, "%s", columns[c]);
    cr_expect_neq(number(t, first, columns[c]), number(t, second, columns[c]), "%s", columns[c]);
    cr_expect_eq(number(t, one, columns[c]), number(t, second, columns[c]), "%s", columns[c]);
  }
  rs_table_free(t);
}

/* What a source gives does not hang on which others there are; a method that is the trained one at the trained length
 * gives its rows there, and others beyond. */
Test(model_rows, sources__by_themselves_as_with_others__methods_act) {
  run(CHECKPOINT COPY LENGTHS METRICS "sources: [{name: model, label: deep, layer: 1}, {name: model, label: shallow}, "
                                      "gaussian, needle]\n",
      "all");
  run(CHECKPOINT COPY LENGTHS METRICS "sources: [{name: model, label: deep, layer: 1}]\n", "deep");
  rs_table *all = read_table("all", "summary.csv"), *deep = read_table("deep", "summary.csv");
  static const char *const columns[] = {"loss_nats", "entropy_nats", "sink_mass", "needle_weight", "needle_rank"};
  for (size_t i = 0; i < deep->rows; i++) {
    size_t k = row_of(all, field(deep, i, "method"), field(deep, i, "length_tokens"), "deep", "0 1");
    cr_expect(agree(deep, i, all, k, columns, RS_COUNT(columns)), "row %zu", i);
    size_t other = row_of(all, field(deep, i, "method"), field(deep, i, "length_tokens"), "shallow", "0 1");
    cr_expect_neq(number(all, other, "entropy_nats"), number(all, k, "entropy_nats"));
    cr_expect_eq(number(all, other, "loss_nats"), number(all, k, "loss_nats"));
  }
  double trained = number(all, row_of(all, "trained", "32", "deep", "0 1"), "entropy_nats");
  cr_expect_eq(number(all, row_of(all, "pi", "32", "deep", "0 1"), "entropy_nats"), trained);
  cr_expect_neq(number(all, row_of(all, "pi", "64", "deep", "0 1"), "entropy_nats"),
                number(all, row_of(all, "trained", "64", "deep", "0 1"), "entropy_nats"));
  rs_table_free(all);
  rs_table_free(deep);
}

/* What reads no source stands once for all of them. */
Test(model_rows, readings_and_tables__one_curve_for_all_sources) {
  run(CHECKPOINT COPY LENGTHS METRICS "sources: [{name: model, layer: [0, 1]}, gaussian]\n", "a");
  static const char *const curves[] = {"loss_by_position.csv", "decay.csv"};
  for (size_t c = 0; c < RS_COUNT(curves); c++) {
    rs_table *t = read_table("a", curves[c]);
    cr_assert_gt(t->rows, 0);
    for (size_t i = 0; i < t->rows; i++) {
      cr_expect_str_eq(field(t, i, "source"), "", "%s, row %zu", curves[c], i);
      cr_expect_eq((int)number(t, i, "cell") % 3, 0, "%s: another cell than the first source's", curves[c]);
    }
    rs_table_free(t);
  }
}

/* A copy asks for the string's symbols, one after the other: as many tokens back as the string is long. */
Test(model_rows, needles__stand_where_the_task_says) {
  run(CHECKPOINT COPY "lengths: [32]\nqueries: all\nmetrics: [needle]\nsources: model\n", "a");
  rs_table *t = read_table("a", "needle.csv");
  cr_assert_eq(t->rows, 1);
  cr_expect_leq(number(t, 0, "distance_tokens"), 16);
  cr_expect_gt(number(t, 0, "distance_end_tokens"), 16);
  cr_expect_eq(number(t, 0, "needles"), 5 * 2 * 16);
  rs_table_free(t);
}

/* Forms, added tables, windows, shared keys and recipes of layers. */
Test(model_rows, models_of_all_kinds__are_observed) {
  static const char *const configs[] = {
      "checkpoint: {width: 16, train: {steps: 2, length: 16}}\ntask: where\nlengths: [16]\n",
      "checkpoint: {width: 16, method: sinusoidal, train: {steps: 2, length: 16}}\n" COPY "lengths: [24]\n",
      "checkpoint: {width: 16, method: t5, heads: 4, kv_heads: 2, window: 5, sinks: 1, train: {steps: 2, length: "
      "16}}\n" COPY "lengths: [24]\n",
      "checkpoint: {width: 16, layers: [{every: 2, method: nope}], train: {steps: 2, length: 16}}\n" COPY
      "lengths: [24]\nmethods: [trained, rerope]\n",
      "checkpoint: {width: 16, train: {steps: 2, length: 16}}\ntask: translate\nlengths: [16]\n",
  };
  for (size_t i = 0; i < RS_COUNT(configs); i++) {
    char yaml[600], name[16];
    snprintf(yaml, sizeof yaml,
             "%ssequences: 3\nmetrics: [entropy, distance_mass]\nsources: [{name: model, layer: [0, 1]}, gaussian]\n",
             configs[i]);
    snprintf(name, sizeof name, "%zu", i);
    rs_run_summary summary = run(yaml, name);
    cr_expect_eq(summary.failed, 0, "%s", configs[i]);
    rs_table *t = read_table(name, "summary.csv");
    for (size_t r = 0; r < t->rows; r++)
      cr_expect(number(t, r, "entropy_nats") > 0 && *field(t, r, "message") == '\0', "%s: %s", configs[i],
                field(t, r, "message"));
    rs_table_free(t);
  }
}

/* What pictures say of a reading beside sources is the task; of rows, their source. */
Test(model_rows, manifest__tells_readings_from_rows) {
  run(CHECKPOINT COPY "lengths: [32]\nmetrics: [loss, entropy, decay]\nsources: [{name: model, label: own, layer: 1, "
                      "head: 0}]\n",
      "a");
  size_t length;
  char *text = read_path("a", "manifest.json", &length);
  static const char *const wanted[] = {
      "\"queries and keys of layer 1\"", "\"head 0\"",          "\"5 sequences of copy\"",
      "\"5 sequences a cell\"",          "\"reads\": \"task\"", "\"reads\": \"source\""};
  for (size_t i = 0; i < RS_COUNT(wanted); i++) cr_expect_not_null(strstr(text, wanted[i]), "%s", wanted[i]);
  const char *loss = strstr(text, "\"loss_nats\""), *entropy = strstr(text, "\"entropy_nats\"");
  const char *first = strstr(loss, "\"reads\"");
  cr_expect(first < entropy && strncmp(first, "\"reads\": \"task\"", 15) == 0);
  cr_expect_eq(strncmp(strstr(entropy, "\"reads\""), "\"reads\": \"source\"", 17), 0);
  free(text);
}

/* Rows that cannot be are the failure of their metrics alone: what the model answers, and its tables, hold. */
Test(model_rows, rows_that_fail__leave_readings_and_tables) {
  static const char *const kept[] = {"loss_nats", "loss_nats_se", "critical_dim"};
  static double numbers[16 * 2 * 8]; /* heads of 8 dims: rows of 16 tokens, and sequences have 32 */
  make_npy("short.npy", 1, NPY("<f8", "False", "(16, 2, 8)"), (const char *)numbers, sizeof numbers);
  rs_run_summary summary = run(CHECKPOINT COPY "lengths: [32]\nmetrics: [loss, critical_dim, entropy]\n"
                                               "sources: [gaussian, {name: tensors, q: short.npy, k: short.npy}]\n",
                               "a");
  cr_expect(summary.cells == 2 && summary.failed == 1, "%zu of %zu failed", summary.failed, summary.cells);
  rs_table *t = read_table("a", "summary.csv");
  size_t whole = row_of(t, "trained", "32", "gaussian", "0 1"), failed = row_of(t, "trained", "32", "tensors", "0 1");
  cr_expect_str_eq(field(t, failed, "status"), "domain");
  cr_expect_str_eq(field(t, failed, "message"), "short.npy: has 16 tokens, the length is 32");
  cr_expect(*field(t, failed, "entropy_nats") == '\0' && *field(t, whole, "entropy_nats") != '\0');
  for (size_t i = 0; i < RS_COUNT(kept); i++)
    cr_expect(number(t, whole, kept[i]) > 0 && strcmp(field(t, failed, kept[i]), field(t, whole, kept[i])) == 0,
              "%s: %s, not %s", kept[i], field(t, failed, kept[i]), field(t, whole, kept[i]));
  rs_table_free(t);
}
