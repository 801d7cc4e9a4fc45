/* What trainings and readings take: passes forward, and passes back, which take twice as much. */
#include "costs.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- flops ------------------------------------------------------------------------------------------------------- */

/* Of a whole training; 0 where the task has no sequence of the length. */
static double training_flops(const rs_costs *costs, const rs_shape *shape, const rs_training *training) {
  rs_example_shape example;
  if (costs->task.kind->shape(costs->task.state, training->length, &example, NULL) != RS_OK) return 0;
  return 3 * rs_pass_flops(shape, &example) * (double)training->sequences * (double)training->steps;
}

static size_t length_of(const rs_costs *costs, const rs_cell *cell) {
  return costs->experiment->lengths[cell->axis[RS_BY_LENGTH]];
}

/* How often each sequence of so many tokens is read beside that, counted by tokens, where contexts are cut. */
static double cut_passes(const rs_experiment *experiment, size_t length) {
  rs_cut cut;
  if (!rs_experiment_cuts(experiment, &cut)) return 0;
  double windows = length >= cut.context ? floor((double)(length - cut.context) / (double)cut.step) + 1 : 0;
  return (cut.trained ? 1 : 0) + windows * (double)rs_cut_window(&cut, length) / (double)length;
}

/* How often a cell has each of its sequences read: for its metrics of readings, unless it shares them with the first
 * source, and for the rows of its layer. */
static double passes_of(const rs_experiment *experiment, const rs_cell *cell) {
  bool first = cell->axis[RS_BY_SOURCE] == 0 && cell->group == 0;
  return (first ? 1 + cut_passes(experiment, experiment->lengths[cell->axis[RS_BY_LENGTH]]) : 0) +
         (rs_needs_heads(experiment) && rs_reads_model(experiment, cell) ? 1 : 0);
}

/* Sequences that a cell reads. */
static double sequences_of(const rs_costs *costs, const rs_example_shape *example) {
  return (double)rs_example_count(example, costs->experiment->sequences);
}

