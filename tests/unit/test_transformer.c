/* Gradients of whole models against central differences, in doubles: every form, and every part of a block. */
#include "fixtures/small_model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENCES = 3 };

static double loss_of(rs_transformer *t, const small_model *m, const rs_batch *batch) {
  rs_context *context;
  rs_pass *pass;
  rs_err err = {0};
  double losses[SEQUENCES * SMALL_LENGTH], sum = 0;
  size_t source = m->shape.form == RS_ENCODER_DECODER ? SMALL_SOURCE : 0;
  size_t answers = rs_shape_answers(&m->shape, SMALL_LENGTH);
  cr_assert_eq(rs_context_create(t, NULL, SMALL_LENGTH, source, &m->tokens, &context, &err), RS_OK, "%s", err.message);
  bool drops = batch->drop.share > 0;
  cr_assert_eq(rs_pass_create(context, 2, drops, &pass, &err), RS_OK, "%s", err.message);
  const rs_pass_out out = {.losses = losses};
  rs_forward(pass, batch, &out);
  for (size_t i = 0; i < SEQUENCES * answers; i++)
    if (batch->targets[i] >= 0) sum += losses[i];
  rs_pass_free(pass);
  rs_context_free(context);
  return sum;
}

static double *gradient_of(rs_transformer *t, const small_model *m, const rs_batch *batch, double *loss) {
  rs_context *context;
  rs_pass *pass;
  rs_err err = {0};
  size_t targets, source = m->shape.form == RS_ENCODER_DECODER ? SMALL_SOURCE : 0;
  double *gradient = calloc(t->size, sizeof *gradient);
  cr_assert_eq(rs_context_create(t, NULL, SMALL_LENGTH, source, &m->tokens, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_pass_create(context, 2, true, &pass, &err), RS_OK, "%s", err.message);
  *loss = rs_backward(pass, batch, 1, gradient, &targets);
  rs_pass_free(pass);
  rs_context_free(context);
  return gradient;
}

/* Weights that no norm or bias leaves at 1 or 0. */
static void shake(rs_transformer *t) {
  double *noise = malloc(t->size * sizeof *noise);
  rs_gaussian_fill((rs_stream){.seed = 5, .purpose = RS_PURPOSE_QUERIES}, 0, t->size, noise);
  for (size_t i = 0; i < t->size; i++) ((double *)t->values)[i] += 0.2 * noise[i];
  free(noise);
}

static void check_dropped(const small_model *m, rs_drop drop, const char *what) {
  rs_transformer *t = small_model_create(m, RS_F64, 3);
  rs_batch batch = small_batch(m, SEQUENCES, 17);
  double loss;
  batch.drop = drop;
  shake(t);
  double *gradient = gradient_of(t, m, &batch, &loss);
  cr_expect_float_eq(loss, loss_of(t, m, &batch), 1e-12 * loss, "%s: %.15g", what, loss);
  small_model_differ(t, m, &batch, loss_of, gradient, what);
  free(gradient);
  small_batch_clear(&batch);
  rs_transformer_free(t);
}

static void check(const small_model *m, const char *what) {
  check_dropped(m, (rs_drop){0}, what);
}

Test(transformer, forms__have_right_gradients) {
  for (rs_form form = RS_DECODER; form < (rs_form)RS_FORMS; form++) {
    small_model m;
    small_model_fill(&m, form);
    check(&m, rs_form_words[form]);
    small_model_clear(&m);
  }
}

Test(transformer, pools__have_right_gradients) {
  for (size_t lead = 0; lead < 2; lead++) {
    small_model m;
    small_model_fill(&m, RS_VISION);
    m.shape.pool = RS_POOL_MEAN;
    m.shape.patches_alone = lead == 0;
    small_model_image(&m, lead == 0 ? 3 : 4, lead == 0 ? 3 : 2);
    small_model_recipe(&m, 0, "axial", "");
    check(&m, lead == 0 ? "mean of patches alone" : "mean of patches behind a class token");
    small_model_clear(&m);
  }
  small_model text;
  small_model_fill(&text, RS_ENCODER);
  text.shape.pool = RS_POOL_MEAN;
  check(&text, "mean of an encoder's tokens");
  small_model_clear(&text);
}

static void all_biases(rs_block *b) {
  b->attention.qkv_bias = b->attention.output_bias = b->feed_forward.bias = true;
}

Test(transformer, norms_and_biases__have_right_gradients) {
  const rs_norm layer = {.kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-5};
  const rs_norm lifted = {.kind = RS_NORM_RMS, .around_one = true, .epsilon = 1e-6};
  small_model m;
  small_model_fill(&m, RS_DECODER);
  m.shape.embedding_norm = m.shape.decoder.final_norm = layer;
  m.shape.output_bias = true;
  for (size_t i = 0; i < SMALL_BLOCKS; i++) {
    m.blocks[i].before_attention = m.blocks[i].before_feed_forward = layer;
    m.blocks[i].after_attention = m.blocks[i].after_feed_forward = lifted;
    all_biases(&m.blocks[i]);
  }
  check(&m, "norms before and behind");
  for (size_t i = 0; i < SMALL_BLOCKS; i++)
    m.blocks[i].before_attention = m.blocks[i].before_feed_forward = (rs_norm){0};
  check(&m, "norms behind alone");
  small_model_clear(&m);
}

/* Vaswani et al., arXiv:1706.03762, section 3.1: x = norm(x + part(x)), and no norm at the end. */
static void norm_sums(small_model *m, rs_block *blocks, const rs_norm *norm) {
  for (size_t i = 0; i < SMALL_BLOCKS; i++) {
    rs_block *b = &blocks[i];
    b->norm_sums = true;
    b->before_attention = b->before_cross = b->before_feed_forward = (rs_norm){0};
    b->after_attention = b->after_feed_forward = *norm;
    if (b->cross) b->after_cross = *norm;
    all_biases(b);
  }
  m->shape.encoder.final_norm = m->shape.decoder.final_norm = (rs_norm){0};
}

Test(transformer, norms_of_sums__have_right_gradients_in_every_form) {
  const rs_norm norms[] = {{.kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-5},
                           {.kind = RS_NORM_RMS, .around_one = true, .epsilon = 1e-6}};
  for (rs_form form = RS_DECODER; form < (rs_form)RS_FORMS; form++)
    for (size_t i = 0; i < RS_COUNT(norms); i++) {
      small_model m;
      char what[80];
      small_model_fill(&m, form);
      norm_sums(&m, m.blocks, &norms[i]);
      if (form == RS_ENCODER_DECODER) norm_sums(&m, m.encoder, &norms[i]);
      snprintf(what, sizeof what, "%s, %s norms of sums", rs_form_words[form], rs_norm_words[norms[i].kind]);
      check(&m, what);
      small_model_clear(&m);
    }
}

Test(transformer, norms_of_sums__beside_others__have_right_gradients) {
  const rs_norm layer = {.kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-5};
  small_model m;
  small_model_fill(&m, RS_ENCODER_DECODER);
  norm_sums(&m, m.blocks, &layer);
  m.blocks[0].after_cross = (rs_norm){0};
  m.blocks[1].norm_sums = false; /* norms behind the parts, then */
  m.encoder[0].norm_sums = true;
  m.encoder[0].after_feed_forward = layer; /* and norms before */
  check(&m, "norms of sums, behind and before");
  small_model_clear(&m);
  small_model_fill(&m, RS_DECODER);
  norm_sums(&m, m.blocks, &layer);
  m.blocks[0].parallel = m.blocks[1].parallel = true;
  m.blocks[1].before_attention = m.blocks[1].before_feed_forward = layer;
  check(&m, "norms of sums, parallel");
  small_model_clear(&m);
}

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

/* The gradient goes through the numbers that are kept. The embeddings' norm stands before dropout. */
Test(transformer, dropped_numbers__have_right_gradients_in_every_form) {
  const rs_norm layer = {.kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-5};
  const rs_drop drop = {.share = 0.3, .seed = 4, .sequence = 1000};
  for (rs_form form = RS_DECODER; form < (rs_form)RS_FORMS; form++)
    for (size_t sums = 0; sums < 2; sums++) {
      small_model m;
      char what[80];
      small_model_fill(&m, form);
      m.shape.embedding_norm = layer;
      if (sums == 1) norm_sums(&m, m.blocks, &layer);
      if (sums == 1 && form == RS_ENCODER_DECODER) norm_sums(&m, m.encoder, &layer);
      snprintf(what, sizeof what, "%s%s, dropped", rs_form_words[form], sums ? ", norms of sums" : "");
      check_dropped(&m, drop, what);
      small_model_clear(&m);
    }
}

Test(transformer, dropped_numbers__of_other_blocks__have_right_gradients) {
  const rs_norm rms = {.kind = RS_NORM_RMS, .epsilon = 1e-5};
  small_model m;
  small_model_fill(&m, RS_DECODER);
  small_model_recipe(&m, 0, "t5", "");
  for (size_t i = 0; i < SMALL_BLOCKS; i++) {
    m.blocks[i].after_attention = m.blocks[i].after_feed_forward = rms;
    m.blocks[i].attention.kv_heads = 1;
    m.blocks[i].attention.sinks = true;
    m.blocks[i].parallel = i == 1;
  }
  check_dropped(&m, (rs_drop){.share = 0.25, .seed = 9}, "norms behind, parallel, dropped");
  small_model_clear(&m);
}

Test(transformer, parallel_blocks__have_right_gradients) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  for (size_t i = 0; i < SMALL_BLOCKS; i++) m.blocks[i].parallel = true;
  check(&m, "parallel, two norms");
  for (size_t i = 0; i < SMALL_BLOCKS; i++) m.blocks[i].before_feed_forward = (rs_norm){0};
  check(&m, "parallel, one norm");
  for (size_t i = 0; i < SMALL_BLOCKS; i++) m.blocks[i].after_attention = m.blocks[i].before_attention;
  check(&m, "parallel, a norm behind attention");
  small_model_clear(&m);
}

