/* test_task_masked.c: which tokens are masked, by what, of which chain or text, and what the best reader loses. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../fixtures/scratch.h"
#include "../fixtures/small_model.h"
#include "../fixtures/task_desk.h"
#include "io/io.h"

enum { HIDDEN, RANDOM, KEPT, PARTS };

/* ---- masks ------------------------------------------------------------------------------------------------------- */

/* 15 of 100 tokens each time, each as often as others; 8 of 10 hidden, and so on. What stands for a target is the mask
 * (32), any symbol, or the target. */
Test(masked, shares__are_those_of_the_parameters) {
  enum { SEQUENCES = 800, LENGTH = 100, EACH = 15 };
  static const struct {
    const char *settings;
    double shares[PARTS];
  } cases[] = {{"", {0.8, 0.1, 0.1}}, {"hidden=0.25 random=0.7", {0.25, 0.7, 0.05}}, {"hidden=0 random=0", {0, 0, 1}}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    task_desk desk;
    size_t at[LENGTH] = {0}, parts[PARTS] = {0}, same = 0;
    desk_open(&desk, "masked", cases[c].settings, 3);
    for (size_t i = 0; i < SEQUENCES; i++) {
      desk_draw(&desk, i % 2 ? RS_SPLIT_TRAINING : RS_SPLIT_EVALUATION, i, LENGTH);
      const rs_example *e = &desk.example;
      cr_assert_eq(desk_targets(&desk), EACH);
      for (size_t t = 0; t < LENGTH; t++) {
        if (e->targets[t] == RS_NO_TARGET) {
          cr_assert_lt(e->tokens[t], 32);
          continue;
        }
        at[t]++;
        parts[e->parts[t]]++;
        cr_assert_eq(e->tokens[t] == 32, e->parts[t] == HIDDEN);
        cr_assert(e->parts[t] != KEPT || e->tokens[t] == e->targets[t]);
        same += e->parts[t] == RANDOM && e->tokens[t] == e->targets[t];
        cr_assert(isnan(e->depths[t]));
      }
    }
    for (size_t t = 0; t < LENGTH; t++) cr_expect(within_four_sigma(at[t], SEQUENCES, 0.15), "%zu: %zu", t, at[t]);
    for (size_t p = 0; p < PARTS; p++)
      cr_expect(within_four_sigma(parts[p], SEQUENCES * EACH, cases[c].shares[p]), "part %zu: %zu", p, parts[p]);
    cr_expect(within_four_sigma(same, parts[RANDOM], 1.0 / 32), "%zu of %zu", same, parts[RANDOM]);
    desk_clear(&desk);
  }
}

Test(masked, counts__are_rounded_and_never_none) {
  static const struct {
    const char *settings;
    size_t length, targets;
  } cases[] = {{"", 1, 1}, {"", 9, 1}, {"", 10, 2}, {"", 16, 2}, {"", 17, 3}, {"masked=1", 12, 12}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    task_desk desk;
    desk_open(&desk, "masked", cases[i].settings, 1);
    for (size_t k = 0; k < 20; k++) {
      desk_draw(&desk, RS_SPLIT_EVALUATION, k, cases[i].length);
      cr_expect_eq(desk_targets(&desk), cases[i].targets, "%zu of %zu", desk_targets(&desk), cases[i].length);
    }
    desk_clear(&desk);
  }
}

/* Evaluation alone, whatever training does. */
Test(masked, evaluation__may_hide_all) {
  task_desk desk;
  size_t shown = 0;
  desk_open(&desk, "masked", "evaluation=hidden hidden=0.5 random=0.4", 1);
  for (size_t k = 0; k < 40; k++) {
    desk_draw(&desk, k % 2 ? RS_SPLIT_TRAINING : RS_SPLIT_EVALUATION, k, 40);
    for (size_t t = 0; t < 40; t++) {
      if (desk.example.targets[t] == RS_NO_TARGET) continue;
      bool hidden = desk.example.tokens[t] == 32 && desk.example.parts[t] == HIDDEN;
      if (k % 2 == 0) cr_assert(hidden);
      shown += !hidden;
    }
  }
  cr_expect_gt(shown, 0);
  desk_clear(&desk);
}

/* ---- chains ------------------------------------------------------------------------------------------------------ */

enum { SYMBOLS = 7 };

