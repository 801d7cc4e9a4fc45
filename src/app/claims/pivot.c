/* Many rows of a CSV file as one small table: a line for each word of one column, a number for each question. */
#include "claims.h"

#include "io/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 512, DIGITS = 3 };

/* "found: mean(needle_win_rate) where length_tokens=128k", taken apart. */
typedef struct question {
  char title[WORDS], column[WORDS + 8], where[2 * WORDS];
} question;

typedef struct pivot {
  const rs_pivot_wanted *wanted;
  const rs_table *table;
  question *questions;  /* (wanted->count) */
  rs_line *words;       /* (lines) of the column `wanted->lines` */
  double *numbers;      /* (lines, wanted->count) */
  size_t *order, lines; /* (lines) */
  size_t less;          /* the line that all numbers are less; RS_NO_COUNT: none */
  rs_ranking *rankings; /* (wanted->count) */
} pivot;

/* ---- questions --------------------------------------------------------------------------------------------------- */

static bool copy(const char *begin, size_t length, char out[WORDS]) {
  while (length > 0 && *begin == ' ') begin++, length--;
  while (length > 0 && begin[length - 1] == ' ') length--;
  if (length >= WORDS) return false;
  memcpy(out, begin, length);
  out[length] = '\0';
  return true;
}

/* A plain column is asked for its mean. */
static rs_status read_question(const char *text, const char *common, question *out, rs_err *err) {
  static const char word[] = " where ";
  const char *where = strstr(text, word), *end = where != NULL ? where : text + strlen(text);
  const char *colon = memchr(text, ':', (size_t)(end - text)), *body = colon != NULL ? colon + 1 : text;
  char column[WORDS] = "", condition[WORDS] = "";
  bool read = copy(text, (size_t)((colon != NULL ? colon : end) - text), out->title) &&
              copy(body, (size_t)(end - body), column) &&
              (where == NULL || copy(end + strlen(word), strlen(end + strlen(word)), condition));
  bool reduced = strchr(column, '(') != NULL;
  snprintf(out->column, sizeof out->column, reduced ? "%s" : "mean(%s)", column);
  int size_where = snprintf(out->where, sizeof out->where, "%s; %s", common, condition);
  if (read && *column == '\0') return rs_fail(err, RS_INPUT, "\"%s\" names no column", text);
  read = read && size_where < (int)sizeof out->where;
  return read ? RS_OK : rs_fail(err, RS_INPUT, "\"%.*s...\" is too long", (int)rs_utf8_cut(text, 60), text);
}

/* Columns that are not there are told before anything is read as "no number". What all rows together come to is not
 * asked: a power law that one line has no positive numbers for is fine on the others. */
