/* The list of a transformer's weights. Names are those of Hugging Face's Llama, and of Gemma-2 where blocks have norms
 * behind their parts. */
#include "context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The list that grows, and the name of what is added to. */
typedef struct list {
  rs_transformer *transformer;
  size_t capacity;
  char prefix[48]; /* "model.layers.0." */
  rs_status status;
  rs_err *err;
} list;

static const size_t most_numbers = SIZE_MAX >> 8; /* so many bytes can still be counted */
static const double embedding_sd = 0.5;           /* of the recipe that small models were tried with */

/* Numbers begin at multiples of 16, a cache line of floats, unless they are part of one matrix. */
static size_t aligned(size_t offset) {
  return (offset + 15) / 16 * 16;
}

/* Adds one tensor, named by prefix and `name`; returns its offset. */
static size_t add(list *l, const char *name, rs_tensor tensor) {
  rs_transformer *t = l->transformer;
  if (l->status == RS_OK) l->status = RS_GROW(t->tensors, &l->capacity, t->tensor_count + 1, l->err);
  if (l->status == RS_OK && (tensor.columns > 0 && tensor.rows > (most_numbers - t->size) / tensor.columns))
    l->status = rs_fail(l->err, RS_MEMORY, "%s%s: %zu x %zu numbers are too many", l->prefix, name, tensor.rows,
                        tensor.columns);
  if (l->status != RS_OK) return RS_NOWHERE;
  bool outside = t->mapped && !tensor.vector && tensor.init == RS_INIT_GAUSSIAN;
  snprintf(tensor.name, sizeof tensor.name, "%s%s", l->prefix, name);
  tensor.offset = outside ? RS_NOWHERE : t->size;
  t->size += outside ? 0 : tensor.rows * tensor.columns;
  t->tensors[t->tensor_count++] = tensor;
  return tensor.offset;
}

static void align(list *l) {
  l->transformer->size = aligned(l->transformer->size);
}

static size_t add_vector(list *l, const char *name, size_t count, rs_init init) {
  align(l);
  return add(l, name, (rs_tensor){.rows = 1, .columns = count, .vector = true, .init = init});
}

static size_t add_matrix(list *l, const char *name, size_t rows, size_t columns, double sd) {
  return add(l, name,
             (rs_tensor){.rows = rows, .columns = columns, .init = RS_INIT_GAUSSIAN, .init_sd = sd, .decays = true});
}

static rs_norm_place add_norm(list *l, const char *name, const rs_norm *norm, size_t width) {
  char full[64];
  rs_norm_place place = {RS_NOWHERE, RS_NOWHERE, 0};
  if (norm->kind == RS_NORM_NONE || norm->kind == RS_NORM_L2) return place;
  snprintf(full, sizeof full, "%s.weight", name);
  place.weight = add_vector(l, full, width, norm->around_one ? RS_INIT_ZERO : RS_INIT_ONE);
  snprintf(full, sizeof full, "%s.bias", name);
  if (norm->kind == RS_NORM_LAYER && norm->bias) place.bias = add_vector(l, full, width, RS_INIT_ZERO);
  return place;
}

/* Of q or k. */
static rs_norm_place add_head_norm(list *l, const char *name, const rs_head_shape *shape, size_t heads) {
  size_t dims = shape->head_dim;
  rs_norm_place place = add_norm(l, name, &shape->qk_norm, shape->qk_span == RS_QK_HEAD ? dims : heads * dims);
  place.part_step = shape->qk_span == RS_QK_OWN_HEAD ? dims : 0;
  return place;
}

/* Matrices of the same inputs that are read as one, and their biases likewise. */
typedef struct part {
  const char *name;
  size_t outputs;
} part;

static rs_linear_place add_linear(list *l, const part *parts, size_t count, size_t inputs, double sd, bool bias) {
  char name[64];
  rs_linear_place place = {.weight = RS_NOWHERE, .bias = RS_NOWHERE, .inputs = inputs};
  align(l);
  place.first = l->transformer->tensor_count;
  place.parts = count;
  for (size_t i = 0; i < count; i++) {
    snprintf(name, sizeof name, "%s.weight", parts[i].name);
    size_t offset = add_matrix(l, name, parts[i].outputs, inputs, sd);
    if (i == 0) place.weight = offset;
    place.outputs += parts[i].outputs;
  }
  align(l);
  for (size_t i = 0; i < count && bias; i++) {
    snprintf(name, sizeof name, "%s.bias", parts[i].name);
    size_t offset =
        add(l, name, (rs_tensor){.rows = 1, .columns = parts[i].outputs, .vector = true, .init = RS_INIT_ZERO});
    if (i == 0) place.bias = offset;
  }
  return place;
}

