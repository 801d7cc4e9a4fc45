/* test_task_repeat.c: which token stands where in the sequences of `repeat`, and what models that copy, and such as do
 * not, get for it. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../fixtures/scratch.h"
#include "../fixtures/small_model.h"
#include "../fixtures/task_desk.h"
#include "metrics/metrics.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
enum { LETTERS = 26, NO = RS_NO_TARGET };

static void open_letters(task_desk *desk, const char *settings) {
  cr_assert_eq(rs_file_write("text", letters, LETTERS, NULL), RS_OK);
  desk_make(desk, "repeat");
  bound_set(&desk->parameters, "file", "text");
  bound_set(&desk->parameters, "numbers", "uint8");
  desk_set(desk, settings);
  desk_prepare(desk, 1);
}

/* The tokens as text; tokens asked for: small letters for the first passage, capitals for the second, each at the token
 * that asks. */
static void check_text(task_desk *desk, uint64_t index, size_t length, const char *tokens, const char *asked) {
  char text[64] = {0}, targets[64] = {0};
  desk_draw(desk, RS_SPLIT_EVALUATION, index, length);
  for (size_t t = 0; t < length; t++) {
    int32_t target = desk->example.targets[t];
    text[t] = (char)desk->example.tokens[t];
    targets[t] = (char)(target == NO ? '.' : desk->example.parts[t] == 1 ? target - 'a' + 'A' : target);
  }
  cr_expect_str_eq(text, tokens, "%zu", (size_t)index);
  cr_expect_str_eq(targets, asked, "%zu", (size_t)index);
}

/* Passages begin at a, then .618 of 26 letters further: q. The lead is what stood before them, round the end. */
Test(repeat, sequence__is_lead_passage_between_passage) {
  task_desk desk;
  enter_scratch();
  open_letters(&desk, "share=1 passage=3 distance=[3,5]");
  check_text(&desk, 0, 9, "wxyzabcab", "....bc.BC");
  check_text(&desk, 1, 9, "yzabcdeab", "..bc...BC");
  check_text(&desk, 2, 9, "mnopqrsqr", "....rs.RS");
  check_text(&desk, 3, 9, "opqrstuqr", "..rs...RS");
  check_text(&desk, 3, 7, "qrstuqr", "rs...RS"); /* the same passage at another length */
  cr_expect_eq(desk.shape.evaluations, 2 * 8, "passages of 3 in 26");
  cr_expect(desk.shape.vocabulary == 256 && desk.shape.classes == 256 && desk.shape.untrainable);
  cr_expect_eq(desk.kind->chance(desk.task.state, 0), 1.0 / LETTERS);
  desk_clear(&desk);
  open_letters(&desk, "share=1 passage=3");
  check_text(&desk, 0, 9, "abcdefgab", "bc.....BC");
  check_text(&desk, 1, 5, "qrsqr", "rs.RS");
  cr_expect_eq(desk.shape.evaluations, 8);
  desk_clear(&desk);
  leaves((const char *[]){"text"}, 1);
}

/* Half of the text is held out: n to z. The prefix is not scored in either passage. */
Test(repeat, share_and_prefix__say_what_is_read_and_scored) {
  task_desk desk;
  enter_scratch();
  open_letters(&desk, "share=0.5 passage=4 prefix=3");
  check_text(&desk, 0, 10, "nopqrstnop", "..q......Q");
  check_text(&desk, 1, 10, "vwxyznovwx", "..y......Y");
  cr_expect(!desk.shape.untrainable);
  cr_expect_eq(desk.kind->chance(desk.task.state, 1), 1.0 / 13);
  desk_draw(&desk, RS_SPLIT_TRAINING, 0, 10);
  for (size_t t = 0; t < 10; t++) cr_expect(desk.example.tokens[t] >= 'a' && desk.example.tokens[t] <= 'm');
  desk_clear(&desk);
  leaves((const char *[]){"text"}, 1);
}

