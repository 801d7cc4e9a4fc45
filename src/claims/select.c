/* One number out of a CSV file: rows by conditions, then a column or a reduction of one. */
#include "claims.h"

#include <ctype.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rows that were selected: of each, y and, for reductions of two columns, x. */
typedef struct sample {
  double *y, *x;      /* (count), owned; rows without a number left out */
  const char **group; /* (count) words of the third column, borrowed; the array is owned */
  size_t count, rows; /* with a value; all that were selected */
} sample;

typedef struct reduction {
  const char *name;
  size_t columns;
  bool counts_rows; /* has a value where no row has one */
  bool groups;      /* may take one more column: rows with the same word there are one, of their means */
  rs_status (*reduce)(const sample *s, double *value, rs_err *err);
} reduction;

/* ---- reductions -------------------------------------------------------------------------------------------------- */

static rs_status the_row(const sample *s, double *value, rs_err *err) {
  if (s->rows != 1) return rs_fail(err, RS_INPUT, "%zu rows are selected, not one", s->rows);
  *value = s->y[0];
  return RS_OK;
}

static rs_status mean(const sample *s, double *value, rs_err *err) {
  (void)err;
  *value = gsl_stats_mean(s->y, 1, s->count);
  return RS_OK;
}

static rs_status least(const sample *s, double *value, rs_err *err) {
  (void)err;
  *value = gsl_stats_min(s->y, 1, s->count);
  return RS_OK;
}

static rs_status largest(const sample *s, double *value, rs_err *err) {
  (void)err;
  *value = gsl_stats_max(s->y, 1, s->count);
  return RS_OK;
}

static rs_status median(const sample *s, double *value, rs_err *err) {
  (void)err;
  gsl_sort(s->y, 1, s->count);
  *value = gsl_stats_median_from_sorted_data(s->y, 1, s->count);
  return RS_OK;
}

static rs_status sum(const sample *s, double *value, rs_err *err) {
  (void)err;
  *value = gsl_stats_mean(s->y, 1, s->count) * (double)s->count;
  return RS_OK;
}

static rs_status count(const sample *s, double *value, rs_err *err) {
  (void)err;
  *value = (double)s->count;
  return RS_OK;
}

static rs_status missing(const sample *s, double *value, rs_err *err) {
  (void)err;
  *value = (double)(s->rows - s->count);
  return RS_OK;
}

static rs_status at_min(const sample *s, double *value, rs_err *err) {
  (void)err;
  *value = s->x[gsl_stats_min_index(s->y, 1, s->count)];
  return RS_OK;
}

static rs_status at_max(const sample *s, double *value, rs_err *err) {
  (void)err;
  *value = s->x[gsl_stats_max_index(s->y, 1, s->count)];
  return RS_OK;
}

/* ln y = intercept + slope ln x. */
static rs_status fit_logs(const sample *s, double *intercept, double *slope, rs_err *err) {
  double variance[3], squares;
  if (s->count < 2) return rs_fail(err, RS_INPUT, "a power law needs two rows, and %zu have a value", s->count);
  for (size_t i = 0; i < s->count; i++) {
    if (!(s->x[i] > 0) || !(s->y[i] > 0)) return rs_fail(err, RS_INPUT, "a power law needs positive numbers");
    s->x[i] = log(s->x[i]);
    s->y[i] = log(s->y[i]);
  }
  gsl_fit_linear(s->x, 1, s->y, 1, s->count, intercept, slope, &variance[0], &variance[1], &variance[2], &squares);
  return RS_OK;
}

static rs_status exponent(const sample *s, double *value, rs_err *err) {
  double intercept;
  return fit_logs(s, &intercept, value, err);
}

static rs_status coefficient(const sample *s, double *value, rs_err *err) {
  double intercept, slope;
  RS_TRY(fit_logs(s, &intercept, &slope, err));
  *value = exp(intercept);
  return RS_OK;
}

static rs_status spearman(const sample *s, double *value, rs_err *err) {
  return rs_rank_correlation(s->y, s->x, s->count, value, err);
}

static rs_status spearman_p(const sample *s, double *value, rs_err *err) {
  return rs_rank_correlation_p(s->y, s->x, s->count, value, err);
}

static const reduction reductions[] = {{"mean", 1, false, false, mean},
                                       {"min", 1, false, false, least},
                                       {"max", 1, false, false, largest},
                                       {"median", 1, false, false, median},
                                       {"sum", 1, false, false, sum},
                                       {"count", 1, true, false, count},
                                       {"missing", 1, true, false, missing},
                                       {"at_min", 2, false, false, at_min},
                                       {"at_max", 2, false, false, at_max},
                                       {"exponent", 2, false, false, exponent},
                                       {"coefficient", 2, false, false, coefficient},
                                       {"spearman", 2, false, true, spearman},
                                       {"spearman_p", 2, false, true, spearman_p}};
static const reduction single = {"", 1, false, false, the_row};

/* ---- reading what is wanted -------------------------------------------------------------------------------------- */

enum { NAME = 96, CONDITIONS = 16, COLUMNS = 3 };

