/* test_task_passkey.c: which token stands where in the sequences of `passkey`, what is asked, and what is refused. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../fixtures/npy.h"
#include "../fixtures/scratch.h"
#include "../fixtures/task_desk.h"
#include "io/io.h"

static const char *const files[] = {"intro", "filler", "needle", "question"};

static void write_texts(const char *intro, const char *filler, const char *needle, const char *question) {
  const char *const texts[] = {intro, filler, needle, question};
  for (size_t i = 0; i < RS_COUNT(files); i++)
    cr_assert_eq(rs_file_write(files[i], texts[i], strlen(texts[i]), NULL), RS_OK);
}

static void make_desk(task_desk *desk, const char *settings) {
  desk_make(desk, "passkey");
  for (size_t i = 0; i < RS_COUNT(files); i++) bound_set(&desk->parameters, files[i], files[i]);
  desk_set(desk, settings);
}

static void prepare_desk(task_desk *desk, const char *settings) {
  make_desk(desk, settings);
  desk_prepare(desk, 1);
}

/* The tokens as text, the keys' letters as they come. */
static const char *written(const task_desk *desk) {
  static char text[256];
  for (size_t t = 0; t < desk->shape.length; t++) text[t] = (char)desk->example.tokens[t];
  text[desk->shape.length] = '\0';
  return text;
}

/* The tokens are `pattern`, in which K is the first token of the key and E the second, and both are asked for, one
 * after the other, from token `asked` on; the needle has the key at token `told` first. */
static void check_sequence(const task_desk *desk, const char *pattern, size_t asked, size_t told, float depth) {
  const rs_example *e = &desk->example;
  char expected[256];
  int32_t key[] = {e->targets[asked], e->targets[asked + 1]};
  cr_assert_eq(strlen(pattern), desk->shape.length);
  for (size_t t = 0; t <= desk->shape.length; t++)
    expected[t] = (char)(pattern[t] == 'K' ? key[0] : pattern[t] == 'E' ? key[1] : pattern[t]);
  cr_expect_str_eq(written(desk), expected);
  cr_expect_eq(desk_targets(desk), 2);
  for (size_t k = 0; k < 2; k++) {
    cr_expect(key[k] >= '0' && key[k] <= '9', "%d", key[k]);
    cr_expect_eq(e->sought[asked + k], told + k);
    cr_expect_eq(e->depths[asked + k], depth);
    cr_expect_eq(e->parts[asked + k], 0);
  }
}

/* 21 tokens, of which the last is a target alone: 1 of intro, 7 of needle, 1 of question, 2 of the key; a quarter of
 * the 10 others is 2.5, rounded up. Depths come by turns. */
Test(passkey, sequence__is_intro_filler_needle_filler_question_key) {
  task_desk desk;
  enter_scratch();
  write_texts("<", "abcd", "[#=#]", "?");
  prepare_desk(&desk, "numbers=uint8 key_symbols=2 depths=[0.25,1,0]");
  desk_draw(&desk, RS_SPLIT_EVALUATION, 0, 20);
  check_sequence(&desk, "<abc[KE=KE]dabcdab?K", 18, 5, 0.25f);
  desk_draw(&desk, RS_SPLIT_EVALUATION, 1, 20);
  check_sequence(&desk, "<abcdabcdab[KE=KE]?K", 18, 12, 1);
  desk_draw(&desk, RS_SPLIT_EVALUATION, 2, 20);
  check_sequence(&desk, "<[KE=KE]abcdabcdab?K", 18, 2, 0);
  desk_draw(&desk, RS_SPLIT_EVALUATION, 3, 10); /* no filler fits */
  check_sequence(&desk, "<[KE=KE]?K", 8, 2, 0.25f);
  cr_expect(desk.shape.vocabulary == 256 && desk.shape.classes == 256 && !desk.shape.untrainable);
  desk_clear(&desk);
  leaves(files, RS_COUNT(files));
}

