/* test_attention_map.c: weights of single queries and keys, as runs write them, against softmax by three loops with
 * every pair turned by hand; windows, sequences and pictures; and what no cell can have, told before a run. The weights
 * of random worlds are in test_engine.c, those of published models in test_golden_attention_maps.c. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/runs.h"

TestSuite(attention_map, .init = enter_folder, .fini = leave_folder);

enum { LENGTH = 23, DIMS = 8, HEADS = 2 };

/* ---- three loops ------------------------------------------------------------------------------------------------- */

typedef struct world {
  const char *method, *mask;
  double slope_base; /* of a bias by distance; 0: none */
  size_t window, sinks;
} world;

static const world worlds[] = {{"rope", "causal", 0, 1000, 0},
                               {"alibi", "causal", 1.0 / 16, 1000, 0}, /* 2^(-8 / 2) */
                               {"rope", "{window: 5, sinks: 2}", 0, 5, 2}};

static bool sees(const world *w, size_t m, size_t n) {
  return n <= m && (m - n < w->window || n < w->sinks);
}

static double number_of(rs_purpose purpose, size_t head, size_t token, size_t dim) {
  double value;
  rs_gaussian_fill((rs_stream){0, purpose, (uint32_t)head}, token * DIMS + dim, 1, &value);
  return value;
}

/* Pair j is numbers j and j + D/2, at position p turned by p theta^(-2j/D). */
static double turned(rs_purpose purpose, size_t head, size_t token, size_t dim, bool turns) {
  size_t j = dim % (DIMS / 2);
  double angle = turns ? (double)token * pow(1e4, -2.0 * (double)j / DIMS) : 0;
  double a = number_of(purpose, head, token, j), b = number_of(purpose, head, token, j + DIMS / 2);
  return dim < DIMS / 2 ? a * cos(angle) - b * sin(angle) : a * sin(angle) + b * cos(angle);
}

static double logit(const world *w, size_t head, size_t m, size_t n) {
  double sum = 0;
  for (size_t d = 0; d < DIMS; d++)
    sum += turned(RS_PURPOSE_QUERIES, head, m, d, w->slope_base == 0) *
           turned(RS_PURPOSE_KEYS, head, n, d, w->slope_base == 0);
  return sum / sqrt(DIMS) - (w->slope_base > 0 ? pow(w->slope_base, (double)head + 1) * (double)(m - n) : 0);
}

/* (HEADS, LENGTH, LENGTH), 0 where a key is not seen. */
static void fill(const world *w, double *weights) {
  for (size_t h = 0; h < HEADS; h++)
    for (size_t m = 0; m < LENGTH; m++) {
      double *row = weights + (h * LENGTH + m) * LENGTH, sum = 0;
      for (size_t n = 0; n < LENGTH; n++) sum += row[n] = sees(w, m, n) ? exp(logit(w, h, m, n)) : 0;
      for (size_t n = 0; n < LENGTH; n++) row[n] /= sum;
    }
}

static double number(const rs_table *t, size_t row, const char *column) {
  double value;
  cr_assert(rs_number_read(field(t, row, column), &value), "%s of row %zu: %s", column, row, field(t, row, column));
  return value;
}

static size_t whole(const rs_table *t, size_t row, const char *column) {
  return (size_t)number(t, row, column);
}

#define SIMULATED                                                                                                      \
  "model: {name: tiny, head_dim: 8, heads: 2, rope_theta: 1e4, train_length: 64}\nlengths: [23]\nheads: all\n"         \
  "queries: all\n"

