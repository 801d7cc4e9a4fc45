/* The arrays of a pass, in one block of memory. */
#include "work.h"
#include "context.h"

#include <stdlib.h>

/* Hands out arrays one after the other; without a base it only counts. */
typedef struct cursor {
  real *base;
  size_t used; /* numbers */
} cursor;

enum { LINE = 16 }; /* arrays begin at multiples of so many numbers */

static real *take(cursor *c, size_t rows, size_t columns) {
  real *array = c->base != NULL ? c->base + c->used : NULL;
  c->used += (rows * columns + LINE - 1) / LINE * LINE;
  return array;
}

static rs_norm_work take_norm(cursor *c, const rs_norm *norm, size_t rows, size_t parts, size_t width) {
  rs_norm_work work = {0};
  if (norm->kind == RS_NORM_NONE) return work;
  work.y = take(c, rows, parts * width);
  work.mean = take(c, rows, parts);
  work.scale = take(c, rows, parts);
  return work;
}

static void take_latent(cursor *c, const rs_head_shape *heads, size_t rows, rs_attention_work *work) {
  const rs_latent *latent = &heads->latent;
  size_t narrow = latent->kv_rank + latent->turned, values = heads->head_dim - latent->turned + latent->value_dim;
  work->narrow = take(c, rows, narrow > latent->q_rank ? narrow : latent->q_rank);
  work->wide = take(c, rows, heads->heads * (values > heads->head_dim ? values : heads->head_dim));
  if (latent->q_rank > 0) work->q_latent = take_norm(c, &latent->norm, rows, 1, latent->q_rank);
  work->kv_latent = take_norm(c, &latent->norm, rows, 1, latent->kv_rank);
}

static rs_attention_work take_attention(cursor *c, const rs_head_shape *heads, size_t rows, size_t source_rows) {
  rs_attention_work work = {0};
  size_t queries = heads->heads * heads->head_dim, keys = heads->kv_heads * heads->head_dim;
  bool cross = source_rows > 0, whole = heads->qk_span == RS_QK_PROJECTION;
  size_t key_rows = cross ? source_rows : rows;
  work.qkv = take(c, rows, cross ? queries : queries + 2 * keys);
  if (heads->latent.kv_rank > 0 && !cross) take_latent(c, heads, rows, &work);
  if (cross) work.kv = take(c, source_rows, 2 * keys);
  work.q_norm = take_norm(c, &heads->qk_norm, rows, whole ? 1 : heads->heads, whole ? queries : heads->head_dim);
  work.k_norm = take_norm(c, &heads->qk_norm, key_rows, whole ? 1 : heads->kv_heads, whole ? keys : heads->head_dim);
  work.out = take(c, rows, queries);
  work.level = take(c, rows, heads->heads);
  return work;
}

static void take_block(cursor *c, const rs_block *block, size_t d, const rs_stack_work *stack, size_t source_rows,
                       bool training, rs_block_work *work) {
  const rs_feed_forward *ff = &block->feed_forward;
  size_t rows = stack->rows;
  work->before_attention = take_norm(c, &block->before_attention, rows, 1, d);
  work->attention = take_attention(c, &block->attention, rows, 0);
  if (block->after_attention.kind != RS_NORM_NONE) work->attended = take(c, rows, d);
  work->after_attention = take_norm(c, &block->after_attention, rows, 1, d);
  work->middle = training || block->parallel ? take(c, rows, d) : work->x;
  if (block->cross) {
    work->before_cross = take_norm(c, &block->before_cross, rows, 1, d);
    work->cross = take_attention(c, &block->attention, rows, source_rows);
    work->crossed = training ? take(c, rows, d) : work->middle;
    if (block->after_cross.kind != RS_NORM_NONE) work->found = take(c, rows, d);
    work->after_cross = take_norm(c, &block->after_cross, rows, 1, d);
  }
  work->before_feed_forward = take_norm(c, &block->before_feed_forward, rows, 1, d);
  size_t width = ff->experts.shared > ff->width ? ff->experts.shared : ff->width;
  work->up = take(c, stack->piece, ff->gated ? 2 * width : width);
  work->active = take(c, stack->piece, width);
  if (ff->experts.count > 0)
    work->experts = (rs_experts_work){.scores = take(c, stack->piece, ff->experts.count),
                                      .choices = take(c, 1, ff->experts.count + ff->experts.groups),
                                      .gates = take(c, stack->piece, 1),
                                      .gathered = take(c, stack->piece, d),
                                      .said = take(c, stack->piece, d),
                                      .mixed = take(c, stack->piece, d)};
  if (block->after_feed_forward.kind != RS_NORM_NONE) work->fed = take(c, rows, d);
  work->after_feed_forward = take_norm(c, &block->after_feed_forward, rows, 1, d);
}

