/* test_pooling.c: what says the class of a picture or sequence: by the states of a pass, summed here, and by laws. */
#include "fixtures/pictures.h"
#include "fixtures/small_model.h"
#include "fixtures/threads.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENCES = 5, CLASSES = 6, WIDTH = 8 };

/* A vision model, or an encoder of text. */
static void fill(small_model *m, rs_form form, bool mean, bool alone, const char *method) {
  small_model_fill(m, form);
  m->shape.pool = mean ? RS_POOL_MEAN : RS_POOL_CLASS;
  m->shape.patches_alone = alone;
  if (form == RS_VISION) small_model_image(m, alone ? 3 : 4, alone ? 3 : 2);
  small_model_recipe(m, 0, method, "");
}

static void forward(rs_transformer *t, const small_model *m, const rs_batch *batch, double *logits, double *states) {
  rs_context *context;
  rs_pass *pass;
  rs_err err = {0};
  cr_assert_eq(rs_context_create(t, NULL, SMALL_LENGTH, 0, &m->tokens, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_pass_create(context, 2, false, &pass, &err), RS_OK, "%s", err.message);
  rs_forward(pass, batch, &(rs_pass_out){.logits = logits, .states = states});
  rs_pass_free(pass);
  rs_context_free(context);
}

/* W z + b of the output's weights. */
static double logit(const rs_transformer *t, size_t class, const double *z) {
  const rs_tensor *w = rs_transformer_tensor(t, "lm_head.weight");
  double sum = 0;
  for (size_t i = 0; i < WIDTH; i++) sum += rs_transformer_get(t, w->offset + class * WIDTH + i) * z[i];
  return sum;
}

/* z: the state of token 0, or the mean of those from `lead` on. */
static void check_logits(rs_form form, bool mean, bool alone, size_t lead) {
  small_model m;
  size_t classes = form == RS_VISION ? CLASSES : SMALL_VOCABULARY;
  double logits[SEQUENCES * SMALL_VOCABULARY], states[SEQUENCES * SMALL_LENGTH * WIDTH];
  fill(&m, form, mean, alone, "rope");
  rs_transformer *t = small_model_create(&m, RS_F64, 3);
  rs_batch batch = small_batch(&m, SEQUENCES, 9);
  forward(t, &m, &batch, logits, states);
  for (size_t s = 0; s < SEQUENCES; s++) {
    double z[WIDTH] = {0};
    for (size_t n = mean ? lead : 0; n < (mean ? SMALL_LENGTH : 1); n++)
      for (size_t i = 0; i < WIDTH; i++)
        z[i] += states[(s * SMALL_LENGTH + n) * WIDTH + i] / (double)(mean ? SMALL_LENGTH - lead : 1);
    for (size_t c = 0; c < classes; c++)
      cr_expect_float_eq(logits[s * classes + c], logit(t, c, z), 1e-12,
                         "%s, mean %d, alone %d: sequence %zu class %zu", rs_form_words[form], mean, alone, s, c);
  }
  small_batch_clear(&batch);
  rs_transformer_free(t);
  small_model_clear(&m);
}

Test(pooling, logits__are_of_the_class_token_or_the_mean) {
  check_logits(RS_VISION, false, false, 1);
  check_logits(RS_VISION, true, false, 1);
  check_logits(RS_VISION, true, true, 0);
  check_logits(RS_ENCODER, true, false, 1);
}

/* Without positions, patches are a set: their order changes no logit, by whatever state the class is said. */
Test(pooling, patches_without_positions__in_any_order) {
  for (size_t way = 0; way < 3; way++) {
    small_model m;
    double before[SEQUENCES * CLASSES], after[SEQUENCES * CLASSES], turned[SEQUENCES * CLASSES], most = 0;
    fill(&m, RS_VISION, way > 0, way == 2, "nope");
    size_t patches = SMALL_LENGTH - rs_shape_lead(&m.shape);
    rs_transformer *t = small_model_create(&m, RS_F64, 3);
    rs_batch batch = small_batch(&m, SEQUENCES, 9);
    forward(t, &m, &batch, before, NULL);
    float *numbers = (float *)batch.patches, first[SMALL_PATCH];
    for (size_t s = 0; s < SEQUENCES; s++) { /* the first goes behind the others */
      float *image = numbers + s * patches * SMALL_PATCH;
      memcpy(first, image, sizeof first);
      memmove(image, image + SMALL_PATCH, (patches - 1) * sizeof first);
      memcpy(image + (patches - 1) * SMALL_PATCH, first, sizeof first);
    }
    forward(t, &m, &batch, after, NULL);
    for (size_t i = 0; i < SEQUENCES * CLASSES; i++)
      cr_expect_float_eq(before[i], after[i], 1e-12, "way %zu: logit %zu", way, i);
    rs_transformer_free(t);
    small_model_recipe(&m, 0, "axial", "");
    t = small_model_create(&m, RS_F64, 3);
    forward(t, &m, &batch, turned, NULL);
    for (size_t i = 0; i < SEQUENCES * CLASSES; i++) most = fmax(most, fabs(turned[i] - after[i]));
    cr_expect(most > 1e-3, "way %zu: positions change nothing", way);
    small_batch_clear(&batch);
    rs_transformer_free(t);
    small_model_clear(&m);
  }
}

Test(pooling, tensors__of_patches_alone__hold_no_class_token) {
  for (size_t alone = 0; alone < 2; alone++) {
    small_model m;
    fill(&m, RS_VISION, true, alone == 1, "rope");
    rs_transformer *t = small_model_create(&m, RS_F64, 3);
    cr_expect_eq(rs_transformer_tensor(t, "model.class_token") == NULL, alone == 1);
    rs_transformer_free(t);
    small_model_clear(&m);
  }
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

enum { STEPS = 30 };

Test(pooling, training__any_threads_and_interruptions__the_same_bits) {
  for (size_t way = 0; way < 3; way++) {
    small_model m;
    fill(&m, RS_VISION, way > 0, way == 2, "learned_2d");
    rs_transformer *one = pictures_train(&m, NULL, 1, STEPS, STEPS), *three = pictures_train(&m, NULL, 3, STEPS, STEPS);
    rs_transformer *parted = pictures_train(&m, NULL, 1, STEPS, 11);
    size_t bytes = one->size * sizeof(double);
    cr_expect_eq(memcmp(one->values, three->values, bytes), 0, "way %zu: three threads", way);
    cr_expect_eq(memcmp(one->values, parted->values, bytes), 0, "way %zu: interrupted", way);
    rs_transformer_free(one);
    rs_transformer_free(three);
    rs_transformer_free(parted);
    small_model_clear(&m);
  }
}

/* A class that the mean tells at once. */
Test(pooling, training__learns) {
  for (size_t way = 0; way < 3; way++) {
    small_model m;
    fill(&m, RS_VISION, way > 0, way == 2, "nope");
    rs_transformer *before = pictures_train(&m, NULL, 1, 1, 1), *after = pictures_train(&m, NULL, 1, 60, 60);
    double first = pictures_loss(&m, before), last = pictures_loss(&m, after);
    cr_expect(last < 0.6 * first, "way %zu: %g after %g", way, last, first);
    rs_transformer_free(before);
    rs_transformer_free(after);
    small_model_clear(&m);
  }
}

/* ---- what does not go together ----------------------------------------------------------------------------------- */

Test(pooling, shapes__that_pool_nothing__are_refused) {
  static const struct {
    rs_form form;
    bool mean, alone;
    const char *message;
  } cases[] = {
      {RS_DECODER, true, false, "decoder: says a class at each token: nothing to take the mean of"},
      {RS_ENCODER_DECODER, true, false, "encoder_decoder: says a class at each token: nothing to take the mean of"},
      {RS_ENCODER, false, true, "encoder: reads no patches"},
      {RS_VISION, false, true, "patches without a class token say no class by it: must take their mean"},
      {RS_VISION, true, true, ""},
      {RS_ENCODER, true, false, ""}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    rs_err err = {0};
    small_model_fill(&m, cases[i].form);
    m.shape.pool = cases[i].mean ? RS_POOL_MEAN : RS_POOL_CLASS;
    m.shape.patches_alone = cases[i].alone;
    cr_expect_eq(rs_shape_check(&m.shape, &err), *cases[i].message == '\0' ? RS_OK : RS_INPUT, "case %zu", i);
    cr_expect_str_eq(err.message, cases[i].message);
    small_model_clear(&m);
  }
}

Test(pooling, one_token_of_a_class_symbol__has_no_mean) {
  small_model m;
  rs_context *context;
  rs_err err = {0};
  fill(&m, RS_ENCODER, true, false, "rope");
  rs_transformer *t = small_model_create(&m, RS_F64, 3);
  cr_expect_eq(rs_context_create(t, NULL, 1, 0, NULL, &context, &err), RS_DOMAIN);
  cr_expect_str_eq(err.message, "1 token: none behind the class token to take the mean of");
  cr_expect_eq(rs_context_create(t, NULL, 2, 0, NULL, &context, NULL), RS_OK);
  rs_context_free(context);
  rs_transformer_free(t);
  small_model_clear(&m);
}

static rs_status text_shape(const void *state, size_t length, rs_example_shape *shape, rs_err *err) {
  (void)state, (void)err;
  *shape = (rs_example_shape){.length = length, .vocabulary = 3, .classes = 3};
  return RS_OK;
}

Test(pooling, tasks_that_ask_at_each_token__are_refused) {
  static const rs_task_kind each = {.kind = {.name = "each"}, .form = RS_ENCODER, .shape = text_shape};
  static const rs_task_kind once = {.kind = {.name = "once"}, .form = RS_ENCODER, .single = true, .shape = text_shape};
  small_model m;
  rs_context *context;
  rs_err err = {0};
  fill(&m, RS_ENCODER, true, false, "rope");
  rs_transformer *t = small_model_create(&m, RS_F64, 3);
  cr_expect_eq(rs_context_of_task(t, NULL, &(rs_task){.kind = &each}, 8, &context, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "the task each asks at each token; this model says one class a sequence");
  cr_expect_eq(rs_context_of_task(t, NULL, &(rs_task){.kind = &once}, 8, &context, NULL), RS_OK);
  rs_context_free(context);
  rs_transformer_free(t);
  small_model_clear(&m);
}
