/* What shapes may be: each number at its bounds, what is trained, and attentions that differ in one thing. */
#include "fixtures/small_model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 24 };

/* A count of the shape, or of its second block, that is too small or too large. */
typedef struct count_case {
  bool of_block;
  size_t offset, value;
  const char *message; /* NULL: it is allowed */
} count_case;
#define SHAPE(field) false, offsetof(rs_shape, field)
#define BLOCK(field) true, offsetof(rs_block, field)

static void expect_counts(const count_case *cases, size_t count, void (*prepare)(small_model *)) {
  for (size_t i = 0; i < count; i++) {
    small_model m;
    rs_err err = {0};
    small_model_fill(&m, RS_DECODER);
    if (prepare != NULL) prepare(&m);
    char *start = cases[i].of_block ? (char *)&m.blocks[1] : (char *)&m.shape;
    memcpy(start + cases[i].offset, &cases[i].value, sizeof cases[i].value);
    cr_expect_eq(rs_shape_check(&m.shape, &err), cases[i].message == NULL ? RS_OK : RS_INPUT, "case %zu", i);
    cr_expect_str_eq(err.message, cases[i].message == NULL ? "" : cases[i].message, "case %zu: %s", i, err.message);
    small_model_clear(&m);
  }
}

Test(shapes, counts__within_their_bounds_alone) {
  static const count_case cases[] = {
      {SHAPE(width), MOST, NULL},
      {SHAPE(classes), 0, NULL},
      {SHAPE(classes), MOST, NULL},
      {SHAPE(classes), MOST + 1, "width 8 with 16777217 classes: each must be between 1 and 16777216"},
      {SHAPE(vocabulary), MOST, NULL},
      {SHAPE(vocabulary), MOST + 1, "a decoder without vocabulary"},
      {SHAPE(token_types), MOST, NULL},
      {SHAPE(token_types), MOST + 1, "16777217 token types: at most 16777216"},
      {SHAPE(embedding_width), MOST, NULL},
      {SHAPE(embedding_width), MOST + 1,
       "embeddings of 16777217 numbers: at most 16777216, of tokens, and not tied to an output"},
      {SHAPE(decoder.count), (size_t)MOST + 1, "16777217 blocks: at least 1"},
      {BLOCK(attention.heads), 0, "0 heads of 4 with 2 of keys: each must be between 1 and 16777216"},
      {BLOCK(attention.heads), MOST, NULL},
      {BLOCK(attention.heads), MOST + 2, "16777218 heads of 4 with 2 of keys: each must be between 1 and 16777216"},
      {BLOCK(attention.head_dim), 0, "2 heads of 0 with 2 of keys: each must be between 1 and 16777216"},
      {BLOCK(attention.head_dim), MOST, NULL},
      {BLOCK(attention.head_dim), MOST + 1, "2 heads of 16777217 with 2 of keys: each must be between 1 and 16777216"},
      {BLOCK(feed_forward.width), MOST, NULL},
      {BLOCK(feed_forward.width), MOST + 1, "a feed-forward layer of 16777217: must be between 1 and 16777216"},
  };
  expect_counts(cases, RS_COUNT(cases), NULL);
}

static void narrow(small_model *m) {
  m->blocks[1].attention.latent = (rs_latent){.kv_rank = 3, .q_rank = 3, .turned = 2, .value_dim = 4};
}

Test(shapes, narrow_layers__within_their_bounds_alone) {
  static const count_case cases[] = {
      {BLOCK(attention.latent.kv_rank), MOST, NULL},
      {BLOCK(attention.latent.kv_rank), MOST + 1, "narrow layers of 3 and 16777217: at most 16777216"},
      {BLOCK(attention.latent.q_rank), MOST, NULL},
      {BLOCK(attention.latent.q_rank), MOST + 1, "narrow layers of 16777217 and 3: at most 16777216"},
      {BLOCK(attention.latent.turned), 4, NULL},
      {BLOCK(attention.latent.turned), 5, "latent attention with heads of 4, 5 of them turned, and values of 4"},
  };
  expect_counts(cases, RS_COUNT(cases), narrow);
}

