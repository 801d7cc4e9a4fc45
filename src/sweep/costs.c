/* What trainings and readings take, from shapes alone. A pass forward multiplies and adds once for each weight of a
 * matrix and token, and twice (queries with keys, weights with values) for each head dim and pair of tokens that is
 * seen; a pass back takes twice that. */
#include "costs.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* ---- flops ------------------------------------------------------------------------------------------------------- */

/* Pairs of a query and a key that it sees. */
static double seen_pairs(const rs_mask *mask, double tokens) {
  bool window = mask->kind == RS_WINDOW || mask->kind == RS_WINDOW_SINKS;
  double width = window ? fmin((double)mask->window, tokens) : tokens;
  double sinks = mask->kind == RS_WINDOW_SINKS ? fmin((double)mask->sinks, tokens - width) : 0;
  bool causal = window || mask->kind == RS_CAUSAL;
  if (mask->kind == RS_CHUNKS) {
    double chunk = fmin((double)mask->window, tokens), rest = fmod(tokens, chunk);
    return (tokens - rest) * (chunk + 1) / 2 + rest * (rest + 1) / 2;
  }
  return causal ? width * (width + 1) / 2 + (tokens - width) * (width + sinks) : tokens * tokens;
}

static double block_flops(const rs_block *block, double d, double tokens, double source) {
  const rs_head_shape *heads = &block->attention;
  double queries = (double)(heads->heads * heads->head_dim), keys = (double)(heads->kv_heads * heads->head_dim);
  double feed = d * (double)block->feed_forward.width * (block->feed_forward.gated ? 3 : 2);
  double products = tokens * (d * (2 * queries + 2 * keys) + feed);
  double attention = 2 * queries * seen_pairs(&block->mask, tokens);
  if (block->cross) {
    products += tokens * 2 * d * queries + source * 2 * d * keys;
    attention += 2 * queries * tokens * source;
  }
  return 2 * (products + attention);
}

/* Of a pass forward over one sequence. */
static double forward_flops(const rs_shape *shape, const rs_example_shape *example) {
  double d = (double)shape->width, tokens = (double)example->length, source = (double)example->source_length;
  bool vision = shape->form == RS_VISION;
  double flops = 2 * (vision ? 1 : tokens) * d * (double)shape->classes;
  if (vision) flops += 2 * tokens++ * d * (double)shape->patch_numbers; /* and then a class token */
  for (size_t i = 0; i < shape->encoder.count; i++) flops += block_flops(&shape->encoder.blocks[i], d, source, 0);
  for (size_t i = 0; i < shape->decoder.count; i++) flops += block_flops(&shape->decoder.blocks[i], d, tokens, source);
  return flops;
}

/* Of a whole training; 0 where the task has no sequence of the length. */
static double training_flops(const rs_costs *costs, const rs_shape *shape, const rs_training *training) {
  rs_example_shape example;
  if (costs->task.kind->shape(costs->task.state, training->length, &example, NULL) != RS_OK) return 0;
  return 3 * forward_flops(shape, &example) * (double)training->sequences * (double)training->steps;
}

static size_t length_of(const rs_costs *costs, const rs_cell *cell) {
  return costs->experiment->lengths[cell->axis[RS_BY_LENGTH]];
}

