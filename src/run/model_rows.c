/* Rows of attention of models' own heads.
 *
 * Of a source's own checkpoint: the pass over its text, one block's queries and keys at a time, so that memory is that
 * of the weights and of one layer, however many layers a sweep has.
 *
 * Of cells that read checkpoints: the queries and keys that the model computes go through the engine, under the tables
 * of their own block. Cells of one layer are observed together, so that each sequence is read once. Threads take
 * sequences; metrics see them in order. */
#include "work.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts ------------------------------------------------------------------------------------------------------- */

void rs_text_model_clear(rs_text_model *model) {
  rs_transformer_free(model->transformer);
  *model = (rs_text_model){0};
}

static rs_status load(rs_text_model *model, const rs_model_source *source, rs_err *err) {
  const char *folder = source->checkpoint.path;
  bool there = model->folder != NULL && strcmp(model->folder, folder) == 0;
  if (there && model->precision == source->precision) return RS_OK;
  rs_text_model_clear(model);
  RS_TRY(rs_folder_load(folder, source->precision, &model->transformer, err));
  model->folder = folder;
  model->precision = source->precision;
  return RS_OK;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* The first tokens of the text. Release *tokens with free(). */
static rs_status read_tokens(const rs_model_source *source, size_t length, int32_t **tokens, rs_err *err) {
  rs_token_file file;
  *tokens = NULL;
  RS_TRY(rs_token_file_read(source->tokens, source->numbers, &file, err));
  rs_status status = RS_OK;
  if (file.count < length)
    status =
        rs_fail(err, RS_DOMAIN, "%s: has %zu tokens, the length is %zu", base_name(source->tokens), file.count, length);
  if (status == RS_OK) *tokens = rs_alloc(length, sizeof **tokens, err);
  if (status == RS_OK && *tokens == NULL) status = RS_MEMORY;
  for (size_t n = 0; n < length && status == RS_OK; n++) (*tokens)[n] = (int32_t)rs_token_id(&file, n);
  rs_token_file_clear(&file);
  return status;
}

static rs_status read_block(const rs_transformer *transformer, size_t block, const int32_t *tokens, size_t length,
                            rs_text_rows *rows, rs_err *err) {
  RS_TRY(rs_block_check(&transformer->shape, block, err));
  rows->shape = transformer->shape.decoder.blocks[block].attention;
  rows->q = rs_arena_take(&rows->arena, length, rows->shape.heads * rows->shape.head_dim * sizeof *rows->q);
  rows->k = rs_arena_take(&rows->arena, length, rows->shape.kv_heads * rows->shape.head_dim * sizeof *rows->k);
  rows->sinks = rs_arena_take(&rows->arena, rows->shape.heads, sizeof *rows->sinks);
  RS_TRY(rs_arena_check(&rows->arena, err));
  rs_block_sinks(transformer, block, rows->sinks);
  return rs_read_block(transformer, tokens, length, block, rows->q, rows->k, err);
}

rs_status rs_text_rows_read(rs_text_model *model, const rs_model_source *source, size_t length, rs_text_rows *rows,
                            rs_err *err) {
  int32_t *tokens;
  rs_err why = {0};
  *rows = (rs_text_rows){0};
  RS_TRY(read_tokens(source, length, &tokens, err));
  rs_status status = load(model, source, &why);
  if (status == RS_OK) status = read_block(model->transformer, source->layer, tokens, length, rows, &why);
  free(tokens);
  bool of_text = strcmp(why.subject, "tokens") == 0;
  return status == RS_OK ? RS_OK
                         : rs_fail(err, status, "%s%s%s", of_text ? base_name(source->tokens) : "", of_text ? ": " : "",
                                   why.message);
}

void rs_text_rows_clear(rs_text_rows *rows) {
  rs_arena_clear(&rows->arena);
  *rows = (rs_text_rows){0};
}

/* ---- cells of checkpoints ---------------------------------------------------------------------------------------- */

/* One head of one cell. */
typedef struct job {
  rs_cell_state *cell;
  size_t head;
} job;

/* What one thread has. */
typedef struct lane {
  rs_block_reader *reader; /* NULL where heads are simulated */
  rs_content content;
  rs_observation **seen; /* (jobs,) of the sequence at hand */
  rs_err *why;           /* (jobs,) */
} lane;

/* The cells of one layer, or those of simulated sources. */
typedef struct layer_run {
  rs_arena arena; /* of the lists here and of lanes */
  const rs_model_rows *rows;
  bool of_model;
  size_t layer, sequences;
  rs_batch_work work;
  job *jobs;
  size_t job_count;
  lane *lanes; /* one: it has all threads inside */
  size_t lane_count;
} layer_run;

/* The layer that a cell observes: of simulated heads the first. */
static size_t layer_of(const rs_experiment *experiment, const rs_cell_state *cell, bool *of_model) {
  const rs_variant *source = &experiment->sources.items[cell->cell.axis[RS_BY_SOURCE]];
  *of_model = source->source->of_model;
  return *of_model ? ((const rs_model_source *)source->params)->layer : 0;
}

/* ---- one head of one sequence ------------------------------------------------------------------------------------ */

/* What a table adds to simulated tokens; a model's own have it in them already. */
static rs_status project(layer_run *run, size_t method, size_t head, rs_err *err) {
  rs_batch_work *work = &run->work;
  const rs_encoding *encoding = work->encodings[method];
  if (run->of_model || encoding->method->embed == NULL) return RS_OK;
  rs_projection_free(work->projections[method]);
  work->projections[method] = NULL;
  return rs_projection_create(encoding, head, RS_WEIGHTS_SEED, work->queries, work->query_count,
                              &work->projections[method], err);
}

static rs_status fill(layer_run *run, lane *thread, const job *one, rs_err *err) {
  const size_t *axis = one->cell->cell.axis;
  rs_given_rows given = {0};
  if (run->of_model) given = rs_block_reader_head(thread->reader, one->head);
  const rs_content_unit unit = {axis[RS_BY_SOURCE], axis[RS_BY_SEED], one->head, run->of_model ? &given : NULL};
  RS_TRY(project(run, axis[RS_BY_METHOD], one->head, err));
  return rs_content_fill(&run->work, &unit, &thread->content, err);
}

/* By all threads. */
static void observe_at_once(layer_run *run, const job *one) {
  lane *thread = run->lanes;
  rs_err why = {0};
  if (one->cell->status != RS_OK) return;
  rs_status status = fill(run, thread, one, &why);
  if (status == RS_OK) status = rs_cell_observe(&run->work, one->cell, &thread->content, one->head, &why);
  if (status != RS_OK) rs_cell_fail(one->cell, &why);
}

/* The rows of one head by one thread, to be shown when the sequences before were. */
static rs_status observe_rows(layer_run *run, lane *thread, size_t index, rs_err *err) {
  const job *one = &run->jobs[index];
  rs_engine *engine = thread->content.engine;
  *err = (rs_err){0};
  thread->seen[index] = NULL;
  if (!run->work.needs.rows) return RS_OK;
  RS_TRY(fill(run, thread, one, err));
  rs_attention_job observed = rs_cell_job(&run->work, one->cell, &thread->content, one->head);
  RS_TRY(rs_engine_load(engine, &observed, err));
  return rs_engine_observe(engine, 0, run->work.query_count, &thread->seen[index], err);
}

/* The content is made once more: the thread has gone on to other heads since. */
static rs_status show_content(layer_run *run, lane *thread, const job *one, rs_err *err) {
  if (!run->work.needs.content) return RS_OK;
  RS_TRY(fill(run, thread, one, err));
  rs_cell_show_content(&run->work, one->cell, &thread->content, one->head);
  return RS_OK;
}

static void show(layer_run *run, lane *thread, size_t index) {
  const job *one = &run->jobs[index];
  rs_err *why = &thread->why[index];
  if (one->cell->status == RS_OK && why->status == RS_OK) (void)show_content(run, thread, one, why);
  if (why->status != RS_OK) rs_cell_fail(one->cell, why);
  if (one->cell->status == RS_OK && thread->seen[index] != NULL)
    rs_cell_show(&run->work, one->cell, thread->seen[index]);
  rs_observation_free(thread->seen[index]);
}

/* ---- all sequences ----------------------------------------------------------------------------------------------- */

static void read_sequence(const layer_run *run, lane *thread, size_t sequence) {
  if (run->of_model) rs_block_reader_read(thread->reader, RS_SPLIT_EVALUATION, sequence, run->layer);
}

static void observe_sequences(layer_run *run) {
  if (run->lane_count == 1) {
    for (size_t s = 0; s < run->sequences; s++) {
      read_sequence(run, run->lanes, s);
      for (size_t j = 0; j < run->job_count; j++) observe_at_once(run, &run->jobs[j]);
    }
    return;
  }
#pragma omp parallel for ordered schedule(static, 1) num_threads((int)run->lane_count)
  for (size_t s = 0; s < run->sequences; s++) {
    lane *thread = &run->lanes[rs_engine_thread()];
    read_sequence(run, thread, s);
    for (size_t j = 0; j < run->job_count; j++) (void)observe_rows(run, thread, j, &thread->why[j]);
#pragma omp ordered
    for (size_t j = 0; j < run->job_count; j++) show(run, thread, j);
  }
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

/* How many threads take sequences of their own: all where a sequence is soon done. */
static size_t count_lanes(const layer_run *run) {
  double most = 0;
  for (size_t i = 0; i < run->work.count; i++) {
    double work = rs_cell_work(run->rows->experiment, &run->work.cells[i]->cell);
    most = work > most ? work : most;
  }
  if (!run->of_model || !rs_is_small(most, run->work.model->head_dim)) return 1;
  return run->sequences < rs_engine_threads() ? run->sequences : rs_engine_threads();
}

static rs_status make_lane(layer_run *run, lane *thread, rs_err *err) {
  const rs_model_rows *rows = run->rows;
  thread->seen = rs_arena_take(&run->arena, run->job_count, sizeof(rs_observation *));
  thread->why = rs_arena_take(&run->arena, run->job_count, sizeof *thread->why);
  RS_TRY(rs_arena_check(&run->arena, err));
  RS_TRY(rs_content_reserve(&run->work, &thread->content, err));
  return run->of_model ? rs_block_reader_create(rows->context, &rows->task, rows->length, &thread->reader, err) : RS_OK;
}

static rs_status list_jobs(layer_run *run, rs_err *err) {
  size_t count = 0;
  for (size_t i = 0; i < run->work.count; i++) count += run->work.cells[i]->group.count;
  run->jobs = rs_arena_take(&run->arena, count, sizeof *run->jobs);
  RS_TRY(rs_arena_check(&run->arena, err));
  for (size_t i = 0; i < run->work.count; i++)
    for (size_t h = 0; h < run->work.cells[i]->group.count; h++)
      run->jobs[run->job_count++] = (job){run->work.cells[i], run->work.cells[i]->group.heads[h]};
  return RS_OK;
}

static rs_status make_room(layer_run *run, rs_err *err) {
  const rs_model_rows *rows = run->rows;
  const rs_block *block = &rows->transformer->shape.decoder.blocks[run->layer];
  const rs_encoding *encoding = rs_context_block_encoding(rows->context, run->layer);
  run->work.mask = block->mask;
  run->work.tokens = &encoding->tokens;
  RS_TRY(rs_batch_work_make(&run->work, err));
  run->work.encodings[rs_cell_method(run->work.cells[0])] = (rs_encoding *)encoding; /* only read */
  RS_TRY(list_jobs(run, err));
  size_t count = count_lanes(run);
  run->lanes = rs_arena_take(&run->arena, count, sizeof *run->lanes);
  RS_TRY(rs_arena_check(&run->arena, err));
  run->lane_count = count;
  for (size_t i = 0; i < count; i++) RS_TRY(make_lane(run, &run->lanes[i], err));
  return RS_OK;
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static void observe_layer(layer_run *run) {
  const rs_model_rows *rows = run->rows;
  double start = rs_seconds();
  rs_err why = {0};
  rs_status status = rs_block_check(&rows->transformer->shape, run->layer, &why);
  if (status == RS_OK) {
    run->work.length = rs_context_block_encoding(rows->context, run->layer)->length;
    status = make_room(run, &why);
  }
  if (status == RS_OK) {
    rs_batch_begin_rows(&run->work);
    observe_sequences(run);
    rs_batch_finish_rows(&run->work);
  }
  for (size_t i = 0; i < run->work.count; i++) {
    if (status != RS_OK) rs_cell_fail(run->work.cells[i], &why);
    run->work.cells[i]->seconds += (rs_seconds() - start) / (double)run->work.count;
  }
}

/* Whether two cells are observed together: both the model's own heads of one layer, or both simulated ones. */
static bool same_layer(const rs_model_rows *rows, size_t one, size_t other) {
  bool first, second;
  size_t layer = layer_of(rows->experiment, rows->cells[one], &first);
  return layer_of(rows->experiment, rows->cells[other], &second) == layer && first == second;
}

/* The cells that are observed together with cell number `first`. */
static rs_status observe_with(const rs_model_rows *rows, size_t first, rs_err *err) {
  layer_run run = {.rows = rows, .sequences = 1};
  rs_example_shape shape = {0};
  run.layer = layer_of(rows->experiment, rows->cells[first], &run.of_model);
  (void)rows->task.kind->shape(rows->task.state, rows->length, &shape, NULL); /* the task has had the length already */
  if (run.of_model) run.sequences = rs_example_count(&shape, rows->experiment->sequences); /* as readings have */
  size_t model = rows->cells[first]->cell.axis[RS_BY_MODEL];
  run.work =
      (rs_batch_work){.experiment = rows->experiment, .model_number = model, .model = &rows->experiment->models[model]};
  run.work.cells = rs_arena_take(&run.arena, rows->count, sizeof(rs_cell_state *));
  RS_TRY(rs_arena_check(&run.arena, err));
  for (size_t i = first; i < rows->count; i++)
    if (same_layer(rows, first, i)) run.work.cells[run.work.count++] = rows->cells[i];
  observe_layer(&run);
  for (size_t i = 0; i < run.lane_count; i++) {
    rs_block_reader_free(run.lanes[i].reader);
    rs_content_clear(&run.lanes[i].content);
  }
  rs_batch_work_clear(&run.work);
  rs_arena_clear(&run.arena);
  return RS_OK;
}

void rs_model_rows_observe(const rs_model_rows *rows) {
  for (size_t i = 0; i < rows->count; i++) {
    rs_err why = {0};
    size_t first = 0;
    while (!same_layer(rows, first, i)) first++;
    if (first < i || observe_with(rows, i, &why) == RS_OK) continue;
    for (size_t k = i; k < rows->count; k++)
      if (same_layer(rows, i, k)) rs_cell_fail(rows->cells[k], &why);
  }
}
