/* test_table_intervals.c: small tables of paired differences: intervals, who is marked as best, and who is not. */
#include "../fixtures/heap.h"
#include "app/app.h"
#include "interval_fixture.h"

#include "metrics/metrics.h"

TestSuite(table_intervals, .init = make_folder, .fini = remove_folder);

/* The table of the folder's summary: what it says, to be freed. */
static char *table_of(const char *const *questions, size_t count, const char *where, rs_pivot_form form) {
  const rs_pivot_wanted wanted = {"method", questions, count, where, 0, form, NULL};
  rs_text text = {0};
  rs_err err = {0};
  cr_assert_eq(rs_pivot(path_in("summary.csv"), &wanted, &text, &err), RS_OK, "%s", err.message);
  return text.data;
}

static void table_says(const char *question, const char *where, rs_pivot_form form, const char *wanted) {
  char *text = table_of(&question, 1, where, form);
  cr_expect_str_eq(text, wanted, "%s", text);
  free(text);
}

#define AT_1K "1k: loss_difference_nats where length_tokens=1k"
#define MARKED "\n*: apart from all others of its column (95 %, paired by block)\n"

/* The differences of pi and yarn, block by block, are .1, .2, .1, .1: always above 0, though both spread widely. */
static const trial paired[] = {
    {"window", 1024, 1, 0, 0, {0, 0, 0, 0}},
    {"pi", 1024, 1, -2.25, 3.5, {-3, 4.2, 1.1, .1}},
    {"yarn", 1024, 1, -2.5, 3.25, {-3.1, 4, 1, 0}},
    {"ntk", 1024, 1, 4.5, 5.5, {5, 5, 5.5, 4.5}},
};

Test(table_intervals, one_seed__has_the_interval_of_its_row) {
  put_trials(paired, RS_COUNT(paired), NULL);
  table_says(AT_1K, "", RS_PIVOT_PLAIN,
             "method                  1k\n"
             "window            0 [0, 0]\n"
             "pi        0.6 [-2.25, 3.5]\n"
             "yarn    0.475 [-2.5, 3.25]\n"
             "ntk           5 [4.5, 5.5]\n"
             "\nwindow, pi, yarn: not apart at 1k (95 %)\n");
}

Test(table_intervals, best__is_marked_where_pairs_of_blocks_are_apart) {
  put_trials(paired, RS_COUNT(paired), NULL);
  table_says(AT_1K, "method!=window", RS_PIVOT_PLAIN,
             "method                    1k\n"
             "window                     -\n"
             "pi          0.6 [-2.25, 3.5]\n"
             "yarn    * 0.475 [-2.5, 3.25]\n"
             "ntk             5 [4.5, 5.5]\n" MARKED);
  table_says(AT_1K, "method!=window", RS_PIVOT_MARKDOWN,
             "| method | 1k |\n|---|---|\n| window | - |\n| pi | 0.6 [-2.25, 3.5] |\n"
             "| yarn | **0.475 [-2.5, 3.25]** |\n| ntk | 5 [4.5, 5.5] |\n"
             "\nbold: apart from all others of its column (95 %, paired by block)\n");
}

Test(table_intervals, best__where_more_is_better__is_the_largest) {
  static const oddity higher = {.higher = true};
  put_trials(paired, RS_COUNT(paired), &higher);
  char *text = table_of((const char *const[]){AT_1K}, 1, "", RS_PIVOT_PLAIN);
  cr_expect_not_null(strstr(text, "ntk         * 5 [4.5, 5.5]\n"), "%s", text);
  free(text);
}

/* Percentiles of a few blocks are the blocks themselves, and seven part nobody. */
Test(table_intervals, few_blocks__part_nobody) {
  static const oddity few = {.few = true};
  put_trials(paired, RS_COUNT(paired), &few);
  char *text = table_of((const char *const[]){AT_1K}, 1, "method!=window", RS_PIVOT_PLAIN);
  cr_expect_not_null(strstr(text, "\npi, yarn, ntk: not apart at 1k (95 %)\n"), "%s", text);
  cr_expect_null(strchr(text, '*'), "%s", text);
  free(text);
}

