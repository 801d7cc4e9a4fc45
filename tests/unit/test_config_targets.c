/* test_config_targets.c: targets, target_tokens and baselines in configs. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/reading.h"
#include "../fixtures/runs.h"

static void enter(void) {
  enter_folder();
  char *text = repeated("", "some words ", 100, "\n");
  cr_assert_eq(rs_file_write("text", text, strlen(text), NULL), RS_OK);
  free(text);
}

TestSuite(config_targets, .init = enter, .fini = leave_folder);

#define MODEL "checkpoint: {width: 16, heads: 2, train: {length: 32}}\n"
#define TEXT MODEL "task: {name: bytes, file: text, share: 0.5}\n"

/* What stands where a config says nothing. */
Test(config_targets, defaults__are_the_same_targets_where_the_task_has_such) {
  static const right cases[] = {
      {TEXT "lengths: [32, 64]\n", {0}, "targets: same\ntarget_tokens: 32\nbaselines: [window, unchanged]\n"},
      {TEXT "lengths: [64, 128]\n", {0}, "targets: same\ntarget_tokens: 32\n"},
      {TEXT "lengths: [16, 64]\n", {0}, "targets: same\ntarget_tokens: 16\n"},
      {TEXT "lengths: [32, 64]\n", {"target_tokens=5"}, "targets: same\ntarget_tokens: 5\n"},
      {TEXT "lengths: [32, 64]\n", {"baselines=unchanged"}, "baselines: [unchanged]\n"},
      {TEXT "lengths: [32, 64]\n", {"baselines=none"}, "targets: same\ntarget_tokens: 32\nbaselines: none\n"},
      {TEXT "lengths: [32, 64]\n", {"targets=per_length"}, "targets: per_length\nbaselines: none\n"},
      {TEXT "lengths: [32, 64]\n", {"task.stride=8"}, "targets: per_length\nbaselines: none\n"},
      {TEXT "lengths: [32, 64]\n", {"task.unscored=0.2"}, "targets: per_length\nbaselines: none\n"},
      {TEXT "lengths: [32, 2k]\n", {0}, "targets: per_length\nbaselines: none\n"},
      {MODEL "task: copy\nlengths: [32, 64]\n", {0}, "targets: per_length\nbaselines: none\n"},
      {MODEL "task: dictionary\nlengths: [32, 64]\n", {0}, "targets: same\ntarget_tokens: 32\n"},
      {MODEL "task: dictionary\nlengths: 32\n", {0}, "targets: per_length\n"}, /* half of its tokens are not scored */
      {MODEL "task: dictionary\nlengths: 32\n",
       {"task.unscored=0", "targets=same"},
       "targets: same\ntarget_tokens: 32\n"},
      {TEXT "lengths: [32, 64]\nzip: [methods, lengths]\nmethods: [pi, rope]\n", {0}, "32\nbaselines: none\n"},
      {TEXT "lengths: [32, 64]\n", {0}, "  - {name: loss_difference, baseline: window}\n"},
      {TEXT "lengths: [32, 64]\n", {"baselines=unchanged"}, "  - {name: loss_difference, baseline: unchanged}\n"},
  };
  expect_written(cases, RS_COUNT(cases));
}

/* One that is written out reads back to the same. */
Test(config_targets, written_and_read_again__the_same) {
  static const char *const configs[] = {
      TEXT "lengths: [32, 64]\n", TEXT "lengths: [32, 64]\nmethods: [rope, pi]\n",
      MODEL "task: dictionary\nlengths: [32, 64]\nmetrics: [loss]\n",
      TEXT "lengths: [32, 64]\nbaselines: [unchanged]\nmetrics: [accuracy]\n",
      TEXT "lengths: [32, 64]\nmethods: [{name: pi, label: window}, {name: rope, label: unchanged}]\n"};
  for (size_t i = 0; i < RS_COUNT(configs); i++) {
    rs_experiment *first = good(configs[i]);
    char *once = written(first);
    rs_experiment *second = good(once);
    char *twice = written(second);
    cr_expect_str_eq(once, twice);
    char *cells = cells_of(first), *again = cells_of(second);
    cr_expect_str_eq(cells, again);
    cr_expect(!first->targets_chosen && second->targets_chosen && second->baselines_chosen);
    free(once);
    free(twice);
    free(cells);
    free(again);
    rs_experiment_free(first);
    rs_experiment_free(second);
  }
}

