/* test_warnings.c: settings that are right and yet hardly meant. Each runs, and its row says what is odd. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/runs.h"

static void expect_lines(const char *yaml, const char *wanted) {
  rs_experiment *experiment;
  rs_problems problems = {0};
  rs_text lines = {0};
  rs_status status = rs_config_read(yaml, "test", (rs_config_edits){0}, &experiment, &problems, NULL);
  cr_assert_eq(status, RS_OK, "%s", rs_text_string(&problems.text));
  cr_assert_eq(rs_experiment_warnings(experiment, &lines, NULL), RS_OK);
  cr_expect_str_eq(rs_text_string(&lines), wanted, "%s said: %s", yaml, rs_text_string(&lines));
  rs_text_clear(&lines);
  rs_problems_clear(&problems);
  rs_experiment_free(experiment);
}

static void expect_warnings(const char *methods, const char *rest, const char *wanted) {
  char yaml[512];
  snprintf(yaml, sizeof yaml, "%slengths: [16, 32, 64]\nmethods: %s\n%s", TINY, methods, rest);
  expect_lines(yaml, wanted);
}

#define NO_PICTURE " is plain RoPE here: the tokens hold no image or video (tokens: [{image: [16, 24]}])\n"
#define IMAGE "tokens: [{text: 2}, {image: [2, 3]}]\n"

Test(warnings, pictorial_methods__without_a_picture__are_plain_rope) {
  expect_warnings("[mrope]", "", "mrope" NO_PICTURE);
  expect_warnings("[videorope, v2pe]", "", "videorope" NO_PICTURE "v2pe" NO_PICTURE);
  expect_warnings("[mrope_i]", "tokens: [{text: 5}]\n", "mrope_i" NO_PICTURE);
  expect_warnings("[mrope, mrope_i, videorope, v2pe]", IMAGE, "");
}

#define DRAWN(model, name, table)                                                                                      \
  model ": the " table " of " name " is drawn, not the model's own (methods: [{name: " name ", " table                 \
        ": FILE.safetensors:TENSOR}])\n"

/* Of what a model publishes alone: who writes the method means the drawn table. */
Test(warnings, learned_tables_of_published_models__are_drawn) {
  expect_lines("model: gpt2\nlengths: [16, 32]\nmethods: [published, rope]\n", DRAWN("gpt2", "learned", "table"));
  expect_lines("model: [gpt2, llama-2-7b]\nlengths: [16]\nmethods: [learned, rope]\n", "");
  expect_lines("model: [transformer-base, bloom-7b1, llama-2-7b]\nlengths: [16]\nmethods: published\n", "");
  expect_lines("model: {name: u, head_dim: 2, heads: 1, train_length: 16, published: {name: t5, num_buckets: 8}}\n"
               "lengths: [16]\nmethods: [published]\n",
               DRAWN("u", "t5", "values"));
  expect_lines("model: {name: u, head_dim: 2, heads: 1, train_length: 2, published: {name: learned, table: [1, 2, 3, "
               "4]}}\nlengths: [2]\nmethods: [published]\n",
               "");
}

Test(warnings, sections__none__are_plain_rope) {
  expect_warnings("[{name: mrope, mrope_section: none}]", IMAGE,
                  "mrope is plain RoPE here: the model has no mrope_section (mrope_section: equal shares the pairs)\n");
  expect_warnings("[{name: mrope, mrope_section: [2, 1, 1]}]", IMAGE, "");
}

/* Tokens are those of the task. */
Test(warnings, checkpoints__have_pictures_where_their_task_has) {
  expect_lines("checkpoint: {method: {name: mrope, mrope_section: equal}}\ntask: where\nlengths: [64, 256]\n", "");
  expect_lines("checkpoint: {method: {name: mrope, mrope_section: equal}}\ntask: copy\nlengths: [64, 256]\n",
               "mrope" NO_PICTURE);
  expect_lines(
      "checkpoint: {train: {length: 32}}\ntask: copy\nlengths: [16]\nmethods: [trained, {name: pi, scale: "
      "auto}]\n",
      "scale: auto is 0.5 at 16 tokens: pairs turn faster than in training (scale: dynamic is never below 1)\n");
}

Test(warnings, scale_auto__below_the_trained_length__turns_faster) {
  expect_warnings("[{name: pi, scale: auto}]", "",
                  "scale: auto is 0.25 at 16 tokens: pairs turn faster than in training (scale: dynamic is never "
                  "below 1)\n");
  expect_warnings("[{name: pi, scale: auto, train_length: 16}]", "", "");
  expect_warnings("[{name: pi, scale: dynamic}, {name: ntk, scale: 0.5}, rope, {name: yarn, factor: 4}, nope]", "", "");
}

/* What is said of two models is said of each, be it as long; what is said alike is said once. */
Test(warnings, lines__each_once) {
  expect_lines("model: [{head_dim: 8, train_length: 64, name: a}, {head_dim: 8, train_length: 100, name: b}, "
               "{head_dim: 8, train_length: 64, name: c}]\nlengths: 16\nmethods: [{name: pi, scale: auto}]\n",
               "scale: auto is 0.25 at 16 tokens: pairs turn faster than in training (scale: dynamic is never below "
               "1)\nscale: auto is 0.16 at 16 tokens: pairs turn faster than in training (scale: dynamic is never "
               "below 1)\n");
}

TestSuite(warned_rows, .init = enter_folder, .fini = leave_folder);

Test(warnings, tables_that_a_checkpoint_has_not_learned__are_told) {
  static const char untaught[] =
      " learns its %s, and the checkpoint, trained with rope, has none: read as they begin\n";
  static const struct {
    const char *methods, *subject, *what;
  } cases[] = {{"[trained, pi, alibi, sinusoidal]", NULL, NULL},
               {"[t5]", "t5", "biases"},
               {"[fire]", "fire", "biases"},
               {"[shaw]", "shaw", "vectors of distance"},
               {"[learned]", "learned", "embeddings"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char yaml[300], format[120], wanted[120] = "";
    snprintf(yaml, sizeof yaml, "checkpoint: {method: rope, train: {length: 16}}\ntask: copy\nmethods: %s\n",
             cases[i].methods);
    snprintf(format, sizeof format, "%%s%s", untaught);
    if (cases[i].subject != NULL) snprintf(wanted, sizeof wanted, format, cases[i].subject, cases[i].what);
    expect_lines(yaml, wanted);
  }
  expect_lines("checkpoint: {method: t5, train: {length: 16}}\ntask: copy\nmethods: [trained, t5]\n", "");
  expect_lines("checkpoint: {method: rope, train: {length: 64}}\ntask: where\nmethods: [rope_mixed]\n",
               "rope_mixed learns its frequencies, and the checkpoint, trained with rope, has none: read as they "
               "begin\n");
  expect_lines("checkpoint: {method: rope_mixed, train: {length: 64}}\ntask: where\n"
               "methods: [{name: rope_mixed, table_seed: 3}]\n",
               "");
}

Test(warned_rows, message__beside_the_values) {
  run(TINY "lengths: [16]\nmethods: [mrope, rope]\nmetrics: [entropy]\n", "out");
  rs_table *table = read_table("out", "summary.csv");
  cr_expect_str_eq(field(table, 0, "status"), "ok");
  cr_expect_not_null(strstr(field(table, 0, "message"), "mrope is plain RoPE here"));
  cr_expect_str_eq(field(table, 1, "message"), "");
  cr_expect_str_eq(field(table, 0, "entropy_nats"), field(table, 1, "entropy_nats"));
  rs_table_free(table);
}
