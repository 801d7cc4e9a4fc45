/* test_task_order.c: twins of one multiset, and what encoders make of them with and without positions. */
#include <criterion/criterion.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/small_model.h"
#include "../fixtures/task_desk.h"

enum { CLASS_TOKEN, MOST_LENGTH = 40 };

/* ---- sequences --------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
  return *(const int32_t *)a - *(const int32_t *)b;
}

/* Draws sequence `index`, sees what every one has, and hands out its tokens. Returns its answer. */
static int32_t draw_one(task_desk *desk, rs_split split, uint64_t index, size_t length, int32_t *tokens) {
  desk_draw(desk, split, index, length);
  memcpy(tokens, desk->example.tokens, length * sizeof *tokens);
  cr_assert_eq(tokens[0], CLASS_TOKEN);
  for (size_t t = 1; t < length; t++) cr_assert(tokens[t] > 0 && tokens[t] < (int32_t)desk->shape.vocabulary);
  cr_assert(desk_targets(desk) == 1 && isnan(desk->example.depths[0]));
  return desk->example.targets[0];
}

static bool is_sorted(const int32_t *tokens, size_t length) {
  bool sorted = true;
  for (size_t t = 2; t < length; t++) sorted = sorted && tokens[t - 1] <= tokens[t];
  return sorted;
}

/* One of two neighbours apart, which differ. */
static void expect_swapped(const int32_t *sorted, const int32_t *other, size_t length) {
  size_t t = 0;
  while (t < length && sorted[t] == other[t]) t++;
  cr_assert_lt(t + 1, length);
  cr_assert(sorted[t] < sorted[t + 1] && other[t] == sorted[t + 1] && other[t + 1] == sorted[t]);
  cr_assert_eq(memcmp(sorted + t + 2, other + t + 2, (length - t - 2) * sizeof *sorted), 0);
}

/* The two tokens that no other is like have changed places, and the first decides. */
static void expect_first(const int32_t *yes, const int32_t *no, size_t length, int32_t symbols) {
  size_t places[2] = {0}, count = 0;
  for (size_t t = 1; t < length; t++) {
    if (yes[t] <= symbols)
      cr_assert_eq(yes[t], no[t]);
    else if (count++ < 2)
      places[count - 1] = t;
  }
  cr_assert_eq(count, 2);
  cr_assert(yes[places[0]] == symbols + 1 && yes[places[1]] == symbols + 2);
  cr_assert(no[places[0]] == symbols + 2 && no[places[1]] == symbols + 1);
}

Test(order, twins__have_the_same_tokens_and_the_other_answer) {
  static const struct {
    const char *settings;
    size_t length, symbols;
  } cases[] = {{"ask=sorted", 16, 16},
               {"ask=sorted symbols=2", 3, 2},
               {"ask=sorted symbols=2", 40, 2},
               {"ask=sorted symbols=4096", 40, 4096},
               {"", 16, 16},
               {"ask=first symbols=2", 3, 2}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    task_desk desk;
    bool sorted = strstr(cases[c].settings, "sorted") != NULL;
    size_t length = cases[c].length;
    desk_open(&desk, "order", cases[c].settings, 2);
    for (uint64_t k = 0; k < 400; k++) {
      int32_t yes[MOST_LENGTH], no[MOST_LENGTH], a[MOST_LENGTH], b[MOST_LENGTH];
      rs_split split = k % 2 ? RS_SPLIT_TRAINING : RS_SPLIT_EVALUATION;
      cr_assert_eq(draw_one(&desk, split, 2 * k, length, yes), 1);
      cr_assert_eq(draw_one(&desk, split, 2 * k + 1, length, no), 0);
      cr_assert_eq(desk.shape.vocabulary, cases[c].symbols + (sorted ? 1 : 3));
      cr_assert_eq(desk.shape.classes, 2);
      if (sorted) {
        cr_assert(is_sorted(yes, length) && !is_sorted(no, length));
        expect_swapped(yes, no, length);
      } else {
        expect_first(yes, no, length, (int32_t)cases[c].symbols);
      }
      memcpy(a, yes, sizeof a), memcpy(b, no, sizeof b);
      qsort(a, length, sizeof *a, compare), qsort(b, length, sizeof *b, compare);
      cr_assert_eq(memcmp(a, b, length * sizeof *a), 0);
    }
    desk_clear(&desk);
  }
}

/* Of 9 places behind the first token two are marked, no pair oftener than others; borders of 4 symbols that all are
 * there, too. */
