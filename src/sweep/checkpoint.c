/* From a checkpoint's description to its weights. */
#include "checkpoint.h"

#include <time.h>

rs_status rs_checkpoint_task(const rs_experiment *experiment, uint64_t seed, rs_task *task, rs_err *err) {
  const rs_task_in in = {.params = experiment->task.params, .seed = seed};
  return rs_task_prepare(experiment->task.task, &in, task, err);
}

/* A transformer for sequences of `length` tokens of the task. */
static rs_status create(const rs_experiment *experiment, size_t model, uint64_t seed, const rs_recipe *recipes,
                        const rs_task *task, size_t length, rs_transformer **transformer, rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  rs_shape shape = checkpoint->shape;
  rs_model geometry = experiment->models[model];
  rs_example_shape example;
  rs_token_layout layout;
  RS_TRY(task->kind->shape(task->state, length, &example, err));
  shape.vocabulary = example.vocabulary;
  shape.patch_numbers = example.patch_numbers;
  shape.classes = example.classes;
  RS_TRY(rs_task_layout(&example, &layout, &geometry.train_length, err));
  geometry.max_length = geometry.train_length;
  const rs_transformer_in in = {.shape = &shape,
                                .geometry = &geometry,
                                .recipes = recipes,
                                .recipe_count = checkpoint->recipe_count,
                                .tokens = &layout,
                                .format = checkpoint->format,
                                .seed = seed};
  rs_status status = rs_transformer_create(&in, transformer, err);
  rs_token_layout_clear(&layout);
  return status;
}

rs_status rs_checkpoint_create(const rs_experiment *experiment, size_t model, uint64_t seed,
                               rs_transformer **transformer, rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  rs_task task;
  *transformer = NULL;
  if (checkpoint->folder != NULL)
    return rs_fail(err, RS_UNSUPPORTED, "%s: checkpoints in folders cannot be read", checkpoint->folder);
  RS_TRY(rs_checkpoint_task(experiment, seed, &task, err));
  rs_status status =
      create(experiment, model, seed, checkpoint->recipes, &task, checkpoint->training.length, transformer, err);
  rs_task_clear(&task);
  return status;
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static double seconds_since(const struct timespec *start) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static rs_status take_steps(rs_trainer *trainer, const rs_training *training, rs_training_report report,
                            const rs_training_watch *watch, rs_err *err) {
  double tokens = (double)training->sequences * (double)training->length;
  struct timespec start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (size_t i = 0; i < training->steps; i++) {
    rs_train_step done;
    RS_TRY(rs_trainer_step(trainer, &done, err));
    report.step = done.step;
    report.loss = done.loss;
    report.tokens_per_second = tokens * (double)done.step / seconds_since(&start);
    watch->step(watch->context, &report);
  }
  return RS_OK;
}

static rs_status train(rs_transformer *transformer, const rs_task *task, const rs_training *training,
                       rs_training_report report, const rs_training_watch *watch, rs_err *err) {
  rs_trainer *trainer;
  RS_TRY(rs_trainer_create(transformer, training, task, report.seed, &trainer, err));
  rs_status status = take_steps(trainer, training, report, watch, err);
  rs_trainer_free(trainer);
  return status;
}

/* Puts the weights into a transformer made for what it is tuned with, and trains that. */
static rs_status tune(const rs_experiment *experiment, size_t model, const rs_task *task, rs_training_report report,
                      const rs_training_watch *watch, rs_transformer **transformer, rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  const rs_recipe *recipes = checkpoint->tuned_recipes != NULL ? checkpoint->tuned_recipes : checkpoint->recipes;
  rs_transformer *tuned;
  RS_TRY(create(experiment, model, report.seed, recipes, task, checkpoint->tuning.length, &tuned, err));
  rs_transformer_adopt(tuned, *transformer);
  rs_transformer_free(*transformer);
  *transformer = tuned;
  report.tuning = true;
  report.steps = checkpoint->tuning.steps;
  return train(tuned, task, &checkpoint->tuning, report, watch, err);
}

rs_status rs_checkpoint_obtain(const rs_experiment *experiment, size_t model, uint64_t seed,
                               const rs_training_watch *watch, rs_transformer **transformer, rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  const rs_training_report report = {
      .checkpoint = experiment->models[model].name, .seed = seed, .steps = checkpoint->training.steps};
  rs_task task;
  RS_TRY(rs_checkpoint_create(experiment, model, seed, transformer, err));
  rs_status status = rs_checkpoint_task(experiment, seed, &task, err);
  if (status == RS_OK) status = train(*transformer, &task, &checkpoint->training, report, watch, err);
  if (status == RS_OK && checkpoint->tuned) status = tune(experiment, model, &task, report, watch, transformer, err);
  rs_task_clear(&task);
  if (status == RS_OK) return RS_OK;
  rs_transformer_free(*transformer);
  *transformer = NULL;
  return status;
}
