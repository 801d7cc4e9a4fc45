/* Numbers as people print them, and one number out of a CSV file: rows by conditions, then a column or a reduction of
 * one. */
#include "claims.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- bounds: "4.3e3" says 4300, give or take 50 ------------------------------------------------------------------ */

/* Rounding moves a number by half a unit of its last digit; the rest is for one that sits at the edge and falls to the
 * other side on another machine. Whole numbers stay exact. */
static const double ROUNDING = 0.6;

bool rs_quantity_read(const char *text, double *value) {
  rs_param count = {.name = "", .type = RS_INTEGER, .min = -INFINITY, .max = INFINITY};
  rs_value parsed;
  if (rs_number_read(text, value) && isfinite(*value)) return true;
  if (rs_value_parse(&count, text, &parsed, NULL) != RS_OK) return false;
  *value = parsed.number;
  return true;
}

rs_relation rs_relation_read(const char *text, size_t *length) {
  static const struct {
    const char *word;
    rs_relation relation;
  } words[] = {{"!=", RS_UNEQUAL}, {"<=", RS_AT_MOST}, {">=", RS_AT_LEAST},
               {"<", RS_BELOW},    {">", RS_ABOVE},    {"=", RS_EQUAL}}; /* the longer ones first */
  for (size_t i = 0; i < RS_COUNT(words); i++) {
    *length = strlen(words[i].word);
    if (strncmp(text, words[i].word, *length) == 0) return words[i].relation;
  }
  *length = 0;
  return RS_EQUAL;
}

bool rs_relation_holds(rs_relation relation, double order) {
  switch (relation) {
  case RS_EQUAL: return order == 0;
  case RS_UNEQUAL: return order != 0;
  case RS_BELOW: return order < 0;
  case RS_AT_MOST: return order <= 0;
  case RS_ABOVE: return order > 0;
  case RS_AT_LEAST: return order >= 0;
  }
  return false;
}

/* One in the last digit written: 100 for "4.3e3", 1 for "9937", .01 for "0.25". */
static double last_digit(const char *text) {
  const char *exponent = strpbrk(text, "eE"), *point = strchr(text, '.');
  long power = exponent != NULL ? strtol(exponent + 1, NULL, 10) : 0;
  for (const char *p = point != NULL ? point + 1 : ""; isdigit((unsigned char)*p); p++) power--;
  return pow(10, (double)power);
}

rs_status rs_bound_read(const char *text, rs_bound *bound, rs_err *err) {
  double plain;
  size_t length;
  *bound = (rs_bound){.relation = rs_relation_read(text, &length)};
  if (*text == '\0') return RS_OK;
  text += length + strspn(text + length, " ");
  if (!rs_quantity_read(text, &bound->number))
    return rs_fail(err, RS_INPUT, "%s is no number (as in 4.3e3, 8k or <=0.434)", text);
  bound->stated = true;
  if (bound->relation == RS_EQUAL && rs_number_read(text, &plain)) bound->tolerance = ROUNDING * last_digit(text);
  return RS_OK;
}

rs_status rs_bound_tolerance(const char *text, rs_bound *bound, rs_err *err) {
  double tolerance;
  char number[RS_NUMBER_CHARS];
  size_t length = strlen(text);
  if (length == 0) return RS_OK;
  if (!bound->stated || bound->relation != RS_EQUAL)
    return rs_fail(err, RS_INPUT, "a tolerance needs an expected number, and a relation has none");
  bool relative = text[length - 1] == '%';
  if (relative) length--;
  if (length >= sizeof number) length = sizeof number - 1;
  memcpy(number, text, length);
  number[length] = '\0';
  if (!rs_number_read(number, &tolerance) || !(tolerance >= 0) || isinf(tolerance))
    return rs_fail(err, RS_INPUT, "%s is no tolerance (as in 0.01, or 1%% of the expected number)", text);
  bound->tolerance = relative ? tolerance / 100 * fabs(bound->number) : tolerance;
  return RS_OK;
}

bool rs_bound_holds(const rs_bound *bound, double value) {
  if (isnan(value)) return false;
  if (bound->relation == RS_EQUAL) return fabs(value - bound->number) <= bound->tolerance;
  return rs_relation_holds(bound->relation, value - bound->number);
}

