/* From a checkpoint's description to its weights: read from its folder, or trained; then tuned where it is to be. */
#include "checkpoint.h"

#include "training.h"

#include <stdio.h>
#include <stdlib.h>

rs_status rs_checkpoint_task(const rs_experiment *experiment, uint64_t seed, rs_task *task, rs_err *err) {
  const rs_task_in in = {.params = experiment->task.params, .seed = seed};
  return rs_task_prepare(experiment->task.task, &in, task, err);
}

/* ---- what is to be trained --------------------------------------------------------------------------------------- */

/* A training. Task, shape and tokens are its own; recipes and settings are the experiment's. */
typedef struct plan {
  rs_trained trained;
  rs_task task;
} plan;

static void plan_clear(plan *p) {
  rs_shape_clear(&p->trained.shape);
  rs_token_layout_clear(&p->trained.tokens);
  if (p->task.kind != NULL) rs_task_clear(&p->task);
}

/* What the task says of shape and tokens at the length of training. */
static rs_status fit_task(plan *p, rs_err *err) {
  rs_example_shape example;
  rs_trained *t = &p->trained;
  RS_TRY(p->task.kind->shape(p->task.state, t->training.length, &example, err));
  RS_TRY(rs_task_layout(&example, &t->tokens, &t->geometry.train_length, err));
  t->shape.vocabulary = example.vocabulary;
  t->shape.patch_numbers = example.patch_numbers;
  t->shape.classes = example.classes;
  t->geometry.max_length = t->geometry.train_length;
  return RS_OK;
}

