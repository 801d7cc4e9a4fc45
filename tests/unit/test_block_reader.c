/* test_block_reader.c: queries and keys of a model's blocks give, by the engine, the weights that the model's own pass
 * attends with. The pass does not show weights, but what they make of values: in a model whose only acting part is the
 * attention of one block, its last states are x + Wo sum_n p(m, n) Wv x[n]. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/obtain.h"
#include "../fixtures/small_model.h"
#include "model/model.h"

enum { LENGTH = 24, WIDTH = 8, HEADS = 2, DIMS = 4, SYMBOLS = SMALL_VOCABULARY - 2 };

typedef struct sight {
  const char *name, *first, *settings, *second; /* recipes of block 0 and block 1; NULL: the same */
  rs_mask mask;
  size_t kv_heads;
  rs_norm_kind qk_norm;
  double score_scale, soft_cap;
  bool sinks;
} sight;

static const sight sights[] = {
    {"rotary", "rope", "", NULL, {RS_CAUSAL}, 2, RS_NORM_NONE, 0, 0, false},
    {"biased", "alibi", "", NULL, {RS_CAUSAL}, 2, RS_NORM_NONE, 0, 0, false},
    {"bent", "rerope", "window=5", NULL, {RS_CAUSAL}, 2, RS_NORM_NONE, 0, 0, false},
    {"windowed", "rope", "", NULL, {RS_WINDOW, 4, 0, NULL}, 2, RS_NORM_NONE, 0, 0, false},
    {"window and sinks", "yarn", "factor=4", NULL, {RS_WINDOW_SINKS, 4, 2, NULL}, 2, RS_NORM_NONE, 0, 0, false},
    {"shared keys", "rope", "", NULL, {RS_CAUSAL}, 1, RS_NORM_RMS, 0, 0, false},
    {"other scale", "rope", "logit_scale=log_n", NULL, {RS_CAUSAL}, 2, RS_NORM_NONE, 0.9, 0, false},
    {"one recipe a block", "rope", "", "alibi", {RS_CAUSAL}, 2, RS_NORM_NONE, 0, 0, false},
    {"added table", "sinusoidal", "", NULL, {RS_CAUSAL}, 2, RS_NORM_NONE, 0, 0, false},
    {"capped before the bias", "alibi", "", NULL, {RS_WINDOW, 9, 0, NULL}, 1, RS_NORM_NONE, 2, 0.7, false},
    {"capped views", "rerope", "window=5", NULL, {RS_CAUSAL}, 2, RS_NORM_RMS, 0, 1.5, false},
    {"learned sinks", "yarn", "factor=4", NULL, {RS_CAUSAL}, 2, RS_NORM_NONE, 0, 0, true},
    {"learned sinks, capped", "t5", "", NULL, {RS_CAUSAL}, 2, RS_NORM_RMS, 0, 2, true},
    {"turns of each head", "rope_mixed", "", NULL, {RS_CAUSAL}, 2, RS_NORM_NONE, 0, 0, false},
    {"turns of each head, shared keys", "rope_mixed", "", NULL, {RS_CAUSAL}, 1, RS_NORM_NONE, 0, 0, false},
    {"turns of each head, capped", "rope_mixed", "", NULL, {RS_CAUSAL}, 2, RS_NORM_NONE, 0, 1.5, true},
};

/* ---- a model that attends once ----------------------------------------------------------------------------------- */

static const double *weights_of(const rs_transformer *t, size_t block, const char *part, size_t *count) {
  char name[128];
  snprintf(name, sizeof name, "model.layers.%zu.%s.weight", block, part);
  const rs_tensor *tensor = rs_transformer_tensor(t, name);
  cr_assert_not_null(tensor, "no %s", name);
  *count = tensor->rows * tensor->columns;
  return (const double *)t->values + tensor->offset;
}

static void silence(rs_transformer *t, size_t block, const char *part) {
  size_t count;
  double *weights = (double *)weights_of(t, block, part, &count);
  memset(weights, 0, count * sizeof *weights);
}

