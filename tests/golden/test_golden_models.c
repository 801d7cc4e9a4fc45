/* Whole models against the field's own code: logits of every token, and the gradient of the mean loss by every weight,
 * of a Llama (grouped keys, gated feed-forward, heads wider than the model) and of a GPT-2 (learned positions, layer
 * norms, biases, tied output, matrices stored turned). References are in double precision. */
#include "../fixtures/made_weights.h"
#include "../fixtures/models.h"
#include "model/model.h"

#include <math.h>

enum { BLOCKS = 2, TOKENS = 64, CLASSES = 97, WIDTH = 32 };

static double *numbers(const char *model, const char *file, size_t wanted) {
  double *list;
  size_t count;
  rs_err err = {0};
  char path[64];
  snprintf(path, sizeof path, "%s/%s", model, file);
  cr_assert_eq(rs_numbers_read(model_path(path), &list, &count, &err), RS_OK, "%s", err.message);
  cr_assert_eq(count, wanted);
  return list;
}

/* ---- the two models ---------------------------------------------------------------------------------------------- */

/* Where one of our tensors stands in theirs. */
typedef struct source {
  char name[80];
  size_t first; /* column or row that ours begins at: theirs may hold several of ours side by side */
  bool turned;  /* theirs is (inputs, outputs) */
} source;

static rs_transformer *create(const rs_shape *shape, const rs_model *geometry, const char *method) {
  rs_recipe recipe;
  rs_transformer *transformer;
  rs_err err = {0};
  cr_assert_eq(rs_recipe_init(&recipe, rs_method_find(method), &err), RS_OK);
  cr_assert_eq(rs_recipe_resolve(&recipe, geometry, &err), RS_OK, "%s", err.message);
  const rs_transformer_in in = {
      .shape = shape, .geometry = geometry, .recipes = &recipe, .recipe_count = 1, .format = RS_F64};
  cr_assert_eq(rs_transformer_create(&in, &transformer, &err), RS_OK, "%s", err.message);
  rs_recipe_clear(&recipe);
  return transformer;
}

static rs_transformer *llama(void) {
  const rs_norm rms = {.kind = RS_NORM_RMS, .epsilon = 1e-5};
  rs_block blocks[BLOCKS];
  for (size_t i = 0; i < BLOCKS; i++)
    blocks[i] = (rs_block){.before_attention = rms,
                           .before_feed_forward = rms,
                           .attention = {.heads = 4, .kv_heads = 2, .head_dim = 16},
                           .feed_forward = {.width = 40, .activation = RS_SILU, .gated = true},
                           .mask = {.kind = RS_CAUSAL}};
  const rs_shape shape = {.form = RS_DECODER,
                          .width = WIDTH,
                          .vocabulary = CLASSES,
                          .classes = CLASSES,
                          .embedding_scale = 1,
                          .output_scale = 1,
                          .decoder = {blocks, BLOCKS, rms}};
  const rs_model geometry = {.name = "llama",
                             .heads = 4,
                             .head_dim = 16,
                             .rotary_dim = 16,
                             .rope_theta = 10000,
                             .train_length = 128,
                             .max_length = 128};
  return create(&shape, &geometry, "rope");
}

static rs_transformer *gpt2(void) {
  const rs_norm layer = {.kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-5};
  rs_block blocks[BLOCKS];
  for (size_t i = 0; i < BLOCKS; i++)
    blocks[i] =
        (rs_block){.before_attention = layer,
                   .before_feed_forward = layer,
                   .attention = {.heads = 4, .kv_heads = 4, .head_dim = 8, .qkv_bias = true, .output_bias = true},
                   .feed_forward = {.width = 64, .activation = RS_GELU_TANH, .bias = true},
                   .mask = {.kind = RS_CAUSAL}};
  const rs_shape shape = {.form = RS_DECODER,
                          .width = WIDTH,
                          .vocabulary = CLASSES,
                          .classes = CLASSES,
                          .embedding_scale = 1,
                          .output_scale = 1,
                          .tied = true,
                          .decoder = {blocks, BLOCKS, layer}};
  const rs_model geometry = {.name = "gpt2",
                             .heads = 4,
                             .head_dim = 8,
                             .rotary_dim = 8,
                             .rope_theta = 10000,
                             .train_length = 72,
                             .max_length = 72};
  return create(&shape, &geometry, "learned");
}

