/* Expected, reproduced, difference: on a terminal, in a page, as CSV. */
#include "claims.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER = 32 };

/* Relative: what sums and logarithms in doubles leave of a number that is met exactly, and what need not be told. */
static const double ROUNDING_NOISE = 1e-12, NEXT_TO_NOTHING = 1e-5;

static const char *or_dash(const char *text) {
  return *text != '\0' ? text : "-";
}

static void format_value(const rs_claim_result *finding, char out[NUMBER]) {
  if (isnan(finding->value))
    snprintf(out, NUMBER, "%s", finding->left_out ? "(--full)" : "-");
  else
    snprintf(out, NUMBER, "%.6g", finding->value);
}

/* Relative where that means something; nothing beside a relation. */
static void format_difference(const rs_claim *claim, const rs_claim_result *finding, char out[NUMBER]) {
  double difference = finding->value - claim->claimed.number;
  out[0] = '\0';
  if (!claim->claimed.stated || claim->claimed.relation != RS_EQUAL || isnan(difference)) return;
  if (fabs(difference) <= ROUNDING_NOISE * fabs(claim->claimed.number))
    snprintf(out, NUMBER, "0");
  else if (claim->claimed.number == 0)
    snprintf(out, NUMBER, "%+.2g", difference);
  else if (finding->held && fabs(difference) < NEXT_TO_NOTHING * fabs(claim->claimed.number))
    snprintf(out, NUMBER, "< 0.001 %%");
  else
    snprintf(out, NUMBER, "%+.2g %%", 100 * difference / fabs(claim->claimed.number));
}

static const char *const verdicts[RS_VERDICTS] = {[RS_NO_VERDICT] = "",
                                                  [RS_AGREES] = "agrees",
                                                  [RS_AGREES_WITH_DEFINITION] = "agrees with a definition",
                                                  [RS_REFUTED] = "refuted",
                                                  [RS_DOES_NOT_APPEAR] = "does not appear"};

static void put_verdict(rs_text *text, const rs_claim *claim, const rs_claim_result *finding) {
  rs_text_puts(text, rs_origin_words[claim->origin]);
  if (claim->origin == RS_FOUND) rs_text_puts(text, " here");
  if (finding->left_out || !finding->held)
    rs_text_puts(text, finding->left_out ? ", not run" : ", DIFFERS");
  else if (claim->verdict != RS_NO_VERDICT)
    rs_text_printf(text, ", %s", verdicts[claim->verdict]);
}

/* Claims in the order of their rows. */
typedef struct listing {
  const rs_claims *claims;
  const rs_claim_result *findings;
  bool whole; /* with what was not run */
} listing;

static bool is_shown(const listing *list, size_t claim) {
  return list->whole || !list->findings[claim].left_out;
}

/* Whether it has a note that no row before it has. */
static bool is_first(const listing *list, size_t claim) {
  const rs_claim *items = list->claims->items;
  for (size_t i = 0; i < claim; i++)
    if (is_shown(list, i) && strcmp(items[i].note, items[claim].note) == 0) return false;
  return is_shown(list, claim) && *items[claim].note != '\0';
}

/* Notes are numbered through, and equal ones stand once; 0: it has none. */
static size_t note_number(const listing *list, size_t claim) {
  const rs_claim *items = list->claims->items;
  size_t number = 0;
  if (*items[claim].note == '\0') return 0;
  for (size_t i = 0; i < list->claims->count; i++) {
    number += is_first(list, i);
    if (is_shown(list, i) && strcmp(items[i].note, items[claim].note) == 0) break;
  }
  return number;
}

/* Columns that the longest key takes. */
static int key_width(const rs_claims *claims) {
  size_t width = 0;
  for (size_t i = 0; i < claims->count; i++) {
    size_t length = strlen(claims->items[i].key);
    if (length > width) width = length;
  }
  return (int)width;
}

void rs_claims_print(const rs_claims *claims, const rs_claim_result *findings, rs_text *text) {
  char value[NUMBER], difference[NUMBER];
  int width = key_width(claims);
  const listing list = {claims, findings, true};
  rs_text_printf(text, "%-*s  %12s  %12s  %10s  %s\n", width, "", "expected", "reproduced", "difference", "verdict");
  for (size_t i = 0; i < claims->count; i++) {
    const rs_claim *claim = &claims->items[i];
    size_t note = note_number(&list, i);
    format_value(&findings[i], value);
    format_difference(claim, &findings[i], difference);
    size_t line = text->length;
    rs_text_printf(text, "%-*s  %12s  %12s  %10s  ", width, claim->key, or_dash(claim->expected), value, difference);
    put_verdict(text, claim, &findings[i]);
    if (note > 0) rs_text_printf(text, " [%zu]", note);
    rs_text_end_line(text, line);
    if (findings[i].why[0] != '\0') rs_text_line(text, "    %s:%zu: %s", claims->name, claim->line, findings[i].why);
  }
  for (size_t i = 0; i < claims->count; i++)
    if (is_first(&list, i)) rs_text_line(text, "  [%zu] %s", note_number(&list, i), claims->items[i].note);
}

void rs_markdown_cell(rs_text *text, const char *cell) {
  for (; *cell != '\0'; cell++) {
    if (*cell == '|') rs_text_puts(text, "\\");
    rs_text_add(text, cell, 1);
  }
}