/* -1, 2 in block 0; 4 and 1 in block 1. */
static void set_sinks(rs_transformer *t, size_t block) {
  static const double sinks[SMALL_BLOCKS][HEADS] = {{-1, 2}, {4, 1}};
  char name[64];
  snprintf(name, sizeof name, "model.layers.%zu.self_attn.sinks", block);
  const rs_tensor *tensor = rs_transformer_tensor(t, name);
  cr_assert(tensor != NULL && tensor->columns == HEADS, "no %s", name);
  memcpy((double *)t->values + tensor->offset, sinks[block], sizeof sinks[block]);
}

static rs_transformer *model_of(const sight *s) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  m.geometry.train_length = LENGTH / 4;
  small_model_recipe(&m, 0, s->first, s->settings);
  if (s->second != NULL) small_model_recipe(&m, 1, s->second, "");
  for (size_t b = 0; b < SMALL_BLOCKS; b++) {
    rs_block *block = &m.blocks[b];
    block->before_attention.kind = RS_NORM_NONE;
    block->attention.kv_heads = s->kv_heads;
    block->attention.qk_norm = (rs_norm){.kind = s->qk_norm, .epsilon = 1e-5};
    block->attention.score_scale = s->score_scale;
    block->attention.soft_cap = s->soft_cap;
    block->attention.sinks = s->sinks;
    block->mask = s->mask;
    block->recipe = s->second != NULL ? b : 0;
  }
  m.shape.decoder.final_norm.kind = RS_NORM_NONE;
  rs_transformer *t = small_model_create(&m, RS_F64, 3);
  for (size_t b = 0; b < SMALL_BLOCKS; b++) {
    silence(t, b, "mlp.down_proj");
    if (s->sinks) set_sinks(t, b);
  }
  small_model_clear(&m);
  return t;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static rs_task copy_task(void) {
  rs_settings settings;
  const rs_task_kind *kind = rs_task_find("copy");
  rs_binding binding;
  rs_task task;
  cr_assert_eq(rs_settings_init_specs(&settings, kind->kind.params, kind->kind.param_count, NULL), RS_OK);
  settings.values[rs_settings_find(&settings, "symbols")].number = SYMBOLS;
  cr_assert_eq(
      rs_binding_make(&settings, kind->kind.params, kind->kind.param_count, kind->kind.params_size, &binding, NULL),
      RS_OK);
  cr_assert_eq(rs_task_prepare(kind, &(rs_task_in){.params = binding.fields, .seed = 5}, &task, NULL), RS_OK);
  rs_binding_clear(&binding);
  rs_settings_clear(&settings);
  return task;
}

static void draw_tokens(const rs_task *task, uint64_t index, int32_t *tokens) {
  int32_t targets[LENGTH];
  uint8_t parts[LENGTH];
  float depths[LENGTH];
  rs_example example = {.tokens = tokens, .targets = targets, .parts = parts, .depths = depths};
  task->kind->draw(task->state, RS_SPLIT_EVALUATION, index, LENGTH, &example);
}

static rs_context *context_of(const rs_transformer *t) {
  rs_context *context;
  rs_err err = {0};
  cr_assert_eq(rs_context_create(t, NULL, LENGTH, 0, NULL, &context, &err), RS_OK, "%s", err.message);
  return context;
}

/* The last states (LENGTH, WIDTH) of the tokens. */
static void states_of(const rs_transformer *t, const int32_t *tokens, double *states) {
  rs_context *context = context_of(t);
  rs_pass *pass;
  cr_assert_eq(rs_pass_create(context, 1, false, &pass, NULL), RS_OK);
  rs_forward(pass, &(rs_batch){.sequences = 1, .tokens = tokens}, &(rs_pass_out){.states = states});
  rs_pass_free(pass);
  rs_context_free(context);
}

