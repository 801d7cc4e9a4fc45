/* Cells that read checkpoints: trained once for each of its seeds, and read with every method at every length. */
#include "work.h"

#include "costs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run over the cells of checkpoints. */
typedef struct trained_run {
  const rs_experiment *experiment;
  rs_ledger *ledger;
  rs_costs costs; /* of the ledger's cells */
  const rs_trained_watch *watch;
  double trained;         /* flops of the training at hand that are done */
  rs_baselines baselines; /* of the weights at hand */
} trained_run;

/* ---- one training ------------------------------------------------------------------------------------------------ */

/* What a step tells of one training. */
typedef struct training_watch {
  trained_run *run;
  const rs_checkpoint_cost *cost;
  const char *checkpoint;         /* its name */
  char arithmetic[RS_ARITHMETIC]; /* of the weights that came last, which are those that are read */
} training_watch;

static bool note_step(void *context, const rs_training_report *report) {
  const training_watch *t = context;
  const rs_training_watch *user = t->run->watch->training;
  bool own = strcmp(report->checkpoint, t->checkpoint) == 0; /* a teacher's training is another cell's */
  double work = own ? (report->tuning ? t->cost->tuning : t->cost->training) / (double)report->steps : 0;
  bool wanted = user == NULL || user->step == NULL || user->step(user->context, report);
  t->run->trained += work;
  t->run->watch->advance(t->run->watch->context, work, 0);
  return wanted && !rs_trained_stopped(t->run->watch);
}

static void note_wait(void *context, const char *folder) {
  const rs_training_watch *user = ((const training_watch *)context)->run->watch->training;
  if (user != NULL && user->wait != NULL) user->wait(user->context, folder);
}

static void note_ready(void *context, const char *folder, const char *arithmetic) {
  training_watch *t = context;
  const rs_training_watch *user = t->run->watch->training;
  snprintf(t->arithmetic, sizeof t->arithmetic, "%s", arithmetic);
  rs_training_ready(user, folder, arithmetic);
}

/* The weights that a cell reads, or those from before they were tuned; `arithmetic` (RS_ARITHMETIC,) gets what computed
 * them. */
static rs_status obtain_weights(trained_run *run, const rs_cell *cell, bool untuned, char *arithmetic,
                                rs_transformer **transformer, rs_err *why) {
  rs_weights_in in = rs_cell_weights(run->experiment, cell);
  training_watch context = {
      .run = run, .cost = &run->costs.models[in.model], .checkpoint = run->experiment->models[in.model].name};
  const rs_training_watch *user = run->watch->training;
  const rs_training_watch watch = {.wait = note_wait,
                                   .step = note_step,
                                   .ready = note_ready,
                                   .context = &context,
                                   .save_interval = user != NULL ? user->save_interval : 0};
  const rs_checkpoint_place place = {run->watch->checkpoints, &watch};
  in.untuned = in.untuned || untuned;
  run->trained = 0;
  rs_status status = rs_checkpoint_obtain(run->experiment, &in, &place, transformer, why);
  memcpy(arithmetic, context.arithmetic, sizeof context.arithmetic);
  return status;
}

/* What cell `first` reads. Returns what ends the run, `*why` gets any failure. */
static rs_status obtain(trained_run *run, size_t first, char *arithmetic, rs_transformer **transformer, rs_err *why) {
  const rs_cell *cell = &run->ledger->cells[first];
  const double *flops = run->costs.weights[rs_weights_index(run->experiment, cell)].flops;
  rs_status status = obtain_weights(run, cell, false, arithmetic, transformer, why);
  bool of_run = status == RS_INTERNAL || status == RS_STOPPED || status == RS_IO || status == RS_INPUT;
  if (of_run) return status; /* what stands in a folder, a disk, and the user's wish are not of one cell */
  double left =
      flops[RS_STAGE_TRAINING] + flops[RS_STAGE_TUNING] - run->trained; /* of a model that is there by now, all */
  if (left > 0) run->watch->advance(run->watch->context, left, 0);
  return RS_OK;
}

/* ---- cells that are read together -------------------------------------------------------------------------------- */

/* The cells' method in the place of the first recipe, and where each layer has that for itself, of its copies. A
 * baseline reads with the model's own. */
static rs_status make_recipes(rs_model_rows *r, rs_err *err) {
  const size_t *axis = r->cells[0]->cell.axis;
  const rs_transformer *t = r->transformer;
  if (r->experiment->methods.items[axis[RS_BY_METHOD]].added) return RS_OK;
  r->recipes = rs_alloc(t->recipe_count, sizeof *r->recipes, err);
  if (r->recipes == NULL) return RS_MEMORY;
  RS_TRY(rs_experiment_recipe(r->experiment, axis[RS_BY_MODEL], axis[RS_BY_METHOD], &r->recipes[0], err));
  return rs_recipes_with(t->recipes, t->recipe_count, r->recipes, err);
}

