/* The transformer of 2017, with norms of sums and none at the end, against torch's: logits of every target token, and
 * the gradient of the mean loss by every weight, in double precision (original/outputs.py). */
#include "../fixtures/made_weights.h"
#include "../fixtures/scratch.h"
#include "model/model.h"

#include <math.h>

enum { BLOCKS = 2, WIDTH = 16, HEADS = 2, INNER = 24, WORDS = 13, SOURCE = 7, TARGET = 9, SIGNS = 4 };

static rs_transformer *create(void) {
  const rs_norm layer = {.kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-5};
  const rs_head_shape heads = {
      .heads = HEADS, .kv_heads = HEADS, .head_dim = WIDTH / HEADS, .qkv_bias = true, .output_bias = true};
  rs_block encoder[BLOCKS], decoder[BLOCKS];
  for (size_t i = 0; i < BLOCKS; i++) {
    encoder[i] = (rs_block){.after_attention = layer,
                            .after_feed_forward = layer,
                            .norm_sums = true,
                            .attention = heads,
                            .feed_forward = {.width = INNER, .activation = RS_RELU, .bias = true},
                            .mask = {.kind = RS_BIDIRECTIONAL}};
    decoder[i] = encoder[i];
    decoder[i].mask.kind = RS_CAUSAL;
    decoder[i].cross = true;
    decoder[i].after_cross = layer;
  }
  const rs_shape shape = {.form = RS_ENCODER_DECODER,
                          .width = WIDTH,
                          .vocabulary = WORDS,
                          .classes = WORDS,
                          .embedding_scale = sqrt(WIDTH),
                          .output_scale = 1,
                          .tied = true,
                          .encoder = {encoder, BLOCKS, {0}},
                          .decoder = {decoder, BLOCKS, {0}}};
  const rs_model geometry = {.name = "original",
                             .heads = HEADS,
                             .head_dim = WIDTH / HEADS,
                             .rotary_dim = WIDTH / HEADS,
                             .rope_theta = 10000,
                             .train_length = TARGET,
                             .max_length = TARGET};
  rs_recipe recipe;
  rs_transformer *transformer;
  rs_err err = {0};
  cr_assert_eq(rs_recipe_init(&recipe, rs_method_find("sinusoidal"), &err), RS_OK);
  cr_assert_eq(rs_recipe_resolve(&recipe, &geometry, &err), RS_OK, "%s", err.message);
  const rs_transformer_in in = {
      .shape = &shape, .geometry = &geometry, .recipes = &recipe, .recipe_count = 1, .format = RS_F64};
  cr_assert_eq(rs_transformer_create(&in, &transformer, &err), RS_OK, "%s", err.message);
  rs_recipe_clear(&recipe);
  return transformer;
}

/* ---- their names ------------------------------------------------------------------------------------------------- */

/* Where one of our tensors begins in theirs, which holds q, k and v one after the other. */
typedef struct origin {
  char name[80];
  size_t first;
} origin;

static origin origin_of(const rs_tensor *tensor) {
  static const struct {
    const char *ours, *theirs;
    size_t third;
  } parts[] = {{"self_attn.q_proj.", "self_attn.in_proj_", 0},
               {"self_attn.k_proj.", "self_attn.in_proj_", 1},
               {"self_attn.v_proj.", "self_attn.in_proj_", 2},
               {"self_attn.o_proj.", "self_attn.out_proj.", 0},
               {"cross_attn.q_proj.", "multihead_attn.in_proj_", 0},
               {"cross_attn.k_proj.", "multihead_attn.in_proj_", 1},
               {"cross_attn.v_proj.", "multihead_attn.in_proj_", 2},
               {"cross_attn.o_proj.", "multihead_attn.out_proj.", 0},
               {"post_attention_layernorm.", "norm1.", 0},
               {"post_cross_attention_layernorm.", "norm2.", 0},
               {"mlp.up_proj.", "linear1.", 0},
               {"mlp.down_proj.", "linear2.", 0}};
  bool encoder = strncmp(tensor->name, "model.encoder.", 14) == 0;
  const char *stack = encoder ? "encoder" : "decoder",
             *layer = tensor->name + strlen(encoder ? "model.encoder." : "model.");
  origin s = {.name = "embedding.weight"};
  if (strncmp(layer, "layers.", 7) != 0) return s;
  const char *part = layer + strlen("layers.0."), *kind = strrchr(part, '.') + 1;
  size_t length = (size_t)(kind - part);
  if (strncmp(part, "post_feedforward_layernorm.", length) == 0)
    snprintf(s.name, sizeof s.name, "%s.layers.%c.%s.%s", stack, layer[7], encoder ? "norm2" : "norm3", kind);
  for (size_t i = 0; i < RS_COUNT(parts); i++)
    if (strncmp(part, parts[i].ours, length) == 0 && strlen(parts[i].ours) == length) {
      snprintf(s.name, sizeof s.name, "%s.layers.%c.%s%s", stack, layer[7], parts[i].theirs, kind);
      s.first = parts[i].third * tensor->rows * tensor->columns;
    }
  return s;
}