Test(passkey, one_depth__is_that_of_all_sequences) {
  task_desk desk;
  enter_scratch();
  write_texts("<", "abcd", "[#=#]", "?");
  prepare_desk(&desk, "numbers=uint8 key_symbols=2 depths=[0.25]");
  for (size_t i = 0; i < 4; i++) {
    desk_draw(&desk, RS_SPLIT_EVALUATION, i, 20);
    check_sequence(&desk, "<abc[KE=KE]dabcdab?K", 18, 5, 0.25f);
  }
  desk_clear(&desk);
  leaves(files, RS_COUNT(files));
}

/* Without depths the needle stands anywhere, in training always; the filler begins anywhere where it may. */
Test(passkey, drawn_places__are_all_taken) {
  enum { SEQUENCES = 400 };
  task_desk desk;
  size_t places[2][11] = {{0}}, firsts[4] = {0};
  enter_scratch();
  write_texts("<", "abcd", "#", "?");
  prepare_desk(&desk, "numbers=uint8 key_symbols=2 depths=any filler_from=any");
  for (size_t i = 0; i < SEQUENCES; i++)
    for (size_t split = 0; split < 2; split++) {
      desk_draw(&desk, (rs_split)split, i, 15); /* <, 10 of filler, the needle, ?, and a token of the answer */
      size_t told = desk.example.sought[13] - 1;
      cr_assert_leq(told, 10);
      places[split][told]++;
      const char *text = written(&desk) + 1;
      size_t first = (size_t)(text[told == 0 ? 2 : 0] - 'a');
      firsts[first]++;
      for (size_t t = 0; t < 12; t++)
        if (t < told || t > told + 1) cr_assert_eq(text[t], "abcd"[(first + (t < told ? t : t - 2)) % 4], "%s", text);
    }
  for (size_t split = 0; split < 2; split++)
    for (size_t i = 0; i <= 10; i++)
      cr_expect(within_four_sigma(places[split][i], SEQUENCES, i % 10 == 0 ? 0.05 : 0.1), "%zu at %zu",
                places[split][i], i);
  for (size_t i = 0; i < 4; i++)
    cr_expect(within_four_sigma(firsts[i], 2 * SEQUENCES, 0.25), "%zu from %zu", firsts[i], i);
  desk_clear(&desk);
  leaves(files, RS_COUNT(files));
}

/* Ids of two bytes: symbols are (10, 11), (12, 13) and (10, 13). Of their first tokens 10 is the commonest, of their
 * second 13, each two of three: so many of all, for one who reads nothing. */
Test(passkey, symbols_of_several_tokens__are_drawn_whole) {
  static const double symbols[] = {10, 11, 12, 13, 10, 13};
  static const uint16_t needle[] = {7, 900, 8}, question[] = {300}, none[] = {9};
  size_t drawn[3] = {0};
  task_desk desk;
  enter_scratch();
  cr_assert_eq(rs_file_write("filler", (const char *)none, sizeof none, NULL), RS_OK);
  cr_assert_eq(rs_file_write("intro", (const char *)none, sizeof none, NULL), RS_OK);
  cr_assert_eq(rs_file_write("needle", (const char *)needle, sizeof needle, NULL), RS_OK);
  make_npy("question", 1, NPY("<u2", "False", "(1,)"), (const char *)question, sizeof question);
  cr_assert_eq(rename("question", "question.npy"), 0);
  make_desk(&desk, "mark=900 symbol_tokens=2 key_symbols=2 question=question.npy");
  bound_list(&desk.parameters, "symbols", symbols, RS_COUNT(symbols));
  desk_prepare(&desk, 1);
  cr_expect_eq(desk.kind->chance(desk.task.state, 0), 2 / 3.0);
  for (size_t i = 0; i < 300; i++) {
    desk_draw(&desk, RS_SPLIT_EVALUATION, i, 12);
    const int32_t *key = desk.example.targets + 8;
    for (size_t k = 0; k < 4; k += 2) {
      size_t s = key[k] == 12 ? 1 : key[k + 1] == 11 ? 0 : 2;
      cr_assert(key[k] == symbols[2 * s] && key[k + 1] == symbols[2 * s + 1], "%d %d", key[k], key[k + 1]);
      drawn[s]++;
    }
  }
  for (size_t s = 0; s < 3; s++) cr_expect(within_four_sigma(drawn[s], 600, 1 / 3.0), "%zu of %zu", drawn[s], s);
  cr_expect_eq(desk.shape.vocabulary, 301); /* the mark is never read */
  desk_clear(&desk);
  leaves((const char *[]){"filler", "intro", "needle", "question.npy"}, 4);
}

