/* A model reads sequences of a task. Each sequence is read by one thread. */
#include "context.h"
#include "model/model.h"
#include "tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rs_status make_arrays(rs_reading *reading, rs_err *err) {
  size_t count = reading->sequences * reading->answers;
  rs_arena *arena = &reading->arena;
  reading->losses = rs_arena_take(arena, count, sizeof *reading->losses);
  reading->said = rs_arena_take(arena, count, sizeof *reading->said);
  reading->targets = rs_arena_take(arena, count, sizeof *reading->targets);
  reading->parts = rs_arena_take(arena, count, sizeof *reading->parts);
  reading->depths = rs_arena_take(arena, count, sizeof *reading->depths);
  return rs_arena_check(arena, err);
}

/* Sequence `index`, by one thread's room for one sequence. */
static void read_one(rs_pass *pass, const rs_examples *room, rs_split split, size_t index, const rs_reading *reading) {
  size_t answers = reading->answers, start = index * answers;
  rs_examples_draw(room, split, index, 0);
  rs_batch batch = rs_examples_batch(room, 0, 1, reading->targets + start);
  rs_pass_out out = {.losses = reading->losses + start, .answers = reading->said + start};
  rs_forward(pass, &batch, &out);
  memcpy(reading->parts + start, room->parts, answers * sizeof *reading->parts);
  memcpy(reading->depths + start, room->depths, answers * sizeof *reading->depths);
}

static rs_status read_all(const rs_context *context, const rs_task *task, rs_split split, size_t length,
                          const rs_reading *reading, rs_err *err) {
  rs_status status = RS_OK;
#pragma omp parallel
  {
    rs_pass *pass = NULL;
    rs_examples room = {0};
    rs_err why = {0};
    rs_status ready = rs_examples_make(task, &context->transformer->shape, length, 1, &room, &why);
    if (ready == RS_OK) ready = rs_pass_create(context, 1, false, &pass, &why);
#pragma omp critical(rs_reading)
    if (ready != RS_OK && status == RS_OK) status = rs_fail(err, ready, "%s", why.message);
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
    for (size_t i = 0; i < reading->sequences; i++)
      if (status == RS_OK) read_one(pass, &room, split, i, reading);
    rs_pass_free(pass);
    rs_examples_clear(&room);
  }
  return status;
}

/* Training has sequences at lengths at which evaluation has none. */
static rs_status check_length(const rs_task *task, rs_split split, const rs_example_shape *shape, rs_err *err) {
  if (split == RS_SPLIT_TRAINING || shape->length >= shape->evaluated) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "%zu tokens: what the task %s is evaluated on takes %zu", shape->length,
                 task->kind->kind.name, shape->evaluated);
}

rs_status rs_reading_make(const rs_context *context, const rs_task *task, rs_split split, size_t length,
                          size_t sequences, rs_reading *reading, rs_err *err) {
  rs_examples probe;
  *reading = (rs_reading){0};
  RS_TRY(rs_examples_make(task, &context->transformer->shape, length, 1, &probe, err));
  rs_status status = rs_examples_fit(&probe, &context->transformer->shape, err);
  if (status == RS_OK) status = check_length(task, split, &probe.shape, err);
  size_t count = split == RS_SPLIT_EVALUATION ? rs_example_count(&probe.shape, sequences) : sequences;
  if (split == RS_SPLIT_TRAINED && probe.shape.trained < count) count = probe.shape.trained;
  if (status == RS_OK && split == RS_SPLIT_TRAINED && probe.shape.trained == 0)
    status = rs_fail(err, RS_UNSUPPORTED, "the task %s has no end of what it trains on", task->kind->kind.name);
  size_t cropped = task->same.longest > 0 ? task->same.longest - length : 0;
  *reading = (rs_reading){.sequences = count, .answers = probe.answers, .cropped = cropped};
  if (status == RS_OK) status = make_arrays(reading, err);
  if (status == RS_OK) status = read_all(context, task, split, length, reading, err);
  rs_examples_clear(&probe);
  if (status != RS_OK) rs_reading_clear(reading);
  return status;
}

