/* expected.csv: which numbers are expected, and who says so. */
#include "claims.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 20 }; /* bytes; written by hand */

enum column { KEY, FILE_NAME, COLUMN, WHERE, EXPECTED, HERE, TOLERANCE, ORIGIN, VERDICT, SOURCE, NOTE, COLUMNS };
static const char *const columns[COLUMNS] = {"key",       "file",   "column",  "where",  "expected", "here",
                                             "tolerance", "origin", "verdict", "source", "note"};
const char *const rs_origin_words[RS_ORIGINS] = {
    [RS_PRINTED] = "printed", [RS_DERIVED] = "derived", [RS_DEPARTS] = "departs", [RS_FOUND] = "found"};
static const char *const verdicts[RS_VERDICTS] = {"", "agrees", "agrees_with_definition", "refuted", "does_not_appear"};

/* The first error of a field, with its place. */
static rs_status refuse(const rs_claims *claims, size_t line, enum column column, const char *why, rs_err *err) {
  return rs_fail(err, RS_INPUT, "%s:%zu: %s: %s", claims->name, line, columns[column], why);
}

/* The place of a word in a list; `count` where it is not there. */
static size_t find_word(const char *word, const char *const *words, size_t count) {
  size_t place = 0;
  while (place < count && strcmp(word, words[place]) != 0) place++;
  return place;
}

static rs_status read_words(const rs_claims *claims, char **fields, rs_claim *claim, rs_err *err) {
  size_t origin = find_word(fields[ORIGIN], rs_origin_words, RS_ORIGINS);
  size_t verdict = find_word(fields[VERDICT], verdicts, RS_VERDICTS);
  if (origin == RS_ORIGINS) return refuse(claims, claim->line, ORIGIN, "is printed, derived, departs or found", err);
  bool judged = origin == RS_PRINTED || origin == RS_DERIVED;
  if (judged && (verdict == RS_VERDICTS || verdict == RS_NO_VERDICT))
    return refuse(claims, claim->line, VERDICT, "is agrees, agrees_with_definition, refuted or does_not_appear", err);
  if (!judged && verdict != RS_NO_VERDICT)
    return refuse(claims, claim->line, VERDICT, "is for what is printed or derived; leave it empty", err);
  claim->origin = (rs_origin)origin;
  claim->verdict = (rs_verdict)verdict;
  return RS_OK;
}

bool rs_claim_contradicts(const rs_claim *claim) {
  return claim->origin == RS_DEPARTS || claim->verdict == RS_REFUTED || claim->verdict == RS_DOES_NOT_APPEAR;
}

/* The numbers that an origin and a verdict go with. */
static rs_status check_numbers(const rs_claims *claims, const rs_claim *claim, rs_err *err) {
  bool contradicts = rs_claim_contradicts(claim);
  if (claim->here.stated && claim->here.relation != RS_EQUAL)
    return refuse(claims, claim->line, HERE, "is a number, no relation", err);
  if (claim->origin == RS_FOUND && claim->claimed.stated)
    return refuse(claims, claim->line, EXPECTED, "is empty for what was found: nobody expected it", err);
  if (claim->origin != RS_FOUND && !claim->claimed.stated)
    return refuse(claims, claim->line, EXPECTED, "is empty (found is the origin of a number of our own)", err);
  if ((claim->origin == RS_FOUND || contradicts) && !claim->here.stated)
    return refuse(claims, claim->line, HERE, "is empty: what does the run come to?", err);
  if ((contradicts || claim->verdict == RS_AGREES_WITH_DEFINITION) && *claim->note == '\0')
    return refuse(claims, claim->line, NOTE, "is empty: why, by which definition, or in which models?", err);
  return RS_OK;
}

/* What a claim must say to be one. */
static rs_status complete(const rs_claims *claims, const rs_claim *claim, rs_err *err) {
  if (*claim->key == '\0') return refuse(claims, claim->line, KEY, "is empty", err);
  if (*claim->file == '\0') return refuse(claims, claim->line, FILE_NAME, "is empty (as in summary)", err);
  if (claim->origin != RS_FOUND && *claim->source == '\0') return refuse(claims, claim->line, SOURCE, "is empty", err);
  RS_TRY(check_numbers(claims, claim, err));
  for (const rs_claim *other = claims->items; other < claim; other++)
    if (strcmp(other->key, claim->key) == 0) return refuse(claims, claim->line, KEY, "is there twice", err);
  return RS_OK;
}