typedef struct wanted {
  const reduction *how;
  char columns[COLUMNS][NAME];
  size_t count; /* of columns */
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

static rs_status unknown_reduction(const char *name, rs_err *err) {
  const char *names[RS_COUNT(reductions)];
  rs_text list = {0};
  for (size_t i = 0; i < RS_COUNT(reductions); i++) {
    names[i] = reductions[i].name;
    rs_text_printf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
  }
  const char *near = rs_suggest(name, names, RS_COUNT(names));
  rs_status status = near != NULL
                         ? rs_fail(err, RS_INPUT, "no reduction %s (did you mean %s)", name, near)
                         : rs_fail(err, RS_INPUT, "no reduction %s (there are %s)", name, rs_text_string(&list));
  rs_text_clear(&list);
  return status;
}

/* "y; x" of what stands in [begin, end), as many as there are; false where one is empty or there are too many. */
static bool read_columns(const char *begin, const char *end, wanted *out) {
  for (out->count = 0;; begin++) {
    const char *stop = memchr(begin, ';', (size_t)(end - begin));
    if (out->count == COLUMNS) return false;
    if (!copy_trimmed(begin, stop != NULL ? stop : end, out->columns[out->count++])) return false;
    if (stop == NULL) return true;
    begin = stop;
  }
}

static const char *columns_taken(const reduction *how) {
  if (how->groups) return "two columns or three: (y; x), (y; x; one by whose words rows are joined)";
  return how->columns == 1 ? "one column" : "two columns: (y; x)";
}

/* "mean(entropy_nats)", "at_min(y; x)", "spearman(y; x; method)", "entropy_nats". */
static rs_status read_wanted(const char *text, wanted *out, rs_err *err) {
  const char *bracket = strchr(text, '('), *end = text + strlen(text);
  char name[NAME];
  *out = (wanted){.how = &single, .count = 1};
  if (bracket == NULL)
    return copy_trimmed(text, end, out->columns[0]) ? RS_OK : rs_fail(err, RS_INPUT, "\"%s\" names no column", text);
  if (!copy_trimmed(text, bracket, name) || end[-1] != ')')
    return rs_fail(err, RS_INPUT, "\"%s\" is no reduction of a column (as in mean(entropy_nats))", text);
  out->how = NULL;
  for (size_t i = 0; i < RS_COUNT(reductions); i++)
    if (strcmp(reductions[i].name, name) == 0) out->how = &reductions[i];
  if (out->how == NULL) return unknown_reduction(name, err);
  size_t least_count = out->how->columns, most_count = least_count + out->how->groups;
  bool read = read_columns(bracket + 1, end - 1, out) && out->count >= least_count && out->count <= most_count;
  return read ? RS_OK : rs_fail(err, RS_INPUT, "%s takes %s", name, columns_taken(out->how));
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
  return !ordered && rs_relation_holds(c->relation, strcmp(field, c->value));
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

static void gather(const rs_table *table, const wanted *what, const condition *conditions, size_t number,
                   const rs_line *line, const places *found, sample *out) {
  for (size_t row = 0; row < table->rows; row++) {
    char **fields = table->fields + row * table->columns;
    bool kept = line == NULL || strcmp(fields[line->column], line->word) == 0;
    for (size_t i = 0; i < number && kept; i++) kept = keeps(&conditions[i], fields[found->conditions[i]]);
    if (!kept) continue;
    out->rows++;
    const char *field = fields[found->columns[0]];
    bool valued = what->how->counts_rows ? *field != '\0' : rs_number_read(field, &out->y[out->count]);
    if (valued && what->count > 1) valued = rs_number_read(fields[found->columns[1]], &out->x[out->count]);
    if (what->count > 2) out->group[out->count] = fields[found->columns[2]];
    out->count += valued;
  }
}

/* Rows of one group become one, of their means, where the first of them stood. */
static void join_groups(sample *s) {
  size_t joined = 0;
  for (size_t i = 0; i < s->count; i++) {
    double y = 0, x = 0, members = 0;
    bool earlier = false;
    for (size_t k = 0; k < joined && !earlier; k++) earlier = strcmp(s->group[k], s->group[i]) == 0;
    if (earlier) continue;
    for (size_t k = i; k < s->count; k++) {
      if (strcmp(s->group[k], s->group[i]) != 0) continue;
      y += s->y[k];
      x += s->x[k];
      members++;
    }
    s->y[joined] = y / members;
    s->x[joined] = x / members;
    s->group[joined++] = s->group[i];
  }
  s->count = joined;
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
  sample s = {.y = rs_alloc(table->rows, sizeof *s.y, err),
              .x = rs_alloc(table->rows, sizeof *s.x, err),
              .group = rs_alloc(table->rows, sizeof *s.group, err)};
  rs_status status = s.y != NULL && s.x != NULL && s.group != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) gather(table, &what, conditions, number, line, &found, &s);
  if (status == RS_OK && s.rows == 0) status = no_row(table, conditions, number, &found, err);
  if (status == RS_OK && s.count == 0 && !what.how->counts_rows)
    status = rs_fail(err, RS_INPUT, "no selected row has a number there");
  if (status == RS_OK && what.count > what.how->columns) join_groups(&s);
  if (status == RS_OK && value != NULL) status = what.how->reduce(&s, value, err);
  free(s.y);
  free(s.x);
  free(s.group);
  return status;
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