static void count_steps(task_desk *desk, size_t counts[SYMBOLS][SYMBOLS], size_t first[SYMBOLS]) {
  memset(counts, 0, sizeof(size_t[SYMBOLS][SYMBOLS]));
  memset(first, 0, sizeof(size_t[SYMBOLS]));
  for (size_t i = 0; i < 400; i++) {
    int32_t said[40];
    desk_draw(desk, i % 2 ? RS_SPLIT_TRAINING : RS_SPLIT_EVALUATION, i, 40);
    for (size_t t = 0; t < 40; t++)
      said[t] = desk->example.targets[t] != RS_NO_TARGET ? desk->example.targets[t] : desk->example.tokens[t];
    first[said[0]]++;
    for (size_t t = 1; t < 40; t++) counts[said[t - 1]][said[t]]++;
  }
}

/* A successor comes with probability 0.6 and one in seven of the rest, any other with the rest; successors lead through
 * all symbols. They are the same for another seed, others for other rules. */
Test(masked, chains__follow_one_circle) {
  static const struct {
    const char *settings;
    uint64_t seed;
  } cases[] = {{"symbols=7 follow=0.6", 1}, {"symbols=7 follow=0.6", 2}, {"symbols=7 follow=0.6 rules=1", 1}};
  size_t next[RS_COUNT(cases)][SYMBOLS];
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    task_desk desk;
    size_t counts[SYMBOLS][SYMBOLS], first[SYMBOLS], reached = 0;
    desk_open(&desk, "masked", cases[c].settings, cases[c].seed);
    count_steps(&desk, counts, first);
    for (size_t a = 0; a < SYMBOLS; a++) {
      size_t total = 0;
      next[c][a] = 0;
      for (size_t b = 0; b < SYMBOLS; b++) {
        total += counts[a][b];
        if (counts[a][b] > counts[a][next[c][a]]) next[c][a] = b;
      }
      for (size_t b = 0; b < SYMBOLS; b++)
        cr_expect(within_four_sigma(counts[a][b], total, (b == next[c][a] ? 0.6 : 0) + 0.4 / 7), "%zu then %zu: %zu", a,
                  b, counts[a][b]);
      cr_expect(within_four_sigma(first[a], 400, 1.0 / 7));
    }
    for (size_t a = next[c][0]; a != 0 && reached < SYMBOLS; a = next[c][a]) reached++;
    cr_expect_eq(reached, SYMBOLS - 1);
    cr_expect_eq(desk.kind->chance(desk.task.state, HIDDEN), 1.0 / 7);
    desk_clear(&desk);
  }
  cr_expect_eq(memcmp(next[0], next[1], sizeof next[0]), 0);
  cr_expect_neq(memcmp(next[0], next[2], sizeof next[0]), 0);
}

/* ---- the best loss ----------------------------------------------------------------------------------------------- */

/* The symbols of text number `number`, and its probability. */
static double spell(size_t number, size_t symbols, double follow, size_t length, size_t *text) {
  double p = 1.0 / (double)symbols;
  for (size_t t = 0; t < length; t++, number /= symbols) {
    text[t] = number % symbols;
    if (t > 0) p *= (1 - follow) / (double)symbols + (text[t] == (text[t - 1] + 1) % symbols ? follow : 0);
  }
  return p;
}

/* By every text and every choice of masked tokens: -ln of the share, of what agrees with all that can be read, that has
 * the symbol as well. */
static double searched_loss(size_t symbols, double follow, size_t length, size_t masked) {
  size_t texts = (size_t)(pow((double)symbols, (double)length) + 0.5);
  double sum = 0, choices = 0;
  for (size_t mask = 0; mask < (size_t)1 << length; mask++) {
    if ((size_t)__builtin_popcountll(mask) != masked) continue;
    choices++;
    for (size_t x = 0; x < texts; x++) {
      size_t text[8], other[8];
      double p = spell(x, symbols, follow, length, text), all = 0, right[8] = {0};
      for (size_t y = 0; y < texts; y++) {
        double q = spell(y, symbols, follow, length, other);
        bool agrees = true;
        for (size_t t = 0; t < length; t++) agrees = agrees && (mask >> t & 1 || text[t] == other[t]);
        if (!agrees) continue;
        all += q;
        for (size_t t = 0; t < length; t++) right[t] += text[t] == other[t] ? q : 0;
      }
      for (size_t t = 0; t < length && p > 0; t++)
        if (mask >> t & 1) sum -= p * log(right[t] / all);
    }
  }
  return sum / choices / (double)masked;
}