static void choose_among_groups(small_model *m) {
  m->blocks[1].feed_forward.gated = true;
  m->blocks[1].feed_forward.experts = (rs_experts){.count = 4, .used = 2, .groups = 2, .groups_used = 1};
}

Test(shapes, experts__within_their_bounds_alone) {
  static const count_case cases[] = {
      {BLOCK(feed_forward.experts.count), MOST, NULL},
      {BLOCK(feed_forward.experts.count), MOST + 2, "2 of 16777218 experts: must be from 1 to as many as there are"},
      {BLOCK(feed_forward.experts.used), 4, NULL},
      {BLOCK(feed_forward.experts.used), 5, "5 of 4 experts: must be from 1 to as many as there are"},
      {BLOCK(feed_forward.experts.groups_used), 0, "0 of 2 groups of 4 experts"},
      {BLOCK(feed_forward.experts.groups_used), 2, NULL},
      {BLOCK(feed_forward.experts.groups_used), 3, "3 of 2 groups of 4 experts"},
      {BLOCK(feed_forward.experts.shared), MOST, NULL},
      {BLOCK(feed_forward.experts.shared), MOST + 1, "a shared expert of 16777217: at most 16777216"},
  };
  expect_counts(cases, RS_COUNT(cases), choose_among_groups);
}

/* ---- what does not go together ----------------------------------------------------------------------------------- */

typedef void change(small_model *m);

static void no_states_alone(small_model *m) {
  m->shape.classes = 0;
}
static void no_width(small_model *m) {
  m->shape.width = 0;
}
static void many_numbers(small_model *m) {
  m->shape.patch_numbers = MOST + 1;
}
static void embeddings_of_patches(small_model *m) {
  m->shape.embedding_width = 6;
}
static void embeddings_of_an_output(small_model *m) {
  m->shape.embedding_width = 6;
  m->shape.tied = true;
}
static void tied_to_patches(small_model *m) {
  m->shape.tied = true;
}
static void clipped_below(small_model *m) {
  m->blocks[1].attention.clip = -0.5;
}
static void clipped_nowhere(small_model *m) {
  m->blocks[1].attention.clip = NAN;
}
static void experts_with_a_curve(small_model *m) {
  choose_among_groups(m);
  m->blocks[1].feed_forward.learned_curve = true;
}