/* Every passage, prefix, distance and length up to 8, by the definition. */
static void check_world(task_desk *desk, size_t length, size_t passage, size_t prefix, size_t distance) {
  const rs_example *e = &desk->example;
  const long double golden = (sqrtl(5) - 1) / 2;
  size_t lead = length + 1 - passage - distance;
  for (uint64_t k = 0; k < 8; k++) {
    size_t start = (size_t)(((long double)k * golden - floorl((long double)k * golden)) * LETTERS);
    desk_draw(desk, RS_SPLIT_EVALUATION, k, length);
    cr_assert_eq(desk_targets(desk), 2 * (passage - prefix));
    for (size_t t = 0; t <= length; t++) {
      size_t from = t < lead + distance ? t : t - distance;
      int32_t letter = letters[(start + LETTERS + from - lead) % LETTERS];
      bool first = t >= lead + prefix && t < lead + passage, second = t >= lead + distance + prefix;
      if (t < length) cr_assert_eq(e->tokens[t], letter);
      if (t == 0) continue;
      cr_assert_eq(e->targets[t - 1], first || second ? letter : NO, "L %zu p %zu d %zu: %zu", length, passage,
                   distance, t);
      cr_assert_eq(e->sought[t - 1], second ? from : RS_NO_NEEDLE);
      if (first || second) cr_assert_eq(e->parts[t - 1], second);
      cr_assert(second ? fabs(e->depths[t - 1] - (double)from / (double)(length - 1)) < 1e-6 : isnan(e->depths[t - 1]));
    }
  }
}

Test(repeat, tiny_worlds__all_of_them) {
  char settings[64];
  enter_scratch();
  for (size_t length = 3; length <= 8; length++)
    for (size_t passage = 2; 2 * passage <= length + 1; passage++)
      for (size_t prefix = 1; prefix < passage; prefix++)
        for (size_t distance = passage; distance + passage <= length + 1; distance++) {
          task_desk desk;
          snprintf(settings, sizeof settings, "share=1 passage=%zu prefix=%zu distance=[%zu]", passage, prefix,
                   distance);
          open_letters(&desk, settings);
          check_world(&desk, length, passage, prefix, distance);
          desk_clear(&desk);
        }
  leaves((const char *[]){"text"}, 1);
}

/* Training repeats from a token on, of those from the passage's length to where no more than a passage fits behind;
 * where the repetition begins is all that cannot be copied. */
Test(repeat, training__goes_on_to_repeat_at_any_distance) {
  enum { LENGTH = 20, PASSAGE = 5, SEQUENCES = 600, MOST = 1000 };
  size_t counts[LENGTH + 1] = {0}, kinds = LENGTH + 2 - 2 * PASSAGE;
  task_desk desk;
  desk_open(&desk, "repeat", "vocabulary=1000 passage=5 distance=[5]", 3);
  for (size_t i = 0; i < SEQUENCES; i++) {
    const rs_example *e = &desk.example;
    size_t distance = 0;
    desk_draw(&desk, RS_SPLIT_TRAINING, i, LENGTH);
    while (e->parts[distance] == 0) cr_assert_lt(++distance, LENGTH);
    counts[distance]++;
    for (size_t t = 0; t < LENGTH; t++) {
      int32_t next = t + 1 < LENGTH ? e->tokens[t + 1] : e->tokens[LENGTH - distance];
      cr_assert(e->targets[t] == next && next >= 0 && next < MOST);
      cr_assert_eq(e->parts[t], t >= distance);
      cr_assert_eq(e->sought[t], t >= distance ? t + 1 - distance : RS_NO_NEEDLE);
      if (t >= distance) cr_assert_eq(e->tokens[t], e->tokens[t - distance]);
    }
  }
  for (size_t d = 0; d <= LENGTH; d++) {
    bool fits = d >= PASSAGE && d + PASSAGE <= LENGTH + 1;
    cr_expect(fits ? within_four_sigma(counts[d], SEQUENCES, 1 / (double)kinds) : counts[d] == 0, "%zu: %zu", d,
              counts[d]);
  }
  desk_clear(&desk);
}

