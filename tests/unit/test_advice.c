/* test_advice.c: the sentence that `solve` advises by, for whatever the criteria have said. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "advice/advice.h"

enum { PARTS = 4 };

/* What two criteria say of a question, NaN: nothing; `open`: that it is where the search ended. */
typedef struct advice_case {
  rs_question question;
  double violation, range;
  bool open[2];
  double value; /* NaN: whatever the text says */
  const char *says[PARTS], *silent;
} advice_case;

static void advise(const advice_case *c, rs_advice *advice) {
  rs_solution by_violation = {.value = c->violation, .open = c->open[0]},
              by_range = {.value = c->range, .open = c->open[1]};
  const rs_solution *solved[RS_CRITERIA] = {0};
  rs_problems problems = {0};
  rs_err err = {0};
  if (!isnan(c->violation)) solved[RS_FIRST_VIOLATION] = &by_violation;
  if (!isnan(c->range)) solved[RS_OUT_OF_RANGE] = &by_range;
  cr_assert_eq(rs_advise(&c->question, solved, advice, &problems, &err), RS_OK, "%s", err.message);
  rs_problems_clear(&problems);
}

static void expect_all(const advice_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    rs_advice advice;
    advise(&cases[i], &advice);
    const char *text = rs_text_string(&advice.text);
    if (!isnan(cases[i].value)) cr_expect_eq(advice.value, cases[i].value, "case %zu: %.17g", i, advice.value);
    for (size_t k = 0; k < PARTS && cases[i].says[k] != NULL; k++)
      cr_expect_not_null(strstr(text, cases[i].says[k]), "case %zu: no \"%s\" in %s", i, cases[i].says[k], text);
    if (cases[i].silent != NULL) cr_expect_null(strstr(text, cases[i].silent), "case %zu: %s", i, text);
    if (cases[i].says[0] == NULL) cr_expect(*text == '\0' && isnan(advice.value), "case %zu: %s", i, text);
    rs_advice_clear(&advice);
  }
}

#define LLAMA2 .preset = "llama-2-7b"
#define LLAMA3 .preset = "llama-3-8b"

Test(advice, bases) {
  static const advice_case cases[] = {
      {{.length = 16384, LLAMA2},
       231643.647,
       150000,
       {0},
       231644,
       {"use base 231644 because no sum of cosines is negative with it up to 16384 tokens (231643.647 is the least "
        "such base), and no pair leaves the angles of training (150000 is the least for that); predicted for "
        "inputs up to the trained 4096 tokens, too: the keys 1 to 8 back"},
       NULL},
      {{.length = 16384, LLAMA2},
       NAN,
       30000,
       {0},
       NAN,
       {"use base ", " because no pair leaves the angles of training (30000 is the least for that)"},
       "sum of"},
      {{.length = 1e8, LLAMA2}, NAN, 20000.25, {0}, 20001, {"use base 20001 because no pair leaves"}, "sum of"},
      {{.length = 16384, LLAMA2},
       231643.647,
       NAN,
       {0},
       231644,
       {"use base 231644 because no sum of cosines is negative"},
       "angles of training"},
      {{.length = 1024, LLAMA2},
       4293.44,
       4000,
       {0},
       10000,
       {"use base 10000 because", "; costs nothing: it is the base of training"},
       NULL},
      {{.length = 16384, .head_dim = 128},
       231643.647,
       NAN,
       {0},
       231644,
       {"use base 231644 because", "; what it costs a trained model depends on its base and length"},
       "predicted for"},
      {{.length = 16384, LLAMA2}, NAN, NAN, {0}, NAN, {NULL}, NULL},
  };
  expect_all(cases, RS_COUNT(cases));
}

