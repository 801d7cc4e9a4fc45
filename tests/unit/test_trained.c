/* test_trained.c: experiments with checkpoints, against trainings and readings that are made here one by one. */
#include <criterion/criterion.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/run/costs.h"
#include "../fixtures/reading.h"
#include "../fixtures/runs.h"

TestSuite(trained, .init = enter_folder, .fini = leave_folder);

#define TASK                                                                                                           \
  "task: {name: dictionary, keys: 4, values: 4, keys_in_use: 2, depths: [0, 0.5]}\nsequences: 6\n"                     \
  "targets: per_length\nbaselines: none\n"
#define SHAPE "width: 16, blocks: 1, heads: 2"
#define TRAIN "train: {steps: 5, length: 16, sequences: 8, warmup: 2}"
#define PLAIN TASK "checkpoint: {method: rope, " SHAPE ", " TRAIN "}\n"

enum { STEPS = 5, TUNING = 3 };

/* ---- the same by hand -------------------------------------------------------------------------------------------- */

/* Trains it, behind `drawn` sequences. */
static void go_on(rs_transformer *transformer, const rs_training *training, const rs_task *task, uint64_t seed,
                  uint64_t drawn) {
  rs_trainer *trainer;
  rs_train_step step;
  rs_err err = {0};
  cr_assert_eq(rs_trainer_create(transformer, training, task, seed, &trainer, &err), RS_OK, "%s", err.message);
  rs_trainer_state(trainer)->drawn = drawn;
  for (size_t i = 0; i < training->steps; i++)
    cr_assert_eq(rs_trainer_step(trainer, &step, &err), RS_OK, "%s", err.message);
  rs_trainer_free(trainer);
}

/* The checkpoint of PLAIN, trained by the model layer alone. */
static rs_transformer *train_by_hand(const rs_experiment *experiment, const rs_task *task, uint64_t seed) {
  const rs_checkpoint *checkpoint = experiment->checkpoints;
  rs_shape shape = checkpoint->shape;
  rs_example_shape example;
  rs_transformer *transformer;
  rs_err err = {0};
  cr_assert_eq(task->kind->shape(task->state, checkpoint->training.length, &example, NULL), RS_OK);
  shape.vocabulary = example.vocabulary;
  shape.classes = example.classes;
  const rs_transformer_in in = {.shape = &shape,
                                .geometry = experiment->models,
                                .recipes = checkpoint->recipes,
                                .recipe_count = checkpoint->recipe_count,
                                .format = RS_F32,
                                .seed = seed};
  cr_assert_eq(rs_transformer_create(&in, &transformer, &err), RS_OK, "%s", err.message);
  go_on(transformer, &checkpoint->training, task, seed, 0);
  return transformer;
}

