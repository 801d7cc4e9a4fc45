/* test_claims_memory.c: each allocation of selecting, joining and measuring fails in turn. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/app/claims/claims.h"
#include "../fixtures/heap.h"
#include "../fixtures/scratch.h"

static const char run[] = "method,seed,y,x\na,1,1,3\na,2,2,3\nb,1,4,5\nb,2,5,5\nc,1,0,9\nc,2,3,9\n";
static const char *column;

static rs_status use_select(rs_err *err) {
  rs_table *table = NULL;
  double value;
  rs_status status = rs_csv_read(run, sizeof run - 1, "run", &table, err);
  if (status == RS_OK) status = rs_table_select(table, column, "seed>0", NULL, &value, err);
  rs_table_free(table);
  return status;
}

static rs_status use_facts(rs_err *err) {
  rs_table *table = NULL;
  rs_status status = rs_csv_read(run, sizeof run - 1, "run", &table, err);
  if (status == RS_OK) status = rs_facts_join("expected.csv", "deep/summary", &table, err);
  if (status == RS_OK) cr_assert_eq(table->columns, 5);
  rs_table_free(table);
  return status;
}

static rs_experiment *experiment;

/* Rows of a verdict each, read and noted with the weights of two models. */
static rs_status use_measure(rs_err *err) {
  rs_claims *claims = NULL;
  rs_status status = rs_claims_read("expected.csv", &claims, err);
  if (status == RS_OK) status = rs_claims_measure(claims, "config", 6, experiment, err);
  if (status == RS_OK) cr_assert_eq(claims->items[0].most_weights, 2608);
  rs_claims_free(claims);
  return status;
}

/* Fails the n-th allocation, or all from the n-th on, for each n. */
static void survives(rs_status (*use)(rs_err *), const char *name) {
  for (int all = 0; all < 2; all++) {
    refused = true;
    for (long n = 0; refused; n++) {
      rs_err err = {0};
      long before = blocks;
      refused = false;
      refuse_all = all;
      allocations = n;
      rs_status status = use(&err);
      allocations = -1;
      cr_assert_eq(blocks, before, "%s, allocation %ld: %ld blocks leaked", name, n, blocks - before);
      cr_assert_eq(status, refused ? RS_MEMORY : RS_OK, "%s, allocation %ld: %s", name, n, err.message);
      cr_assert_lt(n, 1000);
    }
  }
}

Test(claims_memory, each_failing_allocation__is_survived_without_leak) {
  static const char *const columns[] = {"mean(y)", "spearman(y; x)", "spearman(y; x; method)",
                                        "spearman_p(y; x; method)"};
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(columns); i++) {
    column = columns[i];
    survives(use_select, column);
  }
  static const char facts[] = "method,printed\nb,24\nc,\"7, 8\"\n";
  cr_assert_eq(rs_file_write("deep.csv", facts, sizeof facts - 1, NULL), RS_OK);
  survives(use_facts, "facts");
}

Test(claims_memory, weights_of_models__are_counted_without_leak) {
  static const char config[] =
      "checkpoint: {method: [rope, learned], blocks: 1, width: 16, heads: 1, feed_forward: 16, "
      "train: {steps: 1, length: 8, sequences: 1}}\ntask: copy\nlengths: [8]\nseeds: [1, 2]\n"
      "metrics: [loss]\n";
  static const char rows[] = "key,file,column,where,expected,here,tolerance,origin,verdict,source,note\n"
                             "a,summary,loss_nats,,<0,3,,stated,does_not_appear,words,\n";
  rs_problems problems = {0};
  rs_err err = {0};
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  enter_scratch();
  cr_assert_eq(rs_file_write("expected.csv", rows, sizeof rows - 1, NULL), RS_OK);
  cr_assert_eq(rs_config_read(config, "config", (rs_config_edits){0}, &experiment, &problems, &err), RS_OK, "%s",
               err.message);
  survives(use_measure, "measure");
  rs_experiment_free(experiment);
  rs_problems_clear(&problems);
}
