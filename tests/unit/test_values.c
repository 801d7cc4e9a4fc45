/* Parameters: values from text, files and numbers, and settings. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static const rs_param real = {.name = "real", .type = RS_REAL, .min = -1, .max = 2.5};
static const rs_param positive = {.name = "positive", .type = RS_REAL, .min = 0, .max = INFINITY};
static const rs_param whole = {.name = "whole", .type = RS_INTEGER, .min = 1, .max = 1e9, .fallback = "4k"};
static const rs_param anywhole = {.name = "anywhole", .type = RS_INTEGER, .min = -1e300, .max = 1e300};
static const rs_param truth = {.name = "truth", .type = RS_BOOL, .fallback = "true"};
static const char *const word_words[] = {"hf", "paper", "paper_2", NULL},
                         *const rule_words[] = {"fixed", "auto", "dynamic", NULL},
                         *const list_words[] = {"none", "equal", NULL};
static const rs_param word = {.name = "word", .type = RS_CHOICE, RS_WORDS(word_words), .fallback = "paper"};
static const rs_param rule = {.name = "rule", .type = RS_REAL, RS_WORDS(rule_words), .min = .5, .max = 8};
static const rs_param list = {.name = "list", .type = RS_REALS, RS_WORDS(list_words), .min = 0, .max = 32};
static const rs_param named = {.name = "named", .type = RS_FILE};
static const rs_param called = {.name = "called", .type = RS_NAME};
static const rs_param bare = {.name = "bare", .type = RS_REALS, .min = 0, .max = 32};

Test(values, value_parse__every_type__gives_the_value) {
  static const struct {
    const rs_param *param;
    const char *text;
    double number; /* NaN: none */
    int choice;
    const char *written;
  } cases[] = {
      {&real, "-1", -1, -1, "-1"},
      {&real, "2.5", 2.5, -1, "2.5"},
      {&positive, "1e300", 1e300, -1, "1e+300"},
      {&whole, "1", 1, -1, "1"},
      {&whole, "4k", 4096, -1, "4096"},
      {&whole, "4K", 4096, -1, "4096"},
      {&whole, "1M", 1048576, -1, "1048576"},
      {&whole, "1.5k", 1536, -1, "1536"},
      {&whole, "1e3", 1000, -1, "1000"},
      {&whole, "1000000000", 1e9, -1, "1000000000"},
      {&anywhole, "9007199254740992", 9007199254740992.0, -1, "9007199254740992"},
      {&anywhole, "-4k", -4096, -1, "-4096"},
      {&truth, "true", 1, -1, "true"},
      {&truth, "false", 0, -1, "false"},
      {&word, "hf", NAN, 0, "hf"},
      {&word, "paper", NAN, 1, "paper"},
      {&word, "paper_2", NAN, 2, "paper_2"},
      {&rule, "fixed", NAN, 0, "fixed"},
      {&rule, "dynamic", NAN, 2, "dynamic"},
      {&rule, "8", 8, -1, "8"},
      {&list, "equal", NAN, 1, "equal"},
      {&named, "texts/a \"b\".txt", NAN, -1, "\"texts/a \\\"b\\\".txt\""},
      {&called, "layers.0.q", NAN, -1, "layers.0.q"},
      {&called, "12", NAN, -1, "12"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_value value;
    rs_err err = {0};
    rs_text text = {0};
    cr_assert_eq(rs_value_parse(cases[i].param, cases[i].text, &value, &err), RS_OK, "%s %s: %s", cases[i].param->name,
                 cases[i].text, err.message);
    cr_assert(value.set && !value.given && value.list == NULL, "%s %s", cases[i].param->name, cases[i].text);
    cr_assert_eq(value.choice, cases[i].choice, "%s %s: choice %d", cases[i].param->name, cases[i].text, value.choice);
    cr_assert(isnan(cases[i].number) ? isnan(value.number) : value.number == cases[i].number, "%s %s: got %g",
              cases[i].param->name, cases[i].text, value.number);
    rs_value_write(cases[i].param, &value, &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i].written, "%s", rs_text_string(&text));
    rs_text_clear(&text);
    rs_value_clear(&value);
  }
}