Test(masked, best_loss__is_that_of_a_search_over_all_texts) {
  static const struct {
    size_t symbols, length, masked;
    double share, follow;
  } cases[] = {{3, 1, 1, 0.15, 0.9}, {3, 2, 1, 0.15, 0.9}, {3, 4, 1, 0.15, 0.9}, {3, 4, 2, 0.5, 0.9},
               {3, 4, 3, 0.75, 0.5}, {3, 4, 4, 1, 0.5},    {2, 6, 3, 0.5, 0.7},  {2, 6, 5, 0.8, 0.95},
               {4, 4, 2, 0.5, 0},    {4, 4, 2, 0.5, 1},    {3, 5, 3, 0.6, 1}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    task_desk desk;
    desk_make(&desk, "masked");
    desk_set(&desk, i % 2 ? "evaluation=hidden" : "hidden=1 random=0");
    bound_number(&desk.parameters, "symbols", (double)cases[i].symbols);
    bound_number(&desk.parameters, "masked", cases[i].share);
    bound_number(&desk.parameters, "follow", cases[i].follow);
    desk_prepare(&desk, 0);
    double best = desk.kind->best_loss(desk.task.state, cases[i].length);
    double want = searched_loss(cases[i].symbols, cases[i].follow, cases[i].length, cases[i].masked);
    cr_expect_float_eq(best, want, 1e-12, "%zu: %.17g, searched %.17g", i, best, want);
    desk_clear(&desk);
  }
}

/* Nobody knows it of a text, nor where a token that is shown may be another's. A long sequence has no more to lose per
 * token than one without ends: 64k and 128k differ by what stands beside their ends. */