static rs_status make_context(rs_model_rows *r, rs_err *err) {
  const size_t *axis = r->cells[0]->cell.axis;
  RS_TRY(rs_checkpoint_task(r->experiment, r->experiment->seeds[axis[RS_BY_SEED]], &r->task, err));
  RS_TRY(make_recipes(r, err));
  RS_TRY(rs_context_of_task(r->transformer, r->recipes, &r->task, r->length, &r->context, err));
  const rs_encoding *encoding = rs_context_encoding(r->context);
  for (size_t i = 0; i < r->count; i++) {
    r->cells[i]->scale = encoding->scale;
    rs_cell_warn(r->cells[i], r->recipes != NULL ? &r->recipes[0] : &r->transformer->recipes[0],
                 rs_trained_recipe(r->experiment, axis[RS_BY_MODEL], axis[RS_BY_METHOD]),
                 &r->experiment->models[axis[RS_BY_MODEL]], encoding->length, &encoding->tokens);
  }
  return rs_log_edges(encoding->length, r->experiment->bins_per_octave, &r->edges, &r->bins, err);
}

static rs_status read_whole(rs_model_rows *r, rs_err *err) {
  rs_context *context;
  RS_TRY(rs_context_of_task(r->transformer, NULL, &r->task, r->length, &context, err));
  rs_status status =
      rs_reading_make(context, &r->task, RS_SPLIT_EVALUATION, r->length, r->experiment->sequences, &r->judged, err);
  rs_context_free(context);
  return status;
}

/* Where the method judges, the whole context is what was read already. */
static rs_status read_cut(rs_model_rows *r, rs_err *err) {
  rs_cut cut;
  rs_context *context;
  if (!rs_experiment_cuts(r->experiment, &cut)) return RS_OK;
  if (cut.trained) RS_TRY(read_whole(r, err));
  RS_TRY(rs_context_create(r->transformer, cut.trained ? NULL : r->recipes, rs_cut_window(&cut, r->length), 0, NULL,
                           &context, err));
  rs_status status =
      rs_cut_losses(context, &r->task, RS_SPLIT_EVALUATION, r->length, r->reading.sequences, &cut, &r->cut_losses, err);
  rs_context_free(context);
  return status;
}

/* What the model as it was trained says with so many tokens of what the cells read. */
static rs_status read_baseline(trained_run *run, const rs_model_rows *r, size_t length, rs_reading *reading,
                               rs_err *err) {
  const rs_cell *cell = &r->cells[0]->cell;
  rs_transformer **untuned = &run->baselines.untuned;
  char arithmetic[RS_ARITHMETIC];
  bool tuned =
      r->experiment->checkpoints[cell->axis[RS_BY_MODEL]].tuned && !rs_cell_weights(r->experiment, cell).untuned;
  if (tuned && *untuned == NULL) RS_TRY(obtain_weights(run, cell, true, arithmetic, untuned, err));
  const rs_baseline_in in = {.transformer = tuned ? *untuned : r->transformer,
                             .task = &r->task,
                             .seed = cell->axis[RS_BY_SEED],
                             .length = length,
                             .sequences = r->experiment->sequences};
  return rs_baselines_read(&run->baselines, &in, reading, err);
}

/* What the cells' method says, and what it is compared with. */
static rs_status read_sequences(trained_run *run, rs_model_rows *r, rs_err *err) {
  const rs_cell *cell = &r->cells[0]->cell;
  rs_baseline baseline;
  if (r->experiment->methods.items[cell->axis[RS_BY_METHOD]].added)
    RS_TRY(read_baseline(run, r, r->length, &r->reading, err));
  else
    RS_TRY(rs_reading_make(r->context, &r->task, RS_SPLIT_EVALUATION, r->length, r->experiment->sequences, &r->reading,
                           err));
  if (rs_experiment_reads_trained(r->experiment))
    RS_TRY(
        rs_reading_make(r->context, &r->task, RS_SPLIT_TRAINED, r->length, r->experiment->sequences, &r->trained, err));
  if (!rs_experiment_compares(r->experiment, &baseline)) return RS_OK;
  return read_baseline(run, r, rs_experiment_baseline_length(r->experiment, cell, baseline), &r->baseline, err);
}

