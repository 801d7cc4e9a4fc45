/* test_taught.c: experiments whose checkpoints learn from one another, against trainings that are done here one by one;
 * and what no teacher is. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/run/costs.h"
#include "../fixtures/reading.h"
#include "../fixtures/runs.h"

#define TASK "task: {name: where, patch_side: 3}\nsequences: 6\n"
#define WIDE "width: 16, blocks: 1, heads: 2"
#define TRAIN(steps) "train: {steps: " steps ", length: 16, sequences: 4, warmup: 2}"
#define TEACHER "  - {name: big, method: axial, " WIDE ", " TRAIN("5") "}\n"
#define PUPIL                                                                                                          \
  "  - {name: small, method: learned_2d, width: 8, blocks: 1, heads: 2, distilled: hf, teacher: big, " TRAIN("4") "}"  \
                                                                                                                  "\n"
#define REST "lengths: [16]\nmetrics: [loss]\n"

enum { TEACHER_STEPS = 5, PUPIL_STEPS = 4 };

/* ---- the same by hand -------------------------------------------------------------------------------------------- */

static rs_transformer *train_by_hand(const rs_experiment *experiment, size_t model, const rs_task *task, uint64_t seed,
                                     const rs_transformer *teacher) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  rs_shape shape = checkpoint->shape;
  rs_example_shape example;
  rs_token_layout tokens;
  rs_transformer *transformer;
  rs_trainer *trainer;
  rs_train_step step;
  rs_err err = {0};
  size_t count;
  cr_assert_eq(task->kind->shape(task->state, checkpoint->training.length, &example, NULL), RS_OK);
  cr_assert_eq(rs_task_layout(&example, teacher != NULL ? 2 : 1, &tokens, &count, NULL), RS_OK);
  shape.patch_numbers = example.patch_numbers;
  shape.classes = example.classes;
  const rs_transformer_in in = {.shape = &shape,
                                .geometry = &experiment->models[model],
                                .recipes = checkpoint->recipes,
                                .recipe_count = checkpoint->recipe_count,
                                .tokens = &tokens,
                                .format = RS_F32,
                                .seed = seed};
  cr_assert_eq(rs_transformer_create(&in, &transformer, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_trainer_create(transformer, &checkpoint->training, task, seed, &trainer, &err), RS_OK);
  if (teacher != NULL) cr_assert_eq(rs_trainer_teach(trainer, teacher, &err), RS_OK, "%s", err.message);
  for (size_t i = 0; i < checkpoint->training.steps; i++)
    cr_assert_eq(rs_trainer_step(trainer, &step, &err), RS_OK, "%s", err.message);
  rs_trainer_free(trainer);
  rs_token_layout_clear(&tokens);
  return transformer;
}

static double loss_by_hand(const rs_transformer *transformer, const rs_task *task, size_t sequences) {
  rs_context *context;
  rs_reading read;
  double sum = 0;
  cr_assert_eq(rs_context_of_task(transformer, NULL, task, 16, &context, NULL), RS_OK);
  cr_assert_eq(rs_reading_make(context, task, RS_SPLIT_EVALUATION, 16, sequences, &read, NULL), RS_OK);
  for (size_t i = 0; i < sequences; i++) sum += read.losses[i];
  rs_reading_clear(&read);
  rs_context_free(context);
  return sum / (double)sequences;
}

/* The teacher's weights are of the pupil's seed, whichever of the two comes first; or of its own. */
static void check_by_hand(const char *yaml, size_t pupil, uint64_t seed_of_teacher) {
  rs_experiment *experiment = good(yaml);
  rs_task task, own;
  const rs_task_in in = {experiment->task.params, 4}, in_own = {experiment->task.params, seed_of_teacher};
  cr_assert(experiment->checkpoints[pupil].taught && experiment->checkpoints[pupil].teacher == 1 - pupil);
  cr_assert_eq(rs_task_prepare(experiment->task.task, &in, &task, NULL), RS_OK);
  cr_assert_eq(rs_task_prepare(experiment->task.task, &in_own, &own, NULL), RS_OK);
  rs_transformer *teacher = train_by_hand(experiment, 1 - pupil, &own, seed_of_teacher, NULL);
  rs_transformer *t = train_by_hand(experiment, pupil, &task, 4, teacher);
  double wanted = loss_by_hand(t, &task, 6), got;
  run(yaml, "o");
  rs_table *table = read_table("o", "summary.csv");
  cr_assert(rs_number_read(field(table, pupil, "loss_nats"), &got), "%s", field(table, pupil, "message"));
  cr_expect_float_eq(got, wanted, 1e-12 * wanted, "%s: %.17g, not %.17g", yaml, got, wanted);
  rs_table_free(table);
  rs_transformer_free(teacher);
  rs_transformer_free(t);
  rs_task_clear(&task);
  rs_task_clear(&own);
  rs_experiment_free(experiment);
}

