/* test_estimate.c: what a run would take, before it is run. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../../src/run/costs.h"
#include "../fixtures/new_folder.h"
#include "../fixtures/small_model.h"
#include "io/io.h"
#include "run/run.h"

static rs_experiment *experiment_of(const char *yaml) {
  rs_experiment *experiment;
  rs_problems problems = {0};
  rs_err err = {0};
  rs_status status = rs_config_read(yaml, "test", (rs_config_edits){0}, &experiment, &problems, &err);
  cr_assert_eq(status, RS_OK, "%s", rs_text_string(&problems.text));
  rs_problems_clear(&problems);
  return experiment;
}

/* What each cell takes: flops of its own, and of what is made with it. */
static double *count_flops(const rs_experiment *experiment, size_t *count) {
  rs_cell *cells;
  rs_costs costs;
  rs_err err = {0};
  cr_assert_eq(rs_experiment_cells(experiment, &cells, count, NULL), RS_OK);
  double *flops = calloc(*count, sizeof *flops);
  cr_assert_eq(rs_costs_make(experiment, cells, *count, NULL, &costs, &err), RS_OK, "%s", err.message);
  for (size_t i = 0; i < *count; i++) flops[i] = costs.items[i].own + costs.items[i].made;
  rs_costs_clear(&costs);
  free(cells);
  return flops;
}

static void expect_flops(const char *yaml, const double *wanted, size_t wanted_count) {
  size_t count;
  rs_experiment *experiment = experiment_of(yaml);
  double *flops = count_flops(experiment, &count);
  cr_assert_eq(count, wanted_count);
  for (size_t i = 0; i < count; i++) cr_expect_eq(flops[i], wanted[i], "cell %zu: %.17g", i, flops[i]);
  free(flops);
  rs_experiment_free(experiment);
}

#define TWO_HEADS "model: {head_dim: 16, heads: 2, train_length: 64}\nlengths: [64, 128]\n"

/* Two flops of each dim, key and head with each query, and with 64 more, which turning the key is worth; the keys are
 * drawn at the first of their methods, for what 400 queries take. */
Test(estimate, rows__are_queries_times_keys_and_keys_are_drawn_once) {
  const double each = 2.0 * 16 * 2 * 64, brief = each * (8 + 64), lengthy = 2 * brief;
  expect_flops(TWO_HEADS "methods: [rope, alibi]\nsources: [gaussian]\nseeds: 1\nqueries: {last: 8}\n"
                         "metrics: [entropy]\n",
               (const double[]){brief + 400 * each, lengthy + 800 * each, brief, lengthy}, 4);
}

/* Metrics of tables are computed once for all sources and seeds, from two flops of each dim and position. */
Test(estimate, tables__count_once) {
  const double brief = 2.0 * 16 * 64;
  expect_flops(TWO_HEADS "methods: [rope]\nsources: [gaussian, constant]\nseeds: 2\nmetrics: [decay]\n",
               (const double[]){brief, 1, 1, 1, 2 * brief, 1, 1, 1}, 8);
}

/* A metric of tables that draws is computed anew for each seed, once for all sources. */
Test(estimate, tables__of_metrics_that_draw__count_for_each_seed) {
  const double brief = 2.0 * 16 * 64;
  expect_flops(TWO_HEADS "methods: [rope]\nsources: [gaussian, constant]\nseeds: 2\nmetrics: [calibration]\n",
               (const double[]){brief, brief, 1, 1, 2 * brief, 2 * brief, 1, 1}, 8);
}

/* What a method adds to tokens is projected at the first of its sources and seeds, and costs more than they do. */
Test(estimate, projections__are_made_once) {
  const double keys = 2.0 * 64 * 2, brief = keys * 16 * (8 + 64), made = keys * (16 * 400 + 32 * (16 + 64));
  expect_flops("model: {head_dim: 16, heads: 2, train_length: 64}\nlengths: [64]\nmethods: [sinusoidal]\n"
               "sources: [gaussian, constant]\nseeds: 2\nqueries: {last: 8}\nmetrics: [entropy]\n",
               (const double[]){brief + made, brief, brief, brief}, 4);
}