void rs_reading_clear(rs_reading *reading) {
  rs_arena_clear(&reading->arena);
  *reading = (rs_reading){0};
}

/* ---- cut contexts ------------------------------------------------------------------------------------------------ */

size_t rs_cut_window(const rs_cut *cut, size_t length) {
  return length - 1 < cut->context - 1 + cut->step ? length : cut->context - 1 + cut->step;
}

/* Room of one thread. */
typedef struct room {
  const rs_cut *cut;
  rs_pass *pass;
  rs_examples examples; /* one sequence; its arena holds the arrays below */
  size_t window;        /* tokens that the pass reads */
  int32_t *tokens, *targets;
  double *losses; /* (window,) each */
} room;

static rs_status make_room(const rs_context *context, const rs_task *task, size_t length, room *r, rs_err *err) {
  r->window = context->decoder.length;
  RS_TRY(rs_examples_make(task, &context->transformer->shape, length, 1, &r->examples, err));
  r->tokens = rs_arena_take(&r->examples.arena, r->window, sizeof *r->tokens);
  r->targets = rs_arena_take(&r->examples.arena, r->window, sizeof *r->targets);
  r->losses = rs_arena_take(&r->examples.arena, r->window, sizeof *r->losses);
  RS_TRY(rs_arena_check(&r->examples.arena, err));
  return rs_pass_create(context, 1, false, &r->pass, err);
}

/* The window from token `start` on; behind the end of the sequence stand tokens that nothing before them sees. */
static void read_window(room *r, size_t start, double *losses) {
  size_t length = r->examples.shape.length, first = r->cut->context - 1;
  size_t tokens = length - start < r->window ? length - start : r->window;
  bool any = false;
  for (size_t t = 0; t < r->window; t++) {
    bool asked = t >= first && t < tokens && r->examples.targets[start + t] != RS_NO_TARGET;
    r->tokens[t] = t < tokens ? r->examples.tokens[start + t] : 0;
    r->targets[t] = asked ? r->examples.targets[start + t] : RS_NO_TARGET;
    any |= asked;
  }
  if (!any) return;
  rs_batch batch = {.sequences = 1, .tokens = r->tokens, .targets = r->targets};
  rs_forward(r->pass, &batch, &(rs_pass_out){.losses = r->losses});
  for (size_t t = first; t < tokens; t++) losses[start + t] = r->losses[t];
}

static void read_sequence(room *r, rs_split split, size_t index, double *losses) {
  size_t length = r->examples.shape.length;
  rs_examples_draw(&r->examples, split, index, 0);
  for (size_t t = 0; t < length; t++) losses[t] = NAN;
  for (size_t start = 0; start + r->cut->context <= length; start += r->cut->step) read_window(r, start, losses);
}

static rs_status read_all_cut(const rs_context *context, const rs_task *task, rs_split split, size_t length,
                              size_t sequences, const rs_cut *cut, double *losses, rs_err *err) {
  rs_status status = RS_OK;
#pragma omp parallel
  {
    room own = {.cut = cut};
    rs_err why = {0};
    rs_status ready = make_room(context, task, length, &own, &why);
#pragma omp critical(rs_reading)
    if (ready != RS_OK && status == RS_OK) status = rs_fail(err, ready, "%s", why.message);
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
    for (size_t i = 0; i < sequences; i++)
      if (status == RS_OK) read_sequence(&own, split, i, losses + i * own.examples.answers);
    rs_pass_free(own.pass);
    rs_examples_clear(&own.examples);
  }
  return status;
}