/* y += W x of a matrix (rows, columns). */
static void apply(const double *w, size_t rows, size_t columns, const double *x, double *y) {
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++) y[r] += w[r * columns + c] * x[c];
}

/* ---- the engine's weights ---------------------------------------------------------------------------------------- */

/* p (LENGTH, LENGTH) of one head: bins of one distance each hold one key. */
static void weights_by_engine(const rs_context *context, const rs_block_reader *reader, const sight *s, size_t block,
                              size_t head, double *p) {
  const rs_source_kind *kind = rs_source_find("model");
  size_t queries[LENGTH], edges[LENGTH + 1];
  double q[LENGTH * DIMS], k[LENGTH * DIMS];
  rs_given_rows given = rs_block_reader_head(reader, head);
  rs_source_in in = {.head_dim = DIMS, .length = LENGTH, .given = &given};
  cr_assert_eq(rs_source_prepare(kind, &in, NULL), RS_OK);
  kind->keys(&in, 0, LENGTH, k);
  for (size_t m = 0; m < LENGTH; m++) kind->query(&in, m, q + m * DIMS);
  rs_source_release(kind, &in);
  for (size_t m = 0; m <= LENGTH; m++) edges[m] = m;
  for (size_t m = 0; m < LENGTH; m++) queries[m] = m;
  const rs_attention_job job = {.encoding = rs_context_block_encoding(context, block),
                                .head = head,
                                .mask = s->mask,
                                .queries = queries,
                                .query_count = LENGTH,
                                .q = q,
                                .k = k,
                                .soft_cap = given.rule.soft_cap,
                                .learned_sink = given.rule.sinks ? &given.rule.learned_sink : NULL,
                                .edges = edges,
                                .bins = LENGTH,
                                .scores = RS_SCORES_F64};
  rs_engine *engine;
  rs_observation *seen;
  rs_err err = {0};
  cr_assert_eq(rs_engine_create(LENGTH, DIMS, job.encoding->views, &engine, NULL), RS_OK);
  cr_assert_eq(rs_engine_run(engine, &job, &seen, &err), RS_OK, "%s", err.message);
  for (size_t m = 0; m < LENGTH; m++)
    for (size_t n = 0; n <= m; n++) p[m * LENGTH + n] = seen->rows[m].bin_weight[m - n];
  rs_observation_free(seen);
  rs_engine_free(engine);
}

/* What the block's attention adds to x, by these weights. */
static void attend(const rs_transformer *t, const rs_context *context, const rs_block_reader *reader, const sight *s,
                   size_t block, const double *x, double *states) {
  size_t count, keys = s->kv_heads * DIMS;
  const double *wv = weights_of(t, block, "self_attn.v_proj", &count),
               *wo = weights_of(t, block, "self_attn.o_proj", &count);
  double *v = obtain(LENGTH * keys, sizeof *v), *out = obtain(LENGTH * WIDTH, sizeof *out);
  for (size_t n = 0; n < LENGTH; n++) apply(wv, keys, WIDTH, x + n * WIDTH, v + n * keys);
  for (size_t h = 0; h < HEADS; h++) {
    double *p = obtain(LENGTH * LENGTH, sizeof *p);
    size_t shared = h / (HEADS / s->kv_heads) * DIMS;
    weights_by_engine(context, reader, s, block, h, p);
    for (size_t m = 0; m < LENGTH; m++)
      for (size_t n = 0; n <= m; n++)
        for (size_t d = 0; d < DIMS; d++) out[m * WIDTH + h * DIMS + d] += p[m * LENGTH + n] * v[n * keys + shared + d];
    free(p);
  }
  memcpy(states, x, LENGTH * WIDTH * sizeof *states);
  for (size_t m = 0; m < LENGTH; m++) apply(wo, WIDTH, WIDTH, out + m * WIDTH, states + m * WIDTH);
  free(v);
  free(out);
}

