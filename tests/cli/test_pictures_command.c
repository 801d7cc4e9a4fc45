/* test_pictures_command.c: models that are trained on pictures from files, read on those and on others. */
#include "../fixtures/picture_files.h"
#include "../fixtures/program.h"

TestSuite(pictures_command, .init = enter_folder, .fini = leave_folder);

enum { TRAINED = 40, TESTED = 24 };

#define CHECKPOINT                                                                                                     \
  "checkpoint: {name: m, method: [sinusoidal_2d, nope], width: 8, heads: 2, blocks: 1, train: {steps: 30, length: "    \
  "16, sequences: 8, rate: 0.02}}\n"
#define REST "sequences: 64\nseeds: [1, 2]\nmetrics: [accuracy, {name: generalisation, blocks: 8}]\n"

/* CIFAR-10 of noise, whose label is seen in the mean of its red plane. */
static void write_noise(const char *path, size_t count, uint32_t seed) {
  rs_text text = {0};
  for (size_t n = 0; n < count; n++) {
    unsigned char label = (unsigned char)(n % 3);
    add_byte(&text, label);
    for (size_t i = 1; i < CIFAR_10; i++) {
      seed = seed * 1664525u + 1013904223u;
      add_byte(&text, (unsigned char)((seed >> 24) / 2 + (i <= 1024 ? 60u * label : 0)));
    }
  }
  write_bytes(path, &text);
  rs_text_clear(&text);
}

static void run_config(const char *task, const char *lengths, const char *out, const char *threads) {
  char text[1000];
  snprintf(text, sizeof text,
           CHECKPOINT "task: {name: pictures, train: train.bin, patch_side: 8, %s}\nlengths: %s\n" REST, task, lengths);
  write_file("c.yaml", text);
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", out, "--checkpoints", out, "--quiet", threads}});
}

/* What is read of training is each picture as it is, whatever training made of it: as evaluation reads the same file.
 */
Test(pictures_command, training_pictures__are_read_as_the_same_pictures_are_in_evaluation) {
  write_noise("train.bin", TRAINED, 1);
  run_config("test: train.bin, shift: 3, mirrored: 0.5", "[16]", "a", "--threads=1");
  rs_table *summary = read_table("a/summary.csv"), *blocks = read_table("a/generalisation.csv");
  cr_assert_eq(summary->rows, 4);
  cr_assert_eq(blocks->rows, 4 * 8);
  for (size_t row = 0; row < summary->rows; row++) {
    cr_expect_str_eq(field(summary, row, "status"), "ok");
    cr_expect_float_eq(number(summary, row, "train_accuracy"), number(summary, row, "accuracy"), 1e-12);
    cr_expect_float_eq(number(summary, row, "test_accuracy"), number(summary, row, "accuracy"), 1e-12);
    cr_expect_eq(number(summary, row, "accuracy_gap"), 0);
  }
  for (size_t row = 0; row < blocks->rows; row++)
    cr_expect_str_eq(field(blocks, row, "train_accuracy"), field(blocks, row, "test_accuracy"));
  rs_table_free(summary);
  rs_table_free(blocks);
}

/* Labels that are seen in a colour are learned; three threads, and pictures of twice the side. */
Test(pictures_command, noise_with_a_colour__is_learned__the_same_for_any_threads) {
  write_noise("train.bin", TRAINED, 1);
  write_noise("test.bin", TESTED, 2);
  run_config("test: test.bin, shift: 2, mirrored: 0.5", "[16, 64]", "a", "--threads=1");
  run_config("test: test.bin, shift: 2, mirrored: 0.5", "[16, 64]", "b", "--threads=3");
  expect_same_csv("a", "b", "threads");
  rs_table *summary = read_table("a/summary.csv");
  cr_assert_eq(summary->rows, 8);
  for (size_t row = 0; row < summary->rows; row++) {
    cr_expect_str_eq(field(summary, row, "status"), "ok");
    cr_expect_geq(number(summary, row, "train_accuracy"), 0.8, "row %zu", row);
    cr_expect_geq(number(summary, row, "test_accuracy"), 0.8, "row %zu", row);
    cr_expect_float_eq(number(summary, row, "chance_accuracy"), 1.0 / 3, 1e-12);
  }
  rs_table_free(summary);
}

/* A table over seeds has intervals of paired differences by the blocks. */
Test(pictures_command, table_over_seeds__has_intervals_by_blocks) {
  write_noise("train.bin", TRAINED, 1);
  run_config("share: 0.25, pictures: 24", "[16]", "a", "--threads=1");
  char *text = output_of(&(command){.arguments = {"table", "a", "--lines", "checkpoint.method", "test_accuracy"}});
  cr_expect(strstr(text, "[") != NULL, "%s", text);
  free(text);
}

Test(pictures_command, mistakes__are_told_at_their_key_before_work_begins) {
  static const struct {
    const char *task, *rest, *message;
  } wrong[] = {
      {"name: pictures, train: cut.bin", "",
       "c.yaml:2:31: task.train = cut.bin: %s/cut.bin: begins neither as IDX, .npy nor gzip, and its 3072 bytes are no "
       "whole number of CIFAR-10's records (3073 bytes) or CIFAR-100's (3074): is it cut off?"},
      {"name: pictures, train: train.bin, patch_side: 5", "",
       "c.yaml:2:54: task.patch_side = 5: pictures of 32 x 32 are not whole patches of 5 x 5"},
      {"name: pictures, train: train.bin, labels: cut.bin", "",
       "c.yaml:2:50: task.labels = cut.bin: %s/train.bin: a file of CIFAR has its labels in it (leave out %s/cut.bin)"},
      {"name: where", "metrics: [generalisation]\n",
       "c.yaml:4:10: metrics = [...]: has generalisation, which reads again what the task trains on, and that has no "
       "end (task: pictures has, of pictures in files)"},
  };
  write_noise("train.bin", TRAINED, 1);
  write_noise("cut.bin", 1, 1);
  cr_assert_eq(truncate("cut.bin", 3072), 0);
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    char text[600], message[900], wanted[1000];
    snprintf(text, sizeof text,
             "checkpoint: {method: nope, train: {steps: 1, length: 16}}\ntask: {%s}\nlengths: [16]\n%s", wrong[i].task,
             wrong[i].rest);
    write_file("c.yaml", text);
    snprintf(message, sizeof message, wrong[i].message, folder, folder);
    snprintf(wanted, sizeof wanted, "%s\nropescope: c.yaml: 1 problem\n", message);
    expect_failure(&(command){.arguments = {"run", "c.yaml", "--out", "r"}}, 2, wanted);
    cr_expect_not(exists("r"));
  }
}