/* Every weight of a map has its row, in order, and no other has. */
static void check_map(const world *w, rs_range queries, rs_range shown, double mass) {
  double weights[HEADS * LENGTH * LENGTH], sum = 0;
  size_t row = 0;
  rs_table *t = read_table("out", "attention_map.csv"), *summary = read_table("out", "summary.csv");
  fill(w, weights);
  for (size_t h = 0; h < HEADS; h++)
    for (size_t m = queries.begin; m < queries.end; m++)
      for (size_t n = shown.begin; n < shown.end; n++) {
        double want = weights[(h * LENGTH + m) * LENGTH + n];
        if (!sees(w, m, n)) continue;
        cr_assert(row < t->rows, "%s: %zu rows", w->method, t->rows);
        cr_expect(whole(t, row, "head") == h && whole(t, row, "query_token") == m && whole(t, row, "key_token") == n);
        cr_expect_float_eq(number(t, row, "weight"), want, 1e-13, "%s: %zu, %zu, %zu", w->method, h, m, n);
        sum += want;
        row++;
      }
  cr_expect_eq(t->rows, row, "%s", w->method);
  sum /= (double)(HEADS * (queries.end - queries.begin));
  cr_expect_float_eq(number(summary, 0, "map_mass"), sum, 1e-13);
  if (mass > 0) cr_expect_float_eq(sum, mass, 1e-13);
  rs_table_free(t);
  rs_table_free(summary);
}

Test(attention_map, simulated_heads__every_weight_is_that_of_three_loops) {
  for (size_t i = 0; i < RS_COUNT(worlds); i++) {
    char yaml[512];
    snprintf(yaml, sizeof yaml, SIMULATED "methods: [%s]\nmask: %s\nmetrics: [attention_map, entropy]\n",
             worlds[i].method, worlds[i].mask);
    cr_assert_eq(run(yaml, "out").failed, 0);
    check_map(&worlds[i], (rs_range){0, LENGTH}, (rs_range){0, LENGTH}, 1);
    snprintf(yaml, sizeof yaml,
             SIMULATED "methods: [%s]\nmask: %s\nmetrics: [{name: attention_map, queries: [7, 19], keys: [3, 11]}]\n",
             worlds[i].method, worlds[i].mask);
    cr_assert_eq(run(yaml, "out").failed, 0);
    check_map(&worlds[i], (rs_range){7, 20}, (rs_range){3, 12}, 0);
  }
}

/* The last queries are enough for a window of them. */
Test(attention_map, window_of_a_long_sequence__is_a_part_of_the_map) {
  static const world w = {"rope", "causal", 0, 1000, 0};
  cr_assert_eq(
      run("model: {name: tiny, head_dim: 8, heads: 2, rope_theta: 1e4, train_length: 64}\nlengths: [23]\n"
          "heads: all\nqueries: {last: 4}\nmetrics: [{name: attention_map, queries: [19, 22], keys: [0, 22]}]\n",
          "out")
          .failed,
      0);
  check_map(&w, (rs_range){19, 23}, (rs_range){0, 23}, 1);
}

/* A needle that is added weighs where it stands: rows sum to 1 with it. */
Test(attention_map, needle__is_in_the_weight_of_its_place) {
  run(SIMULATED "sources: [{name: needle, depth: 0.5}]\nmetrics: [attention_map, needle]\n", "out");
  rs_table *t = read_table("out", "attention_map.csv"), *summary = read_table("out", "summary.csv");
  cr_expect_float_eq(number(summary, 0, "map_mass"), 1, 1e-13);
  double sums[LENGTH] = {0}, largest = 0;
  for (size_t i = 0; i < t->rows; i++) {
    sums[whole(t, i, "query_token")] += number(t, i, "weight");
    largest = fmax(largest, number(t, i, "weight"));
  }
  for (size_t m = 0; m < LENGTH; m++) cr_expect_float_eq(sums[m], HEADS, 1e-12, "%zu", m);
  cr_expect_eq(t->rows, HEADS * LENGTH * (LENGTH + 1) / 2);
  rs_table_free(t);
  rs_table_free(summary);
}

/* ---- sequences of a checkpoint ----------------------------------------------------------------------------------- */

#define TRAINED                                                                                                        \
  "checkpoint: {name: tiny, width: 16, heads: 2, blocks: 2, train: {steps: 3, length: 16, sequences: 2}}\nseeds: "     \
  "[1]\n"                                                                                                              \
  "task: {name: copy, symbols: 9}\nlengths: [16]\nqueries: all\nbaselines: none\n"                                     \
  "sources: [{name: model, layer: 1}]\n"

