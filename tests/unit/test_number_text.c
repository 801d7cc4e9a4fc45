/* Numbers as text. */
#include <errno.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../golden.h"

Test(base, number_format__known_values__are_short) {
  static const struct {
    double value;
    const char *text;
  } cases[] = {
      {0.1, "0.1"},
      {0, "0"},
      {-0.0, "0"},
      {1, "1"},
      {-2.5, "-2.5"},
      {1e300, "1e+300"},
      {4096, "4096"},
      {1.0 / 3, "0.3333333333333333"},
      {0.1 + 0.2, "0.30000000000000004"},
      {NAN, "nan"},
      {INFINITY, "inf"},
      {-INFINITY, "-inf"},
      {5e-324, "5e-324"},
      {1e-310, "1e-310"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {1e5, "100000"},
      {2.2250738585072014e-308, "2.2250738585072014e-308"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[RS_NUMBER_CHARS];
    size_t length = rs_number_format(cases[i].value, text);
    cr_assert_str_eq(text, cases[i].text, "got %s, expected %s", text, cases[i].text);
    cr_assert_eq(length, strlen(text));
  }
}

/* Significant digits of a decimal: those between its first and its last digit that is not 0. */
static int significant_digits(const char *text) {
  int seen = 0, until_last = 0;
  for (; *text != '\0' && *text != 'e'; text++) {
    if (*text < '0' || *text > '9') continue;
    if (seen > 0 || *text != '0') seen++;
    if (*text != '0') until_last = seen;
  }
  return until_last;
}

/* A finite double: all bit patterns alike, or a decimal of a few digits, or a subnormal. */
static double draw_double(uint64_t *state, size_t turn) {
  uint64_t bits = draw_bits(state);
  if (turn % 3 == 1) return (double)(int64_t)(bits % 20001) * pow(10, (double)(bits >> 32) / 0x1p32 * 20 - 10);
  if (turn % 3 == 2) bits &= 0x800fffffffffffffu;
  double value;
  memcpy(&value, &bits, sizeof value);
  return isfinite(value) ? value : 1;
}

/* Prints `value`, reads it back, and tries one digit less. */
static void check_shortest(double value) {
  char text[RS_NUMBER_CHARS], shorter[64];
  double back = NAN;
  size_t length = rs_number_format(value, text);
  cr_assert(length < RS_NUMBER_CHARS && length == strlen(text), "%a", value);
  cr_assert(rs_number_read(text, &back) && back == value, "%a printed as %s reads back as %a", value, text, back);
  cr_assert_eq(strtod(text, NULL), value, "%a printed as %s", value, text);
  int digits = significant_digits(text);
  if (digits < 2) return;
  snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
  cr_assert_neq(strtod(shorter, NULL), value, "%a printed as %s, where %s would do", value, text, shorter);
}

Test(base, number_format__random_doubles__shortest_that_reads_back) {
  uint64_t state = 1;
  for (size_t i = 0; i < 100000; i++) check_shortest(draw_double(&state, i));
}

/* Of a float, two or so digits fewer than of the double that is equal to it. */
static void check_shortest_single(float value) {
  char text[RS_NUMBER_CHARS], shorter[64];
  size_t length = rs_number_format_single(value, text);
  cr_assert(length < RS_NUMBER_CHARS && length == strlen(text), "%a", (double)value);
  cr_assert_eq(strtof(text, NULL), value, "%a printed as %s", (double)value, text);
  int digits = significant_digits(text);
  if (digits < 2) return;
  snprintf(shorter, sizeof shorter, "%.*e", digits - 2, (double)value);
  cr_assert_neq(strtof(shorter, NULL), value, "%a printed as %s, where %s would do", (double)value, text, shorter);
}

Test(base, number_format_single__shortest_that_reads_back) {
  static const struct {
    float value;
    const char *text;
  } cases[] = {
      {0.1F, "0.1"},
      {0, "0"},
      {-0.0F, "0"},
      {-2.5F, "-2.5"},
      {10000, "10000"},
      {1e6F, "1000000"},
      {1e10F, "10000000000"},
      {1.0F / 3, "0.33333334"},
      {1.00000012F, "1.0000001"},
      {16777216, "16777216"},
      {3.40282347e38F, "3.4028235e+38"},
      {1.40129846e-45F, "1e-45"},
      {8589934592, "8589935000"},
      {NAN, "nan"},
      {INFINITY, "inf"},
      {-INFINITY, "-inf"},
  };
  uint64_t state = 1;
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[RS_NUMBER_CHARS];
    rs_number_format_single(cases[i].value, text);
    cr_expect_str_eq(text, cases[i].text, "got %s, expected %s", text, cases[i].text);
  }
  for (size_t i = 0; i < 100000; i++) {
    uint32_t bits = (uint32_t)draw_bits(&state);
    float value;
    if (i % 3 == 1) bits &= 0x807fffff;
    memcpy(&value, &bits, sizeof value);
    if (i % 3 == 2) value = (float)(int)(bits % 20001) * powf(10, (float)(bits >> 15) / 0x1p17F * 20 - 10);
    if (isfinite(value)) check_shortest_single(value);
  }
}

/* A locale whose only peculiarity is its decimal comma, in glibc's binary form (locale/loadlocale.c): magic, number of
 * fields, their offsets, then decimal point, thousands separator, grouping, both as wide characters, character set. */
static void write_comma_locale(const char *path) {
  struct {
    uint32_t magic, count, offset[6];
    char point[4], separator[4], grouping[4];
    uint32_t wide_point, wide_separator;
    char charset[8];
  } data = {0x20031115u ^ LC_NUMERIC, 6, {32, 36, 40, 44, 48, 52}, ",", "", "\177", ',', 0, "UTF-8"};
  FILE *file = fopen(path, "wb");
  cr_assert_not_null(file, "%s: %s", path, strerror(errno));
  cr_assert_eq(fwrite(&data, sizeof data, 1, file), 1u);
  fclose(file);
}

/* Puts a written locale where LOCPATH leads, for as long as it takes to load it. */
static void load_comma_locale(void) {
  char folder[] = "/tmp/ropescope-locale-XXXXXX", inner[64], path[128];
  cr_assert_not_null(mkdtemp(folder), "%s: %s", folder, strerror(errno));
  snprintf(inner, sizeof inner, "%s/xx_XX", folder);
  snprintf(path, sizeof path, "%s/LC_NUMERIC", inner);
  mkdir(inner, 0700);
  write_comma_locale(path);
  setenv("LOCPATH", folder, 1);
  setlocale(LC_NUMERIC, "xx_XX");
  unlink(path);
  rmdir(inner);
  rmdir(folder);
}

/* Switches the process to a locale with a decimal comma; false where there is no way to get one. */
static bool enter_comma_locale(void) {
  static const char *const installed[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  bool entered = false;
  for (size_t i = 0; i < RS_COUNT(installed) && !entered; i++) entered = setlocale(LC_ALL, installed[i]) != NULL;
  if (!entered) load_comma_locale();
  char text[8];
  snprintf(text, sizeof text, "%.1f", 0.5);
  return strcmp(text, "0,5") == 0;
}

Test(base, numbers__comma_locale__keep_their_point) {
  if (!enter_comma_locale()) cr_skip("no locale with a decimal comma can be had here");
  char text[RS_NUMBER_CHARS];
  double value = NAN;
  rs_number_format(1.5, text);
  cr_assert_str_eq(text, "1.5");
  cr_assert(rs_number_read("2.25", &value) && value == 2.25, "read %g", value);
  cr_assert_not(rs_number_read("2,25", &value));
  cr_assert_eq(rs_number_parse("-1e-3", &value, NULL), RS_OK);
  cr_assert_eq(value, -1e-3);
  cr_assert_eq(rs_number_parse("1,5", &value, NULL), RS_INPUT);
  snprintf(text, sizeof text, "%.1f", 0.5);
  cr_assert_str_eq(text, "0,5", "the caller's locale is left as it was");
}

Test(base, number_parse__bad_text__says_why) {
  static const char nan_words[] = "is not a number (NaN is never accepted)", finite[] = "is not finite";
  static const char hex[] = "must be a decimal number (hexadecimal is not accepted)", plain[] = "must be a number";
  static const char octal[] = "has a leading zero, which some readers take as octal (write it without)";
  static const char comma[] = "has a comma (write decimals with '.', thousands bare)";
  static const char underscore[] = "has an underscore (write the digits without)";
  static const char large[] = "is too large (the largest double is 1.8e308)";
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"nan", nan_words}, {".NaN", nan_words}, {"-nan", nan_words}, {"inf", finite},     {"-.inf", finite},
      {"+.Inf", finite},  {"0x10", hex},       {"-0X1p3", hex},     {"010", octal},      {"-007", octal},
      {"0o17", octal},    {"00.5", octal},     {"1,5", comma},      {"1,000.5", comma},  {"1_000", underscore},
      {"1e999", large},   {"-1e999", large},   {"", plain},         {"-", plain},        {".", plain},
      {"abc", plain},     {" 1", plain},       {"1 ", plain},       {"1x", plain},       {"1e", plain},
      {"1.2.3", plain},   {"--1", plain},      {"+-1", plain},      {"infinity", plain}, {"- 1", plain},
      {"1e5e5", plain},   {"0b1", plain},      {"\t1", plain},      {"nan(1)", plain},   {"e5", plain},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    double value;
    cr_assert_eq(rs_number_parse(cases[i].text, &value, &err), RS_INPUT, "\"%s\" was accepted", cases[i].text);
    cr_assert_str_eq(err.message, cases[i].message, "\"%s\": %s", cases[i].text, err.message);
  }
}