Test(transformer, attentions__have_right_gradients) {
  const rs_norm rms = {.kind = RS_NORM_RMS, .epsilon = 1e-5};
  small_model m;
  small_model_fill(&m, RS_ENCODER_DECODER);
  for (size_t i = 0; i < SMALL_BLOCKS; i++) {
    m.blocks[i].attention.kv_heads = m.encoder[i].attention.kv_heads = 1;
    m.blocks[i].attention.qk_norm = m.encoder[i].attention.qk_norm = rms;
    m.encoder[i].attention.qk_span = i == 0 ? RS_QK_PROJECTION : RS_QK_OWN_HEAD;
    m.blocks[i].attention.sinks = true;
    m.blocks[i].attention.soft_cap = 3;
    m.encoder[i].attention.score_scale = 0.7;
    all_biases(&m.blocks[i]);
  }
  m.blocks[1].mask = (rs_mask){.kind = RS_WINDOW, .window = 3};
  check(&m, "grouped keys, norms of q and k, sinks, caps, windows");
  small_model_clear(&m);
}

Test(transformer, activations_and_outputs__have_right_gradients) {
  for (rs_activation activation = RS_GELU; activation < (rs_activation)RS_ACTIVATIONS; activation++)
    for (size_t gated = 0; gated < 2; gated++) {
      small_model m;
      char what[80];
      small_model_fill(&m, RS_DECODER);
      for (size_t i = 0; i < SMALL_BLOCKS; i++) {
        m.blocks[i].feed_forward.activation = activation;
        m.blocks[i].feed_forward.gated = gated == 1;
        m.blocks[i].feed_forward.bias = true;
      }
      m.shape.tied = gated == 1;
      m.shape.output_cap = gated == 1 ? 2 : 0;
      m.shape.output_scale = 0.5;
      m.shape.embedding_scale = 3;
      snprintf(what, sizeof what, "%s%s", rs_activation_words[activation], gated ? ", gated" : "");
      check(&m, what);
      small_model_clear(&m);
    }
}