rs_status rs_cut_losses(const rs_context *context, const rs_task *task, rs_split split, size_t length, size_t sequences,
                        const rs_cut *cut, double **losses, rs_err *err) {
  rs_example_shape shape;
  *losses = NULL;
  RS_TRY(rs_task_shape(task, length, &shape, err));
  RS_TRY(check_length(task, split, &shape, err));
  if (context->transformer->shape.form != RS_DECODER)
    return rs_fail(err, RS_UNSUPPORTED, "contexts are cut for decoders alone");
  *losses = rs_alloc(sequences * shape.length, sizeof **losses, err);
  if (*losses == NULL) return RS_MEMORY;
  rs_status status = read_all_cut(context, task, split, length, sequences, cut, *losses, err);
  if (status == RS_OK) return RS_OK;
  free(*losses);
  *losses = NULL;
  return status;
}

/* ---- rows of a block --------------------------------------------------------------------------------------------- */

rs_status rs_block_check(const rs_shape *shape, size_t block, rs_err *err) {
  if (block >= shape->decoder.count)
    return rs_fail(err, RS_DOMAIN, "layer %zu: the model has %zu (0 to %zu)", block, shape->decoder.count,
                   shape->decoder.count - 1);
  const rs_head_shape *heads = &shape->decoder.blocks[block].attention;
  if (heads->qk_norm_turned && heads->qk_norm.kind == RS_NORM_RMS)
    return rs_fail(err, RS_UNSUPPORTED,
                   "layer %zu: queries and keys get weights behind the rotation: no rows before it have its scores",
                   block);
  return RS_OK;
}

void rs_block_sinks(const rs_transformer *transformer, size_t block, double *sinks) {
  const rs_head_shape *shape = &transformer->shape.decoder.blocks[block].attention;
  size_t place = transformer->places->decoder.blocks[block].attention.sinks;
  for (size_t h = 0; h < shape->heads && shape->sinks; h++) sinks[h] = rs_transformer_get(transformer, place + h);
}

rs_given_rows rs_block_head(const rs_head_shape *shape, size_t head, const double *q, const double *k,
                            const double *sinks) {
  size_t dims = shape->head_dim, shared = head / (shape->heads / shape->kv_heads);
  double scale = shape->score_scale;
  return (rs_given_rows){
      .q = q + head * dims,
      .k = k + shared * dims,
      .q_step = shape->heads * dims,
      .k_step = shape->kv_heads * dims,
      .factor = scale != 0 ? scale * sqrt((double)dims) : 1,
      .rule = {.soft_cap = shape->soft_cap, .sinks = shape->sinks, .learned_sink = shape->sinks ? sinks[head] : 0}};
}

static rs_status check_text(const rs_transformer *t, const int32_t *tokens, size_t length, rs_err *err) {
  if (t->shape.form != RS_DECODER)
    return rs_fail(err, RS_UNSUPPORTED, "the model is no decoder: no text alone gives its blocks what they read");
  for (size_t n = 0; n < length; n++)
    if (tokens[n] < 0 || (size_t)tokens[n] >= t->shape.vocabulary)
      return rs_fail_on(err, RS_INPUT, "tokens", "token %zu (from 0) is %d, the vocabulary has %zu", n, (int)tokens[n],
                        t->shape.vocabulary);
  return RS_OK;
}

rs_status rs_read_block(const rs_transformer *transformer, const int32_t *tokens, size_t length, size_t block,
                        double *q, double *k, rs_err *err) {
  const rs_batch batch = {.sequences = 1, .tokens = tokens};
  const rs_pass_out out = {.block = block, .q = q, .k = k};
  rs_context *context;
  rs_pass *pass;
  RS_TRY(rs_block_check(&transformer->shape, block, err));
  RS_TRY(check_text(transformer, tokens, length, err));
  RS_TRY(rs_context_create(transformer, NULL, length, 0, NULL, &context, err));
  rs_status status = rs_pass_create(context, 1, false, &pass, err);
  if (status == RS_OK) rs_forward(pass, &batch, &out);
  if (status == RS_OK) rs_pass_free(pass);
  rs_context_free(context);
  return status;
}

/* ---- rows of a task ---------------------------------------------------------------------------------------------- */