/* What q, k and v are made by where that is by way of narrow layers. */
static void add_latent(list *l, const char *name, const rs_head_shape *heads, size_t width, rs_attention_place *place) {
  enum { Q_DOWN, Q_NORM, Q_UP, KV_DOWN, KV_NORM, KV_UP, PARTS };
  const rs_latent *latent = &heads->latent;
  const char *const ends[PARTS] = {"q_a_proj",           "q_a_layernorm",  latent->q_rank > 0 ? "q_b_proj" : "q_proj",
                                   "kv_a_proj_with_mqa", "kv_a_layernorm", "kv_b_proj"};
  char names[PARTS][48];
  for (size_t i = 0; i < PARTS; i++) snprintf(names[i], sizeof names[i], "%s.%s", name, ends[i]);
  double sd = 1 / sqrt((double)width), narrow_sd = 1 / sqrt((double)latent->kv_rank);
  part q_down = {names[Q_DOWN], latent->q_rank}, q_up = {names[Q_UP], heads->heads * heads->head_dim};
  part kv_down = {names[KV_DOWN], latent->kv_rank + latent->turned};
  part kv_up = {names[KV_UP], heads->heads * (heads->head_dim - latent->turned + latent->value_dim)};
  if (latent->q_rank > 0) {
    place->q_down = add_linear(l, &q_down, 1, width, sd, heads->qkv_bias);
    place->q_latent = add_norm(l, names[Q_NORM], &latent->norm, latent->q_rank);
  }
  place->q_up = add_linear(l, &q_up, 1, latent->q_rank > 0 ? latent->q_rank : width, narrow_sd, false);
  place->kv_down = add_linear(l, &kv_down, 1, width, sd, heads->qkv_bias);
  place->kv_latent = add_norm(l, names[KV_NORM], &latent->norm, latent->kv_rank);
  place->kv_up = add_linear(l, &kv_up, 1, latent->kv_rank, narrow_sd, false);
}

/* q, k and v of one sequence, or, across sequences, q apart from k and v. */
static rs_attention_place add_attention(list *l, const char *name, const rs_head_shape *heads, size_t width,
                                        bool cross) {
  char q[32], k[32], v[32], o[32], qn[32], kn[32], sinks[32];
  snprintf(q, sizeof q, "%s.q_proj", name);
  snprintf(k, sizeof k, "%s.k_proj", name);
  snprintf(v, sizeof v, "%s.v_proj", name);
  snprintf(o, sizeof o, "%s.o_proj", name);
  snprintf(qn, sizeof qn, "%s.q_norm", name);
  snprintf(kn, sizeof kn, "%s.k_norm", name);
  snprintf(sinks, sizeof sinks, "%s.sinks", name);
  size_t queries = heads->heads * heads->head_dim, keys = heads->kv_heads * heads->head_dim;
  double sd = 1 / sqrt((double)width);
  part parts[] = {{q, queries}, {k, keys}, {v, keys}}, output = {o, width};
  rs_attention_place place = {.sinks = RS_NOWHERE};
  bool latent = heads->latent.kv_rank > 0 && !cross;
  if (latent) {
    add_latent(l, name, heads, width, &place);
  } else if (cross) {
    place.q = add_linear(l, parts, 1, width, sd, heads->qkv_bias);
    place.kv = add_linear(l, parts + 1, 2, width, sd, heads->qkv_bias);
  } else {
    place.qkv = add_linear(l, parts, 3, width, sd, heads->qkv_bias);
  }
  place.q_norm = add_head_norm(l, qn, heads, heads->heads);
  place.k_norm = add_head_norm(l, kn, heads, heads->kv_heads);
  if (heads->sinks && !cross) place.sinks = add_vector(l, sinks, heads->heads, RS_INIT_ZERO);
  size_t values = latent ? heads->heads * heads->latent.value_dim : queries;
  place.output = add_linear(l, &output, 1, values, sd / 2, heads->output_bias);
  return place;
}

