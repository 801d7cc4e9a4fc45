/* Training: the same weights whatever the threads and whatever stopped it, and a loss that falls. */
#include "fixtures/small_model.h"
#include "fixtures/threads.h"
#include "model/model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 30, SEQUENCES = 12 };

static const rs_training training = {.steps = STEPS,
                                     .length = SMALL_LENGTH,
                                     .sequences = SEQUENCES,
                                     .rate = 0.01,
                                     .final_rate = 0.1,
                                     .warmup = 5,
                                     .beta1 = 0.9,
                                     .beta2 = 0.98,
                                     .epsilon = 1e-8,
                                     .decay = 0.01,
                                     .clip = 1};

/* ---- a task that is learned soon --------------------------------------------------------------------------------- */

/* Each token is the one before plus 3; the first is drawn. */
static rs_status task_shape(const void *state, size_t length, rs_example_shape *shape, rs_err *err) {
  (void)state;
  if (length > 1000) return rs_fail(err, RS_DOMAIN, "too long");
  *shape = (rs_example_shape){.length = length, .vocabulary = SMALL_VOCABULARY, .classes = SMALL_VOCABULARY};
  return RS_OK;
}

static void task_draw(const void *state, rs_split split, uint64_t index, size_t length, rs_example *example) {
  (void)state;
  int32_t start = (int32_t)((index * 2654435761u + (split == RS_SPLIT_TRAINING ? 0 : 5)) % SMALL_VOCABULARY);
  for (size_t i = 0; i < length; i++) {
    example->tokens[i] = (int32_t)((size_t)start + 3 * i) % SMALL_VOCABULARY;
    example->targets[i] = i == 0 ? RS_NO_TARGET : (example->tokens[i] + 3) % SMALL_VOCABULARY;
    example->parts[i] = 0;
    example->depths[i] = NAN;
  }
}

static const rs_task_kind steps_of_three = {
    .kind = {.name = "steps_of_three"}, .form = RS_DECODER, .parts = {"step"}, .shape = task_shape, .draw = task_draw};
static const rs_task task = {.kind = &steps_of_three};

static rs_status untrainable_shape(const void *state, size_t length, rs_example_shape *shape, rs_err *err) {
  RS_TRY(task_shape(state, length, shape, err));
  shape->untrainable = true;
  return RS_OK;
}

static const rs_task_kind held_out = {
    .kind = {.name = "held_out"}, .form = RS_DECODER, .parts = {"step"}, .shape = untrainable_shape, .draw = task_draw};

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static rs_trainer *begin_dropping(rs_transformer *t, double dropout) {
  rs_trainer *trainer;
  rs_err err = {0};
  rs_training dropping = training;
  dropping.dropout = dropout;
  cr_assert_eq(rs_trainer_create(t, &dropping, &task, 4, &trainer, &err), RS_OK, "%s", err.message);
  return trainer;
}

static rs_trainer *begin(rs_transformer *t) {
  return begin_dropping(t, 0);
}

static double go(rs_trainer *trainer, size_t steps) {
  rs_train_step done = {0};
  rs_err err = {0};
  for (size_t i = 0; i < steps; i++) cr_assert_eq(rs_trainer_step(trainer, &done, &err), RS_OK, "%s", err.message);
  return done.loss;
}

/* The weights after all steps. */
static rs_transformer *train_dropping(const small_model *m, rs_format format, int threads, double dropout) {
  rs_transformer *t = small_model_create(m, format, 1);
  use_threads(threads);
  rs_trainer *trainer = begin_dropping(t, dropout);
  (void)go(trainer, STEPS);
  rs_trainer_free(trainer);
  use_threads(1);
  return t;
}

static rs_transformer *train(const small_model *m, rs_format format, int threads) {
  return train_dropping(m, format, threads, 0);
}

static void expect_same(const rs_transformer *a, const rs_transformer *b, const char *what) {
  size_t bytes = a->size * (a->format == RS_F64 ? sizeof(double) : sizeof(float));
  cr_expect(memcmp(a->values, b->values, bytes) == 0, "%s: other weights", what);
}

Test(trainer, loss__falls_to_nothing) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F32, 1);
  rs_trainer *trainer = begin(t);
  double first = go(trainer, 1), last = go(trainer, STEPS - 1);
  cr_expect(first > 2 && first < 4, "%g", first); /* ln 11 = 2.4 */
  cr_expect(last < 0.7 * first, "%g after %g", last, first);
  rs_trainer_free(trainer);
  rs_transformer_free(t);
  small_model_clear(&m);
}

