/* A transformer at one length, where its weights stand, and who passes over it. */
#ifndef ROPESCOPE_MODEL_CONTEXT_H
#define ROPESCOPE_MODEL_CONTEXT_H

#include "attention/attention.h"
#include "base/base.h"
#include "kernel/kernel.h"
#include "model/model.h"

#include "attend.h"

/* ---- room ------------------------------------------------------------------------------------------------------ */

/* Memory for numbers that kernels read and write. */

/* `count` zeroed numbers of `bytes` bytes, which begin at a cache line: a vector that crosses two costs two reads. NULL
 * with RS_MEMORY, which says what they are for. Release with free(). */
void *rs_room(size_t count, size_t bytes, const char *purpose, rs_err *err);

/* ---- share ----------------------------------------------------------------------------------------------------- */

/* Sharing the rows of one sequence among threads. What a row comes to depends on no other row's thread, so bits do not
 * depend on threads. */

#ifdef _OPENMP
#include <omp.h>
#endif

enum { RS_SHARE = 256 }; /* rows that a thread takes at a time, and that are worth a team's start */

/* Threads that a pass may use: one where sequences, or parts of a batch, have the others. */
static inline size_t rs_share_threads(void) {
#ifdef _OPENMP
  if (omp_in_parallel()) return 1;
#endif
  return rs_engine_threads();
}

/* Whether rows are shared. */
static inline bool rs_shares(size_t rows) {
  return rows > RS_SHARE && rs_share_threads() > 1;
}

/* ---- places ---------------------------------------------------------------------------------------------------- */

/* Where the weights of a transformer stand among its numbers. */

/* The place of weights that a shape has not. */
#define RS_NOWHERE SIZE_MAX

/* Of a norm. Where each of several parts has weights of its own, those of the next are `part_step` numbers on. */
typedef struct rs_norm_place {
  size_t weight, bias, part_step;
} rs_norm_place;

/* Of a matrix (outputs, inputs), or several that are read as one, and its bias. */
typedef struct rs_linear_place {
  size_t weight, bias, outputs, inputs;
  size_t first, parts; /* the tensors that it is made of */
} rs_linear_place;

/* One attention: rows of q, then of k, then of v are one matrix; across sequences q alone, and k and v together. */
typedef struct rs_attention_place {
  rs_linear_place qkv, q, kv, output;
  rs_linear_place q_down, q_up, kv_down, kv_up; /* in the place of qkv, by way of narrow layers */
  rs_norm_place q_latent, kv_latent;
  rs_norm_place q_norm, k_norm;
  size_t sinks; /* (H,) */
} rs_attention_place;

typedef struct rs_block_place {
  rs_norm_place before_attention, after_attention, before_cross, after_cross, before_feed_forward, after_feed_forward;
  rs_attention_place attention, cross;
  rs_linear_place up, down; /* up: gate's rows, then up's, where gated */
  size_t curve;             /* (4,) of one that is learned: as rs_xielu has them */
  rs_linear_place shared_up, shared_down, shared_gate;
  size_t steering;          /* (experts,) what is added to choose them */
  rs_linear_place router;   /* scores of the experts, */
  rs_linear_place *experts; /* (2 count,) of which each has its up and down in the place of those; NULL: none */
} rs_block_place;

typedef struct rs_stack_place {
  rs_block_place *blocks; /* (count,) */
  size_t count;
  rs_norm_place final_norm;
} rs_stack_place;

struct rs_places {
  size_t embeddings;         /* the tensor (vocabulary, d) */
  size_t token_types;        /* the tensor (token_types, d) */
  size_t padding_position;   /* the tensor (1, d) */
  rs_linear_place patches;   /* d of patch_numbers */
  size_t class_token;        /* (d,); nowhere for patches alone */
  size_t distillation_token; /* (d,) */
  rs_norm_place embedding_norm;
  rs_linear_place embedding_projection; /* d of embedding_width */
  rs_stack_place encoder, decoder;
  rs_linear_place output;        /* C of d */
  rs_linear_place taught_output; /* the same of the distillation token */
};

/* Lists the weights of transformer->shape with names, and where they stand. The lists are the transformer's. RS_MEMORY.
 */
