/* Where the weights of a transformer stand among its numbers. Private to the model layer. */
#ifndef ROPESCOPE_MODEL_PLACES_H
#define ROPESCOPE_MODEL_PLACES_H

#include "kernel/kernel.h"
#include "model/model.h"

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
  rs_norm_place before_attention, after_attention, before_cross, before_feed_forward, after_feed_forward;
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
  size_t embeddings;       /* the tensor (vocabulary, d) */
  size_t token_types;      /* the tensor (token_types, d) */
  size_t padding_position; /* the tensor (1, d) */
  rs_linear_place patches; /* d of patch_numbers */
  size_t class_token;      /* (d,) */
  rs_norm_place embedding_norm;
  rs_linear_place embedding_projection; /* d of embedding_width */
  rs_stack_place encoder, decoder;
  rs_linear_place output; /* C of d */
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

/* Rows [row, row + wanted) of a mapped matrix as outputs of a product, or as many of them as stand in one order. */
size_t rs_mapped_rows(const rs_mapped_matrix *matrix, size_t row, size_t wanted, rs_stored_matrix *rows);

#endif