Test(taught, weights__are_those_of_a_training_with_the_teacher, .init = enter_folder, .fini = leave_folder) {
  check_by_hand("checkpoint:\n" TEACHER PUPIL TASK REST "seeds: [4]\n", 1, 4);
  check_by_hand("checkpoint:\n" PUPIL TEACHER TASK REST "seeds: [4]\n", 0, 4);
  check_by_hand("checkpoint:\n" PUPIL "  - {name: big, method: axial, seed: 9, " WIDE ", " TRAIN("5") "}\n" TASK REST
                                                                                                      "seeds: [4]\n",
                0, 9);
}

/* ---- trainings of a run ------------------------------------------------------------------------------------------ */

typedef struct told {
  size_t teacher, pupil; /* steps */
  size_t stop;           /* after so many of the pupil's; 0: never */
} told;

static bool note(void *context, const rs_training_report *report) {
  told *t = context;
  bool teacher = strcmp(report->checkpoint, "big") == 0;
  t->teacher += teacher;
  t->pupil += !teacher;
  return t->stop == 0 || t->pupil < t->stop;
}

static told run_keeping(const char *yaml, size_t stop, rs_status wanted) {
  told t = {.stop = stop};
  rs_experiment *experiment = good(yaml);
  const rs_training_watch watch = {.step = note, .context = &t};
  const rs_run_options options = {.directory = "o", .checkpoints = "k", .training = &watch};
  rs_run_summary summary;
  rs_err err = {0};
  cr_assert_eq(rs_run(experiment, &options, &summary, &err), wanted, "%s", err.message);
  rs_experiment_free(experiment);
  return t;
}

Test(taught, trainings__each_once__and_gone_on_with, .init = enter_folder, .fini = leave_folder) {
  static const char yaml[] = "checkpoint:\n" PUPIL TEACHER TASK REST "seeds: 2\n";
  size_t length, again;
  told all = run_keeping(yaml, 0, RS_OK);
  cr_expect(all.teacher == 2 * TEACHER_STEPS && all.pupil == 2 * PUPIL_STEPS, "%zu and %zu", all.teacher, all.pupil);
  char *whole = read_path("o", "summary.csv", &length);
  cr_assert_eq(system("rm -r o"), 0);
  told none = run_keeping(yaml, 0, RS_OK);
  cr_expect(none.teacher == 0 && none.pupil == 0, "%zu and %zu", none.teacher, none.pupil);
  cr_assert_eq(system("rm -r o k"), 0);
  told first = run_keeping(yaml, 3, RS_STOPPED);
  cr_expect(first.teacher == TEACHER_STEPS && first.pupil == 3, "%zu and %zu", first.teacher, first.pupil);
  told second = run_keeping(yaml, 0, RS_OK);
  cr_expect(second.teacher == TEACHER_STEPS && second.pupil == 2 * PUPIL_STEPS - 3, "%zu and %zu", second.teacher,
            second.pupil);
  char *parted = read_path("o", "summary.csv", &again);
  cr_expect(length == again && memcmp(whole, parted, length) == 0, "%s\n%s", whole, parted);
  free(whole);
  free(parted);
}