static rs_status make_reading(trained_run *run, rs_model_rows *r, rs_err *err) {
  bool needed = false;
  double start = rs_seconds();
  for (size_t m = 0; m < r->experiment->metrics.count; m++)
    needed = needed || r->experiment->metrics.items[m].metric->read != NULL;
  rs_status status = needed ? read_sequences(run, r, err) : RS_OK;
  if (status == RS_OK) status = read_cut(r, err);
  r->cells[0]->seconds = rs_seconds() - start;
  return status;
}

static rs_status measure(const rs_model_rows *r, rs_cell_state *cell, size_t metric, rs_err *err) {
  const rs_variant *variant = &r->experiment->metrics.items[metric];
  if (variant->metric->read != NULL) {
    const double *whole = r->judged.losses != NULL ? r->judged.losses : r->reading.losses;
    const rs_reading_in in = {.reading = &r->reading,
                              .task = &r->task,
                              .length = r->length,
                              .context = r->context,
                              .params = variant->params,
                              .whole = whole,
                              .cut = r->cut_losses,
                              .baseline = &r->baseline,
                              .trained = &r->trained};
    return variant->metric->read(&in, &cell->results[metric], err);
  }
  cell->encoding = rs_encoding_of_head(rs_context_encoding(r->context), cell->group.heads[0]);
  const rs_metric_in in = {.encoding = &cell->encoding,
                           .params = variant->params,
                           .heads = cell->group.heads,
                           .head_count = cell->group.count,
                           .edges = r->edges,
                           .bins = r->bins,
                           .seed = r->experiment->seeds[cell->cell.axis[RS_BY_SEED]]};
  return variant->metric->finish(&in, NULL, &cell->results[metric], err);
}

/* The first cell before `index` at which a metric of readings or tables gives the same, for it reads no source: any of
 * readings, of tables that of the same heads. */
static const rs_cell_state *twin(const rs_model_rows *r, size_t index, size_t metric) {
  bool any = r->experiment->metrics.items[metric].metric->read != NULL;
  for (size_t i = 0; i < index; i++)
    if (any || strcmp(r->cells[i]->heads, r->cells[index]->heads) == 0) return r->cells[i];
  return NULL;
}

/* The values, without their curve; or what the metric has failed with. */
static rs_status copy_values(const rs_cell_state *from, size_t metric, rs_result *to, rs_err *err) {
  if (from->status != RS_OK) return rs_fail(err, from->status, "%s", from->message);
  memcpy(to->value, from->results[metric].value, sizeof to->value);
  memcpy(to->error, from->results[metric].error, sizeof to->error);
  return RS_OK;
}

/* Metrics of readings and of tables. */
static void measure_cell(const rs_model_rows *r, size_t index) {
  rs_cell_state *cell = r->cells[index];
  for (size_t m = 0; m < r->experiment->metrics.count && cell->status == RS_OK; m++) {
    rs_err why = {0};
    if (rs_metric_observes(r->experiment->metrics.items[m].metric)) continue;
    const rs_cell_state *same = twin(r, index, m);
    if (same != NULL && copy_values(same, m, &cell->results[m], &why) != RS_OK) rs_cell_fail(cell, &why);
    if (same == NULL && measure(r, cell, m, &why) != RS_OK) rs_cell_fail_metric(cell, r->experiment, m, &why);
  }
}

static void clear(rs_model_rows *r) {
  rs_reading_clear(&r->reading);
  rs_reading_clear(&r->judged);
  rs_reading_clear(&r->trained);
  free(r->cut_losses);
  rs_context_free(r->context);
  free(r->edges);
  for (size_t i = 0; r->recipes != NULL && i < r->transformer->recipe_count; i++) rs_recipe_clear(&r->recipes[i]);
  free(r->recipes);
  if (r->task.kind != NULL) rs_task_clear(&r->task);
  for (size_t i = 0; i < r->count; i++) rs_cell_state_clear(r->experiment, &r->states[i]);
  free(r->states);
  free(r->cells);
}

static void read_cells(trained_run *run, rs_model_rows *r) {
  rs_err why = {0};
  r->length = rs_experiment_read_length(r->experiment, &r->cells[0]->cell);
  rs_status status = make_context(r, &why);
  if (status == RS_OK) status = make_reading(run, r, &why);
  for (size_t i = 0; i < r->count && status != RS_OK; i++) rs_cell_fail(r->cells[i], &why);
  for (size_t i = 0; i < r->count && status == RS_OK; i++) measure_cell(r, i);
  for (size_t i = 0; i < r->count && status == RS_OK; i++) r->cells[i]->read = r->cells[i]->status == RS_OK;
  if (status == RS_OK && rs_needs_heads(r->experiment)) rs_model_rows_observe(r);
}

/* ---- all cells --------------------------------------------------------------------------------------------------- */