rs_status rs_places_make(rs_transformer *transformer, rs_err *err);

/* Adds what its recipes learn (`encodings`, one a recipe). RS_MEMORY. */
rs_status rs_places_learned(rs_transformer *transformer, rs_encoding *const *encodings, rs_err *err);
void rs_places_free(rs_places *places);

typedef struct rs_stored_shape {
  size_t rank, extents[2];
} rs_stored_shape;

/* Of embeddings. */
size_t rs_embedding_width(const rs_shape *shape);

/* How a file has a tensor: vectors with one dimension. */
rs_stored_shape rs_tensor_shape(const rs_tensor *tensor);

/* Number `index` of a tensor of the transformer's. */
double rs_tensor_value(const rs_transformer *transformer, const rs_tensor *tensor, size_t index);

/* Rows [row, row + wanted) of a mapped matrix without blocks as outputs of a product, or as many of them as stand in
 * one order. */
size_t rs_mapped_rows(const rs_mapped_matrix *matrix, size_t row, size_t wanted, rs_stored_matrix *rows);

/* Numbers [first, first + count) of a row of one with blocks. */
void rs_mapped_blocks(const rs_mapped_matrix *matrix, size_t row, size_t first, size_t count, float *numbers);

/* ---- weights --------------------------------------------------------------------------------------------------- */

/* Arrays that stand as a model's weights do, in files of safetensors. */

/* What is to be written of `values` (transformer->size,), in the model's format, for the tensor. Borrows all. */
rs_tensor_numbers rs_tensor_stored(const rs_transformer *transformer, const rs_tensor *tensor,
                                   const rs_stored_shape *shape, const void *values);

/* Reads what the file has as `name` to where the tensor stands in `values`. RS_INPUT with name and shape. */
rs_status rs_tensor_load(const rs_transformer *transformer, const rs_tensor *tensor, const rs_safetensors *file,
                         const char *name, void *values, rs_err *err);

/* ---- context --------------------------------------------------------------------------------------------------- */

/* A transformer at one length. */

/* What one stack of blocks reads. */
typedef struct rs_stack_context {
  size_t length;           /* of the sequences it reads */
  rs_encoding **encodings; /* (recipe_count,); NULL: the model has no such stack */
  double *ids;             /* (length,) that masks go by; NULL: tokens are counted */
  size_t *attend;          /* (blocks,) the attention of each block, among the context's */
  size_t *cross;           /* (blocks,) that to the encoder; RS_NOWHERE without */
  double *added;           /* (length, d) on top of embeddings; NULL: nothing */
} rs_stack_context;

/* One attention, of all blocks that have the same. */
typedef struct rs_context_attend {
  rs_attend *attend;
  rs_attend_shape shape;
  size_t recipe; /* which it reads; RS_NOWHERE: none */
} rs_context_attend;

struct rs_context {
  const rs_transformer *transformer;
  rs_recipe *recipes; /* (recipe_count,) as they are here; copies */
  rs_stack_context encoder, decoder;
  void *turned; /* (transformer->size,) matrices in panels of (inputs, outputs), where they stand; NULL: they stay in
                   their file */
  rs_context_attend *attends;
  size_t attend_count, attend_capacity;
};

/* The recipe whose embedding a stack adds: its first block's. */
size_t rs_stack_recipe(const rs_stack *stack);

/* Whether gradients by all that the context's recipes learn have a place among the model's: RS_UNSUPPORTED where they
 * learn what the model has not. */
rs_status rs_context_trains(const rs_context *context, rs_err *err);

/* ---- passes ---------------------------------------------------------------------------------------------------- */

/* The passes of one arithmetic, as pass.c calls them. */

typedef struct rs_pass_kind {
  rs_status (*create)(const rs_context *context, size_t sequences, bool training, void **work, rs_err *err);
  void (*release)(void *work); /* NULL is nothing to release */
  void (*forward)(void *work, const rs_batch *batch, const rs_pass_out *out);
  double (*backward)(void *work, const rs_batch *batch, double weight, void *gradient, size_t *targets);
} rs_pass_kind;

extern const rs_pass_kind rs_pass_kind_f32, rs_pass_kind_f64;

#endif
