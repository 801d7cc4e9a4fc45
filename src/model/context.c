/* What a transformer's blocks read at one length: the tables of each recipe, with what the model has learned, and of
 * each attention. */
#include "context.h"

#include <stdlib.h>
#include <string.h>

size_t rs_stack_recipe(const rs_stack *stack) {
  return stack->blocks[0].recipe;
}

/* ---- what recipes have learned ----------------------------------------------------------------------------------- */

static void read_learned(const rs_transformer *t, const rs_tensor *tensor, double *out) {
  size_t count = tensor->rows * tensor->columns;
  for (size_t i = 0; i < count; i++) out[i] = rs_tensor_value(t, tensor, i);
}

/* "bias.table" of the tensor model.positions.0.bias.table */
static const char *learned_name(const rs_tensor *tensor) {
  const char *number = strstr(tensor->name, "positions.") + strlen("positions.");
  return strchr(number, '.') + 1;
}

/* In *which the encoding's array of the tensor's name: RS_NOWHERE where it is of another method than the model was
 * trained with and has none. RS_DOMAIN where it has another shape. */
static rs_status find_learned(const rs_encoding *encoding, const rs_tensor *tensor, size_t *which, rs_err *err) {
  rs_learned learned[RS_LEARNED];
  size_t count = rs_encoding_learned(encoding, learned);
  const char *name = learned_name(tensor);
  *which = RS_NOWHERE;
  for (size_t i = 0; i < count; i++)
    if (strcmp(learned[i].name, name) == 0) *which = i;
  if (*which == RS_NOWHERE) return RS_OK;
  const rs_learned *array = &learned[*which];
  if (array->rows == tensor->rows && array->columns == tensor->columns) return RS_OK;
  return rs_fail(err, RS_DOMAIN,
                 "%s is %zu x %zu, %s as it is here takes %zu x %zu (leave its parameters as they were trained)",
                 tensor->name, tensor->rows, tensor->columns, encoding->method->name, array->rows, array->columns);
}

static rs_status set_learned(const rs_context *context, const rs_stack_context *stack, rs_err *err) {
  const rs_transformer *t = context->transformer;
  for (size_t i = 0; i < t->tensor_count && stack->encodings != NULL; i++) {
    const rs_tensor *tensor = &t->tensors[i];
    if (tensor->init != RS_INIT_LEARNED) continue;
    rs_encoding *encoding = stack->encodings[tensor->recipe];
    size_t which;
    RS_TRY(find_learned(encoding, tensor, &which, err));
    if (which == RS_NOWHERE) continue;
    double *values = rs_alloc(tensor->rows * tensor->columns, sizeof *values, err);
    if (values == NULL) return RS_MEMORY;
    read_learned(t, tensor, values);
    rs_encoding_learned_set(encoding, which, values);
    free(values);
  }
  return RS_OK;
}

static bool has_learned(const rs_transformer *t, size_t recipe, size_t which, const char *name) {
  for (size_t i = 0; i < t->tensor_count; i++) {
    const rs_tensor *tensor = &t->tensors[i];
    if (tensor->init == RS_INIT_LEARNED && tensor->recipe == recipe && tensor->learned == which)
      return strcmp(learned_name(tensor), name) == 0;
  }
  return false;
}

rs_status rs_context_trains(const rs_context *context, rs_err *err) {
  const rs_transformer *t = context->transformer;
  for (size_t r = 0; r < t->recipe_count; r++) {
    rs_learned learned[RS_LEARNED];
    size_t count = rs_encoding_learned(context->decoder.encodings[r], learned);
    for (size_t i = 0; i < count; i++)
      if (!has_learned(t, r, i, learned[i].name))
        return rs_fail(
            err, RS_UNSUPPORTED,
            "%s learns %s, for which the model, made for %s, has no weights: it must be trained with its own "
            "recipes",
            context->recipes[r].method->name, learned[i].name, t->recipes[r].method->name);
  }
  return RS_OK;
}