/* States of so many cells that are read together, which begin at `first` of the order. */
static rs_status make_states(const trained_run *run, size_t first, size_t count, const char *arithmetic,
                             rs_model_rows *r, rs_err *err) {
  r->cells = rs_alloc(count, sizeof(rs_cell_state *), err);
  r->states = rs_alloc(count, sizeof *r->states, err);
  if (r->cells == NULL || r->states == NULL) return RS_MEMORY;
  while (r->count < count) {
    rs_cell_state *state = r->cells[r->count] = &r->states[r->count];
    r->count++;
    RS_TRY(rs_ledger_state(run->ledger, run->costs.order[first + r->count - 1], state, err));
    snprintf(state->arithmetic, sizeof state->arithmetic, "%s", arithmetic);
  }
  return RS_OK;
}

/* What was done before stays as it is recorded. */
static rs_status record(const trained_run *run, const rs_model_rows *r, rs_err *err) {
  for (size_t i = 0; i < r->count; i++) {
    const rs_cell_state *state = r->cells[i];
    if (!rs_ledger_pending(run->ledger, state->number)) continue;
    RS_TRY(rs_ledger_add(run->ledger, state, err));
    run->watch->advance(run->watch->context, state->weight, 1);
  }
  return rs_ledger_sync(run->ledger, err);
}

/* Reads these cells, or fails them where there is no transformer. RS_MEMORY for the list of them, RS_IO. */
static rs_status read_with(trained_run *run, const rs_transformer *transformer, size_t first, size_t count,
                           const char *arithmetic, const rs_err *why, rs_err *err) {
  rs_model_rows r = {.experiment = run->experiment, .transformer = transformer};
  rs_status status = make_states(run, first, count, arithmetic, &r, err);
  for (size_t i = 0; i < r.count && status == RS_OK && transformer == NULL; i++) rs_cell_fail(r.cells[i], why);
  if (status == RS_OK && transformer != NULL) read_cells(run, &r);
  if (status == RS_OK) status = record(run, &r, err);
  clear(&r);
  return status;
}

/* How many cells from `first` on, in their order, have the same weights, or are read together: sources and heads apart
 * they are the same. *pending: some of them are to be done. */
static size_t count_same(const trained_run *run, size_t first, bool together, bool *pending) {
  const size_t *order = run->costs.order;
  const rs_cell *cells = run->ledger->cells, *one = &cells[order[first]];
  size_t count = 0;
  *pending = false;
  for (; first + count < run->ledger->count; count++) {
    const rs_cell *cell = &cells[order[first + count]];
    if (rs_weights_index(run->experiment, cell) != rs_weights_index(run->experiment, one)) break;
    bool same = true;
    for (size_t i = 0; i < RS_AXIS_COUNT && together; i++)
      same = same && (i == RS_BY_SOURCE || cell->axis[i] == one->axis[i]);
    if (!same) break;
    *pending = *pending || rs_ledger_pending(run->ledger, order[first + count]);
  }
  return count;
}

/* So many cells from `first` on, in their order, which have the same weights. */
static rs_status run_weights(trained_run *run, size_t first, size_t count, rs_err *err) {
  char arithmetic[RS_ARITHMETIC];
  rs_transformer *transformer = NULL;
  rs_err why = {0};
  rs_status status = obtain(run, run->costs.order[first], arithmetic, &transformer, &why);
  if (status != RS_OK) return rs_fail(err, status, "%s", why.message);
  for (size_t i = first, size; i < first + count && status == RS_OK; i += size) {
    bool pending;
    size = count_same(run, i, true, &pending);
    if (!pending) continue;
    status = rs_trained_stopped(run->watch) ? rs_fail(err, RS_STOPPED, "stopped")
                                            : read_with(run, transformer, i, size, arithmetic, &why, err);
  }
  rs_baselines_clear(&run->baselines);
  rs_transformer_free(transformer);
  return status;
}

/* Finds the trainings that are to be done. */
static rs_status start(rs_ledger *ledger, const rs_trained_watch *watch, trained_run *run, rs_err *err) {
  *run = (trained_run){.experiment = ledger->experiment, .ledger = ledger, .watch = watch};
  return rs_costs_make(run->experiment, ledger->cells, ledger->count, watch->checkpoints, &run->costs, err);
}

rs_status rs_trained_run(rs_ledger *ledger, const rs_trained_watch *watch, rs_err *err) {
  trained_run run;
  rs_status status = start(ledger, watch, &run, err);
  for (size_t i = 0, size; i < ledger->count && status == RS_OK; i += size) {
    bool pending;
    size = count_same(&run, i, false, &pending);
    if (pending) status = run_weights(&run, i, size, err);
  }
  rs_costs_clear(&run.costs);
  return status;
}
