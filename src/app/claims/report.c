/* Expected, reproduced, difference: on a terminal, in a page, as CSV. */
#include "claims.h"

#include <math.h>
#include <string.h>

/* Relative: what sums and logarithms in doubles leave of a number that is met exactly, and what need not be told. */
static const double ROUNDING_NOISE = 1e-12, NEXT_TO_NOTHING = 1e-5;

/* Relative where that means something; nothing beside a relation. */
static void put_difference(rs_text *text, const rs_claim *claim, const rs_claim_result *finding) {
  double wanted = claim->claimed.number, difference = finding->value - wanted;
  if (!claim->claimed.stated || claim->claimed.relation != RS_EQUAL || isnan(difference)) return;
  if (fabs(difference) <= ROUNDING_NOISE * fabs(wanted))
    rs_text_puts(text, "0");
  else if (wanted == 0)
    rs_text_printf(text, "%+.2g", difference);
  else if (finding->held && fabs(difference) < NEXT_TO_NOTHING * fabs(wanted))
    rs_text_puts(text, "< 0.001 %");
  else
    rs_text_printf(text, "%+.2g %%", 100 * difference / fabs(wanted));
}

static const char *const verdicts[RS_VERDICTS] = {[RS_NO_VERDICT] = "",
                                                  [RS_AGREES] = "agrees",
                                                  [RS_AGREES_WITH_DEFINITION] = "agrees with a definition",
                                                  [RS_MISSED] = "missed",
                                                  [RS_DOES_NOT_APPEAR] = "does not appear",
                                                  [RS_REFUTED] = "refuted"};

/* "3,279,104". */
static void put_count(rs_text *text, size_t count) {
  if (count >= 1000) put_count(text, count / 1000);
  rs_text_printf(text, count >= 1000 ? ",%03zu" : "%zu", count % 1000);
}

/* "does not appear (103,872 to 107,968 weights, 3 seeds)": where models are small, so is what they say. */
static void put_judgement(rs_text *text, const rs_claim *claim) {
  rs_text_puts(text, verdicts[claim->verdict]);
  if (claim->verdict != RS_DOES_NOT_APPEAR || claim->seeds == 0) return;
  rs_text_puts(text, " (");
  put_count(text, claim->least_weights);
  if (claim->most_weights > claim->least_weights) {
    rs_text_puts(text, " to ");
    put_count(text, claim->most_weights);
  }
  rs_text_printf(text, " weights, %zu %s)", claim->seeds, claim->seeds == 1 ? "seed" : "seeds");
}

static void put_verdict(rs_text *text, const rs_claim *claim, const rs_claim_result *finding) {
  rs_text_puts(text, rs_origin_words[claim->origin]);
  if (claim->origin == RS_FOUND) rs_text_puts(text, " here");
  if (finding->left_out || !finding->held)
    rs_text_puts(text, finding->left_out ? ", not run" : ", DIFFERS");
  else if (claim->verdict != RS_NO_VERDICT) {
    rs_text_puts(text, ", ");
    put_judgement(text, claim);
  }
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

/* The rows that are shown; *hidden: how many are not. Where nothing is expected there is nothing to compare with. */
static rs_doc *rows_of(const listing *list, bool compared, const char *note_form, rs_arena *arena, size_t *hidden) {
  rs_doc *rows = rs_doc_new(arena, RS_DOC_ARRAY);
  *hidden = 0;
  for (size_t i = 0; i < list->claims->count; i++) {
    const rs_claim *claim = &list->claims->items[i];
    const rs_claim_result *finding = &list->findings[i];
    rs_text key = {0}, value = {0}, difference = {0}, verdict = {0};
    size_t note = note_number(list, i);
    *hidden += !is_shown(list, i);
    if (!is_shown(list, i)) continue;
    rs_text_puts(&key, claim->key);
    put_difference(&difference, claim, finding);
    put_verdict(&verdict, claim, finding);
    if (note > 0) rs_text_printf(list->whole ? &verdict : &key, note_form, note);
    if (isnan(finding->value))
      rs_text_puts(&value, finding->left_out ? "(--full)" : "-");
    else
      rs_text_printf(&value, "%.6g%s", finding->value, compared || finding->held ? "" : " DIFFERS");
    rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_WORDS("key", rs_doc_keep(rows, &key)),
               DOC_WORDS("expected", claim->expected), DOC_WORDS("reproduced", rs_doc_keep(rows, &value)),
               DOC_WORDS("difference", rs_doc_keep(rows, &difference)),
               DOC_WORDS("verdict", rs_doc_keep(rows, &verdict)), DOC_WORDS("source", claim->source));
  }
  return rows;
}

static void put_notes(rs_text *text, const listing *list, const char *before, const char *form) {
  for (size_t i = 0; i < list->claims->count; i++) {
    if (!is_first(list, i)) continue;
    rs_text_puts(text, before);
    size_t line = text->length;
    rs_text_printf(text, form, note_number(list, i));
    rs_text_puts(text, list->claims->items[i].note);
    rs_text_end_line(text, line);
  }
}