/* `tuned`: the second training, of the model that the first gave. */
static rs_status plan_make(const rs_experiment *experiment, size_t model, uint64_t seed, bool tuned, plan *p,
                           rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  bool changed = tuned && checkpoint->tuned_recipes != NULL;
  *p = (plan){.trained = {.geometry = experiment->models[model],
                          .recipes = changed ? checkpoint->tuned_recipes : checkpoint->recipes,
                          .recipe_count = checkpoint->recipe_count,
                          .format = checkpoint->format,
                          .training = tuned ? checkpoint->tuning : checkpoint->training,
                          .task = experiment->task,
                          .seed = seed}};
  p->trained.geometry.published = (rs_recipe){0};
  rs_status status = rs_shape_copy(&p->trained.shape, &checkpoint->shape, err);
  if (status == RS_OK) status = rs_checkpoint_task(experiment, seed, &p->task, err);
  if (status == RS_OK) status = fit_task(p, err);
  if (status != RS_OK) plan_clear(p);
  return status;
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

/* Somebody else's, in Hugging Face's layout: of what it was trained with, its shape is known. */
static rs_status read_published(const rs_checkpoint *checkpoint, rs_trained *trained, rs_transformer **transformer,
                                rs_err *err) {
  rs_hf_checkpoint found;
  RS_TRY(rs_hf_checkpoint_read(checkpoint->folder, &found, err));
  rs_status status = rs_hf_checkpoint_load(&found, checkpoint->folder, checkpoint->format, transformer, err);
  *trained = (rs_trained){.shape = found.shape, .format = checkpoint->format};
  found.shape = (rs_shape){0};
  rs_hf_checkpoint_clear(&found);
  if (status != RS_OK) rs_trained_clear(trained);
  return status;
}

/* The transformer of a folder, as it stands there: weights that somebody has changed are what is wanted. */
static rs_status read_folder(const rs_checkpoint *checkpoint, rs_trained *trained, rs_transformer **transformer,
                             rs_err *err) {
  const char *folder = checkpoint->folder;
  if (!rs_trained_marked(folder)) return read_published(checkpoint, trained, transformer, err);
  RS_TRY(rs_trained_read(folder, trained, err));
  rs_status status = RS_OK;
  if (*trained->weights == '\0')
    status = rs_fail(err, RS_INPUT, "%s: training is not done: %zu of %zu steps", folder, trained->steps,
                     trained->training.steps);
  if (status == RS_OK) status = rs_trained_load(trained, folder, transformer, err);
  if (status != RS_OK) rs_trained_clear(trained);
  return status;
}

rs_status rs_checkpoint_create(const rs_experiment *experiment, size_t model, uint64_t seed,
                               rs_transformer **transformer, rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  rs_trained found;
  plan p;
  *transformer = NULL;
  if (checkpoint->folder != NULL) {
    RS_TRY(read_folder(checkpoint, &found, transformer, err));
    rs_trained_clear(&found);
    return RS_OK;
  }
  RS_TRY(plan_make(experiment, model, seed, false, &p, err));
  rs_status status = rs_trained_create(&p.trained, transformer, err);
  plan_clear(&p);
  return status;
}

/* ---- training and tuning ----------------------------------------------------------------------------------------- */

static rs_status obtain(const plan *p, const rs_transformer *origin, const rs_checkpoint_place *place,
                        rs_transformer **transformer, rs_err *err) {
  const rs_training_job job = {
      .trained = &p->trained, .task = &p->task, .origin = origin, .checkpoints = place->folder, .watch = place->watch};
  return rs_training_obtain(&job, transformer, err);
}

/* What a folder's model is tuned from is known by its weights. */
static rs_status fingerprint_folder(const char *folder, char hash[65], rs_err *err) {
  char *weights = rs_path_join(folder, RS_TRAINED_WEIGHTS, err);
  if (weights == NULL) return RS_MEMORY;
  rs_status status = rs_sha256_file(weights, hash, err);
  free(weights);
  return status;
}

/* A folder's model is tuned with its own shape. */
static rs_status tune_folder(const rs_experiment *experiment, size_t model, uint64_t seed,
                             const rs_checkpoint_place *place, rs_transformer **transformer, rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  rs_transformer *origin = NULL;
  rs_trained found;
  plan p;
  RS_TRY(read_folder(checkpoint, &found, &origin, err));
  rs_status status = plan_make(experiment, model, seed, true, &p, err);
  if (status == RS_OK) {
    rs_shape_clear(&p.trained.shape);
    p.trained.format = found.format;
    status = rs_shape_copy(&p.trained.shape, &found.shape, err);
    if (status == RS_OK) status = fingerprint_folder(checkpoint->folder, p.trained.origin, err);
    if (status == RS_OK) status = obtain(&p, origin, place, transformer, err);
    plan_clear(&p);
  }
  rs_transformer_free(origin);
  rs_trained_clear(&found);
  return status;
}

/* The model before it is tuned has a folder of its own, which all that are tuned from it share. */
static rs_status tune(const rs_experiment *experiment, size_t model, uint64_t seed, const plan *first,
                      const rs_checkpoint_place *place, rs_transformer **transformer, rs_err *err) {
  rs_transformer *origin = NULL;
  plan p;
  RS_TRY(plan_make(experiment, model, seed, true, &p, err));
  rs_status status = rs_trained_fingerprint(&first->trained, p.trained.origin, err);
  if (status == RS_OK) status = obtain(first, NULL, place, &origin, err);
  if (status == RS_OK) status = obtain(&p, origin, place, transformer, err);
  rs_transformer_free(origin);
  plan_clear(&p);
  return status;
}

rs_status rs_checkpoint_obtain(const rs_experiment *experiment, size_t model, uint64_t seed,
                               const rs_checkpoint_place *place, rs_transformer **transformer, rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  plan first;
  *transformer = NULL;
  if (checkpoint->folder != NULL && checkpoint->tuned)
    return tune_folder(experiment, model, seed, place, transformer, err);
  if (checkpoint->folder != NULL) return rs_checkpoint_create(experiment, model, seed, transformer, err);
  RS_TRY(plan_make(experiment, model, seed, false, &first, err));
  rs_status status = checkpoint->tuned ? tune(experiment, model, seed, &first, place, transformer, err)
                                       : obtain(&first, NULL, place, transformer, err);
  plan_clear(&first);
  return status;
}