Test(base, number_parse__good_text__gives_its_value) {
  static const struct {
    const char *text;
    double value;
  } cases[] = {{"0", 0},           {"-0", 0},          {"+5", 5},
               {".5", .5},         {"-.5", -.5},       {"5.", 5},
               {"0.5", .5},        {"0e5", 0},         {"1e3", 1000},
               {"1E-3", 1e-3},     {"10", 10},         {"1e308", 1e308},
               {"1e-300", 1e-300}, {"5e-324", 5e-324}, {"123456789012345678", 123456789012345678.0}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double value = NAN;
    rs_err err = {0};
    cr_assert_eq(rs_number_parse(cases[i].text, &value, &err), RS_OK, "%s: %s", cases[i].text, err.message);
    cr_assert_eq(value, cases[i].value, "%s: got %.17g", cases[i].text, value);
  }
}

Test(base, number_read__what_format_prints__is_read) {
  double value = 0;
  cr_assert(rs_number_read("nan", &value) && isnan(value));
  cr_assert(rs_number_read("-inf", &value) && value == -INFINITY);
  static const char *const bad[] = {"", " 1", "1 ", "1,5", "x", "1;"};
  for (size_t i = 0; i < RS_COUNT(bad); i++) cr_assert_not(rs_number_read(bad[i], &value), "\"%s\"", bad[i]);
}
