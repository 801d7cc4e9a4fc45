/* What the heads of a model attend to in one sequence, block by block and as one product: attention rollout (Abnar and
 * Zuidema, arXiv:2005.00928, section 3). The engine that observes rows gives the weights, so that masks, biases, caps
 * and learned sinks are in them as they are there. */
#include "context.h"
#include "model/model.h"
#include "tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pass that shows weights. All arrays are in `arena`. */
typedef struct walk {
  const rs_context *context;
  const rs_stack *stack;
  size_t length; /* L */
  const rs_weights_watch *watch;
  rs_engine *engine;
  double *q, *k;           /* (L, H, D), (L, K, D) of the widest block */
  double *head_q, *head_k; /* (L, D) of one head */
  double *sinks;           /* (H,) */
  double *weights;         /* (L, L) */
  size_t *queries, *edges; /* (L,); of one bin */
  rs_arena arena;
  rs_status status;
  rs_err *err;
} walk;

/* ---- room -------------------------------------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

static rs_status make_arrays(walk *w, rs_err *err) {
  size_t queries = 0, keys = 0, heads = 0, dims = 0, views = 1, length = w->length;
  for (size_t b = 0; b < w->stack->count; b++) {
    const rs_head_shape *shape = &w->stack->blocks[b].attention;
    queries = larger(queries, shape->heads * shape->head_dim);
    keys = larger(keys, shape->kv_heads * shape->head_dim);
    heads = larger(heads, shape->heads);
    dims = larger(dims, shape->head_dim);
    views = larger(views, rs_context_block_encoding(w->context, b)->views);
  }
  w->q = rs_arena_take(&w->arena, length, queries * sizeof *w->q);
  w->k = rs_arena_take(&w->arena, length, keys * sizeof *w->k);
  w->head_q = rs_arena_take(&w->arena, length, dims * sizeof *w->head_q);
  w->head_k = rs_arena_take(&w->arena, length, dims * sizeof *w->head_k);
  w->sinks = rs_arena_take(&w->arena, heads, sizeof *w->sinks);
  w->weights = rs_arena_take(&w->arena, length, length * sizeof *w->weights);
  w->queries = rs_arena_take(&w->arena, length, sizeof *w->queries);
  w->edges = rs_arena_take(&w->arena, 2, sizeof *w->edges);
  RS_TRY(rs_arena_check(&w->arena, err));
  for (size_t m = 0; m < length; m++) w->queries[m] = m;
  w->edges[1] = length;
  return rs_engine_create(length, dims, views, &w->engine, err);
}

static void clear(walk *w) {
  rs_engine_free(w->engine);
  rs_arena_clear(&w->arena);
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

static void take_head(walk *w, const rs_given_rows *rows, size_t dims) {
  for (size_t m = 0; m < w->length; m++)
    for (size_t d = 0; d < dims; d++) {
      w->head_q[m * dims + d] = rows->factor * rows->q[m * rows->q_step + d];
      w->head_k[m * dims + d] = rows->k[m * rows->k_step + d];
    }
}

static rs_status observe(walk *w, size_t block, size_t head, const rs_score_rule *rule, rs_err *err) {
  const rs_context *context = w->context;
  const rs_attention_job job = {.encoding = rs_context_block_encoding(context, block),
                                .head = head,
                                .mask = context->attends[context->decoder.attend[block]].shape.mask,
                                .queries = w->queries,
                                .query_count = w->length,
                                .q = w->head_q,
                                .k = w->head_k,
                                .edges = w->edges,
                                .bins = 1,
                                .soft_cap = rule->soft_cap,
                                .learned_sink = rule->sinks ? &rule->learned_sink : NULL,
                                .map_queries = {0, w->length},
                                .map_keys = {0, w->length}};
  rs_observation *seen;
  RS_TRY(rs_engine_run(w->engine, &job, &seen, err));
  for (size_t m = 0; m < w->length; m++)
    for (size_t n = 0; n < w->length; n++) {
      double weight = seen->rows[m].key_weight[n];
      w->weights[m * w->length + n] = isnan(weight) ? 0 : weight;
    }
  rs_observation_free(seen);
  return RS_OK;
}

static void show_block(void *memory, size_t block) {
  walk *w = memory;
  const rs_head_shape *shape = &w->stack->blocks[block].attention;
  if (w->status != RS_OK) return;
  rs_block_sinks(w->context->transformer, block, w->sinks);
  for (size_t h = 0; h < shape->heads && w->status == RS_OK; h++) {
    const rs_given_rows rows = rs_block_head(shape, h, w->q, w->k, w->sinks);
    take_head(w, &rows, shape->head_dim);
    w->status = observe(w, block, h, &rows.rule, w->err);
    if (w->status == RS_OK) w->watch->take(w->watch->context, block, h, w->weights);
  }
}

rs_status rs_read_weights(const rs_context *context, const rs_batch *batch, const rs_weights_watch *watch,
                          rs_err *err) {
  const rs_shape *shape = &context->transformer->shape;
  walk w = {
      .context = context, .stack = &shape->decoder, .length = context->decoder.length, .watch = watch, .err = err};
  rs_pass *pass = NULL;
  for (size_t b = 0; b < shape->decoder.count; b++) RS_TRY(rs_block_check(shape, b, err));
  rs_status status = make_arrays(&w, err);
  if (status == RS_OK) status = rs_pass_create(context, 1, false, &pass, err);
  if (status == RS_OK) {
    const rs_batch first = {.sequences = 1,
                            .tokens = batch->tokens,
                            .types = batch->types,
                            .source = batch->source,
                            .patches = batch->patches};
    rs_forward(pass, &first, &(rs_pass_out){.q = w.q, .k = w.k, .rows = show_block, .rows_context = &w});
    status = w.status;
  }
  rs_pass_free(pass);
  clear(&w);
  return status;
}

/* ---- rollout ----------------------------------------------------------------------------------------------------- */