Test(advice, factors) {
#define FACTOR .sought = RS_SOLVE_FACTOR, .method = "pi"
  static const advice_case cases[] = {
      {{FACTOR, .length = 32768, LLAMA2},
       NAN,
       7.999,
       {0},
       8,
       {"use pi with a factor of 8 because no pair of 32768 tokens leaves the angles of training then (7.999 is the "
        "least)"},
       NULL},
      {{FACTOR, .length = 32768, LLAMA2}, NAN, 7.9, {0}, 7.9, {"use pi with a factor of 7.9 because no pair"}, NULL},
      {{FACTOR, .length = 32768, LLAMA2}, NAN, 9.5, {0}, 9.5, {"use pi with a factor of 9.5 because no pair"}, NULL},
      {{FACTOR, .length = 32768, LLAMA2},
       12,
       NAN,
       {0},
       12,
       {"use pi with a factor of 12 because no sum of cosines is negative then up to 32768 tokens"},
       "let be"},
      {{FACTOR, .length = 65536, LLAMA3},
       12,
       8,
       {0},
       8,
       {"use pi with a factor of 8 because", "; a sum of cosines that is never negative takes 12"},
       "let be"},
      {{FACTOR, .length = 65536, LLAMA3}, 2, 8, {0}, 8, {"use pi with a factor of 8 because"}, "never negative"},
      {{FACTOR, .length = 65536, LLAMA3}, NAN, 8, {0}, 8, {"use pi with a factor of 8 because"}, "never negative"},
      {{FACTOR, .length = 65536, LLAMA3}, NAN, NAN, {0}, NAN, {NULL}, NULL},
      {{.sought = RS_SOLVE_FACTOR, .method = "rope", .length = 65536, LLAMA3}, 2, 8, {0}, NAN, {NULL}, NULL},
  };
  expect_all(cases, RS_COUNT(cases));
}

Test(advice, lengths) {
#define LENGTH .sought = RS_SOLVE_LENGTH
  static const advice_case cases[] = {
      {{LENGTH, .preset = "mistral-7b"},
       NAN,
       9000,
       {0},
       9000,
       {"use it at any length because these layers see 4096 tokens whatever the context, and 9000 hold"},
       NULL},
      {{LENGTH, .preset = "mistral-7b"},
       5000,
       NAN,
       {true},
       5000,
       {"use it at any length because", "and 5000 hold"},
       NULL},
      {{LENGTH, .preset = "mistral-7b"},
       NAN,
       1000,
       {0},
       1000,
       {"use it up to 1000 tokens because a pair leaves the angles of training past them"},
       "any length"},
      {{LENGTH, LLAMA2},
       3000,
       NAN,
       {0},
       3000,
       {"use it up to 3000 tokens because the sum of cosines is negative at a distance past them"},
       "as at none"},
      {{LENGTH, LLAMA2},
       3000,
       NAN,
       {true},
       3000,
       {"no end was found up to 3000 tokens, where the search ends: no sum of cosines is negative"},
       "use it"},
      {{LENGTH, LLAMA2}, NAN, NAN, {0}, NAN, {NULL}, NULL},
      {{LENGTH, LLAMA3},
       20000,
       30000,
       {0},
       20000,
       {"use it up to 20000 tokens because the sum of cosines is negative at a distance past them, as at none of "
        "training",
        "; the published 8192 are within"},
       "let be"},
      {{LENGTH, LLAMA3},
       20000,
       30000,
       {true},
       20000,
       {"no end was found up to 20000 tokens, where the search ends: no sum of cosines is negative, and no pair "
        "leaves"},
       NULL},
      {{LENGTH, LLAMA3},
       40000,
       5000,
       {0},
       5000,
       {"use it up to 5000 tokens because a pair leaves", "; the published 8192 are beyond"},
       "let be"},
      {{LENGTH, LLAMA3},
       NAN,
       5000,
       {false, true},
       5000,
       {"no end was found up to 5000 tokens, where the search ends: no pair leaves the angles of training"},
       "use it"},
      {{LENGTH, LLAMA2},
       1000,
       6000,
       {0},
       6000,
       {"use it up to 6000 tokens because a pair leaves",
        "; the first negative sum, at 1000, is let be, as training itself had one at "},
       "as at none"},
      {{LENGTH, LLAMA2}, 1000, 6000, {true}, 6000, {"use it up to 6000 tokens because a pair leaves"}, "let be"},
      {{LENGTH, .head_dim = 128, .base = 10000}, 1000, 6000, {0}, NAN, {"use it up to"}, "published"},
  };
  expect_all(cases, RS_COUNT(cases));
}