Test(shapes, parts_that_contradict__say_why) {
  static const struct {
    rs_form form;
    change *how;
    rs_status status;
    const char *message;
  } cases[] = {
      {RS_ENCODER_DECODER, no_states_alone, RS_INPUT, "width 8 with 0 classes: each must be between 1 and 16777216"},
      {RS_VISION, no_width, RS_INPUT, "width 0 with 6 classes: each must be between 1 and 16777216"},
      {RS_VISION, many_numbers, RS_INPUT, "a vision without patches"},
      {RS_VISION, embeddings_of_patches, RS_INPUT,
       "embeddings of 6 numbers: at most 16777216, of tokens, and not tied to an output"},
      {RS_DECODER, embeddings_of_an_output, RS_INPUT,
       "embeddings of 6 numbers: at most 16777216, of tokens, and not tied to an output"},
      {RS_VISION, tied_to_patches, RS_INPUT, "an output of 6 classes cannot be tied to embeddings of 0 tokens"},
      {RS_DECODER, clipped_below, RS_INPUT, "queries clipped at -0.5: must be a number of 0 or more"},
      {RS_DECODER, clipped_nowhere, RS_INPUT, "queries clipped at nan: must be a number of 0 or more"},
      {RS_DECODER, experts_with_a_curve, RS_UNSUPPORTED,
       "experts without a gate, with a learned curve, or with a norm behind them"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    rs_err err = {0};
    small_model_fill(&m, cases[i].form);
    cr_assert_eq(rs_shape_check(&m.shape, &err), RS_OK, "%s", err.message);
    cases[i].how(&m);
    cr_expect_eq(rs_shape_check(&m.shape, &err), cases[i].status, "%s", cases[i].message);
    cr_expect_str_eq(err.message, cases[i].message, "%s", err.message);
    small_model_clear(&m);
  }
}

/* Every norm is looked at, wherever it stands. */
Test(shapes, norms__without_an_epsilon__are_refused) {
  for (size_t i = 0; i < 9; i++) {
    small_model m;
    rs_err err = {0};
    small_model_fill(&m, RS_ENCODER_DECODER);
    rs_norm *const norms[] = {
        &m.blocks[1].before_attention,    &m.blocks[1].after_attention,    &m.blocks[1].before_cross,
        &m.blocks[1].before_feed_forward, &m.blocks[1].after_feed_forward, &m.blocks[1].attention.qk_norm,
        &m.encoder[1].after_feed_forward, &m.shape.decoder.final_norm,     &m.blocks[1].after_cross};
    *norms[i] = (rs_norm){.kind = RS_NORM_RMS, .epsilon = 0};
    cr_assert_eq(rs_shape_check(&m.shape, &err), RS_OK, "norm %zu: %s", i, err.message);
    norms[i]->epsilon = -1;
    cr_expect_eq(rs_shape_check(&m.shape, &err), RS_INPUT, "norm %zu", i);
    cr_expect_str_eq(err.message, "a norm's epsilon is -1: must be a number of 0 or more", "norm %zu", i);
    small_model_clear(&m);
  }
}

/* ---- what is trained --------------------------------------------------------------------------------------------- */

static void sums_of_the_encoder(small_model *m) {
  m->encoder[1].norm_sums = true;
  m->encoder[1].after_attention = m->blocks[1].after_cross = m->encoder[1].before_attention;
}
static void experts_of_the_encoder(small_model *m) {
  m->encoder[1].feed_forward.experts = (rs_experts){.count = 2, .used = 1};
}
static void narrow_layers_of_the_encoder(small_model *m) {
  m->encoder[1].attention.latent.kv_rank = 3;
}
static void clips_of_the_encoder(small_model *m) {
  m->encoder[1].attention.clip = 1;
}
static void curves_of_the_encoder(small_model *m) {
  m->encoder[1].feed_forward.learned_curve = true;
}
static void layer_norms_behind(small_model *m) {
  m->encoder[1].attention.qk_norm.kind = RS_NORM_LAYER;
  m->encoder[1].attention.qk_norm_turned = true;
}
static void lengths_alone_behind(small_model *m) {
  m->encoder[1].attention.qk_norm.kind = RS_NORM_L2;
  m->encoder[1].attention.qk_norm_turned = true;
}
static void left_padding(small_model *m) {
  m->shape.leaves_padding = true;
}
static void narrow_embeddings(small_model *m) {
  m->shape.embedding_width = 6;
}

Test(shapes, training__of_an_encoder_decoder__says_what_has_no_way_back) {
  static const struct {
    change *how;
    const char *what;
  } cases[] = {{sums_of_the_encoder, NULL},
               {experts_of_the_encoder, "with experts or narrow layers"},
               {narrow_layers_of_the_encoder, "with experts or narrow layers"},
               {clips_of_the_encoder, "with clipped queries, keys and values"},
               {curves_of_the_encoder, "with learned curves, or norms with weights behind the rotation"},
               {layer_norms_behind, "with learned curves, or norms with weights behind the rotation"},
               {lengths_alone_behind, NULL},
               {left_padding, "whose padding has no position"},
               {narrow_embeddings, "with embeddings of another width"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    rs_err err = {0};
    char message[200] = "";
    small_model_fill(&m, RS_ENCODER_DECODER);
    cases[i].how(&m);
    if (cases[i].what != NULL) snprintf(message, sizeof message, "a model %s is read, and not trained", cases[i].what);
    cr_expect_eq(rs_shape_trains(&m.shape, &err), cases[i].what == NULL ? RS_OK : RS_UNSUPPORTED, "case %zu", i);
    cr_expect_str_eq(err.message, message, "%s", err.message);
    small_model_clear(&m);
  }
}

/* ---- attentions that differ in one thing ------------------------------------------------------------------------- */

static void fill_logits(const small_model *m, double *logits) {
  rs_transformer *t = small_model_create(m, RS_F64, 3);
  int32_t tokens[SMALL_LENGTH];
  rs_err err = {0};
  for (size_t i = 0; i < SMALL_LENGTH; i++) tokens[i] = (int32_t)(i * i % SMALL_VOCABULARY);
  const rs_reader_in in = {.count = 1, .length = SMALL_LENGTH, .tokens = tokens, .last = SMALL_LENGTH};
  cr_assert_eq(rs_read_logits(t, &in, logits, &err), RS_OK, "%s", err.message);
  rs_transformer_free(t);
}

/* Blocks of one shape share an attention. Where the second differs in one thing, reading it by the first's would give
 * the logits of two alike. */
Test(shapes, blocks_that_differ__have_attentions_apiece) {
  enum { ANSWERS = SMALL_LENGTH * SMALL_VOCABULARY };
  static const struct {
    rs_mask mask, other;
    double scale, cap;
    size_t kv_heads;
  } cases[] = {{{RS_CAUSAL, 0, 0, NULL}, {RS_WINDOW, 3, 0, NULL}, 0, 0, 2},
               {{RS_WINDOW, 4, 0, NULL}, {RS_WINDOW, 3, 0, NULL}, 0, 0, 2},
               {{RS_CHUNKS, 4, 0, NULL}, {RS_CHUNKS, 3, 0, NULL}, 0, 0, 2},
               {{RS_BAND, 4, 0, NULL}, {RS_BAND, 3, 0, NULL}, 0, 0, 2},
               {{RS_WINDOW_SINKS, 3, 1, NULL}, {RS_WINDOW_SINKS, 3, 2, NULL}, 0, 0, 2},
               {{RS_CAUSAL, 0, 0, NULL}, {RS_CAUSAL, 0, 0, NULL}, 3, 0, 2},
               {{RS_CAUSAL, 0, 0, NULL}, {RS_CAUSAL, 0, 0, NULL}, 0, 1e-3, 2},
               {{RS_CAUSAL, 0, 0, NULL}, {RS_CAUSAL, 0, 0, NULL}, 0, 0, 1}};
  static double alike[ANSWERS], differ[ANSWERS], swapped[ANSWERS];
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    small_model_fill(&m, RS_DECODER);
    m.blocks[0].mask = m.blocks[1].mask = cases[i].mask;
    fill_logits(&m, alike);
    m.blocks[1].mask = cases[i].other;
    m.blocks[1].attention.score_scale = cases[i].scale;
    m.blocks[1].attention.soft_cap = cases[i].cap;
    m.blocks[1].attention.kv_heads = cases[i].kv_heads;
    fill_logits(&m, differ);
    m.blocks[0].mask = m.blocks[1].mask;
    m.blocks[0].attention = m.blocks[1].attention;
    fill_logits(&m, swapped);
    double largest = 0, least = INFINITY;
    for (size_t k = 0; k < ANSWERS; k++) {
      largest = fmax(largest, fabs(differ[k] - alike[k]));
      least = fmin(least, fabs(differ[k] - alike[k]));
    }
    cr_expect_gt(largest, 1e-6, "case %zu: as if both were the first", i);
    cr_expect_neq(memcmp(differ, swapped, sizeof differ), 0, "case %zu: as if both were the second", i);
    cr_expect(isfinite(least), "case %zu", i);
    small_model_clear(&m);
  }
}

/* ---- parts that do nothing --------------------------------------------------------------------------------------- */

/* Norms of sums where there are no norms. */
Test(shapes, parts_that_do_nothing__change_nothing) {
  enum { ANSWERS = SMALL_LENGTH * SMALL_VOCABULARY };
  static double plain[ANSWERS], sums[ANSWERS];
  small_model m;
  small_model_fill(&m, RS_DECODER);
  fill_logits(&m, plain);
  for (size_t i = 0; i < SMALL_BLOCKS; i++) m.blocks[i].norm_sums = true;
  fill_logits(&m, sums);
  cr_expect_arr_eq(sums, plain, sizeof plain);
  small_model_clear(&m);
}

/* What reads an encoder has no narrow layers, though the block's own attention has. */
Test(shapes, narrow_layers__are_of_a_blocks_own_attention) {
  static const struct {
    const char *name;
    size_t rows, columns;
  } wanted[] = {{"model.layers.1.self_attn.kv_a_proj_with_mqa.weight", 5, 8},
                {"model.layers.1.self_attn.kv_b_proj.weight", 12, 3},
                {"model.layers.1.self_attn.q_a_proj.weight", 3, 8},
                {"model.layers.1.cross_attn.q_proj.weight", 8, 8},
                {"model.layers.1.cross_attn.k_proj.weight", 8, 8},
                {"model.layers.1.cross_attn.v_proj.weight", 8, 8},
                {"model.layers.1.cross_attn.kv_b_proj.weight", 0, 0}};
  small_model m;
  small_model_fill(&m, RS_ENCODER_DECODER);
  narrow(&m);
  m.blocks[1].attention.latent.norm = m.blocks[1].before_attention;
  rs_transformer *t = small_model_create(&m, RS_F64, 3);
  for (size_t i = 0; i < RS_COUNT(wanted); i++) {
    const rs_tensor *tensor = rs_transformer_tensor(t, wanted[i].name);
    cr_assert_eq(tensor != NULL, wanted[i].rows > 0, "%s", wanted[i].name);
    if (tensor == NULL) continue;
    cr_expect(tensor->rows == wanted[i].rows && tensor->columns == wanted[i].columns, "%s: %zu x %zu", wanted[i].name,
              tensor->rows, tensor->columns);
  }
  int32_t tokens[SMALL_LENGTH] = {1, 2, 3}, source[2][SMALL_SOURCE] = {{4}, {5}};
  double logits[2][SMALL_LENGTH * SMALL_VOCABULARY];
  for (size_t i = 0; i < 2; i++) {
    const rs_reader_in in = {.count = 1,
                             .length = SMALL_LENGTH,
                             .tokens = tokens,
                             .source = source[i],
                             .source_length = SMALL_SOURCE,
                             .last = SMALL_LENGTH};
    cr_assert_eq(rs_read_logits(t, &in, logits[i], NULL), RS_OK);
    for (size_t k = 0; k < RS_COUNT(logits[i]); k++) cr_assert(isfinite(logits[i][k]));
  }
  cr_expect_neq(memcmp(logits[0], logits[1], sizeof logits[0]), 0, "the encoder is read");
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* ---- what cannot be read or trained ------------------------------------------------------------------------------ */

Test(shapes, additions_of_another_width__are_refused) {
  small_model m;
  rs_context *context;
  rs_err err = {0};
  small_model_fill(&m, RS_DECODER);
  m.shape.width = 12;
  small_model_recipe(&m, 0, "sinusoidal", "");
  rs_transformer *t = small_model_create(&m, RS_F64, 1);
  cr_expect_eq(rs_context_create(t, NULL, SMALL_LENGTH, 0, NULL, &context, &err), RS_UNSUPPORTED);
  cr_expect_str_eq(err.message, "sinusoidal adds 8 numbers to tokens of 12", "%s", err.message);
  cr_expect_null(context);
  rs_transformer_free(t);
  small_model_clear(&m);
}

Test(shapes, weights_that_stay_in_their_file__are_not_trained) {
  small_model m;
  rs_context *context;
  rs_pass *pass;
  rs_err err = {0};
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F64, 1);
  cr_assert_eq(rs_context_create(t, NULL, SMALL_LENGTH, 0, NULL, &context, NULL), RS_OK);
  t->mapped = true;
  cr_expect_eq(rs_pass_create(context, 1, true, &pass, &err), RS_UNSUPPORTED);
  cr_expect_str_eq(err.message, "the model's weights stay in their file: it cannot be trained");
  cr_expect_null(pass);
  t->mapped = false;
  rs_context_free(context);
  rs_transformer_free(t);
  small_model_clear(&m);
}
