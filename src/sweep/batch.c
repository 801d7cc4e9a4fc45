/* One batch: every cell of one model at one length. Encodings are made once, queries and keys once for each source,
 * seed and head, so that all methods see the very same content. */
#include "content.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what does not depend on the content ------------------------------------------------------------------------- */

static void make_encodings(rs_batch_work *work) {
  const rs_cell_batch *batch = work->batch;
  for (size_t i = 0; i < batch->count; i++) {
    rs_cell_state *cell = batch->cells[i];
    size_t method = rs_cell_method(cell);
    rs_recipe recipe;
    rs_err why = {0};
    if (rs_experiment_recipe(work->experiment, batch->model, method, &recipe, &why) == RS_OK) {
      rs_cell_warn(cell, &recipe, NULL, work->model, batch->length, &work->experiment->tokens);
      if (work->encodings[method] == NULL)
        (void)rs_encoding_create(&recipe, work->model, batch->length, &work->experiment->tokens,
                                 &work->experiment->precision, &work->encodings[method], &why);
      rs_recipe_clear(&recipe);
    }
    cell->scale = work->encodings[method] != NULL ? work->encodings[method]->scale : NAN;
    if (why.status != RS_OK) rs_cell_fail(cell, &why);
  }
}

static bool reads_tables(const rs_batch_work *work, size_t metric) {
  return !rs_metric_observes(work->experiment->metrics.items[metric].metric);
}

/* The first cell before `index` at which a metric of tables gives the same: that of the same method and heads, and of
 * the same seed if the metric draws numbers. */
static const rs_cell_state *twin(const rs_batch_work *work, size_t index, size_t metric) {
  const rs_cell_state *cell = work->batch->cells[index];
  bool draws = work->experiment->metrics.items[metric].metric->draws;
  for (size_t i = 0; i < index; i++) {
    const rs_cell_state *other = work->batch->cells[i];
    if (rs_cell_method(other) == rs_cell_method(cell) && other->cell.group == cell->cell.group &&
        (!draws || other->cell.axis[RS_BY_SEED] == cell->cell.axis[RS_BY_SEED]))
      return other;
  }
  return NULL;
}

static void copy_tables(const rs_batch_work *work, size_t index) {
  rs_cell_state *cell = work->batch->cells[index];
  for (size_t m = 0; m < work->experiment->metrics.count; m++) {
    const rs_cell_state *first = reads_tables(work, m) ? twin(work, index, m) : NULL;
    if (first == NULL) continue;
    rs_err why = {.status = first->status};
    snprintf(why.message, sizeof why.message, "%s", first->message);
    if (first->status != RS_OK) rs_cell_fail(cell, &why);
    memcpy(cell->results[m].value, first->results[m].value, sizeof first->results[m].value);
  }
}

static void read_cell(const rs_batch_work *work, size_t index) {
  rs_cell_state *cell = work->batch->cells[index];
  for (size_t m = 0; m < work->experiment->metrics.count; m++)
    if (cell->status == RS_OK && reads_tables(work, m) && twin(work, index, m) == NULL) rs_metric_finish(work, cell, m);
}

/* Metrics of tables: computed once for each method and head group (and seed, where they draw numbers), whose first cell
 * keeps the curve; copied to the others. */
static void read_tables(const rs_batch_work *work) {
  size_t count = work->batch->count;
  if (count < rs_engine_threads()) { /* few cells: let each have all threads */
    for (size_t i = 0; i < count; i++) read_cell(work, i);
  } else {
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t i = 0; i < count; i++) read_cell(work, i);
  }
  for (size_t i = 0; i < count; i++) copy_tables(work, i);
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

/* What additive embeddings put on this head; a method without a table at this length fails its cells. */
static void project_head(rs_batch_work *work, size_t head) {
  for (size_t i = 0; i < work->batch->count; i++) {
    rs_cell_state *cell = work->batch->cells[i];
    size_t method = rs_cell_method(cell);
    rs_err why = {0};
    if (cell->status != RS_OK || work->encodings[method]->method->embed == NULL || work->projections[method] != NULL)
      continue;
    if (rs_projection_create(work->encodings[method], head, RS_WEIGHTS_SEED, work->queries, work->query_count,
                             &work->projections[method], &why) != RS_OK)
      for (size_t k = i; k < work->batch->count; k++)
        if (rs_cell_method(work->batch->cells[k]) == method) rs_cell_fail(work->batch->cells[k], &why);
  }
}

static void drop_projections(rs_batch_work *work) {
  for (size_t m = 0; m < work->experiment->methods.count; m++) {
    rs_projection_free(work->projections[m]);
    work->projections[m] = NULL;
  }
}

static const rs_variant *source_of(const rs_batch_work *work, const rs_cell_state *cell) {
  return &work->experiment->sources.items[cell->cell.axis[RS_BY_SOURCE]];
}

