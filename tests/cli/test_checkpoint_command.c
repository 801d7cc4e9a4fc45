/* test_checkpoint_command.c: `ropescope run`, `plan` and `plot` of configs with checkpoints. */
#include "../fixtures/program.h"

TestSuite(checkpoint_command, .init = enter_folder, .fini = leave_folder);

/* Three checkpoints that two methods read, at the length they have seen and at others. */
static const char config[] =
    "name: tiny\ntask: {name: copy, symbols: 5}\n"
    "checkpoint: {method: [rope, t5, learned], width: 16, blocks: 2, heads: 2, "
    "train: {steps: 20, length: 16, sequences: 8, warmup: 5}}\n"
    "methods: [trained, {name: pi, scale: dynamic}]\nlengths: [16, 32, 64]\nseeds: 2\n"
    "sequences: 5\nmetrics: [loss, loss_by_position, accuracy, recall, recall_by_distance, needle_accuracy, decay]\n";

Test(checkpoint_command, run__same_bytes_for_any_number_of_threads_and_from_its_own_config) {
  write_file("c.yaml", config);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "t1", "--threads", "1"}});
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "t3", "--threads", "3"}});
  run_well(&(command){.arguments = {"run", "t1/config.yaml", "--out", "again", "--threads", "2"}});
  expect_same_csv("t1", "t3", "3 threads");
  expect_same_csv("t1", "again", "its own config");
  rs_table *table = read_table("t1/summary.csv");
  cr_assert_eq(table->rows, 36);
  for (size_t row = 0; row < table->rows; row++) {
    bool ends = strcmp(field(table, row, "model"), "learned") == 0 &&
                strcmp(field(table, row, "method"), "trained") == 0 && number(table, row, "length_tokens") > 16;
    cr_expect_eq(strcmp(field(table, row, "status"), "ok") != 0, ends, "row %zu: %s", row,
                 field(table, row, "message"));
    if (!ends) cr_expect(number(table, row, "loss_nats") > 0.1 && number(table, row, "loss_nats") < 5);
  }
  rs_table_free(table);
}

/* One training diverges, and one length has no sequence: rows that say so, and an exit status of success. */
Test(checkpoint_command, run__what_fails_is_said_and_the_rest_goes_on) {
  write_file("c.yaml", "task: dictionary\nmetrics: [loss]\nlengths: [8, 64]\nseeds: 1\nsequences: 2\n"
                       "targets: per_length\nbaselines: none\ncheckpoint:\n"
                       "  - {name: wild, width: 16, blocks: 1, heads: 2, "
                       "train: {steps: 90, sequences: 2, warmup: 0, rate: 10, decay: 10}}\n"
                       "  - {name: tame, width: 16, blocks: 1, heads: 2, train: {steps: 5, sequences: 2}}\n");
  result got = run(&(command){.arguments = {"run", "c.yaml", "--out", "o"}});
  cr_expect_eq(got.status, 0, "%s", got.err);
  cr_expect_not_null(strstr(got.err, "3 of them without values"), "%s", got.err);
  rs_table *table = read_table("o/summary.csv");
  static const char *const words[] = {"training diverged at step", "training diverged at step", "8 tokens: 6 needles",
                                      ""};
  for (size_t row = 0; row < RS_COUNT(words); row++)
    cr_expect_not_null(strstr(field(table, row, "message"), words[row]), "%s", field(table, row, "message"));
  cr_expect_str_eq(field(table, 3, "status"), "ok");
  rs_table_free(table);
  result_clear(&got);
}

/* `from` in the file, with what follows it up to a comma, becomes `to`. */
static void change_member(const char *path, const char *from, const char *to) {
  char *text = read_path(path, NULL), *place = strstr(text, from);
  cr_assert_not_null(place, "%s", from);
  rs_text changed = {0};
  rs_text_printf(&changed, "%.*s%s%s", (int)(place - text), text, to, place + strcspn(place, ","));
  write_file(path, rs_text_string(&changed));
  rs_text_clear(&changed);
  free(text);
}

static const char *text_source(const char *model, int layer) {
  static char yaml[400];
  snprintf(yaml, sizeof yaml,
           "model: %s\nmethods: [rope]\nlengths: [8]\nmetrics: [entropy]\nqueries: all\nsources: [{name: model, "
           "checkpoint: model, tokens: ids, layer: %d}]\n",
           model, layer);
  return yaml;
}

