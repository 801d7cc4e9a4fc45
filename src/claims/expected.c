/* expected.csv: what was published, and where. */
#include "claims.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 20 }; /* bytes; written by hand */

enum column { KEY, FILE_NAME, COLUMN, WHERE, PUBLISHED, HERE, TOLERANCE, VERDICT, SOURCE, NOTE, COLUMNS };
static const char *const columns[COLUMNS] = {"key",  "file",      "column",  "where",  "published",
                                             "here", "tolerance", "verdict", "source", "note"};
static const char *const words[RS_VERDICTS] = {"agrees", "agrees_with_definition", "refuted"};

const char *rs_verdict_name(rs_verdict verdict) {
  static const char *const names[RS_VERDICTS] = {"agrees", "agrees with a definition", "refuted"};
  return names[verdict];
}

/* The first error of a field, with its place. */
static rs_status refuse(const rs_claims *claims, size_t line, enum column column, const char *why, rs_err *err) {
  return rs_fail(err, RS_INPUT, "%s:%zu: %s: %s", claims->name, line, columns[column], why);
}

static rs_status read_verdict(const rs_claims *claims, const char *word, rs_claim *claim, rs_err *err) {
  for (int v = 0; v < RS_VERDICTS; v++)
    if (strcmp(word, words[v]) == 0) {
      claim->verdict = (rs_verdict)v;
      return RS_OK;
    }
  return refuse(claims, claim->line, VERDICT, "is agrees, agrees_with_definition or refuted", err);
}

/* What a claim must say to be one. */
static rs_status complete(const rs_claims *claims, const rs_claim *claim, rs_err *err) {
  if (*claim->key == '\0') return refuse(claims, claim->line, KEY, "is empty", err);
  if (*claim->file == '\0') return refuse(claims, claim->line, FILE_NAME, "is empty (as in summary)", err);
  if (*claim->source == '\0') return refuse(claims, claim->line, SOURCE, "is empty", err);
  if (claim->here.stated && claim->here.relation != RS_EQUAL)
    return refuse(claims, claim->line, HERE, "is a number, no relation", err);
  if (!claim->claimed.stated && !claim->here.stated)
    return refuse(claims, claim->line, HERE, "is needed where nothing was published", err);
  if (claim->verdict == RS_REFUTED && (!claim->claimed.stated || !claim->here.stated))
    return refuse(claims, claim->line, VERDICT, "refuted needs what was published, and what comes out here", err);
  if (claim->verdict != RS_AGREES && *claim->note == '\0')
    return refuse(claims, claim->line, NOTE, "is needed for this verdict", err);
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
                      .published = fields[PUBLISHED],
                      .source = fields[SOURCE],
                      .note = fields[NOTE],
                      .line = claim->line};
  if (rs_select_check(claim->column, "", &why) != RS_OK) return refuse(claims, claim->line, COLUMN, why.message, err);
  if (rs_select_check(claim->column, claim->where, &why) != RS_OK)
    return refuse(claims, claim->line, WHERE, why.message, err);
  if (rs_bound_read(fields[PUBLISHED], &claim->claimed, &why) != RS_OK)
    return refuse(claims, claim->line, PUBLISHED, why.message, err);
  if (rs_bound_read(fields[HERE], &claim->here, &why) != RS_OK)
    return refuse(claims, claim->line, HERE, why.message, err);
  if (rs_bound_tolerance(fields[TOLERANCE], &claim->claimed, &why) != RS_OK)
    return refuse(claims, claim->line, TOLERANCE, why.message, err);
  RS_TRY(read_verdict(claims, fields[VERDICT], claim, err));
  return complete(claims, claim, err);
}

static rs_status check_header(const rs_claims *claims, const rs_table *table, rs_err *err) {
  bool same = table->columns == COLUMNS;
  for (size_t c = 0; c < COLUMNS && same; c++) same = strcmp(table->header[c], columns[c]) == 0;
  if (same && table->rows > 0) return RS_OK;
  if (same) return rs_fail(err, RS_INPUT, "%s:1: no row follows", claims->name);
  return rs_fail(err, RS_INPUT,
                 "%s:1: the columns are key,file,column,where,published,here,tolerance,verdict,source,note",
                 claims->name);
}

/* Ends of lines that stand in the quoted fields of one row. */
static size_t lines_within(char **fields) {
  size_t lines = 0;
  for (size_t c = 0; c < COLUMNS; c++)
    for (const char *at = fields[c]; (at = strchr(at, '\n')) != NULL; at++) lines++;
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
  rs_claims *made = rs_alloc(1, sizeof *made, err);
  *claims = NULL;
  if (made == NULL) return RS_MEMORY;
  made->name = rs_strdup(file, err);
  rs_status status = made->name != NULL ? read_all(made, err) : RS_MEMORY;
  if (status == RS_OK)
    *claims = made;
  else
    rs_claims_free(made);
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
