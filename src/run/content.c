/* Queries and keys of one source, seed and head, and every cell that observes them. */
#include "work.h"

#include <math.h>
#include <stdlib.h>

/* Below this much time by one core, guessed at 1e11 operations a second, threads take whole units rather than parts of
 * one: no thread waits for another within it. */
static const double SMALL_UNIT = 0.05 * 1e11;

/* ---- queries and keys -------------------------------------------------------------------------------------------- */

static rs_source_in source_input(const rs_batch_work *work, const rs_content_unit *u) {
  return (rs_source_in){.params = work->experiment->sources.items[u->source].params,
                        .seed = work->experiment->seeds[u->seed],
                        .head = u->head,
                        .heads = work->model->heads,
                        .head_dim = work->model->head_dim,
                        .length = work->length,
                        .rotary_dim = work->model->rotary_dim,
                        .rope_theta = work->model->rope_theta,
                        .pair_layout = work->model->pair_layout,
                        .ids = work->ids,
                        .run = work->run,
                        .tokens = work->tokens,
                        .train_length = work->model->train_length,
                        .given = u->given,
                        .model = work->model};
}

static void fill_content(const rs_batch_work *work, const rs_source_kind *kind, const rs_source_in *in,
                         rs_content *content) {
  enum { BLOCK = 256 };
  size_t dims = in->head_dim, blocks = (in->length + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(static) if (content->shared)
  for (size_t b = 0; b < blocks; b++) {
    size_t begin = b * BLOCK, end = begin + BLOCK < in->length ? begin + BLOCK : in->length;
    kind->keys(in, begin, end, content->k + begin * dims);
  }
#pragma omp parallel for schedule(static) if (content->shared)
  for (size_t i = 0; i < work->query_count; i++) {
    double *query = content->q + i * dims, *needle = content->needles + i * dims;
    kind->query(in, work->queries[i], query);
    if (kind->needle != NULL) content->needle_at[i] = kind->needle(in, work->queries[i], query, needle);
  }
}

rs_status rs_content_fill(const rs_batch_work *work, const rs_content_unit *u, rs_content *content, rs_err *err) {
  const rs_source_kind *kind = work->experiment->sources.items[u->source].source;
  rs_source_in in = source_input(work, u);
  rs_recipe rotated;
  RS_TRY(rs_experiment_rotated(work->experiment, work->model_number, u->source, &rotated, err));
  if (rotated.method != NULL) in.rotated = &rotated;
  rs_status status = rs_source_prepare(kind, &in, err);
  if (status == RS_OK) {
    fill_content(work, kind, &in, content);
    content->rule = kind->rule != NULL ? kind->rule(&in) : (rs_score_rule){0};
    rs_source_release(kind, &in);
  }
  rs_recipe_clear(&rotated);
  return status;
}

/* ---- observing them ---------------------------------------------------------------------------------------------- */

rs_attention_job rs_cell_job(const rs_batch_work *work, const rs_cell_state *cell, const rs_content *content,
                             size_t head) {
  const rs_experiment *experiment = work->experiment;
  const rs_source_kind *source = experiment->sources.items[cell->cell.axis[RS_BY_SOURCE]].source;
  return (rs_attention_job){.encoding = work->encodings[rs_cell_method(cell)],
                            .projection = work->projections[rs_cell_method(cell)],
                            .head = head,
                            .mask = work->mask,
                            .queries = work->queries,
                            .query_count = work->query_count,
                            .q = content->q,
                            .k = content->k,
                            .needle_at = source->needle != NULL ? content->needle_at : NULL,
                            .needle_key = source->needle != NULL && !source->needle_is_key ? content->needles : NULL,
                            .edges = work->edges,
                            .bins = work->bins,
                            .soft_cap = content->rule.soft_cap,
                            .learned_sink = content->rule.sinks ? &content->rule.learned_sink : NULL,
                            .sinks = work->needs.sinks,
                            .local = work->needs.local,
                            .tops = work->needs.tops,
                            .top_count = work->needs.top_count,
                            .map_queries = work->needs.map_queries,
                            .map_keys = work->needs.map_keys,
                            .moments = work->needs.moments,
                            .scores = experiment->engine.scores,
                            .epsilon = experiment->engine.epsilon};
}

void rs_cell_show_content(const rs_batch_work *work, rs_cell_state *cell, const rs_content *content, size_t head) {
  const rs_head_content shown = {head, work->query_count, work->length, content->q, content->k};
  for (size_t m = 0; m < work->experiment->metrics.count; m++) {
    const rs_metric_kind *kind = work->experiment->metrics.items[m].metric;
    if (kind->content != NULL) kind->content(cell->states[m], &shown);
  }
}

/* Shows rows to every metric; each metric sees them in order. */
static void show_rows(const rs_batch_work *work, rs_cell_state *cell, const rs_observation *observation) {
  size_t metrics = work->experiment->metrics.count;
#pragma omp parallel for schedule(dynamic, 1) if (observation->count * observation->bins >= 1 << 16)
  for (size_t m = 0; m < metrics; m++) {
    const rs_metric_kind *kind = work->experiment->metrics.items[m].metric;
    for (size_t i = 0; i < observation->count && kind->row != NULL; i++)
      kind->row(cell->states[m], &observation->rows[i]);
  }
}

void rs_cell_show(const rs_batch_work *work, rs_cell_state *cell, const rs_observation *observation) {
  rs_cell_scores *scores = &cell->scores;
  show_rows(work, cell, observation);
  scores->f32 |= observation->scores == RS_SCORES_F32;
  scores->f64 |= observation->scores == RS_SCORES_F64;
  scores->error = fmax(scores->error, observation->error);
  scores->pairs += observation->pairs;
  scores->skipped += observation->skipped;
  scores->skipped_weight = fmax(scores->skipped_weight, observation->skipped_weight);
}

/* Some thousands of rows at a time: however many queries there are, their rows take no more. */
static rs_status observe_rows(const rs_batch_work *work, rs_cell_state *cell, rs_engine *engine,
                              const rs_attention_job *job, rs_err *err) {
  RS_TRY(rs_engine_load(engine, job, err));
  for (size_t first = 0; first < job->query_count; first += RS_ROWS_AT_ONCE) {
    size_t count = job->query_count - first < RS_ROWS_AT_ONCE ? job->query_count - first : RS_ROWS_AT_ONCE;
    rs_observation *observation;
    RS_TRY(rs_engine_observe(engine, first, count, &observation, err));
    rs_cell_show(work, cell, observation);
    rs_observation_free(observation);
  }
  return RS_OK;
}

rs_status rs_cell_observe(const rs_batch_work *work, rs_cell_state *cell, const rs_content *content, size_t head,
                          rs_err *err) {
  rs_attention_job job = rs_cell_job(work, cell, content, head);
  rs_cell_show_content(work, cell, content, head);
  return work->needs.rows ? observe_rows(work, cell, content->engine, &job, err) : RS_OK;
}

/* Every cell of one unit; the first that can be observed has the content made. */
static void run_unit(const rs_batch_work *work, rs_content_unit u, rs_content *content) {
  bool ready = false;
  for (size_t i = 0; i < work->count && content->why.status == RS_OK && !rs_batch_stopped(work); i++) {
    rs_cell_state *cell = work->cells[i];
    const size_t *axis = cell->cell.axis;
    if (axis[RS_BY_SOURCE] != u.source || axis[RS_BY_SEED] != u.seed || !rs_cell_has_head(cell, u.head)) continue;
    rs_err why = {0};
    if (!ready && cell->status == RS_OK) {
      ready = rs_content_fill(work, &u, content, &why) == RS_OK;
      if (!ready) rs_cell_fail(cell, &why);
    }
    double start = rs_seconds();
    if (cell->status == RS_OK && rs_cell_observe(work, cell, content, u.head, &why) != RS_OK) rs_cell_fail(cell, &why);
    cell->seconds += rs_seconds() - start;
    if (cell->status == RS_INTERNAL) (void)rs_fail(&content->why, RS_INTERNAL, "%s", cell->message);
    rs_batch_advance(work, cell->weight / (double)cell->group.count);
  }
}

/* Unit number `index` of the portion, for one head, where it is of a made source, or (`given`) of the text. */
static void run_index(const rs_batch_work *work, size_t index, size_t head, const rs_variant *text,
                      const rs_given_rows *given, rs_content *content) {
  const size_t number = work->units[index], seeds = work->experiment->seed_count;
  const rs_content_unit unit = {number / seeds, number % seeds, head, given};
  const rs_variant *source = &work->experiment->sources.items[unit.source];
  if (text != NULL ? source == text : !source->source->of_model) run_unit(work, unit, content);
}

/* One thread's loop stands by itself: a parallel region of one would leave its inner teams a single place to run at. */
rs_status rs_contents_run(const rs_batch_work *work, size_t head, const rs_variant *text, const rs_given_rows *given,
                          rs_contents *contents, rs_err *err) {
  size_t units = work->unit_count;
  if (contents->count == 1) {
    for (size_t i = 0; i < units; i++) run_index(work, i, head, text, given, contents->items);
  } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)contents->count)
    for (size_t i = 0; i < units; i++) run_index(work, i, head, text, given, &contents->items[rs_engine_thread()]);
  }
  for (size_t i = 0; i < contents->count; i++) {
    const rs_err *why = &contents->items[i].why;
    if (why->status != RS_OK) return rs_fail(err, why->status, "%s", why->message);
  }
  return RS_OK;
}