Test(values, value_parse__bad_text__says_why_and_leaves_it_unset) {
  static const struct {
    const rs_param *param;
    const char *text, *message;
  } cases[] = {
      {&real, "3", "must be from -1 to 2.5"},
      {&real, "-1.0000001", "must be from -1 to 2.5"},
      {&real, "4k", "must be a number"},
      {&real, "auto", "must be a number"},
      {&real, "1,5", "has a comma (write decimals with '.', thousands bare)"},
      {&positive, "-1", "must be at least 0"},
      {&whole, "0", "must be from 1 to 1000000000"},
      {&whole, "1.5", "must be a whole number"},
      {&whole, "0.3k", "must be a whole number"},
      {&whole, "k", "must be a number"},
      {&whole, "4kk", "must be a number, as 8192, 8k or 1M (k: 1024, M: 1024k)"},
      {&whole, "4G", "must be a number, as 8192, 8k or 1M (k: 1024, M: 1024k)"},
      {&whole, "4 k", "must be a number, as 8192, 8k or 1M (k: 1024, M: 1024k)"},
      {&whole, "040k", "has a leading zero, which some readers take as octal (write it without)"},
      {&anywhole, "9007199254740994", "is too large (at most 2^53)"},
      {&anywhole, "-1e17", "is too large (at most 2^53)"},
      {&anywhole, "1e305M", "is too large (at most 2^53)"},
      {&whole, "1.0000000000000000000000000000000000000000000000000000000000000xyz", "must be a number"},
      {&truth, "yes", "must be true or false"},
      {&truth, "1", "must be true or false"},
      {&truth, "True", "must be true or false"},
      {&word, "papr", "must be one of hf, paper, paper_2 (did you mean paper?)"},
      {&word, "hf|paper", "must be one of hf, paper, paper_2"},
      {&word, "", "must be one of hf, paper, paper_2"},
      {&word, "1", "must be one of hf, paper, paper_2"},
      {&rule, "dynamik", "must be one of fixed, auto, dynamic, or a number (did you mean dynamic?)"},
      {&rule, "zzz", "must be one of fixed, auto, dynamic, or a number"},
      {&rule, "9", "must be from 0.5 to 8"},
      {&rule, "", "must be a number"},
      {&list, "equl", "must be one of none, equal, or a list of numbers (did you mean equal?)"},
      {&list, "16", "must be a list of numbers, like [1, 2]"},
      {&bare, "equal", "must be a list of numbers, like [1, 2]"},
      {&named, "", "must be the path of a file"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_value value;
    rs_err err = {0};
    cr_assert_eq(rs_value_parse(cases[i].param, cases[i].text, &value, &err), RS_INPUT, "%s: %s was accepted",
                 cases[i].param->name, cases[i].text);
    cr_assert_str_eq(err.message, cases[i].message, "%s: %s: %s", cases[i].param->name, cases[i].text, err.message);
    cr_assert(!value.set && value.choice == -1 && isnan(value.number), "%s: %s left a value", cases[i].param->name,
              cases[i].text);
  }
}

/* A list from a file remembers it; only a long one is written as the file's name. */
Test(values, value_file__lists_of_files__are_copied_and_written) {
  enum { LONG = RS_INLINE_NUMBERS + 1 };
  static double numbers[LONG];
  for (size_t count = 2; count <= LONG; count += count == 2 ? LONG - 3 : 1) {
    rs_value value, copy;
    rs_text text = {0};
    cr_assert_eq(rs_value_list(&list, numbers, count, &value, NULL), RS_OK);
    value.file = strdup("/a \"b\"\\c.npy");
    cr_assert_eq(rs_value_copy(&copy, &value, NULL), RS_OK);
    cr_assert(copy.file != value.file && strcmp(copy.file, value.file) == 0 && copy.list != value.list);
    rs_value_clear(&value);
    cr_assert_null(value.file);
    rs_value_write(&list, &copy, &text);
    if (count == LONG)
      cr_assert_str_eq(rs_text_string(&text), "\"/a \\\"b\\\"\\\\c.npy\"");
    else
      cr_assert_eq(strncmp(rs_text_string(&text), "[0, 0", 5), 0, "%zu: %s", count, rs_text_string(&text));
    rs_value_clear(&copy);
    rs_text_clear(&text);
  }
}

Test(values, value_list__lists__are_checked_copied_and_written) {
  double numbers[] = {16, 24.5, 0};
  rs_value value;
  rs_text text = {0};
  cr_assert_eq(rs_value_list(&list, numbers, 3, &value, NULL), RS_OK);
  numbers[0] = 99;
  cr_assert(value.set && value.count == 3 && value.choice == -1 && value.list[0] == 16, "the list is copied");
  rs_value_write(&list, &value, &text);
  cr_assert_str_eq(rs_text_string(&text), "[16, 24.5, 0]");
  rs_text_clear(&text);
  rs_value_clear(&value);
  cr_assert(!value.set && value.list == NULL && value.count == 0);
  rs_value_write(&list, &value, &text);
  cr_assert_str_eq(rs_text_string(&text), "none", "an unset value");
  rs_text_clear(&text);
  static const struct {
    const rs_param *param;
    double first;
    size_t count;
    const char *message;
  } bad[] = {{&list, 0, 0, "is an empty list"},
             {&list, 33, 1, "must be from 0 to 32"},
             {&list, NAN, 1, "must be from 0 to 32"},
             {&real, 1, 1, "takes one value, not a list"},
             {&word, 1, 1, "takes one value, not a list"}};
  for (size_t i = 0; i < RS_COUNT(bad); i++) {
    rs_err err = {0};
    cr_assert_eq(rs_value_list(bad[i].param, &bad[i].first, bad[i].count, &value, &err), RS_INPUT, "case %zu", i);
    cr_assert_str_eq(err.message, bad[i].message);
    cr_assert(!value.set && value.list == NULL);
  }
}

Test(values, settings__defaults__stand_until_set) {
  const rs_param *const params[] = {&real, &whole, &truth, &word, &list};
  rs_settings settings;
  rs_err err = {0};
  cr_assert_eq(rs_settings_init(&settings, params, RS_COUNT(params), &err), RS_OK, "%s", err.message);
  for (size_t i = 0; i < RS_COUNT(params); i++) {
    cr_assert_eq(rs_settings_find(&settings, params[i]->name), (int)i);
    cr_assert_eq(rs_setting(&settings, params[i]->name)->set, params[i]->fallback != NULL, "%s", params[i]->name);
    cr_assert_not(rs_setting(&settings, params[i]->name)->given);
  }
  cr_assert_eq(rs_settings_find(&settings, "wor"), -1);
  cr_assert(isnan(rs_setting(&settings, "real")->number) && rs_setting(&settings, "whole")->number == 4096);
  cr_assert(rs_setting(&settings, "truth")->number == 1 && rs_setting(&settings, "real")->number != 1);
  cr_assert(rs_setting(&settings, "word")->choice == 1 && rs_setting(&settings, "list")->choice == -1);
  const rs_value *missing = rs_setting(&settings, "missing");
  cr_assert(missing != NULL && !missing->set && missing->choice == -1 && isnan(missing->number));
  cr_assert(isnan(rs_setting(&settings, "missing")->number) && rs_setting(&settings, "missing")->number != 1);
  rs_settings_clear(&settings);
  cr_assert(settings.values == NULL && settings.count == 0);
}

Test(values, settings__bad_default__is_an_internal_error) {
  const rs_param broken = {.name = "broken", .type = RS_INTEGER, .min = 1, .max = 2, .fallback = "3"};
  const rs_param *const params[] = {&whole, &broken};
  rs_settings settings;
  rs_err err = {0};
  cr_assert_eq(rs_settings_init(&settings, params, 2, &err), RS_INTERNAL);
  cr_assert_str_eq(err.message, "default of broken: must be from 1 to 2");
  cr_assert(settings.values == NULL && settings.count == 0, "a failure leaves nothing to clear");
}

Test(values, settings__copy__shares_nothing) {
  const rs_param *const params[] = {&list, &whole};
  const double numbers[] = {1, 2};
  rs_settings settings, copy;
  cr_assert_eq(rs_settings_init(&settings, params, 2, NULL), RS_OK);
  cr_assert_eq(rs_value_list(&list, numbers, 2, &settings.values[0], NULL), RS_OK);
  cr_assert_eq(rs_settings_copy(&copy, &settings, NULL), RS_OK);
  cr_assert_neq(copy.values[0].list, settings.values[0].list);
  settings.values[0].list[1] = 9;
  rs_settings_clear(&settings);
  cr_assert(copy.values[0].list[0] == 1 && copy.values[0].list[1] == 2 && copy.values[0].count == 2);
  cr_assert_eq(rs_setting(&copy, "whole")->number, 4096.0);
  rs_settings_clear(&copy);
}

Test(values, value_of_a_number__as_if_it_had_been_written) {
  static const rs_param factor = {.name = "factor", .type = RS_REAL, .min = -1, .max = 64},
                        sinks = {.name = "sinks", .type = RS_INTEGER, .min = 1, .max = INFINITY};
  static const struct {
    const rs_param *param;
    double number;
    const char *text;
  } cases[] = {{&factor, 0.1, "0.1"},         {&factor, -0.0, "0"},   {&factor, 65, "65"},
               {&factor, -INFINITY, "-.inf"}, {&factor, NAN, ".nan"}, {&sinks, 3, "3"},
               {&sinks, 2.5, "2.5"},          {&sinks, 0, "0"},       {&sinks, 0x1p54, "18014398509481984"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_value made, parsed;
    rs_err made_err = {0}, parsed_err = {0};
    const char *text = cases[i].text;
    rs_status status = rs_value_number(cases[i].param, cases[i].number, &made, &made_err);
    cr_expect_eq(status, rs_value_parse(cases[i].param, text, &parsed, &parsed_err), "%s", text);
    cr_expect_str_eq(made_err.message, parsed_err.message, "%s", text);
    cr_expect(status != RS_OK || (rs_value_same(&made, &parsed) && signbit(made.number) == 0), "%s", text);
  }
}