static void check_block(const sight *s, size_t block) {
  double want[LENGTH * WIDTH], x[LENGTH * WIDTH], got[LENGTH * WIDTH], moved = 0;
  int32_t tokens[LENGTH];
  rs_task task = copy_task();
  rs_transformer *t = model_of(s), *still = model_of(s);
  silence(t, 1 - block, "self_attn.o_proj");
  for (size_t b = 0; b < SMALL_BLOCKS; b++) silence(still, b, "self_attn.o_proj");
  draw_tokens(&task, 7, tokens);
  states_of(t, tokens, want);
  states_of(still, tokens, x);
  rs_context *context = context_of(t);
  rs_block_reader *reader;
  cr_assert_eq(rs_block_reader_create(context, &task, LENGTH, &reader, NULL), RS_OK);
  rs_block_reader_read(reader, RS_SPLIT_EVALUATION, 3, 1 - block); /* what was read before is forgotten */
  rs_block_reader_read(reader, RS_SPLIT_EVALUATION, 7, block);
  attend(t, context, reader, s, block, x, got);
  for (size_t i = 0; i < LENGTH * WIDTH; i++) {
    cr_assert(fabs(got[i] - want[i]) <= 1e-12, "%s, block %zu, number %zu: %.17g, the model has %.17g", s->name, block,
              i, got[i], want[i]);
    moved = fmax(moved, fabs(want[i] - x[i]));
  }
  cr_assert_gt(moved, 0.01, "%s: attention does nothing", s->name);
  rs_block_reader_free(reader);
  rs_context_free(context);
  rs_transformer_free(t);
  rs_transformer_free(still);
  rs_task_clear(&task);
}

Test(block_reader, rows_by_the_engine__are_the_weights_of_the_models_own_pass) {
  for (size_t i = 0; i < RS_COUNT(sights); i++)
    for (size_t block = 0; block < SMALL_BLOCKS; block++) check_block(&sights[i], block);
}

/* A pass forward alone shares arrays between blocks, one for training keeps them all: both give the same rows. */
Test(block_reader, queries_and_keys__of_any_block__whatever_else_is_wanted) {
  enum { NUMBERS = LENGTH * WIDTH };
  double q[3][NUMBERS], k[3][NUMBERS], states[NUMBERS];
  int32_t tokens[LENGTH];
  rs_task task = copy_task();
  rs_transformer *t = model_of(&sights[0]);
  rs_context *context = context_of(t);
  draw_tokens(&task, 2, tokens);
  for (size_t block = 0; block < SMALL_BLOCKS; block++) {
    for (size_t i = 0; i < 3; i++) {
      rs_pass *pass;
      cr_assert_eq(rs_pass_create(context, 1, i == 2, &pass, NULL), RS_OK);
      rs_pass_out out = {.block = block, .q = q[i], .k = k[i], .states = i > 0 ? states : NULL};
      rs_forward(pass, &(rs_batch){.sequences = 1, .tokens = tokens}, &out);
      rs_pass_free(pass);
      cr_expect_arr_eq(q[i], q[0], sizeof q[0], "block %zu, pass %zu", block, i);
      cr_expect_arr_eq(k[i], k[0], sizeof k[0], "block %zu, pass %zu", block, i);
    }
  }
  rs_context_free(context);
  rs_transformer_free(t);
  rs_task_clear(&task);
}

Test(block_reader, blocks_that_are_not_there__are_refused) {
  small_model m;
  rs_err err = {0};
  small_model_fill(&m, RS_DECODER);
  cr_expect_eq(rs_block_check(&m.shape, 1, &err), RS_OK);
  cr_expect_eq(rs_block_check(&m.shape, 2, &err), RS_DOMAIN);
  cr_expect_str_eq(err.message, "layer 2: the model has 2 (0 to 1)");
  m.blocks[1].attention.qk_norm = (rs_norm){.kind = RS_NORM_RMS, .epsilon = 1e-5};
  cr_expect_eq(rs_block_check(&m.shape, 1, &err), RS_OK);
  m.blocks[1].attention.qk_norm_turned = true;
  err = (rs_err){0};
  cr_expect_eq(rs_block_check(&m.shape, 1, &err), RS_UNSUPPORTED);
  cr_expect_str_eq(err.message, "layer 1: queries and keys get weights behind the rotation: no rows before it have its "
                                "scores");
  m.blocks[1].attention.qk_norm.kind = RS_NORM_L2;
  cr_expect_eq(rs_block_check(&m.shape, 1, &err), RS_OK);
  small_model_clear(&m);
}

