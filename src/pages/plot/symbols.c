/* symbols.c: what columns say of themselves is typed on a keyboard, for terminals and CSV readers; a picture has the
 * letters of the papers. */
#include "paper.h"

#include <ctype.h>
#include <string.h>

/* Longer ones first, where one starts with another. A name counts only as a whole word. */
static const struct {
  const char *typed, *printed;
} table[] = {
    {"sum_{j<k}", "Σⱼ₌₀ᵏ⁻¹"},
    {"sum_j", "Σⱼ"},
    {"sum", "Σ"},
    {"angle_j", "θⱼ"},
    {"omega_j", "ωⱼ"},
    {"omega", "ω"},
    {"theta", "θ"},
    {"lambda", "λ"},
    {"gamma", "γ"},
    {"beta_1", "β₁"},
    {"beta_2", "β₂"},
    {"beta_3", "β₃"},
    {"2 pi", "2π"},
    {"pi", "π"},
    {"sqrt", "√"},
    {"^2", "²"},
    {">=", "≥"},
    {"<=", "≤"},
    {"!=", "≠"},
    {" - ", " − "},
    {" * ", " · "},
    {"`", ""},
};

static bool is_word(char letter) {
  return isalnum((unsigned char)letter) || letter == '_';
}

/* "sum" is a sign before what is summed, and a word elsewhere: "sum over documents", "sums to 1", "sum of".
 * The row of the table for what stands at `text`, whose letter before is `before`; their number: none. */
static size_t find(const char *text, char before) {
  for (size_t i = 0; i < RS_COUNT(table); i++) {
    const char *typed = table[i].typed;
    size_t length = strlen(typed);
    if (strncmp(text, typed, length) != 0) continue;
    bool inside = (is_word(typed[0]) && is_word(before)) || (is_word(typed[length - 1]) && is_word(text[length]));
    const char *rest = text + length;
    bool prose = strcmp(typed, "sum") == 0 && !(rest[0] == ' ' && isalpha((unsigned char)rest[1]) && rest[2] == ' ');
    if ((!inside || typed[0] == '^') && !prose) return i;
  }
  return RS_COUNT(table);
}

void rs_plot_symbols(const char *text, rs_text *out) {
  char before = ' ';
  while (*text != '\0') {
    size_t row = find(text, before), length = 1;
    if (row < RS_COUNT(table)) {
      rs_text_puts(out, table[row].printed);
      length = strlen(table[row].typed);
    } else {
      rs_text_add(out, text, 1);
    }
    before = text[length - 1];
    text += length;
  }
}
