/* test_task_recall.c: tasks whose answers stand in what was read, answered from the tokens alone. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../fixtures/task_desk.h"

/* The depth of the token at `place`. */
static void stands_at(const task_desk *desk, size_t t, size_t place) {
  double depth = (double)place / (double)(desk->shape.length - 1);
  cr_assert(fabs(desk->example.depths[t] - depth) < 1e-6, "token %zu: depth %g, not %g", t, desk->example.depths[t],
            depth);
}

/* ---- copy and reverse -------------------------------------------------------------------------------------------- */

/* The string before the bar, said again behind it; padding follows. Returns its length. */
static size_t check_string(const task_desk *desk, int32_t symbols, bool backward) {
  const int32_t *x = desk->example.tokens, *y = desk->example.targets;
  size_t length = desk->shape.length, count = 0;
  while (x[count] < symbols) cr_assert_lt(++count, length);
  cr_assert_eq(x[count], symbols);
  cr_assert_eq(desk_targets(desk), count);
  for (size_t t = count; t < 2 * count; t++) {
    size_t asked = backward ? 2 * count - 1 - t : t - count;
    cr_assert_eq(y[t], x[asked], "token %zu", t);
    stands_at(desk, t, asked);
    if (t + 1 < 2 * count) cr_assert_eq(x[t + 1], x[asked]);
  }
  for (size_t t = 2 * count; t < length; t++) cr_assert_eq(x[t], symbols + 1, "token %zu is no padding", t);
  return count;
}

Test(strings, copy_and_reverse__answers_stand_in_the_string) {
  static const size_t lengths[] = {2, 4, 6, 40};
  for (size_t i = 0; i < 2 * RS_COUNT(lengths); i++) {
    task_desk desk;
    desk_open(&desk, i % 2 ? "reverse" : "copy", "symbols=5", i);
    for (uint64_t k = 0; k < 100; k++) {
      desk_draw(&desk, RS_SPLIT_EVALUATION, k, lengths[i / 2]);
      cr_assert_eq(check_string(&desk, 5, i % 2), lengths[i / 2] / 2);
      desk_draw(&desk, RS_SPLIT_TRAINING, k, lengths[i / 2]);
      check_string(&desk, 5, i % 2);
    }
    desk_clear(&desk);
  }
}

/* All from the shortest to half the tokens, and whole strings where the shortest does not fit. */
Test(strings, training__every_length_is_as_likely) {
  enum { SEQUENCES = 2000 };
  task_desk desk;
  size_t counts[11] = {0};
  desk_open(&desk, "reverse", "shortest=3", 5);
  for (uint64_t i = 0; i < SEQUENCES; i++) {
    desk_draw(&desk, RS_SPLIT_TRAINING, i, 20);
    counts[check_string(&desk, 2, true)]++;
  }
  for (size_t n = 0; n <= 10; n++)
    cr_expect(n < 3 ? counts[n] == 0 : within_four_sigma(counts[n], SEQUENCES, 1.0 / 8), "%zu: %zu", n, counts[n]);
  for (uint64_t i = 0; i < 50; i++) {
    desk_draw(&desk, RS_SPLIT_TRAINING, i, 4);
    cr_assert_eq(check_string(&desk, 2, true), 2);
  }
  desk_clear(&desk);
}

/* ---- flip-flop --------------------------------------------------------------------------------------------------- */

enum { WRITE, READ, IGNORE, ZERO, ONE };

/* Runs the register over the tokens; what a read is to say must be in it. `part`: of reads. Adds up the instructions
 * between the first and the last. */
static void run_register(const task_desk *desk, bool all, const char *part, size_t counts[3]) {
  const rs_example *e = &desk->example;
  size_t length = desk->shape.length, place = 0;
  int32_t bit = -1;
  for (size_t t = 0; t < length; t++) {
    int32_t next = t + 1 < length ? e->tokens[t + 1] : e->targets[t];
    bool last = t + 2 >= length, instruction = t % 2 == 0;
    if (!instruction) {
      cr_assert(e->tokens[t] == ZERO || e->tokens[t] == ONE);
      cr_assert_eq(e->targets[t], all && t + 1 < length ? next : RS_NO_TARGET);
      if (all && t + 1 < length) cr_assert_str_eq(desk->kind->parts[e->parts[t]], "instruction");
      continue;
    }
    bool reads = e->tokens[t] == READ;
    cr_assert(e->tokens[t] <= IGNORE && (t > 0 || e->tokens[t] == WRITE) && (!last || reads));
    cr_assert_eq(e->targets[t], all || reads ? next : RS_NO_TARGET);
    if (reads) cr_assert_eq(next, bit, "token %zu", t);
    if (reads) stands_at(desk, t, place);
    if (all || reads) cr_assert_str_eq(desk->kind->parts[e->parts[t]], reads ? part : "free_bit");
    if (e->tokens[t] == WRITE) bit = next, place = t + 1;
    if (t > 0 && !last) counts[e->tokens[t]]++;
  }
}

