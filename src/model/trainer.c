/* Training: AdamW (Loshchilov and Hutter, arXiv:1711.05101) on sequences of a task.
 *
 * A step's sequences are cut into PARTS parts. One thread walks a part from start to end and sums its gradient in
 * arrays of the part's own; the parts' are then added in their order, block by block. So every weight is a function of
 * the task and the step, whatever threads there are. */
#include "context.h"
#include "tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  PARTS = 8,
  SPAN = 4096, /* numbers that are summed and stepped at once */
  ROWS = 64,   /* tokens a thread reads at a time, where a sequence has no more: they stay in its cache */
};

/* Numbers [begin, begin + count) of one tensor. */
typedef struct span {
  size_t begin, count;
  bool decays;
} span;

struct rs_trainer {
  rs_transformer *transformer;
  rs_training training;
  const rs_task *task;
  uint64_t seed;
  const rs_net_kernel *kernel;
  size_t real_bytes;
  rs_context *context;
  rs_pass **passes;
  size_t threads;
  rs_examples examples;
  int32_t *targets;         /* (sequences, A) */
  rs_context *teacher;      /* NULL: none */
  rs_pass **teacher_passes; /* (threads,) */
  int32_t *taught;          /* (sequences, A) what it says of them; NULL without */
  size_t part_count, *part_targets;
  double *part_losses; /* (part_count,) */
  char *gradients;     /* (part_count, size) */
  rs_train_state state;
  span *spans;
  size_t span_count, span_capacity;
  double *squares; /* (span_count,) */
  rs_arena arena;  /* that holds the smaller arrays */
};

/* ---- create and free --------------------------------------------------------------------------------------------- */

static rs_status make_spans(rs_trainer *t, rs_err *err) {
  for (size_t i = 0; i < t->transformer->tensor_count; i++) {
    const rs_tensor *tensor = &t->transformer->tensors[i];
    size_t count = tensor->rows * tensor->columns;
    for (size_t begin = 0; begin < count; begin += SPAN) {
      RS_TRY(RS_GROW(t->spans, &t->span_capacity, t->span_count + 1, err));
      size_t left = count - begin;
      t->spans[t->span_count++] = (span){tensor->offset + begin, left < SPAN ? left : SPAN, tensor->decays};
    }
  }
  t->squares = rs_arena_take(&t->arena, t->span_count, sizeof *t->squares);
  return rs_arena_check(&t->arena, err);
}

static rs_status make_arrays(rs_trainer *t, rs_err *err) {
  size_t size = t->transformer->size;
  t->targets = rs_arena_take(&t->arena, t->examples.sequences, t->examples.answers * sizeof *t->targets);
  t->part_targets = rs_arena_take(&t->arena, t->part_count, sizeof *t->part_targets);
  t->part_losses = rs_arena_take(&t->arena, t->part_count, sizeof *t->part_losses);
  RS_TRY(rs_arena_check(&t->arena, err));
  t->gradients = rs_room(size * t->part_count, t->real_bytes, "gradients", err);
  t->state.first = rs_room(size, t->real_bytes, "mean gradients", err);
  t->state.second = rs_room(size, t->real_bytes, "mean squared gradients", err);
  return t->gradients != NULL && t->state.first != NULL && t->state.second != NULL ? RS_OK : RS_MEMORY;
}

/* One for each thread. */
static rs_status make_passes(const rs_trainer *t, const rs_context *context, bool training, rs_pass ***passes,
                             rs_err *err) {
  size_t length = context->decoder.length, together = length < ROWS ? ROWS / length : 1;
  *passes = rs_alloc(t->threads, sizeof **passes, err);
  if (*passes == NULL) return RS_MEMORY;
  for (size_t i = 0; i < t->threads; i++) RS_TRY(rs_pass_create(context, together, training, &(*passes)[i], err));
  return RS_OK;
}

