/* Shapes of transformers: their words, what fits together, copies. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const rs_form_words[RS_FORMS + 1] = {[RS_DECODER] = "decoder",
                                                 [RS_ENCODER] = "encoder",
                                                 [RS_ENCODER_DECODER] = "encoder_decoder",
                                                 [RS_VISION] = "vision"};
const char *const rs_pool_words[RS_POOLS + 1] = {[RS_POOL_CLASS] = "class", [RS_POOL_MEAN] = "mean"};
const char *const rs_prediction_words[RS_PREDICTIONS + 1] = {
    [RS_PREDICTS_CLASS] = "none", [RS_PREDICTS_SOFTMAXES] = "paper", [RS_PREDICTS_LOGITS] = "hf"};
const char *const rs_norm_words[RS_NORM_KINDS + 1] = {
    [RS_NORM_NONE] = "none", [RS_NORM_RMS] = "rms", [RS_NORM_LAYER] = "layer", [RS_NORM_L2] = "l2"};
const char *const rs_activation_words[RS_ACTIVATIONS + 1] = {
    [RS_GELU] = "gelu", [RS_GELU_TANH] = "gelu_tanh",   [RS_RELU] = "relu",
    [RS_SILU] = "silu", [RS_GELU_BLOOM] = "gelu_bloom", [RS_RELU2] = "relu2"};

size_t rs_shape_lead(const rs_shape *shape) {
  if (shape->form == RS_VISION) return (shape->patches_alone ? 0 : 1) + (shape->distillation_token ? 1 : 0);
  return shape->pool == RS_POOL_MEAN ? 1 : 0;
}

size_t rs_shape_answers(const rs_shape *shape, size_t length) {
  return shape->form == RS_VISION || shape->pool == RS_POOL_MEAN ? 1 : length;
}

/* More in one place than this is a slip of the pen, and products of two stay far from overflowing. */
static const size_t most = (size_t)1 << 24;

static rs_status check_norm(const rs_norm *norm, rs_err *err) {
  if (norm->kind == RS_NORM_NONE || (norm->epsilon >= 0 && isfinite(norm->epsilon))) return RS_OK;
  return rs_fail(err, RS_INPUT, "a norm's epsilon is %g: must be a number of 0 or more", norm->epsilon);
}

static rs_status check_heads(const rs_head_shape *heads, rs_err *err) {
  if (heads->heads < 1 || heads->kv_heads < 1 || heads->head_dim < 1 || heads->heads > most || heads->head_dim > most)
    return rs_fail(err, RS_INPUT, "%zu heads of %zu with %zu of keys: each must be between 1 and %zu", heads->heads,
                   heads->head_dim, heads->kv_heads, most);
  if (heads->heads % heads->kv_heads != 0)
    return rs_fail(err, RS_INPUT, "%zu heads cannot share %zu heads of keys: must be a multiple", heads->heads,
                   heads->kv_heads);
  const rs_latent *latent = &heads->latent;
  if (latent->kv_rank > 0 && (latent->turned > heads->head_dim || latent->value_dim < 1 ||
                              latent->value_dim > heads->head_dim || heads->kv_heads != heads->heads))
    return rs_fail(err, RS_INPUT, "latent attention with heads of %zu, %zu of them turned, and values of %zu",
                   heads->head_dim, latent->turned, latent->value_dim);
  if (latent->kv_rank > most || latent->q_rank > most)
    return rs_fail(err, RS_INPUT, "narrow layers of %zu and %zu: at most %zu", latent->q_rank, latent->kv_rank, most);
  if (!(heads->clip >= 0))
    return rs_fail(err, RS_INPUT, "queries clipped at %g: must be a number of 0 or more", heads->clip);
  return check_norm(&heads->qk_norm, err);
}