static rs_status fill_added(const rs_context *context, const rs_stack *shape, rs_stack_context *stack, rs_err *err) {
  if (stack->encodings == NULL) return RS_OK;
  const rs_encoding *encoding = stack->encodings[rs_stack_recipe(shape)];
  if (encoding->method->embed == NULL) return RS_OK;
  size_t d = rs_embedding_width(&context->transformer->shape);
  if (encoding->width != d)
    return rs_fail(err, RS_UNSUPPORTED, "%s adds %zu numbers to tokens of %zu", encoding->method->name, encoding->width,
                   d);
  if (stack->added == NULL) stack->added = rs_alloc(stack->length * d, sizeof *stack->added, err);
  if (stack->added == NULL) return RS_MEMORY;
  return rs_encoding_embed(encoding, 0, stack->length, stack->added, err);
}

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

static void turn_matrix(const rs_context *context, const rs_linear_place *place) {
  const rs_transformer *t = context->transformer;
  const rs_net_kernel *kernel = t->format == RS_F64 ? rs_kernels_get()->net_f64 : rs_kernels_get()->net_f32;
  size_t start = place->weight * kernel->real_bytes;
  if (place->outputs == 0) return;
  kernel->panels((const char *)t->values + start, place->inputs, place->outputs, (char *)context->turned + start);
}

static void turn_experts(const rs_context *context, const rs_block *block, const rs_block_place *place) {
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t e = 0; e < 2 * block->feed_forward.experts.count; e++) turn_matrix(context, &place->experts[e]);
}

/* The matrices of all blocks, side by side. */
static void turn_stack(const rs_context *context, const rs_stack *stack, const rs_stack_place *place) {
  enum { MATRICES = 15 };
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t i = 0; i < MATRICES * stack->count; i++) {
    const rs_block_place *block = &place->blocks[i / MATRICES];
    const rs_linear_place *const matrices[MATRICES] = {&block->attention.qkv,  &block->attention.output,
                                                       &block->cross.q,        &block->cross.kv,
                                                       &block->cross.output,   &block->up,
                                                       &block->down,           &block->router,
                                                       &block->shared_up,      &block->shared_down,
                                                       &block->shared_gate,    &block->attention.q_down,
                                                       &block->attention.q_up, &block->attention.kv_down,
                                                       &block->attention.kv_up};
    turn_matrix(context, matrices[i % MATRICES]);
  }
  for (size_t i = 0; i < stack->count; i++) turn_experts(context, &stack->blocks[i], &place->blocks[i]);
}

/* Products read matrices by rows of inputs, in panels; those of files they turn themselves. */
static void turn_matrices(const rs_context *context) {
  const rs_transformer *t = context->transformer;
  if (t->mapped) return;
  turn_stack(context, &t->shape.encoder, &t->places->encoder);
  turn_stack(context, &t->shape.decoder, &t->places->decoder);
  turn_matrix(context, &t->places->output);
  turn_matrix(context, &t->places->taught_output);
  turn_matrix(context, &t->places->patches);
  turn_matrix(context, &t->places->embedding_projection);
}

rs_status rs_context_refresh(rs_context *context, rs_err *err) {
  const rs_shape *shape = &context->transformer->shape;
  turn_matrices(context);
  RS_TRY(set_learned(context, &context->encoder, err));
  RS_TRY(set_learned(context, &context->decoder, err));
  RS_TRY(fill_added(context, &shape->encoder, &context->encoder, err));
  RS_TRY(fill_added(context, &shape->decoder, &context->decoder, err));
  for (size_t i = 0; i < context->attend_count; i++) rs_attend_refresh(context->attends[i].attend);
  return RS_OK;
}

/* ---- attentions -------------------------------------------------------------------------------------------------- */

static bool same_mask(const rs_mask *a, const rs_mask *b) {
  bool window = a->kind == RS_WINDOW || a->kind == RS_WINDOW_SINKS || a->kind == RS_CHUNKS || a->kind == RS_BAND;
  return a->kind == b->kind && a->ids == b->ids && (!window || a->window == b->window) &&
         (a->kind != RS_WINDOW_SINKS || a->sinks == b->sinks);
}

