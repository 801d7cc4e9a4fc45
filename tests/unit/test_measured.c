/* test_measured.c: settings measured on a model: the experiment that is made, what its results come to, and the advice
 * that follows. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/runs.h"
#include "advice/advice.h"

enum { LENGTH = 1024, READS = 4, TARGETS = 64 };

TestSuite(measured, .init = enter_folder, .fini = leave_folder);

static char checkpoint[4096], ids[sizeof checkpoint + 8];

static rs_measuring stories(const char *methods) {
  snprintf(checkpoint, sizeof checkpoint, "%s/../experiments/data/stories260K", getenv("ROPESCOPE_TESTS"));
  snprintf(ids, sizeof ids, "%s/ids.npy", checkpoint);
  return (rs_measuring){
      .checkpoint = checkpoint, .text = ids, .methods = methods, .length = LENGTH, .reads = READS, .targets = TARGETS};
}

static rs_experiment *make(const rs_measuring *in) {
  rs_experiment *experiment;
  rs_problems problems = {0};
  rs_err err = {0};
  cr_assert_eq(rs_measure_make(in, &experiment, &problems, &err), RS_OK, "%s: %s", err.message,
               rs_text_string(&problems.text));
  return experiment;
}

static void measure(const rs_experiment *experiment, const char *directory, rs_measured *measured) {
  const rs_run_options options = {.directory = directory, .resume = true};
  rs_run_summary summary;
  rs_err err = {0};
  cr_assert_eq(rs_run(experiment, &options, &summary, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_measured_read(experiment, directory, measured, &err), RS_OK, "%s", err.message);
}

static const rs_measured_way *way_of(const rs_measured *m, const char *label) {
  for (size_t i = 0; i < m->count; i++)
    if (strcmp(m->items[i].label, label) == 0) return &m->items[i];
  cr_assert_fail("no way is called %s", label);
  return NULL;
}

/* ---- the experiment ---------------------------------------------------------------------------------------------- */

Test(measured, what_is_made__has_the_usual_ways_and_both_baselines) {
  static const char *const wanted[] = {"dynamic_ntk", "yarn", "llama3", "self_extend", "rerope",
                                       "dual_chunk",  "ntk",  "pi",     "window",      "unchanged"};
  rs_measuring in = stories(NULL);
  in.length = 1536;
  in.reads = in.targets = 0;
  rs_experiment *experiment = make(&in);
  cr_assert_eq(experiment->methods.count, RS_COUNT(wanted));
  for (size_t i = 0; i < RS_COUNT(wanted); i++) {
    const rs_variant *variant = &experiment->methods.items[i];
    rs_recipe recipe;
    cr_expect_str_eq(variant->label, wanted[i]);
    cr_assert_eq(rs_experiment_recipe(experiment, 0, i, &recipe, NULL), RS_OK);
    if (strcmp(wanted[i], "yarn") == 0 || strcmp(wanted[i], "pi") == 0)
      cr_expect_eq(rs_setting(&recipe.settings, "factor")->number, 3);
    if (strcmp(wanted[i], "dynamic_ntk") == 0) cr_expect_eq(rs_setting(&recipe.settings, "factor")->number, 2);
    rs_recipe_clear(&recipe);
  }
  cr_expect(experiment->sequences == 4 && experiment->targets.tokens == 512 && experiment->targets.longest == 1536);
  cr_expect(experiment->length_count == 1 && experiment->lengths[0] == 1536);
  cr_expect_str_eq(experiment->name, "solve-stories260K-1536");
  rs_experiment_free(experiment);
}