typedef source name_rule(const rs_tensor *tensor);

static source same_name(const rs_tensor *tensor) {
  source s = {.first = 0};
  snprintf(s.name, sizeof s.name, "%.79s", tensor->name);
  return s;
}

/* GPT-2's names. */
static source gpt2_source(const rs_tensor *tensor) {
  static const struct {
    const char *ours, *theirs;
    size_t first;
  } parts[] = {{"input_layernorm", "ln_1", 0},
               {"post_attention_layernorm", "ln_2", 0},
               {"self_attn.q_proj", "attn.c_attn", 0},
               {"self_attn.k_proj", "attn.c_attn", WIDTH},
               {"self_attn.v_proj", "attn.c_attn", 2 * WIDTH},
               {"self_attn.o_proj", "attn.c_proj", 0},
               {"mlp.up_proj", "mlp.c_fc", 0},
               {"mlp.down_proj", "mlp.c_proj", 0}};
  source s = {.first = 0};
  char block[8], part[40], kind[8];
  if (sscanf(tensor->name, "model.layers.%7[0-9].%39s", block, part) == 2) {
    char *dot = strrchr(part, '.');
    snprintf(kind, sizeof kind, "%s", dot + 1);
    *dot = '\0';
    for (size_t i = 0; i < RS_COUNT(parts); i++)
      if (strcmp(part, parts[i].ours) == 0) {
        snprintf(s.name, sizeof s.name, "transformer.h.%s.%s.%s", block, parts[i].theirs, kind);
        s.first = parts[i].first;
      }
    s.turned = !tensor->vector;
  } else if (strncmp(tensor->name, "model.norm.", 11) == 0) {
    snprintf(s.name, sizeof s.name, "transformer.ln_f.%s", tensor->name + 11);
  } else {
    snprintf(s.name, sizeof s.name, "transformer.%s",
             strcmp(tensor->name, "model.embed_tokens.weight") == 0 ? "wte.weight" : "wpe.weight");
  }
  return s;
}

/* Where number i of ours stands in theirs. */
static size_t place(const rs_tensor *tensor, source from, const rs_stored_tensor *stored, size_t i) {
  size_t row = i / tensor->columns, column = i % tensor->columns;
  return from.turned ? column * stored->shape[1] + from.first + row : i + from.first;
}

/* Their numbers, where ours has them. */
static void take(rs_transformer *t, const rs_safetensors *tensors, name_rule *rule) {
  for (size_t k = 0; k < t->tensor_count; k++) {
    const rs_tensor *tensor = &t->tensors[k];
    source from = rule(tensor);
    const rs_stored_tensor *stored = rs_safetensors_find(tensors, from.name);
    cr_assert_not_null(stored, "%s: %s", tensor->name, from.name);
    double *all = malloc(stored->count * sizeof *all);
    cr_assert_eq(rs_stored_doubles(stored, 0, stored->count, all, NULL), RS_OK);
    for (size_t i = 0; i < tensor->rows * tensor->columns; i++)
      ((double *)t->values)[tensor->offset + i] = all[place(tensor, from, stored, i)];
    free(all);
  }
}

/* The gradient by a tensor of theirs. */
static double *gather(const rs_transformer *t, const double *gradient, const rs_stored_tensor *stored, const char *name,
                      name_rule *rule) {
  double *all = calloc(stored->count, sizeof *all);
  for (size_t k = 0; k < t->tensor_count; k++) {
    const rs_tensor *tensor = &t->tensors[k];
    source from = rule(tensor);
    if (strcmp(from.name, name) != 0) continue;
    for (size_t i = 0; i < tensor->rows * tensor->columns; i++)
      all[place(tensor, from, stored, i)] = gradient[tensor->offset + i];
  }
  return all;
}

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

