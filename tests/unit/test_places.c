/* The list of a transformer's weights: names, places, what one model takes from another, and which shapes there are. */
#include "fixtures/small_model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Llama ------------------------------------------------------------------------------------------------------- */

/* What Hugging Face's LlamaForCausalLM of 2 layers calls its weights, and their shapes. */
static const struct {
  const char *name;
  size_t rows, columns;
} llama[] = {
    {"model.embed_tokens.weight", 11, 8},
    {"model.layers.0.self_attn.q_proj.weight", 8, 8},
    {"model.layers.0.self_attn.k_proj.weight", 4, 8},
    {"model.layers.0.self_attn.v_proj.weight", 4, 8},
    {"model.layers.0.self_attn.o_proj.weight", 8, 8},
    {"model.layers.0.mlp.gate_proj.weight", 12, 8},
    {"model.layers.0.mlp.up_proj.weight", 12, 8},
    {"model.layers.0.mlp.down_proj.weight", 8, 12},
    {"model.layers.0.input_layernorm.weight", 1, 8},
    {"model.layers.0.post_attention_layernorm.weight", 1, 8},
    {"model.layers.1.self_attn.q_proj.weight", 8, 8},
    {"model.layers.1.self_attn.k_proj.weight", 4, 8},
    {"model.layers.1.self_attn.v_proj.weight", 4, 8},
    {"model.layers.1.self_attn.o_proj.weight", 8, 8},
    {"model.layers.1.mlp.gate_proj.weight", 12, 8},
    {"model.layers.1.mlp.up_proj.weight", 12, 8},
    {"model.layers.1.mlp.down_proj.weight", 8, 12},
    {"model.layers.1.input_layernorm.weight", 1, 8},
    {"model.layers.1.post_attention_layernorm.weight", 1, 8},
    {"model.norm.weight", 1, 8},
    {"lm_head.weight", 11, 8},
};

static void fill_llama(small_model *m) {
  small_model_fill(m, RS_DECODER);
  for (size_t i = 0; i < SMALL_BLOCKS; i++) {
    m->blocks[i].attention.kv_heads = 1;
    m->blocks[i].feed_forward.gated = true;
    m->blocks[i].feed_forward.activation = RS_SILU;
  }
}

static void expect_llama(const rs_transformer *t, size_t count) {
  cr_expect_eq(t->tensor_count, count, "%zu tensors", t->tensor_count);
  for (size_t i = 0; i < count; i++) {
    const rs_tensor *tensor = rs_transformer_tensor(t, llama[i].name);
    cr_assert_not_null(tensor, "no %s", llama[i].name);
    cr_expect(tensor->rows == llama[i].rows && tensor->columns == llama[i].columns, "%s: %zu x %zu", llama[i].name,
              tensor->rows, tensor->columns);
    cr_expect_eq(tensor->vector, strstr(llama[i].name, "norm") != NULL, "%s", llama[i].name);
    cr_expect_eq(tensor->decays, !tensor->vector, "%s", llama[i].name);
  }
}