/* A baseline competes: where it is apart from all, it is the one that is marked. */
Test(table_intervals, baseline__that_is_best__is_marked) {
  static const trial rows[] = {{"window", 1024, 1, 0, 0, {0, 0, 0, 0}},
                               {"unchanged", 1024, 1, 1, 2, {1, 2, 1, 2}},
                               {"yarn", 1024, 1, .1, .3, {.1, .3, .2, .2}}};
  put_trials(rows, RS_COUNT(rows), NULL);
  table_says(AT_1K, "", RS_PIVOT_PLAIN,
             "method                 1k\n"
             "window         * 0 [0, 0]\n"
             "unchanged      1.5 [1, 2]\n"
             "yarn       0.2 [0.1, 0.3]\n" MARKED);
}

/* Whoever is alone has won nothing, and lengths do not compete with each other. */
Test(table_intervals, best__of_one_or_of_lengths__is_not_marked) {
  static const trial rows[] = {{"yarn", 1024, 1, .1, .3, {.1, .3, .2, .2}}, {"yarn", 2048, 1, 1, 2, {1, 2, 1, 2}}};
  put_trials(rows, RS_COUNT(rows), NULL);
  table_says(AT_1K, "", RS_PIVOT_PLAIN,
             "method              1k\nyarn    0.2 [0.1, 0.3]\n\nyarn: not apart at 1k (95 %)\n");
  const char *question = "loss_difference_nats";
  const rs_pivot_wanted wanted = {"length_tokens", &question, 1, "", 0, RS_PIVOT_PLAIN, NULL};
  rs_text text = {0};
  rs_err err = {0};
  cr_assert_eq(rs_pivot(path_in("summary.csv"), &wanted, &text, &err), RS_OK, "%s", err.message);
  cr_expect_str_eq(text.data, "length_tokens  loss_difference_nats\n"
                              "1024                 0.2 [0.1, 0.3]\n"
                              "2048                     1.5 [1, 2]\n");
  rs_text_clear(&text);
  table_says(question, "", RS_PIVOT_PLAIN,
             "method  loss_difference_nats\n"
             "yarn                    0.85\n"
             "\nloss_difference_nats: no interval, as rows of a line differ in length_tokens\n");
}

/* Without blocks, or with others, two methods cannot be compared, however far apart their own intervals are. */
Test(table_intervals, methods_of_other_blocks__are_not_told_apart) {
  static const oddity cut = {.cut = "ntk"}, numbered = {.numbered = "ntk"}, blockless = {.blockless = true};
  static const oddity *const odd[] = {&cut, &numbered};
  for (size_t i = 0; i < 2; i++) {
    put_trials(paired, RS_COUNT(paired), odd[i]);
    char *text = table_of((const char *const[]){AT_1K}, 1, "method!=window", RS_PIVOT_PLAIN);
    cr_expect_not_null(strstr(text, "\nyarn, ntk: not apart at 1k (95 %)\n"), "%s", text);
    cr_expect_null(strchr(text, '*'), "%s", text);
    free(text);
  }
  put_trials(paired, RS_COUNT(paired), &blockless);
  char *text = table_of((const char *const[]){AT_1K}, 1, "", RS_PIVOT_PLAIN);
  cr_expect_not_null(strstr(text, "5 [4.5, 5.5]\n\n1k: no blocks to compare by, so nobody is marked\n"), "%s", text);
  free(text);
}

/* Other columns are as they were: no interval, no mark; and so are differences of rows, and folders without a manifest.
 */
Test(table_intervals, columns_without_interval__are_plain) {
  put_trials(paired, RS_COUNT(paired), NULL);
  table_says("loss_nats", "", RS_PIVOT_PLAIN,
             "method  loss_nats\nwindow          2\npi            2.6\nyarn         2.48\nntk             7\n");
  table_says("max(loss_difference_nats)", "method=pi", RS_PIVOT_PLAIN,
             "method  max(loss_difference_nats)\nwindow                          -\npi                            0.6\n"
             "yarn                            -\nntk                             -\n");
  cr_assert_eq(remove(path_in("manifest.json")), 0);
  table_says(AT_1K, "", RS_PIVOT_PLAIN, "method     1k\nwindow      0\npi        0.6\nyarn    0.475\nntk         5\n");
}

