/* Arrays and layers of a pass; compiled for float and for double. */
#ifndef ROPESCOPE_MODEL_WORK_H
#define ROPESCOPE_MODEL_WORK_H

#include "attend.h"
#include "context.h"

/* ---- linear ---------------------------------------------------------------------------------------------------- */

/* Linear layers. */

/* Each name is of two functions, one for each arithmetic. */
#define rs_linear RS_OF_REAL(rs_linear)
#define rs_linear_back RS_OF_REAL(rs_linear_back)

/* Rows of numbers: row r begins at data + r * step. */
typedef struct rs_rows {
  real *data;
  size_t step;
} rs_rows;

/* y (rows, outputs) = x (rows, inputs) W^T + b, plus y where `add`. */
void rs_linear(const rs_context *context, const rs_linear_place *place, size_t rows, rs_rows x, rs_rows y, bool add);

/* dx = dy W, plus dx where `add`; dx.data NULL: not wanted. Adds dy^T x and the sum of dy to `gradient`, which is
 * arranged as the weights are. */
void rs_linear_back(const rs_context *context, const rs_linear_place *place, size_t rows, rs_rows x, rs_rows dy,
                    rs_rows dx, bool add, real *gradient);

/* ---- work ------------------------------------------------------------------------------------------------------ */

/* The arrays of a pass.
 *
 * M rows: the tokens of the sequences that are read side by side; d width, F of the feed-forward layer, H heads, K of
 * keys, D head_dim. Arrays of a pass forward are kept for the pass back, one set a block; without a pass back all
 * blocks share one. */

/* Each name is of two functions, one for each arithmetic. */
#define rs_work_create RS_OF_REAL(rs_work_create)
#define rs_work_free RS_OF_REAL(rs_work_free)

/* Of a norm: what it gives, and mean and scale of each row. `y` NULL: there is no norm. */
typedef struct rs_norm_work {
  real *y, *mean, *scale;
} rs_norm_work;

/* Of an attention. */
typedef struct rs_attention_work {
  real *qkv;           /* (M, (H + 2K) D); across sequences q (M, H D) */
  real *kv;            /* across sequences (source M, 2 K D); else NULL */
  real *narrow, *wide; /* (M, of narrow layers), (M, of what is made of them); NULL without */
  rs_norm_work q_latent, kv_latent;
  rs_norm_work q_norm, k_norm; /* y (M, H D) and (M, K D); mean and scale of each row, and head where they span one */
  real *out;                   /* (M, H D) */
  real *level;                 /* (sequences, H, L) log-sum-exp of each row */
} rs_attention_work;

/* Of experts, P rows at a time. */
typedef struct rs_experts_work {
  real *scores;          /* (P, experts); then the weight of each, 0 of those that do not read the row */
  real *choices;         /* (experts + groups,) by which one row's are chosen */
  real *gates;           /* (P,) by which what the shared expert says is multiplied */
  real *gathered, *said; /* (P, d) rows that one expert reads, and what it says */
  real *mixed;           /* (P, d) what all say */
} rs_experts_work;

enum { RS_PIECE = 1024 }; /* rows that a feed-forward takes at a time: many, for matrices are turned over for each */

typedef struct rs_block_work {
  real *x; /* (M, d) what the block reads */
  rs_norm_work before_attention, after_attention, before_cross, after_cross, before_feed_forward, after_feed_forward;
  rs_attention_work attention, cross;
  real *attended, *found; /* (M, d) what norms behind attention and cross attention read; NULL without */
  real *middle, *crossed; /* (M, d) behind attention, and behind cross attention (NULL without); x without a pass back,
                             but for a parallel block's, which reads x once more */
  real *up, *active;      /* (P, F, or 2 F where gated), for the pass back the curve's slopes; (P, F), of the P rows
                             that a feed-forward takes at a time */
  rs_experts_work experts;
  real *fed; /* (M, d) what a norm behind the feed-forward reads; NULL without */
} rs_block_work;

typedef struct rs_stack_work {
  size_t rows;           /* M */
  size_t piece;          /* P: M for a pass back, else as many as stay in the cache */
  rs_block_work *blocks; /* (count,) */
  size_t end; /* blocks that the pass at hand runs: all, but where nothing behind the last of them is wanted */
  real *last; /* (M, d) what the last block gives */
  rs_norm_work final_norm, embedding_norm;
  real *embedded; /* (M, d) or as wide as embeddings: what their norm or matrix reads; NULL without */
  real *patches;  /* (sequences, patches of one, patch_numbers); NULL but for vision */
} rs_stack_work;

/* Gradients on the way back; shared by all blocks. */
typedef struct rs_back_work {
  real *x;       /* (M, d) by what a block gives, then by what it reads */
  real *branch;  /* (M, d) by what a norm gives */
  real *behind;  /* (M, d) by what a norm behind a part reads */
  real *dropped; /* (M, d) by what a part gives, where numbers of that are dropped; forwards what it gives */
  real *wide;    /* (M, 2 F or (H + 2K) D) */
  real *narrow;  /* (M, F) or heads' outputs (M, H D) */
  real *keys;    /* (source M, 2 K D) across sequences */
  real *source;  /* (source M, d) by the encoder's states, from all blocks */
  real *normed;  /* (M, (H + K) D) by q and k behind their norms */
} rs_back_work;