/* Without a text: all tokens are as likely, and passages are those of other lengths and distances. */
Test(repeat, drawn_tokens__are_even__and_the_same_at_every_length) {
  enum { WORDS = 8, PASSAGE = 6 };
  task_desk near, far;
  size_t counts[WORDS] = {0};
  desk_open(&near, "repeat", "vocabulary=8 passage=6 distance=[6,9,14]", 4);
  desk_open(&far, "repeat", "vocabulary=8 passage=6", 4);
  for (uint64_t i = 0; i < 300; i++) {
    desk_draw(&near, RS_SPLIT_EVALUATION, i, 40);
    desk_draw(&far, RS_SPLIT_EVALUATION, i / 3, 100);
    cr_assert_arr_eq(near.example.tokens + 41 - PASSAGE, far.example.tokens, (PASSAGE - 1) * sizeof(int32_t));
    for (size_t t = 0; t < 40 && i % 3 == 0; t++) counts[near.example.tokens[t]]++;
  }
  for (size_t w = 0; w < WORDS; w++) cr_expect(within_four_sigma(counts[w], 4000, 1.0 / WORDS), "%zu", counts[w]);
  cr_expect(near.shape.vocabulary == WORDS && !near.shape.untrainable && near.shape.evaluations == 0);
  cr_expect_eq(near.kind->chance(near.task.state, 1), 1.0 / WORDS);
  desk_clear(&near);
  desk_clear(&far);
}

/* ---- what models get for it -------------------------------------------------------------------------------------- */

enum { LENGTH = 30, SEQUENCES = 12 };

static rs_result read_by(const rs_reading *reading, const rs_task *task) {
  const rs_metric_kind *metric = rs_metric_find("repeated_loss");
  rs_result result = {.curve = {.columns = 9}};
  bound_params parameters;
  rs_err err = {0};
  bound_make(&parameters, &metric->kind);
  const rs_reading_in in = {.reading = reading, .task = task, .length = LENGTH, .params = parameters.binding.fields};
  cr_assert_eq(metric->read(&in, &result, &err), RS_OK, "%s", err.message);
  bound_clear(&parameters);
  return result;
}

/* What the sequences ask for, each said at a loss of ln(vocabulary), or 0 where it is said again. */
static void read_as(task_desk *desk, bool copies, double guess, rs_result *result) {
  double losses[SEQUENCES * LENGTH];
  int32_t targets[SEQUENCES * LENGTH];
  uint8_t parts[SEQUENCES * LENGTH];
  float depths[SEQUENCES * LENGTH];
  for (size_t s = 0; s < SEQUENCES; s++) {
    const rs_example *e = &desk->example;
    desk_draw(desk, RS_SPLIT_EVALUATION, s, LENGTH);
    for (size_t t = 0, i = s * LENGTH; t < LENGTH; t++, i++) {
      targets[i] = e->targets[t];
      parts[i] = e->parts[t];
      depths[i] = e->depths[t];
      losses[i] = targets[i] == NO ? NAN : copies && e->sought[t] != RS_NO_NEEDLE ? 0 : guess;
    }
  }
  const rs_reading reading = {.sequences = SEQUENCES,
                              .answers = LENGTH,
                              .losses = losses,
                              .said = targets,
                              .targets = targets,
                              .parts = parts,
                              .depths = depths};
  *result = read_by(&reading, &desk->task);
}

Test(repeat, a_copier_gains_all__a_guess_nothing) {
  task_desk desk;
  rs_result result;
  const double guess = log(50);
  desk_open(&desk, "repeat", "vocabulary=50 passage=7 distance=[8,16,24]", 9);
  read_as(&desk, true, guess, &result);
  cr_expect_float_eq(result.value[0], guess, 1e-14);
  cr_expect_float_eq(result.value[1], 0, 1e-14);
  cr_expect_float_eq(result.value[2], -guess, 1e-14);
  cr_expect_float_eq(result.error[2], 0, 1e-14);
  cr_assert_eq(result.curve.rows, 3, "%zu", result.curve.rows);
  for (size_t i = 0; i < 3; i++) {
    const double *row = result.curve.cells + 9 * i;
    cr_expect(row[0] <= 8 * (double)(i + 1) && 8 * (double)(i + 1) < row[1] && row[2] == 4 * 6, "%g", row[0]);
    cr_expect_float_eq(row[7], -guess, 1e-14);
  }
  rs_curve_clear(&result.curve);
  read_as(&desk, false, guess, &result);
  cr_expect_float_eq(result.value[1], guess, 1e-14);
  cr_expect_float_eq(result.value[2], 0, 1e-14);
  rs_curve_clear(&result.curve);
  desk_clear(&desk);
}