void rs_claims_print(const rs_claims *claims, const rs_claim_result *findings, rs_text *text) {
  static const rs_doc_column columns[] = {{.key = "key", .title = ""},
                                          {.key = "expected", .title = "expected", .none = "-", .right = true},
                                          {.key = "reproduced", .title = "reproduced", .right = true},
                                          {.key = "difference", .title = "difference", .right = true},
                                          {.key = "verdict", .title = "verdict"}};
  const listing list = {claims, findings, true};
  rs_arena arena = {0};
  size_t hidden;
  rs_doc_table(rows_of(&list, true, " [%zu]", &arena, &hidden), columns, RS_COUNT(columns), 0, text);
  for (size_t i = 0; i < claims->count; i++)
    if (findings[i].why[0] != '\0')
      rs_text_line(text, "    %s:%zu: %s: %s", claims->name, claims->items[i].line, claims->items[i].key,
                   findings[i].why);
  put_notes(text, &list, "", "  [%zu] ");
  text->failed |= arena.failed;
  rs_arena_clear(&arena);
}

void rs_claims_markdown(const rs_claims *claims, const rs_claim_result *findings, rs_text *text) {
  static const rs_doc_column comparison[] = {{.key = "key", .title = ""},
                                             {.key = "expected", .title = "expected"},
                                             {.key = "reproduced", .title = "reproduced"},
                                             {.key = "difference", .title = "difference"},
                                             {.key = "verdict", .title = "verdict"},
                                             {.key = "source", .title = "source"}};
  static const rs_doc_column found[] = {{.key = "key", .title = ""}, {.key = "reproduced", .title = "found here"}};
  const listing list = {claims, findings, false};
  bool compared = false;
  rs_arena arena = {0};
  size_t hidden;
  for (size_t i = 0; i < claims->count; i++) compared |= claims->items[i].claimed.stated;
  const rs_doc *rows = rows_of(&list, compared, " (%zu)", &arena, &hidden);
  rs_doc_markdown(rows, compared ? comparison : found, compared ? RS_COUNT(comparison) : RS_COUNT(found), text);
  put_notes(text, &list, "\n", "(%zu) ");
  if (hidden > 0)
    rs_text_printf(text, "\n%zu more %s of a whole run (`--full`).\n", hidden,
                   hidden == 1 ? "number is" : "numbers are");
  text->failed |= arena.failed;
  rs_arena_clear(&arena);
}

void rs_claims_csv(const rs_claims *claims, const rs_claim_result *findings, rs_text *text) {
  static const rs_doc_column columns[] = {{.key = "key"},    {.key = "expected"}, {.key = "reproduced"},
                                          {.key = "origin"}, {.key = "verdict"},  {.key = "held"},
                                          {.key = "source"}, {.key = "note"}};
  rs_arena arena = {0};
  rs_doc *rows = rs_doc_new(&arena, RS_DOC_ARRAY);
  for (size_t i = 0; i < claims->count; i++) {
    const rs_claim *claim = &claims->items[i];
    rs_text verdict = {0};
    put_judgement(&verdict, claim);
    rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_WORDS("key", claim->key),
               DOC_WORDS("expected", claim->expected), DOC_NUMBER("reproduced", findings[i].value),
               DOC_WORDS("origin", rs_origin_words[claim->origin]), DOC_WORDS("verdict", rs_doc_keep(rows, &verdict)),
               DOC_WORDS("held", findings[i].left_out ? "not run"
                                 : findings[i].held   ? "yes"
                                                      : "no"),
               DOC_WORDS("source", claim->source), DOC_WORDS("note", claim->note));
  }
  rs_doc_csv(rows, columns, RS_COUNT(columns), text);
  text->failed |= arena.failed;
  rs_arena_clear(&arena);
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

/* " 3 agree, 1 with a definition, 2 missed": of the verdicts that there are. */
static void put_verdicts(const size_t held[RS_VERDICTS], rs_text *text) {
  static const char *const words[RS_VERDICTS][2] = {
      [RS_AGREES] = {"agrees", "agree"},
      [RS_AGREES_WITH_DEFINITION] = {"with a definition", "with a definition"},
      [RS_MISSED] = {"missed", "missed"},
      [RS_DOES_NOT_APPEAR] = {"does not appear", "do not appear"},
      [RS_REFUTED] = {"refuted", "refuted"}};
  for (size_t v = RS_AGREES; v < RS_VERDICTS; v++)
    if (v == RS_AGREES || held[v] > 0)
      rs_text_printf(text, "%s%zu %s", v == RS_AGREES ? " " : ", ", held[v], words[v][held[v] != 1]);
}

void rs_tally_print(const rs_tally *tally, rs_text *text) {
  for (int origin = RS_PRINTED; origin <= RS_DERIVED; origin++) {
    rs_text_printf(text, "%s:", rs_origin_words[origin]);
    put_verdicts(tally->held[origin], text);
    rs_text_puts(text, "; ");
  }
  rs_text_printf(text, "reasons to refute: %zu; code departs from its paper: %zu; found here: %zu; not run: %zu",
                 tally->reasons, tally->held[RS_DEPARTS][RS_NO_VERDICT], tally->held[RS_FOUND][RS_NO_VERDICT],
                 tally->left_out);
}