/* Another teacher makes another pupil; its name does not. */
Test(taught, fingerprint__has_the_teachers, .init = enter_folder, .fini = leave_folder) {
  static const char *const yamls[] = {
      "checkpoint:\n" PUPIL TEACHER TASK REST,
      "checkpoint:\n" PUPIL "  - {name: big, method: axial, " WIDE ", " TRAIN("6") "}\n" TASK REST,
      "checkpoint:\n  - {name: other, method: learned_2d, width: 8, blocks: 1, heads: 2, distilled: hf, teacher: "
      "great, " TRAIN("4") "}\n  - {name: great, method: axial, " WIDE ", " TRAIN("5") "}\n" TASK REST};
  char hashes[RS_COUNT(yamls)][65];
  for (size_t i = 0; i < RS_COUNT(yamls); i++) {
    rs_experiment *experiment = good(yamls[i]);
    rs_stage_state stages[RS_STAGES];
    const rs_weights_in in = {.model = 0, .seed = 1};
    cr_assert_eq(rs_checkpoint_stages(experiment, &in, NULL, stages, NULL), RS_OK);
    memcpy(hashes[i], stages[RS_STAGE_TRAINING].hash, 65);
    rs_experiment_free(experiment);
  }
  cr_expect_str_neq(hashes[0], hashes[1]);
  cr_expect_str_eq(hashes[0], hashes[2]);
}

/* A folder's model teaches, too; what the teacher reads is counted. */
Test(taught, plans__count_what_the_teacher_reads, .init = enter_folder, .fini = leave_folder) {
  rs_experiment *with = good("checkpoint:\n" PUPIL TEACHER TASK REST);
  rs_costs costs;
  rs_cell *cells;
  size_t count;
  cr_assert_eq(rs_experiment_cells(with, &cells, &count, NULL), RS_OK);
  cr_assert_eq(rs_costs_make(with, cells, count, NULL, &costs, NULL), RS_OK);
  /* The teacher's 5 steps of 4 take 3 passes a picture, and the pupil's 4 steps one more of each. */
  rs_checkpoint plain = with->checkpoints[0];
  double taught = costs.models[0].training, pass = costs.models[1].training / (5 * 4 * 3);
  with->checkpoints[0].taught = false;
  rs_costs_clear(&costs);
  cr_assert_eq(rs_costs_make(with, cells, count, NULL, &costs, NULL), RS_OK);
  cr_expect_float_eq(taught - costs.models[0].training, 4 * 4 * pass, 1e-6 * taught);
  rs_costs_clear(&costs);
  with->checkpoints[0] = plain;
  free(cells);
  rs_experiment_free(with);
}

Test(taught, folders__teach_and_are_taught, .init = enter_folder, .fini = leave_folder) {
  char yaml[1200];
  glob_t found;
  (void)run_keeping("checkpoint:\n" TEACHER TASK REST, 0, RS_OK);
  cr_assert_eq(glob("k/axial*", 0, NULL, &found), 0);
  snprintf(yaml, sizeof yaml, "checkpoint:\n%s  - {name: big, folder: %.80s}\n%s", PUPIL, found.gl_pathv[0], TASK REST);
  globfree(&found);
  (void)run_keeping(yaml, 0, RS_OK);
  cr_assert_eq(glob("k/learned*", 0, NULL, &found), 0);
  snprintf(yaml, sizeof yaml,
           "checkpoint:\n  - {name: more, folder: %.80s, teacher: big, tune: {steps: 2, length: 25}}\n%s%s",
           found.gl_pathv[0], TEACHER, TASK "lengths: [25]\nmetrics: [loss]\n");
  globfree(&found);
  (void)run_keeping(yaml, 0, RS_OK);
  rs_table *table = read_table("o", "summary.csv");
  cr_expect_str_eq(field(table, 0, "status"), "ok", "%s", field(table, 0, "message"));
  rs_table_free(table);
}

/* ---- what no teacher is ------------------------------------------------------------------------------------------ */