static rs_status fill(rs_trainer *t, rs_err *err) {
  const rs_training *training = &t->training;
  RS_TRY(rs_training_check(training, err));
  RS_TRY(rs_examples_make(t->task, &t->transformer->shape, training->length, training->sequences, &t->examples, err));
  if (t->examples.shape.untrainable)
    return rs_fail(err, RS_INPUT, "the task %s has nothing to train on: all of it is held out (give a share below 1)",
                   t->task->kind->kind.name);
  RS_TRY(rs_context_of_task(t->transformer, NULL, t->task, training->length, &t->context, err));
  t->part_count = training->sequences < PARTS ? training->sequences : PARTS;
  RS_TRY(make_arrays(t, err));
  RS_TRY(make_spans(t, err));
  t->threads = rs_engine_threads();
  if (t->threads > t->part_count) t->threads = t->part_count;
  return make_passes(t, t->context, true, &t->passes, err);
}

rs_status rs_trainer_create(rs_transformer *transformer, const rs_training *training, const rs_task *task,
                            uint64_t seed, rs_trainer **trainer, rs_err *err) {
  *trainer = NULL;
  rs_trainer *fresh = rs_alloc(1, sizeof *fresh, err);
  if (fresh == NULL) return RS_MEMORY;
  bool wide = transformer->format == RS_F64;
  fresh->transformer = transformer;
  fresh->training = *training;
  fresh->task = task;
  fresh->seed = seed;
  fresh->kernel = wide ? rs_kernels_get()->net_f64 : rs_kernels_get()->net_f32;
  fresh->real_bytes = fresh->kernel->real_bytes;
  rs_status status = fill(fresh, err);
  if (status == RS_OK)
    *trainer = fresh;
  else
    rs_trainer_free(fresh);
  return status;
}

rs_status rs_trainer_teach(rs_trainer *trainer, const rs_transformer *teacher, rs_err *err) {
  const rs_shape *shape = &trainer->transformer->shape;
  const size_t length = trainer->training.length;
  if (shape->prediction == RS_PREDICTS_CLASS)
    return rs_fail(err, RS_INPUT, "a model without a distillation token learns from no teacher");
  if (teacher->shape.classes != shape->classes || teacher->shape.patch_numbers != shape->patch_numbers)
    return rs_fail(err, RS_INPUT, "a teacher of %zu classes and patches of %zu numbers; the model has %zu and %zu",
                   teacher->shape.classes, teacher->shape.patch_numbers, shape->classes, shape->patch_numbers);
  RS_TRY(rs_context_of_task(teacher, NULL, trainer->task, length, &trainer->teacher, err));
  trainer->taught =
      rs_arena_take(&trainer->arena, trainer->examples.sequences, trainer->examples.answers * sizeof *trainer->taught);
  RS_TRY(rs_arena_check(&trainer->arena, err));
  return make_passes(trainer, trainer->teacher, false, &trainer->teacher_passes, err);
}

static void free_passes(const rs_trainer *t, rs_pass **passes) {
  for (size_t i = 0; i < t->threads && passes != NULL; i++) rs_pass_free(passes[i]);
  free(passes);
}

void rs_trainer_free(rs_trainer *trainer) {
  if (trainer == NULL) return;
  free_passes(trainer, trainer->passes);
  free_passes(trainer, trainer->teacher_passes);
  rs_context_free(trainer->teacher);
  rs_context_free(trainer->context);
  rs_examples_clear(&trainer->examples);
  free(trainer->gradients);
  free(trainer->state.first);
  free(trainer->state.second);
  free(trainer->spans);
  rs_arena_clear(&trainer->arena);
  free(trainer);
}