Test(trainer, threads__give_the_same_bits) {
  static const char *const methods[] = {"rope", "t5", "kerple_log", "random_rope", "shaw", "transformer_xl", "rope"};
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    small_model m;
    double dropout = i + 1 == RS_COUNT(methods) ? 0.2 : 0;
    small_model_fill(&m, RS_DECODER);
    small_model_recipe(&m, 0, methods[i], "");
    rs_transformer *one = train_dropping(&m, RS_F32, 1, dropout), *three = train_dropping(&m, RS_F32, 3, dropout);
    rs_transformer *many = train_dropping(&m, RS_F32, 16, dropout);
    expect_same(one, three, methods[i]);
    expect_same(one, many, methods[i]);
    rs_transformer_free(one);
    rs_transformer_free(three);
    rs_transformer_free(many);
    small_model_clear(&m);
  }
}

static void check_interruption(const char *method) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  small_model_recipe(&m, 0, method, "");
  rs_transformer *whole = train_dropping(&m, RS_F64, 1, 0.1);
  for (size_t stop = 1; stop < STEPS; stop += 14) {
    rs_transformer *t = small_model_create(&m, RS_F64, 1);
    rs_trainer *before = begin_dropping(t, 0.1);
    (void)go(before, stop);
    rs_trainer *after = begin_dropping(t, 0.1);
    rs_train_state *from = rs_trainer_state(before), *to = rs_trainer_state(after);
    to->step = from->step;
    memcpy(to->first, from->first, t->size * sizeof(double));
    memcpy(to->second, from->second, t->size * sizeof(double));
    rs_trainer_free(before);
    (void)go(after, STEPS - stop);
    rs_trainer_free(after);
    expect_same(whole, t, method);
    rs_transformer_free(t);
  }
  rs_transformer_free(whole);
  small_model_clear(&m);
}

Test(trainer, interruption__changes_nothing) {
  static const char *const methods[] = {"fire", "shaw", "transformer_xl"};
  for (size_t i = 0; i < RS_COUNT(methods); i++) check_interruption(methods[i]);
}

/* ---- training further -------------------------------------------------------------------------------------------- */

/* The losses of the first two steps, behind `drawn` sequences that others have drawn. A rate of 0 leaves the weights as
 * they are. */
static void still_losses(const char *method, const rs_task *read, uint64_t drawn, double losses[2]) {
  small_model m;
  rs_trainer *trainer;
  rs_train_step done;
  rs_err err = {0};
  rs_training still = training;
  still.rate = 0;
  small_model_fill(&m, RS_DECODER);
  small_model_recipe(&m, 0, method, "");
  rs_transformer *t = small_model_create(&m, RS_F64, 1);
  cr_assert_eq(rs_trainer_create(t, &still, read, 4, &trainer, &err), RS_OK, "%s", err.message);
  rs_trainer_state(trainer)->drawn = drawn;
  for (size_t i = 0; i < 2; i++) {
    cr_assert_eq(rs_trainer_step(trainer, &done, &err), RS_OK, "%s", err.message);
    losses[i] = done.loss;
  }
  rs_trainer_free(trainer);
  rs_transformer_free(t);
  small_model_clear(&m);
}

Test(trainer, drawn_before__sequences_follow_and_none_comes_again) {
  double first[2], second[2];
  still_losses("rope", &task, 0, first);
  still_losses("rope", &task, SEQUENCES, second);
  cr_expect_eq(second[0], first[1], "a step later: %.17g, not %.17g", second[0], first[1]);
  cr_expect_neq(second[0], first[0]);
}

static void draw_one(const void *state, rs_split split, uint64_t index, size_t length, rs_example *example) {
  (void)index;
  task_draw(state, split, 0, length, example);
}