static rs_status check_experts(const rs_block *block, rs_err *err) {
  const rs_experts *experts = &block->feed_forward.experts;
  if (experts->count == 0) return RS_OK;
  if (experts->count > most || experts->used < 1 || experts->used > experts->count)
    return rs_fail(err, RS_INPUT, "%zu of %zu experts: must be from 1 to as many as there are", experts->used,
                   experts->count);
  if (experts->groups > 0 &&
      (experts->count % experts->groups != 0 || experts->groups_used < 1 || experts->groups_used > experts->groups))
    return rs_fail(err, RS_INPUT, "%zu of %zu groups of %zu experts", experts->groups_used, experts->groups,
                   experts->count);
  if (experts->shared > most)
    return rs_fail(err, RS_INPUT, "a shared expert of %zu: at most %zu", experts->shared, most);
  if (!block->feed_forward.gated || block->after_feed_forward.kind != RS_NORM_NONE || block->feed_forward.learned_curve)
    return rs_fail(err, RS_UNSUPPORTED, "experts without a gate, with a learned curve, or with a norm behind them");
  return RS_OK;
}

static rs_status check_block(const rs_shape *shape, const rs_block *block, rs_err *err) {
  RS_TRY(check_norm(&block->before_attention, err));
  RS_TRY(check_norm(&block->after_attention, err));
  RS_TRY(check_norm(&block->before_feed_forward, err));
  RS_TRY(check_norm(&block->after_feed_forward, err));
  RS_TRY(check_norm(&block->before_cross, err));
  RS_TRY(check_norm(&block->after_cross, err));
  RS_TRY(check_heads(&block->attention, err));
  RS_TRY(check_experts(block, err));
  if (block->feed_forward.width < 1 || block->feed_forward.width > most)
    return rs_fail(err, RS_INPUT, "a feed-forward layer of %zu: must be between 1 and %zu", block->feed_forward.width,
                   most);
  if (block->cross && shape->form != RS_ENCODER_DECODER)
    return rs_fail(err, RS_INPUT, "a block of a %s has no encoder to read", rs_form_words[shape->form]);
  if (block->cross && block->parallel)
    return rs_fail(err, RS_UNSUPPORTED, "a block that reads an encoder cannot be parallel");
  return RS_OK;
}

static rs_status check_stack(const rs_shape *shape, const rs_stack *stack, rs_err *err) {
  if (stack->count < 1 || stack->count > most) return rs_fail(err, RS_INPUT, "%zu blocks: at least 1", stack->count);
  for (size_t i = 0; i < stack->count; i++) RS_TRY(check_block(shape, &stack->blocks[i], err));
  return check_norm(&stack->final_norm, err);
}

static rs_status check_pool(const rs_shape *shape, rs_err *err) {
  bool vision = shape->form == RS_VISION;
  if (shape->pool == RS_POOL_MEAN && !vision && shape->form != RS_ENCODER)
    return rs_fail(err, RS_INPUT, "%s: says a class at each token: nothing to take the mean of",
                   rs_form_words[shape->form]);
  if (shape->patches_alone && !vision)
    return rs_fail(err, RS_INPUT, "%s: reads no patches", rs_form_words[shape->form]);
  if (shape->patches_alone && shape->pool == RS_POOL_CLASS)
    return rs_fail(err, RS_INPUT, "patches without a class token say no class by it: must take their mean");
  if (shape->distillation_token && (!vision || shape->patches_alone))
    return rs_fail(err, RS_INPUT, "%s: has no class token that one of distillation could stand behind",
                   rs_form_words[shape->form]);
  if (shape->prediction != RS_PREDICTS_CLASS && (!shape->distillation_token || shape->classes == 0))
    return rs_fail(err, RS_INPUT, "%s: a second head says no class without a distillation token",
                   rs_form_words[shape->form]);
  return RS_OK;
}

