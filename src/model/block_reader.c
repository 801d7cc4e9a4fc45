/* What attention reads in one block while a model reads sequences of a task. */
#include "context.h"
#include "model/model.h"
#include "tasks.h"

#include <stdlib.h>

struct rs_block_reader {
  const rs_context *context;
  rs_pass *pass;
  rs_examples examples;  /* one sequence */
  int32_t *targets;      /* (A,) */
  double *q, *k;         /* (L, H, D), (L, K, D) of the widest block */
  double *sinks;         /* (H,) learned by the block that was read last, where it has such */
  const rs_block *block; /* that was read last */
};

/* ---- room -------------------------------------------------------------------------------------------------------- */

static rs_status make_arrays(rs_block_reader *reader, rs_err *err) {
  const rs_stack *stack = &reader->context->transformer->shape.decoder;
  size_t tokens = reader->context->decoder.length, queries = 0, keys = 0, most_heads = 0;
  for (size_t b = 0; b < stack->count; b++) {
    const rs_head_shape *heads = &stack->blocks[b].attention;
    queries = heads->heads * heads->head_dim > queries ? heads->heads * heads->head_dim : queries;
    keys = heads->kv_heads * heads->head_dim > keys ? heads->kv_heads * heads->head_dim : keys;
    most_heads = heads->heads > most_heads ? heads->heads : most_heads;
  }
  reader->q = rs_alloc(tokens, queries * sizeof *reader->q, err);
  reader->k = rs_alloc(tokens, keys * sizeof *reader->k, err);
  reader->targets = rs_alloc(reader->examples.answers, sizeof *reader->targets, err);
  reader->sinks = rs_alloc(most_heads, sizeof *reader->sinks, err);
  bool whole = reader->q != NULL && reader->k != NULL && reader->sinks != NULL && reader->targets != NULL;
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
  free(reader->sinks);
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
