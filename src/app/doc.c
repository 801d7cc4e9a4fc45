/* What a command has to say, as one tree, and its writers: JSON, and rows as a text table, Markdown or CSV. */
#include "app/app.h"

#include "io/io.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

rs_doc *rs_doc_new(rs_arena *arena, rs_doc_kind kind) {
  rs_doc *doc = rs_arena_take(arena, 1, sizeof *doc);
  if (doc != NULL) *doc = (rs_doc){.kind = kind, .arena = arena};
  return doc;
}

rs_doc *rs_doc_add(rs_doc *in, const char *key, rs_doc_kind kind) {
  rs_doc *doc = in != NULL ? rs_doc_new(in->arena, kind) : NULL;
  if (doc == NULL) return NULL;
  doc->key = key != NULL ? rs_arena_text(in->arena, key) : NULL;
  if (in->last != NULL)
    in->last->next = doc;
  else
    in->first = doc;
  in->last = doc;
  return doc;
}

void rs_doc_fields(rs_doc *in, const rs_doc_field *fields, size_t count) {
  for (size_t i = 0; i < count; i++) {
    bool none = fields[i].kind == RS_DOC_TEXT ? fields[i].text == NULL : !isfinite(fields[i].number);
    rs_doc *doc = rs_doc_add(in, fields[i].key, none ? RS_DOC_NULL : fields[i].kind);
    if (doc == NULL) return;
    doc->number = fields[i].number;
    doc->text = fields[i].text != NULL ? rs_arena_text(in->arena, fields[i].text) : NULL;
  }
}

void rs_doc_param(rs_doc *in, const rs_param *param) {
  rs_doc *doc = rs_doc_add(in, NULL, RS_DOC_PARAM);
  rs_param *copy = doc != NULL ? rs_arena_take(doc->arena, 1, sizeof *copy) : NULL;
  if (copy == NULL) return;
  *copy = *param;
  doc->param = copy;
}

const char *rs_doc_keep(rs_doc *in, rs_text *text) {
  const char *kept = in != NULL ? rs_arena_text(in->arena, rs_text_string(text)) : NULL;
  if (in != NULL) in->arena->failed |= text->failed;
  rs_text_clear(text);
  return kept;
}

const rs_doc *rs_doc_find(const rs_doc *in, const char *key) {
  for (const rs_doc *doc = in != NULL ? in->first : NULL; doc != NULL; doc = doc->next)
    if (doc->key != NULL && strcmp(doc->key, key) == 0) return doc;
  return NULL;
}