struct rs_block_reader {
  const rs_context *context;
  rs_pass *pass;
  rs_examples examples;  /* one sequence; its arena holds the arrays below */
  int32_t *targets;      /* (A,) */
  double *q, *k;         /* (L, H, D), (L, K, D) of the widest block */
  double *sinks;         /* (H,) learned by the block that was read last, where it has such */
  const rs_block *block; /* that was read last */
};

/* ---- room -------------------------------------------------------------------------------------------------------- */

static rs_status make_reader(rs_block_reader *reader, rs_err *err) {
  const rs_stack *stack = &reader->context->transformer->shape.decoder;
  size_t tokens = reader->context->decoder.length, queries = 0, keys = 0, most_heads = 0;
  for (size_t b = 0; b < stack->count; b++) {
    const rs_head_shape *heads = &stack->blocks[b].attention;
    queries = heads->heads * heads->head_dim > queries ? heads->heads * heads->head_dim : queries;
    keys = heads->kv_heads * heads->head_dim > keys ? heads->kv_heads * heads->head_dim : keys;
    most_heads = heads->heads > most_heads ? heads->heads : most_heads;
  }
  rs_arena *arena = &reader->examples.arena;
  reader->q = rs_arena_take(arena, tokens, queries * sizeof *reader->q);
  reader->k = rs_arena_take(arena, tokens, keys * sizeof *reader->k);
  reader->targets = rs_arena_take(arena, reader->examples.answers, sizeof *reader->targets);
  reader->sinks = rs_arena_take(arena, most_heads, sizeof *reader->sinks);
  if (reader->examples.task->kind->seeks)
    reader->examples.sought = rs_arena_take(arena, tokens, sizeof *reader->examples.sought);
  return rs_arena_check(arena, err);
}

rs_status rs_block_reader_create(const rs_context *context, const rs_task *task, size_t length,
                                 rs_block_reader **reader, rs_err *err) {
  rs_block_reader *fresh = rs_alloc(1, sizeof *fresh, err);
  *reader = NULL;
  if (fresh == NULL) return RS_MEMORY;
  fresh->context = context;
  rs_status status = rs_examples_make(task, &context->transformer->shape, length, 1, &fresh->examples, err);
  if (status == RS_OK) status = rs_examples_fit(&fresh->examples, &context->transformer->shape, err);
  if (status == RS_OK) status = check_length(task, RS_SPLIT_EVALUATION, &fresh->examples.shape, err);
  if (status == RS_OK) status = make_reader(fresh, err);
  if (status == RS_OK) status = rs_pass_create(context, 1, false, &fresh->pass, err);
  if (status == RS_OK)
    *reader = fresh;
  else
    rs_block_reader_free(fresh);
  return status;
}

void rs_block_reader_free(rs_block_reader *reader) {
  if (reader == NULL) return;
  rs_pass_free(reader->pass);
  rs_examples_clear(&reader->examples);
  free(reader);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Targets that are no needles seek none. */
static void keep_needles(const rs_examples *examples) {
  unsigned needles = rs_task_needles(examples->task->kind);
  for (size_t t = 0; t < examples->shape.length && examples->sought != NULL; t++)
    if (examples->targets[t] == RS_NO_TARGET || (needles >> examples->parts[t] & 1) == 0)
      examples->sought[t] = RS_NO_NEEDLE;
}

void rs_block_reader_read(rs_block_reader *reader, rs_split split, uint64_t index, size_t block) {
  reader->block = &reader->context->transformer->shape.decoder.blocks[block];
  rs_examples_draw(&reader->examples, split, index, 0);
  keep_needles(&reader->examples);
  rs_block_sinks(reader->context->transformer, block, reader->sinks);
  rs_batch batch = rs_examples_batch(&reader->examples, 0, 1, reader->targets);
  rs_pass_out out = {.block = block, .q = reader->q, .k = reader->k};
  rs_forward(reader->pass, &batch, &out);
}

rs_given_rows rs_block_reader_head(const rs_block_reader *reader, size_t head) {
  rs_given_rows rows = rs_block_head(&reader->block->attention, head, reader->q, reader->k, reader->sinks);
  rows.sought = reader->examples.sought;
  return rows;
}