/* A model that publishes a recipe is unchanged with it, and plain RoPE is one of the ways. */
Test(measured, a_published_recipe__is_the_unchanged_model) {
  char words[8192];
  rs_measuring in = stories(NULL);
  rs_err err = {0};
  char *data;
  size_t length;
  snprintf(words, sizeof words, "%s/config.json", checkpoint);
  cr_assert_eq(rs_file_read(words, 1 << 20, &data, &length, &err), RS_OK);
  snprintf(words, sizeof words, "%.*s, \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 4.0}}",
           (int)(strrchr(data, '}') - data), data);
  free(data);
  cr_assert_eq(rs_make_directories("scaled", &err), RS_OK);
  cr_assert_eq(rs_file_write("scaled/config.json", words, strlen(words), &err), RS_OK);
  snprintf(words, sizeof words, "%s/model.safetensors", checkpoint);
  cr_assert_eq(rs_file_read(words, 1 << 24, &data, &length, &err), RS_OK);
  cr_assert_eq(rs_file_write("scaled/model.safetensors", data, length, &err), RS_OK);
  free(data);
  in.checkpoint = "scaled";
  in.reads = 1;
  rs_experiment *experiment = make(&in);
  cr_expect_str_eq(experiment->methods.items[0].label, "rope");
  rs_measured measured;
  measure(experiment, "o", &measured);
  const rs_measured_way *unchanged = way_of(&measured, "unchanged"), *pi = way_of(&measured, "pi");
  cr_expect(unchanged->unchanged && !pi->unchanged);
  cr_expect_str_eq(unchanged->recipe.method->name, "pi");
  cr_expect_eq(way_of(&measured, "rope")->unchanged, false);
  cr_expect(unchanged->loss != way_of(&measured, "rope")->loss);
  rs_measured_clear(&measured);
  rs_experiment_free(experiment);
}

Test(measured, a_method_that_is_the_published_one__stands_for_it) {
  rs_measuring in = stories("[rope, rerope]");
  in.reads = 2;
  rs_experiment *experiment = make(&in);
  rs_measured measured;
  measure(experiment, "o", &measured);
  cr_assert_eq(measured.count, 3);
  cr_expect(way_of(&measured, "rope")->unchanged && !way_of(&measured, "rope")->window);
  cr_expect(way_of(&measured, "window")->window && !way_of(&measured, "window")->unchanged);
  rs_measured_clear(&measured);
  rs_experiment_free(experiment);
}

/* ---- what came out ----------------------------------------------------------------------------------------------- */

/* Quantiles of Student's distribution, .975, by tables. */
static bool is_apart(const double *differences, size_t reads, const rs_interval *interval) {
  static const double quantiles[] = {[2] = 12.7062, [3] = 4.30265, [4] = 3.18245};
  double mean = 0, squares = 0;
  for (size_t b = 0; b < reads; b++) mean += differences[b] / (double)reads;
  for (size_t b = 0; b < reads; b++) squares += (differences[b] - mean) * (differences[b] - mean);
  double error = sqrt(squares / (double)(reads - 1) / (double)reads);
  return fabs(mean) > quantiles[reads] * error && (interval->low > 0 || interval->high < 0);
}

static void expect_paired(const rs_measured_way *way, const rs_measured_way *other, size_t reads,
                          const rs_interval *interval, bool apart) {
  double differences[READS], mean = 0;
  for (size_t b = 0; b < reads; b++) {
    differences[b] = way->reads[b] - other->reads[b];
    mean += differences[b] / (double)reads;
  }
  cr_expect_float_eq(interval->mean, mean, 1e-12, "%s less %s", way->label, other->label);
  cr_expect(way == other ? interval->low == 0 && interval->high == 0
                         : interval->low <= interval->mean && interval->mean <= interval->high,
            "%s less %s", way->label, other->label);
  cr_expect_eq(apart, is_apart(differences, reads, interval), "%s less %s", way->label, other->label);
}

Test(measured, results__are_paired_read_by_read) {
  rs_measuring in = stories("[{name: ntk, factor: 2}, rerope, {name: pi, factor: 2}, self_extend]");
  rs_experiment *experiment = make(&in);
  rs_measured m;
  measure(experiment, "o", &m);
  const rs_measured_way *window = way_of(&m, "window");
  cr_assert(m.count == 6 && m.reads == READS && m.window_tokens == 512);
  bool any = false;
  for (size_t i = 0; i < m.count; i++) {
    double mean = 0;
    for (size_t b = 0; b < READS; b++) mean += m.items[i].reads[b] / READS;
    cr_expect_float_eq(m.items[i].loss, mean, 1e-12);
    cr_expect(i == 0 || m.items[i - 1].loss <= m.items[i].loss, "the least loss first");
    cr_expect_eq(m.items[i].tokens, m.items[i].window ? 512 : LENGTH);
    expect_paired(&m.items[i], window, READS, &m.items[i].difference, m.items[i].apart);
    expect_paired(&m.items[i], &m.items[m.best], READS, &m.items[i].above, m.items[i].behind);
    any = any || m.items[i].apart;
  }
  cr_expect_eq(m.best, 0, "none is apart below the window");
  cr_expect(any, "no way is apart: the case decides nothing");
  rs_measured_clear(&m);
  rs_experiment_free(experiment);
}

