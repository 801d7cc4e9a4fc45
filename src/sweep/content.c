/* Queries and keys of one source, seed and head, and every cell that observes them. */
#include "batch.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* Below this much time by one core, guessed at 1e11 operations a second, threads take whole units (a source and seed)
 * rather than parts of one: no thread waits for another within it. */
static const double SMALL_UNIT = 0.05 * 1e11;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- making it --------------------------------------------------------------------------------------------------- */

static rs_source_in source_input(const rs_batch_work *work, size_t source, size_t seed, size_t head) {
  return (rs_source_in){.params = work->experiment->sources.items[source].params,
                        .seed = work->experiment->seeds[seed],
                        .head = head,
                        .head_dim = work->model->head_dim,
                        .length = work->batch->length,
                        .rotary_dim = work->model->rotary_dim,
                        .rope_theta = work->model->rope_theta,
                        .pair_layout = work->model->pair_layout,
                        .ids = work->ids,
                        .run = work->run,
                        .tokens = &work->experiment->tokens,
                        .train_length = work->model->train_length};
}

static void fill_content(const rs_batch_work *work, const rs_source_kind *kind, const rs_source_in *in,
                         rs_content *made) {
  enum { BLOCK = 256 };
  size_t dims = in->head_dim, blocks = (in->length + BLOCK - 1) / BLOCK;
  bool shared = work->content_count == 1;
#pragma omp parallel for schedule(static) if (shared)
  for (size_t b = 0; b < blocks; b++) {
    size_t begin = b * BLOCK, end = begin + BLOCK < in->length ? begin + BLOCK : in->length;
    kind->keys(in, begin, end, made->k + begin * dims);
  }
#pragma omp parallel for schedule(static) if (shared)
  for (size_t i = 0; i < work->query_count; i++) {
    kind->query(in, work->queries[i], made->q + i * dims);
    if (kind->needle != NULL)
      made->needle_at[i] = kind->needle(in, work->queries[i], made->q + i * dims, made->needles + i * dims);
  }
  (void)shared;
}

static rs_status make_content(const rs_batch_work *work, size_t source, size_t seed, size_t head, rs_content *made,
                              rs_err *err) {
  const rs_source_kind *kind = work->experiment->sources.items[source].source;
  rs_source_in in = source_input(work, source, seed, head);
  RS_TRY(rs_source_prepare(kind, &in, err));
  fill_content(work, kind, &in, made);
  rs_source_release(kind, &in);
  return RS_OK;
}

/* ---- observing it ------------------------------------------------------------------------------------------------ */