Test(table_intervals, several_columns__are_judged_one_by_one) {
  static const trial rows[] = {{"pi", 512, 1, .1, .3, {.1, .3, .2, .2}},
                               {"yarn", 512, 1, 1, 2, {1, 2, 1, 2}},
                               {"pi", 1024, 1, -.1, .3, {-1, 3, .2, .2}},
                               {"yarn", 1024, 1, .1, .2, {.1, .1, .1, .1}}};
  put_trials(rows, RS_COUNT(rows), NULL);
  static const char *const questions[] = {"512: loss_difference_nats where length_tokens=512", AT_1K};
  char *text = table_of(questions, 2, "", RS_PIVOT_MARKDOWN);
  cr_expect_str_eq(text,
                   "| method | 512 | 1k |\n|---|---|---|\n"
                   "| pi | **0.2 [0.1, 0.3]** | 0.6 [-0.1, 0.3] |\n"
                   "| yarn | 1.5 [1, 2] | 0.1 [0.1, 0.2] |\n"
                   "\npi, yarn: not apart at 1k (95 %)\n"
                   "\nbold: apart from all others of its column (95 %, paired by block)\n",
                   "%s", text);
  free(text);
}

/* ---- several seeds ----------------------------------------------------------------------------------------------- */

static const trial seeds[] = {
    {"yarn", 1024, 1, .3, .31, {.2, .5, .3, .4}},
    {"yarn", 1024, 2, .6, .61, {.5, .9, .7, .6}},
    {"pi", 1024, 1, .9, 1.2, {1, 1.1, 1, 1}},
    {"pi", 1024, 2, .9, 1.2, {1.4, 1.1, 1.3, 1.2}},
};

static double member(const rs_node *cell, const char *key) {
  double number;
  return rs_number_read(rs_node_get(cell, key)->text, &number) ? number : NAN;
}

Test(table_intervals, several_seeds__have_the_interval_of_seeds_and_blocks) {
  put_trials(seeds, RS_COUNT(seeds), NULL);
  char *text = table_of((const char *const[]){AT_1K}, 1, "", RS_PIVOT_JSON);
  rs_tree *tree = NULL;
  cr_assert_eq(rs_json_read(text, strlen(text), "table", &tree, NULL), RS_OK, "%s", text);
  for (size_t m = 0; m < 2; m++) {
    double values[2 * BLOCKS];
    rs_interval want;
    for (size_t s = 0; s < 2; s++) copy_blocks(&seeds[2 * m + s], &values[s * BLOCKS]);
    cr_assert_eq(rs_bootstrap_mean(values, 2, BLOCKS, &want, NULL), RS_OK);
    const rs_node *cell = rs_node_get(&tree->root.items[m], "1k");
    cr_expect_float_eq(member(cell, "value"), want.mean, 1e-12);
    cr_expect_float_eq(member(cell, "low"), want.low, 1e-12);
    cr_expect_float_eq(member(cell, "high"), want.high, 1e-12);
    cr_expect_str_eq(rs_node_get(cell, "winner")->text, m == 0 ? "true" : "false");
    cr_expect_str_eq(rs_node_get(cell, "not_apart")->text, "false");
  }
  rs_tree_free(tree);
  free(text);
}

/* Numbers less those of a line, with the interval of the differences block by block: it is no difference of two
 * intervals. What has no interval has a difference all the same. */