/* The matrices of all experts, one after the other. */
static void add_experts(list *l, const rs_feed_forward *ff, size_t width, rs_block_place *place) {
  double sd = 1 / sqrt((double)width);
  part router = {"mlp.router", ff->experts.count}, gate = {"mlp.shared_expert_gate", 1};
  place->experts = rs_alloc(2 * ff->experts.count, sizeof *place->experts, l->err);
  if (place->experts == NULL) l->status = RS_MEMORY;
  place->router = add_linear(l, &router, 1, width, sd, ff->experts.router_bias);
  if (ff->experts.steered) place->steering = add_vector(l, "mlp.router.steering", ff->experts.count, RS_INIT_ZERO);
  if (ff->experts.shared > 0) {
    part up[] = {{"mlp.shared_experts.gate_proj", ff->experts.shared},
                 {"mlp.shared_experts.up_proj", ff->experts.shared}};
    part down = {"mlp.shared_experts.down_proj", width};
    place->shared_up = add_linear(l, up, 2, width, sd, ff->bias);
    place->shared_down = add_linear(l, &down, 1, ff->experts.shared, sd / 2, ff->bias);
  }
  if (ff->experts.shared_gated) place->shared_gate = add_linear(l, &gate, 1, width, sd, false);
  for (size_t e = 0; e < ff->experts.count && l->status == RS_OK; e++) {
    char names[3][48];
    snprintf(names[0], sizeof names[0], "mlp.experts.%zu.gate_proj", e);
    snprintf(names[1], sizeof names[1], "mlp.experts.%zu.up_proj", e);
    snprintf(names[2], sizeof names[2], "mlp.experts.%zu.down_proj", e);
    part up[] = {{names[0], ff->width}, {names[1], ff->width}}, down = {names[2], width};
    place->experts[2 * e] = add_linear(l, up, 2, width, sd, ff->bias);
    place->experts[2 * e + 1] = add_linear(l, &down, 1, ff->width, sd / 2, ff->bias);
  }
}

static rs_block_place add_block(list *l, const rs_block *block, size_t width) {
  rs_block_place place = {0};
  const rs_feed_forward *ff = &block->feed_forward;
  bool behind = block->after_attention.kind != RS_NORM_NONE || block->after_feed_forward.kind != RS_NORM_NONE;
  double sd = 1 / sqrt((double)width);
  part up[] = {{"mlp.gate_proj", ff->width}, {"mlp.up_proj", ff->width}}, down = {"mlp.down_proj", width};
  place.before_attention = add_norm(l, "input_layernorm", &block->before_attention, width);
  place.attention = add_attention(l, "self_attn", &block->attention, width, false);
  place.after_attention = add_norm(l, "post_attention_layernorm", &block->after_attention, width);
  place.before_cross = add_norm(l, "cross_attention_layernorm", &block->before_cross, width);
  if (block->cross) place.cross = add_attention(l, "cross_attn", &block->attention, width, true);
  place.after_cross = add_norm(l, "post_cross_attention_layernorm", &block->after_cross, width);
  place.before_feed_forward = add_norm(l, behind ? "pre_feedforward_layernorm" : "post_attention_layernorm",
                                       &block->before_feed_forward, width);
  if (ff->experts.count > 0) {
    add_experts(l, ff, width, &place);
  } else {
    place.up = add_linear(l, ff->gated ? up : up + 1, ff->gated ? 2 : 1, width, sd, ff->bias);
    place.down = add_linear(l, &down, 1, ff->width, sd / 2, ff->bias);
  }
  if (ff->learned_curve) place.curve = add_vector(l, "mlp.curve", 4, RS_INIT_ONE);
  place.after_feed_forward = add_norm(l, "post_feedforward_layernorm", &block->after_feed_forward, width);
  return place;
}

static void add_stack(list *l, const char *prefix, const rs_stack *stack, size_t width, rs_stack_place *place) {
  if (stack->count == 0) return;
  place->blocks = rs_alloc(stack->count, sizeof *place->blocks, l->err);
  if (place->blocks == NULL) l->status = RS_MEMORY;
  for (size_t i = 0; i < stack->count && l->status == RS_OK; i++, place->count++) {
    snprintf(l->prefix, sizeof l->prefix, "%slayers.%zu.", prefix, i);
    place->blocks[i] = add_block(l, &stack->blocks[i], width);
  }
  snprintf(l->prefix, sizeof l->prefix, "%s", prefix);
  place->final_norm = add_norm(l, "norm", &stack->final_norm, width);
}