/* Without a pass back, blocks read and write one array, and have all else in common. */
static void take_blocks(cursor *c, const rs_stack *stack, size_t d, size_t source_rows, bool training,
                        rs_stack_work *work) {
  real *x = training ? NULL : take(c, work->rows, d);
  size_t start = c->used, most = start;
  for (size_t i = 0; i < stack->count; i++) {
    if (!training) c->used = start;
    rs_block_work block = {.x = training ? take(c, work->rows, d) : x};
    take_block(c, &stack->blocks[i], d, work, source_rows, training, &block);
    if (work->blocks != NULL) work->blocks[i] = block;
    if (c->used > most) most = c->used;
  }
  c->used = most;
  work->last = training ? take(c, work->rows, d) : x;
}

static void take_stack(cursor *c, const rs_shape *shape, const rs_stack *stack, size_t source_rows, bool training,
                       rs_stack_work *work) {
  size_t d = shape->width;
  size_t e = rs_embedding_width(shape);
  if (shape->embedding_norm.kind != RS_NORM_NONE || shape->embedding_width > 0) work->embedded = take(c, work->rows, e);
  work->embedding_norm = take_norm(c, &shape->embedding_norm, work->rows, 1, e);
  if (shape->form == RS_VISION) work->patches = take(c, work->rows, shape->patch_numbers);
  take_blocks(c, stack, d, source_rows, training, work);
  work->final_norm = take_norm(c, &stack->final_norm, work->rows, 1, d);
}

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

static void take_back(cursor *c, const rs_shape *shape, size_t rows, size_t source_rows, rs_back_work *back) {
  const rs_stack *stacks[] = {&shape->encoder, &shape->decoder};
  size_t wide = 0, narrow = 0, keys = 0, normed = 0, d = shape->width, most = larger(rows, source_rows);
  for (size_t s = 0; s < RS_COUNT(stacks); s++)
    for (size_t i = 0; i < stacks[s]->count; i++) {
      const rs_block *block = &stacks[s]->blocks[i];
      const rs_head_shape *heads = &block->attention;
      size_t queries = heads->heads * heads->head_dim, both = 2 * heads->kv_heads * heads->head_dim;
      wide = larger(wide, larger(2 * block->feed_forward.width, queries + both));
      narrow = larger(narrow, larger(block->feed_forward.width, queries));
      keys = larger(keys, both);
      normed = larger(normed, queries + both / 2);
    }
  back->x = take(c, most, d);
  back->branch = take(c, most, d);
  back->behind = take(c, most, d);
  back->dropped = take(c, most, d);
  back->wide = take(c, most, wide);
  back->narrow = take(c, most, narrow);
  back->normed = take(c, most, normed);
  if (source_rows == 0) return;
  back->keys = take(c, source_rows, keys);
  back->source = take(c, source_rows, d);
}

static size_t scratch_of(const rs_work *w) {
  size_t most = 0;
  for (size_t i = 0; i < w->context->attend_count; i++) {
    const rs_attend *attend = w->context->attends[i].attend;
    most = larger(most, rs_attend_scratch(attend, w->training) + (w->threads - 1) * rs_attend_own_scratch(attend));
  }
  return most;
}

static void take_all(cursor *c, rs_work *w) {
  const rs_shape *shape = &w->context->transformer->shape;
  size_t source_rows = w->encoder.rows;
  if (source_rows > 0) take_stack(c, shape, &shape->encoder, 0, w->training, &w->encoder);
  take_stack(c, shape, &shape->decoder, source_rows, w->training, &w->decoder);
  if (shape->pool == RS_POOL_MEAN) {
    w->pooled = take(c, w->sequences, shape->width);
    w->by_pooled = take(c, w->sequences, shape->width);
  }
  w->logits = take(c, HEAD_ROWS, shape->classes);
  if (shape->prediction != RS_PREDICTS_CLASS) w->taught = take(c, HEAD_ROWS, shape->classes);
  if (shape->output_cap > 0 && w->training) w->cap_slopes = take(c, HEAD_ROWS, shape->classes);
  w->scratch = take(c, 1, scratch_of(w));
  if (w->training) take_back(c, shape, w->decoder.rows, source_rows, &w->back);
}