double rs_reading_flops(const rs_costs *costs, const rs_cell *cell) {
  const rs_transformer *begun = costs->items[cell->axis[RS_BY_MODEL]].begun;
  rs_example_shape example;
  if (begun == NULL || costs->task.kind->shape(costs->task.state, length_of(costs, cell), &example, NULL) != RS_OK)
    return 0;
  double each = rs_pass_flops(&begun->shape, &example) * sequences_of(costs, &example);
  return each * passes_of(costs->experiment, cell) + rs_row_flops(costs->experiment, cell);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* The most views that a method of the experiment has. */
static size_t most_views(const rs_experiment *experiment) {
  size_t views = 1;
  for (size_t i = 0; i < experiment->model_count * experiment->methods.count; i++) {
    const rs_method *method =
        rs_experiment_method(experiment, i / experiment->methods.count, i % experiment->methods.count);
    if (method != NULL && method->pos->views > views) views = method->pos->views;
  }
  return views;
}

/* Of the rows that each thread observes, and of the queries and keys that it observes them from. */
static double observed_bytes(const rs_experiment *experiment, const rs_model *model, size_t tokens) {
  double given = 8.0 * 2 * (double)(tokens * model->heads * model->head_dim);
  if (!rs_observes(experiment) || !rs_needs_heads(experiment)) return 0;
  return (double)rs_engine_threads() *
         (given + rs_row_bytes(experiment, tokens, model->head_dim, most_views(experiment), 1));
}

/* Of the passes of all threads, and of the tables: `rows` tokens side by side, in sequences of `tokens`. Attention has
 * the keys of one head in each view twice and its values, and their gradients. */
static double pass_bytes(const rs_costs *costs, size_t model, double rows, const rs_example_shape *example,
                         bool training) {
  const rs_experiment *experiment = costs->experiment;
  const rs_transformer *t = costs->items[model].begun;
  const rs_shape *shape = &t->shape;
  double d = (double)shape->width, tokens = (double)(example->length + (shape->form == RS_VISION));
  double source = rows / tokens * (double)example->source_length, tables = 0;
  for (size_t r = 0; r < t->recipe_count; r++)
    tables += rs_encoding_bytes(&t->recipes[r], &t->geometry, (size_t)tokens, NULL);
  double views = training ? 1 : (double)most_views(experiment);
  double head = (double)t->geometry.head_dim * (tokens + (double)example->source_length);
  double numbers = rs_stack_numbers(&shape->decoder, shape->decoder.count, d, rows, training) +
                   rs_stack_numbers(&shape->encoder, shape->encoder.count, d, source, training) +
                   head * (training ? 3 * views + 2 : 2 * views + 1);
  return (double)rs_engine_threads() * numbers * (t->format == RS_F64 ? 8 : 4) + 2 * tables;
}

static double training_bytes(const rs_costs *costs, size_t model, const rs_training *training) {
  enum { PARTS = 8, ARRAYS = 3, ROWS = 64 }; /* gradients; weights and two moments; tokens read side by side */
  const rs_transformer *t = costs->items[model].begun;
  rs_example_shape example;
  if (costs->task.kind->shape(costs->task.state, training->length, &example, NULL) != RS_OK) return 0;
  double weights = rs_weight_bytes(t), sequences = (double)training->sequences;
  double numbers = (double)(example.length * (4 + example.patch_numbers) + example.source_length);
  return weights * (ARRAYS + fmin(PARTS, sequences)) + 4 * sequences * numbers +
         pass_bytes(costs, model, fmax(ROWS, (double)example.length), &example, true);
}

double rs_reading_bytes(const rs_costs *costs, const rs_cell *cell) {
  size_t model = cell->axis[RS_BY_MODEL];
  const rs_transformer *t = costs->items[model].begun;
  rs_example_shape example;
  if (t == NULL || costs->task.kind->shape(costs->task.state, length_of(costs, cell), &example, NULL) != RS_OK)
    return 0;
  double answers = t->shape.form == RS_VISION ? 1 : (double)example.length;
  double one = sizeof(double) + 2 * sizeof(int32_t) + sizeof(uint8_t) + sizeof(float);
  return rs_weight_bytes(t) + sequences_of(costs, &example) * answers * one +
         pass_bytes(costs, model, (double)example.length, &example, false) +
         observed_bytes(costs->experiment, &costs->experiment->models[model], example.length);
}

/* ---- all checkpoints --------------------------------------------------------------------------------------------- */

/* One that cannot be made fails its cells, and takes nothing; but memory for its description must be there. */
static rs_status fill_cost(const rs_costs *costs, size_t model, rs_err *err) {
  const rs_checkpoint *checkpoint = &costs->experiment->checkpoints[model];
  rs_checkpoint_cost *cost = &costs->items[model];
  rs_err why = {0};
  rs_status status = rs_checkpoint_create(costs->experiment, model, 0, &cost->begun, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK) return RS_OK;
  if (checkpoint->folder == NULL) {
    cost->training = training_flops(costs, &cost->begun->shape, &checkpoint->training);
    cost->bytes = training_bytes(costs, model, &checkpoint->training);
  }
  if (!checkpoint->tuned) return RS_OK;
  cost->tuning = training_flops(costs, &cost->begun->shape, &checkpoint->tuning);
  cost->bytes = fmax(cost->bytes, training_bytes(costs, model, &checkpoint->tuning));
  return RS_OK;
}

rs_status rs_costs_make(const rs_experiment *experiment, rs_costs *costs, rs_err *err) {
  *costs = (rs_costs){.experiment = experiment};
  RS_TRY(rs_checkpoint_task(experiment, 0, &costs->task, err));
  costs->items = rs_arena_take(&costs->arena, experiment->model_count, sizeof *costs->items);
  rs_status status = rs_arena_check(&costs->arena, err);
  for (size_t m = 0; m < experiment->model_count && status == RS_OK; m++) status = fill_cost(costs, m, err);
  if (status != RS_OK) rs_costs_clear(costs);
  return status;
}

void rs_costs_clear(rs_costs *costs) {
  for (size_t m = 0; m < costs->experiment->model_count && costs->items != NULL; m++)
    rs_transformer_free(costs->items[m].begun);
  rs_arena_clear(&costs->arena);
  rs_task_clear(&costs->task);
}

uint64_t rs_weights_seed(const rs_experiment *experiment, const rs_cell *cell) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[cell->axis[RS_BY_MODEL]];
  return checkpoint->seeded ? checkpoint->seed : experiment->seeds[cell->axis[RS_BY_SEED]];
}

bool rs_same_weights(const rs_experiment *experiment, const rs_cell *a, const rs_cell *b) {
  return a->axis[RS_BY_MODEL] == b->axis[RS_BY_MODEL] &&
         rs_weights_seed(experiment, a) == rs_weights_seed(experiment, b);
}