/* ---- room for them ----------------------------------------------------------------------------------------------- */

static size_t most_views(const rs_batch_work *work) {
  size_t views = 1;
  for (size_t m = 0; m < work->experiment->methods.count; m++)
    if (work->encodings[m] != NULL && work->encodings[m]->views > views) views = work->encodings[m]->views;
  return views;
}

bool rs_is_small(double work, size_t dims) {
  return work * (double)dims < SMALL_UNIT;
}

/* How many threads take units of their own. */
static size_t count_contents(const rs_batch_work *work) {
  size_t units = work->unit_count, threads = rs_engine_threads();
  double most = 0;
  for (size_t i = 0; i < work->count; i++)
    most = fmax(most, rs_cell_work(work->experiment, &work->cells[i]->cell) / (double)work->cells[i]->group.count);
  if (!rs_is_small(most * (double)work->count / (double)units, work->model->head_dim)) return 1;
  return units < threads ? units : threads;
}

rs_status rs_content_reserve(const rs_batch_work *work, rs_content *content, rs_err *err) {
  size_t row = work->model->head_dim * sizeof(double);
  content->k = rs_arena_take(&content->arena, work->length, row);
  content->q = rs_arena_take(&content->arena, work->query_count, row);
  content->needles = rs_arena_take(&content->arena, work->query_count, row);
  content->needle_at = rs_arena_take(&content->arena, work->query_count, sizeof *content->needle_at);
  RS_TRY(rs_arena_check(&content->arena, err));
  return rs_engine_create(work->length, work->model->head_dim, most_views(work), &content->engine, err);
}