/* A model that was trained here gives the rows of a text, too, to methods of its geometry. */
static void expect_text_rows(void) {
  static const struct {
    const char *model;
    int layer;
    const char *message;
  } cases[] = {
      {"{name: t, head_dim: 8, heads: 2, train_length: 8}", 0, NULL},
      {"{name: t, head_dim: 8, heads: 2, train_length: 8}", 1, "must be 0: the checkpoint has one layer"},
      {"{name: t, head_dim: 8, heads: 4, train_length: 8}", 0, "has 2 heads of 8 in layer 0, model t has 4 of 8"},
      {"{name: t, head_dim: 16, heads: 2, train_length: 8}", 0, "has 2 heads of 8 in layer 0, model t has 2 of 16"}};
  static const uint16_t ids[] = {1, 0, 2, 1, 1, 0, 2, 2};
  cr_assert_eq(rs_file_write("ids", (const char *)ids, sizeof ids, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    write_file("text.yaml", text_source(cases[i].model, cases[i].layer));
    result got = run(&(command){.arguments = {"run", "text.yaml", "--out", "text", "--quiet"}});
    cr_expect_eq(got.status, cases[i].message == NULL ? 0 : 2, "case %zu: %s", i, got.err);
    if (cases[i].message != NULL) cr_expect_not_null(strstr(got.err, cases[i].message), "case %zu: %s", i, got.err);
    result_clear(&got);
  }
  rs_table *table = read_table("text/summary.csv");
  cr_expect(number(table, 0, "entropy_nats") > 0 && number(table, 0, "entropy_nats") < log(8));
  rs_table_free(table);
}

/* A folder with a trained model is read, also in shards; that of a training that was stopped has no weights to read. */
Test(checkpoint_command, run__folder_of_an_unfinished_training__is_refused) {
#define TINY_READING                                                                                                   \
  "task: {name: copy, symbols: 3}\nsequences: 2\nlengths: [8, 6]\nmetrics: [loss, loss_by_position]\n"
  char *names, message[400];
  write_file("t.yaml",
             "checkpoint: {width: 16, blocks: 1, heads: 2, train: {steps: 3, length: 8, sequences: 2}}\n" TINY_READING);
  run_well(&(command){.arguments = {"run", "t.yaml", "--checkpoints", "ck", "--out", "o", "--quiet"}});
  names = names_in("ck", "");
  cr_assert_eq(strncmp(names, "rope-copy-", 10), 0, "%s", names);
  snprintf(message, sizeof message, "ck/%s", names);
  cr_assert_eq(rename(message, "model"), 0);
  write_file("u.yaml", "checkpoint: {folder: model}\n" TINY_READING);
  run_well(&(command){.arguments = {"run", "u.yaml", "--out", "read", "--quiet"}});
  run_well(&(command){.arguments = {"run", "u.yaml", "--out", "s1", "--quiet", "--shard", "1/2"}});
  run_well(&(command){.arguments = {"run", "u.yaml", "--out", "s2", "--quiet", "--shard", "2/2"}});
  run_well(&(command){.arguments = {"merge", "s1", "s2", "--out", "both", "--quiet"}});
  expect_same_csv("read", "both", "shards of what is trained already");
  expect_text_rows();
  change_member("model/config.json", "\"steps_done\": ", "\"steps_done\": 1");
  change_member("model/config.json", "\"weights_sha256\": ", "\"weights_sha256\": null");
  snprintf(message, sizeof message, "ropescope: %s/model: training is not done: 1 of 3 steps\n", folder);
  expect_failure(&(command){.arguments = {"run", "u.yaml", "--out", "p", "--quiet"}}, 1, message);
  cr_expect(!exists("p/summary.csv"));
  free(names);
}

Test(checkpoint_command, plan__counts_trainings_and_runs_nothing) {
  write_file("c.yaml", config);
  char *out = output_of(&(command){.arguments = {"plan", "c.yaml"}});
  double flops = 0, reading = 0, bytes = 0;
  size_t trainings = 0;
  cr_expect_not_null(strstr(out, "cells           36 (3 checkpoints, 2 methods, 3 lengths, 2 seeds)\n"), "%s", out);
  cr_expect_eq(sscanf(strstr(out, "training "), "training %lf flop in %zu trainings", &flops, &trainings), 2, "%s",
               out);
  cr_expect_eq(trainings, 6);
  cr_expect_eq(sscanf(strstr(out, "\nreading "), "\nreading %lf flop", &reading), 1, "%s", out);
  cr_expect(flops > reading && reading > 0, "%s", out);
  cr_expect_eq(sscanf(strstr(out, "memory "), "memory %lf MiB", &bytes), 1, "%s", out);
  char *names = names_in(".", "");
  cr_expect_str_eq(names, "c.yaml", "%s", names);
  free(names);
  free(out);
}

/* What is read stands under the task, also where a table is asked for. */
Test(checkpoint_command, run_and_plot__print_the_task_and_draw_it) {
  write_file("c.yaml", config);
  char *out = output_of(&(command){.arguments = {"run", "c.yaml", "--out", "o", "--print"}});
  cr_expect_not_null(strstr(out, "\ntask copy\n"), "%s", out);
  cr_expect_not_null(strstr(out, "loss_nats"), "%s", out);
  run_well(&(command){.arguments = {"plot", "o"}});
  char *svg = read_path("o/plots/loss_nats--rope--copy.svg", NULL);
  cr_expect_not_null(strstr(svg, "rope: trained here, 20 steps at 16 tokens, "), "no caption");
  cr_expect_not_null(strstr(svg, "copy:"), "no task");
  free(svg);
  free(out);
}
