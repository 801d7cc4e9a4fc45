/* expected.csv: which numbers are expected, and who says so. */
#include "claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 20 }; /* bytes; written by hand */

enum column { KEY, FILE_NAME, COLUMN, WHERE, EXPECTED, HERE, TOLERANCE, ORIGIN, VERDICT, SOURCE, NOTE, COLUMNS };
static const char *const columns[COLUMNS] = {"key",       "file",   "column",  "where",  "expected", "here",
                                             "tolerance", "origin", "verdict", "source", "note"};
const char *const rs_origin_words[RS_ORIGINS] = {
    [RS_PRINTED] = "printed", [RS_ORDER] = "order",     [RS_STATED] = "stated",
    [RS_DERIVED] = "derived", [RS_DEPARTS] = "departs", [RS_FOUND] = "found"};
static const char *const verdicts[RS_VERDICTS] = {"",       "agrees",          "agrees_with_definition",
                                                  "missed", "does_not_appear", "refuted"};

/* The verdicts that an origin goes with: a number is missed, an order or a statement does not appear. */
static const bool goes_with[RS_ORIGINS][RS_VERDICTS] = {
    [RS_PRINTED] = {[RS_AGREES] = true, [RS_AGREES_WITH_DEFINITION] = true, [RS_MISSED] = true, [RS_REFUTED] = true},
    [RS_ORDER] =
        {[RS_AGREES] = true, [RS_AGREES_WITH_DEFINITION] = true, [RS_DOES_NOT_APPEAR] = true, [RS_REFUTED] = true},
    [RS_STATED] =
        {[RS_AGREES] = true, [RS_AGREES_WITH_DEFINITION] = true, [RS_DOES_NOT_APPEAR] = true, [RS_REFUTED] = true},
    [RS_DERIVED] = {[RS_AGREES] = true, [RS_AGREES_WITH_DEFINITION] = true, [RS_REFUTED] = true},
    [RS_DEPARTS] = {[RS_NO_VERDICT] = true},
    [RS_FOUND] = {[RS_NO_VERDICT] = true}};

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

/* "agrees, agrees_with_definition, missed or refuted for printed". */
static rs_status refuse_verdict(const rs_claims *claims, const rs_claim *claim, rs_err *err) {
  rs_text why = {0};
  size_t last = RS_VERDICTS;
  for (size_t v = 0; v < RS_VERDICTS; v++)
    if (goes_with[claim->origin][v]) last = v;
  for (size_t v = 0; v <= last; v++) {
    if (!goes_with[claim->origin][v]) continue;
    if (why.length > 0) rs_text_puts(&why, v == last ? " or " : ", ");
    rs_text_puts(&why, last == RS_NO_VERDICT ? "empty" : verdicts[v]);
  }
  rs_status status = rs_text_check(&why, err);
  if (status == RS_OK)
    status = rs_fail(err, RS_INPUT, "%s:%zu: verdict: is %s where the origin is %s", claims->name, claim->line,
                     rs_text_string(&why), rs_origin_words[claim->origin]);
  rs_text_clear(&why);
  return status;
}

static rs_status read_words(const rs_claims *claims, char **fields, rs_claim *claim, rs_err *err) {
  size_t origin = find_word(fields[ORIGIN], rs_origin_words, RS_ORIGINS);
  size_t verdict = find_word(fields[VERDICT], verdicts, RS_VERDICTS);
  if (origin == RS_ORIGINS)
    return refuse(claims, claim->line, ORIGIN, "is printed, order, stated, derived, departs or found", err);
  claim->origin = (rs_origin)origin;
  if (verdict == RS_VERDICTS || !goes_with[origin][verdict]) return refuse_verdict(claims, claim, err);
  claim->verdict = (rs_verdict)verdict;
  return RS_OK;
}

bool rs_claim_contradicts(const rs_claim *claim) {
  return claim->origin == RS_DEPARTS || claim->verdict >= RS_MISSED;
}

static bool is_sign(const rs_bound *bound) {
  return bound->number == 0 && (bound->relation == RS_ABOVE || bound->relation == RS_BELOW);
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
  if (claim->origin == RS_PRINTED && is_sign(&claim->claimed))
    return refuse(claims, claim->line, EXPECTED, "is a sign, no number: its origin is order, or stated", err);
  if ((claim->origin == RS_FOUND || contradicts) && !claim->here.stated)
    return refuse(claims, claim->line, HERE, "is empty: what does the run come to?", err);
  if ((contradicts || claim->verdict == RS_AGREES_WITH_DEFINITION) && claim->verdict != RS_DOES_NOT_APPEAR &&
      *claim->note == '\0')
    return refuse(claims, claim->line, NOTE, "is empty: why, or by which definition?", err);
  return RS_OK;
}

/* ---- what stands in the source, too ------------------------------------------------------------------------------ */

/* A row whose expected number is edited must not pass for the old one. Where the run cannot tell (a relation, a number
 * that it does not come to, a wide tolerance, a digit that allows a tenth of itself), the source repeats the number. */

