/* test_model_memory.c: each allocation of a model, a context, a pass and a training fails in turn. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/heap.h"
#include "../fixtures/small_model.h"
#include "../fixtures/threads.h"

/* What is made, of what stands. */
static small_model model;
static rs_transformer *transformer;
static rs_context *context;

static rs_status use_transformer(rs_err *err) {
  rs_transformer *fresh;
  const rs_transformer_in in = {.shape = &model.shape,
                                .geometry = &model.geometry,
                                .recipes = model.recipes,
                                .recipe_count = model.recipe_count,
                                .tokens = &model.tokens,
                                .format = RS_F32,
                                .seed = 1};
  rs_status status = rs_transformer_create(&in, &fresh, err);
  rs_transformer_free(fresh);
  return status;
}

static size_t source_length(void) {
  return model.shape.form == RS_ENCODER_DECODER ? SMALL_SOURCE : 0;
}

static rs_status use_context(rs_err *err) {
  rs_context *fresh;
  rs_status status = rs_context_create(transformer, NULL, SMALL_LENGTH, source_length(), &model.tokens, &fresh, err);
  if (status == RS_OK) status = rs_context_redraw(fresh, 3, err);
  rs_context_free(fresh);
  return status;
}

static rs_status use_pass(rs_err *err) {
  rs_pass *pass;
  rs_status status = rs_pass_create(context, 2, true, &pass, err);
  rs_pass_free(pass);
  return status;
}

/* Two documents, of which one has another order; where `gaps`, the other has no positions 1 and 3. */
static bool gaps;

static rs_status use_reader(rs_err *err) {
  static const int32_t tokens[SMALL_LENGTH] = {1, 2, 3, 4, 5, 6, 7, 8, 9},
                       documents[SMALL_LENGTH] = {1, 1, 1, 1, 1, 2, 2, 2, 2};
  static const uint8_t present[SMALL_LENGTH] = {0, 1, 1, 1, 1, 1, 1, 1, 1};
  static const double counted[SMALL_LENGTH] = {0, 3, 0, 2, 1, 0, 1, 2, 3},
                      apart[SMALL_LENGTH] = {0, 3, 0, 2, 1, 0, 2, 4, 5};
  double ids[SMALL_LENGTH * RS_AXES], logits[SMALL_LENGTH * SMALL_VOCABULARY];
  for (size_t i = 0; i < SMALL_LENGTH * RS_AXES; i++) ids[i] = gaps ? apart[i / RS_AXES] : counted[i / RS_AXES];
  const rs_reader_in in = {.count = 1,
                           .length = SMALL_LENGTH,
                           .tokens = tokens,
                           .present = present,
                           .ids = ids,
                           .documents = documents,
                           .last = SMALL_LENGTH};
  return rs_read_logits(transformer, &in, logits, err);
}

static rs_status task_shape(const void *state, size_t length, rs_example_shape *shape, rs_err *err) {
  (void)state;
  (void)err;
  *shape = (rs_example_shape){.length = length, .vocabulary = SMALL_VOCABULARY, .classes = SMALL_VOCABULARY};
  return RS_OK;
}

static rs_status use_trainer(rs_err *err) {
  const rs_training training = {.steps = 2,
                                .length = SMALL_LENGTH,
                                .sequences = 4,
                                .rate = 0.01,
                                .final_rate = 0.1,
                                .beta1 = 0.9,
                                .beta2 = 0.98,
                                .epsilon = 1e-8};
  static const rs_task_kind kind = {
      .kind = {.name = "blank"}, .form = RS_DECODER, .parts = {"all"}, .shape = task_shape};
  const rs_task task = {.kind = &kind};
  rs_trainer *trainer;
  rs_status status = rs_trainer_create(transformer, &training, &task, 1, &trainer, err);
  rs_trainer_free(trainer);
  return status;
}

/* Fails the n-th allocation, or all from the n-th on, for each n. */
static void survives(rs_status (*use)(rs_err *), const char *what, const char *name) {
  long counted = 0;
  for (int all = 0; all < 2; all++) {
    refused = true;
    for (long n = 0; refused; n++) {
      rs_err err = {0};
      long before = blocks;
      refused = false;
      refuse_all = all;
      allocations = n;
      rs_status status = use(&err);
      allocations = -1;
      cr_assert_eq(blocks, before, "%s of %s, allocation %ld: %ld blocks leaked", what, name, n, blocks - before);
      cr_assert_eq(status, err.status, "%s of %s, allocation %ld", what, name, n);
      cr_assert_eq(status, refused ? RS_MEMORY : RS_OK, "%s of %s, allocation %ld: %s", what, name, n, err.message);
      cr_assert(!refused || strncmp(err.message, "out of memory", 13) == 0, "%s", err.message);
      cr_assert(n < 10000);
      counted += refused;
    }
  }
  cr_assert_gt(counted, 4, "%s of %s: %ld allocations", what, name, counted);
}

/* Each maker, of a model of the form whose blocks read the recipes in turn. */
static void check(rs_form form, const char *first, const char *second) {
  rs_err err = {0};
  small_model_fill(&model, form);
  small_model_recipe(&model, 0, first, "");
  small_model_recipe(&model, 1, second, "logit_scale=ssmax");
  model.blocks[1].recipe = 1;
  transformer = small_model_create(&model, RS_F32, 1);
  cr_assert_eq(rs_context_create(transformer, NULL, SMALL_LENGTH, source_length(), &model.tokens, &context, &err),
               RS_OK, "%s", err.message);
  survives(use_transformer, "a transformer", first);
  survives(use_context, "a context", first);
  survives(use_pass, "a pass", first);
  rs_context_free(context);
  if (form == RS_DECODER) survives(use_trainer, "a trainer", first);
  gaps = strcmp(first, "learned") == 0;
  if (form == RS_DECODER) survives(use_reader, "a reader", first);
  rs_transformer_free(transformer);
  small_model_clear(&model);
}

Test(model, all__each_failing_allocation__is_survived_without_leak) {
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  use_threads(1);
  check(RS_DECODER, "random_rope", "t5");
  check(RS_DECODER, "learned", "fire");
  check(RS_DECODER, "shaw", "transformer_xl");
  check(RS_ENCODER_DECODER, "kerple_log", "rope");
  check(RS_VISION, "learned_2d", "swin");
}