/* Heads that are made up beside a checkpoint's readings cost their rows, and no pass of the model. */
Test(estimate, made_heads__of_a_checkpoint__are_rows_alone) {
#define MADE_HEADS(rest)                                                                                               \
  "task: copy\nlengths: [64]\nseeds: 1\ncheckpoint: {method: rope, width: 16, blocks: 1, heads: 2, train: {steps: "    \
  "1, length: 64}}\n" rest
  static const char *const yaml[] = {MADE_HEADS("metrics: [loss]\n"),
                                     MADE_HEADS("metrics: [loss, entropy]\nsources: [gaussian]\nqueries: {last: 8}\n")};
  double own[2];
  for (size_t i = 0; i < 2; i++) {
    rs_experiment *experiment = experiment_of(yaml[i]);
    rs_cell *cells;
    rs_costs costs;
    size_t count;
    cr_assert_eq(rs_experiment_cells(experiment, &cells, &count, NULL), RS_OK);
    cr_assert_eq(count, 1u);
    cr_assert_eq(rs_costs_make(experiment, cells, count, NULL, &costs, NULL), RS_OK);
    own[i] = costs.items[0].own;
    rs_costs_clear(&costs);
    free(cells);
    rs_experiment_free(experiment);
  }
  cr_expect_eq(own[1] - own[0], 2.0 * 8 * 2 * 64 * 8, "%g", own[1] - own[0]); /* dims, heads, keys, queries */
}

/* The bytes that are alive while such a checkpoint is trained. */
static double training_bytes(size_t heads, size_t sequences) {
  char yaml[400];
  rs_cell *cells;
  rs_costs costs;
  size_t count;
  snprintf(yaml, sizeof yaml,
           "task: copy\nlengths: [64]\nseeds: 1\nmetrics: [loss]\ncheckpoint: {method: nope, width: 16, blocks: 1, "
           "heads: %zu, train: {steps: 1, length: 64, sequences: %zu}}\n",
           heads, sequences);
  rs_experiment *experiment = experiment_of(yaml);
  cr_assert_eq(rs_experiment_cells(experiment, &cells, &count, NULL), RS_OK);
  cr_assert_eq(rs_costs_make(experiment, cells, count, NULL, &costs, NULL), RS_OK);
  double bytes = costs.models[0].bytes;
  rs_costs_clear(&costs);
  free(cells);
  rs_experiment_free(experiment);
  return bytes;
}

/* Each sequence holds tokens, targets, parts and depths, of four bytes at most. A pass keeps a number of each head and
 * token, three times in all with what goes back; and keys and values of one head, and their gradients, five arrays. */
Test(estimate, memory__of_a_training__is_of_its_sequences_and_heads) {
  enum { LENGTH = 64 };
  double threads = (double)rs_engine_threads();
  cr_expect_eq(training_bytes(2, 24) - training_bytes(2, 8), 16.0 * LENGTH * 4 * 4);
  cr_expect_eq(training_bytes(4, 8) - training_bytes(2, 8), threads * 4 * LENGTH * (3 * (4 - 2) + 5 * (4 - 8)));
}

/* ---- rates ------------------------------------------------------------------------------------------------------- */

static void write_rate(const char *folder, const char *words) {
  char path[FOLDER_NAME + 64];
  snprintf(path, sizeof path, "%s/.ropescope", folder);
  cr_assert_eq(rs_make_directories(path, NULL), RS_OK);
  snprintf(path, sizeof path, "%s/.ropescope/rate", folder);
  cr_assert_eq(rs_file_write(path, words, strlen(words), NULL), RS_OK);
}

/* That of the folder itself, else of the longest run beside it, of an experiment of the same kind; none of a file that
 * says something else. */