/* Of one sequence that comes again and again, what is left to differ are the positions that are drawn. */
Test(trainer, drawn_before__random_positions_are_others) {
  static const rs_task_kind same = {
      .kind = {.name = "same"}, .form = RS_DECODER, .parts = {"step"}, .shape = task_shape, .draw = draw_one};
  const rs_task one = {.kind = &same};
  double first[2], second[2];
  still_losses("random_rope", &one, 0, first);
  still_losses("random_rope", &one, SEQUENCES, second);
  for (size_t i = 0; i < 4; i++) cr_expect_neq(first[i % 2], second[i / 2]);
  still_losses("rope", &one, 0, first);
  still_losses("rope", &one, SEQUENCES, second);
  cr_expect_eq(first[0], second[0]);
}

/* ---- one step by the formula ------------------------------------------------------------------------------------- */

/* AdamW's first step moves a weight by rate * g / (|g| + epsilon) and takes off its decay: both moments are fixed. */
Test(trainer, first_step__is_adamw) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F64, 1);
  double *before = malloc(t->size * sizeof *before);
  memcpy(before, t->values, t->size * sizeof *before);
  rs_trainer *trainer = begin(t);
  (void)go(trainer, 1);
  const rs_train_state *state = rs_trainer_state(trainer);
  double rate = training.rate / (double)training.warmup, moved = 0;
  for (size_t i = 0; i < t->tensor_count; i++)
    for (size_t k = 0; k < t->tensors[i].rows * t->tensors[i].columns; k++) {
      size_t index = t->tensors[i].offset + k;
      double g = ((double *)state->first)[index] / (1 - training.beta1), after = ((double *)t->values)[index];
      double keep = t->tensors[i].decays ? 1 - rate * training.decay : 1;
      double wanted = before[index] * keep - rate * g / (fabs(g) + training.epsilon);
      cr_assert_float_eq(after, wanted, 1e-12, "%s[%zu]: %.15g, not %.15g", t->tensors[i].name, k, after, wanted);
      cr_assert_float_eq(((double *)state->second)[index], (1 - training.beta2) * g * g, 1e-15);
      moved += fabs(after - before[index]);
    }
  cr_expect(moved > 1, "%g", moved);
  free(before);
  rs_trainer_free(trainer);
  rs_transformer_free(t);
  small_model_clear(&m);
}

Test(trainer, rates__rise_in_a_line_and_fall_in_a_cosine) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F32, 1);
  rs_trainer *trainer = begin(t);
  rs_train_step done;
  for (size_t step = 1; step <= STEPS; step++) {
    double share = ((double)step - 5) / (STEPS - 5);
    double wanted = step <= 5 ? 0.01 * (double)step / 5 : 0.01 * (0.1 + 0.9 * (1 + cos(M_PI * share)) / 2);
    cr_assert_eq(rs_trainer_step(trainer, &done, NULL), RS_OK);
    cr_expect_eq(done.step, step);
    cr_expect_float_eq(done.rate, wanted, 1e-15, "step %zu: %g, not %g", step, done.rate, wanted);
  }
  rs_trainer_free(trainer);
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* The last rate is that of all steps behind the last; a warm-up longer than the training ends where it ends. */
Test(trainer, rates__behind_the_last_step__stay) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F32, 1);
  rs_training brief = training;
  brief.steps = 2;
  brief.warmup = 3;
  rs_trainer *trainer;
  rs_train_step done;
  static const double wanted[] = {0.01 / 3, 0.02 / 3, 0.01, 0.001, 0.001};
  cr_assert_eq(rs_trainer_create(t, &brief, &task, 4, &trainer, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(wanted); i++) {
    cr_assert_eq(rs_trainer_step(trainer, &done, NULL), RS_OK);
    cr_expect_float_eq(done.rate, wanted[i], 1e-15, "step %zu: %g", i + 1, done.rate);
  }
  rs_trainer_free(trainer);
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* 0 clips nothing; a bound that is met changes the weights. */
Test(trainer, clip__of_0_is_none) {
  static const double clips[] = {0, 1e9, 1e-3};
  rs_transformer *models[RS_COUNT(clips)];
  small_model m;
  small_model_fill(&m, RS_DECODER);
  for (size_t i = 0; i < RS_COUNT(clips); i++) {
    rs_training clipped = training;
    rs_trainer *trainer;
    clipped.clip = clips[i];
    clipped.epsilon = 1e-3; /* else Adam's steps are the same for a gradient of any size */
    models[i] = small_model_create(&m, RS_F64, 1);
    cr_assert_eq(rs_trainer_create(models[i], &clipped, &task, 4, &trainer, NULL), RS_OK);
    (void)go(trainer, 3);
    rs_trainer_free(trainer);
  }
  expect_same(models[0], models[1], "no clipping");
  cr_expect_neq(memcmp(models[0]->values, models[2]->values, models[0]->size * sizeof(double)), 0);
  for (size_t i = 0; i < RS_COUNT(clips); i++) rs_transformer_free(models[i]);
  small_model_clear(&m);
}

Test(trainer, dropout__changes_what_is_trained__and_none_is_drawn_again) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  rs_transformer *plain = train(&m, RS_F32, 1), *dropped = train_dropping(&m, RS_F32, 1, 0.1);
  cr_expect_neq(memcmp(plain->values, dropped->values, plain->size * sizeof(float)), 0);
  rs_transformer_free(plain);
  rs_transformer_free(dropped);
  small_model_clear(&m);
}

