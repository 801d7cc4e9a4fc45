/* What attention reads in one block while a model reads sequences of a task. */
#include "context.h"
#include "examples.h"

#include <math.h>
#include <stdlib.h>

struct rs_block_reader {
  const rs_context *context;
  rs_pass *pass;
  rs_examples examples;  /* one sequence */
  int32_t *targets;      /* (A,) */
  double *q, *k;         /* (L, H, D), (L, K, D) of the widest block */
  const rs_block *block; /* that was read last */
};

rs_status rs_block_check(const rs_shape *shape, size_t block, rs_err *err) {
  if (block >= shape->decoder.count)
    return rs_fail(err, RS_DOMAIN, "layer %zu: the model has %zu (0 to %zu)", block, shape->decoder.count,
                   shape->decoder.count - 1);
  const rs_head_shape *heads = &shape->decoder.blocks[block].attention;
  if (heads->soft_cap != 0)
    return rs_fail(err, RS_UNSUPPORTED, "layer %zu caps its logits at %g nats, which rows of attention do not", block,
                   heads->soft_cap);
  if (heads->sinks)
    return rs_fail(err, RS_UNSUPPORTED, "layer %zu has learned sinks, whose weight rows of attention have no place for",
                   block);
  return RS_OK;
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

static rs_status make_arrays(rs_block_reader *reader, rs_err *err) {
  const rs_stack *stack = &reader->context->transformer->shape.decoder;
  size_t tokens = reader->context->decoder.length, queries = 0, keys = 0;
  for (size_t b = 0; b < stack->count; b++) {
    const rs_head_shape *heads = &stack->blocks[b].attention;
    queries = heads->heads * heads->head_dim > queries ? heads->heads * heads->head_dim : queries;
    keys = heads->kv_heads * heads->head_dim > keys ? heads->kv_heads * heads->head_dim : keys;
  }
  reader->q = rs_alloc(tokens, queries * sizeof *reader->q, err);
  reader->k = rs_alloc(tokens, keys * sizeof *reader->k, err);
  reader->targets = rs_alloc(reader->examples.answers, sizeof *reader->targets, err);
  bool whole = reader->q != NULL && reader->k != NULL && reader->targets != NULL;
  if (whole && reader->examples.task->kind->seeks) {
    reader->examples.sought = rs_alloc(tokens, sizeof *reader->examples.sought, err);
    whole = reader->examples.sought != NULL;
  }
  return whole ? RS_OK : RS_MEMORY;
}

rs_status rs_block_reader_create(const rs_context *context, const rs_task *task, size_t length,
                                 rs_block_reader **reader, rs_err *err) {
  rs_block_reader *fresh = rs_alloc(1, sizeof *fresh, err);
  *reader = NULL;
  if (fresh == NULL) return RS_MEMORY;
  fresh->context = context;
  rs_status status = rs_examples_make(task, length, 1, &fresh->examples, err);
  if (status == RS_OK) status = rs_examples_fit(&fresh->examples, &context->transformer->shape, err);
  if (status == RS_OK) status = make_arrays(fresh, err);
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
  free(reader->targets);
  free(reader->q);
  free(reader->k);
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
  rs_batch batch = rs_examples_batch(&reader->examples, 0, 1, reader->targets);
  rs_pass_out out = {.block = block, .q = reader->q, .k = reader->k};
  rs_forward(reader->pass, &batch, &out);
}

rs_given_rows rs_block_reader_head(const rs_block_reader *reader, size_t head) {
  const rs_head_shape *shape = &reader->block->attention;
  size_t dims = shape->head_dim, shared = head / (shape->heads / shape->kv_heads);
  double scale = shape->score_scale;
  return (rs_given_rows){.q = reader->q + head * dims,
                         .k = reader->k + shared * dims,
                         .q_step = shape->heads * dims,
                         .k_step = shape->kv_heads * dims,
                         .factor = scale != 0 ? scale * sqrt((double)dims) : 1,
                         .sought = reader->examples.sought};
}