/* ---- several needles --------------------------------------------------------------------------------------------- */

enum { NEEDLES = 3, MOST = 64 };

/* What the text of a sequence tells: needles are [name key], questions ?name key, of a letter and two digits each. */
typedef struct told {
  size_t places[NEEDLES];  /* of the keys */
  size_t fillers[NEEDLES]; /* before the needles */
  char names[NEEDLES];
  size_t count, end; /* where the questions begin */
} told;

/* Reads it, and asserts that the filler goes on around the needles. */
static told parse(const char *text) {
  told got = {0};
  size_t fillers = 0, t = 1;
  cr_assert_eq(text[0], '<');
  for (; text[t] != '?'; t++) {
    if (text[t] != '[') {
      cr_assert_eq(text[t], "abcd"[fillers++ % 4], "%s", text);
      continue;
    }
    cr_assert(got.count < NEEDLES && text[t + 4] == ']', "%s", text);
    got.names[got.count] = text[t + 1];
    got.fillers[got.count] = fillers;
    got.places[got.count++] = t + 2;
    t += 4;
  }
  got.end = t;
  return got;
}

/* Question `q` asks for a needle by its name, and for its key: where that stands. */
static size_t check_question(const task_desk *desk, const char *text, const told *got, size_t q) {
  const rs_example *e = &desk->example;
  size_t at = got->end + 4 * q, needle = 0;
  cr_assert_eq(text[at], '?', "%s", text);
  while (got->names[needle] != text[at + 1]) cr_assert_lt(++needle, got->count, "%s", text);
  for (size_t k = 0; k < 2; k++) {
    size_t asked = at + 1 + k, place = got->places[needle] + k;
    cr_assert_eq(e->targets[asked], text[place], "%s", text);
    cr_assert_eq(e->sought[asked], place);
    if (asked + 1 < desk->shape.length) cr_assert_eq(text[asked + 1], text[place], "%s", text);
  }
  return needle;
}

/* 2 questions of 3 needles, of which the first stands at the next depth, the second at the one after it: three depths,
 * so that all pairs of them come. The third needle stands anywhere, before and behind the others. */
Test(passkey, several_needles__are_told_apart_by_their_names) {
  enum { FILLERS = 20, LENGTH = 1 + NEEDLES * 5 + 2 * 4 + FILLERS - 1, SEQUENCES = 300 };
  static const double depths[] = {0, 0.5, 0.9};
  task_desk desk;
  size_t anywhere[FILLERS + 1] = {0}, first[26] = {0};
  enter_scratch();
  write_texts("<", "abcd", "[@#]", "?@");
  prepare_desk(&desk, "numbers=uint8 key_symbols=2 needles=3 queries=2 depths=[0,0.5,0.9]");
  for (size_t i = 0; i < SEQUENCES; i++) {
    desk_draw(&desk, RS_SPLIT_EVALUATION, i, LENGTH);
    const char *text = written(&desk);
    told got = parse(text);
    cr_assert_eq(got.count, NEEDLES, "%s", text);
    cr_assert_eq(desk_targets(&desk), 4);
    cr_assert(got.names[0] != got.names[1] && got.names[0] != got.names[2] && got.names[1] != got.names[2]);
    size_t asked[2];
    for (size_t q = 0; q < 2; q++) {
      double depth = depths[(2 * i + q) % 3];
      asked[q] = check_question(&desk, text, &got, q);
      cr_assert_eq(got.fillers[asked[q]], (size_t)(depth * FILLERS + 0.5), "%s: %zu", text, q);
      cr_assert_float_eq(desk.example.depths[got.end + 1 + 4 * q], depth, 1e-6);
    }
    cr_assert_neq(asked[0], asked[1]);
    anywhere[got.fillers[3 - asked[0] - asked[1]]]++;
    first[got.names[asked[0]] - 'A']++;
  }
  for (size_t i = 0; i <= FILLERS; i++)
    cr_expect(within_four_sigma(anywhere[i], SEQUENCES, i % FILLERS == 0 ? 0.5 / FILLERS : 1.0 / FILLERS), "%zu at %zu",
              anywhere[i], i);
  for (size_t i = 0; i < 26; i++) cr_expect(within_four_sigma(first[i], SEQUENCES, 1 / 26.0), "%zu", first[i]);
  desk_clear(&desk);
  leaves(files, RS_COUNT(files));
}