Test(places, llama__names_are_those_of_hugging_face) {
  small_model m;
  fill_llama(&m);
  rs_transformer *t = small_model_create(&m, RS_F32, 1);
  expect_llama(t, RS_COUNT(llama));
  rs_transformer_free(t);
  m.shape.tied = true;
  t = small_model_create(&m, RS_F32, 1);
  expect_llama(t, RS_COUNT(llama) - 1);
  cr_expect_null(rs_transformer_tensor(t, "lm_head.weight"));
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* ---- where weights stand ----------------------------------------------------------------------------------------- */

/* A shape with all that a block may have. */
static void fill_whole(small_model *m, rs_form form) {
  const rs_norm layer = {.kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-5};
  small_model_fill(m, form);
  m->shape.width = 7; /* no part fills whole lines of memory */
  m->shape.embedding_norm = m->shape.decoder.final_norm = layer;
  m->shape.output_bias = true;
  rs_block *stacks[] = {m->blocks, m->encoder};
  for (size_t s = 0; s < RS_COUNT(stacks); s++)
    for (size_t i = 0; i < SMALL_BLOCKS; i++) {
      rs_block *block = &stacks[s][i];
      block->before_attention = block->after_attention = block->before_feed_forward = block->after_feed_forward = layer;
      block->attention.kv_heads = 1;
      block->attention.qk_norm = layer;
      block->attention.sinks = block->attention.qkv_bias = block->attention.output_bias = true;
      block->feed_forward.gated = block->feed_forward.bias = true;
    }
  small_model_recipe(m, 0, "t5", "logit_scale=ssmax");
  small_model_recipe(m, 1, "fire", "");
  m->blocks[1].recipe = 1;
}

static size_t size_of(const rs_tensor *tensor) {
  return tensor->rows * tensor->columns;
}

static void expect_apart(const rs_transformer *t, const char *what) {
  for (size_t i = 0; i < t->tensor_count; i++) {
    const rs_tensor *a = &t->tensors[i];
    size_t next = i + 1 < t->tensor_count ? t->tensors[i + 1].offset : t->size;
    cr_expect(size_of(a) > 0 && a->offset + size_of(a) <= next, "%s: %s reaches into what follows", what, a->name);
    for (size_t k = 0; k < i; k++)
      cr_expect(strcmp(a->name, t->tensors[k].name) != 0, "%s: two are called %s", what, a->name);
  }
}

/* Whether a is there; then b must begin where it ends. */
static bool stands_before(const rs_transformer *t, const char *stem, const char *part, const char *next,
                          const char *kind) {
  char name[112], follower[112];
  snprintf(name, sizeof name, "%s%s.%s", stem, part, kind);
  snprintf(follower, sizeof follower, "%s%s.%s", stem, next, kind);
  const rs_tensor *a = rs_transformer_tensor(t, name), *b = rs_transformer_tensor(t, follower);
  if (a == NULL) return false;
  cr_assert_not_null(b, "%s without %s", name, follower);
  cr_expect_eq(a->offset + size_of(a), b->offset, "%s stands apart from %s", name, follower);
  return true;
}

/* Pairs that are found side by side in stacks of 2 blocks. */
static size_t side_by_side(const rs_transformer *t) {
  static const char *const stems[] = {"model.layers.", "model.encoder.layers."};
  static const char *const pairs[][2] = {{"self_attn.q_proj", "self_attn.k_proj"},
                                         {"self_attn.k_proj", "self_attn.v_proj"},
                                         {"cross_attn.k_proj", "cross_attn.v_proj"},
                                         {"mlp.gate_proj", "mlp.up_proj"}};
  static const char *const kinds[] = {"weight", "bias"};
  size_t found = 0;
  for (size_t s = 0; s < RS_COUNT(stems); s++)
    for (size_t block = 0; block < SMALL_BLOCKS; block++)
      for (size_t p = 0; p < RS_COUNT(pairs); p++)
        for (size_t k = 0; k < RS_COUNT(kinds); k++) {
          char stem[64];
          snprintf(stem, sizeof stem, "%s%zu.", stems[s], block);
          found += stands_before(t, stem, pairs[p][0], pairs[p][1], kinds[k]);
        }
  return found;
}

Test(places, whole_shapes__tensors_are_apart__products_side_by_side) {
  /* three pairs a block, with their biases; a decoder with an encoder one more, and as many again in the encoder */
  static const size_t pairs[RS_FORMS] = {[RS_DECODER] = 2 * 3 * 2,
                                         [RS_ENCODER] = 2 * 3 * 2,
                                         [RS_ENCODER_DECODER] = 2 * 4 * 2 + 2 * 3 * 2,
                                         [RS_VISION] = 2 * 3 * 2};
  for (rs_form form = RS_DECODER; form < (rs_form)RS_FORMS; form++) {
    small_model m;
    fill_whole(&m, form);
    rs_transformer *t = small_model_create(&m, RS_F32, 1);
    expect_apart(t, rs_form_words[form]);
    size_t found = side_by_side(t);
    cr_expect_eq(found, pairs[form], "%s: %zu pairs", rs_form_words[form], found);
    cr_expect_not_null(rs_transformer_tensor(t, "model.positions.0.bias.table"));
    cr_expect_not_null(rs_transformer_tensor(t, "model.positions.0.logit_scale"));
    cr_expect_not_null(rs_transformer_tensor(t, "model.positions.1.bias.w1"));
    rs_transformer_free(t);
    small_model_clear(&m);
  }
}

/* The standard deviation that a matrix of a model of that width is drawn with. */
static double deviation_of(const char *name, double width) {
  if (strstr(name, "positions") != NULL) return 0; /* a method's own */
  if (strstr(name, "embed_tokens") != NULL) return 0.5;
  if (strstr(name, "patch_embed") != NULL) return 1 / sqrt(SMALL_PATCH);
  bool added = strstr(name, "o_proj") != NULL || strstr(name, "down_proj") != NULL; /* to what was there */
  return (added ? 0.5 : 1) / sqrt(width);
}

Test(places, matrices__are_drawn_by_the_width_of_what_they_read) {
  for (rs_form form = RS_DECODER; form < (rs_form)RS_FORMS; form++) {
    small_model m;
    fill_whole(&m, form);
    rs_transformer *t = small_model_create(&m, RS_F32, 1);
    for (size_t i = 0; i < t->tensor_count; i++) {
      const rs_tensor *tensor = &t->tensors[i];
      double want = deviation_of(tensor->name, (double)m.shape.width);
      if (!tensor->vector) cr_expect_float_eq(tensor->init_sd, want, 1e-15, "%s: %g", tensor->name, tensor->init_sd);
    }
    rs_transformer_free(t);
    small_model_clear(&m);
  }
}

/* ---- what one model takes from another --------------------------------------------------------------------------- */

static double value_of(const rs_transformer *t, size_t index) {
  return t->format == RS_F64 ? ((double *)t->values)[index] : (double)((float *)t->values)[index];
}

static bool same_values(const rs_transformer *a, const rs_transformer *b, const char *name) {
  const rs_tensor *x = rs_transformer_tensor(a, name), *y = rs_transformer_tensor(b, name);
  cr_assert(x != NULL && y != NULL && size_of(x) == size_of(y), "%s", name);
  for (size_t i = 0; i < size_of(x); i++)
    if ((float)value_of(a, x->offset + i) != (float)value_of(b, y->offset + i)) return false;
  return true;
}

/* What `method` is given of a trained RoPE model of another width of feed-forward layers, in another format. */
static void check_adoption(const char *method, size_t width, size_t kept) {
  small_model m, other;
  fill_llama(&m);
  fill_llama(&other);
  small_model_recipe(&other, 0, method, "");
  for (size_t i = 0; i < SMALL_BLOCKS; i++) other.blocks[i].feed_forward.width = width;
  rs_transformer *trained = small_model_create(&m, RS_F64, 1), *tuned = small_model_create(&other, RS_F32, 2);
  rs_transformer *drawn = small_model_create(&other, RS_F32, 2);
  size_t adopted = rs_transformer_adopt(tuned, trained);
  cr_expect_eq(adopted, kept, "%s: %zu tensors", method, adopted);
  for (size_t i = 0; i < tuned->tensor_count; i++) {
    const char *name = tuned->tensors[i].name;
    bool its = strstr(name, "positions") != NULL || (width != 12 && strstr(name, "mlp") != NULL);
    cr_expect(same_values(tuned, its ? drawn : trained, name), "%s: %s", method, name);
  }
  rs_transformer_free(trained);
  rs_transformer_free(tuned);
  rs_transformer_free(drawn);
  small_model_clear(&m);
  small_model_clear(&other);
}

Test(places, adopt__equal_names_and_sizes__are_taken__the_rest_is_as_drawn) {
  check_adoption("yarn", 12, RS_COUNT(llama));
  check_adoption("t5", 12, RS_COUNT(llama));
  check_adoption("rope", 10, RS_COUNT(llama) - 3 * SMALL_BLOCKS);
}

/* A decoder with a table of positions, or other numbers learned, for `tokens`. */
static rs_transformer *with_table(const char *method, const char *settings, size_t tokens, uint64_t seed) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  m.geometry.train_length = m.geometry.max_length = tokens;
  small_model_recipe(&m, 0, method, settings);
  rs_transformer *t = small_model_create(&m, RS_F64, seed);
  double *values = t->values;
  for (size_t i = 0; i < t->size; i++) values[i] += (double)seed; /* tables are drawn without the model's seed */
  small_model_clear(&m);
  return t;
}