double rs_reading_flops(const rs_costs *costs, const rs_cell *cell) {
  const rs_transformer *begun = costs->items[cell->axis[RS_BY_MODEL]].begun;
  rs_example_shape example;
  if (begun == NULL || costs->task.kind->shape(costs->task.state, length_of(costs, cell), &example, NULL) != RS_OK)
    return 0;
  return forward_flops(&begun->shape, &example) * (double)costs->experiment->sequences;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static double weight_bytes(const rs_transformer *t) {
  return (double)t->size * (t->format == RS_F64 ? 8 : 4);
}

static double norm_numbers(const rs_norm *norm, double width) {
  return norm->kind != RS_NORM_NONE ? width + 2 : 0;
}

/* Numbers that a block's pass forward keeps for each token. */
static double block_numbers(const rs_block *block, double d) {
  const rs_head_shape *heads = &block->attention;
  double queries = (double)(heads->heads * heads->head_dim), keys = (double)(heads->kv_heads * heads->head_dim);
  const rs_norm *const norms[] = {&block->before_attention, &block->after_attention, &block->before_cross,
                                  &block->before_feed_forward, &block->after_feed_forward};
  double attention = 2 * queries + 2 * keys + (double)heads->heads + norm_numbers(&heads->qk_norm, queries + keys);
  double numbers = 4 * d + attention * (block->cross ? 2 : 1);
  for (size_t i = 0; i < RS_COUNT(norms); i++) numbers += norm_numbers(norms[i], d);
  return numbers + (double)block->feed_forward.width * (block->feed_forward.gated ? 3 : 2);
}

static double stack_numbers(const rs_stack *stack, double d, bool training) {
  double sum = 0, most = 0;
  for (size_t i = 0; i < stack->count; i++) {
    double numbers = block_numbers(&stack->blocks[i], d);
    sum += numbers;
    most = fmax(most, numbers);
  }
  return training ? sum + 2 * most : most; /* the pass back has arrays as wide as a block's own, once for all */
}

/* Of the passes of all threads, and of the tables: `rows` tokens side by side, in sequences of `tokens`. Attention has
 * the keys of one head in each view twice and its values, and their gradients. */
static double pass_bytes(const rs_costs *costs, size_t model, double rows, const rs_example_shape *example,
                         bool training) {
  const rs_experiment *experiment = costs->experiment;
  const rs_transformer *t = costs->items[model].begun;
  const rs_shape *shape = &t->shape;
  double d = (double)shape->width, tokens = (double)(example->length + (shape->form == RS_VISION)), views = 1;
  double source = rows / tokens * (double)example->source_length, tables = 0;
  for (size_t r = 0; r < t->recipe_count; r++)
    tables += rs_encoding_bytes(&t->recipes[r], &t->geometry, (size_t)tokens, NULL);
  for (size_t m = 0; m < experiment->methods.count && !training; m++) {
    const rs_method *method = experiment->methods.items[m].method;
    if (method != NULL) views = fmax(views, (double)method->pos->views);
  }
  double head = (double)t->geometry.head_dim * (tokens + (double)example->source_length);
  double numbers = rows * stack_numbers(&shape->decoder, d, training) +
                   source * stack_numbers(&shape->encoder, d, training) +
                   head * (training ? 3 * views + 2 : 2 * views + 1);
  return (double)rs_engine_threads() * numbers * (t->format == RS_F64 ? 8 : 4) + 2 * tables;
}

static double training_bytes(const rs_costs *costs, size_t model, const rs_training *training) {
  enum { PARTS = 8, ARRAYS = 3, ROWS = 64 }; /* gradients; weights and two moments; tokens read side by side */
  const rs_transformer *t = costs->items[model].begun;
  rs_example_shape example;
  if (costs->task.kind->shape(costs->task.state, training->length, &example, NULL) != RS_OK) return 0;
  double weights = weight_bytes(t), sequences = (double)training->sequences;
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
  return weight_bytes(t) + (double)costs->experiment->sequences * answers * one +
         pass_bytes(costs, model, (double)example.length, &example, false);
}

/* ---- all checkpoints --------------------------------------------------------------------------------------------- */

/* One that cannot be made fails its cells, and takes nothing; but memory for its description must be there. */
static rs_status fill_cost(const rs_costs *costs, size_t model, rs_err *err) {
  const rs_checkpoint *checkpoint = &costs->experiment->checkpoints[model];
  rs_checkpoint_cost *cost = &costs->items[model];
  rs_err why = {0};
  rs_status status = rs_checkpoint_create(costs->experiment, model, 0, &cost->begun, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK || checkpoint->folder != NULL) return RS_OK;
  cost->training = training_flops(costs, &cost->begun->shape, &checkpoint->training);
  cost->bytes = training_bytes(costs, model, &checkpoint->training);
  if (!checkpoint->tuned) return RS_OK;
  cost->tuning = training_flops(costs, &cost->begun->shape, &checkpoint->tuning);
  cost->bytes = fmax(cost->bytes, training_bytes(costs, model, &checkpoint->tuning));
  return RS_OK;
}

rs_status rs_costs_make(const rs_experiment *experiment, rs_costs *costs, rs_err *err) {
  *costs = (rs_costs){.experiment = experiment};
  RS_TRY(rs_checkpoint_task(experiment, 0, &costs->task, err));
  costs->items = rs_alloc(experiment->model_count, sizeof *costs->items, err);
  rs_status status = costs->items != NULL ? RS_OK : RS_MEMORY;
  for (size_t m = 0; m < experiment->model_count && status == RS_OK; m++) status = fill_cost(costs, m, err);
  if (status != RS_OK) rs_costs_clear(costs);
  return status;
}

void rs_costs_clear(rs_costs *costs) {
  for (size_t m = 0; m < costs->experiment->model_count && costs->items != NULL; m++)
    rs_transformer_free(costs->items[m].begun);
  free(costs->items);
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

rs_status rs_costs_plan(const rs_experiment *experiment, const rs_cell *cells, size_t count, rs_plan *plan,
                        rs_err *err) {
  rs_costs costs;
  double begun = 0;
  RS_TRY(rs_costs_make(experiment, &costs, err));
  for (size_t m = 0; m < experiment->model_count; m++)
    if (costs.items[m].begun != NULL) begun += weight_bytes(costs.items[m].begun);
  for (size_t i = 0; i < count; i++) {
    const rs_checkpoint_cost *cost = &costs.items[cells[i].axis[RS_BY_MODEL]];
    plan->reading_flops += rs_reading_flops(&costs, &cells[i]);
    plan->peak_bytes = fmax(plan->peak_bytes, fmax(cost->bytes, rs_reading_bytes(&costs, &cells[i])));
    if (cost->training == 0 || !rs_is_first(experiment, cells, i)) continue;
    plan->trainings++;
    plan->training_flops += cost->training + cost->tuning;
  }
  plan->peak_bytes += begun; /* a run keeps each as it begins, to tell what is left */
  rs_costs_clear(&costs);
  return RS_OK;
}

/* ---- seconds ----------------------------------------------------------------------------------------------------- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The time of one step, the shortest of those that the budget has room for; 0 where there is none. The first wakes the
 * threads and is not counted. */
static double step_seconds(const rs_costs *costs, size_t model, double budget) {
  enum { TIMES = 5 };
  const rs_checkpoint *checkpoint = &costs->experiment->checkpoints[model];
  rs_trainer *trainer = NULL;
  rs_train_step done;
  double best = 0, start = now();
  if (costs->items[model].training == 0 ||
      rs_trainer_create(costs->items[model].begun, &checkpoint->training, &costs->task, 0, &trainer, NULL) != RS_OK)
    return 0;
  for (size_t i = 0; i <= TIMES && (i < 2 || now() - start < budget); i++) {
    double begun = now();
    if (rs_trainer_step(trainer, &done, NULL) != RS_OK) break;
    if (i > 0) best = best > 0 ? fmin(best, now() - begun) : now() - begun;
  }
  rs_trainer_free(trainer);
  return best;
}

rs_status rs_costs_seconds(const rs_experiment *experiment, const rs_cell *cells, size_t count, double budget,
                           double *seconds, rs_err *err) {
  rs_costs costs;
  RS_TRY(rs_costs_make(experiment, &costs, err));
  double *per_flop = rs_alloc(experiment->model_count, sizeof *per_flop, err);
  for (size_t m = 0; m < experiment->model_count && per_flop != NULL; m++) {
    double step = step_seconds(&costs, m, budget / (double)experiment->model_count);
    double steps = (double)experiment->checkpoints[m].training.steps;
    if (step > 0) per_flop[m] = step * steps / costs.items[m].training;
  }
  for (size_t i = 0; i < count && per_flop != NULL; i++) {
    size_t model = cells[i].axis[RS_BY_MODEL];
    double flops = rs_reading_flops(&costs, &cells[i]);
    if (rs_is_first(experiment, cells, i)) flops += costs.items[model].training + costs.items[model].tuning;
    seconds[i] = flops * per_flop[model];
  }
  rs_status status = per_flop != NULL ? RS_OK : RS_MEMORY;
  rs_costs_clear(&costs);
  free(per_flop);
  return status;
}