/* Weights of theirs become ours. */
static void take(const rs_transformer *t, const rs_safetensors *tensors) {
  for (size_t k = 0; k < t->tensor_count; k++) {
    const rs_tensor *tensor = &t->tensors[k];
    origin from = origin_of(tensor);
    const rs_stored_tensor *stored = rs_safetensors_find(tensors, from.name);
    cr_assert_not_null(stored, "%s: %s", tensor->name, from.name);
    size_t count = tensor->rows * tensor->columns;
    cr_assert_leq(from.first + count, stored->count, "%s", tensor->name);
    cr_assert_eq(rs_stored_doubles(stored, from.first, count, (double *)t->values + tensor->offset, NULL), RS_OK);
  }
}

/* The gradient by a tensor of theirs; *found numbers of it are ours. */
static double *gather(const rs_transformer *t, const double *gradient, const char *name, size_t room, size_t *found) {
  double *all = calloc(room, sizeof *all);
  *found = 0;
  for (size_t k = 0; k < t->tensor_count; k++) {
    const rs_tensor *tensor = &t->tensors[k];
    origin from = origin_of(tensor);
    size_t count = tensor->rows * tensor->columns;
    if (strcmp(from.name, name) != 0) continue;
    memcpy(all + from.first, gradient + tensor->offset, count * sizeof *all);
    *found += count;
  }
  return all;
}

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

static void compare_logits(const rs_table *wanted, const double *logits) {
  cr_assert_eq(wanted->rows, TARGET);
  for (size_t i = 0; i < TARGET * WORDS; i++) {
    char column[8];
    snprintf(column, sizeof column, "n%zu", i % WORDS);
    double number = golden_number(wanted, i / WORDS, column);
    cr_expect(fabs(logits[i] - number) <= 1e-13, "position %zu, %s: %.15g, not %.15g", i / WORDS, column, logits[i],
              number);
  }
}

/* gradients.csv has the length of each, and its products with vectors of signs. */
static void compare_gradient(const rs_table *wanted, size_t row, const double *ours, size_t count) {
  const char *tensor = golden_text(wanted, row, "tensor");
  double length = 0, products[SIGNS] = {0}, most = golden_number(wanted, row, "length"), limit = 1e-13 * (most + 0.1);
  uint64_t state = hash_of(tensor);
  for (size_t i = 0; i < count; i++) {
    uint64_t bits = draw_bits(&state);
    for (size_t k = 0; k < SIGNS; k++) products[k] += bits >> k & 1 ? -ours[i] : ours[i];
    length = hypot(length, ours[i]);
  }
  cr_expect(fabs(length - most) <= limit, "the gradient by %s is %.15g long, not %.15g", tensor, length, most);
  for (size_t k = 0; k < SIGNS; k++) {
    char column[16];
    snprintf(column, sizeof column, "product%zu", k);
    double product = golden_number(wanted, row, column);
    cr_expect(fabs(products[k] - product) <= limit, "the gradient by %s: %.15g, not %.15g", tensor, products[k],
              product);
  }
}

Test(golden, original__same_logits_and_gradients) {
  rs_table *tensors = golden_read("original/tensors.csv"), *logits = golden_read("original/logits.csv");
  rs_table *gradients = golden_read("original/gradients.csv");
  int32_t tokens[TARGET], source[SOURCE], targets[TARGET];
  static double said[TARGET * WORDS];
  rs_transformer *t = create();
  double *gradient = calloc(t->size, sizeof *gradient);
  rs_context *context;
  rs_pass *pass;
  rs_err err = {0};
  size_t count;
  enter_scratch();
  make_weights(tensors, 0, tensors->rows);
  rs_safetensors *weights = map_tensors("model.safetensors");
  take(t, weights);
  for (int32_t i = 0; i < SOURCE; i++) source[i] = (5 * i * i + 2 * i + 1) % WORDS;
  for (int32_t i = 0; i < TARGET; i++) tokens[i] = (7 * i * i + 3 * i + 5) % WORDS;
  for (size_t i = 0; i < TARGET; i++) targets[i] = i + 1 < TARGET ? tokens[i + 1] : RS_NO_TARGET;
  cr_assert_eq(rs_context_create(t, NULL, TARGET, SOURCE, NULL, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_pass_create(context, 1, true, &pass, &err), RS_OK, "%s", err.message);
  const rs_batch batch = {.sequences = 1, .tokens = tokens, .source = source, .targets = targets};
  rs_forward(pass, &batch, &(rs_pass_out){.logits = said});
  compare_logits(logits, said);
  (void)rs_backward(pass, &batch, 1.0 / (TARGET - 1), gradient, &count);
  cr_assert_eq(count, TARGET - 1);
  cr_assert_eq(gradients->rows, tensors->rows);
  for (size_t row = 0; row < gradients->rows; row++) {
    const rs_stored_tensor *stored = rs_safetensors_find(weights, golden_text(gradients, row, "tensor"));
    size_t found;
    double *ours = gather(t, gradient, golden_text(gradients, row, "tensor"), stored->count, &found);
    cr_expect_eq(found, stored->count, "%s", golden_text(gradients, row, "tensor"));
    compare_gradient(gradients, row, ours, stored->count);
    free(ours);
  }
  rs_pass_free(pass);
  rs_context_free(context);
  rs_transformer_free(t);
  rs_safetensors_free(weights);
  rs_table_free(tensors);
  rs_table_free(logits);
  rs_table_free(gradients);
  free(gradient);
  cr_assert_eq(remove("model.safetensors"), 0);
  leaves(NULL, 0);
}