Test(trainer, dropout__of_all_numbers__is_refused) {
  static const double shares[] = {1, 1.5, -0.1, NAN};
  small_model m;
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F32, 1);
  for (size_t i = 0; i < RS_COUNT(shares); i++) {
    rs_training dropping = training;
    rs_trainer *trainer;
    rs_err err = {0};
    dropping.dropout = shares[i];
    cr_expect_eq(rs_trainer_create(t, &dropping, &task, 1, &trainer, &err), RS_INPUT, "%g", shares[i]);
    cr_expect_str_eq(err.subject, "dropout");
    cr_expect_null(trainer);
  }
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* ---- what goes wrong --------------------------------------------------------------------------------------------- */

static void multiply(const rs_transformer *t, const char *name, double times) {
  const rs_tensor *tensor = rs_transformer_tensor(t, name);
  float *weights = (float *)t->values + tensor->offset;
  for (size_t i = 0; i < tensor->rows * tensor->columns; i++) weights[i] = (float)(weights[i] * times);
}

/* Output and embeddings are as many times as large; the first norm divides gradients by what embeddings are. */
static void check_divergence(double output, double embeddings, const char *message) {
  small_model m;
  rs_err err = {0};
  rs_train_step done;
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F32, 1);
  float *kept = malloc(t->size * sizeof *kept);
  multiply(t, "lm_head.weight", output);
  multiply(t, "model.embed_tokens.weight", embeddings);
  memcpy(kept, t->values, t->size * sizeof *kept);
  rs_trainer *trainer = begin(t);
  cr_expect_eq(rs_trainer_step(trainer, &done, &err), RS_DOMAIN);
  cr_expect_str_eq(err.message, message, "%g, %g: %s", output, embeddings, err.message);
  cr_expect_eq(memcmp(kept, t->values, t->size * sizeof *kept), 0);
  cr_expect_eq(rs_trainer_state(trainer)->step, 0);
  free(kept);
  rs_trainer_free(trainer);
  rs_transformer_free(t);
  small_model_clear(&m);
}

#define DIVERGED "training diverged at step 1 of 30, at a rate of 0.002: the "
#define HINT " (a smaller rate, a longer warm-up, or clipping)"

Test(trainer, divergence__says_of_what__and_leaves_the_weights_as_they_were) {
  check_divergence(NAN, 1, DIVERGED "loss is not a number" HINT);
  check_divergence(-NAN, 1, DIVERGED "loss is not a number" HINT);
  check_divergence(INFINITY, 1, DIVERGED "loss is not a number" HINT);
  check_divergence(5e37, 1e-4, DIVERGED "gradient's norm is not a number" HINT);
  check_divergence(9e37, 0.1, DIVERGED "gradient's norm is infinite" HINT);
}

