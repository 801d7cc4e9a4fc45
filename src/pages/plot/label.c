/* label.c: words for people and names for files. Everything is put together from integers, so that no locale and no
 * rounding leaves a mark. */
#include "paper.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUS "\u2212"
#define TIMES_TEN "\u00d710" /* four digits, then the 10 */

enum { SLUG_BYTES = 80 }; /* three of them and an ending stay below the 255 bytes of a file name */

const char *rs_plot_unit(const char *unit) {
  return strcmp(unit, "1") == 0 ? "" : unit;
}

/* How a unit's character is written in a column name: "rad/token" becomes "rad_per_token". */
static size_t spell(char unit, char out[8]) {
  char letter = (char)tolower((unsigned char)unit);
  if (unit == '/') return (size_t)snprintf(out, 8, "_per_");
  return (size_t)snprintf(out, 8, "%c", isalnum((unsigned char)letter) ? letter : '_');
}

/* Bytes of the "_" and unit at the end of `name`; 0 when it does not end so. */
static size_t unit_suffix(const char *name, const char *unit) {
  size_t end = strlen(name), suffix = 0;
  for (size_t i = strlen(unit); i-- > 0;) {
    char word[8];
    size_t length = spell(unit[i], word);
    if (end < length + 2 || memcmp(name + end - length, word, length) != 0) return 0;
    end -= length;
    suffix += length;
  }
  return suffix > 0 && name[end - 1] == '_' ? suffix + 1 : 0;
}

void rs_plot_words(const char *name, const char *unit, rs_text *out) {
  size_t length = strlen(name) - unit_suffix(name, unit);
  for (size_t i = 0; i < length; i++) rs_text_add(out, name[i] == '_' ? " " : &name[i], 1);
}

/* Words that names of columns shorten, and proper names. */
static const struct {
  const char *word, *full;
} glossary[] = {
    {"ood", "out-of-range"},
    {"sd", "standard deviation"},
    {"rms", "root mean square"},
    {"kl", "KL divergence"},
    {"pca", "principal components"},
    {"ntk", "NTK"},
    {"dim", "dimension"},
    {"roformer", "RoFormer's"},
    {"omega", "ω"},
    {"gamma", "γ"},
    {"got", "head under the method"},
    {"lambda", "λ"},
    {"max", "largest"},
    {"t", "time"},
    {"h", "row"},
    {"w", "column"},
};

/* The row of a word of this length; their number: none. */
static size_t find_word(const char *word, size_t length) {
  size_t i = 0;
  while (i < RS_COUNT(glossary) && (strlen(glossary[i].word) != length || strncmp(glossary[i].word, word, length) != 0))
    i++;
  return i;
}

void rs_plot_phrase(const char *name, const char *unit, rs_text *out) {
  rs_text words = {0};
  rs_plot_words(name, unit, &words);
  for (const char *word = rs_text_string(&words); *word != '\0';) {
    size_t length = strcspn(word, " "), row = find_word(word, length);
    if (row < RS_COUNT(glossary))
      rs_text_puts(out, glossary[row].full);
    else
      rs_text_add(out, word, length);
    if (word[length] == ' ') rs_text_puts(out, " "), length++;
    word += length;
  }
  out->failed = out->failed || words.failed;
  rs_text_clear(&words);
}

void rs_plot_slug(const char *text, rs_text *out) {
  size_t start = out->length;
  bool dash = false;
  for (; *text != '\0' && out->length - start < SLUG_BYTES; text++) {
    char letter = (char)tolower((unsigned char)*text);
    bool keep = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || strchr("._=", letter) != NULL;
    if (keep && dash && out->length > start) rs_text_puts(out, "-");
    if (keep && !(letter == '.' && out->length == start)) rs_text_add(out, &letter, 1); /* no hidden files */
    dash = !keep;
  }
  if (out->length == start) rs_text_puts(out, "plot");
}

void rs_plot_tokens(double tokens, rs_text *out) {
  const double kilo = 1024, mega = 1048576;
  if (tokens >= mega && fmod(tokens, mega / 2) == 0) {
    rs_text_number(out, tokens / mega);
    rs_text_puts(out, "M");
  } else if (tokens >= kilo && fmod(tokens, kilo) == 0) {
    rs_text_number(out, tokens / kilo);
    rs_text_puts(out, "k");
  } else {
    rs_text_number(out, tokens);
  }
}

void rs_plot_decimal(long long n, int exponent, rs_text *out) {
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", n < 0 ? -n : n);
  int length = (int)strlen(digits), whole = length + exponent;
  if (n < 0) rs_text_puts(out, MINUS);
  if (n == 0) {
    rs_text_puts(out, "0");
  } else if (exponent >= 0) {
    rs_text_puts(out, digits);
    for (int i = 0; i < exponent; i++) rs_text_puts(out, "0");
  } else {
    rs_text_add(out, whole > 0 ? digits : "0", whole > 0 ? (size_t)whole : 1);
    rs_text_puts(out, ".");
    for (int i = whole; i < 0; i++) rs_text_puts(out, "0");
    rs_text_puts(out, digits + (whole > 0 ? whole : 0));
  }
}

void rs_plot_power(int exponent, char power[RS_PLOT_POWER_CHARS]) {
  bool fits = exponent > -1000 && exponent < 1000; /* double ends at 308 */
  snprintf(power, RS_PLOT_POWER_CHARS, "%s%d", exponent < 0 ? MINUS : "", fits ? abs(exponent) : 0);
}

void rs_plot_scientific(long long n, int exponent, int decimals, rs_text *out, char power[RS_PLOT_POWER_CHARS]) {
  power[0] = '\0';
  rs_plot_decimal(n, -decimals, out);
  if (n == 0) return;
  rs_text_puts(out, TIMES_TEN);
  rs_plot_power(exponent + decimals, power);
}
