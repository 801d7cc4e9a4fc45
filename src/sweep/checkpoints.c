/* The checkpoints of an experiment: read from their folder, or trained, and tuned where they are to be. */
#include "checkpoints.h"

#include "training.h"

/* ---- what is to be trained --------------------------------------------------------------------------------------- */

/* A training, with all that it borrows. */
typedef struct plan {
  rs_trained trained; /* owns shape and tokens */
  rs_binding binding;
  rs_task task;
} plan;

static void plan_clear(plan *p) {
  rs_shape_clear(&p->trained.shape);
  rs_token_layout_clear(&p->trained.tokens);
  rs_task_clear(&p->task);
  rs_binding_clear(&p->binding);
}

static rs_status prepare_task(const rs_variant *variant, uint64_t seed, plan *p, rs_err *err) {
  const rs_kind *kind = &variant->task->kind;
  RS_TRY(rs_binding_make(&variant->settings, kind->params, kind->param_count, kind->params_size, &p->binding, err));
  const rs_task_in in = {.params = p->binding.fields, .seed = seed};
  return rs_task_prepare(variant->task, &in, &p->task, err);
}

/* What the task says of shape and tokens at the length of training. */
static rs_status fit_task(plan *p, rs_err *err) {
  rs_example_shape example;
  rs_trained *t = &p->trained;
  size_t tokens;
  RS_TRY(p->task.kind->shape(p->task.state, t->training.length, &example, err));
  RS_TRY(rs_task_layout(&example, &t->tokens, &tokens, err));
  t->shape.vocabulary = example.vocabulary;
  t->shape.patch_numbers = example.patch_numbers;
  t->shape.classes = example.classes;
  t->geometry.train_length = tokens;
  if (t->geometry.max_length < tokens) t->geometry.max_length = tokens;
  return RS_OK;
}

/* `tuned`: the second training, of the model that the first gave. Borrows experiment. */
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
                          .seed = checkpoint->seeded ? checkpoint->seed : seed}};
  rs_status status = rs_shape_copy(&p->trained.shape, &checkpoint->shape, err);
  if (status == RS_OK) status = prepare_task(&experiment->task, p->trained.seed, p, err);
  if (status == RS_OK) status = fit_task(p, err);
  if (status != RS_OK) plan_clear(p);
  return status;
}

/* ---- training and tuning ----------------------------------------------------------------------------------------- */

static rs_status obtain(const plan *p, const rs_transformer *origin, const rs_checkpoint_place *place,
                        rs_transformer **transformer, rs_err *err) {
  const rs_training_job job = {.trained = &p->trained,
                               .task = &p->task,
                               .origin = origin,
                               .checkpoints = place->checkpoints,
                               .watch = place->watch};
  return rs_training_obtain(&job, transformer, err);
}

/* The model before it is tuned has a folder of its own, which all that are tuned from it share. */
static rs_status train(const rs_experiment *experiment, size_t model, uint64_t seed, const rs_checkpoint_place *place,
                       rs_transformer **transformer, rs_err *err) {
  plan first, second;
  rs_transformer *origin = NULL;
  RS_TRY(plan_make(experiment, model, seed, false, &first, err));
  rs_status status = RS_OK;
  if (!experiment->checkpoints[model].tuned) {
    status = obtain(&first, NULL, place, transformer, err);
    plan_clear(&first);
    return status;
  }
  status = plan_make(experiment, model, seed, true, &second, err);
  if (status == RS_OK) {
    status = rs_trained_fingerprint(&first.trained, second.trained.origin, err);
    if (status == RS_OK) status = obtain(&first, NULL, place, &origin, err);
    if (status == RS_OK) status = obtain(&second, origin, place, transformer, err);
    plan_clear(&second);
  }
  rs_transformer_free(origin);
  plan_clear(&first);
  return status;
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

rs_status rs_checkpoint_read(const char *folder, rs_transformer **transformer, rs_err *err) {
  rs_trained trained;
  *transformer = NULL;
  RS_TRY(rs_trained_read(folder, &trained, err));
  rs_status status = RS_OK;
  if (*trained.weights == '\0')
    status = rs_fail(err, RS_INPUT, "%s: training is not done: %zu of %zu steps", folder, trained.steps,
                     trained.training.steps);
  if (status == RS_OK) status = rs_trained_load(&trained, folder, transformer, err);
  rs_trained_clear(&trained);
  return status;
}

rs_status rs_checkpoint_obtain(const rs_experiment *experiment, size_t model, uint64_t seed,
                               const rs_checkpoint_place *place, rs_transformer **transformer, rs_err *err) {
  const char *folder = experiment->checkpoints[model].folder;
  *transformer = NULL;
  if (folder != NULL) return rs_checkpoint_read(folder, transformer, err);
  return train(experiment, model, seed, place, transformer, err);
}