static bool is_of_number(char c) {
  return (c >= '0' && c <= '9') || c == '.';
}

/* Whether words end with the name of a place, "table ". */
static bool is_place(const char *begin, const char *end) {
  static const char *const words[] = {"table ", "tables ", "figure ", "section ", "eq. ", "footnote ", "theorem "};
  for (size_t i = 0; i < RS_COUNT(words); i++) {
    size_t length = strlen(words[i]);
    if ((size_t)(end - begin) >= length && memcmp(end - length, words[i], length) == 0) return true;
  }
  return false;
}

/* Whether `source` holds this very number, not within a longer one, nor as that of a table. A point may end a sentence.
 */
static bool is_quoted(const char *source, const char *number) {
  size_t length = strlen(number);
  for (const char *at = source; length > 0 && (at = strstr(at, number)) != NULL; at++) {
    const char *end = at + length;
    bool begins = at == source || !(is_of_number(at[-1]) || (at[-1] == '-' && number[0] != '-'));
    bool ends = !is_of_number(*end) || (*end == '.' && !is_of_number(end[1]));
    if (begins && ends && !is_place(source, at)) return true;
  }
  return false;
}

/* The number that ends before `end`, or begins at `text`. */
static bool read_number_before(const char *source, const char *end, double *number) {
  const char *begin = end;
  while (begin > source && begin[-1] != ' ') begin--;
  char word[32];
  size_t length = (size_t)(end - begin);
  if (length == 0 || length >= sizeof word) return false;
  memcpy(word, begin, length);
  word[length] = '\0';
  return rs_quantity_read(word, number);
}

/* "132.41 less 31.58 at 2512 tokens": the sign of the difference, 0 where there is none. */
static int printed_sign(const char *source) {
  static const char less[] = " less ";
  double first, second;
  for (const char *at = source; (at = strstr(at, less)) != NULL; at++) {
    const char *rest = at + sizeof less - 1;
    size_t length = strcspn(rest, " ,;:)");
    if (!read_number_before(source, at, &first) || !read_number_before(rest, rest + length, &second)) continue;
    return (first > second) - (first < second);
  }
  return 0;
}

static rs_status check_order(const rs_claims *claims, const rs_claim *claim, rs_err *err) {
  int sign = printed_sign(claim->source);
  if (!is_sign(&claim->claimed))
    return refuse(claims, claim->line, EXPECTED, "is >0 or <0: an order is the sign of a difference", err);
  if (sign == 0)
    return refuse(claims, claim->line, SOURCE, "says which printed numbers differ (as in 31.58 less 20.41)", err);
  if (sign != (claim->claimed.relation == RS_ABOVE ? 1 : -1))
    return refuse(claims, claim->line, EXPECTED, "has another sign than the difference that the source prints", err);
  return RS_OK;
}

/* `rounding`: the tolerance that the digits of the number leave. */
static rs_status check_source(const rs_claims *claims, const rs_claim *claim, double rounding, rs_err *err) {
  if (claim->origin == RS_FOUND) {
    if (*claim->source == '\0') return RS_OK;
    return refuse(claims, claim->line, SOURCE, "is empty for what was found: what somebody says has another origin",
                  err);
  }
  if (*claim->source == '\0') return refuse(claims, claim->line, SOURCE, "is empty", err);
  if (claim->origin == RS_ORDER) return check_order(claims, claim, err);
  if (claim->origin == RS_STATED && is_sign(&claim->claimed)) return RS_OK; /* another sign is another result */
  double tolerance = claim->claimed.tolerance, most = fmin(rounding, fabs(claim->claimed.number) / 10);
  bool told = claim->claimed.relation == RS_EQUAL && !rs_claim_contradicts(claim) && tolerance <= most;
  if (told && claim->origin == RS_DERIVED) return RS_OK;
  if (is_quoted(claim->source, claim->expected + strspn(claim->expected, "<>=! "))) return RS_OK;
  return refuse(claims, claim->line, SOURCE, "repeats the number that is expected, word for word", err);
}

/* What a claim must say to be one. */
static rs_status complete(const rs_claims *claims, const rs_claim *claim, double rounding, rs_err *err) {
  if (*claim->key == '\0') return refuse(claims, claim->line, KEY, "is empty", err);
  if (*claim->file == '\0') return refuse(claims, claim->line, FILE_NAME, "is empty (as in summary)", err);
  RS_TRY(check_numbers(claims, claim, err));
  RS_TRY(check_source(claims, claim, rounding, err));
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
  RS_TRY(read_words(claims, fields, claim, err));
  double rounding = claim->claimed.tolerance;
  rs_bound *judged = claim->claimed.stated && !rs_claim_contradicts(claim) ? &claim->claimed : &claim->here;
  if (rs_bound_tolerance(fields[TOLERANCE], judged, &why) != RS_OK)
    return refuse(claims, claim->line, TOLERANCE, why.message, err);
  return complete(claims, claim, rounding, err);
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