/* Losses of reads as somebody wrote them, in a folder without a manifest. */
static void write_results(const char *const ways[], const double losses[][READS], size_t count) {
  rs_text summary = {0}, curve = {0};
  rs_err err = {0};
  rs_text_puts(&summary, "method,loss_nats,loss_difference_nats,loss_difference_nats_low,loss_difference_nats_high,"
                         "message\n");
  rs_text_puts(&curve, "method,block,loss_nats,loss_difference_nats\n");
  for (size_t w = 0; w < count; w++) {
    double mean = 0;
    for (size_t b = 0; b < READS; b++) mean += losses[w][b] / READS;
    if (isnan(mean))
      rs_text_printf(&summary, "%s,,,,,no place\n", ways[w]);
    else
      rs_text_printf(&summary, "%s,%.17g,7,6,8,\n", ways[w], mean);
    for (size_t b = 0; b < READS && !isnan(mean); b++)
      rs_text_printf(&curve, "%s,%zu,%.17g,7\n", ways[w], b, losses[w][b]);
  }
  cr_assert_eq(rs_make_directories("made", &err), RS_OK);
  cr_assert_eq(rs_file_write("made/summary.csv", summary.data, summary.length, &err), RS_OK);
  cr_assert_eq(rs_file_write("made/loss_difference.csv", curve.data, curve.length, &err), RS_OK);
  rs_text_clear(&summary);
  rs_text_clear(&curve);
}

/* The best is the first that is apart below the window, and not one whose smaller loss is chance. By hand: of
 * differences of -.5 the error is .058, and Student's 3.18 of them .18; of -.2, -.2, -.2, -3.2 it is .75, though none
 * is above 0; of .02 it is .0074, of which 2.35 (.95) would be .017, and 3.18 are .023. */
Test(measured, the_best__is_apart_below_the_window) {
  static const char *const ways[] = {"above", "surely", "perhaps", "fails", "unchanged", "window"},
                           *const order[] = {"perhaps", "surely", "window", "above", "unchanged", "fails"};
  static const bool apart[] = {false, true, false, false, true, false},
                    behind[] = {false, false, true, true, true, false};
  static const double losses[][READS] = {{2.005, 3.01, 2.53, 1.535}, {1.4, 2.6, 1.9, 1.1}, {1.8, 2.8, 2.3, -1.7},
                                         {NAN, NAN, NAN, NAN},       {4, 5, 4.5, 3.25},    {2, 3, 2.5, 1.5}};
  rs_measuring in =
      stories("[{name: pi, factor: 2, label: above}, {name: ntk, factor: 2, label: surely}, {name: rerope, "
              "label: perhaps}, {name: self_extend, label: fails}]");
  rs_experiment *experiment = make(&in);
  rs_measured m;
  rs_err err = {0};
  write_results(ways, losses, RS_COUNT(ways));
  cr_assert_eq(rs_measured_read(experiment, "made", &m, &err), RS_OK, "%s", err.message);
  cr_assert_eq(m.count, RS_COUNT(order));
  cr_expect_eq(m.best, 1);
  for (size_t i = 0; i < RS_COUNT(order); i++) {
    cr_expect_str_eq(m.items[i].label, order[i]);
    cr_expect_eq(m.items[i].apart, apart[i], "%s", order[i]);
    cr_expect_eq(m.items[i].behind, behind[i], "%s", order[i]);
  }
  cr_expect_str_eq(m.items[5].why, "no place");
  cr_expect(isnan(m.items[5].loss) && isnan(m.items[5].above.mean));
  cr_expect(m.items[0].difference.mean == 7 && m.items[0].difference.low == 6 && m.items[0].difference.high == 8);
  cr_expect_float_eq(m.items[2].above.mean, 0.5, 1e-12);
  cr_expect_str_eq(m.items[1].recipe.method->name, "ntk");
  rs_measured_clear(&m);
  rs_experiment_free(experiment);
}

