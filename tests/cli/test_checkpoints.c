/* test_checkpoints.c: runs that train: what they keep, what they find again, and how they are stopped. */
#include "../fixtures/models.h"
#include "../fixtures/places.h"
#include "../fixtures/program.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

TestSuite(checkpoints, .init = enter_folder, .fini = leave_folder);

#define CHECKPOINT(steps)                                                                                              \
  "checkpoint: {name: tiny, method: rope, width: 8, heads: 2, blocks: 1, train: {steps: " steps                        \
  ", length: 16, sequences: 2}}\n"
#define READING                                                                                                        \
  "task: {name: copy}\nsequences: 4\nmethods: [trained]\nlengths: [16, 32]\nmetrics: [loss, accuracy]\nseeds: [1]\n"

static const char config[] = CHECKPOINT("300") READING;
static const char long_config[] = CHECKPOINT("6000") READING; /* long enough to be interrupted */

/* checkpoints/<the only one there>, or "" */
static char *only_folder(const char *checkpoints) {
  static char path[300];
  struct dirent **entries = NULL;
  int count = scandir(checkpoints, &entries, NULL, alphasort);
  path[0] = '\0';
  for (int i = 0; i < count; i++) {
    if (entries[i]->d_name[0] != '.') snprintf(path, sizeof path, "%s/%.200s", checkpoints, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return path;
}

static void expect_names(const char *folder_path, const char *wanted) {
  char *names = names_in(folder_path, "");
  cr_expect_str_eq(names, wanted, "%s holds %s", folder_path, names);
  free(names);
}

static void expect_lines(const char *path, size_t wanted) {
  size_t length, lines = 0;
  char *text = read_path(path, &length);
  for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
  cr_expect_eq(lines, wanted, "%s has %zu lines", path, lines);
  free(text);
}

Test(checkpoints, trained_once__found_again) {
  char path[400];
  struct stat before, after;
  write_file("c.yaml", config);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "results/a/", "--quiet", "--threads=2"}});
  snprintf(path, sizeof path, "%s", only_folder("results/checkpoints"));
  cr_assert_eq(strncmp(path, "results/checkpoints/rope-copy-", 30), 0, "%s", path);
  cr_expect_eq(strlen(path), 30 + 12);
  expect_names(path, "config.json model.safetensors training.csv");
  strcat(path, "/training.csv");
  expect_lines(path, 301);
  cr_assert_eq(stat(path, &before), 0);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "results/b", "--quiet", "--threads=1"}});
  cr_assert_eq(stat(path, &after), 0);
  cr_expect(before.st_ino == after.st_ino && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec, "trained again");
  expect_same_csv("results/a", "results/b", "a model that was found");
  run_well(
      &(command){.arguments = {"run", "c.yaml", "--out", "c", "--quiet", "--checkpoints", "kept/here", "--threads=1"}});
  expect_same_csv("results/a", "c", "another training");
  cr_expect_eq(strncmp(only_folder("kept/here"), "kept/here/rope-copy-", 20), 0);
  cr_expect_not(exists("checkpoints"));
}

Test(checkpoints, folder__reads_what_was_trained) {
  char changed[1000];
  write_file("c.yaml", config);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "a", "--quiet"}});
  snprintf(changed, sizeof changed, "checkpoint: {name: tiny, folder: %s}\n" READING, only_folder("checkpoints"));
  write_file("f.yaml", changed);
  run_well(&(command){.arguments = {"run", "f.yaml", "--out", "b", "--quiet"}});
  expect_same_csv("a", "b", "a folder");
}