Test(taught, mistakes__are_told_before_any_training) {
#define END TASK "metrics: [loss]\n"
  static const wrong cases[] = {
      {"checkpoint: {distilled: paper}\n" END,
       "t.yaml:1:25: checkpoint.distilled = paper: has a token that learns what a teacher says, and no teacher "
       "(teacher: the name of another checkpoint)"},
      {"checkpoint: {name: a, distilled: hf, teacher: a}\n" END,
       "t.yaml:1:47: checkpoint.teacher = a: is the checkpoint itself: another one must teach it"},
      {"checkpoint: [{name: a, distilled: hf, teacher: teachr}, {name: teacher}]\n" END,
       "t.yaml:1:48: checkpoint[0].teacher = teachr: is no checkpoint of this config (did you mean teacher?)"},
      {"checkpoint: [{name: a, distilled: hf, teacher: zzzzzz}, {name: big}]\n" END,
       "t.yaml:1:48: checkpoint[0].teacher = zzzzzz: is no checkpoint of this config (give it the name of another)"},
      {"checkpoint: [{name: a, teacher: big}, {name: big}]\n" END,
       "t.yaml:1:33: checkpoint[0].teacher = big: has nobody to teach: a has no distillation token that is trained "
       "(distilled: paper, or hf)"},
      {"checkpoint: [{name: a, distilled: [none, hf], teacher: big}, {name: big}]\n" END,
       "t.yaml:1:56: checkpoint[0].teacher = big: has nobody to teach: a distilled=none has no distillation token that "
       "is trained (distilled: paper, or hf)"},
      {"checkpoint: [{name: a, distilled: hf, teacher: b}, {name: b, distilled: hf, teacher: c}, {name: c, distilled: "
       "hf, teacher: a}]\n" END,
       "t.yaml:1:48: checkpoint[0].teacher = b: is taught by this one, itself or through others: one of them must "
       "learn "
       "from the task alone"},
      {"checkpoint: [{name: a, distilled: hf, teacher: [big]}, {name: big}]\n" END,
       "t.yaml:1:48: checkpoint[0].teacher = [...]: must be one word"},
      {"checkpoint: {distilled: hf, teacher: b}\ntask: copy\nmetrics: [loss]\n",
       "t.yaml:1:25: checkpoint.distilled = hf: the task has no pictures: the distillation token stands behind the "
       "class token of a picture"},
      {"checkpoint: {distilled: hf, teacher: b, class_token: false, pool: mean}\n" END,
       "t.yaml:1:25: checkpoint.distilled = hf: class_token: false: the distillation token stands behind the class "
       "token of a picture"},
  };
  expect_messages(cases, RS_COUNT(cases));
}

/* A chain ends with one that learns from the task alone. */
Test(taught, chains__of_teachers__are_trained, .init = enter_folder, .fini = leave_folder) {
  told t = run_keeping("checkpoint:\n  - {name: last, method: axial, width: 8, blocks: 1, heads: 2, distilled: paper, "
                       "teacher: small, " TRAIN("2") "}\n" PUPIL TEACHER TASK REST "seeds: [3]\n",
                       0, RS_OK);
  cr_expect(t.teacher == TEACHER_STEPS && t.pupil == PUPIL_STEPS + 2, "%zu and %zu", t.teacher, t.pupil);
}

/* Of other classes, or other patches: 2 shapes of 3 x 3 numbers make 4 classes of 9. */
Test(taught, folders__of_other_classes_or_patches__are_refused, .init = enter_folder, .fini = leave_folder) {
  static const char *const tasks[] = {"task: {name: where, patch_side: 3, shapes: 3}\n",
                                      "task: {name: where, patch_side: 4}\n"};
  static const char *const messages[] = {
      "says 9 classes of patches of 9 numbers: the task has 4 classes and patches of 9",
      "says 4 classes of patches of 16 numbers: the task has 4 classes and patches of 9"};
  for (size_t i = 0; i < RS_COUNT(tasks); i++) {
    char yaml[1200];
    glob_t found;
    snprintf(yaml, sizeof yaml, "checkpoint:\n%s%s%s", TEACHER, tasks[i], "sequences: 4\n" REST);
    (void)run_keeping(yaml, 0, RS_OK);
    cr_assert_eq(glob("k/axial*", 0, NULL, &found), 0);
    snprintf(yaml, sizeof yaml, "checkpoint:\n%s  - {name: big, folder: %.80s}\n%s", PUPIL, found.gl_pathv[0],
             TASK REST);
    globfree(&found);
    reading got = read_edited(yaml, NULL, 0);
    cr_expect(got.err.status == RS_INPUT && strstr(message_of(&got), messages[i]) != NULL, "%s", message_of(&got));
    reading_clear(&got);
    cr_assert_eq(system("rm -r o k"), 0);
  }
}