rs_train_state *rs_trainer_state(rs_trainer *trainer) {
  return &trainer->state;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* The rate of a step, from 1: up in a line, down in half a cosine. */
static double rate_at(const rs_training *training, size_t step) {
  double done = (double)step, warm = (double)training->warmup, steps = (double)training->steps;
  if (step <= training->warmup) return training->rate * done / warm;
  double share = steps > warm ? (done - warm) / (steps - warm) : 1;
  double low = training->final_rate;
  return training->rate * (low + (1 - low) * (1 + cos(M_PI * fmin(share, 1))) / 2);
}

static size_t part_begin(const rs_trainer *t, size_t part) {
  return part * t->examples.sequences / t->part_count;
}

/* The number of the step's first sequence. */
static uint64_t first_drawn(const rs_trainer *t) {
  return t->state.drawn + (uint64_t)t->state.step * t->examples.sequences;
}

/* Draws the sequences of the step; returns how many targets there are. */
static size_t draw(rs_trainer *t) {
  size_t sequences = t->examples.sequences, answers = t->examples.answers, targets = 0;
  uint64_t first = first_drawn(t);
#pragma omp parallel for schedule(static) num_threads((int)t->threads) reduction(+ : targets)
  for (size_t s = 0; s < sequences; s++) {
    rs_examples_draw(&t->examples, RS_SPLIT_TRAINING, first + s, s);
    for (size_t i = 0; i < answers; i++) targets += t->examples.targets[s * t->examples.shape.length + i] >= 0;
  }
  return targets;
}

/* The losses and gradients of the parts, the latter those of the mean over `targets`. */
static void run_parts(rs_trainer *t, size_t targets) {
  size_t part_bytes = t->transformer->size * t->real_bytes;
  double weight = targets > 0 ? 1 / (double)targets : 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)t->threads)
  for (size_t p = 0; p < t->part_count; p++) {
    size_t begin = part_begin(t, p), count = part_begin(t, p + 1) - begin;
    char *gradient = t->gradients + p * part_bytes;
    memset(gradient, 0, part_bytes);
    rs_batch batch = rs_examples_batch(&t->examples, begin, count, t->targets + begin * t->examples.answers);
    if (t->teacher != NULL) {
      const rs_pass_out said = {.answers = t->taught + begin * t->examples.answers};
      rs_forward(t->teacher_passes[rs_engine_thread()], &batch, &said);
      batch.taught = said.answers;
    }
    batch.drop = (rs_drop){.share = t->training.dropout, .seed = t->seed, .sequence = first_drawn(t) + begin};
    t->part_losses[p] = rs_backward(t->passes[rs_engine_thread()], &batch, weight, gradient, &t->part_targets[p]);
  }
}

static double sum_losses(const rs_trainer *t) {
  double loss = 0;
  for (size_t p = 0; p < t->part_count; p++) loss += t->part_losses[p];
  return loss;
}

/* Adds up the parts' gradients in the first; returns the norm. */
static double join_parts(rs_trainer *t) {
  size_t size = t->transformer->size, bytes = t->real_bytes;
#pragma omp parallel for schedule(static) num_threads((int)t->threads)
  for (size_t i = 0; i < t->span_count; i++) {
    const span *s = &t->spans[i];
    char *sum = t->gradients + s->begin * bytes;
    for (size_t p = 1; p < t->part_count; p++)
      t->kernel->add(t->gradients + (p * size + s->begin) * bytes, s->count, sum);
    t->squares[i] = t->kernel->squares(sum, s->count);
  }
  double squares = 0;
  for (size_t i = 0; i < t->span_count; i++) squares += t->squares[i];
  return sqrt(squares);
}

static void move_weights(rs_trainer *t, const rs_train_step *done) {
  const rs_training *training = &t->training;
  size_t bytes = t->real_bytes;
  double step = (double)done->step, norm = done->gradient_norm, clip = training->clip;
  rs_adam adam = {.rate = done->rate,
                  .beta1 = training->beta1,
                  .beta2 = training->beta2,
                  .epsilon = training->epsilon,
                  .gradient = clip > 0 && norm > clip ? clip / norm : 1,
                  .fix1 = 1 / (1 - pow(training->beta1, step)),
                  .fix2 = 1 / (1 - pow(training->beta2, step))};
#pragma omp parallel for schedule(static) num_threads((int)t->threads)
  for (size_t i = 0; i < t->span_count; i++) {
    const span *s = &t->spans[i];
    size_t at = s->begin * bytes;
    rs_adam own = adam;
    own.keep = s->decays ? 1 - done->rate * training->decay : 1;
    t->kernel->adam(&own, t->gradients + at, s->count, (char *)t->transformer->values + at, (char *)t->state.first + at,
                    (char *)t->state.second + at);
  }
}

/* printf writes "-nan". */
static const char *what_is(double value) {
  return isnan(value) ? "not a number" : "infinite";
}