Test(order, places__are_all_as_likely) {
  task_desk desk;
  size_t pairs[10][10] = {{0}}, borders[4] = {0}, full = 0;
  int32_t tokens[MOST_LENGTH];
  desk_open(&desk, "order", "ask=first", 7);
  for (uint64_t k = 0; k < 3600; k++) {
    size_t a = 0, b = 0;
    (void)draw_one(&desk, RS_SPLIT_TRAINING, 2 * k, 10, tokens);
    for (size_t t = 1; t < 10; t++) {
      if (tokens[t] == 17) a = t;
      if (tokens[t] == 18) b = t;
    }
    pairs[a][b]++;
  }
  for (size_t a = 1; a < 10; a++)
    for (size_t b = a + 1; b < 10; b++) cr_expect(within_four_sigma(pairs[a][b], 3600, 1.0 / 36), "%zu %zu", a, b);
  desk_clear(&desk);
  desk_open(&desk, "order", "ask=sorted symbols=4", 7);
  for (uint64_t k = 0; k < 3000; k++) {
    (void)draw_one(&desk, RS_SPLIT_TRAINING, 2 * k + 1, 24, tokens);
    unsigned there = 0;
    for (size_t t = 1; t < 24; t++) there |= 1u << tokens[t];
    for (size_t t = 2; t < 24; t++)
      if (there == 30 && tokens[t] < tokens[t - 1]) borders[tokens[t]]++, full++;
  }
  cr_assert_gt(full, 2900);
  for (size_t i = 1; i < 4; i++) cr_expect(within_four_sigma(borders[i], full, 1.0 / 3), "%zu: %zu", i, borders[i]);
  desk_clear(&desk);
}

Test(order, short_lengths__are_told) {
  task_desk desk;
  rs_err err = {0};
  rs_example_shape shape;
  desk_open(&desk, "order", "", 0);
  cr_expect_eq(desk.kind->shape(desk.task.state, 2, &shape, &err), RS_DOMAIN);
  cr_expect_str_eq(err.message, "2 tokens have no order: the one that says the class and two others are 3");
  cr_expect_eq(desk.kind->shape(desk.task.state, 3, &shape, &err), RS_OK);
  cr_expect(desk.kind->single && desk.kind->crop == RS_CROP_NEVER);
  cr_expect(desk.kind->chance(desk.task.state, 0) == 0.5 && desk.kind->best_loss(desk.task.state, 3) == 0);
  desk_clear(&desk);
}

/* ---- the law of permutations ------------------------------------------------------------------------------------- */

enum { LENGTH = SMALL_LENGTH };

static const struct {
  const char *method, *settings;
  bool ordered; /* says where tokens are */
} methods[] = {{"nope", "", false},   {"rope", "", true},  {"sinusoidal", "", true},
               {"learned", "", true}, {"alibi", "", true}, {"t5", "", true}};

static rs_transformer *make_model(const char *method, const char *settings, uint64_t seed) {
  small_model m;
  small_model_fill(&m, RS_ENCODER);
  small_model_recipe(&m, 0, method, settings);
  rs_transformer *t = small_model_create(&m, RS_F64, seed);
  small_model_clear(&m);
  /* Learned numbers begin at 0, or near it. */
  rs_stream stream = {.seed = seed, .purpose = RS_PURPOSE_KEYS};
  for (size_t i = 0; i < t->size; i++) rs_transformer_set(t, i, rs_transformer_get(t, i) + rs_uniform(stream, i) - 0.5);
  return t;
}

static void read_class(const rs_transformer *t, const int32_t *tokens, double *logits) {
  double all[LENGTH * SMALL_VOCABULARY];
  rs_err err = {0};
  const rs_reader_in in = {.count = 1, .length = LENGTH, .tokens = tokens, .last = LENGTH};
  cr_assert_eq(rs_read_logits(t, &in, all, &err), RS_OK, "%s", err.message);
  memcpy(logits, all, SMALL_VOCABULARY * sizeof *logits);
}

/* What is said at token 0 under permutations of the others: the same without positions, whatever the weights. */
Test(order, permutations__change_nothing_without_positions_alone) {
  for (size_t i = 0; i < RS_COUNT(methods); i++)
    for (uint64_t seed = 0; seed < 6; seed++) {
      rs_transformer *t = make_model(methods[i].method, methods[i].settings, seed);
      rs_stream stream = {.seed = seed, .purpose = RS_PURPOSE_QUERIES};
      int32_t tokens[LENGTH];
      double first[SMALL_VOCABULARY], logits[SMALL_VOCABULARY], most = 0;
      for (size_t k = 0; k < LENGTH; k++) tokens[k] = (int32_t)((3 * k + seed) % SMALL_VOCABULARY);
      read_class(t, tokens, first);
      for (size_t p = 0, drawn = 0; p < 10; p++) {
        for (size_t k = LENGTH - 1; k > 1; k--) {
          size_t other = 1 + (size_t)(rs_uniform(stream, drawn++) * (double)k);
          int32_t kept = tokens[k];
          tokens[k] = tokens[other];
          tokens[other] = kept;
        }
        read_class(t, tokens, logits);
        for (size_t c = 0; c < SMALL_VOCABULARY; c++) most = fmax(most, fabs(logits[c] - first[c]));
      }
      cr_expect(methods[i].ordered ? most > 1e-3 : most < 1e-12, "%s, seed %zu: %g", methods[i].method, (size_t)seed,
                most);
      rs_transformer_free(t);
    }
}