/* Values of `dictionary` that are met a second time, and were a target where they were met first, are pairs; such as
 * are met a third time are none, nor are needles. */
Test(repeat, values_of_a_dictionary__are_paired_with_their_first) {
  task_desk desk;
  rs_result result;
  size_t pairs = 0, counted = 0;
  desk_open(&desk, "dictionary", "unscored=0 depths=[0.5]", 2);
  for (size_t s = 0; s < SEQUENCES; s++) {
    const rs_example *e = &desk.example;
    desk_draw(&desk, RS_SPLIT_EVALUATION, s, LENGTH);
    for (size_t t = 0; t < LENGTH; t++) {
      if (e->targets[t] == NO || strcmp(desk.kind->parts[e->parts[t]], "repeat") != 0) continue;
      size_t first = e->sought[t] - 1;
      pairs += e->targets[first] != NO && strcmp(desk.kind->parts[e->parts[first]], "first_value") == 0;
    }
  }
  read_as(&desk, true, 2, &result);
  cr_expect_float_eq(result.value[0], 2, 1e-14);
  cr_expect_float_eq(result.value[1], 0, 1e-14);
  for (size_t i = 0; i < result.curve.rows; i++) counted += (size_t)result.curve.cells[9 * i + 2];
  cr_expect(pairs > 10 && counted == pairs, "%zu of %zu", counted, pairs);
  rs_curve_clear(&result.curve);
  desk_clear(&desk);
}