/* Gradients by what recipes learn, in doubles, until the end of a pass back. */
typedef struct rs_learned_work {
  rs_attend_sums **sums; /* (attend_count,) NULL where nothing is learned */
  double *added[2];      /* (length, d) by what is added to embeddings of the encoder and of the decoder; NULL: none */
  double **arrays;       /* (recipe_count, RS_LEARNED) one for each tensor; else NULL */
} rs_learned_work;

enum { HEAD_ROWS = 128 }; /* rows of classes at a time */

typedef struct rs_work {
  const rs_context *context;
  size_t sequences;
  size_t threads; /* that share a sequence */
  bool training;
  rs_stack_work encoder, decoder;
  real *pooled, *by_pooled;  /* (sequences, d) means of states, and gradients by them; NULL without */
  real *logits, *cap_slopes; /* (HEAD_ROWS, C); slopes of their soft cap for the pass back, NULL without */
  real *taught;              /* (HEAD_ROWS, C) logits of the head that a teacher taught; NULL without */
  real *scratch;             /* of attention */
  double *row;               /* (C,) logits of one answer */
  double *losses;            /* (HEAD_ROWS,) */
  int32_t *targets;          /* (HEAD_ROWS,) */
  int32_t *answers;          /* (HEAD_ROWS,) */
  rs_back_work back;
  rs_learned_work learned;
  rs_drop drop;            /* of the pass at hand, from the first sequence of the chunk on */
  const rs_pass_out *kept; /* of the pass at hand: wants queries and keys of a block, which the next one may overwrite;
                              NULL: nobody does */
  char *storage;
} rs_work;

/* Where numbers are dropped. */
typedef enum rs_drop_place {
  RS_DROP_EMBEDDINGS,
  RS_DROP_WEIGHTS,
  RS_DROP_ATTENTION,
  RS_DROP_CROSS_WEIGHTS,
  RS_DROP_CROSS,
  RS_DROP_FEED_FORWARD,
  RS_DROP_PLACES
} rs_drop_place;

/* Dropout at one place of a block, for the chunk at hand. Attention weights have a place for each head, counted on from
 * this. */
static inline rs_drop rs_drop_at(const rs_work *w, bool encoder, size_t block, rs_drop_place place) {
  rs_drop drop = w->drop;
  drop.place = (((uint64_t)block * 2 + encoder) * RS_DROP_PLACES + place) << 32;
  return drop;
}

rs_status rs_work_create(const rs_context *context, size_t sequences, bool training, rs_work **out, rs_err *err);
void rs_work_free(rs_work *w);

/* ---- layers ---------------------------------------------------------------------------------------------------- */

/* Parts of blocks, forwards and back. */

/* Each name is of two functions, one for each arithmetic. */
#define rs_norm_rows RS_OF_REAL(rs_norm_rows)
#define rs_norm_rows_back RS_OF_REAL(rs_norm_rows_back)
#define rs_experts_read RS_OF_REAL(rs_experts_read)
#define rs_rows_copy RS_OF_REAL(rs_rows_copy)
#define rs_rows_drop RS_OF_REAL(rs_rows_drop)
#define rs_stack_forward RS_OF_REAL(rs_stack_forward)
#define rs_stack_backward RS_OF_REAL(rs_stack_backward)

/* Norms of x (rows, parts, width), part by part: `x_step` numbers from row to row. What it gives, tightly packed, or x
 * itself where there is none. */
rs_rows rs_norm_rows(const real *values, const rs_norm *norm, rs_norm_place place, size_t rows, size_t parts,
                     size_t width, rs_rows x, const rs_norm_work *work);

/* Adds the gradient by x to dx, given that by what the norm gave; without a norm adds dy itself. */
void rs_norm_rows_back(const real *values, const rs_norm *norm, rs_norm_place place, size_t rows, size_t parts,
                       size_t width, rs_rows x, const rs_norm_work *work, rs_rows dy, rs_rows dx, real *gradient);

/* work->experts.mixed = what the experts say of x (rows, d), at most RS_PIECE rows. */
void rs_experts_read(const rs_context *context, const rs_feed_forward *shape, const rs_block_place *place, size_t rows,
                     rs_rows x, const rs_block_work *work);

/* to (rows, columns) = from. */
void rs_rows_copy(rs_rows from, size_t rows, size_t columns, rs_rows to);

/* Drops numbers of x (rows, columns), side by side, of sequences of `length` rows; nothing where the share is 0. */
void rs_rows_drop(rs_drop drop, size_t length, size_t rows, size_t columns, real *x);

/* Reads `rows` = sequences x length embeddings, which stand in stack->blocks[0].x, through stack->end blocks; the last
 * of all gives stack->last. `source`: the encoder's states (source rows, d) and how many a sequence; data NULL without.
 */
void rs_stack_forward(rs_work *w, const rs_stack *shape, const rs_stack_place *place, const rs_stack_context *context,
                      rs_stack_work *stack, size_t sequences, rs_rows source);

/* The way back: w->back.x holds the gradient by what the last block gave, and then that by the embeddings. Adds to
 * w->back.source that by the encoder's states. */
void rs_stack_backward(rs_work *w, const rs_stack *shape, const rs_stack_place *place, const rs_stack_context *context,
                       rs_stack_work *stack, size_t sequences, rs_rows source, real *gradient);

#endif