static rs_status read_questions(pivot *p, rs_err *err) {
  rs_err common = {0};
  if (rs_where_check(p->table, p->wanted->where, &common) != RS_OK)
    return rs_fail(err, common.status, "where: %s", common.message);
  for (size_t i = 0; i < p->wanted->count; i++) {
    rs_err why = {0};
    RS_TRY(read_question(p->wanted->questions[i], p->wanted->where, &p->questions[i], err));
    const question *q = &p->questions[i];
    if (rs_table_select(p->table, q->column, q->where, NULL, NULL, &why) == RS_OK) continue;
    if (why.status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
    return rs_fail(err, RS_INPUT, "%s: %s", p->wanted->questions[i], why.message);
  }
  return RS_OK;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static rs_status read_words(pivot *p, rs_err *err) {
  int column;
  RS_TRY(rs_column_find(p->table, p->wanted->lines, &column, err));
  for (size_t row = 0; row < p->table->rows; row++) {
    const char *word = p->table->fields[row * p->table->columns + (size_t)column];
    size_t i = 0;
    while (i < p->lines && strcmp(p->words[i].word, word) != 0) i++;
    if (i == p->lines) p->words[p->lines++] = (rs_line){(size_t)column, word};
  }
  return RS_OK;
}

static rs_status find_less(pivot *p, rs_err *err) {
  p->less = RS_NO_COUNT;
  for (size_t line = 0; line < p->lines && p->wanted->less != NULL; line++)
    if (strcmp(p->words[line].word, p->wanted->less) == 0) p->less = line;
  if (p->wanted->less == NULL || p->less != RS_NO_COUNT) return RS_OK;
  return rs_fail(err, RS_INPUT, "less: there is no line %s (lines are words of %s)", p->wanted->less, p->wanted->lines);
}

static void subtract_less(pivot *p) {
  size_t count = p->wanted->count;
  for (size_t i = 0; i < count && p->less != RS_NO_COUNT; i++) {
    double less = p->numbers[p->less * count + i];
    for (size_t line = 0; line < p->lines; line++) p->numbers[line * count + i] -= less;
  }
}

static rs_status read_numbers(pivot *p, rs_err *err) {
  for (size_t line = 0; line < p->lines; line++)
    for (size_t i = 0; i < p->wanted->count; i++) {
      const question *q = &p->questions[i];
      double *number = &p->numbers[line * p->wanted->count + i];
      rs_err why = {0};
      *number = NAN; /* where there is none */
      if (rs_table_select(p->table, q->column, q->where, &p->words[line], number, &why) == RS_MEMORY)
        return rs_fail(err, RS_MEMORY, "%s", why.message);
    }
  return RS_OK;
}

static double sort_key(const pivot *p, size_t line) {
  size_t column = (size_t)labs(p->wanted->sort);
  double number = p->numbers[line * p->wanted->count + column - 1];
  return isnan(number) ? INFINITY : p->wanted->sort < 0 ? -number : number;
}

/* Insertion keeps equal lines in the order of the file. */
static void sort_lines(pivot *p) {
  for (size_t i = 0; i < p->lines; i++) {
    size_t place = i;
    for (; place > 0 && p->wanted->sort != 0 && sort_key(p, p->order[place - 1]) > sort_key(p, i); place--)
      p->order[place] = p->order[place - 1];
    p->order[place] = i;
  }
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

/* Of a file called summary.csv; others have no intervals. */
static rs_status read_rankings(pivot *p, const char *file, rs_arena *arena, rs_err *err) {
  static const char summary[] = "summary.csv";
  size_t length = strlen(file), tail = sizeof summary - 1, folder = length > tail ? length - tail : 0;
  char *directory = rs_arena_text(arena, folder > 0 ? file : ".");
  double *means = rs_arena_take(arena, p->lines, sizeof *means);
  p->rankings = rs_arena_take(arena, p->wanted->count, sizeof *p->rankings);
  RS_TRY(rs_arena_check(arena, err));
  if (length < tail || strcmp(file + length - tail, summary) != 0 || (folder > 0 && file[folder - 1] != '/'))
    return RS_OK;
  if (folder > 0) directory[folder] = '\0';
  for (size_t i = 0; i < p->wanted->count; i++) {
    const question *q = &p->questions[i];
    for (size_t line = 0; line < p->lines; line++) means[line] = p->numbers[line * p->wanted->count + i];
    RS_TRY(
        rs_ranking_find(&(rs_ranking_in){p->table, directory, q->column, q->where, p->words, means, p->lines, p->less},
                        arena, &p->rankings[i], err));
  }
  return RS_OK;
}

/* "0.153 [0.142, 0.165]"; who has won is marked. */
static const char *interval_words(const pivot *p, const rs_ranking *ranking, size_t line, double value, rs_doc *row) {
  const rs_interval *interval = &ranking->intervals[line];
  bool markdown = p->wanted->form == RS_PIVOT_MARKDOWN, won = ranking->won && ranking->best == line;
  rs_text words = {0};
  if (isnan(value)) return NULL;
  rs_text_printf(&words, "%s%.*g", !won ? "" : markdown ? "**" : "* ", DIGITS, value);
  if (!isnan(interval->low) && !isnan(interval->high))
    rs_text_printf(&words, " [%.*g, %.*g]", DIGITS, interval->low, DIGITS, interval->high);
  if (won && markdown) rs_text_puts(&words, "**");
  return rs_doc_keep(row, &words);
}

static void put_number(const pivot *p, size_t line, size_t i, rs_doc *row) {
  const char *title = p->questions[i].title;
  const rs_ranking *ranking = &p->rankings[i];
  double value = p->numbers[line * p->wanted->count + i];
  if (!ranking->known) {
    rs_doc_put(row, DOC_NUMBER(title, value));
  } else if (p->wanted->form == RS_PIVOT_JSON) {
    rs_doc *object = rs_doc_add(row, title, RS_DOC_OBJECT);
    rs_doc_put(object, DOC_NUMBER("value", value), DOC_NUMBER("low", ranking->intervals[line].low),
               DOC_NUMBER("high", ranking->intervals[line].high),
               DOC_FLAG("winner", ranking->won && ranking->best == line),
               DOC_FLAG("not_apart", ranking->ranked && !ranking->won && ranking->near[line]));
  } else {
    rs_doc_put(row, DOC_WORDS(title, interval_words(p, ranking, line, value, row)));
  }
}

/* Who cannot be told apart from the best of a column, or why nobody is compared. */
static void put_ranking(const pivot *p, size_t i, rs_text *text) {
  const rs_ranking *ranking = &p->rankings[i];
  const char *title = p->questions[i].title, *comma = "";
  size_t line = text->length;
  if (ranking->known && ranking->differs != NULL)
    rs_text_line(text, "%s: no interval, as rows of a line differ in %s", title, ranking->differs);
  else if (ranking->known && !ranking->blocks)
    rs_text_line(text, "%s: no blocks to compare by, so nobody is marked", title);
  else if (!ranking->known && p->less != RS_NO_COUNT)
    rs_text_line(text, "%s: no intervals, as no blocks of sequences stand beside these rows", title);
  if (!ranking->ranked || ranking->won || ranking->best == SIZE_MAX) return;
  for (size_t k = 0; k < p->lines; k++) {
    if (!ranking->near[p->order[k]]) continue;
    rs_text_printf(text, "%s%s", comma, p->words[p->order[k]].word);
    comma = ", ";
  }
  rs_text_printf(text, ": not apart at %s (95 %%)", title);
  rs_text_end_line(text, line);
}

/* Lines below the table, a paragraph each in Markdown. */
static void put_rankings(const pivot *p, rs_text *text) {
  bool markdown = p->wanted->form == RS_PIVOT_MARKDOWN, won = false;
  rs_text lines = {0};
  for (size_t i = 0; i < p->wanted->count; i++) {
    size_t before = lines.length;
    if (markdown && before > 0) rs_text_puts(&lines, "\n");
    size_t begin = lines.length;
    put_ranking(p, i, &lines);
    if (lines.data != NULL && lines.length == begin) lines.data[lines.length = before] = '\0';
    won |= p->rankings[i].won;
  }
  if (won && markdown && lines.length > 0) rs_text_puts(&lines, "\n");
  if (won)
    rs_text_line(&lines, "%s: apart from all others of its column (95 %%, paired by block)", markdown ? "bold" : "*");
  if (lines.length > 0) rs_text_printf(text, "\n%s", lines.data);
  text->failed |= lines.failed;
  rs_text_clear(&lines);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* A list of objects, a line each; columns (1 + wanted->count). */
static rs_doc *fill(const pivot *p, rs_doc_column *columns, rs_arena *arena) {
  rs_doc *rows = rs_doc_new(arena, RS_DOC_ARRAY);
  columns[0] = (rs_doc_column){.key = p->wanted->lines, .title = p->wanted->lines};
  for (size_t i = 0; i < p->wanted->count; i++)
    columns[1 + i] = (rs_doc_column){.key = p->questions[i].title,
                                     .title = p->questions[i].title,
                                     .none = "-",
                                     .digits = DIGITS,
                                     .right = true,
                                     .marked = p->rankings[i].known};
  for (size_t k = 0; k < p->lines; k++) {
    rs_doc *row = rs_doc_add(rows, NULL, RS_DOC_OBJECT);
    rs_doc_put(row, DOC_WORDS(p->wanted->lines, p->words[p->order[k]].word));
    for (size_t i = 0; i < p->wanted->count; i++) put_number(p, p->order[k], i, row);
  }
  return rows;
}

static rs_status make(pivot *p, const char *file, rs_arena *arena, rs_text *text, rs_err *err) {
  size_t rows = p->table->rows, count = p->wanted->count;
  if ((size_t)labs(p->wanted->sort) > count)
    return rs_fail(err, RS_INPUT, "sort: there are %zu columns of numbers", count);
  p->questions = rs_arena_take(arena, count, sizeof *p->questions);
  p->words = rs_arena_take(arena, rows, sizeof *p->words);
  p->order = rs_arena_take(arena, rows, sizeof *p->order);
  rs_doc_column *columns = rs_arena_take(arena, 1 + count, sizeof *columns);
  RS_TRY(rs_arena_check(arena, err));
  RS_TRY(read_questions(p, err));
  RS_TRY(read_words(p, err));
  RS_TRY(find_less(p, err));
  p->numbers = rs_arena_take(arena, p->lines * count, sizeof *p->numbers);
  RS_TRY(rs_arena_check(arena, err));
  RS_TRY(read_numbers(p, err));
  subtract_less(p);
  RS_TRY(read_rankings(p, file, arena, err));
  sort_lines(p);
  const rs_doc *doc = fill(p, columns, arena);
  RS_TRY(rs_arena_check(arena, err));
  if (p->wanted->form == RS_PIVOT_JSON)
    rs_doc_json(doc, text);
  else if (p->wanted->form == RS_PIVOT_MARKDOWN)
    rs_doc_markdown(doc, columns, 1 + count, text);
  else
    rs_doc_table(doc, columns, 1 + count, 0, text);
  if (p->wanted->form != RS_PIVOT_JSON) put_rankings(p, text);
  return rs_text_check(text, err);
}

rs_status rs_pivot(const char *file, const rs_pivot_wanted *wanted, rs_text *text, rs_err *err) {
  char *csv = NULL;
  size_t length;
  rs_arena arena = {0};
  rs_table *table = NULL;
  pivot p = {.wanted = wanted};
  rs_status status = rs_results_read(file, RS_LARGEST_TABLE, &csv, &length, err);
  if (status == RS_OK) status = rs_csv_read(csv, length, file, &table, err);
  p.table = table;
  if (status == RS_OK) status = make(&p, file, &arena, text, err);
  rs_arena_clear(&arena);
  rs_table_free(table);
  free(csv);
  return status;
}
