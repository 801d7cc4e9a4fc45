/* test_larger_pictures.c: vision models read and tuned on pictures larger than trained, in one run and from their
 * folders. */
#include "../fixtures/program.h"

#include <dirent.h>

TestSuite(larger_pictures, .init = enter_folder, .fini = leave_folder);

#define SHAPE "width: 8, heads: 2, blocks: 1, "
#define TRAIN "train: {steps: 20, length: 16, sequences: 4, rate: 0.02}"
#define READING                                                                                                        \
  "task: {name: where, patch_side: 3}\nsequences: 16\nlengths: [9, 16, 36, 64]\nmetrics: [loss]\nseeds: [1]\n"
enum { LENGTHS = 4 };

/* Tables that are resized, one that is not, and what has none. */
static const char *const methods[] = {
    "{name: learned_2d, init_sd: 0.5}",
    "{name: learned_2d, combine: sum, init_sd: 0.5}",
    "{name: learned_2d, combine: concat, init_sd: 0.5}",
    "{name: swin, init_sd: 0.5}",
    "{name: relative, clip: 5, init_sd: 0.5}",
    "{name: sinusoidal_2d}",
    "{name: axial}",
};

/* The path of the only folder in `checkpoints`. */
static void find_folder(const char *checkpoints, char path[300]) {
  struct dirent **entries = NULL;
  int count = scandir(checkpoints, &entries, NULL, alphasort), found = 0;
  for (int i = 0; i < count; i++) {
    if (entries[i]->d_name[0] != '.' && ++found == 1) snprintf(path, 300, "%s/%.200s", checkpoints, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  cr_assert_eq(found, 1, "%d folders in %s", found, checkpoints);
}

static void run_checkpoint(const char *checkpoint, const char *checkpoints, const char *out) {
  char text[1000];
  snprintf(text, sizeof text, "checkpoint: {name: model, %s}\n" READING, checkpoint);
  write_file("c.yaml", text);
  run_well(&(command){
      .arguments = {"run", "c.yaml", "--out", out, "--checkpoints", checkpoints, "--quiet", "--force", "--threads=1"}});
}

/* How many lengths have the same loss in both. */
static size_t same_losses(const char *a, const char *b) {
  rs_table *first = read_table(a), *second = read_table(b);
  size_t same = 0;
  cr_assert(first->rows == LENGTHS && second->rows == LENGTHS);
  for (size_t row = 0; row < LENGTHS; row++) {
    double loss = number(first, row, "loss_nats");
    cr_expect(loss > 0, "%s: loss %g", a, loss);
    same += loss == number(second, row, "loss_nats");
  }
  rs_table_free(first);
  rs_table_free(second);
  return same;
}

static void expect_same_summary(const char *a, const char *b, const char *what) {
  size_t length;
  char *first = read_path(a, &length), *second = read_path(b, &length);
  cr_expect_str_eq(first, second, "%s: %s and %s differ", what, a, b);
  free(first);
  free(second);
}

static void check_method(const char *method) {
  char folder_path[300], text[700];
  snprintf(text, sizeof text, "method: %s, " SHAPE TRAIN, method);
  run_checkpoint(text, "kept/trained", "a");
  find_folder("kept/trained", folder_path);

  snprintf(text, sizeof text, "folder: %s", folder_path);
  run_checkpoint(text, "none", "b");
  expect_same_summary("a/summary.csv", "b/summary.csv", method);

  snprintf(text, sizeof text, "folder: %s, tune: {steps: 2, length: 36, sequences: 4, rate: 0}", folder_path);
  run_checkpoint(text, "kept/still", "still");
  cr_expect_eq(same_losses("a/summary.csv", "still/summary.csv"), LENGTHS, "%s: a rate of 0", method);

  snprintf(text, sizeof text, "folder: %s, tune: {steps: 10, length: 36, sequences: 4, rate: 0.02}", folder_path);
  run_checkpoint(text, "kept/tuned", "tuned");
  cr_expect_eq(same_losses("a/summary.csv", "tuned/summary.csv"), 0, "%s: tuning", method);
  find_folder("kept/tuned", folder_path);
  snprintf(text, sizeof text, "folder: %s", folder_path);
  run_checkpoint(text, "none", "tuned-again");
  expect_same_summary("tuned/summary.csv", "tuned-again/summary.csv", method);

  snprintf(text, sizeof text, "method: %s, " SHAPE TRAIN ", tune: {steps: 10, length: 36, sequences: 4, rate: 0.02}",
           method);
  run_checkpoint(text, "kept/both", "both");
  expect_same_summary("tuned/summary.csv", "both/summary.csv", method);
}

Test(larger_pictures, read_and_tuned__same_numbers_from_folders) {
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    check_method(methods[i]);
    remove_folder("kept");
  }
}

/* A table of positions in their order has no grid that it could be resized to. */
Test(larger_pictures, learned_in_one_dimension__ends_where_it_was_trained) {
  static const char *const wanted[LENGTHS] = {"ok", "ok", "domain", "domain"};
  run_checkpoint("method: learned, " SHAPE TRAIN, "kept", "a");
  rs_table *table = read_table("a/summary.csv");
  cr_assert_eq(table->rows, LENGTHS);
  for (size_t row = 0; row < LENGTHS; row++) cr_expect_str_eq(field(table, row, "status"), wanted[row], "row %zu", row);
  cr_expect_str_eq(field(table, 2, "message"), "learned: position 36 is beyond the table of 17 rows");
  rs_table_free(table);
}