/* Weights of 0 say every token alike. */
Test(repeat, a_model_of_zeros__says_ln_of_the_vocabulary_twice) {
  small_model m;
  task_desk desk;
  rs_context *context;
  rs_reading reading;
  rs_err err = {0};
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F64, 3);
  memset(t->values, 0, t->size * sizeof(double));
  desk_open(&desk, "repeat", "vocabulary=11 passage=7 distance=[8,23]", 9);
  cr_assert_eq(rs_context_of_task(t, NULL, &desk.task, LENGTH, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_reading_make(context, &desk.task, RS_SPLIT_EVALUATION, LENGTH, SEQUENCES, &reading, &err), RS_OK);
  rs_result result = read_by(&reading, &desk.task);
  cr_expect_float_eq(result.value[0], log(11), 1e-12);
  cr_expect_float_eq(result.value[1], log(11), 1e-12);
  cr_expect_float_eq(result.value[2], 0, 1e-12);
  cr_expect_eq(result.curve.rows, 2);
  rs_curve_clear(&result.curve);
  rs_reading_clear(&reading);
  rs_context_free(context);
  desk_clear(&desk);
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

Test(repeat, contradictions__name_the_parameter) {
  static const struct {
    const char *file, *settings, *subject, *message;
  } wrong[] = {
      {NULL, "", "vocabulary", "must be a number where there is no file: how many tokens there are to draw from"},
      {NULL, "vocabulary=9 share=0.5", "share", "has no effect with drawn tokens (leave one of them out)"},
      {NULL, "vocabulary=9 numbers=uint8", "numbers", "has no effect with drawn tokens (leave one of them out)"},
      {"text", "passage=8 prefix=8", "prefix", "must be less than passage = 8"},
      {"text", "passage=8 distance=[8,9.5]", "distance", "9.5 is no number of tokens"},
      {"text", "passage=8 distance=[9,7]", "distance",
       "7: the second passage would begin within the first; must be at least passage = 8"},
  };
  for (size_t i = 0; i < RS_COUNT(wrong); i++)
    desk_refuses("repeat", wrong[i].file, wrong[i].settings, wrong[i].subject, wrong[i].message);
}

Test(repeat, short_lengths_and_texts__are_told_with_what_fits) {
  static const struct {
    const char *settings;
    size_t length;
    const char *message;
  } wrong[] = {
      {"share=1 passage=3", 4, "4 tokens: a passage of 3, and again 3 tokens later, takes 5"},
      {"share=0.5 passage=3", 16, "16 tokens: the text has 13 to train on and 13 held out: each must be 14"},
      {"share=1 passage=3", 29, "29 tokens: the text has 0 to train on and 26 held out: each must be 27"},
      {"share=0.25 passage=3", 9, "9 tokens: the text has 19 to train on and 7 held out: each must be 7"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    task_desk desk;
    rs_err err = {0};
    rs_example_shape shape;
    open_letters(&desk, wrong[i].settings);
    rs_status status = desk.kind->shape(desk.task.state, wrong[i].length, &shape, &err);
    bool fits = i + 1 == RS_COUNT(wrong); /* to the token */
    cr_expect_eq(status, fits ? RS_OK : RS_DOMAIN, "%zu", i);
    if (!fits) cr_expect_str_eq(err.message, wrong[i].message);
    desk_clear(&desk);
  }
  leaves((const char *[]){"text"}, 1);
}

/* Distances are those of evaluation: training draws its own, at lengths that these do not fit. */
Test(repeat, far_distances__leave_short_trainings_alone) {
  const rs_training training = {.steps = 1, .length = 10, .sequences = 4, .rate = 0.001, .beta1 = 0.9, .beta2 = 0.9};
  const rs_cut cut = {.context = 2, .step = 2};
  task_desk desk;
  small_model m;
  rs_trainer *trainer;
  rs_train_step done;
  rs_context *context;
  rs_reading reading;
  rs_block_reader *reader;
  double *losses;
  rs_err errors[4] = {{0}};
  static const char message[] = "10 tokens: what the task repeat is evaluated on takes 11";
  desk_open(&desk, "repeat", "vocabulary=11 passage=3 distance=[3,9]", 1);
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F64, 1);
  cr_assert_eq(rs_trainer_create(t, &training, &desk.task, 1, &trainer, &errors[0]), RS_OK, "%s", errors[0].message);
  cr_expect_eq(rs_trainer_step(trainer, &done, &errors[0]), RS_OK);
  rs_trainer_free(trainer);
  for (size_t length = 10; length <= 11; length++) {
    rs_status want = length < 11 ? RS_DOMAIN : RS_OK;
    cr_assert_eq(rs_context_of_task(t, NULL, &desk.task, length, &context, &errors[0]), RS_OK);
    cr_expect_eq(rs_reading_make(context, &desk.task, RS_SPLIT_EVALUATION, length, 2, &reading, &errors[1]), want);
    if (length < 11)
      cr_expect_eq(rs_cut_losses(context, &desk.task, RS_SPLIT_EVALUATION, length, 2, &cut, &losses, &errors[2]), want);
    cr_expect_eq(rs_block_reader_create(context, &desk.task, length, &reader, &errors[3]), want);
    for (size_t i = 1; i < 4 && length == 10; i++) cr_expect_str_eq(errors[i].message, message);
    rs_reading_clear(&reading);
    rs_block_reader_free(reader);
    cr_expect_eq(rs_reading_make(context, &desk.task, RS_SPLIT_TRAINING, length, 2, &reading, NULL), RS_OK);
    rs_reading_clear(&reading);
    rs_context_free(context);
  }
  rs_transformer_free(t);
  small_model_clear(&m);
  desk_clear(&desk);
}

Test(repeat, wrong_files__are_told) {
  static const struct {
    const char *settings, *message;
  } wrong[] = {
      {"numbers=uint8 vocabulary=100", "text: token 25 (from 0) is 122, the vocabulary has 100"},
      {"numbers=uint32", "text: 26 bytes are no whole number of ids of 32 bits"},
      {"numbers=uint8 share=0.001", "text: 25 tokens to train on and 1 held out: each must be 1 or more"},
      {"numbers=uint8 share=0.99", "text: 0 tokens to train on and 26 held out: each must be 1 or more"},
  };
  enter_scratch();
  cr_assert_eq(rs_file_write("text", letters, LETTERS, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    task_desk desk;
    rs_err err = {0};
    desk_make(&desk, "repeat");
    bound_set(&desk.parameters, "file", "text");
    desk_set(&desk, wrong[i].settings);
    rs_task_in in = {desk.parameters.binding.fields, 0};
    rs_status status = rs_task_prepare(desk.kind, &in, &desk.task, &err);
    cr_expect_eq(status, i == 2 ? RS_OK : RS_INPUT, "%zu", i); /* one token held out is a text */
    if (i != 2) cr_expect_str_eq(err.message, wrong[i].message);
    desk_clear(&desk);
  }
  leaves((const char *[]){"text"}, 1);
}