/* More needles leave the key and the depth of a sequence as they were; a mark within a text that has no names is text.
 */
Test(passkey, one_needle__is_the_one_that_it_was) {
  task_desk desk, more;
  enter_scratch();
  write_texts("<", "a@cd", "[#@]", "?@");
  prepare_desk(&desk, "numbers=uint8 key_symbols=2 depths=[0.5]");
  make_desk(&more, "numbers=uint8 key_symbols=2 depths=[0.5] needles=2");
  desk_prepare(&more, 1);
  for (size_t i = 0; i < 20; i++) {
    desk_draw(&desk, RS_SPLIT_EVALUATION, i, 18);
    desk_draw(&more, RS_SPLIT_EVALUATION, i, 30);
    check_sequence(&desk, "<a@cda[KE@]@cda?@K", 16, 7, 0.5f);
    cr_assert_arr_eq(desk.example.targets + 16, more.example.targets + 28, 2 * sizeof(int32_t));
  }
  desk_clear(&desk);
  desk_clear(&more);
  leaves(files, RS_COUNT(files));
}

/* Ids of 16 bits: names (20, 21) and (22, 23), which stand twice in the needle; the marks, 900 and 901, are never read.
 */
Test(passkey, names_of_several_tokens__stand_in_their_places) {
  static const double symbols[] = {10, 11}, names[] = {20, 21, 22, 23};
  static const uint16_t needle[] = {901, 5, 900, 901}, question[] = {6, 901, 7}, none[] = {9};
  task_desk desk;
  size_t firsts = 0;
  enter_scratch();
  cr_assert_eq(rs_file_write("filler", (const char *)none, sizeof none, NULL), RS_OK);
  cr_assert_eq(rs_file_write("intro", (const char *)none, sizeof none, NULL), RS_OK);
  cr_assert_eq(rs_file_write("needle", (const char *)needle, sizeof needle, NULL), RS_OK);
  cr_assert_eq(rs_file_write("question", (const char *)question, sizeof question, NULL), RS_OK);
  make_desk(&desk, "mark=900 name_mark=901 name_tokens=2 key_symbols=1 needles=2 depths=[0]");
  bound_list(&desk.parameters, "symbols", symbols, RS_COUNT(symbols));
  bound_list(&desk.parameters, "names", names, RS_COUNT(names));
  desk_prepare(&desk, 1);
  for (size_t i = 0; i < 100; i++) {
    desk_draw(&desk, RS_SPLIT_EVALUATION, i, 17); /* 1 of intro, 2 needles of 6, a question of 4, the key: no filler */
    const int32_t *x = desk.example.tokens;
    int32_t one = x[1], other = 42 - one; /* 20 or 22 */
    cr_assert(one == 20 || one == 22);
    const int32_t expected[] = {9, one,   one + 1, 5,         x[4], one,   one + 1,   other, other + 1,
                                5, x[10], other,   other + 1, 6,    x[14], x[14] + 1, 7};
    cr_assert_arr_eq(x, expected, sizeof expected);
    size_t place = x[14] == one ? 4 : 10;
    cr_assert(desk.example.targets[16] == x[place] && desk.example.sought[16] == place && desk_targets(&desk) == 1);
    firsts += one == 20;
  }
  cr_expect(within_four_sigma(firsts, 100, 0.5), "%zu", firsts);
  cr_expect_eq(desk.shape.vocabulary, 24);
  desk_clear(&desk);
  leaves(files, RS_COUNT(files));
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

Test(passkey, contradictions__name_the_parameter) {
  static const struct {
    const char *settings, *subject, *message;
  } wrong[] = {
      {"", "mark", "must be given: the id that stands in the needle for the key"},
      {"mark=3", "symbols", "must be given: the ids that keys are made of"},
      {"mark=3 symbols=[1,2,3] symbol_tokens=2", "symbols",
       "3 ids are no whole number of symbols of 2 (symbol_tokens)"},
      {"mark=3 symbols=[1,2.5]", "symbols", "2.5 is no id of a token"},
      {"mark=3 symbols=[1,2,1]", "symbols", "number 2 (from 0) is number 0 again: no two may be alike"},
      {"mark=3 symbols=[1,2,2,1,1,3,2,1] symbol_tokens=2", "symbols",
       "number 3 (from 0) is number 1 again: no two may be alike"},
      {"numbers=uint8 names=[65,66,66] needles=2", "names", "number 2 (from 0) is number 1 again: no two may be alike"},
      {"numbers=uint8 symbols=[1,2] symbol_tokens=2 key_symbols=513", "key_symbols",
       "513 symbols of 2 tokens: a key has 1024 tokens at most"},
      {"numbers=uint8 needles=5 key_symbols=205", "needles",
       "5 keys of 205 tokens: must have 1024 tokens at most together"},
      {"numbers=uint8 needles=2 queries=3", "queries", "must not exceed needles = 2"},
      {"numbers=uint8 needles=27", "needles", "26 names for 27 needles: each has its own"},
      {"numbers=uint8 names=[1,2,3] name_tokens=2", "names", "3 ids are no whole number of names of 2 (name_tokens)"},
      {"numbers=uint8 names=[1,2,3] needles=4", "needles", "3 names for 4 needles: each has its own"},
      {"numbers=uint8 names=[1.5]", "names", "1.5 is no id of a token"},
      {"mark=3 symbols=[1] needles=2", "name_mark",
       "must be given: the id that stands in needle and question for the needle's name"},
      {"mark=3 symbols=[1] name_mark=4", "names", "must be given: the ids that needles are called by"},
      {"numbers=uint8 name_mark=35", "name_mark", "must differ from mark, which is the key's"},
      {"mark=3 symbols=[1] name_mark=3 names=[1]", "name_mark", "must differ from mark, which is the key's"},
  };
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    task_desk desk;
    rs_err err = {0};
    make_desk(&desk, wrong[i].settings);
    cr_expect_eq(desk.kind->check(&desk.parameters.binding, &err), RS_INPUT, "%s", wrong[i].settings);
    cr_expect_str_eq(err.subject, wrong[i].subject);
    cr_expect_str_eq(err.message, wrong[i].message);
    desk_clear(&desk);
  }
}

