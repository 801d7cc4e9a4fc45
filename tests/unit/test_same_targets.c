/* test_same_targets.c: readings of all lengths score the same targets, and read what stands before them. */
#include <criterion/criterion.h>
#include <math.h>

#include "../fixtures/runs.h"
#include "../fixtures/small_model.h"
#include "../fixtures/task_desk.h"
#include "io/io.h"

enum { LONGEST = 32, TARGETS = 6, TEXT = 150, SEQUENCES = 4 };
static const size_t lengths[] = {TARGETS, 7, 12, 31, LONGEST};

TestSuite(same_targets, .init = enter_folder, .fini = leave_folder);

static rs_transformer *model_of(size_t window) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  small_model_recipe(&m, 0, "rope", "");
  for (size_t b = 0; b < SMALL_BLOCKS && window > 0; b++)
    m.blocks[b].mask = (rs_mask){.kind = RS_WINDOW, .window = window};
  rs_transformer *t = small_model_create(&m, RS_F64, 3);
  small_model_clear(&m);
  return t;
}

/* A text without a period, of the model's tokens. */
static size_t id_at(size_t i) {
  return (i * i + i / 7) % SMALL_VOCABULARY;
}

static void open_text(task_desk *desk) {
  uint8_t ids[2 * TEXT];
  rs_err err = {0};
  for (size_t i = 0; i < TEXT; i++) ids[2 * i] = (uint8_t)id_at(i), ids[2 * i + 1] = 0;
  cr_assert_eq(rs_file_write("ids", (const char *)ids, sizeof ids, &err), RS_OK, "%s", err.message);
  desk_open(desk, "tokens", "file=ids numbers=uint16", 0);
  desk->task.same = (rs_same_targets){LONGEST, TARGETS};
}

