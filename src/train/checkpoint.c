/* From a checkpoint's description to its weights: read from its folder, or trained; then tuned where it is to be. */

#include "training.h"

#include <stdlib.h>
#include <string.h>

rs_status rs_checkpoint_task(const rs_experiment *experiment, uint64_t seed, rs_task *task, rs_err *err) {
  const rs_task_in in = {.params = experiment->task.params, .seed = seed};
  RS_TRY(rs_task_prepare(experiment->task.task, &in, task, err));
  task->same = experiment->targets;
  return RS_OK;
}

/* ---- what is to be trained --------------------------------------------------------------------------------------- */

/* A training. Task, shape and tokens are its own; settings are the experiment's, and so are recipes that follow no
 * other model's. */
typedef struct plan {
  rs_trained trained;
  rs_task task;
  rs_recipe *followed;    /* (recipe_count,) owned; NULL: the experiment's */
  rs_trained found;       /* of a folder's model that is tuned: what the folder says, */
  rs_transformer *origin; /* and the model that is tuned, once it is there; owned */
  const rs_experiment *experiment;
  bool taught;
  rs_weights_in teacher; /* the weights that it learns from, where it is taught */
} plan;

static void plan_clear(plan *p) {
  for (size_t r = 0; r < p->trained.recipe_count && p->followed != NULL; r++) rs_recipe_clear(&p->followed[r]);
  free(p->followed);
  rs_shape_clear(&p->trained.shape);
  rs_token_layout_clear(&p->trained.tokens);
  if (p->task.kind != NULL) rs_task_clear(&p->task);
  rs_trained_clear(&p->found);
  rs_transformer_free(p->origin);
}

/* What the task says of shape and tokens at the length of training. */
static rs_status fit_task(plan *p, rs_err *err) {
  rs_example_shape example;
  rs_trained *t = &p->trained;
  RS_TRY(p->task.kind->shape(p->task.state, t->training.length, &example, err));
  RS_TRY(rs_task_layout(&example, rs_shape_lead(&t->shape), &t->tokens, &t->geometry.train_length, err));
  t->shape.vocabulary = example.vocabulary;
  t->shape.patch_numbers = example.patch_numbers;
  t->shape.classes = example.classes;
  t->geometry.max_length = t->geometry.train_length;
  return RS_OK;
}

static rs_status fingerprint_weights(const rs_experiment *experiment, const rs_weights_in *in, char hash[65],
                                     rs_err *err);

/* The weights of the teacher are of the same seed, unless it has one of its own. */
static rs_status find_teacher(plan *p, size_t model, rs_err *err) {
  const rs_checkpoint *teacher = &p->experiment->checkpoints[model];
  p->teacher = (rs_weights_in){.model = model, .seed = teacher->seeded ? teacher->seed : p->trained.seed};
  return fingerprint_weights(p->experiment, &p->teacher, p->trained.teacher, err);
}

