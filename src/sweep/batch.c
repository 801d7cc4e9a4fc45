/* One batch: every cell of one model at one length. Encodings are made once, queries and keys once for each source,
 * seed and head, so that all methods see the very same content. */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What the cells of a batch share. */
typedef struct batch_work {
  const rs_cell_batch *batch;
  const rs_experiment *experiment;
  const rs_model *model;
  rs_encoding **encodings;     /* one for each method; NULL where undefined or unused */
  rs_projection **projections; /* one for each method, of the head at hand */
  rs_engine *engine;
  size_t *edges, bins, sinks;
  bool moments; /* some metric reads those of the logits */
  size_t *queries, query_count;
  rs_head_group *groups;
  size_t group_count;
  double *ids;   /* (L, RS_AXES) */
  uint32_t *run; /* (L,) */
  /* Content of one source, seed and head: (Q, D), (L, D), (Q, D), (Q,). */
  double *q, *k, *needles;
  size_t *needle_at;
} batch_work;

/* Random query positions and the model's weights belong to the experiment, not to the content: one draw for every seed,
 * so that a cell's numbers do not depend on which other cells run. */
enum { QUERY_SEED = 0, WEIGHTS_SEED = 0 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail_cell(rs_cell_state *cell, const rs_err *why) {
  if (cell->status != RS_OK) return;
  cell->status = why->status;
  snprintf(cell->message, sizeof cell->message, "%.*s", RS_CELL_MESSAGE - 1, why->message);
}

static size_t method_of(const rs_cell_state *cell) {
  return cell->cell.axis[RS_BY_METHOD];
}

/* ---- what does not depend on the content ------------------------------------------------------------------------- */

static void make_encodings(batch_work *work) {
  const rs_cell_batch *batch = work->batch;
  for (size_t i = 0; i < batch->count; i++) {
    rs_cell_state *cell = batch->cells[i];
    size_t method = method_of(cell);
    rs_recipe recipe;
    rs_err why = {0};
    if (work->encodings[method] == NULL &&
        rs_experiment_recipe(work->experiment, batch->model, method, &recipe, &why) == RS_OK) {
      rs_encoding_create(&recipe, work->model, batch->length, &work->experiment->tokens, &work->experiment->precision,
                         &work->encodings[method], &why);
      rs_recipe_clear(&recipe);
    }
    cell->scale = work->encodings[method] != NULL ? work->encodings[method]->scale : NAN;
    if (why.status != RS_OK) fail_cell(cell, &why);
  }
}

static rs_metric_in metric_input(const batch_work *work, const rs_cell_state *cell, size_t metric) {
  const rs_head_group *group = &work->groups[cell->cell.group];
  return (rs_metric_in){.encoding = work->encodings[method_of(cell)],
                        .settings = &work->experiment->metrics.items[metric].settings,
                        .heads = group->heads,
                        .head_count = group->count,
                        .edges = work->edges,
                        .bins = work->bins};
}

static void finish_metric(const batch_work *work, rs_cell_state *cell, size_t metric) {
  rs_metric_in in = metric_input(work, cell, metric);
  rs_err why = {0};
  const rs_metric_kind *kind = work->experiment->metrics.items[metric].metric;
  if (kind->finish(&in, cell->states[metric], &cell->results[metric], &why) == RS_OK) return;
  rs_curve_clear(&cell->results[metric].curve);
  fail_cell(cell, &why);
}

/* The first cell before `index` with the same method and heads: metrics of tables give the same there. */
static const rs_cell_state *twin(const rs_cell_batch *batch, size_t index) {
  const rs_cell_state *cell = batch->cells[index];
  for (size_t i = 0; i < index; i++)
    if (method_of(batch->cells[i]) == method_of(cell) && batch->cells[i]->cell.group == cell->cell.group)
      return batch->cells[i];
  return NULL;
}

static bool reads_tables(const batch_work *work, size_t metric) {
  return work->experiment->metrics.items[metric].metric->row == NULL;
}

static void copy_tables(const batch_work *work, const rs_cell_state *first, rs_cell_state *cell) {
  rs_err why = {.status = first->status};
  snprintf(why.message, sizeof why.message, "%s", first->message);
  if (first->status != RS_OK) fail_cell(cell, &why);
  for (size_t m = 0; m < work->experiment->metrics.count; m++)
    if (reads_tables(work, m)) memcpy(cell->results[m].value, first->results[m].value, sizeof first->results[m].value);
}

/* Metrics of tables: computed once for each method and head group, whose first cell keeps the curve; copied to the
 * others. */
static void read_tables(const batch_work *work) {
  size_t metrics = work->experiment->metrics.count;
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t i = 0; i < work->batch->count; i++) {
    rs_cell_state *cell = work->batch->cells[i];
    for (size_t m = 0; m < metrics && twin(work->batch, i) == NULL; m++)
      if (cell->status == RS_OK && reads_tables(work, m)) finish_metric(work, cell, m);
  }
  for (size_t i = 0; i < work->batch->count; i++) {
    const rs_cell_state *first = twin(work->batch, i);
    if (first != NULL) copy_tables(work, first, work->batch->cells[i]);
  }
}