/* Two that are tuned from one model: it is trained once, whatever they are called, and so is each of them. */
Test(checkpoints, tuned__share_what_they_are_tuned_from) {
  write_file("c.yaml", "checkpoint: {method: rope, width: 8, heads: 2, blocks: 1, train: {steps: 20, length: 16, "
                       "sequences: 2}, tune: {steps: [2, 3], length: 32, method: yarn}}\n" READING);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "a", "--quiet"}});
  char *names = names_in("checkpoints", ""), *rope = strstr(names, "rope-copy-"), *yarn = strstr(names, "yarn-copy-");
  cr_assert(rope != NULL && yarn != NULL, "%s", names);
  cr_expect_null(strstr(rope + 1, "rope-copy-"), "%s", names);
  cr_expect_not_null(strstr(yarn + 1, "yarn-copy-"), "%s", names);
  free(names);
  rs_table *table = read_table("a/summary.csv");
  cr_assert_eq(table->rows, 4);
  cr_expect_neq(number(table, 0, "loss_nats"), number(table, 2, "loss_nats"));
  rs_table_free(table);
}

static void expect_words(const char *folder_path, const char *words) {
  char path[400];
  size_t length;
  snprintf(path, sizeof path, "%s/config.json", folder_path);
  char *text = read_path(path, &length);
  cr_expect_not_null(strstr(text, words), "%s has no %s", path, words);
  free(text);
}

/* A folder's model is tuned as the one that was trained for it, and a tuned one behind all that it has seen. */
Test(checkpoints, tuned_from_a_folder__goes_on_where_it_was_left) {
  char text[1000], trained[300];
  static const char tune[] = ", tune: {steps: 7, length: 32, sequences: 3}}\n" READING;
  write_file("c.yaml",
             "checkpoint: {name: tiny, method: rope, width: 8, heads: 2, blocks: 1, train: {steps: 30, length: "
             "16, sequences: 2}}\n" READING);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "plain", "--quiet", "--checkpoints", "first"}});
  snprintf(trained, sizeof trained, "%s", only_folder("first"));
  expect_words(trained, "\"drawn_before\": 0,");
  snprintf(text, sizeof text, "checkpoint: {name: tiny, folder: %s%s", trained, tune);
  write_file("f.yaml", text);
  run_well(&(command){.arguments = {"run", "f.yaml", "--out", "a", "--quiet", "--checkpoints", "second"}});
  expect_words(only_folder("second"), "\"drawn_before\": 60,");
  write_file("c.yaml",
             "checkpoint: {name: tiny, method: rope, width: 8, heads: 2, blocks: 1, train: {steps: 30, length: "
             "16, sequences: 2}, tune: {steps: 7, length: 32, sequences: 3}}\n" READING);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "b", "--quiet", "--checkpoints", "first"}});
  expect_same_csv("a", "b", "tuned from a folder");
  snprintf(text, sizeof text, "checkpoint: {name: tiny, folder: %s%s", only_folder("second"), tune);
  write_file("f.yaml", text);
  run_well(&(command){.arguments = {"run", "f.yaml", "--out", "again", "--quiet", "--checkpoints", "third"}});
  expect_words(only_folder("third"), "\"drawn_before\": 81,");
}

/* Tuned from its folder it is the model that one run trains and tunes: layers keep the methods that they have. */
Test(checkpoints, folder_of_several_recipes__is_tuned) {
  static const char trained[] = "method: rope, width: 16, heads: 2, blocks: 3, layers: [{every: 2, method: t5}], "
                                "train: {steps: 20, length: 16, sequences: 2}";
  static const char tune[] = "tune: {steps: 3, length: 32, method: yarn}";
  char config_text[1000];
  snprintf(config_text, sizeof config_text, "checkpoint: {name: m, %s}\n" READING, trained);
  write_file("c.yaml", config_text);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "a", "--quiet"}});
  snprintf(config_text, sizeof config_text, "checkpoint: {name: m, folder: %s, %s}\n" READING,
           only_folder("checkpoints"), tune);
  write_file("f.yaml", config_text);
  snprintf(config_text, sizeof config_text, "checkpoint: {name: m, %s, %s}\n" READING, trained, tune);
  write_file("t.yaml", config_text);
  run_well(&(command){.arguments = {"run", "f.yaml", "--out", "b", "--quiet"}});
  run_well(&(command){.arguments = {"run", "t.yaml", "--out", "c", "--quiet"}});
  rs_table *one = read_table("b/summary.csv"), *other = read_table("c/summary.csv"),
           *before = read_table("a/summary.csv");
  for (size_t row = 0; row < 2; row++) {
    cr_expect_eq(number(one, row, "loss_nats"), number(other, row, "loss_nats"));
    cr_expect_neq(number(one, row, "loss_nats"), number(before, row, "loss_nats"));
  }
  rs_table_free(before);
  rs_table_free(other);
  rs_table_free(one);
}