/* By a cell of a made source (`text` NULL), or of the source `text`. */
static bool head_is_used(const rs_batch_work *work, size_t head, const rs_variant *text) {
  for (size_t i = 0; i < work->batch->count; i++) {
    const rs_variant *source = source_of(work, work->batch->cells[i]);
    bool one = text != NULL ? source == text : !source->source->of_model;
    if (one && rs_cell_has_head(work->batch->cells[i], head)) return true;
  }
  return false;
}

static rs_status run_head(rs_batch_work *work, size_t head, rs_contents *contents, rs_err *err) {
  project_head(work, head);
  rs_status status = rs_contents_run(work, head, contents, err);
  drop_projections(work);
  return status;
}

/* ---- sources with a checkpoint of their own ---------------------------------------------------------------------- */

/* A head of the model's rows; of a rehearsal, the zeros. */
static rs_given_rows find_rows(const rs_text_rows *rows, size_t head, const double *zeros) {
  if (zeros != NULL) return (rs_given_rows){.q = zeros, .k = zeros, .factor = 1};
  return rs_block_head(&rows->shape, head, rows->q, rows->k, rows->sinks);
}

static rs_status run_heads(rs_batch_work *work, size_t source, const rs_text_rows *rows, const double *zeros,
                           rs_contents *contents, rs_err *err) {
  rs_status status = RS_OK;
  for (size_t head = 0; head < work->model->heads && status == RS_OK; head++) {
    if (!head_is_used(work, head, &work->experiment->sources.items[source])) continue;
    const rs_given_rows given = find_rows(rows, head, zeros);
    project_head(work, head);
    status = rs_contents_run_given(work, source, head, &given, contents, err);
    drop_projections(work);
  }
  return status;
}

static void fail_source(const rs_batch_work *work, const rs_variant *source, const rs_err *why) {
  for (size_t i = 0; i < work->batch->count; i++) {
    if (source_of(work, work->batch->cells[i]) != source) continue;
    rs_cell_fail(work->batch->cells[i], why);
    rs_batch_advance(work, work->batch->cells[i]->weight);
  }
}

static bool is_used(const rs_batch_work *work, const rs_variant *source) {
  for (size_t i = 0; i < work->batch->count; i++)
    if (source_of(work, work->batch->cells[i]) == source) return true;
  return false;
}

/* Its rows are made once for all heads and methods, and let go before the next source's are. */
static rs_status run_text(rs_batch_work *work, size_t source, rs_contents *contents, rs_err *err) {
  const rs_variant *variant = &work->experiment->sources.items[source];
  rs_text_rows rows = {0};
  double *zeros = NULL;
  rs_err why = {0};
  if (!is_used(work, variant)) return RS_OK;
  if (work->batch->texts != NULL)
    (void)rs_text_rows_read(work->batch->texts, variant->params, work->batch->length, &rows, &why);
  else
    zeros = rs_alloc(work->model->head_dim, sizeof *zeros, &why);
  rs_status status = RS_OK;
  if (why.status == RS_OK)
    status = run_heads(work, source, &rows, zeros, contents, err);
  else
    fail_source(work, variant, &why);
  rs_text_rows_clear(&rows);
  free(zeros);
  return status;
}

static rs_status run_rows(rs_batch_work *work, rs_contents *contents, rs_err *err) {
  for (size_t head = 0; head < work->model->heads; head++)
    if (head_is_used(work, head, NULL)) RS_TRY(run_head(work, head, contents, err));
  for (size_t s = 0; s < work->experiment->sources.count; s++)
    if (work->experiment->sources.items[s].source->of_model) RS_TRY(run_text(work, s, contents, err));
  rs_batch_finish_rows(work);
  return RS_OK;
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

rs_status rs_batch_run(const rs_cell_batch *batch, rs_err *err) {
  rs_batch_work work = {.batch = batch,
                        .experiment = batch->experiment,
                        .model = &batch->experiment->models[batch->model],
                        .mask = batch->experiment->mask,
                        .tokens = &batch->experiment->tokens};
  rs_contents contents = {0};
  bool heads = rs_needs_heads(batch->experiment);
  rs_err why = {0};
  rs_status status = rs_batch_work_make(&work, &why);
  if (status == RS_OK) {
    make_encodings(&work);
    read_tables(&work);
    if (heads) status = rs_contents_make(&work, &contents, &why);
  }
  for (size_t i = 0; i < batch->count && status != RS_OK; i++) rs_cell_fail(batch->cells[i], &why);
  if (status == RS_OK && heads) {
    rs_batch_begin_rows(&work);
    status = run_rows(&work, &contents, err);
  }
  for (size_t i = 0; i < batch->count && !heads; i++) rs_batch_advance(&work, batch->cells[i]->weight);
  rs_contents_clear(&contents);
  for (size_t m = 0; m < batch->experiment->methods.count && work.encodings != NULL; m++)
    rs_encoding_free(work.encodings[m]);
  rs_batch_work_clear(&work);
  return status == RS_INTERNAL ? status : RS_OK;
}