/* Rows of the learned numbers that `to` takes from `from`; the others must stay. */
static size_t rows_taken(rs_transformer *from, rs_transformer *to, const char *name) {
  const rs_tensor *source = rs_transformer_tensor(from, name), *tensor = rs_transformer_tensor(to, name);
  size_t width = tensor->columns, count = tensor->rows * width, taken = 0;
  double *before = malloc(count * sizeof *before), *after = (double *)to->values + tensor->offset;
  memcpy(before, after, count * sizeof *before);
  (void)rs_transformer_adopt(to, from);
  for (size_t row = 0; row < tensor->rows; row++) {
    const double *wanted = (double *)from->values + source->offset + row * width;
    bool its = row < source->rows && memcmp(after + row * width, wanted, width * sizeof *wanted) == 0;
    taken += its;
    cr_expect(its || memcmp(after + row * width, before + row * width, width * sizeof *before) == 0, "row %zu", row);
    cr_expect(!its || taken == row + 1, "row %zu: from the first on", row);
  }
  free(before);
  rs_transformer_free(from);
  rs_transformer_free(to);
  return taken;
}

Test(places, adopt__table_of_positions__keeps_the_rows_of_both_lengths) {
  const char *table = "model.positions.0.embed.table", *biases = "model.positions.0.bias.table";
  cr_expect_eq(rows_taken(with_table("learned", "", 6, 1), with_table("learned", "", 9, 2), table), 6);
  cr_expect_eq(rows_taken(with_table("learned", "", 9, 1), with_table("learned", "", 6, 2), table), 6);
  cr_expect_eq(rows_taken(with_table("relative", "clip=3", 9, 1), with_table("relative", "clip=4", 9, 2), biases), 0,
               "rows are distances -4 to 4, not -3 to 3");
  cr_expect_eq(rows_taken(with_table("t5", "num_buckets=8", 9, 1), with_table("t5", "num_buckets=16", 9, 2), biases),
               0);
}