static rs_attention_job make_job(const rs_batch_work *work, const rs_cell_state *cell, const rs_content *of,
                                 size_t head) {
  const rs_experiment *experiment = work->experiment;
  bool needle = experiment->sources.items[cell->cell.axis[RS_BY_SOURCE]].source->needle != NULL;
  return (rs_attention_job){.encoding = work->encodings[rs_method_of(cell)],
                            .projection = work->projections[rs_method_of(cell)],
                            .head = head,
                            .mask = experiment->mask,
                            .queries = work->queries,
                            .query_count = work->query_count,
                            .q = of->q,
                            .k = of->k,
                            .needle_at = needle ? of->needle_at : NULL,
                            .needle_key = of->needles,
                            .edges = work->edges,
                            .bins = work->bins,
                            .sinks = work->needs.sinks,
                            .moments = work->needs.moments,
                            .scores = experiment->engine.scores,
                            .epsilon = experiment->engine.epsilon};
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

static void note_scores(const rs_observation *observation, rs_cell_scores *scores) {
  scores->f32 |= observation->scores == RS_SCORES_F32;
  scores->f64 |= observation->scores == RS_SCORES_F64;
  scores->error = fmax(scores->error, observation->error);
  scores->pairs += observation->pairs;
  scores->skipped += observation->skipped;
  scores->skipped_weight = fmax(scores->skipped_weight, observation->skipped_weight);
}

/* One head of one cell, some thousands of rows at a time: however many queries there are, their rows take no more. */
static void observe_cell(const rs_batch_work *work, rs_cell_state *cell, const rs_content *of, size_t head) {
  rs_attention_job job = make_job(work, cell, of, head);
  rs_err why = {0};
  double start = now();
  rs_status status = rs_engine_load(of->engine, &job, &why);
  for (size_t first = 0; first < job.query_count && status == RS_OK; first += RS_ROWS_AT_ONCE) {
    size_t count = job.query_count - first < RS_ROWS_AT_ONCE ? job.query_count - first : RS_ROWS_AT_ONCE;
    rs_observation *observation;
    status = rs_engine_observe(of->engine, &job, first, count, &observation, &why);
    if (status != RS_OK) break;
    show_rows(work, cell, observation);
    note_scores(observation, &cell->scores);
    rs_observation_free(observation);
  }
  if (status != RS_OK) rs_cell_fail(cell, &why);
  cell->seconds += now() - start;
}

bool rs_cell_has_head(const rs_batch_work *work, const rs_cell_state *cell, size_t head) {
  const rs_head_group *group = &work->groups[cell->cell.group];
  for (size_t i = 0; i < group->count; i++)
    if (group->heads[i] == head) return true;
  return false;
}

static double head_work(const rs_batch_work *work, const rs_cell_state *cell) {
  return rs_cell_work(work->experiment, &cell->cell) / (double)work->groups[cell->cell.group].count;
}

void rs_batch_advance(const rs_batch_work *work, double done) {
#pragma omp critical(rs_batch_advance)
  if (work->batch->advance != NULL) work->batch->advance(work->batch->context, done);
}

void rs_unit_run(const rs_batch_work *work, size_t unit, size_t head, rs_content *of) {
  size_t source = unit / work->experiment->seed_count, seed = unit % work->experiment->seed_count;
  bool made = false;
  for (size_t i = 0; i < work->batch->count && of->why.status == RS_OK; i++) {
    rs_cell_state *cell = work->batch->cells[i];
    const size_t *axis = cell->cell.axis;
    if (axis[RS_BY_SOURCE] != source || axis[RS_BY_SEED] != seed || !rs_cell_has_head(work, cell, head)) continue;
    if (!made && cell->status == RS_OK) {
      rs_err why = {0};
      made = make_content(work, source, seed, head, of, &why) == RS_OK;
      if (!made) rs_cell_fail(cell, &why);
    }
    if (cell->status == RS_OK) observe_cell(work, cell, of, head);
    if (cell->status == RS_INTERNAL) rs_fail(&of->why, RS_INTERNAL, "%s", cell->message);
    rs_batch_advance(work, head_work(work, cell));
  }
}

/* ---- room for it ------------------------------------------------------------------------------------------------- */

static size_t most_views(const rs_batch_work *work) {
  size_t views = 1;
  for (size_t m = 0; m < work->experiment->methods.count; m++)
    if (work->encodings[m] != NULL && work->encodings[m]->views > views) views = work->encodings[m]->views;
  return views;
}

/* How many threads take units of their own. */
static size_t count_contents(const rs_batch_work *work) {
  const rs_cell_batch *batch = work->batch;
  size_t units = work->experiment->sources.count * work->experiment->seed_count, threads = rs_engine_threads();
  double most = 0;
  for (size_t i = 0; i < batch->count; i++) most = fmax(most, head_work(work, batch->cells[i]));
  bool small = most * (double)work->model->head_dim * (double)batch->count / (double)units < SMALL_UNIT;
  if (!small) return 1;
  return units < threads ? units : threads;
}

static rs_status make_one_content(const rs_batch_work *work, rs_content *made, rs_err *err) {
  size_t row = work->model->head_dim * sizeof(double);
  made->k = rs_alloc(work->batch->length, row, err);
  made->q = rs_alloc(work->query_count, row, err);
  made->needles = rs_alloc(work->query_count, row, err);
  made->needle_at = rs_alloc(work->query_count, sizeof *made->needle_at, err);
  if (made->k == NULL || made->q == NULL || made->needles == NULL || made->needle_at == NULL) return RS_MEMORY;
  return rs_engine_create(work->batch->length, work->model->head_dim, most_views(work), &made->engine, err);
}

rs_status rs_contents_make(rs_batch_work *work, rs_err *err) {
  size_t count = count_contents(work);
  work->contents = rs_alloc(count, sizeof *work->contents, err);
  if (work->contents == NULL) return RS_MEMORY;
  work->content_count = count;
  for (size_t i = 0; i < count; i++) RS_TRY(make_one_content(work, &work->contents[i], err));
  return RS_OK;
}

void rs_contents_clear(rs_batch_work *work) {
  for (size_t i = 0; i < work->content_count; i++) {
    rs_content *made = &work->contents[i];
    free(made->k);
    free(made->q);
    free(made->needles);
    free(made->needle_at);
    rs_engine_free(made->engine);
  }
  free(work->contents);
}