/* ---- reading what is wanted -------------------------------------------------------------------------------------- */

enum { NAME = RS_SELECT_NAME, CONDITIONS = 16, COLUMNS = 3 };

typedef struct wanted {
  const rs_reduction *how;
  char columns[COLUMNS][NAME];
  size_t count; /* of columns */
  double level;
} wanted;

typedef struct condition {
  char column[NAME], value[NAME];
  rs_relation relation;
  const char *text; /* as it was written, `length` bytes */
  int length;
} condition;

/* Copies [begin, end) without the blanks around it; false when nothing is left or it is too long. */
static bool copy_trimmed(const char *begin, const char *end, char out[NAME]) {
  while (begin < end && isspace((unsigned char)*begin)) begin++;
  while (end > begin && isspace((unsigned char)end[-1])) end--;
  if (begin == end || end - begin >= NAME) return false;
  memcpy(out, begin, (size_t)(end - begin));
  out[end - begin] = '\0';
  return true;
}

/* "y", "y; x", "y; x; 0.5", "y; x; method": what stands in [begin, end), as the reduction takes them. */
static bool read_arguments(const char *begin, const char *end, wanted *out) {
  const rs_reduction *how = out->how;
  size_t count = 0;
  for (const char *stop; begin <= end; begin = stop + 1) {
    stop = memchr(begin, ';', (size_t)(end - begin));
    if (stop == NULL) stop = end;
    if (count == COLUMNS || !copy_trimmed(begin, stop, out->columns[count++])) return false;
  }
  bool levelled = how->more == RS_MORE_LEVEL;
  if (levelled && (count != how->columns + 1 || !rs_quantity_read(out->columns[how->columns], &out->level)))
    return false;
  out->count = levelled ? how->columns : count;
  return out->count == how->columns || (how->more == RS_MORE_GROUP && out->count == how->columns + 1);
}

/* "mean(entropy_nats)", "at_min(y; x)", "spearman(y; x; method)", "entropy_nats". */
static rs_status read_wanted(const char *text, wanted *out, rs_err *err) {
  const char *bracket = strchr(text, '('), *end = text + strlen(text);
  char name[NAME];
  *out = (wanted){.count = 1};
  if (bracket == NULL) {
    RS_TRY(rs_reduction_find(NULL, &out->how, err));
    return copy_trimmed(text, end, out->columns[0]) ? RS_OK : rs_fail(err, RS_INPUT, "\"%s\" names no column", text);
  }
  if (!copy_trimmed(text, bracket, name) || end[-1] != ')')
    return rs_fail(err, RS_INPUT, "\"%s\" is no reduction of a column (as in mean(entropy_nats))", text);
  RS_TRY(rs_reduction_find(name, &out->how, err));
  if (read_arguments(bracket + 1, end - 1, out)) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s takes %s", name, rs_reduction_takes(out->how));
}

static rs_status read_condition(const char *begin, const char *end, condition *out, rs_err *err) {
  const char *sign = begin;
  size_t length = 0;
  out->text = begin;
  out->length = (int)(end - begin);
  while (sign < end && strchr("=!<>", *sign) == NULL) sign++;
  if (sign < end) out->relation = rs_relation_read(sign, &length);
  if (length == 0 || !copy_trimmed(begin, sign, out->column))
    return rs_fail(err, RS_INPUT, "\"%.*s\" is no condition (as in method=yarn)", out->length, begin);
  if (!copy_trimmed(sign + length, end, out->value))
    return rs_fail(err, RS_INPUT, "\"%.*s\" has no value, or a very long one (as in method=yarn)", out->length, begin);
  return RS_OK;
}

/* ---- sides: "A less B" is A's number less B's -------------------------------------------------------------------- */

static const char less[] = " less ";

/* What follows the first side of `where`, or NULL. */
static const char *other_side(const char *where) {
  const char *word = strstr(where, less);
  return word != NULL ? word + sizeof less - 1 : NULL;
}