static void check_shares(const size_t counts[3], size_t sequences, double ignored, const char *settings) {
  size_t total = counts[WRITE] + counts[READ] + counts[IGNORE];
  cr_expect_eq(total, sequences * 62);
  cr_expect(within_four_sigma(counts[IGNORE], total, ignored), "%s: %zu", settings, counts[IGNORE]);
  cr_expect(within_four_sigma(counts[WRITE], total, (1 - ignored) / 2), "%s: %zu", settings, counts[WRITE]);
}

Test(flip_flop, reads__say_what_was_written__shares_are_kept) {
  static const struct {
    const char *settings, *part;
    double ignored;
  } cases[] = {{"", "read", 0.8},
               {"evaluation=sparse", "sparse_read", 0.98},
               {"evaluation=dense", "dense_read", 0.1},
               {"evaluation=0.4 aims=all", "read", 0.4}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    task_desk desk;
    size_t counts[2][3] = {{0}};
    desk_open(&desk, "flip_flop", cases[i].settings, i);
    for (uint64_t k = 0; k < 400; k++) {
      desk_draw(&desk, RS_SPLIT_TRAINING, k, 127 + k % 2);
      run_register(&desk, i == 3, "read", counts[0]);
      desk_draw(&desk, RS_SPLIT_EVALUATION, k, 127 + k % 2);
      run_register(&desk, false, cases[i].part, counts[1]);
    }
    check_shares(counts[0], 400, 0.8, cases[i].settings);
    check_shares(counts[1], 400, cases[i].ignored, cases[i].settings);
    desk_clear(&desk);
  }
}

Test(flip_flop, every_kind_of_evaluation__comes_in_turn__as_a_part_of_its_own) {
  static const struct {
    const char *part;
    double ignored;
  } kinds[] = {{"read", 0.7}, {"sparse_read", 0.98}, {"dense_read", 0.1}};
  size_t training[3] = {0}, counts[3][3] = {{0}};
  task_desk desk;
  desk_open(&desk, "flip_flop", "evaluation=every ignored=0.7", 9);
  for (uint64_t k = 0; k < 1200; k++) {
    desk_draw(&desk, RS_SPLIT_TRAINING, k, 128);
    run_register(&desk, false, "read", training);
    desk_draw(&desk, RS_SPLIT_EVALUATION, k, 128);
    run_register(&desk, false, kinds[k % 3].part, counts[k % 3]);
  }
  check_shares(training, 1200, 0.7, "training");
  for (size_t i = 0; i < RS_COUNT(kinds); i++) check_shares(counts[i], 400, kinds[i].ignored, kinds[i].part);
  desk_clear(&desk);
}

/* ---- associative recall ------------------------------------------------------------------------------------------ */

static size_t check_recall(const task_desk *desk, size_t pairs, int32_t keys, bool blank) {
  const rs_example *e = &desk->example;
  size_t asked = 0;
  for (size_t t = 0; t < 2 * pairs; t++) {
    cr_assert(t % 2 == 0 ? e->tokens[t] >= 1 && e->tokens[t] <= keys : e->tokens[t] > keys);
    cr_assert_eq(e->targets[t], RS_NO_TARGET);
    for (size_t k = 0; k < t; k++) cr_assert_neq(e->tokens[k], e->tokens[t], "twice among the pairs");
  }
  for (size_t t = 2 * pairs; t < desk->shape.length; t++) {
    if (e->targets[t] == RS_NO_TARGET) {
      cr_assert(blank ? e->tokens[t] == 0 : e->tokens[t] > 0);
      continue;
    }
    size_t place = 0;
    while (e->tokens[place] != e->tokens[t]) place += 2;
    cr_assert(place < 2 * pairs && t % 2 == 0);
    cr_assert_eq(e->targets[t], e->tokens[place + 1]);
    stands_at(desk, t, place + 1);
    asked++;
  }
  return asked;
}

Test(associative_recall, queries__are_answered_by_the_pairs) {
  static const struct {
    const char *settings;
    size_t pairs, length;
    int32_t keys;
  } cases[] = {{"", 8, 64, 64},
               {"filling=blank", 8, 33, 64},
               {"pairs=1 keys=1 values=1", 1, 4, 1},
               {"pairs=64 power=1 filling=blank", 64, 256, 64}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    task_desk desk;
    desk_open(&desk, "associative_recall", cases[i].settings, i);
    for (uint64_t k = 0; k < 100; k++) {
      desk_draw(&desk, (rs_split)(k % 2), k, cases[i].length);
      cr_assert_eq(check_recall(&desk, cases[i].pairs, cases[i].keys, strstr(cases[i].settings, "blank") != NULL),
                   cases[i].pairs);
    }
    desk_clear(&desk);
  }
}

