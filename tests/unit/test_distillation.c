/* test_distillation.c: two heads and their teacher (arXiv:2012.12877): losses and predictions by the states of a pass,
 * worked out here; gradients by differences. */
#include "fixtures/pictures.h"
#include "fixtures/small_model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENCES = 4, CLASSES = 6, WIDTH = 8, TOKENS = SMALL_LENGTH };

static void fill(small_model *m, rs_prediction prediction, bool mean) {
  small_model_fill(m, RS_VISION);
  m->shape.distillation_token = true;
  m->shape.prediction = prediction;
  m->shape.pool = mean ? RS_POOL_MEAN : RS_POOL_CLASS;
  m->shape.output_bias = true;
  small_model_image(m, 7, 1);
  small_model_recipe(m, 0, "axial", "");
}

/* Weights that no norm or bias leaves at 1 or 0. */
static void shake(rs_transformer *t) {
  double *noise = malloc(t->size * sizeof *noise);
  rs_gaussian_fill((rs_stream){.seed = 5, .purpose = RS_PURPOSE_QUERIES}, 0, t->size, noise);
  for (size_t i = 0; i < t->size; i++) ((double *)t->values)[i] += 0.2 * noise[i];
  free(noise);
}

/* logits (SEQUENCES, CLASSES) and states, either NULL. */
static void forward(const rs_transformer *t, const small_model *m, const rs_batch *batch, double *logits,
                    double *states) {
  rs_context *context;
  rs_pass *pass;
  rs_err err = {0};
  cr_assert_eq(rs_context_create(t, NULL, TOKENS, 0, &m->tokens, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_pass_create(context, 3, false, &pass, &err), RS_OK, "%s", err.message);
  rs_forward(pass, batch, &(rs_pass_out){.logits = logits, .states = states});
  rs_pass_free(pass);
  rs_context_free(context);
}

/* What both heads say, by the states: the class token's, or the patches' mean, and the second token's. */
static void heads_of(const rs_transformer *t, const small_model *m, const double *states, size_t sequence,
                     double said[2][CLASSES]) {
  static const char *const names[2][2] = {{"lm_head.weight", "lm_head.bias"},
                                          {"distillation_head.weight", "distillation_head.bias"}};
  const double *rows = states + sequence * TOKENS * WIDTH;
  double z[2][WIDTH] = {{0}};
  for (size_t i = 0; i < WIDTH; i++) {
    for (size_t n = 2; n < TOKENS && m->shape.pool == RS_POOL_MEAN; n++) z[0][i] += rows[n * WIDTH + i] / (TOKENS - 2);
    if (m->shape.pool == RS_POOL_CLASS) z[0][i] = rows[i];
    z[1][i] = rows[WIDTH + i];
  }
  for (size_t h = 0; h < 2; h++)
    for (size_t c = 0; c < CLASSES; c++) {
      const rs_tensor *w = rs_transformer_tensor(t, names[h][0]), *b = rs_transformer_tensor(t, names[h][1]);
      said[h][c] = rs_transformer_get(t, b->offset + c);
      for (size_t i = 0; i < WIDTH; i++) said[h][c] += rs_transformer_get(t, w->offset + c * WIDTH + i) * z[h][i];
    }
}

static void softmax(const double *logits, double *p) {
  double sum = 0;
  for (size_t c = 0; c < CLASSES; c++) sum += exp(logits[c]);
  for (size_t c = 0; c < CLASSES; c++) p[c] = exp(logits[c]) / sum;
}

/* ---- predictions ------------------------------------------------------------------------------------------------- */

Test(distillation, predictions__are_means_of_softmaxes_or_of_logits) {
  for (size_t way = 0; way < 6; way++) {
    static const rs_prediction predictions[] = {RS_PREDICTS_CLASS, RS_PREDICTS_SOFTMAXES, RS_PREDICTS_LOGITS};
    small_model m;
    rs_prediction prediction = predictions[way % 3];
    double logits[SEQUENCES * CLASSES], states[SEQUENCES * TOKENS * WIDTH];
    fill(&m, prediction, way >= 3);
    if (prediction == RS_PREDICTS_CLASS) m.shape.prediction = RS_PREDICTS_LOGITS; /* for the weights of both heads */
    rs_transformer *t = small_model_create(&m, RS_F64, 3);
    shake(t);
    t->shape.prediction = prediction;
    rs_batch batch = small_batch(&m, SEQUENCES, 17);
    forward(t, &m, &batch, logits, states);
    for (size_t s = 0; s < SEQUENCES; s++) {
      double said[2][CLASSES], p[2][CLASSES];
      heads_of(t, &m, states, s, said);
      for (size_t h = 0; h < 2; h++) softmax(said[h], p[h]);
      for (size_t c = 0; c < CLASSES; c++) {
        double wanted = prediction == RS_PREDICTS_CLASS    ? said[0][c]
                        : prediction == RS_PREDICTS_LOGITS ? (said[0][c] + said[1][c]) / 2
                                                           : log((p[0][c] + p[1][c]) / 2);
        cr_expect_float_eq(logits[s * CLASSES + c], wanted, 1e-12, "way %zu: sequence %zu class %zu: %g, not %g", way,
                           s, c, logits[s * CLASSES + c], wanted);
      }
    }
    small_batch_clear(&batch);
    rs_transformer_free(t);
    small_model_clear(&m);
  }
}

/* Logits far apart: no softmax is 0 or infinite on the way. */
Test(distillation, predictions__of_large_logits__are_finite) {
  small_model m;
  double logits[SEQUENCES * CLASSES];
  fill(&m, RS_PREDICTS_SOFTMAXES, false);
  rs_transformer *t = small_model_create(&m, RS_F64, 3);
  const char *const names[] = {"lm_head.weight", "distillation_head.weight"};
  for (size_t h = 0; h < 2; h++) {
    const rs_tensor *w = rs_transformer_tensor(t, names[h]);
    for (size_t i = 0; i < CLASSES * WIDTH; i++)
      rs_transformer_set(t, w->offset + i, 1e4 * rs_transformer_get(t, w->offset + i));
  }
  rs_batch batch = small_batch(&m, SEQUENCES, 17);
  forward(t, &m, &batch, logits, NULL);
  for (size_t i = 0; i < SEQUENCES * CLASSES; i++) cr_expect(isfinite(logits[i]), "%zu: %g", i, logits[i]);
  small_batch_clear(&batch);
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* The sum of (CE(class, y) + CE(distillation, taught)) / 2. */
static double loss_of(rs_transformer *t, const small_model *m, const rs_batch *batch) {
  double states[SEQUENCES * TOKENS * WIDTH], sum = 0;
  forward(t, m, batch, NULL, states);
  for (size_t s = 0; s < SEQUENCES; s++) {
    double said[2][CLASSES], p[2][CLASSES];
    heads_of(t, m, states, s, said);
    for (size_t h = 0; h < 2; h++) softmax(said[h], p[h]);
    if (batch->targets[s] >= 0) sum -= (log(p[0][batch->targets[s]]) + log(p[1][batch->taught[s]])) / 2;
  }
  return sum;
}

static double *gradient_of(const rs_transformer *t, const small_model *m, const rs_batch *batch, double *loss) {
  rs_context *context;
  rs_pass *pass;
  rs_err err = {0};
  size_t targets;
  double *gradient = calloc(t->size, sizeof *gradient);
  cr_assert_eq(rs_context_create(t, NULL, TOKENS, 0, &m->tokens, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_pass_create(context, 3, true, &pass, &err), RS_OK, "%s", err.message);
  *loss = rs_backward(pass, batch, 1, gradient, &targets);
  cr_expect_eq(targets, (size_t)SEQUENCES - 1, "%zu targets", targets);
  rs_pass_free(pass);
  rs_context_free(context);
  return gradient;
}

static void check_gradients(const small_model *m, const char *what) {
  static const int32_t taught[SEQUENCES] = {5, 0, 3, 3};
  rs_transformer *t = small_model_create(m, RS_F64, 3);
  rs_batch batch = small_batch(m, SEQUENCES, 17);
  double loss;
  shake(t);
  batch.taught = taught;
  ((int32_t *)batch.targets)[2] = RS_NO_TARGET; /* which the teacher is then not asked for */
  double *gradient = gradient_of(t, m, &batch, &loss);
  cr_expect_float_eq(loss, loss_of(t, m, &batch), 1e-12 * loss, "%s: %.15g", what, loss);
  small_model_differ(t, m, &batch, loss_of, gradient, what);
  free(gradient);
  small_batch_clear(&batch);
  rs_transformer_free(t);
}

Test(distillation, gradients__are_those_of_the_mean_loss) {
  for (size_t mean = 0; mean < 2; mean++) {
    small_model m;
    fill(&m, mean == 0 ? RS_PREDICTS_SOFTMAXES : RS_PREDICTS_LOGITS, mean == 1);
    check_gradients(&m, mean == 0 ? "class token" : "mean");
    small_model_clear(&m);
  }
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* A teacher: of one head, the class said one further than it is, so that its words are not the targets. */
static rs_transformer *make_teacher(small_model *m) {
  small_model_fill(m, RS_VISION);
  m->shape.output_bias = true;
  rs_transformer *t = pictures_train(m, NULL, 1, 120, 120);
  const rs_tensor *w = rs_transformer_tensor(t, "lm_head.weight"), *b = rs_transformer_tensor(t, "lm_head.bias");
  double rows[CLASSES][WIDTH], ends[CLASSES];
  for (size_t c = 0; c < CLASSES; c++) {
    ends[c] = rs_transformer_get(t, b->offset + c);
    for (size_t i = 0; i < WIDTH; i++) rows[c][i] = rs_transformer_get(t, w->offset + c * WIDTH + i);
  }
  for (size_t c = 0; c < CLASSES; c++) {
    rs_transformer_set(t, b->offset + (c + 1) % CLASSES, ends[c]);
    for (size_t i = 0; i < WIDTH; i++) rs_transformer_set(t, w->offset + (c + 1) % CLASSES * WIDTH + i, rows[c][i]);
  }
  return t;
}

enum { STEPS = 20 };

Test(distillation, training__any_threads_and_interruptions__the_same_bits) {
  small_model m, of_teacher;
  rs_transformer *teacher = make_teacher(&of_teacher);
  fill(&m, RS_PREDICTS_SOFTMAXES, false);
  rs_transformer *one = pictures_train(&m, teacher, 1, STEPS, STEPS);
  rs_transformer *three = pictures_train(&m, teacher, 3, STEPS, STEPS);
  rs_transformer *parted = pictures_train(&m, teacher, 1, STEPS, 7);
  size_t bytes = one->size * sizeof(double);
  cr_expect_eq(memcmp(one->values, three->values, bytes), 0, "three threads");
  cr_expect_eq(memcmp(one->values, parted->values, bytes), 0, "interrupted");
  rs_transformer_free(one);
  rs_transformer_free(three);
  rs_transformer_free(parted);
  rs_transformer_free(teacher);
  small_model_clear(&m);
  small_model_clear(&of_teacher);
}

/* How many pictures of evaluation have a head's largest class one further than they are, or where they are. */
static void count(const small_model *m, const rs_transformer *t, size_t agreeing[2], size_t shifted[2]) {
  enum { ROWS = 40, PATCHES = 7 };
  for (size_t i = 0; i < ROWS; i++) {
    float patches[PATCHES * SMALL_PATCH], depths[PATCHES];
    int32_t targets[PATCHES];
    uint8_t parts[PATCHES];
    double states[TOKENS * WIDTH], said[2][CLASSES];
    rs_example example = {.patches = patches, .targets = targets, .parts = parts, .depths = depths};
    pictures_task.kind->draw(NULL, RS_SPLIT_EVALUATION, i, PATCHES, &example);
    forward(t, m, &(rs_batch){.sequences = 1, .patches = patches}, NULL, states);
    heads_of(t, m, states, 0, said);
    for (size_t h = 0; h < 2; h++) {
      int32_t largest = 0;
      for (int32_t c = 1; c < CLASSES; c++)
        if (said[h][c] > said[h][largest]) largest = c;
      agreeing[h] += largest == targets[0];
      shifted[h] += largest == targets[0] + 1;
    }
  }
}

/* The class head learns what pictures are, the other what the teacher says of them. */
Test(distillation, heads__learn_the_targets_and_the_teachers_words) {
  small_model m, of_teacher;
  size_t agreeing[2] = {0}, shifted[2] = {0};
  rs_transformer *teacher = make_teacher(&of_teacher);
  fill(&m, RS_PREDICTS_LOGITS, false);
  rs_transformer *t = pictures_train(&m, teacher, 1, 200, 200);
  count(&m, t, agreeing, shifted);
  cr_expect(agreeing[0] > 30 && shifted[0] < 10, "class head: %zu and %zu", agreeing[0], shifted[0]);
  cr_expect(shifted[1] > 30 && agreeing[1] < 10, "distillation head: %zu and %zu", shifted[1], agreeing[1]);
  rs_transformer_free(t);
  rs_transformer_free(teacher);
  small_model_clear(&m);
  small_model_clear(&of_teacher);
}

/* ---- what does not go together ----------------------------------------------------------------------------------- */

Test(distillation, shapes__without_a_token_for_it__are_refused) {
  static const struct {
    rs_form form;
    bool token, alone;
    rs_prediction prediction;
    size_t classes;
    const char *message;
  } cases[] = {{RS_ENCODER, true, false, RS_PREDICTS_CLASS, 6,
                "encoder: has no class token that one of distillation could stand behind"},
               {RS_VISION, true, true, RS_PREDICTS_CLASS, 6,
                "vision: has no class token that one of distillation could stand behind"},
               {RS_VISION, false, false, RS_PREDICTS_LOGITS, 6,
                "vision: a second head says no class without a distillation token"},
               {RS_VISION, true, false, RS_PREDICTS_LOGITS, 0,
                "vision: a second head says no class without a distillation token"},
               {RS_VISION, true, false, RS_PREDICTS_CLASS, 6, ""},
               {RS_VISION, true, false, RS_PREDICTS_SOFTMAXES, 6, ""}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    rs_err err = {0};
    small_model_fill(&m, cases[i].form);
    m.shape.distillation_token = cases[i].token;
    m.shape.patches_alone = cases[i].alone;
    m.shape.pool = cases[i].alone ? RS_POOL_MEAN : RS_POOL_CLASS;
    m.shape.prediction = cases[i].prediction;
    if (cases[i].form == RS_VISION) m.shape.classes = cases[i].classes;
    cr_expect_eq(rs_shape_check(&m.shape, &err), *cases[i].message == '\0' ? RS_OK : RS_INPUT, "case %zu", i);
    cr_expect_str_eq(err.message, cases[i].message, "case %zu: %s", i, err.message);
    small_model_clear(&m);
  }
}

Test(distillation, teachers__that_are_none__are_refused) {
  const rs_training training = {.steps = 2, .length = 7, .sequences = 2, .beta1 = 0.9, .beta2 = 0.9, .rate = 0.1};
  small_model m, other;
  rs_trainer *trainer;
  rs_train_step done;
  rs_err none = {0}, classes = {0}, plain = {0};
  fill(&m, RS_PREDICTS_LOGITS, false);
  rs_transformer *t = small_model_create(&m, RS_F64, 1);
  cr_assert_eq(rs_trainer_create(t, &training, &pictures_task, 1, &trainer, NULL), RS_OK);
  cr_expect_eq(rs_trainer_step(trainer, &done, &none), RS_INPUT);
  cr_expect_str_eq(none.message, "a distillation token learns what a teacher says, and there is none");
  small_model_fill(&other, RS_VISION);
  other.shape.classes = 5;
  rs_transformer *teacher = small_model_create(&other, RS_F64, 1);
  cr_expect_eq(rs_trainer_teach(trainer, teacher, &classes), RS_INPUT);
  cr_expect_str_eq(classes.message, "a teacher of 5 classes and patches of 5 numbers; the model has 6 and 5");
  rs_trainer_free(trainer);
  cr_assert_eq(rs_trainer_create(teacher, &training, &pictures_task, 1, &trainer, NULL), RS_OK);
  cr_expect_eq(rs_trainer_teach(trainer, t, &plain), RS_INPUT);
  cr_expect_str_eq(plain.message, "a model without a distillation token learns from no teacher");
  rs_trainer_free(trainer);
  rs_transformer_free(teacher);
  rs_transformer_free(t);
  small_model_clear(&m);
  small_model_clear(&other);
}