/* Weights of another instruction set are read, for they are as good, but not without a word where one was asked for. */
Test(checkpoints, another_arithmetic__is_told) {
  size_t length;
  write_file("c.yaml", CHECKPOINT("20") READING);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "a", "--quiet", "--isa=generic"}});
  result same = run(&(command){.arguments = {"run", "c.yaml", "--out", "b", "--isa=generic"}});
  result any = run(&(command){.arguments = {"run", "c.yaml", "--out", "b"}});
  cr_expect(same.status == 0 && strstr(same.err, "warning") == NULL, "%s", same.err);
  cr_expect(any.status == 0 && strstr(any.err, "warning") == NULL, "%s", any.err);
  char *manifest = read_path("b/manifest.json", &length);
  cr_expect_not_null(strstr(manifest, "\"arithmetic\": [\"generic\"]"), "%s", manifest);
  result other = run(&(command){.arguments = {"run", "c.yaml", "--out", "b", "--isa=v3"}});
  if (strstr(other.err, "--isa v3: ") == NULL) { /* this machine has it */
    char want[500];
    snprintf(want, sizeof want,
             "warning: %s was computed by generic, not by v3: the weights are others (move it away to train anew)\n",
             only_folder("checkpoints"));
    cr_expect(other.status == 0 && strstr(other.err, want) != NULL, "%s", other.err);
  }
  free(manifest);
  result_clear(&same);
  result_clear(&any);
  result_clear(&other);
}

/* The cells say why tuning failed, not only that a position is beyond a table. */
Test(checkpoints, tuning_that_cannot_be__names_the_checkpoint) {
  write_file("c.yaml",
             "checkpoint: {name: tiny, method: {name: learned, train_length: 16}, width: 8, heads: 2, blocks: 1, "
             "train: {steps: 5, length: 16}, tune: {steps: 2, length: 32}}\n" READING);
  result got = run(&(command){.arguments = {"run", "c.yaml", "--out", "a", "--quiet"}});
  rs_table *table = read_table("a/summary.csv");
  cr_expect_neq(got.status, 0);
  cr_expect_str_eq(field(table, 0, "message"),
                   "checkpoint tiny cannot be tuned: learned: position 31 is beyond the table of 16 rows");
  rs_table_free(table);
  result_clear(&got);
}

/* ---- what is done already ---------------------------------------------------------------------------------------- */

static void expect_planned(const char *checkpoints, const char *training) {
  char *out = output_of(&(command){.arguments = {"plan", "c.yaml", "--checkpoints", checkpoints}});
  cr_expect_not_null(strstr(out, training), "no %s in\n%s", training, out);
  free(out);
}

static void move_into(const char *folder_path, const char *start, const char *to) {
  char *names = names_in(folder_path, ""), *name = strstr(names, start), from[300], into[300];
  cr_assert_not_null(name, "%s", names);
  name[strcspn(name, " ")] = '\0';
  snprintf(from, sizeof from, "%s/%.100s", folder_path, name);
  snprintf(into, sizeof into, "%s/%.100s", to, name);
  cr_assert_eq(mkdir(to, 0777), 0);
  cr_assert_eq(rename(from, into), 0);
  free(names);
}

