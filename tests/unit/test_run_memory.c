/* test_run_memory.c: each allocation of a run and of its config fails in turn. What did not fit in memory is a row
 * that says so, and never a wrong number. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../fixtures/heap_ways.h"
#include "../fixtures/runs.h"
#include "../fixtures/threads.h"
#include "run/run.h"

/* Hundreds of runs would wait for the disk each time, where /dev/shm is none of memory. */
int fsync(int file) {
  (void)file;
  return 0;
}

TestSuite(run, .init = enter_folder, .fini = leave_folder);

/* ---- a run ------------------------------------------------------------------------------------------------------- */

/* What a run without a refusal wrote. */
static const char *const files[] = {"decay.csv",         "ood_angles.csv", "score_by_distance.csv",
                                    "distance_mass.csv", "needle.csv",     "summary.csv"};

/* The rows of `got` must be those of `want` that have their cell's status ok, and of the others none but tables. */
static void expect_curve_rows(const rs_table *got, const rs_table *want, const rs_table *summary, bool of_tables,
                              long n, const char *name) {
  size_t i = 0, before = SIZE_MAX;
  bool was_there = false;
  for (size_t j = 0; j < want->rows; j++) {
    size_t cell = (size_t)atoi(field(want, j, "cell"));
    bool ok = strcmp(field(summary, cell, "status"), "ok") == 0;
    bool there = i < got->rows && agree(got, i, want, j, (const char *const *)want->header, want->columns);
    if (ok && !there) cr_assert_fail("allocation %ld: %s lacks row %zu of cell %zu, which is ok", n, name, j, cell);
    if (there && !ok && !of_tables) cr_assert_fail("allocation %ld: %s has rows of failed cell %zu", n, name, cell);
    if (cell == before && there != was_there) cr_assert_fail("allocation %ld: %s has part of cell %zu", n, name, cell);
    before = cell;
    was_there = there;
    i += there;
  }
  cr_assert_eq(i, got->rows, "allocation %ld: row %zu of %s is not in the whole run", n, i, name);
}

static size_t expect_summary_rows(const rs_table *got, const rs_table *want, long n) {
  size_t starved = 0;
  cr_assert_eq(got->rows, want->rows, "allocation %ld", n);
  for (size_t i = 0; i < got->rows; i++) {
    char what[64];
    snprintf(what, sizeof what, "allocation %ld, cell %zu", n, i);
    if (strcmp(field(got, i, "status"), "ok") == 0) {
      expect_same_row(got, i, want, i, 0, what);
      continue;
    }
    starved++;
    cr_assert_str_eq(field(got, i, "status"), "memory", "%s: %s %s", what, field(got, i, "status"),
                     field(got, i, "message"));
    cr_assert_not_null(strstr(field(got, i, "message"), "out of memory"), "%s: %s", what, field(got, i, "message"));
    cr_assert(agree(got, i, want, i, keys, RS_COUNT(keys)), "%s: other keys", what);
    cr_assert_str_eq(field(got, i, "entropy_nats"), "", "%s has values", what);
  }
  return starved;
}

/* What the manifest says of kinds and columns. */
static void expect_manifest(long n) {
  size_t length;
  char *got = read_path("o", "manifest.json", &length), *want = read_path("whole", "manifest.json", &length);
  char *a = strstr(got, "\n  \"kinds\""), *b = strstr(want, "\n  \"kinds\"");
  cr_assert(a != NULL && b != NULL);
  char *sums[] = {strstr(a, "\n  \"contents\""), strstr(b, "\n  \"contents\"")}; /* timings.csv has others */
  cr_assert(sums[0] != NULL && sums[1] != NULL);
  *sums[0] = *sums[1] = '\0';
  size_t same = 0;
  while (a != NULL && b != NULL && a[same] != '\0' && a[same] == b[same]) same++;
  cr_assert_str_eq(a, b, "allocation %ld: manifest.json has other kinds or columns: %.60s for %.60s", n, a + same - 20,
                   b + same - 20);
  free(got);
  free(want);
}