static bool same_attend(const rs_attend_shape *a, const rs_attend_shape *b) {
  return a->encoding == b->encoding && same_mask(&a->mask, &b->mask) && a->queries == b->queries &&
         a->keys == b->keys && a->heads == b->heads && a->kv_heads == b->kv_heads && a->head_dim == b->head_dim &&
         a->score_scale == b->score_scale && a->soft_cap == b->soft_cap;
}

/* In *index the attention of this shape, which is made where there is none yet. */
static rs_status find_attend(rs_context *context, const rs_attend_shape *shape, size_t recipe, size_t *index,
                             rs_err *err) {
  for (*index = 0; *index < context->attend_count; (*index)++)
    if (same_attend(shape, &context->attends[*index].shape)) return RS_OK;
  RS_TRY(RS_GROW(context->attends, &context->attend_capacity, context->attend_count + 1, err));
  rs_context_attend *fresh = &context->attends[context->attend_count];
  *fresh = (rs_context_attend){.shape = *shape, .recipe = recipe};
  RS_TRY(rs_attend_create(shape, context->transformer->format, &fresh->attend, err));
  context->attend_count++;
  return RS_OK;
}

static rs_attend_shape attend_shape(const rs_block *block, const rs_encoding *encoding, size_t queries, size_t keys) {
  const rs_head_shape *heads = &block->attention;
  return (rs_attend_shape){.encoding = encoding,
                           .mask = block->mask,
                           .queries = queries,
                           .keys = keys,
                           .heads = heads->heads,
                           .kv_heads = heads->kv_heads,
                           .head_dim = heads->head_dim,
                           .score_scale = heads->score_scale,
                           .soft_cap = heads->soft_cap};
}

/* A norm of a head comes to the same before a rotation that leaves lengths as they are, but for its weights. */
static rs_status check_turned_norm(const rs_head_shape *heads, const rs_encoding *encoding, rs_err *err) {
  if (heads->qk_norm_turned && heads->qk_norm.kind != RS_NORM_NONE && encoding->method->vectors != NULL)
    return rs_fail(err, RS_UNSUPPORTED, "norms of q and k behind a rotation, of which %s has none",
                   encoding->method->name);
  bool of_length = heads->qk_norm.kind != RS_NORM_LAYER && heads->qk_span == RS_QK_HEAD;
  bool lengths_stay = encoding->rotary_dim == 0 || (encoding->amp == 1 && encoding->gain_q[0] == NULL);
  if (!heads->qk_norm_turned || heads->qk_norm.kind == RS_NORM_NONE || (of_length && lengths_stay)) return RS_OK;
  return rs_fail(err, RS_UNSUPPORTED,
                 "norms of q and k behind a rotation that changes their lengths, or of more than a head's");
}

static rs_status fill_attends(rs_context *context, const rs_stack *shape, rs_stack_context *stack, rs_err *err) {
  stack->attend = rs_alloc(shape->count, sizeof *stack->attend, err);
  stack->cross = rs_alloc(shape->count, sizeof *stack->cross, err);
  if (stack->attend == NULL || stack->cross == NULL) return RS_MEMORY;
  for (size_t i = 0; i < shape->count; i++) {
    const rs_block *block = &shape->blocks[i];
    rs_attend_shape own = attend_shape(block, stack->encodings[block->recipe], stack->length, stack->length);
    own.mask.ids = stack->ids;
    RS_TRY(check_turned_norm(&block->attention, own.encoding, err));
    RS_TRY(find_attend(context, &own, block->recipe, &stack->attend[i], err));
    stack->cross[i] = RS_NOWHERE;
    if (!block->cross) continue;
    rs_attend_shape cross = attend_shape(block, NULL, stack->length, context->encoder.length);
    cross.mask = (rs_mask){.kind = RS_CROSS};
    RS_TRY(find_attend(context, &cross, RS_NOWHERE, &stack->cross[i], err));
  }
  return RS_OK;
}

/* ---- create and free --------------------------------------------------------------------------------------------- */