/* The product so far; (L, L) each, all in one array. */
typedef struct product {
  const rs_stack *stack;
  size_t length;
  double *product, *mean, *next;
} product;

/* The product gets (A + I) / 2 of one block on its left, A the mean over heads; rows, which learned sinks have left
 * with less, sum to 1. */
static void add_block(product *r) {
  size_t length = r->length;
  for (size_t m = 0; m < length; m++) {
    double *row = r->mean + m * length, *to = r->next + m * length, sum = 0;
    for (size_t n = 0; n < length; n++) row[n] = 0.5 * row[n] + (m == n ? 0.5 : 0), sum += row[n];
    memset(to, 0, length * sizeof *to);
    for (size_t k = 0; k < length; k++) {
      double weight = row[k] / sum;
      const double *from = r->product + k * length;
      for (size_t n = 0; n < length && weight != 0; n++) to[n] += weight * from[n];
    }
  }
  memset(r->mean, 0, length * length * sizeof *r->mean);
  double *before = r->product;
  r->product = r->next;
  r->next = before;
}

static void add_head(void *context, size_t block, size_t head, const double *weights) {
  product *r = context;
  size_t heads = r->stack->blocks[block].attention.heads;
  for (size_t i = 0; i < r->length * r->length; i++) r->mean[i] += weights[i] / (double)heads;
  if (head + 1 == heads) add_block(r);
}

rs_status rs_read_rollout(const rs_context *context, const rs_batch *batch, double **rollout, rs_err *err) {
  size_t length = context->decoder.length, cells = length * length;
  *rollout = NULL;
  if (length > RS_ROLLOUT_TOKENS)
    return rs_fail(err, RS_DOMAIN, "rollout is of at most %d tokens, not %zu", RS_ROLLOUT_TOKENS, length);
  RS_OWNED(rs_arena) arena = {0};
  product p = {.stack = &context->transformer->shape.decoder, .length = length};
  p.product = rs_arena_take(&arena, cells, sizeof *p.product);
  p.mean = rs_arena_take(&arena, cells, sizeof *p.mean);
  p.next = rs_arena_take(&arena, cells, sizeof *p.next);
  RS_TRY(rs_arena_check(&arena, err));
  for (size_t m = 0; m < length; m++) p.product[m * length + m] = 1;
  const rs_weights_watch watch = {add_head, &p};
  RS_TRY(rs_read_weights(context, batch, &watch, err));
  *rollout = rs_alloc(cells, sizeof **rollout, err);
  if (*rollout == NULL) return RS_MEMORY;
  memcpy(*rollout, p.product, cells * sizeof **rollout);
  return RS_OK;
}

static rs_status draw(const rs_context *context, const rs_task *task, size_t length, size_t index,
                      rs_examples *examples, rs_err *err) {
  RS_TRY(rs_examples_make(task, &context->transformer->shape, length, 1, examples, err));
  RS_TRY(rs_examples_fit(examples, &context->transformer->shape, err));
  size_t count = rs_example_count(&examples->shape, index + 1);
  if (count <= index) return rs_fail(err, RS_DOMAIN, "sequence %zu is not among the %zu of evaluation", index, count);
  rs_examples_draw(examples, RS_SPLIT_EVALUATION, index, 0);
  return RS_OK;
}

rs_status rs_task_rollout(const rs_context *context, const rs_task *task, size_t length, size_t index, double **rollout,
                          rs_err *err) {
  rs_examples examples = {0};
  *rollout = NULL;
  rs_status status = draw(context, task, length, index, &examples, err);
  if (status == RS_OK) {
    const rs_batch batch = rs_examples_batch(&examples, 0, 1, examples.targets);
    status = rs_read_rollout(context, &batch, rollout, err);
  }
  rs_examples_clear(&examples);
  return status;
}