/* What is not done yet is what a run still has to do. */
Test(measured, rest__is_what_the_journal_lacks) {
  rs_measuring in = stories("[rerope]");
  in.reads = 1;
  rs_experiment *first = make(&in);
  in.methods = "[rerope, {name: pi, factor: 2}, self_extend]";
  rs_experiment *second = make(&in);
  rs_rest all, left, none;
  rs_plan plan;
  rs_measured measured;
  rs_err err = {0};
  cr_assert_eq(rs_rest_make(second, "o", NULL, &all, &err), RS_OK, "%s", err.message);
  cr_expect(!exists("o"));
  measure(first, "o", &measured);
  rs_measured_clear(&measured);
  cr_assert_eq(rs_rest_make(second, "o", NULL, &left, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_rest_make(first, "o", NULL, &none, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_plan_make(second, NULL, &plan, &err), RS_OK);
  cr_expect(all.cells == 5 && left.cells == 2 && none.cells == 0);
  cr_expect_float_eq(all.flops / plan.flops, 1, 1e-12);
  cr_expect(none.flops == 0 && left.flops > 0 && left.flops < all.flops);
  cr_assert_eq(rs_rest_make(second, NULL, NULL, &left, &err), RS_OK);
  cr_expect_eq(left.cells, 5);
  rs_experiment_free(first);
  rs_experiment_free(second);
}

Test(measured, rate__is_that_of_a_short_read) {
  rs_measuring in = stories("[rerope]");
  rs_experiment *experiment = make(&in);
  rs_read_rate rate;
  rs_err err = {0};
  cr_assert_eq(rs_measure_rate(&in, experiment, &rate, &err), RS_OK, "%s", err.message);
  cr_expect_eq(rate.tokens, LENGTH / 4);
  cr_expect(rate.flops > 0 && isfinite(rate.flops) && rate.seconds > 0);
  rs_experiment_free(experiment);
}

/* ---- the advice -------------------------------------------------------------------------------------------------- */

enum { WAYS = 4 };

/* Ways as they may come out: of window, unchanged, a and b the mean difference to the window and the half of its
 * interval, and what the best is. */
typedef struct outcome {
  const char *label;
  double mean, half;
  bool apart, behind;
} outcome;

static void expect_advice(const outcome ways[WAYS], size_t best, size_t reads, const char *words) {
  rs_measured_way items[WAYS] = {0};
  rs_measured m = {.items = items, .count = WAYS, .reads = reads, .window_tokens = 512, .best = best};
  rs_text text = {0};
  rs_recipe recipe = {0};
  cr_assert_eq(rs_recipe_init(&recipe, rs_method_find("rerope"), NULL), RS_OK);
  for (size_t i = 0; i < WAYS; i++)
    items[i] = (rs_measured_way){.label = ways[i].label,
                                 .recipe = recipe,
                                 .window = strcmp(ways[i].label, "window") == 0,
                                 .unchanged = strcmp(ways[i].label, "unchanged") == 0,
                                 .loss = 2 + ways[i].mean,
                                 .difference = {ways[i].mean, ways[i].mean - ways[i].half, ways[i].mean + ways[i].half},
                                 .apart = ways[i].apart,
                                 .behind = ways[i].behind};
  rs_measured_advise(&m, &text);
  cr_expect_str_eq(rs_text_string(&text), words);
  rs_text_clear(&text);
  rs_recipe_clear(&recipe);
}

Test(measured, advice__says_which_way_is_apart_and_from_what) {
  expect_advice((outcome[]){{"window", 0, 0, false, false},
                            {"a", 0.25, 0.125, true, true},
                            {"unchanged", 0.5, 0.125, true, true},
                            {"b", NAN, NAN, false, false}},
                0, 4,
                "read the last 512 tokens alone: nothing clearly beats the window on this text; a comes nearest: 0.25 "
                "[0.125, 0.375] nats less the window");
  expect_advice((outcome[]){{"a", -0.25, 0.5, false, false},
                            {"window", 0, 0, false, false},
                            {"unchanged", 0.5, 0.125, true, true},
                            {"b", 0.75, 0.125, true, true}},
                0, 4,
                "read the last 512 tokens alone: nothing clearly beats the window on this text; a comes nearest: -0.25 "
                "[-0.75, 0.25] nats less the window, not apart from it");
  expect_advice((outcome[]){{"a", -0.5, 0.25, true, false},
                            {"unchanged", -0.375, 0.125, true, false},
                            {"window", 0, 0, false, true},
                            {"b", 0.5, 0.125, true, true}},
                0, 4,
                "keep what the file says: it is 0.375 [0.25, 0.5] nats below the window, and nothing is clearly "
                "better");
  expect_advice((outcome[]){{"a", -0.5, 0.25, true, false},
                            {"b", -0.375, 0.125, true, false},
                            {"window", 0, 0, false, true},
                            {"unchanged", 0.5, 0.125, true, true}},
                0, 4, "use {name: rerope}: it is 0.5 [0.25, 0.75] nats below the window, and not apart from b");
  expect_advice((outcome[]){{"a", -0.5, 0.25, true, false},
                            {"unchanged", -0.25, 0.125, true, true},
                            {"window", 0, 0, false, true},
                            {"b", NAN, NAN, false, false}},
                0, 4,
                "use {name: rerope}: it is 0.5 [0.25, 0.75] nats below the window, and apart from every other way");
  /* One that is not apart has a smaller loss than the best that is. */
  expect_advice((outcome[]){{"b", -0.75, 2, false, false},
                            {"a", -0.5, 0.25, true, false},
                            {"window", 0, 0, false, true},
                            {"unchanged", 0.5, 0.125, true, true}},
                1, 4, "use {name: rerope}: it is 0.5 [0.25, 0.75] nats below the window, and not apart from b");
  expect_advice((outcome[]){{"a", -0.5, NAN, false, false},
                            {"window", 0, NAN, false, false},
                            {"unchanged", 0.5, NAN, false, false},
                            {"b", 0.75, NAN, false, false}},
                0, 1, "nothing is decided: a has the least loss, and one read has no interval (more --reads)");
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

Test(measured, what_cannot_be_measured__is_told) {
  static const struct {
    size_t length, reads, targets;
    rs_status status;
    const char *words;
  } cases[] = {
      {512, 4, 0, RS_DOMAIN, "512 tokens are within the 512 that stories260K was trained at: no setting is called for"},
      {2048, 4, 513, RS_INPUT, "513 targets are more than the 512 tokens that the window reads, the trained length"},
      {2048, 49, 0, RS_INPUT,
       "ids.npy: 98820 ids: 49 reads of 2048 tokens and the one behind them take 100353 (--reads 48)"},
      {98820, 1, 0, RS_INPUT, "ids.npy: 98820 ids: a read of 98820 tokens and the one behind them takes 98821"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_measuring in = stories(NULL);
    rs_experiment *experiment;
    rs_problems problems = {0};
    rs_err err = {0};
    in.length = cases[i].length, in.reads = cases[i].reads, in.targets = cases[i].targets;
    cr_expect_eq(rs_measure_make(&in, &experiment, &problems, &err), cases[i].status);
    cr_expect_null(experiment);
    size_t behind = strlen(err.message) - strlen(cases[i].words);
    cr_expect(strlen(err.message) >= strlen(cases[i].words) && strcmp(err.message + behind, cases[i].words) == 0, "%s",
              err.message);
    rs_problems_clear(&problems);
  }
}

/* As many as just fit: the last id of the last read is the last target. */
Test(measured, a_text_of_just_enough_ids__is_read) {
  uint8_t text[2 * (2 * 600 + 1)];
  for (size_t i = 0; i < sizeof text / 2; i++) text[2 * i] = (uint8_t)(i * i + i / 7), text[2 * i + 1] = 0;
  rs_measuring in = stories("[rerope]");
  rs_err err = {0};
  rs_experiment *experiment;
  rs_problems problems = {0};
  cr_assert_eq(rs_file_write("ids.bin", (const char *)text, sizeof text, &err), RS_OK);
  in.text = "ids.bin", in.length = 600, in.reads = 2;
  rs_experiment_free(make(&in));
  cr_assert_eq(rs_file_write("ids.bin", (const char *)text, sizeof text - 2, &err), RS_OK);
  cr_expect_eq(rs_measure_make(&in, &experiment, &problems, &err), RS_INPUT);
  cr_expect_str_eq(err.message,
                   "ids.bin: 1200 ids: 2 reads of 600 tokens and the one behind them take 1201 (--reads 1)");
  text[2 * 1199 + 1] = 2; /* + 512 */
  err = (rs_err){0};
  cr_assert_eq(rs_file_write("ids.bin", (const char *)text, sizeof text, &err), RS_OK);
  cr_expect_eq(rs_measure_make(&in, &experiment, &problems, &err), RS_INPUT);
  cr_expect_not_null(strstr(err.message, " at place 1199: the 512 of "), "%s", err.message);
  rs_problems_clear(&problems);
}