/* Where the query for pair `pair` stands, in twos of tokens from the end of the pairs. */
static size_t query_place(const task_desk *desk, size_t pairs, size_t pair) {
  for (size_t t = 2 * pairs; t < desk->shape.length; t += 2)
    if (desk->example.targets[t] == desk->example.tokens[2 * pair + 1]) return t / 2 - pairs;
  cr_assert_fail("pair %zu is not asked for", pair);
  return 0;
}

/* Weights (i + 1)^(a - 1): the query of the first pair by them, that of the second by what is left. */
Test(associative_recall, places__follow_the_power_law) {
  static const double powers[] = {0.01, 0.5, 1};
  enum { SEQUENCES = 4000, PLACES = 6 };
  for (size_t i = 0; i < RS_COUNT(powers); i++) {
    task_desk desk;
    size_t counts[2][PLACES] = {{0}};
    double weights[PLACES], sum = 0;
    desk_make(&desk, "associative_recall");
    desk_set(&desk, "pairs=2");
    bound_number(&desk.parameters, "power", powers[i]);
    desk_prepare(&desk, i);
    for (uint64_t k = 0; k < SEQUENCES; k++) {
      desk_draw(&desk, RS_SPLIT_EVALUATION, k, 4 + 2 * PLACES);
      for (size_t pair = 0; pair < 2; pair++) counts[pair][query_place(&desk, 2, pair)]++;
    }
    for (size_t p = 0; p < PLACES; p++) sum += weights[p] = pow((double)(p + 1), powers[i] - 1);
    for (size_t p = 0; p < PLACES; p++) {
      double second = 0;
      for (size_t q = 0; q < PLACES; q++)
        if (q != p) second += weights[q] / sum * weights[p] / (sum - weights[q]);
      cr_expect(within_four_sigma(counts[0][p], SEQUENCES, weights[p] / sum), "a %g: %zu", powers[i], p);
      cr_expect(within_four_sigma(counts[1][p], SEQUENCES, second), "a %g: second %zu", powers[i], p);
    }
    desk_clear(&desk);
  }
}

/* ---- translate --------------------------------------------------------------------------------------------------- */

enum { WORDS = 12, BLOCK = 5, LENGTH = 25 };

/* What is said at a place of a block for each word that stands at `from` there; -2 where it differs. */
static void learn(task_desk *desk, size_t from, size_t place, int32_t said[WORDS]) {
  for (size_t w = 0; w < WORDS; w++) said[w] = -1;
  for (uint64_t i = 0; i < 200; i++) {
    desk_draw(desk, RS_SPLIT_TRAINING, i, LENGTH);
    for (size_t b = 0; b < LENGTH; b += BLOCK) {
      int32_t *known = &said[desk->example.source[b + from]], word = desk->example.targets[b + place];
      *known = *known == -1 || *known == word ? word : -2;
    }
  }
}

static bool is_map(const int32_t said[WORDS]) {
  for (size_t w = 0; w < WORDS; w++)
    if (said[w] < 0) return false;
  return true;
}

/* One who tries every place of a block finds the one that a word's translation depends on, and then translates what
 * another seed brings, at any length. */
Test(translate, sentences__one_order_and_one_dictionary) {
  task_desk desk, other;
  int32_t said[BLOCK][WORDS];
  size_t from[BLOCK], moved = 0;
  desk_open(&desk, "translate", "words=12 block=5", 1);
  desk_open(&other, "translate", "words=12 block=5", 2);
  for (size_t place = 0; place < BLOCK; place++) {
    for (from[place] = 0; from[place] < BLOCK; from[place]++) {
      learn(&desk, from[place], place, said[place]);
      if (is_map(said[place])) break;
    }
    cr_assert_lt(from[place], BLOCK, "place %zu follows no word", place);
    cr_assert_arr_eq(said[place], said[0], sizeof said[0]);
    moved += from[place] != place;
  }
  cr_expect_gt(moved, 0);
  for (size_t length = BLOCK; length <= 40; length += BLOCK) {
    desk_draw(&other, RS_SPLIT_EVALUATION, length, length);
    cr_assert_eq(other.shape.source_length, length);
    for (size_t t = 0; t < length; t++) {
      size_t place = t % BLOCK, asked = t - place + from[place];
      cr_assert_eq(other.example.targets[t], said[place][other.example.source[asked]]);
      cr_assert_eq(other.example.tokens[t], t == 0 ? WORDS : other.example.targets[t - 1]);
      stands_at(&other, t, asked);
    }
  }
  size_t kept = 0;
  for (size_t w = 0; w < WORDS; w++) {
    kept += said[0][w] == (int32_t)w;
    for (size_t v = 0; v < w; v++) cr_expect_neq(said[0][w], said[0][v], "%zu and %zu", w, v);
  }
  cr_expect_lt(kept, WORDS / 2);
  desk_clear(&other);
  desk_clear(&desk);
}