static rs_status make_arrays(rs_work *w, rs_err *err) {
  const rs_shape *shape = &w->context->transformer->shape;
  w->encoder.blocks = rs_alloc(shape->encoder.count, sizeof *w->encoder.blocks, err);
  w->decoder.blocks = rs_alloc(shape->decoder.count, sizeof *w->decoder.blocks, err);
  w->row = rs_alloc(shape->classes, sizeof *w->row, err);
  w->losses = rs_alloc(HEAD_ROWS, sizeof *w->losses, err);
  w->targets = rs_alloc(HEAD_ROWS, sizeof *w->targets, err);
  w->answers = rs_alloc(HEAD_ROWS, sizeof *w->answers, err);
  if (w->encoder.blocks == NULL || w->decoder.blocks == NULL || w->row == NULL || w->losses == NULL ||
      w->targets == NULL || w->answers == NULL)
    return RS_MEMORY;
  cursor counting = {0};
  take_all(&counting, w);
  w->storage = aligned_alloc(64, (counting.used * sizeof(real) + 63) / 64 * 64);
  if (w->storage == NULL)
    return rs_fail(err, RS_MEMORY, "out of memory: %zu numbers to read %zu sequences of %zu tokens", counting.used,
                   w->sequences, w->context->decoder.length);
  cursor filling = {.base = (real *)w->storage};
  take_all(&filling, w);
  return RS_OK;
}

/* ---- what is learned --------------------------------------------------------------------------------------------- */

static rs_status make_added(const rs_work *w, const rs_stack_context *stack, double **added, rs_err *err) {
  if (stack->added == NULL) return RS_OK;
  *added = rs_alloc(stack->length * w->context->transformer->shape.width, sizeof **added, err);
  return *added != NULL ? RS_OK : RS_MEMORY;
}

static rs_status make_learned(rs_work *w, rs_err *err) {
  const rs_context *context = w->context;
  const rs_transformer *t = context->transformer;
  rs_learned_work *learned = &w->learned;
  RS_TRY(rs_context_trains(context, err));
  learned->sums = rs_alloc(context->attend_count, sizeof *learned->sums, err);
  learned->arrays = rs_alloc(t->recipe_count, RS_LEARNED * sizeof *learned->arrays, err);
  if (learned->sums == NULL || learned->arrays == NULL) return RS_MEMORY;
  for (size_t i = 0; i < context->attend_count; i++)
    RS_TRY(rs_attend_sums_create(context->attends[i].attend, &learned->sums[i], err));
  for (size_t i = 0; i < t->tensor_count; i++) {
    const rs_tensor *tensor = &t->tensors[i];
    if (tensor->init != RS_INIT_LEARNED) continue;
    double *array = rs_alloc(tensor->rows * tensor->columns, sizeof *array, err);
    learned->arrays[tensor->recipe * RS_LEARNED + tensor->learned] = array;
    if (array == NULL) return RS_MEMORY;
  }
  RS_TRY(make_added(w, &context->encoder, &learned->added[0], err));
  return make_added(w, &context->decoder, &learned->added[1], err);
}

static void clear_learned(const rs_work *w) {
  const rs_learned_work *learned = &w->learned;
  size_t arrays = w->context->transformer->recipe_count * RS_LEARNED;
  for (size_t i = 0; i < w->context->attend_count && learned->sums != NULL; i++) rs_attend_sums_free(learned->sums[i]);
  for (size_t i = 0; i < arrays && learned->arrays != NULL; i++) free(learned->arrays[i]);
  free(learned->sums);
  free(learned->arrays);
  free(learned->added[0]);
  free(learned->added[1]);
}

static rs_stack_work stack_of_rows(size_t rows, size_t blocks, bool training) {
  return (rs_stack_work){.rows = rows, .end = blocks, .piece = training || rows < RS_PIECE ? rows : RS_PIECE};
}

rs_status rs_work_create(const rs_context *context, size_t sequences, bool training, rs_work **out, rs_err *err) {
  *out = NULL;
  rs_work *w = rs_alloc(1, sizeof *w, err);
  if (w == NULL) return RS_MEMORY;
  w->context = context;
  w->sequences = sequences;
  w->threads = training || context->decoder.length <= RS_SHARE ? 1 : rs_share_threads();
  w->training = training;
  const rs_shape *shape = &context->transformer->shape;
  w->encoder = stack_of_rows(sequences * context->encoder.length, shape->encoder.count, training);
  w->decoder = stack_of_rows(sequences * context->decoder.length, shape->decoder.count, training);
  rs_status status = make_arrays(w, err);
  if (status == RS_OK && training) status = make_learned(w, err);
  if (status == RS_OK)
    *out = w;
  else
    rs_work_free(w);
  return status;
}

void rs_work_free(rs_work *w) {
  if (w == NULL) return;
  clear_learned(w);
  free(w->encoder.blocks);
  free(w->decoder.blocks);
  free(w->row);
  free(w->losses);
  free(w->targets);
  free(w->answers);
  free(w->storage);
  free(w);
}