/* Two that are tuned from one model are three trainings; where they are there, nobody asks for that model again. */
Test(checkpoints, plan__counts_what_is_to_be_trained) {
  write_file("c.yaml", "checkpoint: {method: rope, width: 8, heads: 2, blocks: 1, train: {steps: 20, length: 16, "
                       "sequences: 2}, tune: {steps: [2, 3], length: 32, method: yarn}}\n" READING);
  expect_planned("k", "cells           4 (2 checkpoints, 1 method, 2 lengths, 1 seed)\n");
  expect_planned("k", " flop in 3 trainings\n");
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "a", "--quiet", "--checkpoints", "k"}});
  expect_planned("k", "training        none to do, 3 done already\n");
  expect_planned("elsewhere", " flop in 3 trainings\n");
  move_into("k", "rope-copy-", "away");
  expect_planned("k", "training        none to do, 2 done already\n");
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "b", "--quiet", "--checkpoints", "k"}});
  expect_same_csv("a", "b", "models whose origin is gone");
  char *names = names_in("k", "");
  cr_expect_null(strstr(names, "rope-copy-"), "trained for nothing: %s", names);
  free(names);
  move_into("k", "yarn-copy-", "tuned");
  expect_planned("k", " flop in 2 trainings; 1 done already\n");
}

/* ---- signals ----------------------------------------------------------------------------------------------------- */

/* The file that is replaced as a training begins; 0: there is none. */
static ino_t config_inode(void) {
  char path[400];
  struct stat info;
  snprintf(path, sizeof path, "%s/config.json", only_folder("checkpoints"));
  return stat(path, &info) == 0 ? info.st_ino : 0;
}

/* Starts a run, waits until it trains, sends it the signal. Returns its exit status; stderr goes to the file err. */
static int interrupt(const char *out, int signal_number) {
  const struct timespec moment = {.tv_nsec = 5000000};
  ino_t before = config_inode();
  int err = open("err", O_RDWR | O_CREAT | O_TRUNC, 0666), null = open("/dev/null", O_WRONLY);
  pid_t child = fork();
  if (child == 0) start(&(command){.arguments = {"run", "c.yaml", "--out", out, "--quiet", "--threads=1"}}, null, err);
  for (size_t i = 0; i < 4000 && config_inode() == before; i++) nanosleep(&moment, NULL);
  kill(child, signal_number);
  int status = wait_for(child);
  close(err);
  close(null);
  return status;
}

Test(checkpoints, interrupted__state_is_kept_and_the_next_run_goes_on) {
  static const int signals[] = {SIGINT, SIGTERM};
  char path[300], wanted[600], begin[64];
  size_t length;
  write_file("c.yaml", long_config);
  run_well(
      &(command){.arguments = {"run", "c.yaml", "--out", "whole", "--quiet", "--checkpoints", "kept", "--threads=1"}});
  for (size_t i = 0; i < RS_COUNT(signals); i++) {
    size_t step = 0;
    cr_expect_eq(interrupt("parts", signals[i]), 128 + signals[i]);
    snprintf(path, sizeof path, "%s", only_folder("checkpoints"));
    char *err = read_path("err", &length);
    cr_assert_eq(sscanf(err, "ropescope: training stopped after step %zu of 6000", &step), 1, "%s", err);
    snprintf(wanted, sizeof wanted,
             "ropescope: training stopped after step %zu of 6000: the same command goes on from %s\n", step, path);
    cr_expect_str_eq(err, wanted);
    expect_names(path, "config.json training.csv training.safetensors");
    snprintf(begin, sizeof begin, "%.40s/training.csv", path);
    expect_lines(begin, step + 1);
    expect_names("parts", "");
    free(err);
  }
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "parts", "--quiet", "--threads=2"}});
  expect_same_csv("whole", "parts", "stopped twice");
  expect_names(path, "config.json model.safetensors training.csv");
  expect_lines(begin, 6001);
}

/* ---- what goes wrong --------------------------------------------------------------------------------------------- */