/* ---- accuracy ---------------------------------------------------------------------------------------------------- */

enum { PAIRS = 100, STEPS = 150 };

static void train(rs_transformer *t, const rs_task *task, size_t steps) {
  const rs_training training = {.steps = steps,
                                .length = LENGTH,
                                .sequences = 32,
                                .rate = 0.02,
                                .final_rate = 0.1,
                                .warmup = 10,
                                .beta1 = 0.9,
                                .beta2 = 0.98,
                                .epsilon = 1e-8,
                                .clip = 1};
  rs_trainer *trainer;
  rs_err err = {0};
  rs_train_step done;
  cr_assert_eq(rs_trainer_create(t, &training, task, 1, &trainer, &err), RS_OK, "%s", err.message);
  for (size_t i = 0; i < steps; i++) cr_assert_eq(rs_trainer_step(trainer, &done, &err), RS_OK, "%s", err.message);
  rs_trainer_free(trainer);
}

/* How many of the answers are right, and of how many pairs of twins just one. */
static size_t count_right(const rs_transformer *t, const rs_task *task, size_t length, size_t *halves) {
  rs_context *context;
  rs_reading reading;
  rs_err err = {0};
  size_t all = 0;
  cr_assert_eq(rs_context_of_task(t, NULL, task, length, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_reading_make(context, task, RS_SPLIT_EVALUATION, length, 2 * PAIRS, &reading, &err), RS_OK, "%s",
               err.message);
  *halves = 0;
  for (size_t k = 0; k < PAIRS; k++) {
    size_t a = 2 * k * reading.answers, b = a + reading.answers;
    size_t right = (size_t)(reading.said[a] == reading.targets[a]) + (reading.said[b] == reading.targets[b]);
    all += right;
    *halves += right == 1;
  }
  rs_reading_clear(&reading);
  rs_context_free(context);
  return all;
}

/* As drawn and as trained, at the trained length and at twice that. Other answers than the two classes are right for
 * neither twin, so that models say two. */
Test(order, accuracy__is_one_half_without_positions_and_learned_with_them) {
  static const char *const asked[] = {"ask=first symbols=8", "ask=sorted symbols=10"};
  for (size_t a = 0; a < RS_COUNT(asked); a++)
    for (size_t i = 0; i < 2; i++) {
      small_model m;
      task_desk desk;
      size_t halves;
      desk_open(&desk, "order", asked[a], 5);
      small_model_fill(&m, RS_ENCODER);
      m.shape.classes = 2;
      small_model_recipe(&m, 0, methods[i].method, methods[i].settings);
      rs_transformer *t = small_model_create(&m, RS_F64, 1);
      for (size_t trained = 0; trained < 2; trained++) {
        if (trained) train(t, &desk.task, STEPS);
        size_t right = count_right(t, &desk.task, LENGTH, &halves);
        if (!methods[i].ordered) {
          cr_expect(right == PAIRS && halves == PAIRS, "%s: %zu, %zu", asked[a], right, halves);
          right = count_right(t, &desk.task, 2 * LENGTH, &halves);
          cr_expect(right == PAIRS && halves == PAIRS, "%s: %zu, %zu", asked[a], right, halves);
        } else if (trained && a == 0) {
          cr_expect_gt(right, 2 * PAIRS * 9 / 10, "%s %s: %zu", asked[a], methods[i].method, right);
        }
      }
      rs_transformer_free(t);
      small_model_clear(&m);
      desk_clear(&desk);
    }
}

/* Of both tasks of encoders. */
Test(order, trainings__same_bits_for_any_number_of_threads) {
  static const struct { const char *task, *settings; } cases[] = {{"order", "symbols=8"}, {"masked", "symbols=10"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    task_desk desk;
    rs_transformer *models[3];
    desk_open(&desk, cases[i].task, cases[i].settings, 5);
    small_model_fill(&m, RS_ENCODER);
    for (size_t threads = 1; threads <= 3; threads++) {
      rs_transformer *t = models[threads - 1] = small_model_create(&m, RS_F32, 1);
      omp_set_num_threads((int)threads);
      train(t, &desk.task, 5);
      cr_expect_eq(memcmp(t->values, models[0]->values, t->size * sizeof(float)), 0, "%s, %zu", cases[i].task, threads);
    }
    for (size_t k = 0; k < 3; k++) rs_transformer_free(models[k]);
    small_model_clear(&m);
    desk_clear(&desk);
  }
}