/* Mean loss over the targets that are no needles. */
static double loss_by_hand(const rs_experiment *experiment, const rs_transformer *transformer, size_t method,
                           const rs_task *task, size_t length) {
  enum { NEEDLE = 4 };
  rs_recipe recipe;
  rs_context *context;
  rs_reading read;
  rs_err err = {0};
  double sum = 0, count = 0;
  cr_assert_eq(rs_experiment_recipe(experiment, 0, method, &recipe, &err), RS_OK);
  cr_assert_eq(rs_context_of_task(transformer, &recipe, task, length, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_reading_make(context, task, RS_SPLIT_EVALUATION, length, experiment->sequences, &read, &err), RS_OK);
  for (size_t i = 0; i < read.sequences * read.answers; i++) {
    if (read.targets[i] == RS_NO_TARGET || read.parts[i] == NEEDLE) continue;
    sum += read.losses[i];
    count++;
  }
  rs_reading_clear(&read);
  rs_context_free(context);
  rs_recipe_clear(&recipe);
  return sum / count;
}

static void expect_loss(const rs_table *table, size_t row, double want) {
  double got;
  cr_assert(rs_number_read(field(table, row, "loss_nats"), &got), "row %zu: %s", row, field(table, row, "message"));
  cr_expect_float_eq(got, want, 1e-12 * want, "row %zu: %.17g, not %.17g", row, got, want);
}

/* Weights and sequences are of the cell's seed, methods stand in for the trained one, and rows are in order. */
Test(trained, cells__are_readings_of_the_weights_of_their_seed) {
  static const char config[] =
      PLAIN "methods: [trained, {name: pi, scale: dynamic}]\nlengths: [32, 16]\nseeds: [4, 9]\n"
            "metrics: [loss]\n";
  rs_experiment *experiment = good(config);
  rs_err err = {0};
  rs_run_summary summary = run(config, "o");
  cr_expect_eq(summary.cells, 8);
  cr_expect_eq(summary.failed, 0);
  rs_table *table = read_table("o", "summary.csv");
  cr_assert_eq(table->rows, 8);
  for (size_t s = 0; s < 2; s++) {
    const rs_task_in in = {experiment->task.params, experiment->seeds[s]};
    rs_task task;
    cr_assert_eq(rs_task_prepare(experiment->task.task, &in, &task, &err), RS_OK);
    rs_transformer *transformer = train_by_hand(experiment, &task, experiment->seeds[s]);
    for (size_t m = 0; m < 2; m++)
      for (size_t l = 0; l < 2; l++) {
        size_t row = (m * 2 + l) * 2 + s;
        expect_loss(table, row, loss_by_hand(experiment, transformer, m, &task, experiment->lengths[l]));
        cr_expect_str_eq(field(table, row, "model"), "rope");
        cr_expect_str_eq(field(table, row, "source"), "dictionary");
        cr_expect_str_eq(field(table, row, "method"), m == 0 ? "trained" : "pi");
        cr_expect_str_eq(field(table, row, "scale"), m == 0 ? "" : l == 0 ? "2" : "1");
        cr_expect_str_eq(field(table, row, "seed"), s == 0 ? "4" : "9");
      }
    rs_transformer_free(transformer);
    rs_task_clear(&task);
  }
  rs_table_free(table);
  rs_experiment_free(experiment);
}

/* ---- trainings --------------------------------------------------------------------------------------------------- */

/* What a run told of its trainings. */
typedef struct told {
  size_t trained, tuned, cells;
  double share;
  bool moved, back; /* the share rose with each step of a training, and never fell */
  bool sound;       /* each report is of the next step */
  bool ended;       /* the last was of a last step */
  size_t last;
} told;

static bool note_training(void *context, const rs_training_report *report) {
  told *t = context;
  t->sound &= report->step == (t->ended ? 1 : t->last + 1) && report->loss > 0 && report->tokens_per_second > 0 &&
              report->steps == (report->tuning ? TUNING : STEPS);
  t->last = report->step;
  t->ended = report->step == report->steps;
  t->trained += !report->tuning;
  t->tuned += report->tuning;
  return true;
}

static void note_progress(void *context, size_t done, size_t cells, double share) {
  told *t = context;
  (void)cells;
  t->moved &= share > t->share || done > t->cells || share == 1;
  t->back |= share < t->share;
  t->share = share;
  t->cells = done;
}

static told run_told(const char *config, const char *out) {
  told t = {.moved = true, .sound = true, .ended = true};
  rs_run_summary summary;
  rs_err err = {0};
  rs_experiment *experiment = good(config);
  const rs_training_watch watch = {.step = note_training, .context = &t};
  const rs_run_options options = {.directory = out, .progress = note_progress, .training = &watch, .context = &t};
  cr_assert_eq(rs_run(experiment, &options, &summary, &err), RS_OK, "%s", err.message);
  cr_expect_eq(t.cells, summary.cells);
  cr_expect(t.sound && t.moved && !t.back, "%d %d %d", t.sound, t.moved, t.back);
  cr_expect_float_eq(t.share, 1, 1e-9, "%.17g", t.share);
  rs_experiment_free(experiment);
  return t;
}

/* A checkpoint with a seed of its own is trained once; what it reads still hangs on the cell's seed. */
Test(trained, trainings__one_for_each_seed_or_one_for_all) {
  told each = run_told(PLAIN "lengths: [16, 32]\nseeds: 3\nmetrics: [loss]\n", "each");
  cr_expect_eq(each.trained, 3 * STEPS);
  told once = run_told(TASK "checkpoint: {method: rope, seed: 1, " SHAPE ", " TRAIN "}\nlengths: [16, 32]\nseeds: 3\n"
                            "metrics: [loss]\n",
                       "once");
  cr_expect_eq(once.trained, STEPS);
  rs_table *of_each = read_table("each", "summary.csv"), *of_once = read_table("once", "summary.csv");
  for (size_t row = 0; row < 6; row++)
    cr_expect_eq(strcmp(field(of_each, row, "loss_nats"), field(of_once, row, "loss_nats")) == 0, row % 3 == 1,
                 "row %zu: the weights of seed 1 are those of seed 1 alone", row);
  cr_expect_str_neq(field(of_once, 0, "loss_nats"), field(of_once, 1, "loss_nats"));
  rs_table_free(of_each);
  rs_table_free(of_once);
}

/* Tuning goes on from the weights that training gave, with the method that it names. */
Test(trained, tuning__is_told_and_changes_what_is_read) {
  told tuned = run_told(TASK "checkpoint: {method: rope, " SHAPE ", " TRAIN
                             ", tune: {steps: 3, length: 32, sequences: 4, method: {name: pi, scale: dynamic}}}\n"
                             "lengths: [32]\nseeds: 1\nmetrics: [loss]\n",
                        "tuned");
  run_told(PLAIN "lengths: [32]\nseeds: 1\nmetrics: [loss]\nmethods: [trained, {name: pi, scale: dynamic}]\n", "plain");
  cr_expect_eq(tuned.trained, STEPS);
  cr_expect_eq(tuned.tuned, TUNING);
  rs_table *after = read_table("tuned", "summary.csv"), *before = read_table("plain", "summary.csv");
  cr_expect_str_eq(field(after, 0, "scale"), "2", "the method that it was tuned with: %s", field(after, 0, "scale"));
  for (size_t row = 0; row < 2; row++) cr_expect_str_neq(field(after, 0, "loss_nats"), field(before, row, "loss_nats"));
  double loss = 0, untuned = 0;
  cr_assert(rs_number_read(field(after, 0, "loss_nats"), &loss) &&
            rs_number_read(field(before, 1, "loss_nats"), &untuned));
  cr_expect_lt(fabs(loss - untuned), 0.2, "%g and %g: three steps from there, not from the start", loss, untuned);
  rs_table_free(after);
  rs_table_free(before);
}

#define TUNE "tune: {steps: 3, length: 32, sequences: 4}"

/* Tuned with the same method, on sequences that training has not seen: it saw 5 steps of 8. */
Test(trained, tuning__goes_on_behind_the_sequences_of_training) {
  static const char config[] = TASK "checkpoint: {method: rope, " SHAPE ", " TRAIN ", " TUNE "}\n"
                                    "lengths: [32]\nseeds: [4]\nmetrics: [loss]\n";
  rs_experiment *experiment = good(config);
  rs_task task;
  const rs_task_in in = {experiment->task.params, 4};
  cr_assert_eq(rs_task_prepare(experiment->task.task, &in, &task, NULL), RS_OK);
  rs_transformer *transformer = train_by_hand(experiment, &task, 4);
  go_on(transformer, &experiment->checkpoints->tuning, &task, 4, STEPS * 8);
  run(config, "o");
  rs_table *table = read_table("o", "summary.csv");
  expect_loss(table, 0, loss_by_hand(experiment, transformer, 0, &task, 32));
  rs_table_free(table);
  rs_transformer_free(transformer);
  rs_task_clear(&task);
  rs_experiment_free(experiment);
}

/* A rate of 0 leaves all weights as they were trained: what differs is what the model can read. So do no steps. */
Test(trained, tuning__table_of_positions__keeps_its_rows_and_grows) {
  static const char *const tunes[] = {"", ", tune: {steps: 3, length: 32, sequences: 2, rate: 0}",
                                      ", tune: {steps: 0, length: 32, method: learned}"};
  static const char *const outs[] = {"as trained", "still", "no steps"};
  char config[600], losses[3][32];
  for (size_t i = 0; i < RS_COUNT(tunes); i++) {
    snprintf(config, sizeof config,
             TASK "checkpoint: {method: learned, " SHAPE ", " TRAIN
                  "%s}\nlengths: [16, 32]\nseeds: [1]\nmetrics: [loss]\n",
             tunes[i]);
    run(config, outs[i]);
    rs_table *table = read_table(outs[i], "summary.csv");
    snprintf(losses[i], sizeof losses[i], "%.31s", field(table, 0, "loss_nats"));
    cr_expect_str_eq(losses[i], losses[0]);
    cr_expect_str_eq(field(table, 1, "status"), i == 0 ? "domain" : "ok", "%s", field(table, 1, "message"));
    rs_table_free(table);
  }
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Tables are those that the checkpoint has learned: they differ between seeds, whose names their rows have. */
Test(trained, metrics_of_tables__read_what_was_learned) {
  run(TASK "checkpoint: {method: [t5, rope], " SHAPE ", " TRAIN "}\nlengths: [16]\nseeds: 2\nmetrics: [decay]\n", "o");
  rs_table *decay = read_table("o", "decay.csv");
  size_t differ[2] = {0}, rows = decay->rows / 4;
  for (size_t m = 0; m < 2; m++)
    for (size_t i = 0; i < rows; i++) {
      size_t first = 2 * m * rows + i, second = first + rows;
      cr_assert_str_eq(field(decay, first, "seed"), "0");
      cr_assert_str_eq(field(decay, second, "seed"), "1");
      cr_assert_str_eq(field(decay, first, "source"), "dictionary");
      differ[m] += strcmp(field(decay, first, "bias_nats"), field(decay, second, "bias_nats")) != 0;
    }
  cr_expect_geq(differ[0], rows / 2, "biases of T5: %zu of %zu", differ[0], rows);
  cr_expect_eq(differ[1], 0, "RoPE learns none");
  rs_table_free(decay);
}

Test(trained, swept_shapes__have_a_column_of_their_own) {
  (void)run(
      "task: {name: copy, symbols: 3}\nsequences: 4\nlengths: [4]\nseeds: 1\nmetrics: [loss]\n"
      "checkpoint: {method: rope, width: [8, 16], blocks: 1, heads: 2, train: {steps: 2, length: 4, sequences: 2}}\n",
      "o");
  rs_table *table = read_table("o", "summary.csv");
  cr_assert_eq(table->rows, 2u);
  cr_expect_str_eq(field(table, 0, "checkpoint.width"), "8");
  cr_expect_str_eq(field(table, 1, "checkpoint.width"), "16");
  rs_table_free(table);
}

/* ---- cells without values ---------------------------------------------------------------------------------------- */

/* A training that diverges, a table that ends, a length without a sequence: rows of their own, the others go on. */
Test(trained, undefined_cells__have_status_and_message) {
  rs_run_summary summary = run(TASK "checkpoint:\n  - {name: wild, method: rope, " SHAPE
                                    ", train: {steps: 60, length: 16, sequences: 4, warmup: 0, rate: 10, decay: 10}}\n"
                                    "  - {name: ends, method: learned, " SHAPE ", " TRAIN "}\n"
                                    "lengths: [4, 16, 32]\nseeds: 1\nmetrics: [loss, accuracy]\n",
                               "o");
  static const char *const want[] = {
      "diverged at step",           "diverged at step", "diverged at step", "4 tokens: 2 needles", "",
      "beyond the table of 16 rows"};
  rs_table *table = read_table("o", "summary.csv"), *curve = read_table("o", "accuracy.csv");
  cr_expect_eq(summary.failed, 5);
  for (size_t row = 0; row < RS_COUNT(want); row++) {
    bool ok = *want[row] == '\0';
    cr_expect_not_null(strstr(field(table, row, "message"), want[row]), "%zu: %s", row, field(table, row, "message"));
    cr_expect_str_eq(field(table, row, "status"), ok ? "ok" : "domain");
    cr_expect_eq(*field(table, row, "loss_nats") != '\0', ok, "row %zu", row);
  }
  for (size_t row = 0; row < curve->rows; row++) cr_expect_str_eq(field(curve, row, "cell"), "4");
  rs_table_free(table);
  rs_table_free(curve);
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

/* The recipe of small models: 100928 weights of matrices for each of 64 x 64 tokens, 2080 pairs of tokens in each head
 * dim of 2 blocks, queries with keys and weights with values; a pass back takes twice a pass forward. */
Test(trained, plan__counts_flops_of_training_and_reading) {
  rs_experiment *experiment = good("task: dictionary\nsequences: 10\nlengths: [64, 128]\nseeds: 3\n"
                                   "targets: per_length\nbaselines: none\n"
                                   "checkpoint: {method: rope, width: 64, blocks: 2, heads: 2, train: {steps: 7}}\n"
                                   "metrics: [loss]\n");
  const double weights = 100928, dims = 64, blocks = 2;
  double step = 6 * 64 * (64 * weights + blocks * dims * 2 * 2080);
  double one = 2 * 64 * weights + blocks * dims * 4 * 2080, two = 2 * 128 * weights + blocks * dims * 4 * 8256;
  rs_plan plan;
  cr_assert_eq(rs_plan_make(experiment, NULL, &plan, NULL), RS_OK);
  cr_expect_eq(plan.trainings, 3);
  cr_expect_float_eq(plan.training_flops, 3 * 7 * step, 1, "%.17g, not %.17g", plan.training_flops, 3 * 7 * step);
  cr_expect_float_eq(plan.reading_flops, 3 * 10 * (one + two), 1, "%.17g", plan.reading_flops);
  cr_expect_eq(plan.score_flops, 0);
  double weights_alone = 11 * 4 * 103872.0;
  cr_expect(plan.peak_bytes > weights_alone && plan.peak_bytes < 64 << 20, "%g bytes", plan.peak_bytes);
  rs_experiment_free(experiment);
}

/* What is tuned in several ways is trained once: 2 seeds are trained and each tuned twice, for 3 and for 5 steps. */
Test(trained, plan__counts_what_is_tuned_from_once) {
  rs_experiment *tuned =
      good(TASK "checkpoint: {method: rope, " SHAPE ", " TRAIN ", tune: {steps: [0, 3, 5], length: 32, sequences: 4}}\n"
                "lengths: [16, 32]\nseeds: 2\nmetrics: [loss]\n");
  rs_experiment *plain = good(PLAIN "lengths: [16]\nseeds: 2\nmetrics: [loss]\n");
  rs_experiment *longer =
      good(TASK "checkpoint: {method: rope, " SHAPE ", train: {steps: 8, length: 32, sequences: 4}}\n"
                "lengths: [16]\nseeds: 2\nmetrics: [loss]\n");
  rs_plan plan, first, second;
  cr_assert_eq(rs_plan_make(tuned, NULL, &plan, NULL), RS_OK);
  cr_assert_eq(rs_plan_make(plain, NULL, &first, NULL), RS_OK);
  cr_assert_eq(rs_plan_make(longer, NULL, &second, NULL), RS_OK);
  double wanted = first.training_flops + second.training_flops;
  cr_expect_eq(plan.trainings, 2 + 4, "%zu", plan.trainings);
  cr_expect_float_eq(plan.training_flops, wanted, 1e-9 * wanted, "%g, not %g", plan.training_flops, wanted);
  rs_experiment_free(tuned);
  rs_experiment_free(plain);
  rs_experiment_free(longer);
}

static rs_cell_cost *count_flops(const rs_experiment *experiment, size_t cells, rs_costs *costs) {
  rs_cell *list;
  size_t count;
  cr_assert_eq(rs_experiment_cells(experiment, &list, &count, NULL), RS_OK);
  cr_assert_eq(count, cells);
  cr_assert_eq(rs_costs_make(experiment, list, count, NULL, costs, NULL), RS_OK);
  free(list);
  return costs->items;
}

/* Cells are of two lengths and two seeds. */
Test(trained, costs__have_the_training_in_the_first_cell_of_its_weights) {
  rs_costs costs;
  rs_experiment *experiment = good(TASK "checkpoint: {method: rope, " SHAPE ", train: {steps: 1000}}\n"
                                        "lengths: [32, 64]\nseeds: 2\nmetrics: [loss]\n");
  const rs_cell_cost *items = count_flops(experiment, 4, &costs);
  for (size_t i = 0; i < 2; i++) {
    cr_expect_eq(items[i].made, costs.models[0].training);
    cr_expect(items[2 + i].made == 0 && items[2 + i].own > 2 * items[i].own && items[i].tuned == 0);
  }
  rs_costs_clear(&costs);
  rs_experiment_free(experiment);
}

/* Films of 3 x 3 patches have no sequence of 100 tokens: to fail takes nothing. */
Test(trained, costs__of_lengths_that_the_task_has_not__are_none) {
  rs_costs costs;
  rs_experiment *experiment =
      good("checkpoint: {width: 16, blocks: 1, train: {steps: 1, length: 27, sequences: 2}}\n"
           "task: {name: film, side: 3}\nlengths: [27, 100]\nmethods: [trained, axial]\nseeds: 1\n"
           "metrics: [loss]\n");
  const rs_cell_cost *items = count_flops(experiment, 4, &costs);
  cr_expect(items[2].own > 1000 && items[3].own == 1, "%g %g", items[2].own, items[3].own);
  rs_costs_clear(&costs);
  rs_experiment_free(experiment);
}

/* The share of a run when its first cell is done, which is the last seen before the second. */
typedef struct shares {
  double first, last;
} shares;

static void note_share(void *context, size_t done, size_t cells, double share) {
  shares *s = context;
  cr_expect(share >= s->last && share <= 1 + 1e-12 && done <= cells, "%g after %g", share, s->last);
  if (done == 1 && s->first == 0) s->first = share;
  s->last = share;
}

static shares run_keeping(const rs_experiment *experiment) {
  shares seen = {0};
  rs_run_summary summary;
  rs_err err = {0};
  const rs_run_options options = {.directory = "o", .checkpoints = "k", .progress = note_share, .context = &seen};
  cr_assert_eq(rs_run(experiment, &options, &summary, &err), RS_OK, "%s", err.message);
  cr_expect_float_eq(seen.last, 1, 1e-9);
  return seen;
}

/* Of two trainings that are all the work the first is half, whose steps have all been told when it ends. */
Test(trained, trainings__are_told_step_by_step_and_not_again) {
  rs_experiment *experiment = good(TASK "checkpoint: {method: rope, " SHAPE ", train: {steps: 50, length: 16}}\n"
                                        "lengths: [16]\nseeds: 2\nmetrics: [loss]\n");
  double first = run_keeping(experiment).first;
  cr_expect(first > 0.45 && first < 0.55, "%g", first);
  rs_experiment_free(experiment);
}

/* What is there already is no part of the progress, nor of the plan; to read a folder takes time, too. */
Test(trained, trained_already__is_not_counted) {
  static const char rest[] = "lengths: [16, 64]\nseeds: 1\nmetrics: [loss]\n";
  char yaml[600];
  rs_costs costs;
  rs_plan plan;
  snprintf(yaml, sizeof yaml, TASK "checkpoint: {method: rope, " SHAPE ", train: {steps: 50, length: 16}}\n%s", rest);
  rs_experiment *experiment = good(yaml);
  cr_expect_gt(run_keeping(experiment).first, 0.9, "the training");
  cr_expect_lt(run_keeping(experiment).first, 0.3, "the shorter of two readings");
  rs_experiment_free(experiment);

  glob_t found;
  cr_assert_eq(glob("k/*", 0, NULL, &found), 0);
  snprintf(yaml, sizeof yaml, TASK "checkpoint: {folder: %.80s}\n%s", found.gl_pathv[0], rest);
  globfree(&found);
  experiment = good(yaml);
  const rs_cell_cost *items = count_flops(experiment, 2, &costs);
  cr_expect(items[0].own > 1 && items[1].own > 3.5 * items[0].own && items[0].made == 0 && items[1].made == 0);
  rs_costs_clear(&costs);
  cr_assert_eq(rs_plan_make(experiment, NULL, &plan, NULL), RS_OK);
  cr_expect(plan.trainings == 0 && plan.trained == 0 && plan.training_flops == 0);
  rs_experiment_free(experiment);
}

/* ---- states on the disk ------------------------------------------------------------------------------------------ */

static bool look_for_state(void *context, const rs_training_report *report) {
  glob_t found;
  bool there = glob("k/*/training.safetensors", 0, NULL, &found) == 0;
  globfree(&found);
  if (report->step == 3) *(bool *)context = there;
  return true;
}

/* Behind each step, where the user wants that; in half a minute, where nobody says when. */
Test(trained, training__is_brought_to_the_disk_as_often_as_is_asked) {
  rs_experiment *experiment = good(TASK "checkpoint: {method: rope, " SHAPE ", train: {steps: 4, length: 16}}\n"
                                        "lengths: [16]\nmetrics: [loss]\n");
  for (int asked = 0; asked < 2; asked++) {
    bool there = false;
    rs_run_summary summary;
    rs_err err = {0};
    const rs_training_watch watch = {.step = look_for_state, .context = &there, .save_interval = asked == 1 ? 1e-9 : 0};
    const rs_run_options options = {.directory = "o", .checkpoints = "k", .training = &watch};
    cr_assert_eq(rs_run(experiment, &options, &summary, &err), RS_OK, "%s", err.message);
    cr_expect_eq(there, asked == 1);
    cr_assert_eq(system("rm -r k"), 0);
  }
  rs_experiment_free(experiment);
}