Test(checkpoints, damaged_folder__is_named_and_nothing_is_trained) {
  char file[400], wanted[900], path[300];
  write_file("c.yaml", config);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "a", "--quiet"}});
  snprintf(path, sizeof path, "%s", only_folder("checkpoints"));
  snprintf(file, sizeof file, "%s/config.json", path);
  size_t length;
  char *json = read_path(file, &length), *steps = strstr(json, "\"steps_done\": 300");
  cr_assert_not_null(steps);
  memcpy(steps, "\"steps_done\": -30", 17);
  write_file(file, json);
  free(json);
  result got = run(&(command){.arguments = {"run", "c.yaml", "--out", "b", "--quiet"}});
  cr_expect_eq(got.status, 1);
  snprintf(wanted, sizeof wanted,
           "ropescope: %s: ropescope.steps_done = -30: must be from 0 to 1000000000 (move %s away to train from the "
           "start)\n",
           file, path);
  cr_expect_str_eq(without_places(got.err), wanted, "%s", got.err);
  expect_names(path, "config.json model.safetensors training.csv");
  result_clear(&got);
}

Test(checkpoints, diverging__its_cells_say_so_and_the_others_are_read) {
  write_file("c.yaml",
             "checkpoint:\n"
             "  - {name: wild, width: 8, blocks: 1, train: {steps: 60, length: 16, sequences: 2, rate: 10, decay: 3, "
             "warmup: 0}}\n"
             "  - {name: tame, width: 8, blocks: 1, train: {steps: 3, length: 16, sequences: 2}}\n" READING);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "a", "--quiet"}});
  rs_table *table = read_table("a/summary.csv");
  cr_assert_eq(table->rows, 4);
  for (size_t row = 0; row < 4; row++) {
    bool wild = strcmp(field(table, row, "model"), "wild") == 0;
    cr_expect_str_eq(field(table, row, "status"), wild ? "domain" : "ok");
    if (!wild) continue;
    cr_expect_not_null(strstr(field(table, row, "message"), "training diverged at step "));
    cr_expect_not_null(strstr(field(table, row, "message"), ", at a rate of "));
  }
  rs_table_free(table);
}

/* Limits from the first file on; what was kept before is gone on from once there is room. */
Test(checkpoints, disk_full__status_1_and_nothing_lost) {
  static const rlim_t limits[] = {600, 6000}; /* for neither config.json nor the weights; for config.json */
  char path[300];
  write_file("c.yaml", long_config);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "whole", "--quiet", "--checkpoints", "kept"}});
  (void)interrupt("parts", SIGINT);
  snprintf(path, sizeof path, "%s", only_folder("checkpoints"));
  for (size_t i = 0; i < RS_COUNT(limits); i++) {
    result got = run(&(command){.arguments = {"run", "c.yaml", "--out", "parts", "--quiet"}, .file_size = limits[i]});
    cr_expect_eq(got.status, 1, "status %d", got.status);
    cr_expect_eq(strncmp(got.err, "ropescope: checkpoints/rope-copy-", 33), 0, "%s", got.err);
    cr_expect_not_null(strstr(got.err, ": cannot write: File too large"), "%s", got.err);
    expect_names(path, "config.json training.csv training.safetensors");
    result_clear(&got);
  }
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "parts", "--quiet"}});
  expect_same_csv("whole", "parts", "after a full disk");
}

/* Another way to read a model does not train it again; another task does. */
Test(checkpoints, parameters_of_readings__find_the_trained_model) {
  static const char model[] =
      "checkpoint: {width: 8, blocks: 1, train: {steps: 3, length: 16, sequences: 2}}\nlengths: [16]\nseeds: [1]\n"
      "metrics: [accuracy]\nsequences: 8\ntask: {name: flip_flop, ignored: ";
  static const char *const tasks[] = {"0.5}\n", "0.5, evaluation: dense}\n", "0.5, evaluation: every}\n", "0.6}\n"};
  static const char *const folders[] = {"a", "b", "c", "d"};
  char yaml[400], *first = NULL;
  for (size_t i = 0; i < RS_COUNT(tasks); i++) {
    snprintf(yaml, sizeof yaml, "%s%s", model, tasks[i]);
    write_file("c.yaml", yaml);
    run_well(&(command){.arguments = {"run", "c.yaml", "--out", folders[i], "--quiet"}});
    char *names = names_in("checkpoints", "");
    if (first == NULL) first = strdup(names);
    cr_expect_eq(strcmp(names, first) == 0, i < 3, "%s: %s", tasks[i], names);
    free(names);
  }
  free(first);
}