static void make_states(const batch_work *work) {
  for (size_t i = 0; i < work->batch->count; i++) {
    rs_cell_state *cell = work->batch->cells[i];
    for (size_t m = 0; m < work->experiment->metrics.count && cell->status == RS_OK; m++) {
      const rs_metric_kind *kind = work->experiment->metrics.items[m].metric;
      rs_metric_in in = metric_input(work, cell, m);
      rs_err why = {0};
      if (kind->row == NULL) continue;
      cell->states[m] = rs_alloc(kind->state_size(&in), 1, &why);
      if (cell->states[m] == NULL) fail_cell(cell, &why);
    }
  }
}

/* ---- content ----------------------------------------------------------------------------------------------------- */

static rs_source_in source_input(const batch_work *work, size_t source, size_t seed, size_t head) {
  return (rs_source_in){.settings = &work->experiment->sources.items[source].settings,
                        .seed = work->experiment->seeds[seed],
                        .head = head,
                        .head_dim = work->model->head_dim,
                        .length = work->batch->length,
                        .rotary_dim = work->model->rotary_dim,
                        .pair_layout = work->model->pair_layout,
                        .ids = work->ids,
                        .run = work->run,
                        .tokens = &work->experiment->tokens};
}

static void make_content(batch_work *work, size_t source, const rs_source_in *in) {
  enum { BLOCK = 256 };
  const rs_source_kind *kind = work->experiment->sources.items[source].source;
  size_t dims = in->head_dim, blocks = (in->length + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(static)
  for (size_t b = 0; b < blocks; b++) {
    size_t begin = b * BLOCK, end = begin + BLOCK < in->length ? begin + BLOCK : in->length;
    kind->keys(in, begin, end, work->k + begin * dims);
  }
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < work->query_count; i++) {
    kind->query(in, work->queries[i], work->q + i * dims);
    if (kind->needle != NULL)
      work->needle_at[i] = kind->needle(in, work->queries[i], work->q + i * dims, work->needles + i * dims);
  }
}

static rs_attention_job make_job(const batch_work *work, const rs_cell_state *cell, size_t head) {
  bool needle = work->experiment->sources.items[cell->cell.axis[RS_BY_SOURCE]].source->needle != NULL;
  return (rs_attention_job){.encoding = work->encodings[method_of(cell)],
                            .projection = work->projections[method_of(cell)],
                            .head = head,
                            .mask = work->experiment->mask,
                            .queries = work->queries,
                            .query_count = work->query_count,
                            .q = work->q,
                            .k = work->k,
                            .needle_at = needle ? work->needle_at : NULL,
                            .needle_key = work->needles,
                            .edges = work->edges,
                            .bins = work->bins,
                            .sinks = work->sinks,
                            .moments = work->moments};
}