static rs_status read_row(const rs_claims *claims, char **fields, rs_claim *claim, rs_err *err) {
  rs_err why = {0};
  *claim = (rs_claim){.key = fields[KEY],
                      .file = fields[FILE_NAME],
                      .column = fields[COLUMN],
                      .where = fields[WHERE],
                      .expected = fields[EXPECTED],
                      .source = fields[SOURCE],
                      .note = fields[NOTE],
                      .line = claim->line};
  if (rs_select_check(claim->column, "", &why) != RS_OK) return refuse(claims, claim->line, COLUMN, why.message, err);
  if (rs_select_check(claim->column, claim->where, &why) != RS_OK)
    return refuse(claims, claim->line, WHERE, why.message, err);
  if (rs_bound_read(fields[EXPECTED], &claim->claimed, &why) != RS_OK)
    return refuse(claims, claim->line, EXPECTED, why.message, err);
  if (rs_bound_read(fields[HERE], &claim->here, &why) != RS_OK)
    return refuse(claims, claim->line, HERE, why.message, err);
  rs_bound *judged = claim->claimed.stated ? &claim->claimed : &claim->here;
  if (rs_bound_tolerance(fields[TOLERANCE], judged, &why) != RS_OK)
    return refuse(claims, claim->line, TOLERANCE, why.message, err);
  RS_TRY(read_words(claims, fields, claim, err));
  return complete(claims, claim, err);
}

static rs_status check_header(const rs_claims *claims, const rs_table *table, rs_err *err) {
  bool same = table->columns == COLUMNS;
  for (size_t c = 0; c < COLUMNS && same; c++) same = strcmp(table->header[c], columns[c]) == 0;
  if (same && table->rows > 0) return RS_OK;
  if (same) return rs_fail(err, RS_INPUT, "%s:1: no row follows", claims->name);
  return rs_fail(err, RS_INPUT,
                 "%s:1: the columns are key,file,column,where,expected,here,tolerance,origin,verdict,source,note",
                 claims->name);
}

/* Ends of lines that stand in the quoted fields of one row. */
static size_t lines_within(char **fields) {
  size_t lines = 0;
  for (size_t c = 0; c < COLUMNS; c++)
    for (const char *end = fields[c]; (end = strchr(end, '\n')) != NULL; end++) lines++;
  return lines;
}

static rs_status read_all(rs_claims *claims, rs_err *err) {
  size_t length;
  rs_table *table;
  RS_TRY(rs_file_read(claims->name, LARGEST, &claims->text, &length, err));
  RS_TRY(rs_csv_read(claims->text, length, claims->name, &table, err));
  claims->table = table;
  RS_TRY(check_header(claims, table, err));
  claims->items = rs_alloc(table->rows, sizeof *claims->items, err);
  if (claims->items == NULL) return RS_MEMORY;
  for (size_t line = 2; claims->count < table->rows; claims->count++) {
    char **fields = table->fields + claims->count * table->columns;
    claims->items[claims->count].line = line;
    RS_TRY(read_row(claims, fields, &claims->items[claims->count], err));
    line += 1 + lines_within(fields);
  }
  return RS_OK;
}

rs_status rs_claims_read(const char *file, rs_claims **claims, rs_err *err) {
  rs_claims *read = rs_alloc(1, sizeof *read, err);
  *claims = NULL;
  if (read == NULL) return RS_MEMORY;
  read->name = rs_strdup(file, err);
  rs_status status = read->name != NULL ? read_all(read, err) : RS_MEMORY;
  if (status == RS_OK)
    *claims = read;
  else
    rs_claims_free(read);
  return status;
}

void rs_claims_free(rs_claims *claims) {
  if (claims == NULL) return;
  rs_table_free(claims->table);
  free(claims->items);
  free(claims->text);
  free(claims->name);
  free(claims);
}