const char *rs_doc_text(const rs_doc *in, const char *key) {
  const rs_doc *doc = rs_doc_find(in, key);
  return doc != NULL ? doc->text : NULL;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void write_json(rs_json *json, const rs_doc *doc) {
  switch (doc->kind) {
  case RS_DOC_NULL: rs_json_string(json, doc->key, NULL); return;
  case RS_DOC_TEXT: rs_json_string(json, doc->key, doc->text); return;
  case RS_DOC_NUMBER: rs_json_number(json, doc->key, doc->number); return;
  case RS_DOC_FLAG: rs_json_bool(json, doc->key, doc->number != 0); return;
  case RS_DOC_PARAM: rs_json_param(json, doc->param); return;
  case RS_DOC_OBJECT: rs_json_object(json, doc->key); break;
  case RS_DOC_ARRAY: rs_json_array(json, doc->key); break;
  case RS_DOC_LIST: rs_json_list(json, doc->key); break;
  }
  for (const rs_doc *child = doc->first; child != NULL; child = child->next) write_json(json, child);
  rs_json_end(json);
}

void rs_doc_json(const rs_doc *doc, rs_text *text) {
  rs_json json = {.text = text};
  if (doc == NULL || doc->arena->failed)
    text->failed = true;
  else
    write_json(&json, doc);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

void rs_wrap(rs_text *text, size_t column, size_t indent, size_t width, const char *words) {
  bool begun = false; /* this line has a word of these */
  for (words += strspn(words, " \n"); *words != '\0'; words += strspn(words, " \n")) {
    size_t length = strcspn(words, " \n");
    if (begun && column + 1 + length > width) {
      rs_text_printf(text, "\n%*s", (int)indent, "");
      column = indent;
      begun = false;
    }
    rs_text_printf(text, "%s%.*s", begun ? " " : "", (int)length, words);
    column += length + begun;
    begun = true;
    words += length;
  }
}

void rs_markdown_words(rs_text *text, const char *words) {
  for (; *words != '\0'; words++) {
    if (*words == '|')
      rs_text_puts(text, "\\|");
    else if (*words == '<' &&
             (isalpha((unsigned char)words[1]) || (words[1] != '\0' && strchr("/!?", words[1]) != NULL)))
      rs_text_puts(text, "&lt;");
    else
      rs_text_add(text, words, 1);
  }
}

/* Cell `c` of a row: as a rule it stands there, and columns of one name are told apart by that. */
static const rs_doc *cell_of(const rs_doc *row, const rs_doc_column *columns, size_t c) {
  const rs_doc *cell = row->first;
  for (size_t i = 0; i < c && cell != NULL; i++) cell = cell->next;
  bool there = cell != NULL && cell->key != NULL && strcmp(cell->key, columns[c].key) == 0;
  return there ? cell : rs_doc_find(row, columns[c].key);
}

static bool is_empty(const rs_doc *cell) {
  return cell == NULL || cell->kind == RS_DOC_NULL || (cell->kind == RS_DOC_TEXT && *cell->text == '\0');
}

static void put_cell(rs_text *text, const rs_doc *cell, const rs_doc_column *column) {
  if (is_empty(cell))
    rs_text_puts(text, column->none != NULL ? column->none : "");
  else if (cell->kind == RS_DOC_TEXT)
    rs_text_puts(text, cell->text);
  else if (column->digits == 0)
    rs_text_number(text, cell->number);
  else
    rs_text_printf(text, "%.*g", column->digits, cell->number);
}

/* Characters, as far as a terminal gives each a place. */
static size_t width_of(const char *words) {
  size_t width = 0;
  for (; *words != '\0'; words++) width += (*words & 0xc0) != 0x80;
  return width;
}

/* Columns of numbers are flush right. */
typedef struct layout {
  size_t width;
  bool right;
} layout;

static layout lay_out(const rs_doc *rows, const rs_doc_column *columns, size_t c, rs_text *text) {
  layout l = {width_of(columns[c].title), rows->first != NULL};
  for (const rs_doc *row = rows->first; row != NULL; row = row->next) {
    rs_text words = {0};
    const rs_doc *cell = cell_of(row, columns, c);
    put_cell(&words, cell, &columns[c]);
    size_t width = width_of(rs_text_string(&words));
    l.width = width > l.width ? width : l.width;
    l.right &= is_empty(cell) || cell->kind == RS_DOC_NUMBER || columns[c].right;
    text->failed |= words.failed;
    rs_text_clear(&words);
  }
  return l;
}

/* A line of cells, NULL that of titles. */
static void put_line(rs_text *text, const rs_doc *row, const rs_doc_column *columns, const layout *layouts,
                     size_t count, size_t indent) {
  size_t line = text->length, column = indent;
  rs_text_printf(text, "%*s", (int)indent, "");
  for (size_t c = 0; c < count; c++) {
    rs_text words = {0};
    bool last = c + 1 == count;
    if (row != NULL)
      put_cell(&words, cell_of(row, columns, c), &columns[c]);
    else
      rs_text_puts(&words, columns[c].title);
    rs_text_spell(&words, 0, "");
    size_t pad = layouts[c].width - width_of(rs_text_string(&words));
    if (c > 0) rs_text_puts(text, "  ");
    if (layouts[c].right) rs_text_printf(text, "%*s", (int)pad, "");
    if (last && !layouts[c].right && columns[c].wrapped)
      rs_wrap(text, column, column, RS_DOC_LINE, rs_text_string(&words));
    else
      rs_text_puts(text, rs_text_string(&words));
    if (!layouts[c].right && !last) rs_text_printf(text, "%*s", (int)pad, "");
    column += layouts[c].width + 2;
    text->failed |= words.failed;
    rs_text_clear(&words);
  }
  while (text->length > line && text->data[text->length - 1] == ' ') text->data[--text->length] = '\0';
  rs_text_puts(text, "\n");
}

void rs_doc_table(const rs_doc *rows, const rs_doc_column *columns, size_t count, size_t indent, rs_text *text) {
  layout layouts[RS_DOC_COLUMNS];
  if (rows == NULL || count > RS_DOC_COLUMNS) {
    text->failed = true;
    return;
  }
  for (size_t c = 0; c < count; c++) layouts[c] = lay_out(rows, columns, c, text);
  put_line(text, NULL, columns, layouts, count, indent);
  for (const rs_doc *row = rows->first; row != NULL; row = row->next)
    put_line(text, row, columns, layouts, count, indent);
}

void rs_doc_markdown(const rs_doc *rows, const rs_doc_column *columns, size_t count, rs_text *text) {
  if (rows == NULL) {
    text->failed = true;
    return;
  }
  size_t line = text->length;
  rs_text_puts(text, "|");
  for (size_t c = 0; c < count; c++) {
    rs_text_puts(text, " ");
    rs_markdown_words(text, columns[c].title);
    rs_text_puts(text, *columns[c].title != '\0' ? " |" : "|");
  }
  rs_text_end_line(text, line);
  rs_text_puts(text, "|");
  for (size_t c = 0; c < count; c++) rs_text_puts(text, "---|");
  rs_text_puts(text, "\n");
  for (const rs_doc *row = rows->first; row != NULL; row = row->next) {
    line = text->length;
    rs_text_puts(text, "|");
    for (size_t c = 0; c < count; c++) {
      rs_text words = {0};
      const rs_doc *cell = cell_of(row, columns, c);
      bool code = columns[c].code && !is_empty(cell);
      put_cell(&words, cell, &columns[c]);
      rs_text_puts(text, code ? " `" : " ");
      if (columns[c].marked)
        rs_text_puts(text, rs_text_string(&words));
      else
        rs_markdown_words(text, rs_text_string(&words));
      rs_text_puts(text, code ? "` |" : " |");
      text->failed |= words.failed;
      rs_text_clear(&words);
    }
    rs_text_end_line(text, line);
  }
}

void rs_doc_csv(const rs_doc *rows, const rs_doc_column *columns, size_t count, rs_text *csv) {
  for (size_t c = 0; c < count; c++) rs_csv_text(csv, columns[c].title != NULL ? columns[c].title : columns[c].key);
  rs_csv_end_row(csv);
  for (const rs_doc *row = rows != NULL ? rows->first : NULL; row != NULL; row = row->next) {
    for (size_t c = 0; c < count; c++) {
      const rs_doc *cell = cell_of(row, columns, c);
      if (cell != NULL && cell->kind == RS_DOC_NUMBER)
        rs_csv_number(csv, cell->number);
      else
        rs_csv_text(csv, cell != NULL && cell->kind == RS_DOC_TEXT ? cell->text : "");
    }
    rs_csv_end_row(csv);
  }
  csv->failed |= rows == NULL;
}
