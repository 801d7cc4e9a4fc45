/* Errors, memory, growing text, words that were meant. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* ---- errors ------------------------------------------------------------------------------------------------------ */

Test(base, gsl__what_it_returns__is_a_status_and_ends_nothing) {
  static const struct {
    int failed;
    rs_status status;
    const char *message;
  } cases[] = {{GSL_ENOMEM, RS_MEMORY, "a fit: GSL: malloc failed"},
               {GSL_EMAXITER, RS_INTERNAL, "a fit: GSL: exceeded max number of iterations"}};
  cr_assert_not_null(gsl_set_error_handler_off(), "its own handler, which is NULL, was off before");
  cr_expect_eq(rs_gsl(GSL_SUCCESS, "a fit", NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    cr_expect_eq(rs_gsl(cases[i].failed, "a fit", &err), cases[i].status);
    cr_expect_str_eq(err.message, cases[i].message);
  }
}

Test(base, error__two_failures__first_wins) {
  rs_err err = {0};
  cr_assert_eq(rs_fail_on(&err, RS_DOMAIN, "factor", "is %d", 3), RS_DOMAIN);
  cr_assert_eq(rs_fail(&err, RS_IO, "later"), RS_DOMAIN, "a later failure returns the first status");
  cr_assert_eq(rs_fail_on(&err, RS_INPUT, "scale", "later"), RS_DOMAIN);
  cr_assert_eq(err.status, RS_DOMAIN);
  cr_assert_str_eq(err.subject, "factor");
  cr_assert_str_eq(err.message, "is 3");
  cr_assert_eq(rs_fail(NULL, RS_MEMORY, "nowhere"), RS_MEMORY, "a NULL error still gives the status");
  rs_err plain = {0};
  cr_assert_eq(rs_fail(&plain, RS_INPUT, "%s", "alone"), RS_INPUT);
  cr_assert_str_eq(plain.subject, "");
}

Test(base, error__words_too_long__are_cut_and_terminated) {
  char words[4096];
  memset(words, 'x', sizeof words - 1);
  words[sizeof words - 1] = '\0';
  rs_err err = {0};
  cr_assert_eq(rs_fail_on(&err, RS_INPUT, words, "%s", words), RS_INPUT);
  cr_assert_eq(strlen(err.subject), sizeof err.subject - 1);
  cr_assert_eq(strlen(err.message), 200, "%s", err.message);
  cr_assert_eq(strspn(err.message, "x"), 137);
  cr_assert_eq(strncmp(err.message + 137, "...x", 4), 0, "%s", err.message);
}

/* The ends stay: a message begins with its place and ends with its hint. */
Test(base, error__message_too_long__loses_its_middle) {
  char words[4096];
  for (size_t i = 0; i < sizeof words; i++) words[i] = i % 2 == 0 ? 'x' : ' ';
  words[sizeof words - 1] = '\0';
  for (size_t extra = 0; extra < 2; extra++) {
    rs_err err = {0};
    (void)rs_fail(&err, RS_INPUT, "no method %.*s (did you mean yarn?)", extra == 0 ? 4000 : 8000, words);
    cr_assert_eq(strncmp(err.message, "no method x x", 13), 0, "%s", err.message);
    cr_assert_not_null(strstr(err.message, "..."), "%s", err.message);
    cr_assert_str_eq(strstr(err.message, " (did"), " (did you mean yarn?)");
    cr_assert_leq(strlen(err.message), sizeof err.message - 1);
  }
}

/* Characters as the Unicode standard has them, one beyond each end of what is spelled, and bytes that are none. */
Test(base, text_spell__what_terminals_act_on) {
  static const struct {
    const char *text, *kept, *spelled;
  } cases[] = {
      {"plain \u00e9\u20ac\U0001f600", "", "plain \u00e9\u20ac\U0001f600"},
      {"a\x1b[31m\a\b\r", "", "a\\x1b[31m\\x07\\x08\\x0d"},
      {"a\n\tb", "", "a\\n\\tb"},
      {"a\n\tb", "\n\t", "a\n\tb"},
      {"a\n\tb", "\n", "a\n\\tb"},
      {" ~\x7f\xc2\x80\xc2\x9f\xc2\xa0", "", " ~\\u007f\\u0080\\u009f\xc2\xa0"},
      {"\u200d\u200e\u200f\u2010", "", "\u200d\\u200e\\u200f\u2010"},
      {"\u2027\u2028\u2029\u202a\u202e\u202f", "", "\u2027\\u2028\\u2029\\u202a\\u202e\u202f"},
      {"\u2065\u2066\u2069\u206a\u061b\u061c", "", "\u2065\\u2066\\u2069\u206a\u061b\\u061c"},
      {"\xff\x9b\xc0\xaf\xe2\x80", "", "\\xff\\x9b\\xc0\\xaf\\xe2\\x80"},
      {"\xed\xa0\x80\xf4\x90\x80\x80", "", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_text_puts(&text, "\r");
    rs_text_puts(&text, cases[i].text);
    rs_text_spell(&text, 1, cases[i].kept);
    cr_expect_str_eq(text.data + 1, cases[i].spelled, "case %zu: %s", i, text.data);
    cr_expect_eq(text.data[0], '\r', "what stands before is left alone");
    rs_text_clear(&text);
  }
}

/* The middle of a word goes between two characters, whatever their bytes. */
Test(base, message__cut_between_characters) {
  static const char *const letters[] = {"x", "\u00e9", "\u20ac", "\U0001f600"};
  for (size_t i = 0; i < RS_COUNT(letters); i++)
    for (size_t before = 0; before < 4; before++) {
      char word[1024] = "", out[512];
      memset(word, 'a', before);
      while (strlen(word) < 900) strcat(word, letters[i]);
      rs_message(out, sizeof out, "%s", word);
      cr_expect(strlen(out) <= 200 && strlen(out) > 190, "%zu: %s", strlen(out), out);
      cr_expect_null(strchr(out, '\\'), "%s", out);
      cr_expect_not_null(strstr(out, "..."), "%s", out);
      rs_shorten(word, 32, out);
      cr_expect(strlen(out) <= 31 && strlen(out) > 27 && strstr(out, "...") != NULL, "%s", out);
      rs_message(out, sizeof out, "%s", out);
      cr_expect_null(strchr(out, '\\'), "%s", out);
    }
}

Test(base, status_name__each_status__is_its_word) {
  static const char *const names[] = {"ok", "input",    "domain",  "unsupported", "memory",
                                      "io", "internal", "stopped", "busy"};
  for (size_t i = 0; i < RS_COUNT(names); i++) cr_assert_str_eq(rs_status_name((rs_status)i), names[i]);
  cr_assert_str_eq(rs_status_name((rs_status)RS_COUNT(names)), "unknown");
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

Test(base, alloc__sizes__are_zeroed_or_fail_on_overflow) {
  static const size_t impossible[][2] = {{SIZE_MAX, 2}, {SIZE_MAX / 2, 3}, {SIZE_MAX / 8 + 2, 8}, {1, SIZE_MAX}};
  for (size_t i = 0; i < RS_COUNT(impossible); i++) {
    rs_err err = {0};
    cr_assert_null(rs_alloc(impossible[i][0], impossible[i][1], &err), "case %zu", i);
    cr_assert_eq(err.status, RS_MEMORY);
    cr_assert(strncmp(err.message, "out of memory: ", 15) == 0, "%s", err.message);
  }
  cr_assert_null(rs_alloc(SIZE_MAX, 2, NULL), "works without an error");
  for (size_t count = 0; count < 100; count++) {
    unsigned char *bytes = rs_alloc(count, 8, NULL);
    cr_assert_not_null(bytes, "a count of %zu", count);
    for (size_t i = 0; i < (count > 0 ? count : 1) * 8; i++) cr_assert_eq(bytes[i], 0);
    free(bytes);
  }
}

Test(base, grow__growing__keeps_zeroes_and_at_least_doubles) {
  void *array = NULL;
  size_t capacity = 0;
  for (size_t needed = 1; needed < 5000; needed++) {
    size_t before = capacity;
    cr_assert_eq(rs_grow(&array, &capacity, needed, sizeof(uint32_t), NULL), RS_OK);
    cr_assert_geq(capacity, needed);
    cr_assert(capacity == before || capacity >= 2 * before, "%zu to %zu", before, capacity);
    for (size_t i = before; i < capacity; i++) cr_assert_eq(((uint32_t *)array)[i], 0u, "element %zu", i);
    ((uint32_t *)array)[needed - 1] = (uint32_t)needed;
  }
  for (size_t i = 0; i < 4999; i++) cr_assert_eq(((uint32_t *)array)[i], i + 1);
  void *unchanged = array;
  size_t same = capacity;
  rs_err err = {0};
  cr_assert_eq(rs_grow(&array, &capacity, SIZE_MAX / 2, sizeof(uint32_t), &err), RS_MEMORY);
  cr_assert(array == unchanged && capacity == same && err.status == RS_MEMORY);
  free(array);
}

/* Blocks are zero, aligned and apart; a failure sticks until the arena is cleared, and is told once. */
Test(base, arena__blocks__are_zero_apart_and_fail_for_good) {
  rs_arena arena = {0};
  rs_err err = {0};
  char *bytes = rs_arena_take(&arena, 3, 1), *none = rs_arena_take(&arena, 0, 8);
  long double *numbers = rs_arena_take(&arena, 5, sizeof *numbers);
  for (int i = 0; i < 5; i++) cr_assert(numbers[i] == 0);
  cr_assert((uintptr_t)numbers % _Alignof(long double) == 0 && bytes != NULL && none != NULL);
  memset(numbers, 0xff, 5 * sizeof *numbers);
  cr_assert(bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 0 && none[7] == 0);
  char *text = rs_arena_text(&arena, "yarn");
  cr_assert_str_eq(text, "yarn");
  cr_assert(rs_arena_check(&arena, &err) == RS_OK);
  cr_assert_null(rs_arena_take(&arena, SIZE_MAX / 4, 8), "the product overflows");
  cr_assert_null(rs_arena_take(&arena, 1, 1));
  cr_assert_null(rs_arena_text(&arena, "yarn"));
  cr_assert(rs_arena_check(&arena, &err) == RS_MEMORY && err.status == RS_MEMORY);
  cr_assert_str_eq(text, "yarn", "what was there stays");
  rs_arena_clear(&arena);
  cr_assert(rs_arena_take(&arena, 1, 1) != NULL && rs_arena_check(&arena, NULL) == RS_OK);
  rs_arena_clear(&arena);
}

Test(base, seconds__never_go_back) {
  double before = rs_seconds();
  for (int i = 0; i < 1000; i++) {
    double now = rs_seconds();
    cr_assert(now >= before);
    before = now;
  }
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

Test(base, text__additions__stand_in_order) {
  rs_text text = {0};
  cr_assert_str_eq(rs_text_string(&text), "");
  rs_text_puts(&text, "");
  rs_text_add(&text, "abcdef", 3);
  rs_text_printf(&text, "-%d-%s", 42, "x");
  rs_text_number(&text, 0.1);
  rs_text_number(&text, -0.0);
  cr_assert_str_eq(rs_text_string(&text), "abc-42-x0.10");
  cr_assert_eq(text.length, strlen("abc-42-x0.10"));
  for (size_t i = 0; i < 10000; i++) rs_text_printf(&text, "%zu,", i % 10);
  cr_assert_eq(text.length, strlen("abc-42-x0.10") + 20000);
  cr_assert_eq(strlen(text.data), text.length);
  cr_assert_eq(rs_text_check(&text, NULL), RS_OK);
  rs_text_clear(&text);
  cr_assert(text.data == NULL && text.length == 0 && text.capacity == 0);
  char *copy = rs_strdup("copied", NULL);
  cr_assert_str_eq(copy, "copied");
  free(copy);
}

Test(base, text__failed_addition__stops_all_later_ones) {
  rs_text text = {0};
  rs_text_puts(&text, "kept");
  rs_text_add(&text, "", SIZE_MAX / 2);
  cr_assert(text.failed);
  rs_text_puts(&text, "lost");
  rs_text_printf(&text, "%d", 1);
  rs_text_number(&text, 1);
  cr_assert_str_eq(rs_text_string(&text), "kept");
  rs_err err = {0};
  cr_assert_eq(rs_text_check(&text, &err), RS_MEMORY);
  cr_assert_str_eq(err.message, "out of memory for text");
  rs_text_clear(&text);
}

Test(base, word_among__whole_words__alone) {
  cr_expect(rs_word_among("su", "su longrope llama3"));
  cr_expect(rs_word_among("llama3", "su longrope llama3"));
  cr_expect(rs_word_among("rope", "longrope rope"));
  cr_expect_not(rs_word_among("rope", "longrope ropes"));
  cr_expect_not(rs_word_among("", "su longrope"));
  cr_expect_not(rs_word_among("su longrop", "su longrope"));
}

Test(base, suggest__slips_of_the_pen__find_the_nearest) {
  static const char *const known[] = {"rope", "yarn", "ntk", "ntk_by_parts", "beta_fast", "beta_slow", "longrope"};
  static const struct {
    const char *word, *expected;
  } cases[] = {
      {"yran", "yarn"},           /* neighbours swapped: one edit */
      {"yar", "yarn"},            /* one missing */
      {"yarnn", "yarn"},          /* five letters: one edit */
      {"YaRN", "yarn"},           /* case folded */
      {"beta-fast", "beta_fast"}, /* '-' as '_' */
      {"beta_fats", "beta_fast"},
      {"beta_slwo", "beta_slow"},
      {"ntk-by-part", "ntk_by_parts"},
      {"long_rope", "longrope"},
      {"yxrx", NULL}, /* two edits of four letters */
      {"ropeyarn", NULL},
      {"", NULL},
      {"x", NULL},
      {"bexx_faxx", NULL},        /* four edits of nine letters */
      {"bexx_fasx", "beta_fast"}, /* three of nine */
      {"beta", "beta_fast"},      /* goes on after '_': the first that does */
      {"NTK-by", "ntk_by_parts"},
      {"bet", NULL},                    /* goes on, but within the word */
      {"parts_by_ntk", "ntk_by_parts"}, /* words in another order */
      {"Fast-Beta", "beta_fast"},
      {"slow_bata", "beta_slow"},   /* and a slip in one of them */
      {"fast_beta_x", "beta_fast"}, /* three edits of eleven letters */
      {"parts_ntk", NULL},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    const char *got = rs_suggest(cases[i].word, known, RS_COUNT(known));
    bool same =
        got == NULL || cases[i].expected == NULL ? got == cases[i].expected : strcmp(got, cases[i].expected) == 0;
    cr_assert(same, "%s: got %s", cases[i].word, got != NULL ? got : "nothing");
  }
  char longest[200];
  memset(longest, 'a', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  const char *const odd[] = {longest, "aaaa"};
  static const char *const short_words[] = {"t", "unrotated"};
  cr_assert_null(rs_suggest("0", short_words, 2), "one letter for another is no slip");
  cr_assert_str_eq(rs_suggest("T", short_words, 2), "t");
  cr_assert_null(rs_suggest(longest, odd, 2), "words beyond every name have no neighbour");
  cr_assert_str_eq(rs_suggest("aaab", odd, 2), "aaaa", "candidates beyond every name are passed over");
}

/* A word begins with its first letter: with the one before it that would be a swap, and near. Words before it leave
 * small numbers where it would then look for the row before the first. */
Test(base, suggest__what_stands_before_a_word__is_no_part_of_it) {
  static const char *const name = "bcdefgxyhijklmnop";
  static const char text[] = "yxhijklmnop";
  const char *const words[] = {text + 1, "bcdef", text + 1, "bcdefgxy", text + 1};
  size_t found = 0;
  for (size_t i = 0; i < RS_COUNT(words); i++) found += rs_suggest(words[i], &name, 1) != NULL;
  cr_expect_eq(found, 0u, "seven letters and more are missing");
}

Test(base, suggest__names_of_earlier_releases__mean_those_of_now) {
  rs_nearest nearest = {.word = "misspelt-layer-typ"};
  rs_nearest_add(&nearest, "unknown-layer-type");
  cr_assert_null(rs_nearest_found(&nearest));
  rs_nearest_former(&nearest, "misspelt-layer-type", "unknown-layer-type");
  cr_assert_str_eq(rs_nearest_found(&nearest), "unknown-layer-type");
  rs_nearest_add(&nearest, "misspelt-layer-types");
  cr_assert_str_eq(rs_nearest_found(&nearest), "unknown-layer-type", "the nearer one stays");
}

/* Words for a shell: those that it would cut or change are quoted. */
Test(text, shell__quotes_what_needs_it) {
  static const char *const cases[][2] = {{"plain-1.0_@%+=:,./x", "plain-1.0_@%+=:,./x"},
                                         {"", "''"},
                                         {"two words", "'two words'"},
                                         {"it's", "'it'\\''s'"},
                                         {"'", "''\\'''"},
                                         {"$HOME", "'$HOME'"},
                                         {"größer", "'größer'"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_text_shell(&text, cases[i][0]);
    cr_expect_str_eq(rs_text_string(&text), cases[i][1], "%s", rs_text_string(&text));
    rs_text_clear(&text);
  }
}