static rs_reading read_at(const rs_transformer *t, const rs_task *task, size_t length) {
  rs_context *context;
  rs_reading reading;
  rs_err err = {0};
  cr_assert_eq(rs_context_of_task(t, NULL, task, length, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_reading_make(context, task, RS_SPLIT_EVALUATION, length, 9, &reading, &err), RS_OK, "%s",
               err.message);
  rs_context_free(context);
  return reading;
}

/* -ln of the probability of each of the last targets behind the tokens before it, read at once by the logits' way. */
static void losses_of(const rs_transformer *t, const int32_t *tokens, size_t length, const int32_t *targets,
                      double *losses) {
  double logits[TARGETS * SMALL_VOCABULARY];
  rs_err err = {0};
  const rs_reader_in in = {.count = 1, .length = length, .tokens = tokens, .last = TARGETS};
  cr_assert_eq(rs_read_logits(t, &in, logits, &err), RS_OK, "%s", err.message);
  for (size_t i = 0; i < TARGETS; i++) {
    long double sum = 0;
    for (size_t c = 0; c < SMALL_VOCABULARY; c++) sum += expl(logits[i * SMALL_VOCABULARY + c]);
    losses[i] = targets[i] >= 0 ? (double)(logl(sum) - logits[i * SMALL_VOCABULARY + (size_t)targets[i]]) : NAN;
  }
}

/* The last targets of a sequence stand, no others, and cost what they do by themselves. */
static void expect_block(const rs_transformer *t, const rs_reading *reading, size_t block, const int32_t *tokens,
                         const int32_t *targets) {
  size_t length = reading->answers, start = block * length, first = length - TARGETS;
  double want[TARGETS];
  losses_of(t, tokens, length, targets, want);
  for (size_t i = 0; i < first; i++) cr_assert_eq(reading->targets[start + i], RS_NO_TARGET, "%zu: %zu", length, i);
  for (size_t i = 0; i < TARGETS; i++) {
    double got = reading->losses[start + first + i];
    cr_assert_eq(reading->targets[start + first + i], targets[i], "block %zu at %zu: target %zu", block, length, i);
    if (targets[i] < 0) continue;
    cr_assert_float_eq(got, want[i], 1e-12, "block %zu at %zu: %.17g, by itself %.17g", block, length, got, want[i]);
  }
}

/* Blocks stand side by side at the longest length, and each length has the last tokens of each. */
Test(same_targets, texts__are_read_with_so_many_tokens_before_their_end) {
  task_desk desk;
  rs_transformer *t = model_of(0);
  open_text(&desk);
  for (size_t l = 0; l < RS_COUNT(lengths); l++) {
    rs_reading reading = read_at(t, &desk.task, lengths[l]);
    cr_assert_eq(reading.sequences, (TEXT - 1) / LONGEST);
    cr_expect_eq(reading.cropped, LONGEST - lengths[l]);
    for (size_t b = 0; b < reading.sequences; b++) {
      int32_t tokens[LONGEST], targets[TARGETS];
      size_t end = (b + 1) * LONGEST;
      for (size_t i = 0; i < lengths[l]; i++) tokens[i] = (int32_t)id_at(end - lengths[l] + i);
      for (size_t i = 0; i < TARGETS; i++) targets[i] = (int32_t)id_at(end - TARGETS + i + 1);
      expect_block(t, &reading, b, tokens, targets);
    }
    rs_reading_clear(&reading);
  }
  rs_transformer_free(t);
  desk_clear(&desk);
}

/* Two blocks that see 3 tokens each know nothing of what is more than 4 back: length changes no loss from where the
 * first target has so many before it. */
Test(same_targets, models_without_long_context__lose_the_same_at_each_length) {
  task_desk desk;
  rs_transformer *t = model_of(3);
  open_text(&desk);
  rs_reading longest = read_at(t, &desk.task, LONGEST);
  for (size_t length = TARGETS; length < LONGEST; length++) {
    rs_reading reading = read_at(t, &desk.task, length);
    size_t differ = 0;
    for (size_t b = 0; b < reading.sequences; b++)
      for (size_t i = 1; i <= TARGETS; i++)
        differ += fabs(reading.losses[(b + 1) * length - i] - longest.losses[(b + 1) * LONGEST - i]) > 1e-12;
    cr_expect_eq(differ > 0, length < TARGETS + 4, "%zu tokens: %zu differ", length, differ);
    rs_reading_clear(&reading);
  }
  rs_reading_clear(&longest);
  rs_transformer_free(t);
  desk_clear(&desk);
}

/* ---- dictionary -------------------------------------------------------------------------------------------------- */

static void open_dictionary(task_desk *desk) {
  desk_open(desk, "dictionary", "fillers=2 keys=4 values=4 keys_in_use=2 depths=[0,0.9] unscored=0.5", 5);
}

/* A sequence goes on to begin with its token of beginning, behind which the last ones stand; needles keep the depth
 * that they have in all of it. */
Test(same_targets, dictionaries__keep_their_first_token) {
  task_desk desk;
  rs_transformer *t = model_of(0);
  open_dictionary(&desk);
  for (size_t l = 2; l < RS_COUNT(lengths); l++) {
    size_t length = lengths[l], cut = LONGEST - length;
    desk.task.same = (rs_same_targets){LONGEST, TARGETS};
    rs_reading reading = read_at(t, &desk.task, length);
    for (size_t b = 0; b < SEQUENCES; b++) {
      int32_t tokens[LONGEST];
      desk_draw(&desk, RS_SPLIT_EVALUATION, b, LONGEST);
      for (size_t i = 0; i < length; i++) tokens[i] = i == 0 ? 0 : desk.example.tokens[cut + i];
      expect_block(t, &reading, b, tokens, desk.example.targets + LONGEST - TARGETS);
      for (size_t i = length - TARGETS; i < length; i++) {
        float got = reading.depths[b * length + i], want = desk.example.depths[cut + i];
        cr_expect(got == want || (isnan(got) && isnan(want)), "depth %g, not %g", (double)got, (double)want);
        cr_expect_eq(reading.parts[b * length + i], desk.example.parts[cut + i]);
      }
    }
    rs_reading_clear(&reading);
  }
  rs_transformer_free(t);
  desk_clear(&desk);
}

/* What is sought stands where it was told, or is not there: not where the first token took its place, either. */
Test(same_targets, needles__are_sought_where_they_stand_or_nowhere) {
  task_desk desk;
  rs_transformer *t = model_of(0);
  size_t found = 0, lost = 0, replaced = 0;
  open_dictionary(&desk);
  desk.task.same = (rs_same_targets){LONGEST, TARGETS};
  for (size_t length = 8; length <= LONGEST; length++) {
    size_t cut = LONGEST - length;
    rs_context *context;
    rs_block_reader *reader;
    cr_assert_eq(rs_context_of_task(t, NULL, &desk.task, length, &context, NULL), RS_OK);
    cr_assert_eq(rs_block_reader_create(context, &desk.task, length, &reader, NULL), RS_OK);
    for (uint64_t k = 1; k < 20; k += 2) {
      desk_draw(&desk, RS_SPLIT_EVALUATION, k, LONGEST);
      rs_block_reader_read(reader, RS_SPLIT_EVALUATION, k, 0);
      const size_t *sought = rs_block_reader_head(reader, 0).sought;
      for (size_t i = 0; i < length; i++) {
        size_t holder = desk.example.sought[cut + i];
        bool asked = i >= length - TARGETS && desk.example.targets[cut + i] != RS_NO_TARGET && holder != RS_NO_NEEDLE;
        size_t want = asked && (holder > cut || cut == 0) ? holder - cut : RS_NO_NEEDLE;
        cr_expect_eq(sought[i], want, "%zu tokens, sequence %zu, token %zu: %zu", length, (size_t)k, i, sought[i]);
        found += asked && want != RS_NO_NEEDLE;
        lost += asked && want == RS_NO_NEEDLE;
        replaced += asked && holder == cut && cut > 0;
      }
    }
    rs_block_reader_free(reader);
    rs_context_free(context);
  }
  cr_expect(found > 10 && lost > 10 && replaced > 2, "%zu found, %zu lost, %zu replaced", found, lost, replaced);
  rs_transformer_free(t);
  desk_clear(&desk);
}

/* Training draws as it did. */
Test(same_targets, trainings__see_whole_sequences) {
  task_desk desk;
  rs_transformer *t = model_of(0);
  rs_context *context;
  rs_reading plain, same;
  open_dictionary(&desk);
  cr_assert_eq(rs_context_of_task(t, NULL, &desk.task, 16, &context, NULL), RS_OK);
  cr_assert_eq(rs_reading_make(context, &desk.task, RS_SPLIT_TRAINING, 16, 3, &plain, NULL), RS_OK);
  desk.task.same = (rs_same_targets){LONGEST, TARGETS};
  cr_assert_eq(rs_reading_make(context, &desk.task, RS_SPLIT_TRAINING, 16, 3, &same, NULL), RS_OK);
  cr_expect_arr_eq(plain.targets, same.targets, 48 * sizeof *plain.targets);
  rs_reading_clear(&plain);
  rs_reading_clear(&same);
  rs_context_free(context);
  rs_transformer_free(t);
  desk_clear(&desk);
}