/* Layers that have a recipe share what its stages learn, as T5's and FIRE's do. */
rs_status rs_places_learned(rs_transformer *transformer, rs_encoding *const *encodings, rs_err *err) {
  list l = {.transformer = transformer, .capacity = transformer->tensor_count, .err = err};
  for (size_t r = 0; r < transformer->recipe_count; r++) {
    rs_learned learned[RS_LEARNED];
    size_t count = rs_encoding_learned(encodings[r], learned);
    snprintf(l.prefix, sizeof l.prefix, "model.positions.%zu.", r);
    for (size_t i = 0; i < count; i++) {
      bool vector = learned[i].rows == 1;
      align(&l);
      (void)add(&l, learned[i].name,
                (rs_tensor){.rows = learned[i].rows,
                            .columns = learned[i].columns,
                            .vector = vector,
                            .init = RS_INIT_LEARNED,
                            .recipe = r,
                            .learned = i});
    }
  }
  align(&l);
  return l.status;
}

size_t rs_embedding_width(const rs_shape *shape) {
  return shape->embedding_width > 0 ? shape->embedding_width : shape->width;
}

rs_status rs_places_make(rs_transformer *transformer, rs_err *err) {
  const rs_shape *shape = &transformer->shape;
  size_t d = shape->width, e = rs_embedding_width(shape), table = RS_NOWHERE;
  list l = {.transformer = transformer, .prefix = "model.", .err = err};
  rs_places *p = transformer->places = rs_alloc(1, sizeof *p, err);
  if (p == NULL) return RS_MEMORY;
  part patches = {"patch_embed", d}, projection = {"embed_proj", d}, output = {"lm_head", shape->classes};
  part taught = {"distillation_head", shape->classes};
  p->class_token = RS_NOWHERE;
  if (shape->form == RS_VISION) {
    p->patches = add_linear(&l, &patches, 1, shape->patch_numbers, 1 / sqrt((double)shape->patch_numbers), true);
    const rs_tensor token = {
        .rows = 1, .columns = d, .vector = true, .init = RS_INIT_GAUSSIAN, .init_sd = embedding_sd};
    if (!shape->patches_alone) p->class_token = add(&l, "class_token", token);
    if (shape->distillation_token) p->distillation_token = add(&l, "distillation_token", token);
  } else {
    p->embeddings = transformer->tensor_count;
    table = add_matrix(&l, "embed_tokens.weight", shape->vocabulary, e, embedding_sd);
  }
  p->token_types = transformer->tensor_count;
  if (shape->token_types > 0) (void)add_matrix(&l, "token_type_embeddings.weight", shape->token_types, e, embedding_sd);
  p->padding_position = transformer->tensor_count;
  if (shape->leaves_padding) (void)add_matrix(&l, "padding_position", 1, e, embedding_sd);
  p->embedding_norm = add_norm(&l, "embedding_norm", &shape->embedding_norm, e);
  if (shape->embedding_width > 0)
    p->embedding_projection = add_linear(&l, &projection, 1, e, 1 / sqrt((double)e), true);
  add_stack(&l, "model.encoder.", &shape->encoder, d, &p->encoder);
  add_stack(&l, "model.", &shape->decoder, d, &p->decoder);
  l.prefix[0] = '\0';
  p->output = (rs_linear_place){.weight = RS_NOWHERE, .bias = RS_NOWHERE};
  if (shape->tied)
    p->output = (rs_linear_place){table, RS_NOWHERE, shape->classes, d, p->embeddings, 1};
  else if (shape->classes > 0)
    p->output = add_linear(&l, &output, 1, d, 1 / sqrt((double)d), shape->output_bias);
  if (shape->prediction != RS_PREDICTS_CLASS)
    p->taught_output = add_linear(&l, &taught, 1, d, 1 / sqrt((double)d), shape->output_bias);
  align(&l);
  return l.status;
}

rs_stored_shape rs_tensor_shape(const rs_tensor *tensor) {
  if (tensor->vector) return (rs_stored_shape){1, {tensor->columns}};
  return (rs_stored_shape){2, {tensor->rows, tensor->columns}};
}

static void free_stack(rs_stack_place *place) {
  for (size_t i = 0; i < place->count; i++) free(place->blocks[i].experts);
  free(place->blocks);
}

void rs_places_free(rs_places *places) {
  if (places == NULL) return;
  free_stack(&places->encoder);
  free_stack(&places->decoder);
  free(places);
}

const rs_tensor *rs_transformer_tensor(const rs_transformer *transformer, const char *name) {
  for (size_t i = 0; i < transformer->tensor_count; i++)
    if (strcmp(transformer->tensors[i].name, name) == 0) return &transformer->tensors[i];
  return NULL;
}