/* ---- shapes that do not fit together ----------------------------------------------------------------------------- */

typedef void spoil(small_model *m);

static void no_width(small_model *m) {
  m->shape.width = 0;
}
static void no_vocabulary(small_model *m) {
  m->shape.vocabulary = 0;
}
static void vision_without_patches(small_model *m) {
  m->shape.form = RS_VISION;
}
static void tied_to_others(small_model *m) {
  m->shape.tied = true;
  m->shape.classes = 5;
}
static void no_blocks(small_model *m) {
  m->shape.decoder.count = 0;
}
static void no_encoder(small_model *m) {
  m->shape.form = RS_ENCODER_DECODER;
}
static void negative_epsilon(small_model *m) {
  m->blocks[1].before_feed_forward.epsilon = -1;
}
static void infinite_epsilon(small_model *m) {
  m->shape.decoder.final_norm.epsilon = INFINITY;
}
static void epsilon_of_heads(small_model *m) {
  m->blocks[0].attention.qk_norm = (rs_norm){.kind = RS_NORM_RMS, .epsilon = NAN};
}
static void heads_that_share_badly(small_model *m) {
  m->blocks[1].attention.kv_heads = 3;
}
static void no_heads(small_model *m) {
  m->blocks[0].attention.kv_heads = 0;
}
static void no_feed_forward(small_model *m) {
  m->blocks[0].feed_forward.width = 0;
}
static void cross_alone(small_model *m) {
  m->blocks[0].cross = true;
}
static void cross_parallel(small_model *m) {
  m->shape.form = RS_ENCODER_DECODER;
  m->shape.encoder = (rs_stack){m->encoder, SMALL_BLOCKS, m->shape.decoder.final_norm};
  m->blocks[0].cross = m->blocks[0].parallel = true;
}
static void too_wide(small_model *m) {
  m->shape.width = ((size_t)1 << 24) + 1;
}