Test(passkey, name_tokens__ask_for_names) {
  task_desk desk;
  rs_err err = {0};
  make_desk(&desk, "numbers=uint8 name_tokens=2");
  desk.parameters.settings.values[rs_settings_find(&desk.parameters.settings, "name_tokens")].given = true;
  cr_expect_eq(desk.kind->check(&desk.parameters.binding, &err), RS_INPUT);
  cr_expect_str_eq(err.subject, "name_tokens");
  cr_expect_str_eq(err.message, "has no effect with one needle without a name (leave one of them out)");
  desk_set(&desk, "needles=2");
  cr_expect_eq(desk.kind->check(&desk.parameters.binding, &err), RS_OK);
  desk_clear(&desk);
}

Test(passkey, missing_files__are_told) {
  for (size_t i = 1; i < RS_COUNT(files); i++) {
    task_desk desk;
    rs_err err = {0};
    desk_make(&desk, "passkey");
    for (size_t k = 1; k < i; k++) bound_set(&desk.parameters, files[k], files[k]);
    cr_expect_eq(desk.kind->check(&desk.parameters.binding, &err), RS_INPUT);
    cr_expect_str_eq(err.subject, files[i]);
    cr_expect_str_eq(err.message, "must be given: a file of ids");
    desk_clear(&desk);
  }
}