rs_status rs_contents_make(const rs_batch_work *work, rs_contents *contents, rs_err *err) {
  size_t count = count_contents(work);
  *contents = (rs_contents){.items = rs_alloc(count, sizeof *contents->items, err)};
  if (contents->items == NULL) return RS_MEMORY;
  contents->count = count;
  for (size_t i = 0; i < count; i++) {
    contents->items[i].shared = count == 1;
    RS_TRY(rs_content_reserve(work, &contents->items[i], err));
  }
  return RS_OK;
}

void rs_content_clear(rs_content *content) {
  rs_arena_clear(&content->arena);
  rs_engine_free(content->engine);
}

void rs_contents_clear(rs_contents *contents) {
  for (size_t i = 0; i < contents->count; i++) rs_content_clear(&contents->items[i]);
  free(contents->items);
}

/* ---- steps of a batch -------------------------------------------------------------------------------------------- */

bool rs_cell_has_head(const rs_cell_state *cell, size_t head) {
  for (size_t i = 0; i < cell->group.count; i++)
    if (cell->group.heads[i] == head) return true;
  return false;
}

static rs_metric_in metric_input(const rs_batch_work *work, rs_cell_state *cell, size_t metric) {
  cell->encoding = rs_encoding_of_head(work->encodings[rs_cell_method(cell)], cell->group.heads[0]);
  return (rs_metric_in){.encoding = &cell->encoding,
                        .params = work->experiment->metrics.items[metric].params,
                        .seed = work->experiment->seeds[cell->cell.axis[RS_BY_SEED]],
                        .heads = cell->group.heads,
                        .head_count = cell->group.count,
                        .edges = work->edges,
                        .bins = work->bins};
}