/* Conditions of the first side, joined by ';'; empty ones count for nothing. */
static rs_status read_where(const char *text, condition out[CONDITIONS], size_t *number, rs_err *err) {
  const char *word = strstr(text, less), *stop = word != NULL ? word : text + strlen(text);
  *number = 0;
  for (const char *begin = text; begin < stop;) {
    const char *end = memchr(begin, ';', (size_t)(stop - begin));
    if (end == NULL) end = stop;
    while (begin < end && *begin == ' ') begin++;
    if (*number == CONDITIONS) return rs_fail(err, RS_INPUT, "more than %d conditions", CONDITIONS);
    if (begin < end) RS_TRY(read_condition(begin, end, &out[(*number)++], err));
    begin = end < stop ? end + 1 : stop;
  }
  return RS_OK;
}

static rs_status check_sides(const char *where, rs_err *err) {
  const char *other = other_side(where);
  if (other != NULL && other_side(other) != NULL) return rs_fail(err, RS_INPUT, "there is more than one \"less\"");
  return RS_OK;
}

rs_status rs_select_check(const char *column, const char *where, rs_err *err) {
  wanted what;
  condition conditions[CONDITIONS];
  size_t number;
  RS_TRY(read_wanted(column, &what, err));
  RS_TRY(check_sides(where, err));
  for (const char *side = where; side != NULL; side = other_side(side))
    RS_TRY(read_where(side, conditions, &number, err));
  return RS_OK;
}

/* ---- selecting --------------------------------------------------------------------------------------------------- */

/* "cell, model, ...", as many as a message has room for. */
static void list_columns(const rs_table *table, rs_text *list) {
  enum { ROOM = 600 };
  for (size_t c = 0; c < table->columns; c++) {
    bool full = list->length + strlen(table->header[c]) > ROOM;
    rs_text_printf(list, "%s%s", c > 0 ? ", " : "", full ? "..." : table->header[c]);
    if (full) return;
  }
}

rs_status rs_column_find(const rs_table *table, const char *name, int *column, rs_err *err) {
  *column = rs_table_column(table, name);
  if (*column >= 0) return RS_OK;
  rs_text list = {0};
  const char *near = rs_suggest(name, (const char *const *)table->header, table->columns);
  if (near == NULL) list_columns(table, &list);
  rs_status status = near != NULL ? rs_fail(err, RS_INPUT, "no column %s (did you mean %s?)", name, near)
                                  : rs_fail(err, RS_INPUT, "no column %s (there are %s)", name, rs_text_string(&list));
  rs_text_clear(&list);
  return status;
}

rs_status rs_where_check(const rs_table *table, const char *where, rs_err *err) {
  condition conditions[CONDITIONS];
  size_t number;
  int column;
  RS_TRY(check_sides(where, err));
  for (const char *side = where; side != NULL; side = other_side(side)) {
    RS_TRY(read_where(side, conditions, &number, err));
    for (size_t i = 0; i < number; i++) RS_TRY(rs_column_find(table, conditions[i].column, &column, err));
  }
  return RS_OK;
}

static bool keeps(const condition *c, const char *field) {
  double a, b;
  if (rs_number_read(field, &a) && rs_quantity_read(c->value, &b)) return rs_relation_holds(c->relation, a - b);
  bool ordered = c->relation != RS_EQUAL && c->relation != RS_UNEQUAL;
  return !ordered && rs_relation_holds(c->relation, (double)strcmp(field, c->value));
}

/* The columns of what is wanted and of the conditions. */
typedef struct places {
  int columns[COLUMNS], conditions[CONDITIONS];
} places;

static rs_status find_places(const rs_table *table, const wanted *what, const condition *conditions, size_t number,
                             places *found, rs_err *err) {
  *found = (places){0};
  for (size_t i = 0; i < what->count; i++) RS_TRY(rs_column_find(table, what->columns[i], &found->columns[i], err));
  for (size_t i = 0; i < number; i++) RS_TRY(rs_column_find(table, conditions[i].column, &found->conditions[i], err));
  return RS_OK;
}