static rs_status make_encoding(const rs_context *context, size_t recipe, size_t length, const rs_token_layout *tokens,
                               rs_encoding **encoding, rs_err *err) {
  const rs_model *geometry = &context->transformer->geometry;
  RS_TRY(rs_encoding_create(&context->recipes[recipe], geometry, length, tokens, NULL, encoding, err));
  return rs_encoding_learned_room(*encoding, err);
}

/* Whether ids are of one axis and do not fall: masks go by them. Those of time, row and column choose no keys. */
static bool choose_keys(const double *ids, size_t length) {
  bool chosen = ids != NULL;
  for (size_t n = 0; n < length && chosen; n++) {
    const double *id = ids + n * RS_AXES;
    chosen = id[1] == id[0] && id[2] == id[0] && (n == 0 || id[0] >= id[-RS_AXES]);
  }
  return chosen;
}

static rs_status keep_ids(const rs_token_layout *tokens, rs_stack_context *stack, rs_err *err) {
  if (tokens == NULL) return RS_OK;
  RS_TRY(rs_token_layout_check(tokens, stack->length, err));
  if (!choose_keys(tokens->ids, stack->length)) return RS_OK;
  stack->ids = rs_alloc(stack->length, sizeof *stack->ids, err);
  if (stack->ids == NULL) return RS_MEMORY;
  for (size_t n = 0; n < stack->length; n++) stack->ids[n] = tokens->ids[n * RS_AXES];
  return RS_OK;
}

static rs_status fill_stack(rs_context *context, const rs_stack *shape, size_t length, const rs_token_layout *tokens,
                            rs_stack_context *stack, rs_err *err) {
  const rs_transformer *t = context->transformer;
  stack->length = length;
  RS_TRY(keep_ids(tokens, stack, err));
  stack->encodings = rs_alloc(t->recipe_count, sizeof(rs_encoding *), err);
  if (stack->encodings == NULL) return RS_MEMORY;
  for (size_t r = 0; r < t->recipe_count; r++)
    RS_TRY(make_encoding(context, r, length, tokens, &stack->encodings[r], err));
  for (size_t i = 1; i < shape->count; i++) {
    const rs_method *method = context->recipes[shape->blocks[i].recipe].method;
    if (shape->blocks[i].recipe != rs_stack_recipe(shape) && method->embed != NULL)
      return rs_fail(err, RS_UNSUPPORTED,
                     "%s adds to the tokens, which only the first block reads: it cannot be block "
                     "%zu's alone",
                     method->name, i);
  }
  RS_TRY(set_learned(context, stack, err));
  RS_TRY(fill_added(context, shape, stack, err));
  return fill_attends(context, shape, stack, err);
}

/* `recipes`, which may leave to the pictures what training has fixed; NULL: the model's own. */
static rs_status copy_recipes(rs_context *context, const rs_recipe *recipes, rs_err *err) {
  const rs_transformer *t = context->transformer;
  context->recipes = rs_alloc(t->recipe_count, sizeof *context->recipes, err);
  if (context->recipes == NULL) return RS_MEMORY;
  for (size_t r = 0; r < t->recipe_count; r++) {
    RS_TRY(rs_recipe_copy(&context->recipes[r], recipes != NULL ? &recipes[r] : &t->recipes[r], err));
    RS_TRY(rs_recipe_follow(&context->recipes[r], &t->recipes[r], err));
  }
  return RS_OK;
}

static rs_status fill(rs_context *context, const rs_recipe *recipes, size_t length, size_t source_length,
                      const rs_token_layout *tokens, rs_err *err) {
  const rs_transformer *t = context->transformer;
  if (t->shape.pool == RS_POOL_MEAN && length <= rs_shape_lead(&t->shape))
    return rs_fail(err, RS_DOMAIN, "%zu token%s: none behind the class token to take the mean of", length,
                   length == 1 ? "" : "s");
  if (!t->mapped) context->turned = rs_room(t->size, rs_format_bytes(t->format), "turned matrices", err);
  if (!t->mapped && context->turned == NULL) return RS_MEMORY;
  turn_matrices(context);
  RS_TRY(copy_recipes(context, recipes, err));
  if (t->shape.encoder.count > 0)
    RS_TRY(fill_stack(context, &t->shape.encoder, source_length, NULL, &context->encoder, err));
  return fill_stack(context, &t->shape.decoder, length, tokens, &context->decoder, err);
}