/* gradients.csv has the length of the gradient by each tensor of theirs, and its products with four vectors of signs.
 */
static void compare_gradients(const char *name, const rs_transformer *t, const double *gradient,
                              const rs_safetensors *weights, name_rule *rule) {
  rs_table *wanted = golden_read("models/gradients.csv");
  size_t begin, end;
  golden_case(wanted, name, &begin, &end);
  for (size_t row = begin; row < end; row++) {
    const char *tensor = golden_text(wanted, row, "tensor");
    const rs_stored_tensor *stored = rs_safetensors_find(weights, tensor);
    double *ours = gather(t, gradient, stored, tensor, rule), length = 0, products[4] = {0};
    uint64_t state = hash_of(tensor);
    for (size_t i = 0; i < stored->count; i++) {
      uint64_t bits = draw_bits(&state);
      for (size_t k = 0; k < RS_COUNT(products); k++) products[k] += bits >> k & 1 ? -ours[i] : ours[i];
      length = hypot(length, ours[i]);
    }
    double most = golden_number(wanted, row, "length"), limit = 1e-12 * (most + 0.01);
    cr_expect(fabs(length - most) <= limit, "%s: the gradient by %s is %.3g long, not %.3g", name, tensor, length,
              most);
    for (size_t k = 0; k < RS_COUNT(products); k++) {
      char column[16];
      snprintf(column, sizeof column, "product%zu", k);
      double difference = products[k] - golden_number(wanted, row, column);
      cr_expect(fabs(difference) <= limit, "%s: the gradient by %s is off by %.3g of %.3g", name, tensor, difference,
                most);
    }
    free(ours);
  }
  rs_table_free(wanted);
}

static void compare(const char *name, rs_transformer *t, name_rule *rule) {
  char path[64];
  snprintf(path, sizeof path, "%s/model.safetensors", name);
  rs_safetensors *weights = map_tensors(model_path(path));
  double *drawn = numbers(name, "tokens.npy", TOKENS), *wanted = numbers(name, "logits.npy", TOKENS * CLASSES);
  double *logits = malloc(TOKENS * CLASSES * sizeof *logits), *gradient = calloc(t->size, sizeof *gradient);
  int32_t tokens[TOKENS], targets[TOKENS];
  rs_context *context;
  rs_pass *pass;
  rs_err err = {0};
  size_t count;
  for (size_t i = 0; i < TOKENS; i++) tokens[i] = (int32_t)drawn[i];
  for (size_t i = 0; i < TOKENS; i++) targets[i] = i + 1 < TOKENS ? tokens[i + 1] : RS_NO_TARGET;
  take(t, weights, rule);
  cr_assert_eq(rs_context_create(t, NULL, TOKENS, 0, NULL, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_pass_create(context, 1, true, &pass, &err), RS_OK, "%s", err.message);
  const rs_batch batch = {.sequences = 1, .tokens = tokens, .targets = targets};
  const rs_pass_out out = {.logits = logits};
  rs_forward(pass, &batch, &out);
  double worst = 0;
  for (size_t i = 0; i < TOKENS * CLASSES; i++) worst = fmax(worst, fabs(logits[i] - wanted[i]));
  cr_expect(worst < 1e-12, "%s: logits are off by %.3g", name, worst); /* their own oracle is off by 2e-14 */
  (void)rs_backward(pass, &batch, 1.0 / (TOKENS - 1), gradient, &count);
  cr_expect_eq(count, TOKENS - 1);
  compare_gradients(name, t, gradient, weights, rule);
  rs_pass_free(pass);
  rs_context_free(context);
  rs_transformer_free(t);
  rs_safetensors_free(weights);
  free(drawn);
  free(wanted);
  free(logits);
  free(gradient);
}

Test(golden, llama__logits_and_gradients__agree) {
  compare("llama_small", llama(), same_name);
}

Test(golden, gpt2__logits_and_gradients__agree) {
  compare("gpt2", gpt2(), gpt2_source);
}