Test(table_intervals, less_a_line__has_the_interval_of_paired_differences) {
  const char *questions[] = {AT_1K, "loss_nats"};
  rs_pivot_wanted wanted = {
      .lines = "method", .questions = questions, .count = 2, .where = "", .less = "yarn", .form = RS_PIVOT_JSON};
  rs_text text = {0};
  rs_tree *tree = NULL;
  put_trials(seeds, RS_COUNT(seeds), NULL);
  cr_assert_eq(rs_pivot(path_in("summary.csv"), &wanted, &text, NULL), RS_OK);
  cr_assert_eq(rs_json_read(text.data, text.length, "table", &tree, NULL), RS_OK, "%s", text.data);
  for (size_t m = 0; m < 2; m++) {
    double values[2 * BLOCKS], less[2 * BLOCKS];
    rs_interval want;
    for (size_t s = 0; s < 2; s++) {
      copy_blocks(&seeds[2 * m + s], &values[s * BLOCKS]);
      copy_blocks(&seeds[s], &less[s * BLOCKS]);
    }
    for (size_t i = 0; i < 2 * BLOCKS; i++) values[i] -= less[i];
    cr_assert_eq(rs_bootstrap_mean(values, 2, BLOCKS, &want, NULL), RS_OK);
    const rs_node *cell = rs_node_get(&tree->root.items[m], "1k");
    cr_expect_float_eq(member(cell, "value"), want.mean, 1e-12);
    cr_expect_float_eq(member(cell, "low"), want.low, 1e-12, "%g", member(cell, "low"));
    cr_expect_float_eq(member(cell, "high"), want.high, 1e-12);
    cr_expect_str_eq(rs_node_get(cell, "winner")->text, m == 0 ? "true" : "false");
    if (m == 0) cr_expect_str_eq(rs_node_get(&tree->root.items[m], "loss_nats")->text, "0");
  }
  rs_tree_free(tree);
  rs_text_clear(&text);
  put_trials(paired, RS_COUNT(paired), NULL);
  wanted = (rs_pivot_wanted){.lines = "method", .questions = questions, .count = 1, .where = "", .less = "yarn"};
  cr_assert_eq(rs_pivot(path_in("summary.csv"), &wanted, &text, NULL), RS_OK);
  cr_expect_not_null(strstr(text.data, "yarn               0 [0, 0]\n"), "%s", text.data);
  cr_expect_not_null(strstr(text.data, "pi       0.125 [0.1, 0.163]\n"), "%s", text.data);
  rs_text_clear(&text);
  wanted.count = 2;
  cr_assert_eq(rs_pivot(path_in("summary.csv"), &wanted, &text, NULL), RS_OK);
  cr_expect_not_null(
      strstr(text.data, "\nloss_nats: no intervals, as no blocks of sequences stand beside these rows\n"), "%s",
      text.data);
  cr_expect_null(strstr(text.data, "1k: no intervals"), "%s", text.data);
  rs_text_clear(&text);
  rs_err err = {0};
  wanted.less = "yarm";
  cr_assert_eq(rs_pivot(path_in("summary.csv"), &wanted, &text, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "less: there is no line yarm (lines are words of method)");
  rs_text_clear(&text);
}

/* Blocks alike and seeds that disagree: a bootstrap over blocks alone would see two that are apart. */
Test(table_intervals, seeds_that_disagree__leave_methods_together) {
  static const trial rows[] = {{"yarn", 1024, 1, 0, 0, {1, 1, 1, 1}},
                               {"yarn", 1024, 2, 0, 0, {3, 3, 3, 3}},
                               {"pi", 1024, 1, 0, 0, {2, 2, 2, 2}},
                               {"pi", 1024, 2, 0, 0, {2.5, 2.5, 2.5, 2.5}}};
  put_trials(rows, RS_COUNT(rows), NULL);
  char *text = table_of((const char *const[]){AT_1K}, 1, "", RS_PIVOT_JSON);
  cr_expect_eq(occurrences(text, "\"not_apart\": true"), 2, "%s", text);
  cr_expect_eq(occurrences(text, "\"winner\": true"), 0);
  free(text);
  trial other[RS_COUNT(rows)];
  memcpy(other, rows, sizeof other);
  memcpy(other[1].blocks, rows[0].blocks, sizeof rows[0].blocks);
  put_trials(other, RS_COUNT(other), NULL);
  text = table_of((const char *const[]){AT_1K}, 1, "", RS_PIVOT_JSON);
  cr_expect_eq(occurrences(text, "\"winner\": true"), 1, "both seeds agree: %s", text);
  free(text);
  other[1].seed = 3; /* other seeds than pi's are no pairs */
  put_trials(other, RS_COUNT(other), NULL);
  text = table_of((const char *const[]){AT_1K}, 1, "", RS_PIVOT_JSON);
  cr_expect_eq(occurrences(text, "\"winner\": true"), 0, "%s", text);
  free(text);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

Test(table_intervals, each_failing_allocation__is_survived_without_leak) {
  const char *question = AT_1K;
  const rs_pivot_wanted wanted = {"method", &question, 1, "", 0, RS_PIVOT_PLAIN, NULL};
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  put_trials(seeds, RS_COUNT(seeds), NULL);
  refused = true;
  for (long n = 0; refused; n++) {
    rs_text text = {0};
    rs_err err = {0};
    long before = blocks;
    refused = false;
    allocations = n;
    rs_status status = rs_pivot(path_in("summary.csv"), &wanted, &text, &err);
    allocations = -1;
    rs_text_clear(&text);
    cr_assert_eq(status, refused ? RS_MEMORY : RS_OK, "allocation %ld: %s", n, err.message);
    cr_assert_eq(blocks, before, "allocation %ld: %ld blocks leaked", n, blocks - before);
    cr_assert_lt(n, 20000);
  }
}