rs_status rs_context_create(const rs_transformer *transformer, const rs_recipe *recipes, size_t length,
                            size_t source_length, const rs_token_layout *tokens, rs_context **context, rs_err *err) {
  *context = NULL;
  rs_context *fresh = rs_alloc(1, sizeof *fresh, err);
  if (fresh == NULL) return RS_MEMORY;
  fresh->transformer = transformer;
  rs_status status = fill(fresh, recipes, length, source_length, tokens, err);
  if (status == RS_OK)
    *context = fresh;
  else
    rs_context_free(fresh);
  return status;
}

const rs_encoding *rs_context_encoding(const rs_context *context) {
  return context->decoder.encodings[0];
}

const rs_encoding *rs_context_block_encoding(const rs_context *context, size_t block) {
  return context->decoder.encodings[context->transformer->shape.decoder.blocks[block].recipe];
}

/* ---- random positions -------------------------------------------------------------------------------------------- */

/* Puts a new encoding in the place of the old, in its attentions, too. */
static rs_status replace_encoding(rs_context *context, size_t recipe, rs_encoding **encoding, rs_err *err) {
  rs_encoding *old = *encoding, *fresh = NULL;
  rs_status status = make_encoding(context, recipe, old->length, &old->tokens, &fresh, err);
  for (size_t i = 0; i < context->attend_count && status == RS_OK; i++) {
    rs_context_attend *held = &context->attends[i];
    rs_attend *attend;
    if (held->shape.encoding != old) continue;
    held->shape.encoding = fresh;
    status = rs_attend_create(&held->shape, context->transformer->format, &attend, err);
    if (status != RS_OK) break;
    rs_attend_free(held->attend);
    held->attend = attend;
  }
  if (fresh == NULL) return status;
  *encoding = fresh; /* some attention may have it already */
  rs_encoding_free(old);
  return status;
}

rs_status rs_context_redraw(rs_context *context, uint64_t seed, rs_err *err) {
  rs_stack_context *stacks[] = {&context->encoder, &context->decoder};
  const uint64_t largest = ((uint64_t)1 << 53) - 1; /* of the whole numbers that a parameter holds */
  bool drawn = false;
  for (size_t r = 0; r < context->transformer->recipe_count; r++) {
    const char *parameter = context->recipes[r].method->pos->seed;
    if (parameter == NULL) continue;
    drawn = true;
    RS_TRY(rs_recipe_set_number(&context->recipes[r], parameter, (double)(seed & largest), err));
    for (size_t s = 0; s < RS_COUNT(stacks); s++)
      if (stacks[s]->encodings != NULL) RS_TRY(replace_encoding(context, r, &stacks[s]->encodings[r], err));
  }
  return drawn ? rs_context_refresh(context, err) : RS_OK;
}

static void clear_stack(rs_stack_context *stack, size_t recipes) {
  for (size_t r = 0; r < recipes && stack->encodings != NULL; r++) rs_encoding_free(stack->encodings[r]);
  free(stack->encodings);
  free(stack->ids);
  free(stack->attend);
  free(stack->cross);
  free(stack->added);
}

void rs_context_free(rs_context *context) {
  if (context == NULL) return;
  size_t recipes = context->transformer->recipe_count;
  for (size_t i = 0; i < context->attend_count; i++) rs_attend_free(context->attends[i].attend);
  free(context->attends);
  free(context->turned);
  clear_stack(&context->encoder, recipes);
  clear_stack(&context->decoder, recipes);
  for (size_t r = 0; r < recipes && context->recipes != NULL; r++) rs_recipe_clear(&context->recipes[r]);
  free(context->recipes);
  free(context);
}