/* One head of one cell: observe, and show every row to every metric. */
static void observe_cell(const batch_work *work, rs_cell_state *cell, size_t head) {
  rs_attention_job job = make_job(work, cell, head);
  rs_observation *observation;
  rs_err why = {0};
  double start = now();
  if (rs_engine_run(work->engine, &job, &observation, &why) != RS_OK) {
    fail_cell(cell, &why);
    return;
  }
  for (size_t m = 0; m < work->experiment->metrics.count; m++) {
    const rs_metric_kind *kind = work->experiment->metrics.items[m].metric;
    rs_metric_in in = metric_input(work, cell, m);
    for (size_t i = 0; i < observation->count && kind->row != NULL; i++)
      kind->row(&in, cell->states[m], &observation->rows[i]);
  }
  rs_observation_free(observation);
  cell->seconds += now() - start;
}

static bool has_head(const batch_work *work, const rs_cell_state *cell, size_t head) {
  const rs_head_group *group = &work->groups[cell->cell.group];
  for (size_t i = 0; i < group->count; i++)
    if (group->heads[i] == head) return true;
  return false;
}

static double head_work(const batch_work *work, const rs_cell_state *cell) {
  return rs_cell_work(work->experiment, &cell->cell) / (double)work->groups[cell->cell.group].count;
}