Test(places, shapes_that_do_not_fit__say_why) {
  static const struct {
    spoil *how;
    rs_status status;
    const char *message;
  } cases[] = {
      {no_width, RS_INPUT, "width 0 with 11 classes: each must be between 1 and 16777216"},
      {too_wide, RS_INPUT, "width 16777217 with 11 classes: each must be between 1 and 16777216"},
      {no_vocabulary, RS_INPUT, "a decoder without vocabulary"},
      {vision_without_patches, RS_INPUT, "a vision without patches"},
      {tied_to_others, RS_INPUT, "an output of 5 classes cannot be tied to embeddings of 11 tokens"},
      {no_blocks, RS_INPUT, "0 blocks: at least 1"},
      {no_encoder, RS_INPUT, "0 blocks: at least 1"},
      {negative_epsilon, RS_INPUT, "a norm's epsilon is -1: must be a number of 0 or more"},
      {infinite_epsilon, RS_INPUT, "a norm's epsilon is inf: must be a number of 0 or more"},
      {epsilon_of_heads, RS_INPUT, "a norm's epsilon is nan: must be a number of 0 or more"},
      {heads_that_share_badly, RS_INPUT, "2 heads cannot share 3 heads of keys: must be a multiple"},
      {no_heads, RS_INPUT, "2 heads of 4 with 0 of keys: each must be between 1 and 16777216"},
      {no_feed_forward, RS_INPUT, "a feed-forward layer of 0: must be between 1 and 16777216"},
      {cross_alone, RS_INPUT, "a block of a decoder has no encoder to read"},
      {cross_parallel, RS_UNSUPPORTED, "a block that reads an encoder cannot be parallel"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    rs_err err = {0};
    small_model_fill(&m, RS_DECODER);
    cr_assert_eq(rs_shape_check(&m.shape, &err), RS_OK, "%s", err.message);
    cases[i].how(&m);
    cr_expect_eq(rs_shape_check(&m.shape, &err), cases[i].status, "%s", cases[i].message);
    cr_expect_str_eq(err.message, cases[i].message, "%s", err.message);
    small_model_clear(&m);
  }
}

/* Shapes that fit, with recipes made for others. */
static void foreign_recipe(small_model *m) {
  m->blocks[1].recipe = 1;
}
static void foreign_heads(small_model *m) {
  m->blocks[1].attention.head_dim = 8;
}
static void other_heads(small_model *m) {
  m->blocks[1].attention.heads = m->blocks[1].attention.kv_heads = 3;
}

Test(places, recipes_of_other_shapes__say_why) {
  static const struct {
    spoil *how;
    const char *message;
  } cases[] = {{foreign_recipe, "block 1 names positional recipe 1 of 1"},
               {foreign_heads, "block 1 has 2 heads of 8, its recipes are made for 2 of 4"},
               {other_heads, "block 1 has 3 heads of 4, its recipes are made for 2 of 4"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    rs_transformer *t;
    rs_err err = {0};
    small_model_fill(&m, RS_DECODER);
    cases[i].how(&m);
    const rs_transformer_in in = {.shape = &m.shape,
                                  .geometry = &m.geometry,
                                  .recipes = m.recipes,
                                  .recipe_count = m.recipe_count,
                                  .format = RS_F32,
                                  .seed = 1};
    cr_expect_eq(rs_transformer_create(&in, &t, &err), RS_INPUT);
    cr_expect_str_eq(err.message, cases[i].message, "%s", err.message);
    cr_expect_null(t);
    small_model_clear(&m);
  }
}