Test(transformer, learned_recipes__have_right_gradients) {
  static const char *const methods[][2] = {{"t5", ""},
                                           {"kerple_log", ""},
                                           {"kerple_log", "kernel=power"},
                                           {"fire", ""},
                                           {"learned", ""},
                                           {"learned", ""},
                                           {"shaw", "clip=2 init_sd=0.5"},
                                           {"shaw", "clip=3 init_sd=0.5 read_by=both on_values=false"},
                                           {"transformer_xl", "init_sd=0.5 logit_scale=ssmax"},
                                           {"transformer_xl", "init_sd=0.5 clip=3"},
                                           {"shaw", "init_sd=0.5"}};
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    bool both = i == 5 || i + 1 == RS_COUNT(methods); /* the encoder's rows are of the same table */
    small_model m;
    small_model_fill(&m, both ? RS_ENCODER_DECODER : RS_DECODER);
    small_model_recipe(&m, 0, methods[i][0], methods[i][1]);
    check(&m, methods[i][0]);
    small_model_clear(&m);
  }
}

/* Frequencies that are learned turn pairs side by side, or halves; tables of patches, joint or of rows and columns. */
Test(transformer, recipes_of_pictures__have_right_gradients) {
  static const char *const recipes[][2] = {{"rope_mixed", ""},
                                           {"rope_mixed", "pair_layout=interleaved"},
                                           {"learned_2d", ""},
                                           {"learned_2d", "combine=sum"},
                                           {"learned_2d", "combine=concat"}};
  for (size_t i = 0; i < RS_COUNT(recipes); i++) {
    small_model m;
    small_model_fill(&m, RS_VISION);
    small_model_recipe(&m, 0, recipes[i][0], recipes[i][1]);
    check(&m, recipes[i][1]);
    small_model_clear(&m);
  }
}