void rs_batch_advance(const rs_batch_work *work, double done) {
  if (work->advance != NULL) work->advance(work->context, done);
}

void rs_batch_fail(const rs_batch_work *work, const rs_err *why) {
  for (size_t i = 0; i < work->count; i++) rs_cell_fail(work->cells[i], why);
}

bool rs_batch_stopped(const rs_batch_work *work) {
  return work->stop != NULL && work->stop(work->context);
}

rs_status rs_batch_done(const rs_batch_work *work, rs_cell_state *cell, rs_err *err) {
  if (cell->handed_over || work->done == NULL) return RS_OK;
  rs_status status = work->done(work->context, cell, err);
  cell->handed_over = true;
  return status;
}

/* ---- what does not hang on methods ------------------------------------------------------------------------------- */

rs_status rs_batch_work_make(rs_batch_work *work, rs_err *err) {
  const rs_experiment *experiment = work->experiment;
  size_t length = work->length;
  work->needs = rs_experiment_needs(experiment);
  work->encodings = rs_arena_take(&work->arena, experiment->methods.count, sizeof *work->encodings);
  work->projections = rs_arena_take(&work->arena, experiment->methods.count, sizeof *work->projections);
  work->ids = rs_arena_take(&work->arena, length, RS_AXES * sizeof *work->ids);
  work->run = rs_arena_take(&work->arena, length, sizeof *work->run);
  RS_TRY(rs_arena_check(&work->arena, err));
  RS_TRY(rs_log_edges(length, experiment->bins_per_octave, &work->edges, &work->bins, err));
  RS_TRY(rs_queries_select(&experiment->queries, length, RS_QUERY_SEED, &work->queries, &work->query_count, err));
  return rs_token_positions(work->tokens, NULL, length, work->ids, work->run, err);
}

void rs_batch_work_clear(rs_batch_work *work) {
  for (size_t m = 0; m < work->experiment->methods.count && work->projections != NULL; m++)
    rs_projection_free(work->projections[m]);
  free(work->edges);
  free(work->queries);
  rs_arena_clear(&work->arena);
}

/* ---- metrics of rows --------------------------------------------------------------------------------------------- */

void rs_batch_begin_rows(const rs_batch_work *work) {
  for (size_t i = 0; i < work->count; i++) {
    rs_cell_state *cell = work->cells[i];
    for (size_t m = 0; m < work->experiment->metrics.count && cell->status == RS_OK; m++) {
      const rs_metric_kind *kind = work->experiment->metrics.items[m].metric;
      rs_metric_in in = metric_input(work, cell, m);
      rs_err why = {0};
      if (rs_metric_observes(kind) && kind->prepare(&in, &cell->states[m], &why) != RS_OK) rs_cell_fail(cell, &why);
    }
  }
}

void rs_metric_finish(const rs_batch_work *work, rs_cell_state *cell, size_t metric) {
  rs_metric_in in = metric_input(work, cell, metric);
  rs_err why = {0};
  const rs_metric_kind *kind = work->experiment->metrics.items[metric].metric;
  if (kind->finish(&in, cell->states[metric], &cell->results[metric], &why) != RS_OK)
    rs_cell_fail_metric(cell, work->experiment, metric, &why);
}

void rs_batch_finish_rows(const rs_batch_work *work) {
  for (size_t i = 0; i < work->count; i++)
    for (size_t m = 0; m < work->experiment->metrics.count; m++) {
      rs_cell_state *cell = work->cells[i];
      if (cell->status == RS_OK && cell->states[m] != NULL) rs_metric_finish(work, cell, m);
    }
}
