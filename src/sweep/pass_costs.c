/* What a transformer's pass takes. It multiplies and adds once for each weight of a matrix and token, and twice
 * (queries with keys, weights with values) for each head dim and pair of tokens that is seen. */
#include "costs.h"

#include <math.h>

/* ---- flops ------------------------------------------------------------------------------------------------------- */

/* Pairs of a query and a key that it sees. */
static double seen_pairs(const rs_mask *mask, double tokens) {
  bool band = mask->kind == RS_BAND, window = mask->kind == RS_WINDOW || mask->kind == RS_WINDOW_SINKS;
  double width = window || band ? fmin((double)mask->window, tokens) : tokens;
  double behind = tokens - width; /* queries that see less than all before them, and of sinks one more each */
  double sinks = mask->kind == RS_WINDOW_SINKS ? fmin((double)mask->sinks, behind) : 0;
  bool causal = window || mask->kind == RS_CAUSAL;
  if (mask->kind == RS_CHUNKS) {
    double chunk = fmin((double)mask->window, tokens), rest = fmod(tokens, chunk);
    return (tokens - rest) * (chunk + 1) / 2 + rest * (rest + 1) / 2;
  }
  if (band) return tokens + 2 * (width - 1) * (tokens - width / 2);
  if (!causal) return tokens * tokens;
  return width * (width + 1) / 2 + behind * width + sinks * (sinks + 1) / 2 + (behind - sinks) * sinks;
}

/* Weights of the matrices that give queries, keys and values and read what heads say. */
static double attention_weights(const rs_head_shape *heads, double d) {
  const rs_latent *latent = &heads->latent;
  double count = (double)heads->heads, queries = count * (double)heads->head_dim;
  double keys = (double)(heads->kv_heads * heads->head_dim);
  if (latent->kv_rank == 0) return d * (2 * queries + 2 * keys);
  double q_rank = (double)latent->q_rank, kv_rank = (double)latent->kv_rank, values = (double)latent->value_dim;
  double still = (double)(heads->head_dim - latent->turned);
  double asking = q_rank > 0 ? q_rank * (d + queries) : d * queries;
  return asking + d * (kv_rank + (double)latent->turned) + kv_rank * count * (still + values) + count * values * d;
}

/* Weights that one token meets in a feed-forward layer: of experts, those that it uses. */
static double feed_forward_weights(const rs_feed_forward *layer, double d) {
  const rs_experts *experts = &layer->experts;
  double matrices = layer->gated ? 3 : 2;
  if (experts->count == 0) return matrices * d * (double)layer->width;
  return matrices * d * (double)(experts->used * layer->width + experts->shared) + d * (double)experts->count;
}

static double block_flops(const rs_block *block, double d, double tokens, double source) {
  const rs_head_shape *heads = &block->attention;
  double queries = (double)(heads->heads * heads->head_dim), keys = (double)(heads->kv_heads * heads->head_dim);
  double products = tokens * (attention_weights(heads, d) + feed_forward_weights(&block->feed_forward, d));
  double attention = 2 * queries * seen_pairs(&block->mask, tokens);
  if (block->cross) {
    products += tokens * 2 * d * queries + source * 2 * d * keys;
    attention += 2 * queries * tokens * source;
  }
  return 2 * (products + attention);
}

double rs_stack_flops(const rs_stack *stack, size_t count, double width, double tokens, double source) {
  double flops = 0;
  for (size_t i = 0; i < count; i++) flops += block_flops(&stack->blocks[i], width, tokens, source);
  return flops;
}

double rs_pass_flops(const rs_shape *shape, const rs_example_shape *example) {
  double d = (double)shape->width, tokens = (double)example->length, source = (double)example->source_length;
  bool vision = shape->form == RS_VISION;
  double flops = 2 * (vision ? 1 : tokens) * d * (double)shape->classes;
  if (vision) flops += 2 * tokens++ * d * (double)shape->patch_numbers; /* and then a class token */
  return flops + rs_stack_flops(&shape->encoder, shape->encoder.count, d, source, 0) +
         rs_stack_flops(&shape->decoder, shape->decoder.count, d, tokens, source);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static double norm_numbers(const rs_norm *norm, double width) {
  return norm->kind != RS_NORM_NONE ? width + 2 : 0;
}

/* Numbers that a block's pass forward keeps of so many tokens, of which its feed-forward takes `piece` at a time. */
static double block_numbers(const rs_block *block, double d, double rows, double piece) {
  const rs_head_shape *heads = &block->attention;
  double queries = (double)(heads->heads * heads->head_dim), keys = (double)(heads->kv_heads * heads->head_dim);
  const rs_norm *const norms[] = {&block->before_attention, &block->after_attention, &block->before_cross,
                                  &block->before_feed_forward, &block->after_feed_forward};
  double attention = 2 * queries + 2 * keys + (double)heads->heads + norm_numbers(&heads->qk_norm, queries + keys);
  double each = 4 * d + attention * (block->cross ? 2 : 1);
  for (size_t i = 0; i < RS_COUNT(norms); i++) each += norm_numbers(norms[i], d);
  return rows * each + piece * (double)block->feed_forward.width * (block->feed_forward.gated ? 3 : 2);
}

double rs_stack_numbers(const rs_stack *stack, size_t count, double width, double rows, bool training) {
  enum { PIECE = 1024 };
  double sum = 0, most = 0;
  for (size_t i = 0; i < count; i++) {
    double numbers = block_numbers(&stack->blocks[i], width, rows, training ? rows : fmin(rows, PIECE));
    sum += numbers;
    most = fmax(most, numbers);
  }
  return training ? sum + 2 * most : most; /* the pass back has arrays as wide as a block's own, once for all */
}

double rs_weight_bytes(const rs_transformer *transformer) {
  return (double)transformer->size * (transformer->format == RS_F64 ? 8 : 4);
}