Test(masked, best_loss__is_told_where_it_is_known) {
  task_desk desk;
  desk_open(&desk, "masked", "", 0);
  cr_expect(isnan(desk.kind->best_loss(desk.task.state, 32)));
  desk_clear(&desk);
  desk_open(&desk, "masked", "hidden=0.9 random=0", 0);
  cr_expect(isnan(desk.kind->best_loss(desk.task.state, 32)));
  desk_clear(&desk);
  desk_open(&desk, "masked", "evaluation=hidden", 0);
  double one = desk.kind->best_loss(desk.task.state, 65536), two = desk.kind->best_loss(desk.task.state, 131072);
  cr_expect(one > two && one - two < 1e-4, "%.17g, %.17g", one, two);
  desk_clear(&desk);
  enter_scratch();
  cr_assert_eq(rs_file_write("text", "abcabcabcabc", 12, NULL), RS_OK);
  desk_make(&desk, "masked");
  bound_set(&desk.parameters, "file", "text");
  desk_set(&desk, "numbers=uint8 evaluation=hidden share=0.5");
  desk_prepare(&desk, 0);
  cr_expect(isnan(desk.kind->best_loss(desk.task.state, 4)));
  desk_clear(&desk);
  leaves((const char *[]){"text"}, 1);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* Ids 0 .. count - 1: an id says where it stands. */
static void open_ids(task_desk *desk, size_t count, const char *settings) {
  uint16_t ids[400];
  for (size_t i = 0; i < count; i++) ids[i] = (uint16_t)i;
  cr_assert_eq(rs_file_write("ids", (const char *)ids, count * sizeof *ids, NULL), RS_OK);
  desk_make(desk, "masked");
  bound_set(&desk->parameters, "file", "ids");
  desk_set(desk, settings);
}

/* Where the window starts, once all of it is seen to run on. */
static int32_t start_of(const task_desk *desk) {
  const rs_example *e = &desk->example;
  int32_t start = 0;
  for (size_t t = 0; t < desk->shape.length; t++) {
    int32_t said = e->targets[t] != RS_NO_TARGET ? e->targets[t] : e->tokens[t];
    if (t == 0) start = said;
    cr_assert_eq(said, start + (int32_t)t);
  }
  return start;
}

/* 90 ids to train on, 30 held out: windows of 9 start at 0 .. 81, and at 90, 99, 108. */
Test(masked, windows__cover_each_part_and_never_meet) {
  task_desk desk;
  bool started[120] = {false};
  enter_scratch();
  open_ids(&desk, 120, "share=0.25 masked=0.5 mask=500");
  desk_prepare(&desk, 4);
  for (uint64_t k = 0; k < 2000; k++) {
    desk_draw(&desk, RS_SPLIT_TRAINING, k, 9);
    started[start_of(&desk)] = true;
    desk_draw(&desk, RS_SPLIT_EVALUATION, k, 9);
    cr_assert_eq(start_of(&desk), 90 + 9 * (int32_t)(k % 3));
  }
  for (size_t i = 0; i < 120; i++) cr_expect_eq(started[i], i < 82, "%zu", i);
  cr_expect(desk.shape.evaluations == 3 && desk.shape.vocabulary == 501 && desk.shape.classes == 120);
  cr_expect(!desk.shape.untrainable && desk.shape.file == NULL);
  desk_clear(&desk);
  leaves((const char *[]){"ids"}, 1);
}

/* The mask stands behind the vocabulary, or in it where no token of the text has its id, and is then never drawn. */
Test(masked, masks_of_texts__are_behind_or_within_the_vocabulary) {
  task_desk desk;
  size_t drawn[8] = {0};
  enter_scratch();
  cr_assert_eq(rs_file_write("text", "\1\2\4\5\1\1\2\4", 8, NULL), RS_OK);
  desk_make(&desk, "masked");
  bound_set(&desk.parameters, "file", "text");
  desk_set(&desk, "numbers=uint8 share=0.5");
  desk_prepare(&desk, 0);
  desk_draw(&desk, RS_SPLIT_EVALUATION, 0, 4);
  cr_expect(desk.shape.vocabulary == 257 && desk.shape.classes == 256);
  cr_expect_eq(desk.kind->chance(desk.task.state, KEPT), 0.5); /* 1 is the first of the commonest to train on */
  desk_clear(&desk);
  desk_make(&desk, "masked");
  bound_set(&desk.parameters, "file", "text");
  desk_set(&desk, "numbers=uint8 vocabulary=7 mask=3 hidden=0 random=1 share=1");
  desk_prepare(&desk, 0);
  for (size_t k = 0; k < 600; k++) {
    desk_draw(&desk, RS_SPLIT_EVALUATION, k, 8);
    for (size_t t = 0; t < 8; t++)
      if (desk.example.targets[t] != RS_NO_TARGET) drawn[desk.example.tokens[t]]++;
  }
  cr_expect(desk.shape.vocabulary == 7 && desk.shape.untrainable);
  for (size_t i = 0; i < 8; i++) cr_expect_eq(drawn[i] > 0, i != 3 && i != 7, "%zu", i);
  desk_clear(&desk);
  leaves((const char *[]){"text"}, 1);
}

/* A vocabulary that ends with the largest id of the text says whose that is. */
Test(masked, largest_id__is_told_with_its_file) {
  task_desk desk;
  rs_example_shape shape;
  enter_scratch();
  open_ids(&desk, 40, "share=0.5 mask=7");
  rs_err err = {0};
  rs_task_in in = {desk.parameters.binding.fields, 0};
  cr_expect_eq(rs_task_prepare(desk.kind, &in, &desk.task, &err), RS_INPUT);
  cr_expect_str_eq(err.subject, "mask");
  cr_expect_str_eq(err.message, "ids: token 7 (from 0) is 7: must be an id that no token has");
  desk_clear(&desk);
  const uint16_t gap[] = {1, 9, 2, 3};
  cr_assert_eq(rs_file_write("ids", (const char *)gap, sizeof gap, NULL), RS_OK);
  desk_make(&desk, "masked");
  bound_set(&desk.parameters, "file", "ids");
  desk_set(&desk, "share=0.5 mask=0");
  desk_prepare(&desk, 0);
  cr_assert_eq(desk.kind->shape(desk.task.state, 2, &shape, NULL), RS_OK);
  cr_expect_str_eq(shape.file, "ids");
  cr_expect(shape.largest == 1 && shape.vocabulary == 10);
  desk_clear(&desk);
  leaves((const char *[]){"ids"}, 1);
}

/* All lengths score the last tokens of the longest sequence. */
Test(masked, same_targets__are_the_last_of_the_longest) {
  enum { LONGEST = 40, LENGTH = 16, SCORED = 12 };
  task_desk desk;
  small_model m;
  rs_context *context;
  rs_reading reading;
  small_model_fill(&m, RS_ENCODER);
  rs_transformer *t = small_model_create(&m, RS_F64, 1);
  desk_open(&desk, "masked", "symbols=10", 1);
  desk.task.same = (rs_same_targets){.longest = LONGEST, .tokens = SCORED};
  cr_assert_eq(rs_context_of_task(t, NULL, &desk.task, LENGTH, &context, NULL), RS_OK);
  cr_assert_eq(rs_reading_make(context, &desk.task, RS_SPLIT_EVALUATION, LENGTH, 20, &reading, NULL), RS_OK);
  for (size_t i = 0; i < 20; i++) {
    const int32_t *targets = reading.targets + i * LENGTH;
    desk_draw(&desk, RS_SPLIT_EVALUATION, i, LONGEST);
    cr_expect_arr_eq(targets + LENGTH - SCORED, desk.example.targets + LONGEST - SCORED, SCORED * sizeof *targets);
    for (size_t k = 0; k < LENGTH - SCORED; k++) cr_expect_eq(targets[k], RS_NO_TARGET);
  }
  rs_reading_clear(&reading);
  rs_context_free(context);
  rs_transformer_free(t);
  small_model_clear(&m);
  desk_clear(&desk);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

Test(masked, contradictions__name_the_parameter) {
  static const struct {
    const char *file, *settings, *subject, *message;
  } wrong[] = {
      {NULL, "share=0.5", "share", "has no effect with a chain (leave one of them out)"},
      {NULL, "numbers=uint8", "numbers", "has no effect with a chain (leave one of them out)"},
      {NULL, "vocabulary=9", "vocabulary", "has no effect with a chain (leave one of them out)"},
      {"text", "symbols=9", "symbols", "has no effect with a file (leave one of them out)"},
      {"text", "follow=0.5", "follow", "has no effect with a file (leave one of them out)"},
      {"text", "rules=1", "rules", "has no effect with a file (leave one of them out)"},
      {NULL, "hidden=0.75 random=0.5", "random", "must be at most 1 - hidden = 0.25"},
      {NULL, "mask=31", "mask", "must be none of the symbols, which end at 31"},
  };
  for (size_t i = 0; i < RS_COUNT(wrong); i++)
    desk_refuses("masked", wrong[i].file, wrong[i].settings, wrong[i].subject, wrong[i].message);
}

Test(masked, lengths__up_to_the_smaller_part) {
  static const struct {
    const char *settings;
    size_t length;
    const char *message;
  } wrong[] = {{"share=0.25", 0, "0 tokens: there is none to mask"},
               {"share=0.25", 11, "11 tokens: the text has 30 to train on and 10 held out"},
               {"share=0.75", 11, "11 tokens: the text has 10 to train on and 30 held out"},
               {"share=1", 41, "41 tokens: the text has 0 to train on and 40 held out"}};
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    task_desk desk;
    rs_err err = {0};
    rs_example_shape shape;
    open_ids(&desk, 40, wrong[i].settings);
    desk_prepare(&desk, 0);
    cr_expect_eq(desk.kind->shape(desk.task.state, wrong[i].length, &shape, &err), RS_DOMAIN);
    cr_expect_str_eq(err.message, wrong[i].message);
    if (i > 0) cr_expect_eq(desk.kind->shape(desk.task.state, wrong[i].length - 1, &shape, &err), RS_OK);
    desk_clear(&desk);
  }
  leaves((const char *[]){"ids"}, 1);
}

Test(masked, wrong_files__are_told) {
  static const struct {
    const char *settings, *message;
  } wrong[] = {
      {"vocabulary=50", "ids: token 299 (from 0) is 299, the vocabulary has 50"},
      {"numbers=uint32", "ids: token 149 (from 0) is 19595562; ids end at 16777215 (is `numbers` right?)"},
      {"share=0.999", "ids: 0 tokens to train on and 300 held out: each must be 1 or more"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    task_desk desk;
    rs_err err = {0};
    open_ids(&desk, 300, wrong[i].settings);
    rs_task_in in = {desk.parameters.binding.fields, 0};
    cr_expect_eq(rs_task_prepare(desk.kind, &in, &desk.task, &err), RS_INPUT);
    cr_expect_str_eq(err.subject, "file");
    cr_expect_str_eq(err.message, wrong[i].message);
    desk_clear(&desk);
  }
  leaves((const char *[]){"ids"}, 1);
}