bool rs_is_first(const rs_experiment *experiment, const rs_cell *cells, size_t index) {
  for (size_t i = 0; i < index; i++)
    if (rs_same_weights(experiment, &cells[i], &cells[index])) return false;
  return true;
}

/* ---- what is left ------------------------------------------------------------------------------------------------ */

/* Fingerprints that were counted. */
typedef struct counted {
  char (*hashes)[65];
  size_t count;
} counted;

/* Adds one; false: it is there already. `c` has room for it. */
static bool is_new(counted *c, const char hash[65]) {
  for (size_t i = 0; i < c->count; i++)
    if (strcmp(c->hashes[i], hash) == 0) return false;
  memcpy(c->hashes[c->count++], hash, 65);
  return true;
}

/* A checkpoint that cannot be made has none. */
static rs_status find_left(const rs_costs *costs, const rs_cell *cell, const char *checkpoints, counted *c,
                           rs_work_left *left, rs_err *err) {
  size_t model = cell->axis[RS_BY_MODEL];
  const rs_checkpoint_cost *cost = &costs->items[model];
  const double flops[RS_STAGES] = {[RS_STAGE_TRAINING] = cost->training, [RS_STAGE_TUNING] = cost->tuning};
  rs_stage_state stages[RS_STAGES];
  rs_err why = {0};
  if (cost->begun == NULL) return RS_OK;
  rs_status status = rs_checkpoint_stages(costs->experiment, model, rs_weights_seed(costs->experiment, cell),
                                          checkpoints, stages, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  for (size_t i = 0; i < RS_STAGES && status == RS_OK; i++) {
    if (flops[i] == 0 || !(stages[i].wanted || stages[i].there) || !is_new(c, stages[i].hash)) continue;
    left->there += stages[i].there;
    left->trainings += stages[i].wanted;
    if (stages[i].wanted) left->flops += flops[i];
  }
  return RS_OK;
}

rs_status rs_costs_left(const rs_experiment *experiment, const rs_cell *cells, size_t count, const char *checkpoints,
                        rs_costs *costs, rs_err *err) {
  RS_TRY(rs_costs_make(experiment, costs, err));
  counted c = {.hashes = rs_arena_take(&costs->arena, RS_STAGES * count, sizeof *c.hashes)};
  costs->left = rs_arena_take(&costs->arena, count, sizeof *costs->left);
  rs_status status = rs_arena_check(&costs->arena, err);
  for (size_t i = 0; i < count && status == RS_OK; i++)
    if (rs_is_first(experiment, cells, i)) status = find_left(costs, &cells[i], checkpoints, &c, &costs->left[i], err);
  if (status != RS_OK) rs_costs_clear(costs);
  return status;
}

rs_status rs_costs_plan(const rs_experiment *experiment, const rs_cell *cells, size_t count, const char *checkpoints,
                        rs_plan *plan, rs_err *err) {
  rs_costs costs;
  RS_TRY(rs_costs_left(experiment, cells, count, checkpoints, &costs, err));
  for (size_t i = 0; i < count; i++) {
    const rs_work_left *left = &costs.left[i];
    plan->reading_flops += rs_reading_flops(&costs, &cells[i]);
    plan->training_flops += left->flops;
    plan->trainings += left->trainings;
    plan->trained += left->there;
    plan->peak_bytes = fmax(plan->peak_bytes, rs_reading_bytes(&costs, &cells[i]));
    if (left->trainings > 0) plan->peak_bytes = fmax(plan->peak_bytes, costs.items[cells[i].axis[RS_BY_MODEL]].bytes);
  }
  for (size_t m = 0; m < experiment->model_count; m++) /* a run keeps each as it begins */
    if (costs.items[m].begun != NULL) plan->peak_bytes += rs_weight_bytes(costs.items[m].begun);
  rs_costs_clear(&costs);
  return RS_OK;
}

/* ---- seconds ----------------------------------------------------------------------------------------------------- */

enum { SAMPLES = 5 };

/* On a busy machine some samples wait, so that a mean says little. */
static double median(double *samples, size_t count) {
  return count > 0 ? gsl_stats_median(samples, 1, count) : 0;
}

/* The time of a step, from as many as the budget has room for. The first wakes the threads and is not counted. */
static double step_seconds(rs_trainer *trainer, double budget) {
  rs_train_step done;
  double samples[SAMPLES], start = rs_seconds();
  size_t count = 0;
  if (rs_trainer_step(trainer, &done, NULL) != RS_OK) return 0;
  while (count < SAMPLES && (count == 0 || rs_seconds() - start < budget)) {
    double begun = rs_seconds();
    if (rs_trainer_step(trainer, &done, NULL) != RS_OK) break;
    samples[count++] = rs_seconds() - begun;
  }
  return median(samples, count);
}

/* Seconds of a flop in the first training, or, of a folder's model, in its tuning; 0: it has none. */
static double training_pace(const rs_costs *costs, size_t model, double budget) {
  const rs_checkpoint *checkpoint = &costs->experiment->checkpoints[model];
  const rs_checkpoint_cost *cost = &costs->items[model];
  const rs_training *training = checkpoint->folder != NULL ? &checkpoint->tuning : &checkpoint->training;
  double flops = checkpoint->folder != NULL ? cost->tuning : cost->training;
  rs_trainer *trainer;
  if (flops == 0 || rs_trainer_create(cost->begun, training, &costs->task, 0, &trainer, NULL) != RS_OK) return 0;
  double step = step_seconds(trainer, budget);
  rs_trainer_free(trainer);
  return step * (double)training->steps / flops;
}

/* Reads a few sequences a thread at one length, as often as the budget has room for; 0 where that cannot be. */
static double reading_pace_at(const rs_costs *costs, size_t model, size_t length, double budget) {
  const rs_transformer *begun = costs->items[model].begun;
  size_t sequences = 4 * rs_engine_threads(), count = 0;
  double samples[SAMPLES], start = rs_seconds();
  rs_example_shape example;
  rs_context *context;
  rs_reading reading;
  if (costs->task.kind->shape(costs->task.state, length, &example, NULL) != RS_OK) return 0;
  if (rs_context_of_task(begun, NULL, &costs->task, length, &context, NULL) != RS_OK) return 0;
  while (count < SAMPLES && (count == 0 || rs_seconds() - start < budget)) {
    double begin = rs_seconds();
    if (rs_reading_make(context, &costs->task, RS_SPLIT_EVALUATION, length, sequences, &reading, NULL) != RS_OK) break;
    samples[count++] = rs_seconds() - begin;
    rs_reading_clear(&reading);
  }
  rs_context_free(context);
  return median(samples, count) /
         ((double)rs_example_count(&example, sequences) * rs_pass_flops(&begun->shape, &example));
}

/* The same in a reading: longer and longer ones, twice the last each time, as the budget has room: long ones have more
 * attention. */
static double reading_pace(const rs_costs *costs, size_t model, double budget) {
  enum { FIRST = 32 };
  const rs_experiment *experiment = costs->experiment;
  size_t longest = rs_longest(experiment);
  double last = 0, start = rs_seconds();
  for (size_t length = longest < FIRST ? longest : FIRST; length <= longest && rs_seconds() - start < budget / 3;
       length = length < longest && 2 * length > longest ? longest : 2 * length) {
    double measured = reading_pace_at(costs, model, length, budget / 10);
    if (measured > 0) last = measured;
  }
  for (size_t i = 0; i < experiment->length_count && last == 0; i++) /* those need not be lengths of the task */
    last = reading_pace_at(costs, model, experiment->lengths[i], budget / 10);
  return last;
}

rs_status rs_costs_seconds(const rs_experiment *experiment, const rs_cell *cells, size_t count, const char *checkpoints,
                           double budget, double *seconds, rs_err *err) {
  rs_costs costs;
  RS_TRY(rs_costs_left(experiment, cells, count, checkpoints, &costs, err));
  budget /= 2 * (double)experiment->model_count;
  for (size_t m = 0; m < experiment->model_count; m++) {
    bool wanted = false;
    for (size_t i = 0; i < count; i++) wanted |= cells[i].axis[RS_BY_MODEL] == m && costs.left[i].trainings > 0;
    bool there = costs.items[m].begun != NULL;
    double training = there && wanted ? training_pace(&costs, m, budget) : 0;
    double reading = there ? reading_pace(&costs, m, budget) : 0;
    for (size_t i = 0; i < count; i++)
      if (cells[i].axis[RS_BY_MODEL] == m)
        seconds[i] = costs.left[i].flops * training + rs_reading_flops(&costs, &cells[i]) * reading;
  }
  rs_costs_clear(&costs);
  return RS_OK;
}