/* A run that said it went well. */
static void expect_sound(const rs_run_summary *summary, long n) {
  rs_table *rows = read_table("o", "summary.csv"), *want = read_table("whole", "summary.csv");
  size_t starved = expect_summary_rows(rows, want, n);
  cr_assert(summary->starved == starved && summary->failed == starved, "allocation %ld: %zu starved, %zu rows say so",
            n, summary->starved, starved);
  for (size_t f = 0; f + 1 < RS_COUNT(files); f++) {
    rs_table *got = read_table("o", files[f]), *whole = read_table("whole", files[f]);
    expect_curve_rows(got, whole, rows, f < 2, n, files[f]);
    rs_table_free(got);
    rs_table_free(whole);
  }
  expect_manifest(n);
  rs_table_free(rows);
  rs_table_free(want);
}

static const char starving[] =
    TINY "methods: [rope, self_extend, alibi, sinusoidal]\nlengths: [24]\nsources: [needle, "
         "{name: tensors, q: x.npy, k: x.npy, rotated: {name: yarn, factor: 2}}, grid]\nheads: {each: [0, "
         "1]}\nqueries: {random: 5}\ntokens: [{text: 4}, {image: [2, 3]}]\n" ALL_METRICS;

/* One of the runs: allocation `n` fails, and with `all` every later one. True when none was refused. */
static bool starve(long n, bool all) {
  rs_run_summary summary = {0};
  rs_problems problems = {0};
  rs_err err = {0};
  unlink("o/summary.csv");
  long before = blocks;
  refused = false;
  refuse_all = all;
  allocations = n;
  rs_status status = attempt(starving, "o", &summary, &problems, &err);
  allocations = -1;
  cr_assert(status == RS_OK || (refused && status == RS_MEMORY), "allocation %ld: %s: %s %s", n, rs_status_name(status),
            err.message, rs_text_string(&problems.text));
  rs_problems_clear(&problems);
  cr_assert_eq(blocks, before, "allocation %ld: %ld blocks leak", n, blocks - before);
  if (status == RS_OK) expect_sound(&summary, n);
  if (status != RS_OK) cr_assert_not(exists("o/summary.csv"), "allocation %ld: a failed run left summary.csv", n);
  return !refused;
}

/* ---- which allocations ------------------------------------------------------------------------------------------- */

static void record_ways(void) {
  run(starving, "o");
  unlink("o/summary.csv");
  ways_begin();
  run(starving, "o");
  ways_end();
}

/* In turns alone and with all after it; with ROPESCOPE_ALLOCATIONS=all each of all both ways. */
Test(run, each_failing_allocation__no_wrong_cell_and_no_leak) {
  double numbers[24 * 2 * 8];
  const rs_array dump = {.rank = 3, .shape = {24, 2, 8}, .count = RS_COUNT(numbers), .numbers = numbers};
  for (size_t i = 0; i < dump.count; i++) numbers[i] = sin((double)i);
  cr_assert_eq(rs_npy_write("x.npy", &dump, true, NULL), RS_OK);
  use_threads(1);
  cr_assert_eq(run(starving, "whole").failed, 0);
  if (!COUNTS_MEMORY) return; /* malloc belongs to the sanitizer, which has its say of leaks */
  record_ways();
  for (int all = 0; all < 2; all++) {
    for (long n = 0, tried = 0; n < way_count; n++) {
      if (!way_is_tried(n) || (!all_are_tried() && tried++ % 2 != all)) continue;
      cr_assert_not(starve(n, all), "allocation %ld of %ld is not met", n, way_count);
    }
    run(starving, "o"); /* which removes what the last of them has left, and allocates for it */
    cr_assert(starve(way_count, all), "more allocations than %ld", way_count);
  }
}

/* ---- a config ---------------------------------------------------------------------------------------------------- */