/* The mean entropy of two sequences is the mean of those of their maps. */
Test(attention_map, sequence__is_one_of_those_that_are_read) {
  double entropies[2], mean = 0;
  for (size_t s = 0; s < 2; s++) {
    char yaml[512];
    snprintf(yaml, sizeof yaml, TRAINED "sequences: 2\nmetrics: [entropy, {name: attention_map, sequence: %zu}]\n", s);
    cr_assert_eq(run(yaml, s == 0 ? "first" : "second").failed, 0);
    rs_table *t = read_table(s == 0 ? "first" : "second", "attention_map.csv");
    entropies[s] = 0;
    for (size_t i = 0; i < t->rows; i++) {
      double weight = number(t, i, "weight");
      if (weight > 0) entropies[s] -= weight * log(weight) / 16 / 2;
    }
    rs_table_free(t);
  }
  rs_table *summary = read_table("first", "summary.csv");
  mean = (entropies[0] + entropies[1]) / 2;
  cr_expect_float_eq(number(summary, 0, "entropy_nats"), mean, 1e-6);
  cr_expect_gt(fabs(entropies[0] - entropies[1]), 1e-4);
  rs_table_free(summary);
}

/* (A + I) / 2 of both layers, A the mean over heads of their maps. */
Test(attention_map, rollout__is_the_product_of_the_maps_of_all_layers) {
  double layers[2][16][16] = {{{0}}}, want[16][16] = {{0}};
  run("checkpoint: {name: tiny, width: 16, heads: 2, blocks: 2, train: {steps: 3, length: 16, sequences: 2}}\n"
      "seeds: [1]\ntask: {name: copy, symbols: 9}\nlengths: [16]\nqueries: all\nbaselines: none\nsequences: 4\n"
      "sources: [{name: model, label: '0', layer: 0}, {name: model, label: '1', layer: 1}]\n"
      "metrics: [{name: attention_map, sequence: 3}, {name: attention_rollout, sequence: 3}]\n",
      "out");
  rs_table *t = read_table("out", "attention_map.csv"), *r = read_table("out", "attention_rollout.csv");
  for (size_t i = 0; i < t->rows; i++)
    layers[whole(t, i, "source")][whole(t, i, "query_token")][whole(t, i, "key_token")] += number(t, i, "weight") / 2;
  for (size_t m = 0; m < 16; m++)
    for (size_t n = 0; n < 16; n++)
      for (size_t k = 0; k < 16; k++) want[m][n] += (layers[1][m][k] + (m == k)) / 2 * (layers[0][k][n] + (k == n)) / 2;
  cr_expect_eq(r->rows, 16 * 17 / 2, "%zu rows", r->rows);
  for (size_t i = 0; i < r->rows; i++)
    cr_expect_float_eq(number(r, i, "rollout"), want[whole(r, i, "query_token")][whole(r, i, "key_token")], 1e-6);
  rs_table_free(t);
  rs_table_free(r);
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

#define SCENES                                                                                                         \
  "checkpoint: {name: tiny, width: 16, heads: 2, blocks: 2, train: {steps: 3, length: 36, sequences: 2}}\n"            \
  "seeds: [1]\ntask: {name: where}\nlengths: [36]\nqueries: all\nbaselines: none\nsequences: 2\n"                      \
  "sources: [{name: model, layer: 1}]\n"

/* Of rows of a map or rollout: the value of a query and key, summed over heads. */
static double value_at(const rs_table *t, const char *column, size_t query, size_t key) {
  double sum = 0;
  for (size_t i = 0; i < t->rows; i++)
    if (whole(t, i, "query_token") == query && whole(t, i, "key_token") == key) sum += number(t, i, column);
  return sum;
}

static void check_grid(const char *grid, const char *map, const char *column, const size_t *queries, size_t count,
                       size_t heads) {
  rs_table *g = read_table("out", grid), *t = read_table("out", map);
  cr_assert_eq(g->rows, heads * count * 36, "%s: %zu rows", grid, g->rows);
  for (size_t q = 0; q < count; q++)
    for (size_t p = 0; p < 36; p++) {
      double sum = 0;
      size_t found = 0;
      for (size_t i = 0; i < g->rows; i++) {
        if (whole(g, i, "query_token") != queries[q] || whole(g, i, "token") != p + 1) continue;
        cr_expect(whole(g, i, "row") == p / 6 && whole(g, i, "column") == p % 6);
        sum += number(g, i, column);
        found++;
      }
      cr_expect_eq(found, heads);
      cr_expect_float_eq(sum, value_at(t, column, queries[q], p + 1), 1e-13, "%s: %zu, %zu", grid, queries[q], p);
    }
  rs_table_free(g);
  rs_table_free(t);
}

/* The class token is token 0, the patch in the middle of 6 x 6 stands at row 3, column 3. */
Test(attention_map, grids__are_rows_of_the_maps) {
  static const size_t usual[] = {0, 1 + 3 * 6 + 3}, listed[] = {1, 2, 36};
  run(SCENES "metrics: [attention_map, attention_grid, attention_rollout, rollout_grid]\n", "out");
  check_grid("attention_grid.csv", "attention_map.csv", "weight", usual, 2, 2);
  check_grid("rollout_grid.csv", "attention_rollout.csv", "rollout", usual, 2, 1);
  run(SCENES "metrics: [attention_map, {name: attention_grid, queries: [1, 2, 36]}, attention_rollout, "
             "{name: rollout_grid, queries: [1, 2, 36]}]\n",
      "out");
  check_grid("attention_grid.csv", "attention_map.csv", "weight", listed, 3, 2);
  check_grid("rollout_grid.csv", "attention_rollout.csv", "rollout", listed, 3, 1);
}

/* Text before, and behind: a causal mask shows the first none of the picture, the middle what stands before it, the
 * last all of its 3 rows of 4. */
Test(attention_map, picture_in_text__seen_as_far_as_the_mask_goes) {
  run("model: {name: tiny, head_dim: 8, heads: 2, rope_theta: 1e4, train_length: 64}\nlengths: [17]\nheads: [1]\n"
      "queries: all\ntokens: [{text: 3}, {image: [3, 4]}, {text: 2}]\nmetrics: [attention_grid]\n",
      "out");
  rs_table *t = read_table("out", "attention_grid.csv");
  cr_assert_eq(t->rows, 7 + 12, "%zu rows", t->rows);
  for (size_t i = 0; i < t->rows; i++) {
    size_t patch = i < 7 ? i : i - 7;
    cr_expect(whole(t, i, "query_token") == (i < 7 ? 3 + 4 + 2 : 16) && whole(t, i, "token") == 3 + patch);
    cr_expect(whole(t, i, "row") == patch / 4 && whole(t, i, "column") == patch % 4, "%zu", i);
  }
  rs_table_free(t);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

Test(attention_map, what_no_cell_can_have__is_told_before_a_run) {
  static const struct {
    const char *yaml, *message;
  } cases[] = {
      {TINY "lengths: [256, 1024]\nqueries: all\nmetrics: [attention_map]\n",
       "has attention_map, which has at most 512 queries, and a cell has 1024 tokens (name a window, as queries: [512, "
       "1023])"},
      {TINY "lengths: [1024]\nqueries: all\nmetrics: [{name: attention_map, queries: [0, 511]}]\n",
       "has attention_map, which has at most 512 keys, and a cell has 1024 tokens (name a window, as keys: [512, "
       "1023])"},
      {TINY "lengths: [64]\nqueries: all\nmetrics: [{name: attention_map, keys: [60, 64]}]\n",
       "has attention_map, which shows keys 60 to 64, and a cell has 64 tokens, from 0"},
      {TINY "lengths: [65]\nmetrics: [attention_map]\n",
       "has attention_map, which shows queries 0 to 64, and not all of them are observed (add queries: all)"},
      {TINY "lengths: [64]\nqueries: {every: 2}\nmetrics: [{name: attention_map, queries: [62, 63]}]\n",
       "has attention_map, which shows queries 62 to 63, and not all of them are observed (add queries: all)"},
      {TINY "lengths: [64]\nqueries: {random: 63}\nmetrics: [{name: attention_map, queries: [62, 63]}]\n",
       "has attention_map, which shows queries 62 to 63, and not all of them are observed (add queries: all)"},
      {"model: {name: wide, head_dim: 8, heads: 8, train_length: 64}\nlengths: [512]\nqueries: all\nheads: all\n"
       "metrics: [attention_map]\n",
       "has attention_map, which has 262144 weights of each of 8 heads in a cell, and room for 1048576 in all (name "
       "fewer heads, or a window as queries: [0, 127])"},
      {TINY "lengths: [64]\nqueries: all\nmetrics: [{name: attention_map, sequence: 1}]\n",
       "has attention_map, which shows sequence 1, and 1 is read, from 0"},
      {TRAINED "sequences: 3\nmetrics: [{name: attention_rollout, sequence: 3}]\n",
       "has attention_rollout, which shows sequence 3, and 3 are read, from 0"},
      {TINY "lengths: [64]\nqueries: all\nmetrics: [{name: attention_map, queries: [3]}]\n",
       "must be the first and the last token, as [512, 1023], not 1 numbers"},
      {TINY "lengths: [64]\nqueries: all\nmetrics: [{name: attention_map, queries: [3, 3]}]\n",
       "must ascend: 3 follows 3"},
      {TINY "lengths: [64]\nqueries: all\nmetrics: [{name: attention_map, keys: [1.5, 3]}]\n",
       "must be whole numbers of tokens, not 1.5"},
      {TINY "lengths: [1024]\nqueries: all\nmetrics: [{name: attention_map, keys: [0, 512]}]\n",
       "are 513 tokens, and a map has at most 512 on a side"},
      {SCENES "metrics: [{name: attention_grid, queries: [0, 37]}]\n",
       "has attention_grid, which shows query 37, and a cell has 37 tokens, from 0"},
      {SCENES "metrics: [{name: rollout_grid, queries: [4, 2]}]\n", "must ascend: 2 follows 4"},
      {TINY "lengths: [64]\nqueries: {last: 8}\ntokens: [{image: [4, 4]}]\nmetrics: [attention_grid]\n",
       "has attention_grid, which shows query 10, which is not observed (add queries: all)"},
      {TINY "lengths: [12]\nqueries: all\ntokens: [{image: [4, 4]}]\nmetrics: [attention_grid]\n",
       "has attention_grid, which shows a picture, and the 12 tokens of a cell end before it does"},
      {TINY "lengths: [5000]\nqueries: all\ntokens: [{image: [70, 70]}]\nmetrics: [attention_grid]\n",
       "has attention_grid, which reads at most 4096 tokens, and a cell has 5000 (take fewer patches)"},
      {TINY "lengths: [64]\nmetrics: [attention_grid]\n", "has attention_grid, but the tokens hold no picture"},
      {TINY "lengths: [64]\nmetrics: [attention_rollout]\n",
       "has attention_rollout, which reads what a checkpoint says"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_run_summary summary;
    rs_problems problems = {0};
    rs_err err = {0};
    cr_expect_eq(attempt(cases[i].yaml, "out", &summary, &problems, &err), RS_INPUT, "%zu", i);
    cr_expect_not_null(strstr(rs_text_string(&problems.text), cases[i].message), "%s\n%s",
                       rs_text_string(&problems.text), cases[i].message);
    rs_problems_clear(&problems);
  }
}

/* A plan says as many rows as there can be. */
Test(attention_map, plan__bounds_the_rows) {
  rs_problems problems = {0};
  rs_experiment *experiment;
  rs_plan plan;
  cr_assert_eq(rs_config_read(SIMULATED "metrics: [{name: attention_map, keys: [0, 9]}]\n", "t.yaml",
                              (rs_config_edits){0}, &experiment, &problems, NULL),
               RS_OK);
  cr_assert_eq(rs_plan_make(experiment, NULL, &plan, NULL), RS_OK);
  cr_expect_eq(plan.curve_rows, HEADS * LENGTH * 10);
  rs_experiment_free(experiment);
}