Test(block_reader, texts_that_cannot_be_read__are_refused) {
  static const struct {
    rs_form form;
    int32_t third;
    rs_status status;
    const char *message;
  } cases[] = {
      {RS_DECODER, SMALL_VOCABULARY - 1, RS_OK, ""},
      {RS_DECODER, SMALL_VOCABULARY, RS_INPUT, "token 2 (from 0) is 11, the vocabulary has 11"},
      {RS_DECODER, -1, RS_INPUT, "token 2 (from 0) is -1, the vocabulary has 11"},
      {RS_ENCODER, 1, RS_UNSUPPORTED, "the model is no decoder: no text alone gives its blocks what they read"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    rs_err err = {0};
    double q[3 * 8], k[3 * 8];
    small_model_fill(&m, cases[i].form);
    rs_transformer *t = small_model_create(&m, RS_F64, 1);
    const int32_t tokens[] = {0, 5, cases[i].third};
    cr_expect_eq(rs_read_block(t, tokens, RS_COUNT(tokens), 1, q, k, &err), cases[i].status, "case %zu", i);
    cr_expect_str_eq(err.message, cases[i].message);
    rs_transformer_free(t);
    small_model_clear(&m);
  }
}

/* Of a batch that is read in several goes, rows are the first sequence's. */
Test(block_reader, rows__are_those_of_the_first_sequence) {
  double q[2][LENGTH * WIDTH], k[2][LENGTH * WIDTH];
  int32_t tokens[3 * LENGTH];
  rs_task task = copy_task();
  rs_transformer *t = model_of(&sights[0]);
  rs_context *context = context_of(t);
  rs_pass *pass;
  for (size_t s = 0; s < 3; s++) draw_tokens(&task, 2 + s, tokens + s * LENGTH);
  cr_assert_eq(rs_pass_create(context, 1, false, &pass, NULL), RS_OK);
  for (size_t i = 0; i < 2; i++)
    rs_forward(pass, &(rs_batch){.sequences = i == 0 ? 1 : 3, .tokens = tokens},
               &(rs_pass_out){.block = 1, .q = q[i], .k = k[i]});
  cr_expect_arr_eq(q[0], q[1], sizeof q[0]);
  cr_expect_arr_eq(k[0], k[1], sizeof k[0]);
  rs_pass_free(pass);
  rs_context_free(context);
  rs_transformer_free(t);
  rs_task_clear(&task);
}

/* A copy's answers stand in the string; what is no needle seeks nothing. */
Test(block_reader, needles__are_what_the_task_says) {
  rs_task task = copy_task();
  rs_transformer *t = model_of(&sights[0]);
  rs_context *context = context_of(t);
  rs_block_reader *reader;
  cr_assert_eq(rs_block_reader_create(context, &task, LENGTH, &reader, NULL), RS_OK);
  rs_block_reader_read(reader, RS_SPLIT_EVALUATION, 0, 0);
  const rs_given_rows given = rs_block_reader_head(reader, 1);
  for (size_t n = 0; n < LENGTH; n++)
    cr_expect_eq(given.sought[n], n < LENGTH / 2 ? RS_NO_NEEDLE : n - LENGTH / 2, "token %zu", n);
  rs_block_reader_free(reader);
  rs_context_free(context);
  rs_transformer_free(t);
  rs_task_clear(&task);
}