/* Good configs with every way to write a value. */
static const char *const configs[] = {
    "model: llama-2-7b\n",
    "name: n\ndescription: d\nmodel: [{preset: gpt2, name: g}, {head_dim: 8, train_length: 16, published: {name: yarn, "
    "factor: 4}}]\nmethods: [rope, {name: pi, factor: 2}, {name: pi, factor: 4}, {name: yarn, label: y, factor: [2, "
    "4], beta_fast: [16, 32], zip: true}]\nlengths: {from: 16, to: 64}\nsources: {name: needle, depth: [0.1, 0.9]}\n"
    "metrics: [{name: decay, distances: all}, needle]\nseeds: [3, 1]\nheads: {each: [3, 1]}\nqueries: {random: 3}\n"
    "mask: {window: 9, sinks: 2}\ntokens: [{text: 4}, {image: [2, 2]}]\nprecision: f32\ncolumns: [overlap]\n",
    "model: {head_dim: 8, train_length: 16, mrope_section: [2, 1, 1], published: {name: mrope, mrope_section: [1, 1, "
    "2]}}\nmethods: [{name: mrope, mrope_section: [[2, 1, 1], [1, 2, 1]]}, {name: longrope, short_factor: [1, 1, 1, "
    "1], long_factor: [1, 2, 3, 4]}]\n",
    "model: [phi-3-mini-128k, llama-2-7b]\nmethods: [longrope, rope]\nzip: [model, methods]\n",
    "checkpoint: [{name: a, method: [rope, {name: yarn, factor: [2, 4]}], blocks: 4, width: [16, 32], layers: [{every: "
    "2, method: nope}, {from: 2, method: nope, window: 4}], train: {length: 16}, tune: {length: 32, method: yarn}, "
    "seed: 3}, {width: 16}, {width: 32}]\ntask: {name: copy, symbols: 4}\nmethods: [trained, pi]\ncolumns: "
    "[checkpoint.seed]\n",
    "checkpoint: {}\ntask: where\nmetrics: [decay]\n",
    "checkpoint: {width: 16}\ntask: dictionary\nlengths: [64, 128]\nmethods: [pi, rope]\n",
    "checkpoint: {width: 16}\ntask: dictionary\nlengths: [64, 128]\nmethods: [pi]\nbaselines: unchanged\n",
};

static rs_status read_whole(const char *yaml, rs_text *written, rs_problems *problems, rs_err *err) {
  rs_experiment *experiment;
  rs_status status = rs_config_read(yaml, "t.yaml", (rs_config_edits){0}, &experiment, problems, err);
  long pause = allocations;
  allocations = -1;
  if (status == RS_OK) rs_experiment_write(experiment, written);
  allocations = pause;
  rs_experiment_free(experiment);
  return status;
}

/* A good config is never called wrong for want of memory, nor read as another one. */
static bool starve_config(const char *yaml, const char *want, long n) {
  rs_problems problems = {0};
  rs_text written = {0};
  rs_err err = {0};
  long before = blocks;
  refused = refuse_all = false;
  allocations = n;
  rs_status status = read_whole(yaml, &written, &problems, &err);
  allocations = -1;
  cr_assert(status == RS_OK || (refused && status == RS_MEMORY), "%s\nallocation %ld: %s: %s\n%s", yaml, n,
            rs_status_name(status), err.message, rs_text_string(&problems.text));
  if (status == RS_OK)
    cr_assert_str_eq(written.data, want, "%s\nallocation %ld: is read as\n%s", yaml, n, written.data);
  rs_problems_clear(&problems);
  rs_text_clear(&written);
  cr_assert_eq(blocks, before, "%s\nallocation %ld: %ld blocks leak", yaml, n, blocks - before);
  return !refused;
}

Test(run, each_failing_allocation_of_a_config__is_a_lack_of_memory) {
  for (size_t i = 0; i < RS_COUNT(configs); i++) {
    rs_text want = {0};
    rs_problems problems = {0};
    rs_err err = {0};
    cr_assert_eq(read_whole(configs[i], &want, &problems, &err), RS_OK, "%s: %s", configs[i],
                 rs_text_string(&problems.text));
    for (long n = 0; COUNTS_MEMORY && !starve_config(configs[i], want.data, n); n++) cr_assert_lt(n, 100000);
    rs_text_clear(&want);
  }
}