/* The labels that rows of baselines have. */
Test(config_targets, methods__are_joined_by_baselines_that_none_of_them_is) {
  static const struct {
    const char *methods, *labels;
  } cases[] = {
      {"", "trained window "},
      {"methods: pi\n", "pi window unchanged "},
      {"methods: [pi, rope]\n", "pi rope window "},
      {"methods: [{name: rope, rope_theta: 20000}]\n", "rope window unchanged "},
      {"methods: [{name: pi, label: window}]\n", "window baseline window unchanged "},
      {"methods: pi\nbaselines: window\n", "pi window "},
      {"methods: pi\nbaselines: none\n", "pi "},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text yaml = {0}, labels = {0};
    rs_text_printf(&yaml, TEXT "lengths: [32, 64]\n%s", cases[i].methods);
    rs_experiment *experiment = good(rs_text_string(&yaml));
    for (size_t m = 0; m < experiment->methods.count; m++)
      rs_text_printf(&labels, "%s ", experiment->methods.items[m].label);
    cr_expect_str_eq(rs_text_string(&labels), cases[i].labels, "%s: %s", cases[i].methods, rs_text_string(&labels));
    rs_text_clear(&yaml);
    rs_text_clear(&labels);
    rs_experiment_free(experiment);
  }
}

Test(config_targets, mistakes__are_named) {
  static const wrong cases[] = {
      {"model: llama-2-7b\ntargets: same\n", "t.yaml:2:10: targets = same: are of a checkpoint's task: there is none"},
      {"model: llama-2-7b\ntarget_tokens: 9\n",
       "t.yaml:2:16: target_tokens = 9: are of a checkpoint's task: there is none"},
      {"model: llama-2-7b\nbaselines: none\n",
       "t.yaml:2:12: baselines = none: stand beside the methods of a checkpoint: there is none"},
      {TEXT "targets: sane\n", "t.yaml:3:10: targets = sane: must be one of same, per_length (did you mean same?)"},
      {MODEL "task: copy\ntargets: same\n", "t.yaml:3:10: targets = same: sequences of copy cannot be cut to their "
                                            "last tokens, so each length draws others (targets: per_length)"},
      {MODEL "task: {name: bytes, file: text, stride: 8}\ntargets: same\n",
       "t.yaml:3:10: targets = same: stride says what is scored of each length (targets: per_length)"},
      {MODEL "task: {name: bytes, file: text, unscored: 0.1}\ntargets: same\n",
       "t.yaml:3:10: targets = same: unscored says what is scored of each length (targets: per_length)"},
      {MODEL "task: dictionary\nlengths: 32\ntargets: same\n",
       "t.yaml:4:10: targets = same: unscored says what is scored of each length (the first 16 of 32 tokens are not) "
       "(targets: per_length)"},
      {TEXT "lengths: [32, 600]\ntargets: same\n",
       "t.yaml:4:10: targets = same: all lengths read the last tokens of sequences of 600: 600 tokens and the one "
       "behind them: the text has 550 to train on and 551 held out, 601 would do (targets: per_length)"},
      {TEXT "lengths: [32, 64]\ntarget_tokens: 33\n", "t.yaml:4:16: target_tokens = 33: must not exceed 32 tokens: the "
                                                      "least of the lengths, and of what checkpoints were trained at"},
      {TEXT "lengths: [16, 64]\ntarget_tokens: 17\n", "t.yaml:4:16: target_tokens = 17: must not exceed 16 tokens: the "
                                                      "least of the lengths, and of what checkpoints were trained at"},
      {TEXT "targets: per_length\ntarget_tokens: 8\n",
       "t.yaml:4:16: target_tokens = 8: are scored with targets: same alone"},
      {MODEL "task: copy\ntarget_tokens: 8\n",
       "t.yaml:3:16: target_tokens = 8: are scored with targets: same alone: "
       "sequences of copy cannot be cut to their last tokens, so each length draws others"},
      {TEXT "targets: per_length\nbaselines: window\n",
       "t.yaml:4:12: baselines = window: stand beside methods that score the same targets (targets: same)"},
      {MODEL "task: copy\nbaselines: window\n",
       "t.yaml:3:12: baselines = window: stand beside methods that score the same targets (targets: same): sequences "
       "of copy cannot be cut to their last tokens, so each length draws others"},
      {TEXT "baselines: [none, window]\n", "t.yaml:3:12: baselines = [...]: has none beside others"},
      {TEXT "baselines: widow\n",
       "t.yaml:3:12: baselines = widow: must be one of window, unchanged (did you mean window?)"},
      {TEXT "lengths: [32, 64]\nmethods: [pi, rope]\nzip: [methods, lengths]\nbaselines: window\n",
       "t.yaml:6:12: baselines = window: stand beside methods of all checkpoints and lengths, not zipped ones"},
      {TEXT "baselines: window\nmetrics: [{name: loss_difference, baseline: unchanged}]\n",
       "t.yaml:4:10: metrics = [...]: has loss_difference, which is taken from the baseline unchanged: there is none "
       "(baselines: [unchanged])"},
      {TEXT "targets: per_length\nmetrics: loss_difference\n",
       "t.yaml:4:10: metrics = loss_difference: has loss_difference, which is taken from the baseline window: there is "
       "none (baselines: [window])"},
  };
  expect_messages(cases, RS_COUNT(cases));
}