/* Fills a plan that was zero; `tuned`: the second training, of the model that the first gave. Clear it in any case. */
static rs_status plan_make(const rs_experiment *experiment, size_t model, uint64_t seed, bool tuned, plan *p,
                           rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  bool changed = tuned && checkpoint->tuned_recipes != NULL;
  p->trained = (rs_trained){.geometry = experiment->models[model],
                            .recipes = changed ? checkpoint->tuned_recipes : checkpoint->recipes,
                            .recipe_count = checkpoint->recipe_count,
                            .format = checkpoint->format,
                            .training = tuned ? checkpoint->tuning : checkpoint->training,
                            .task = experiment->task,
                            .seed = seed};
  p->trained.geometry.published = (rs_recipe){0};
  p->experiment = experiment;
  p->taught = checkpoint->taught;
  if (p->taught) RS_TRY(find_teacher(p, checkpoint->teacher, err));
  RS_TRY(rs_shape_copy(&p->trained.shape, &checkpoint->shape, err));
  RS_TRY(rs_checkpoint_task(experiment, seed, &p->task, err));
  return fit_task(p, err);
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

/* Somebody else's, in Hugging Face's layout: of what it was trained with, its shape is known. */
static rs_status read_published(const rs_checkpoint *checkpoint, rs_trained *trained, rs_transformer **transformer,
                                rs_err *err) {
  rs_hf_checkpoint found;
  RS_TRY(rs_hf_checkpoint_read(checkpoint->folder, &found, err));
  rs_status status = rs_hf_checkpoint_load(&found, checkpoint->folder, checkpoint->format, false, transformer, err);
  *trained = (rs_trained){.shape = found.shape, .format = checkpoint->format};
  found.shape = (rs_shape){0};
  rs_hf_checkpoint_clear(&found);
  return status;
}

/* The transformer of a folder, as it stands there: weights that somebody has changed are what is wanted. Clear
 * `trained`, which was zero, in any case. */
static rs_status read_folder(const rs_checkpoint *checkpoint, rs_trained *trained, rs_transformer **transformer,
                             rs_err *err) {
  const char *folder = checkpoint->folder;
  bool marked;
  RS_TRY(rs_trained_marked(folder, &marked, err));
  if (!marked) return read_published(checkpoint, trained, transformer, err);
  RS_TRY(rs_trained_read(folder, trained, err));
  if (*trained->weights == '\0')
    return rs_fail(err, RS_INPUT, "%s: training is not done: %zu of %zu steps", folder, trained->steps,
                   trained->training.steps);
  return rs_trained_load(trained, folder, transformer, err);
}

rs_status rs_folder_load(const char *folder, rs_format format, rs_transformer **transformer, rs_err *err) {
  const rs_checkpoint checkpoint = {.folder = (char *)folder, .format = format}; /* only read */
  rs_trained found = {0};
  rs_status status = read_folder(&checkpoint, &found, transformer, err);
  rs_trained_clear(&found);
  return status;
}

rs_status rs_checkpoint_create(const rs_experiment *experiment, size_t model, rs_transformer **transformer,
                               rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  plan p = {0};
  *transformer = NULL;
  if (checkpoint->folder != NULL) return rs_folder_load(checkpoint->folder, checkpoint->format, transformer, err);
  rs_status status = plan_make(experiment, model, 0, false, &p, err);
  if (status == RS_OK) status = rs_trained_create(&p.trained, true, transformer, err);
  plan_clear(&p);
  return status;
}

/* ---- training and tuning ----------------------------------------------------------------------------------------- */

/* A teacher is obtained first; where the model is there, nobody asks for it. */
static rs_status obtain(const plan *p, const rs_transformer *origin, const rs_checkpoint_place *place,
                        rs_transformer **transformer, rs_err *err) {
  rs_transformer *teacher = NULL;
  rs_training_job job = {
      .trained = &p->trained, .task = &p->task, .origin = origin, .checkpoints = place->folder, .watch = place->watch};
  if (p->taught) {
    RS_TRY(rs_training_find(&job, transformer, err));
    if (*transformer != NULL) return RS_OK;
    RS_TRY(rs_checkpoint_obtain(p->experiment, &p->teacher, place, &teacher, err));
    job.teacher = teacher;
  }
  rs_status status = rs_training_obtain(&job, transformer, err);
  rs_transformer_free(teacher);
  return status;
}

/* Sequences that a model has seen when its training is done: what comes after begins behind them. */
static uint64_t drawn_after(const rs_trained *trained) {
  return trained->drawn + (uint64_t)trained->training.steps * trained->training.sequences;
}

/* The table of a model that is tuned on other pictures is the one that it has, resized to them. */
static rs_status follow(plan *p, const rs_transformer *origin, rs_err *err) {
  p->followed = rs_alloc(p->trained.recipe_count, sizeof *p->followed, err);
  if (p->followed == NULL) return RS_MEMORY;
  for (size_t r = 0; r < p->trained.recipe_count; r++) {
    RS_TRY(rs_recipe_copy(&p->followed[r], &p->trained.recipes[r], err));
    RS_TRY(rs_recipe_follow(&p->followed[r], &origin->recipes[r], err));
  }
  p->trained.recipes = p->followed;
  return RS_OK;
}

/* The SHA-256 of those of an index's shards, in the order of their names. */
static rs_status fingerprint_shards(const char *index, char hash[65], rs_err *err) {
  rs_safetensors *shards;
  rs_text hashes = {0};
  RS_TRY(rs_safetensors_map(index, &shards, err));
  rs_status status = RS_OK;
  for (size_t i = 0; i < shards->count && status == RS_OK; i++) {
    if (i > 0 && strcmp(shards->tensors[i].file, shards->tensors[i - 1].file) == 0) continue;
    status = rs_sha256_file(shards->tensors[i].file, hash, err);
    if (status == RS_OK) rs_text_puts(&hashes, hash);
  }
  if (status == RS_OK) status = rs_text_check(&hashes, err);
  if (status == RS_OK) rs_sha256_hex(rs_text_string(&hashes), hashes.length, hash);
  rs_text_clear(&hashes);
  rs_safetensors_free(shards);
  return status;
}

/* What a folder's model is tuned from is known by its weights. */
static rs_status fingerprint_folder(const char *folder, char hash[65], rs_err *err) {
  char *weights;
  RS_TRY(rs_hf_weights_find(folder, &weights, err));
  const char *end = strrchr(weights, '.');
  bool shards = end != NULL && strcmp(end, ".json") == 0;
  rs_status status = shards ? fingerprint_shards(weights, hash, err) : rs_sha256_file(weights, hash, err);
  free(weights);
  return status;
}

rs_status rs_folder_fingerprint(const char *folder, char hash[65], rs_err *err) {
  char weights[65], *config;
  if (rs_hf_is_gguf(folder)) return rs_sha256_file(folder, hash, err);
  config = rs_path_join(folder, RS_TRAINED_CONFIG, err);
  if (config == NULL) return RS_MEMORY;
  rs_status status = rs_sha256_file(config, hash, err);
  free(config);
  if (status == RS_OK) status = fingerprint_folder(folder, weights, err);
  if (status == RS_OK) rs_sha256_parts((const rs_bytes[]){{hash, 64}, {weights, 64}}, 2, hash);
  return status;
}

static rs_status obtain_folder(const rs_checkpoint *checkpoint, const rs_checkpoint_place *place,
                               rs_transformer **transformer, rs_err *err) {
  rs_trained found = {0};
  rs_status status = read_folder(checkpoint, &found, transformer, err);
  if (status == RS_OK && found.arithmetic != NULL)
    rs_training_ready(place->watch, checkpoint->folder, found.arithmetic);
  rs_trained_clear(&found);
  return status;
}

/* The second training of a folder's model, with its own shape. */
static rs_status plan_folder_tuning(const rs_experiment *experiment, size_t model, uint64_t seed, plan *p,
                                    rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  RS_TRY(read_folder(checkpoint, &p->found, &p->origin, err));
  RS_TRY(plan_make(experiment, model, seed, true, p, err));
  rs_shape_clear(&p->trained.shape);
  p->trained.format = p->found.format;
  p->trained.drawn = drawn_after(&p->found);
  RS_TRY(rs_shape_copy(&p->trained.shape, &p->found.shape, err));
  RS_TRY(fingerprint_folder(checkpoint->folder, p->trained.origin, err));
  return follow(p, p->origin, err);
}

/* What it takes to make a checkpoint: the training of a model that is in no folder, and its tuning, if any. */
typedef struct plans {
  plan training, tuning;
  bool trained, tuned;
} plans;

static void plans_clear(plans *p) {
  plan_clear(&p->training);
  plan_clear(&p->tuning);
}

/* A tuning is known by what it goes on from before that is trained. Clear the plans in any case. */
static rs_status plans_make(const rs_experiment *experiment, const rs_weights_in *in, plans *p, rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[in->model];
  size_t model = in->model;
  uint64_t seed = in->seed;
  const rs_trained *first = &p->training.trained;
  rs_transformer *begun = NULL;
  *p = (plans){.trained = checkpoint->folder == NULL, .tuned = checkpoint->tuned && !in->untuned};
  if (p->trained) RS_TRY(plan_make(experiment, model, seed, false, &p->training, err));
  if (!p->tuned) return RS_OK;
  if (!p->trained) return plan_folder_tuning(experiment, model, seed, &p->tuning, err);
  RS_TRY(plan_make(experiment, model, seed, true, &p->tuning, err));
  p->tuning.trained.drawn = drawn_after(first);
  RS_TRY(rs_trained_fingerprint(first, p->tuning.trained.origin, err));
  RS_TRY(rs_trained_create(first, true, &begun, err));
  rs_status status = follow(&p->tuning, begun, err);
  rs_transformer_free(begun);
  return status;
}

/* What determines weights: of a folder's, which are there, they themselves. */
static rs_status fingerprint_weights(const rs_experiment *experiment, const rs_weights_in *in, char hash[65],
                                     rs_err *err) {
  plans p;
  rs_status status = plans_make(experiment, in, &p, err);
  if (status == RS_OK)
    status = p.tuned     ? rs_trained_fingerprint(&p.tuning.trained, hash, err)
             : p.trained ? rs_trained_fingerprint(&p.training.trained, hash, err)
                         : rs_folder_fingerprint(experiment->checkpoints[in->model].folder, hash, err);
  plans_clear(&p);
  return status;
}

/* The model before it is tuned has a folder of its own, which all that are tuned from it share; where the tuned one is
 * there, nobody asks for it. */
static rs_status tune(plans *p, const rs_checkpoint_place *place, rs_transformer **transformer, rs_err *err) {
  const rs_training_job job = {.trained = &p->tuning.trained, .checkpoints = place->folder, .watch = place->watch};
  if (p->trained) {
    RS_TRY(rs_training_find(&job, transformer, err));
    if (*transformer != NULL) return RS_OK;
    RS_TRY(obtain(&p->training, NULL, place, &p->tuning.origin, err));
  }
  return obtain(&p->tuning, p->tuning.origin, place, transformer, err);
}

rs_status rs_checkpoint_obtain(const rs_experiment *experiment, const rs_weights_in *in,
                               const rs_checkpoint_place *place, rs_transformer **transformer, rs_err *err) {
  plans p;
  *transformer = NULL;
  rs_status status = plans_make(experiment, in, &p, err);
  if (status == RS_OK)
    status = p.tuned     ? tune(&p, place, transformer, err)
             : p.trained ? obtain(&p.training, NULL, place, transformer, err)
                         : obtain_folder(&experiment->checkpoints[in->model], place, transformer, err);
  plans_clear(&p);
  return status;
}

/* ---- what is left to do ------------------------------------------------------------------------------------------ */

static rs_status look_up(const rs_trained *trained, const char *checkpoints, rs_stage_state *state, rs_err *err) {
  rs_training_folder folder;
  rs_trained found = {0};
  RS_TRY(rs_trained_fingerprint(trained, state->hash, err));
  state->wanted = true;
  if (checkpoints == NULL) return RS_OK;
  RS_TRY(rs_training_folder_make(trained, checkpoints, &folder, err));
  (void)rs_training_folder_read(&folder, &found, &state->there, NULL);
  state->there = *found.weights != '\0';
  state->wanted = !state->there;
  rs_trained_clear(&found);
  rs_training_folder_clear(&folder);
  return RS_OK;
}

rs_status rs_checkpoint_stages(const rs_experiment *experiment, const rs_weights_in *in, const char *folder,
                               rs_stage_state stages[RS_STAGES], rs_err *err) {
  plans p;
  memset(stages, 0, RS_STAGES * sizeof *stages);
  rs_status status = plans_make(experiment, in, &p, err);
  if (status == RS_OK && p.trained) status = look_up(&p.training.trained, folder, &stages[RS_STAGE_TRAINING], err);
  if (status == RS_OK && p.tuned) status = look_up(&p.tuning.trained, folder, &stages[RS_STAGE_TUNING], err);
  if (stages[RS_STAGE_TUNING].there) stages[RS_STAGE_TRAINING].wanted = false;
  plans_clear(&p);
  return status;
}