static rs_status fail_diverged(const rs_trainer *t, const rs_train_step *done, rs_err *err) {
  bool lost = !isfinite(done->loss);
  return rs_fail(err, RS_DOMAIN,
                 "training diverged at step %zu of %zu, at a rate of %g: the %s is %s (a smaller rate, a longer "
                 "warm-up, or clipping)",
                 done->step, t->training.steps, done->rate, lost ? "loss" : "gradient's norm",
                 what_is(lost ? done->loss : done->gradient_norm));
}

rs_status rs_trainer_step(rs_trainer *trainer, rs_train_step *done, rs_err *err) {
  rs_train_state *state = &trainer->state;
  uint64_t drawn = trainer->seed * 0x9e3779b97f4a7c15u + state->drawn + state->step;
  *done = (rs_train_step){.step = state->step + 1, .rate = rate_at(&trainer->training, state->step + 1)};
  if (trainer->transformer->shape.prediction != RS_PREDICTS_CLASS && trainer->teacher == NULL)
    return rs_fail(err, RS_INPUT, "a distillation token learns what a teacher says, and there is none");
  RS_TRY(rs_context_redraw(trainer->context, drawn, err));
  size_t targets = draw(trainer);
  run_parts(trainer, targets);
  done->loss = sum_losses(trainer) / (double)targets;
  done->gradient_norm = join_parts(trainer);
  if (!isfinite(done->loss) || !isfinite(done->gradient_norm)) return fail_diverged(trainer, done, err);
  move_weights(trainer, done);
  state->step = done->step;
  return rs_context_refresh(trainer->context, err);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

const rs_param rs_training_specs[] = {
    {RS_FIELD(rs_training, steps), .unit = "", .min = 0, .max = 1e9, .fallback = "1000",
     .summary = "steps; 0: none, the model stays as it begins"},
    {RS_FIELD(rs_training, length), .unit = "tokens", .min = 1, .max = 1e9, .fallback = "64",
     .summary = "tokens of a sequence: the trained length"},
    {RS_FIELD(rs_training, sequences), .unit = "", .min = 1, .max = 1e6, .fallback = "64",
     .summary = "sequences of a step"},
    {RS_FIELD(rs_training, rate), .unit = "1", .min = 0, .max = 10, .fallback = "0.003",
     .summary = "largest learning rate"},
    {RS_FIELD(rs_training, final_rate), .unit = "1", .min = 0, .max = 1, .fallback = "0.1",
     .summary = "learning rate at the end, as a share of the largest"},
    {RS_FIELD(rs_training, warmup), .unit = "", .min = 0, .max = 1e9, .fallback = "50",
     .summary = "steps in which the rate rises to the largest"},
    {RS_FIELD(rs_training, beta1), .unit = "1", .min = 0, .max = 0.9999999, .fallback = "0.9",
     .summary = "how much of the mean gradient a step keeps"},
    {RS_FIELD(rs_training, beta2), .unit = "1", .min = 0, .max = 0.9999999, .fallback = "0.98",
     .summary = "how much of the mean squared gradient a step keeps"},
    {RS_FIELD(rs_training, epsilon), .unit = "1", .min = 0, .max = 1, .fallback = "1e-8",
     .summary = "added to the root mean squared gradient"},
    {RS_FIELD(rs_training, decay), .unit = "1", .min = 0, .max = 10, .fallback = "0.01",
     .summary = "weight decay of matrices, times the rate a step"},
    {RS_FIELD(rs_training, clip), .unit = "1", .min = 0, .max = 1e9, .fallback = "1",
     .summary = "largest norm of a gradient; 0: whatever it is"},
    {RS_FIELD(rs_training, dropout), .unit = "1", .min = 0, .max = 1, .fallback = "0", .later = true,
     .summary =
         "share of numbers that a step drops: of embeddings with their positions, of weights of attention, and of "
         "what each part of a block adds; below 1"},
};
const size_t rs_training_spec_count = RS_COUNT(rs_training_specs);

rs_status rs_training_check(const rs_training *training, rs_err *err) {
  if (training->dropout >= 0 && training->dropout < 1) return RS_OK;
  return rs_fail_on(err, RS_INPUT, "dropout",
                    "nothing is left of a model that drops all: must be below 1 (0.1 is usual)");
}