rs_status rs_shape_check(const rs_shape *shape, rs_err *err) {
  bool vision = shape->form == RS_VISION;
  bool states = shape->form != RS_ENCODER_DECODER; /* may be all that is wanted */
  if (shape->width < 1 || shape->width > most || shape->classes < (states ? 0 : 1) || shape->classes > most)
    return rs_fail(err, RS_INPUT, "width %zu with %zu classes: each must be between 1 and %zu", shape->width,
                   shape->classes, most);
  if (shape->embedding_width > most || (shape->embedding_width > 0 && (vision || shape->tied)))
    return rs_fail(err, RS_INPUT, "embeddings of %zu numbers: at most %zu, of tokens, and not tied to an output",
                   shape->embedding_width, most);
  if (shape->token_types > most)
    return rs_fail(err, RS_INPUT, "%zu token types: at most %zu", shape->token_types, most);
  if (vision ? shape->patch_numbers < 1 || shape->patch_numbers > most
             : shape->vocabulary < 1 || shape->vocabulary > most)
    return rs_fail(err, RS_INPUT, "a %s without %s", rs_form_words[shape->form], vision ? "patches" : "vocabulary");
  if (shape->tied && (vision || shape->classes != shape->vocabulary))
    return rs_fail(err, RS_INPUT, "an output of %zu classes cannot be tied to embeddings of %zu tokens", shape->classes,
                   shape->vocabulary);
  RS_TRY(check_pool(shape, err));
  if (shape->form == RS_ENCODER_DECODER) RS_TRY(check_stack(shape, &shape->encoder, err));
  return check_stack(shape, &shape->decoder, err);
}

static rs_status copy_stack(rs_stack *copy, const rs_stack *from, rs_err *err) {
  *copy = *from;
  copy->blocks = NULL;
  if (from->count == 0) return RS_OK;
  copy->blocks = rs_alloc(from->count, sizeof *copy->blocks, err);
  if (copy->blocks == NULL) return RS_MEMORY;
  memcpy(copy->blocks, from->blocks, from->count * sizeof *copy->blocks);
  return RS_OK;
}

rs_status rs_shape_copy(rs_shape *copy, const rs_shape *from, rs_err *err) {
  *copy = *from;
  copy->decoder.blocks = NULL;
  rs_status status = copy_stack(&copy->encoder, &from->encoder, err);
  if (status == RS_OK) status = copy_stack(&copy->decoder, &from->decoder, err);
  if (status != RS_OK) rs_shape_clear(copy);
  return status;
}

void rs_shape_clear(rs_shape *shape) {
  free(shape->encoder.blocks);
  free(shape->decoder.blocks);
  *shape = (rs_shape){0};
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static bool has_detours(const rs_stack *stack) {
  for (size_t i = 0; i < stack->count; i++)
    if (stack->blocks[i].feed_forward.experts.count > 0 || stack->blocks[i].attention.latent.kv_rank > 0) return true;
  return false;
}

static bool clips(const rs_stack *stack) {
  for (size_t i = 0; i < stack->count; i++)
    if (stack->blocks[i].attention.clip > 0) return true;
  return false;
}

/* Norms of what has turned have weights. */
static bool weighs_turned(const rs_head_shape *heads) {
  return heads->qk_norm_turned && (heads->qk_norm.kind == RS_NORM_RMS || heads->qk_norm.kind == RS_NORM_LAYER);
}

static bool learns_more(const rs_stack *stack) {
  for (size_t i = 0; i < stack->count; i++)
    if (stack->blocks[i].feed_forward.learned_curve || weighs_turned(&stack->blocks[i].attention)) return true;
  return false;
}

rs_status rs_shape_trains(const rs_shape *shape, rs_err *err) {
  bool experts = has_detours(&shape->encoder) || has_detours(&shape->decoder);
  bool clipped = clips(&shape->encoder) || clips(&shape->decoder);
  bool learns = learns_more(&shape->encoder) || learns_more(&shape->decoder);
  bool plain = shape->token_types == 0 && !shape->leaves_padding && shape->embedding_width == 0;
  if (shape->classes > 0 && plain && !experts && !clipped && !learns) return RS_OK;
  return rs_fail(err, RS_UNSUPPORTED, "a model %s is read, and not trained",
                 experts                      ? "with experts or narrow layers"
                 : clipped                    ? "with clipped queries, keys and values"
                 : learns                     ? "with learned curves, or norms with weights behind the rotation"
                 : shape->token_types > 0     ? "with token types"
                 : shape->embedding_width > 0 ? "with embeddings of another width"
                 : shape->leaves_padding      ? "whose padding has no position"
                                              : "without classes");
}