Test(passkey, wrong_files__are_told) {
  static const struct {
    const char *filler, *needle, *settings, *subject, *message;
  } wrong[] = {
      {"ab", "no place", "numbers=uint8", "needle", "needle: has no id 35, which stands for the key (mark)"},
      {"ab", "##", "numbers=uint8 mark=36", "needle", "needle: has no id 36, which stands for the key (mark)"},
      {"", "#", "numbers=uint8", "", "filler: is empty (was a download broken off?)"},
      {"abc", "##", "mark=8995 symbols=[1]", "", "filler: 3 bytes are no whole number of ids of 16 bits"},
      {"ab\1\1", "cd\1\1", "numbers=uint32 mark=1 symbols=[1]", "needle",
       "needle: has no id 1, which stands for the key (mark)"},
      {"ab", "#", "numbers=uint8 needles=2", "needle",
       "needle: has no id 64, which stands for the needle's name (name_mark)"},
      {"ab", "@#", "numbers=uint8 needles=2", "question",
       "question: has no id 64, which stands for the needle's name (name_mark)"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    task_desk desk;
    rs_err err = {0};
    write_texts("<<<<", wrong[i].filler, wrong[i].needle, "????");
    make_desk(&desk, wrong[i].settings);
    rs_task_in in = {desk.parameters.binding.fields, 0};
    cr_expect_eq(rs_task_prepare(desk.kind, &in, &desk.task, &err), RS_INPUT, "%zu", i);
    cr_expect_str_eq(err.message, wrong[i].message);
    cr_expect_str_eq(err.subject, wrong[i].subject);
    desk_clear(&desk);
  }
  leaves(files, RS_COUNT(files));
}

/* An id that no vocabulary has; a file of llm.c that has a header and nothing else. */
Test(passkey, wrong_ids__are_told) {
  static const uint32_t ids[] = {5, 16777216};
  static const int32_t header[256] = {20240520, 1, 0};
  task_desk desk;
  rs_err err = {0};
  enter_scratch();
  write_texts("<<<<", "abcd", "5\0\0", "????");
  cr_assert_eq(rs_file_write("needle", (const char *)ids, sizeof ids, NULL), RS_OK);
  make_desk(&desk, "numbers=uint32 mark=5 symbols=[1] filler=needle intro=needle question=needle");
  rs_task_in in = {desk.parameters.binding.fields, 0};
  cr_expect_eq(rs_task_prepare(desk.kind, &in, &desk.task, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "needle: token 1 (from 0) is 16777216; ids end at 16777215");
  cr_expect_str_eq(err.subject, "numbers");
  desk_clear(&desk);
  cr_assert_eq(rs_file_write("filler", (const char *)header, sizeof header, NULL), RS_OK);
  make_desk(&desk, "numbers=uint16 mark=5 symbols=[1] intro=needle question=needle");
  err = (rs_err){0};
  in.params = desk.parameters.binding.fields;
  cr_expect_eq(rs_task_prepare(desk.kind, &in, &desk.task, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "filler: has no ids");
  desk_clear(&desk);
  leaves(files, RS_COUNT(files));
}

Test(passkey, short_lengths__are_told_with_what_fits) {
  task_desk desk;
  rs_err err = {0};
  rs_example_shape shape;
  enter_scratch();
  write_texts("<", "abcd", "[#=#]", "?");
  prepare_desk(&desk, "numbers=uint8 key_symbols=2");
  cr_expect_eq(desk.kind->shape(desk.task.state, 9, &shape, &err), RS_DOMAIN);
  cr_expect_str_eq(err.message, "9 tokens: intro, needle, question and key fill 10 without a filler");
  desk_clear(&desk);
  leaves(files, RS_COUNT(files));
}