Test(transformer, recipes_by_block__have_right_gradients) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  small_model_recipe(&m, 1, "t5", "");
  m.blocks[1].recipe = 1;
  check(&m, "rope, then t5");
  small_model_recipe(&m, 0, "rope", "logit_scale=ssmax");
  check(&m, "rope with a learned scale, then t5");
  small_model_clear(&m);
}

/* Losses of a batch, read `together` sequences at a time. */
static void read_losses(const small_model *m, const rs_batch *batch, size_t together, double *losses) {
  rs_transformer *t = small_model_create(m, RS_F32, 3);
  rs_context *context;
  rs_pass *pass;
  rs_err err = {0};
  cr_assert_eq(rs_context_create(t, NULL, SMALL_LENGTH, 0, &m->tokens, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_pass_create(context, together, false, &pass, &err), RS_OK, "%s", err.message);
  rs_forward(pass, batch, &(rs_pass_out){.losses = losses});
  rs_pass_free(pass);
  rs_context_free(context);
  rs_transformer_free(t);
}

/* A feed-forward takes 128 rows at a time: 360 are two pieces and a part of one. */
Test(transformer, sequences_read_together__have_the_losses_of_each_alone) {
  enum { MANY = 40 };
  static double together[MANY * SMALL_LENGTH], alone[MANY * SMALL_LENGTH];
  small_model m;
  small_model_fill(&m, RS_DECODER);
  m.blocks[0].after_feed_forward = (rs_norm){.kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-5};
  m.blocks[0].feed_forward.gated = m.blocks[1].parallel = true;
  rs_batch batch = small_batch(&m, MANY, 17);
  read_losses(&m, &batch, MANY, together);
  read_losses(&m, &batch, 1, alone);
  cr_expect_arr_eq(together, alone, sizeof alone);
  small_batch_clear(&batch);
  small_model_clear(&m);
}