/* ---- published models -------------------------------------------------------------------------------------------- */

/* Somebody else's model is read as our own are, with a method in the place of its recipe, and tuned. */
Test(checkpoints, folder_of_a_published_model__read_and_tuned) {
  char text[1200];
  snprintf(text, sizeof text,
           "name: p\ncheckpoint: [{name: read, folder: %s}, {name: tuned, folder: "
           "%s, tune: {steps: 2, length: 16, sequences: 2, warmup: 1}}]\n"
           "task: {name: copy}\nmethods: [trained, nope]\nlengths: [16]\nseeds: [1]\nsequences: 2\nmetrics: [loss]\n",
           model_path("llama_small"), model_path("llama_small"));
  write_file("p.yaml", text);
  run_well(&(command){.arguments = {"run", "p.yaml", "--out", "out", "--checkpoints", "kept", "--quiet"}});
  rs_table *table = read_table("out/summary.csv");
  cr_assert_eq(table->rows, 4);
  for (size_t row = 0; row < 4; row++) cr_expect_str_eq(field(table, row, "status"), "ok", "row %zu", row);
  for (size_t row = 1; row < 4; row++)
    cr_expect(fabs(number(table, row, "loss_nats") - number(table, 0, "loss_nats")) > 1e-6, "row %zu", row);
  rs_table_free(table);
}

/* Tuned from shards and from one file it is one model, but known by other names. */
Test(checkpoints, folder_of_shards__is_tuned_as_one_of_one_file) {
  static const char *const folders[] = {"llama_linear", "shards"}, *const outs[] = {"a", "b"};
  static const char *const files[] = {"model.safetensors.index.json", "model-00001-of-00002.safetensors",
                                      "model-00002-of-00002.safetensors"};
  char text[800], name[80], target[96];
  cr_assert_eq(mkdir("shards", 0755), 0);
  cr_assert_eq(symlink(model_path("llama_linear/config.json"), "shards/config.json"), 0);
  for (size_t i = 0; i < RS_COUNT(files); i++) {
    snprintf(target, sizeof target, "llama_linear/sharded/%s", files[i]);
    snprintf(name, sizeof name, "shards/%s", files[i]);
    cr_assert_eq(symlink(model_path(target), name), 0);
  }
  for (size_t i = 0; i < RS_COUNT(folders); i++) {
    snprintf(text, sizeof text,
             "checkpoint: {name: m, folder: %s, tune: {steps: 2, length: 16, sequences: 2}}\n" READING,
             i == 0 ? model_path(folders[i]) : folders[i]);
    write_file("t.yaml", text);
    run_well(&(command){.arguments = {"run", "t.yaml", "--out", outs[i], "--quiet", "--checkpoints", outs[i]}});
  }
  expect_same_csv("a", "b", "tuned from shards");
}

/* What has no way back is refused with its line, before anything is read or planned. */
Test(checkpoints, folder_of_a_model_that_is_not_trained__is_read_and_not_tuned) {
  char text[600];
  snprintf(text, sizeof text, "checkpoint: {folder: %s, tune: {steps: 2, length: 16, sequences: 2}}\n" READING,
           model_path("deepseek_v3"));
  write_file("p.yaml", text);
  result got = run(&(command){.arguments = {"plan", "p.yaml"}});
  cr_expect_eq(got.status, 2);
  cr_expect_not_null(strstr(got.err, "p.yaml:1:22: checkpoint.folder = "), "%s", got.err);
  cr_expect_not_null(strstr(got.err, ": a model with experts or narrow layers is read, and not trained"), "%s",
                     got.err);
  result_clear(&got);
}
