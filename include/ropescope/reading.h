/* ropescope/reading.h: what a model says of sequences, whole and cut, and what attention reads in one of its blocks. */
#ifndef ROPESCOPE_READING_H
#define ROPESCOPE_READING_H

#include "ropescope/model.h"

/* ---- readings ---------------------------------------------------------------------------------------------------- */

/* What a model said to sequences of a task; A answers a sequence, as in rs_batch. */
typedef struct rs_reading {
  size_t sequences, answers; /* A */
  double *losses;            /* (sequences, A) nats; NaN without a target */
  int32_t *said, *targets;   /* (sequences, A) */
  uint8_t *parts;            /* (sequences, A) of the task */
  float *depths;             /* (sequences, A) */
} rs_reading;

/* Reads sequences [0, sequences) of the split, of evaluation no more than there are (rs_example_count), with all
 * threads; the same bits for any number of them. `context` is of the task's length. Release with rs_reading_clear.
 * RS_MEMORY, RS_DOMAIN, RS_INPUT as rs_trainer_create. */
rs_status rs_reading_make(const rs_context *context, const rs_task *task, rs_split split, size_t length,
                          size_t sequences, rs_reading *reading, rs_err *err) RS_NONNULL(1, 2, 6);
void rs_reading_clear(rs_reading *reading) RS_NONNULL(1);

/* RS_DOMAIN where the decoder has no block `block`. */
rs_status rs_block_check(const rs_shape *shape, size_t block, rs_err *err) RS_NONNULL(1);

/* q (length, H, D), k (length, K, D) of the block while a decoder reads a text with its own recipes. RS_INPUT for a
 * token that is none of its own; what rs_block_check and rs_context_create fail with. */
rs_status rs_read_block(const rs_transformer *transformer, const int32_t *tokens, size_t length, size_t block,
                        double *q, double *k, rs_err *err) RS_NONNULL(1, 2, 5, 6);

/* sinks (H,): the learned ones of the block, where it has such. */
void rs_block_sinks(const rs_transformer *transformer, size_t block, double *sinks) RS_NONNULL(1);

/* One head of those, before rotation, behind their norms; heads that share keys are given the same. `sinks` (H,) may be
 * NULL where there are none. Borrows q and k. */
rs_given_rows rs_block_head(const rs_head_shape *shape, size_t head, const double *q, const double *k,
                            const double *sinks) RS_NONNULL(1);

/* What attention reads in one block while a model reads sequences of a task: room of one thread. Borrows `context`, of
 * the task's length, and `task`. RS_MEMORY, RS_DOMAIN, RS_INPUT as rs_reading_make. */
typedef struct rs_block_reader rs_block_reader;
rs_status rs_block_reader_create(const rs_context *context, const rs_task *task, size_t length,
                                 rs_block_reader **reader, rs_err *err) RS_NONNULL(1, 2, 4);
void rs_block_reader_free(rs_block_reader *reader);

/* Reads sequence `index` of the split, and keeps what block `block` (rs_block_check) computes from it. */
void rs_block_reader_read(rs_block_reader *reader, rs_split split, uint64_t index, size_t block) RS_NONNULL(1);

/* One head of that, as rs_block_head. It seeks needles where the task says of what it asks with probes, or with any
 * target if it has none, which token holds it. Borrowed until the next is read. */
rs_given_rows rs_block_reader_head(const rs_block_reader *reader, size_t head) RS_NONNULL(1);

/* ---- contexts that are cut --------------------------------------------------------------------------------------- */

/* How contexts are cut: `step` targets share where theirs begins, which is `context` tokens to `context` + `step` - 1
 * before what they ask for. Both >= 1. */
typedef struct rs_cut {
  size_t context, step;
  bool trained; /* the model reads by its own recipes, whatever the method */
} rs_cut;

/* Tokens of the windows that a sequence of `length` is cut into. */
size_t rs_cut_window(const rs_cut *cut, size_t length) RS_NONNULL(1);

/* The losses of rs_reading_make for contexts that are cut: (sequences, A) nats; NaN without a target, and where the
 * whole context has fewer than `context` tokens. `context` has the length of rs_cut_window, and is a decoder's; else
 * RS_UNSUPPORTED. Release *losses with free(). Fails as rs_reading_make. */
rs_status rs_cut_losses(const rs_context *context, const rs_task *task, rs_split split, size_t length, size_t sequences,
                        const rs_cut *cut, double **losses, rs_err *err) RS_NONNULL(1, 2, 6, 7);

#endif