Test(estimate, rate__of_the_folder_or_of_the_longest_run_beside_it) {
  char top[FOLDER_NAME], paths[5][FOLDER_NAME + 8], folder[RS_RATE_FOLDER], command[FOLDER_NAME + 8];
  static const char *const words[] = {"rows 1e10 flop 2 s 1 threads\n", "rows 9e10 flop 3 s 2 threads\n",
                                      "tables 1e12 flop 9 s 1 threads\n", "rows 1e10 flop 0 s 1 threads\n"};
  rs_experiment *experiment = experiment_of(TWO_HEADS "methods: rope\nmetrics: [entropy]\n");
  double threads = (double)rs_engine_threads();
  cr_assert(new_folder(top, "rates"));
  for (size_t i = 0; i < 5; i++) snprintf(paths[i], sizeof paths[i], "%s/%zu", top, i);
  cr_expect(isnan(rs_rate_find(experiment, paths[4], folder)));
  write_rate(paths[2], words[2]);
  write_rate(paths[3], words[3]);
  cr_expect(isnan(rs_rate_find(experiment, paths[4], folder)));
  write_rate(paths[0], words[0]);
  write_rate(paths[1], words[1]);
  cr_expect_float_eq(rs_rate_find(experiment, paths[4], folder), 1.5e10 * threads, 1);
  cr_expect_str_eq(folder, paths[1]);
  cr_expect_float_eq(rs_rate_find(experiment, paths[0], folder), 5e9 * threads, 1);
  cr_expect_str_eq(folder, paths[0]);
  snprintf(command, sizeof command, "rm -r %s", top);
  cr_expect_eq(system(command), 0);
  rs_experiment_free(experiment);
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

/* What a run reports: the share of the work that is done. */
typedef struct shares {
  double last, of_short; /* the last one, and that at which the last of the short cells was done */
  bool falls;
} shares;

static void note_share(void *context, size_t done, size_t cells, double share) {
  shares *s = context;
  s->falls |= share < s->last;
  s->last = share;
  if (done == 0) s->of_short = share; /* cells are done when their length is */
  cr_expect_eq(cells, 4);
}

/* Cells weigh what they take: the short ones, half of all, are a small part of the run; whose rate is that of all flops
 * that were planned. */
Test(estimate, progress__weighs_cells_by_their_flops) {
  char folder[FOLDER_NAME], command[FOLDER_NAME + 8];
  shares seen = {0};
  rs_run_summary summary;
  rs_err err = {0};
  rs_experiment *experiment = experiment_of("model: {head_dim: 128, heads: 2, train_length: 64}\nlengths: [64, 16384]\n"
                                            "methods: [rope, pi]\nsources: gaussian\nseeds: 1\nheads: 1\n"
                                            "queries: {last: 512}\nmetrics: [entropy]\n");
  cr_assert(new_folder(folder, "estimate"));
  const rs_run_options options = {.directory = folder, .progress = note_share, .context = &seen};
  cr_assert_eq(rs_run(experiment, &options, &summary, &err), RS_OK, "%s", err.message);
  cr_expect(!seen.falls && fabs(seen.last - 1) < 1e-9, "%g", seen.last);
  cr_expect(seen.of_short > 0 && seen.of_short < 0.01, "%g", seen.of_short);
  char where[RS_RATE_FOLDER];
  rs_plan plan;
  cr_assert_eq(rs_plan_make(experiment, NULL, &plan, NULL), RS_OK);
  double seconds = plan.flops / rs_rate_find(experiment, folder, where);
  cr_expect_str_eq(where, folder);
  cr_expect(seconds > 0 && seconds < 1.01 * summary.seconds, "%g of %g s", seconds, summary.seconds);
  snprintf(command, sizeof command, "rm -r %s", folder);
  cr_expect_eq(system(command), 0);
  rs_experiment_free(experiment);
}

/* A limit of the process's own is the least of what holds. */
Test(estimate, memory__is_what_the_limit_leaves) {
#ifdef __SANITIZE_ADDRESS__
  cr_skip_test("the sanitizer needs all addresses");
#endif
  double before = rs_memory_available();
  cr_expect(isnan(before) || before > 0);
  cr_assert_eq(setrlimit(RLIMIT_AS, &(struct rlimit){1 << 30, 1 << 30}), 0);
  double after = rs_memory_available();
  cr_expect(after > 0 && after < 1 << 30, "%g", after);
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* What a mask shows is counted as it is, whatever the formula: of blocks that differ in it alone, the flops differ by
 * two products of each pair. */
Test(estimate, passes__count_the_pairs_that_masks_show) {
  enum { HEADS = 3, DIMS = 4, WIDTH = 8 };
  static const rs_mask masks[] = {{.kind = RS_CAUSAL},
                                  {.kind = RS_WINDOW, .window = 7},
                                  {.kind = RS_WINDOW_SINKS, .window = 5, .sinks = 2},
                                  {.kind = RS_CHUNKS, .window = 6},
                                  {.kind = RS_BAND, .window = 4}};
  static const size_t lengths[] = {1, 2, 6, 7, 12, 40, 41};
  rs_block block = {.attention = {.heads = HEADS, .kv_heads = HEADS, .head_dim = DIMS}, .feed_forward = {.width = 16}};
  const rs_stack stack = {.blocks = &block, .count = 1};
  for (size_t i = 0; i < RS_COUNT(masks); i++)
    for (size_t l = 0; l < RS_COUNT(lengths); l++) {
      double tokens = (double)lengths[l], pairs = 0;
      block.mask = (rs_mask){.kind = RS_BIDIRECTIONAL};
      double all = rs_stack_flops(&stack, 1, WIDTH, tokens, 0);
      block.mask = masks[i];
      double seen = rs_stack_flops(&stack, 1, WIDTH, tokens, 0);
      for (size_t m = 0; m < lengths[l]; m++) {
        rs_range ranges[2];
        size_t count = rs_mask_ranges(&masks[i], lengths[l], m, ranges);
        for (size_t r = 0; r < count; r++) pairs += (double)(ranges[r].end - ranges[r].begin);
      }
      cr_expect_float_eq(all - seen, 4 * HEADS * DIMS * (tokens * tokens - pairs), 1e-6,
                         "mask %zu of %g tokens: %g pairs", i, tokens, pairs);
    }
}

/* 5 tokens that also read 7 of a source: matrices of queries and of what heads say at each token, of keys and values of
 * one head in three at each of the source, and two products of each pair. */
Test(estimate, passes__count_what_is_read_of_a_source) {
  rs_block block = {.attention = {.heads = 3, .kv_heads = 1, .head_dim = 4}, .feed_forward = {.width = 16}};
  const rs_stack stack = {.blocks = &block, .count = 1};
  double alone = rs_stack_flops(&stack, 1, 8, 5, 7);
  block.cross = true;
  cr_expect_eq(rs_stack_flops(&stack, 1, 8, 5, 7) - alone,
               2 * (5 * 8 * 12 + 5 * 12 * 8 + 7 * 8 * 4 + 7 * 8 * 4 + 5 * 7 * 12 + 5 * 7 * 12));
}

/* Numbers of the matrices of block 1's attention, as a model of this shape has them. */
static double attention_numbers(const small_model *m) {
  rs_transformer *t = small_model_create(m, RS_F32, 1);
  double sum = 0;
  for (size_t i = 0; i < t->tensor_count; i++)
    if (!t->tensors[i].vector && strstr(t->tensors[i].name, "layers.1.self_attn.") != NULL)
      sum += (double)(t->tensors[i].rows * t->tensors[i].columns);
  rs_transformer_free(t);
  return sum;
}

/* Each token meets each weight: narrow layers, whose heads and values are as large, differ by their weights alone. */
Test(estimate, passes__count_the_weights_of_narrow_layers) {
  enum { TOKENS = 13 };
  static const rs_latent latents[] = {{.kv_rank = 3, .turned = 2, .value_dim = 4},
                                      {.kv_rank = 3, .q_rank = 5, .turned = 2, .value_dim = 4},
                                      {.kv_rank = 7, .q_rank = 1, .turned = 4, .value_dim = 4}};
  small_model m;
  small_model_fill(&m, RS_DECODER);
  const rs_stack stack = {.blocks = &m.blocks[1], .count = 1};
  double plain = rs_stack_flops(&stack, 1, (double)m.shape.width, TOKENS, 0), numbers = attention_numbers(&m);
  for (size_t i = 0; i < RS_COUNT(latents); i++) {
    m.blocks[1].attention.latent = latents[i];
    double narrow = rs_stack_flops(&stack, 1, (double)m.shape.width, TOKENS, 0);
    double wanted = 2 * TOKENS * (attention_numbers(&m) - numbers);
    cr_expect_float_eq(narrow - plain, wanted, 1e-9, "case %zu: %g, not %g", i, narrow - plain, wanted);
  }
  small_model_clear(&m);
}

/* Of cut contexts every window is read, and the whole once more by the model as it was trained. */
Test(estimate, plan__counts_cut_contexts) {
#define CUT_PLAN(metrics)                                                                                              \
  "task: copy\nlengths: [64]\nmetrics: [" metrics "]\n"                                                                \
  "checkpoint: {method: rope, width: 16, blocks: 1, heads: 2, train: {steps: 1, length: 64}}\n"
  static const struct {
    const char *yaml;
    double passes;
  } cases[] = {{CUT_PLAN("loss"), 1},
               {CUT_PLAN("{name: long_perplexity, context: 16, step: 8, keys: method}"), 1 + 7 * 23.0 / 64},
               {CUT_PLAN("{name: long_perplexity, context: 16, step: 8}"), 2 + 7 * 23.0 / 64},
               {CUT_PLAN("{name: long_perplexity, context: 64, step: 8, keys: method}"), 1 + 1},
               {CUT_PLAN("{name: long_perplexity, context: 65, step: 8, keys: method}"), 1},
               {CUT_PLAN("{name: long_perplexity, context: 65, step: 8}"), 2}};
  double one = 0;
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_experiment *experiment = experiment_of(cases[i].yaml);
    rs_plan plan;
    cr_assert_eq(rs_plan_make(experiment, NULL, &plan, NULL), RS_OK);
    if (i == 0) one = plan.reading_flops;
    cr_expect_float_eq(plan.reading_flops / one, cases[i].passes, 1e-12, "case %zu: %g", i, plan.reading_flops / one);
    rs_experiment_free(experiment);
  }
}

/* What is tuned from one training costs that training once, and so stays in one shard: each seed's, of three. */
Test(estimate, shards__tunings_of_one_training_stay_together) {
  rs_experiment *experiment =
      experiment_of("task: {name: copy, symbols: 3}\nsequences: 4\nlengths: [4, 6]\nseeds: 3\nmetrics: [loss]\n"
                    "checkpoint: {method: rope, width: 8, blocks: 1, heads: 2, train: {steps: 500, length: 4, "
                    "sequences: 2}, tune: {steps: [1, 3], length: 4, sequences: 2}}\n");
  rs_cell *cells;
  size_t count, of_cell[12];
  double costs[3];
  cr_assert_eq(rs_experiment_cells(experiment, &cells, &count, NULL), RS_OK);
  cr_assert_eq(count, RS_COUNT(of_cell));
  cr_assert_eq(rs_shards_assign(experiment, RS_COUNT(costs), of_cell, count, costs, NULL), RS_OK);
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < i; j++)
      cr_expect_eq(of_cell[i] == of_cell[j], cells[i].axis[RS_BY_SEED] == cells[j].axis[RS_BY_SEED],
                   "cells %zu and %zu", i, j);
  free(cells);
  rs_experiment_free(experiment);
}