Test(trainer, tasks_that_do_not_fit__are_refused) {
  small_model m;
  rs_err err = {0};
  rs_trainer *trainer;
  small_model_fill(&m, RS_ENCODER);
  rs_transformer *t = small_model_create(&m, RS_F32, 1);
  cr_expect_eq(rs_trainer_create(t, &training, &task, 1, &trainer, &err), RS_INPUT);
  cr_expect_null(trainer);
  cr_expect_str_eq(err.message, "the task steps_of_three is for a model of the form decoder; this one is encoder");
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* Before its tables, which would want an encoder's length. */
Test(trainer, contexts_of_tasks_for_other_forms__are_refused) {
  small_model m;
  rs_err err = {0};
  rs_context *context;
  small_model_fill(&m, RS_ENCODER_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F32, 1);
  cr_expect_eq(rs_context_of_task(t, NULL, &task, 20, &context, &err), RS_INPUT);
  cr_expect_null(context);
  cr_expect_str_eq(err.message,
                   "the task steps_of_three is for a model of the form decoder; this one is encoder_decoder");
  rs_transformer_free(t);
  small_model_clear(&m);
}

static rs_status patches_shape(const void *state, size_t length, rs_example_shape *shape, rs_err *err) {
  (void)state, (void)err;
  *shape = (rs_example_shape){.length = length, .patch_numbers = 4, .frames = 1, .rows = length, .columns = 1};
  return RS_OK;
}
static const rs_task_kind patches = {
    .kind = {.name = "patches"}, .form = RS_VISION, .parts = {"step"}, .shape = patches_shape};

Test(trainer, models_that_a_task_outgrows__are_refused) {
  static const struct {
    size_t vocabulary, classes;
    const char *message;
  } cases[] = {{10, 11, "the task steps_of_three has 11 tokens, the model knows 10"},
               {11, 10, "the task steps_of_three has 11 classes, the model says 10"},
               {12, 12, ""},
               {0, 6, "the task patches has patches of 4 numbers, the model reads 5"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    rs_err err = {0};
    rs_context *context;
    const rs_task other = {.kind = &patches};
    bool vision = cases[i].vocabulary == 0;
    small_model_fill(&m, vision ? RS_VISION : RS_DECODER);
    m.shape.vocabulary = cases[i].vocabulary;
    m.shape.classes = cases[i].classes;
    rs_transformer *t = small_model_create(&m, RS_F32, 1);
    rs_status status = rs_context_of_task(t, NULL, vision ? &other : &task, 8, &context, &err);
    cr_expect_eq(status, *cases[i].message == '\0' ? RS_OK : RS_INPUT, "case %zu", i);
    cr_expect_str_eq(err.message, cases[i].message);
    rs_context_free(context);
    rs_transformer_free(t);
    small_model_clear(&m);
  }
}

Test(trainer, tasks_without_training_sequences__are_refused) {
  small_model m;
  rs_err err = {0};
  rs_trainer *trainer;
  const rs_task untrainable = {.kind = &held_out};
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F32, 1);
  cr_expect_eq(rs_trainer_create(t, &training, &untrainable, 1, &trainer, &err), RS_INPUT);
  cr_expect_null(trainer);
  cr_expect_str_eq(err.message,
                   "the task held_out has nothing to train on: all of it is held out (give a share below 1)");
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* ---- readings ---------------------------------------------------------------------------------------------------- */

Test(trainer, readings__hold_what_was_said) {
  small_model m;
  rs_err err = {0};
  rs_context *context;
  rs_reading one, three;
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = train(&m, RS_F32, 1);
  cr_assert_eq(rs_context_of_task(t, NULL, &task, 20, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_reading_make(context, &task, RS_SPLIT_EVALUATION, 20, 7, &one, &err), RS_OK, "%s", err.message);
  use_threads(3);
  cr_assert_eq(rs_reading_make(context, &task, RS_SPLIT_EVALUATION, 20, 7, &three, &err), RS_OK, "%s", err.message);
  use_threads(1);
  cr_assert_eq(one.sequences * one.answers, 140);
  cr_expect_eq(memcmp(one.losses, three.losses, 140 * sizeof *one.losses), 0);
  cr_expect_eq(memcmp(one.said, three.said, 140 * sizeof *one.said), 0);
  size_t right = 0;
  for (size_t i = 0; i < 140; i++) {
    cr_expect_eq(isnan(one.losses[i]), i % 20 == 0, "%zu", i);
    cr_expect_eq(one.targets[i] < 0, i % 20 == 0, "%zu", i);
    right += one.said[i] == one.targets[i];
  }
  cr_expect(right > 40, "%zu of 133", right);
  rs_reading_clear(&one);
  rs_reading_clear(&three);
  cr_assert_eq(rs_reading_make(context, &task, RS_SPLIT_TRAINING, 20, 7, &one, &err), RS_OK, "%s", err.message);
  cr_expect_eq(one.sequences, 7);
  rs_reading_clear(&one);
  rs_context_free(context);
  rs_transformer_free(t);
  small_model_clear(&m);
}