/* Cells of one source and seed, for one head. */
static rs_status run_content(batch_work *work, size_t source, size_t seed, size_t head, rs_err *err) {
  bool made = false;
  for (size_t i = 0; i < work->batch->count; i++) {
    rs_cell_state *cell = work->batch->cells[i];
    const size_t *axis = cell->cell.axis;
    if (axis[RS_BY_SOURCE] != source || axis[RS_BY_SEED] != seed || !has_head(work, cell, head)) continue;
    if (!made && cell->status == RS_OK) {
      rs_source_in in = source_input(work, source, seed, head);
      make_content(work, source, &in);
      made = true;
    }
    if (cell->status == RS_OK) observe_cell(work, cell, head);
    if (cell->status == RS_INTERNAL) return rs_fail(err, RS_INTERNAL, "%s", cell->message);
    if (work->batch->advance != NULL) work->batch->advance(work->batch->context, head_work(work, cell));
  }
  return RS_OK;
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

/* What additive embeddings put on this head; a method without a table at this length fails its cells. */
static void project_head(batch_work *work, size_t head) {
  for (size_t i = 0; i < work->batch->count; i++) {
    rs_cell_state *cell = work->batch->cells[i];
    size_t method = method_of(cell);
    rs_err why = {0};
    if (cell->status != RS_OK || work->encodings[method]->method->embed == NULL || work->projections[method] != NULL)
      continue;
    if (rs_projection_create(work->encodings[method], head, WEIGHTS_SEED, work->queries, work->query_count,
                             &work->projections[method], &why) != RS_OK)
      for (size_t k = i; k < work->batch->count; k++)
        if (method_of(work->batch->cells[k]) == method) fail_cell(work->batch->cells[k], &why);
  }
}

static void drop_projections(batch_work *work) {
  for (size_t m = 0; m < work->experiment->methods.count; m++) {
    rs_projection_free(work->projections[m]);
    work->projections[m] = NULL;
  }
}

static bool head_is_used(const batch_work *work, size_t head) {
  for (size_t i = 0; i < work->batch->count; i++)
    if (has_head(work, work->batch->cells[i], head)) return true;
  return false;
}

static rs_status run_head(batch_work *work, size_t head, rs_err *err) {
  project_head(work, head);
  for (size_t source = 0; source < work->experiment->sources.count; source++)
    for (size_t seed = 0; seed < work->experiment->seed_count; seed++)
      RS_TRY(run_content(work, source, seed, head, err));
  drop_projections(work);
  return RS_OK;
}

static rs_status run_rows(batch_work *work, rs_err *err) {
  for (size_t head = 0; head < work->model->heads; head++)
    if (head_is_used(work, head)) RS_TRY(run_head(work, head, err));
  for (size_t i = 0; i < work->batch->count; i++)
    for (size_t m = 0; m < work->experiment->metrics.count; m++) {
      rs_cell_state *cell = work->batch->cells[i];
      if (cell->status == RS_OK && cell->states[m] != NULL) finish_metric(work, cell, m);
    }
  return RS_OK;
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

static size_t sink_tokens(const rs_experiment *experiment) {
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_value *tokens = rs_setting(&experiment->metrics.items[m].settings, "tokens");
    if (tokens->set) return (size_t)tokens->number;
  }
  return 0;
}

static rs_status make_tables(batch_work *work, rs_err *err) {
  const rs_experiment *experiment = work->experiment;
  size_t length = work->batch->length;
  work->sinks = sink_tokens(experiment);
  for (size_t m = 0; m < experiment->metrics.count; m++)
    work->moments |= experiment->metrics.items[m].metric->needs_moments;
  work->encodings = rs_alloc(experiment->methods.count, sizeof *work->encodings, err);
  work->projections = rs_alloc(experiment->methods.count, sizeof *work->projections, err);
  work->ids = rs_alloc(length, RS_AXES * sizeof *work->ids, err);
  work->run = rs_alloc(length, sizeof *work->run, err);
  if (work->encodings == NULL || work->projections == NULL || work->ids == NULL || work->run == NULL) return RS_MEMORY;
  RS_TRY(rs_experiment_heads(experiment, work->model, &work->groups, &work->group_count, err));
  RS_TRY(rs_log_edges(length, experiment->bins_per_octave, &work->edges, &work->bins, err));
  RS_TRY(rs_queries_select(&experiment->queries, length, QUERY_SEED, &work->queries, &work->query_count, err));
  return rs_token_positions(&experiment->tokens, NULL, length, work->ids, work->run, err);
}

static size_t most_views(const batch_work *work) {
  size_t views = 1;
  for (size_t m = 0; m < work->experiment->methods.count; m++)
    if (work->encodings[m] != NULL && work->encodings[m]->views > views) views = work->encodings[m]->views;
  return views;
}

static rs_status make_buffers(batch_work *work, rs_err *err) {
  size_t row = work->model->head_dim * sizeof(double);
  work->k = rs_alloc(work->batch->length, row, err);
  work->q = rs_alloc(work->query_count, row, err);
  work->needles = rs_alloc(work->query_count, row, err);
  work->needle_at = rs_alloc(work->query_count, sizeof *work->needle_at, err);
  if (work->k == NULL || work->q == NULL || work->needles == NULL || work->needle_at == NULL) return RS_MEMORY;
  return rs_engine_create(work->batch->length, work->model->head_dim, most_views(work), &work->engine, err);
}

static void clear_work(batch_work *work) {
  if (work->projections != NULL) drop_projections(work);
  for (size_t m = 0; m < work->experiment->methods.count && work->encodings != NULL; m++)
    rs_encoding_free(work->encodings[m]);
  rs_head_groups_free(work->groups, work->group_count);
  rs_engine_free(work->engine);
  free(work->encodings);
  free(work->projections);
  free(work->edges);
  free(work->queries);
  free(work->ids);
  free(work->run);
  free(work->k);
  free(work->q);
  free(work->needles);
  free(work->needle_at);
}

rs_status rs_batch_run(const rs_cell_batch *batch, rs_err *err) {
  batch_work work = {
      .batch = batch, .experiment = batch->experiment, .model = &batch->experiment->models[batch->model]};
  bool rows = rs_needs_rows(batch->experiment);
  rs_err why = {0};
  rs_status status = make_tables(&work, &why);
  if (status == RS_OK) {
    make_encodings(&work);
    read_tables(&work);
    if (rows) status = make_buffers(&work, &why);
  }
  for (size_t i = 0; i < batch->count && status != RS_OK; i++) fail_cell(batch->cells[i], &why);
  if (status == RS_OK && rows) {
    make_states(&work);
    status = run_rows(&work, err);
  }
  if (!rows && batch->advance != NULL)
    for (size_t i = 0; i < batch->count; i++)
      batch->advance(batch->context, rs_cell_work(batch->experiment, &batch->cells[i]->cell));
  clear_work(&work);
  return status == RS_INTERNAL ? status : RS_OK;
}