static bool any_expected(const rs_claims *claims) {
  for (size_t i = 0; i < claims->count; i++)
    if (claims->items[i].claimed.stated) return true;
  return false;
}

static void put_name(rs_text *text, const listing *list, size_t i) {
  size_t note = note_number(list, i), name = text->length;
  rs_text_puts(text, "| ");
  rs_markdown_cell(text, list->claims->items[i].key);
  if (note > 0) rs_text_printf(text, " (%zu)", note);
  rs_text_spell(text, name, "");
}

static void put_comparison(rs_text *text, const rs_claim *claim, const rs_claim_result *finding) {
  char value[NUMBER], difference[NUMBER];
  size_t line = text->length;
  format_value(finding, value);
  format_difference(claim, finding, difference);
  rs_text_printf(text, " | %s | %s | %s | ", claim->expected, value, difference);
  put_verdict(text, claim, finding);
  rs_text_puts(text, " | ");
  rs_markdown_cell(text, claim->source);
  rs_text_puts(text, " |");
  rs_text_end_line(text, line);
}

static void put_value(rs_text *text, const rs_claim_result *finding) {
  char value[NUMBER];
  format_value(finding, value);
  rs_text_printf(text, " | %s%s |\n", value, finding->held ? "" : " DIFFERS");
}

/* Where nothing is expected there is nothing to compare with. */
void rs_claims_markdown(const rs_claims *claims, const rs_claim_result *findings, rs_text *text) {
  bool compared = any_expected(claims);
  const listing list = {claims, findings, false};
  size_t hidden = 0;
  rs_text_puts(text, compared
                         ? "| | expected | reproduced | difference | verdict | source |\n|---|---|---|---|---|---|\n"
                         : "| | found here |\n|---|---|\n");
  for (size_t i = 0; i < claims->count; i++) {
    hidden += !is_shown(&list, i);
    if (!is_shown(&list, i)) continue;
    put_name(text, &list, i);
    if (compared)
      put_comparison(text, &claims->items[i], &findings[i]);
    else
      put_value(text, &findings[i]);
  }
  for (size_t i = 0; i < claims->count; i++)
    if (is_first(&list, i)) {
      rs_text_puts(text, "\n");
      rs_text_line(text, "(%zu) %s", note_number(&list, i), claims->items[i].note);
    }
  if (hidden > 0)
    rs_text_printf(text, "\n%zu more %s of a whole run (`--full`).\n", hidden,
                   hidden == 1 ? "number is" : "numbers are");
}

void rs_claims_csv(const rs_claims *claims, const rs_claim_result *findings, rs_text *text) {
  static const char *const header[] = {"key", "expected", "reproduced", "origin", "verdict", "held", "source", "note"};
  for (size_t c = 0; c < RS_COUNT(header); c++) rs_csv_text(text, header[c]);
  rs_csv_end_row(text);
  for (size_t i = 0; i < claims->count; i++) {
    const rs_claim *claim = &claims->items[i];
    rs_csv_text(text, claim->key);
    rs_csv_text(text, claim->expected);
    rs_csv_number(text, findings[i].value);
    rs_csv_text(text, rs_origin_words[claim->origin]);
    rs_csv_text(text, verdicts[claim->verdict]);
    rs_csv_text(text, findings[i].left_out ? "not run" : findings[i].held ? "yes" : "no");
    rs_csv_text(text, claim->source);
    rs_csv_text(text, claim->note);
    rs_csv_end_row(text);
  }
}

/* ---- how many came out how --------------------------------------------------------------------------------------- */

/* Whether no refuted claim before it gives the same reason. */
static bool is_new_reason(const rs_claims *claims, size_t claim) {
  for (size_t i = 0; i < claim; i++)
    if (claims->items[i].verdict == RS_REFUTED && strcmp(claims->items[i].note, claims->items[claim].note) == 0)
      return false;
  return claims->items[claim].verdict == RS_REFUTED;
}

void rs_tally_add(rs_tally *tally, const rs_claims *claims, const rs_claim_result *findings) {
  for (size_t i = 0; i < claims->count; i++) {
    const rs_claim *claim = &claims->items[i];
    bool counts = !findings[i].left_out && findings[i].held;
    tally->left_out += findings[i].left_out;
    tally->differ += !findings[i].left_out && !findings[i].held;
    tally->held[claim->origin][claim->verdict] += counts;
    tally->reasons += counts && is_new_reason(claims, i);
  }
}

void rs_tally_print(const rs_tally *tally, rs_text *text) {
  for (int origin = RS_PRINTED; origin <= RS_DERIVED; origin++)
    rs_text_printf(text, "%s: %zu agree, %zu with a definition, %zu refuted, %zu do not appear; ",
                   rs_origin_words[origin], tally->held[origin][RS_AGREES],
                   tally->held[origin][RS_AGREES_WITH_DEFINITION], tally->held[origin][RS_REFUTED],
                   tally->held[origin][RS_DOES_NOT_APPEAR]);
  rs_text_printf(text, "reasons to refute: %zu; code departs from its paper: %zu; found here: %zu; not run: %zu",
                 tally->reasons, tally->held[RS_DEPARTS][RS_NO_VERDICT], tally->held[RS_FOUND][RS_NO_VERDICT],
                 tally->left_out);
}