static bool is_selected(char *const *fields, const condition *conditions, size_t number, const rs_line *line,
                        const places *found) {
  bool kept = line == NULL || strcmp(fields[line->column], line->word) == 0;
  for (size_t i = 0; i < number && kept; i++) kept = keeps(&conditions[i], fields[found->conditions[i]]);
  return kept;
}

static void gather(const rs_table *table, const wanted *what, const condition *conditions, size_t number,
                   const rs_line *line, const places *found, rs_sample *out) {
  out->level = what->level;
  out->grouped = what->count > what->how->columns;
  for (size_t row = 0; row < table->rows; row++) {
    char **fields = table->fields + row * table->columns;
    if (!is_selected(fields, conditions, number, line, found)) continue;
    out->rows++;
    const char *field = fields[found->columns[0]];
    bool valued = what->how->counts_rows ? *field != '\0' : rs_number_read(field, &out->y[out->count]);
    if (valued && what->count > 1) valued = rs_number_read(fields[found->columns[1]], &out->x[out->count]);
    if (out->grouped) out->group[out->count] = fields[found->columns[what->how->columns]];
    out->count += valued;
  }
}

/* Names the first condition that no row meets. */
static rs_status no_row(const rs_table *table, const condition *conditions, size_t number, const places *found,
                        rs_err *err) {
  for (size_t i = 0; i < number; i++) {
    bool met = false;
    for (size_t row = 0; row < table->rows && !met; row++)
      met = keeps(&conditions[i], table->fields[row * table->columns + (size_t)found->conditions[i]]);
    if (!met)
      return rs_fail(err, RS_INPUT, "no row is selected: none has %.*s", conditions[i].length, conditions[i].text);
  }
  return rs_fail(err, RS_INPUT, "no row is selected%s", number > 1 ? ": none meets all conditions" : "");
}

/* By the conditions of the first side of `where`. */
static rs_status select_side(const rs_table *table, const char *column, const char *where, const rs_line *line,
                             double *value, rs_err *err) {
  wanted what;
  condition conditions[CONDITIONS];
  size_t number;
  places found;
  RS_TRY(read_wanted(column, &what, err));
  RS_TRY(read_where(where, conditions, &number, err));
  RS_TRY(find_places(table, &what, conditions, number, &found, err));
  rs_sample sample;
  rs_status status = rs_sample_make(table->rows, &sample, err);
  if (status == RS_OK) gather(table, &what, conditions, number, line, &found, &sample);
  if (status == RS_OK && sample.rows == 0) status = no_row(table, conditions, number, &found, err);
  if (status == RS_OK) status = rs_sample_reduce(&sample, what.how, value, err);
  rs_sample_clear(&sample);
  return status;
}

rs_status rs_table_rows(const rs_table *table, const char *column, const char *where, const rs_line *line, size_t *rows,
                        size_t *count, char name[RS_SELECT_NAME], rs_err *err) {
  wanted what;
  condition conditions[CONDITIONS];
  size_t number;
  places found;
  double value;
  *count = 0;
  *name = '\0';
  if (other_side(where) != NULL) return RS_OK;
  RS_TRY(read_wanted(column, &what, err));
  if (what.how->name == NULL || strcmp(what.how->name, "mean") != 0) return RS_OK;
  RS_TRY(read_where(where, conditions, &number, err));
  RS_TRY(find_places(table, &what, conditions, number, &found, err));
  memcpy(name, what.columns[0], sizeof what.columns[0]);
  for (size_t row = 0; row < table->rows; row++) {
    char **fields = table->fields + row * table->columns;
    if (is_selected(fields, conditions, number, line, &found) && rs_number_read(fields[found.columns[0]], &value))
      rows[(*count)++] = row;
  }
  return RS_OK;
}

rs_status rs_table_select(const rs_table *table, const char *column, const char *where, const rs_line *line,
                          double *value, rs_err *err) {
  const char *other = other_side(where);
  double second = 0;
  RS_TRY(check_sides(where, err));
  RS_TRY(select_side(table, column, where, line, value, err));
  if (other != NULL) RS_TRY(select_side(table, column, other, line, value != NULL ? &second : NULL, err));
  if (value != NULL) *value -= second;
  return RS_OK;
}
