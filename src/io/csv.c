/* csv.c: CSV (RFC 4180). The reader takes LF or CRLF, copies the text once and unquotes its fields in place, for a
 * field never grows. It is strict: a file that is cut off or was edited by hand must be told, not misread. The writer
 * ends rows with LF; the text itself says where a row begins, so that writers of different columns need to share no
 * state. */
#include "io/io.h"
#include "io_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct csv_reader {
  const char *name;
  char *cursor; /* what is left, up to a NUL */
  size_t line;
  char **cells; /* header and fields, row by row. Owned. */
  size_t count, capacity;
  rs_err *err;
} csv_reader;

static rs_status add_cell(csv_reader *in, char *field) {
  RS_TRY(RS_GROW(in->cells, &in->capacity, in->count + 1, in->err));
  in->cells[in->count++] = field;
  return RS_OK;
}

/* Length of the line end at `cursor`: 0 where there is none. */
static size_t line_end(const char *cursor) {
  if (*cursor == '\n') return 1;
  return cursor[0] == '\r' && cursor[1] == '\n' ? 2 : 0;
}

static rs_status take_plain(csv_reader *in, char **tail) {
  while (*in->cursor != '\0' && *in->cursor != ',' && line_end(in->cursor) == 0) {
    if (*in->cursor == '"')
      return rs_fail(in->err, RS_INPUT, "%s:%zu: a quote within a field (quote the whole field and double the quote)",
                     in->name, in->line);
    in->cursor++;
  }
  *tail = in->cursor;
  return RS_OK;
}

static rs_status take_quoted(csv_reader *in, char **tail) {
  size_t opened = in->line;
  char *to = ++in->cursor;
  while (*in->cursor != '\0') {
    if (*in->cursor == '"' && in->cursor[1] != '"') {
      in->cursor++;
      *tail = to;
      return RS_OK;
    }
    if (*in->cursor == '"') in->cursor++;
    if (*in->cursor == '\n') in->line++;
    *to++ = *in->cursor++;
  }
  return rs_fail(in->err, RS_INPUT, "%s:%zu: a quote is opened and never closed (is the file cut off?)", in->name,
                 opened);
}

/* Steps over what ends the field, then ends its text at `tail`, which may be that very byte. */
static rs_status end_field(csv_reader *in, char *tail, bool *row_ends) {
  size_t newline = line_end(in->cursor);
  *row_ends = newline > 0 || *in->cursor == '\0';
  if (!*row_ends && *in->cursor != ',')
    return rs_fail(in->err, RS_INPUT, "%s:%zu: text after a closing quote (a comma is missing)", in->name, in->line);
  if (newline > 0) in->line++;
  in->cursor += *row_ends ? newline : 1;
  *tail = '\0';
  return RS_OK;
}

static rs_status take_field(csv_reader *in, bool *row_ends) {
  char *field = in->cursor, *tail = field;
  if (*in->cursor == '"') {
    field++;
    RS_TRY(take_quoted(in, &tail));
  } else {
    RS_TRY(take_plain(in, &tail));
  }
  RS_TRY(end_field(in, tail, row_ends));
  return add_cell(in, field);
}

static rs_status take_row(csv_reader *in, size_t *columns) {
  size_t before = in->count, line = in->line;
  for (bool row_ends = false; !row_ends;) RS_TRY(take_field(in, &row_ends));
  size_t fields = in->count - before;
  if (before == 0) *columns = fields;
  if (fields == *columns) return RS_OK;
  return rs_fail(in->err, RS_INPUT, "%s:%zu: %zu field%s where the header has %zu", in->name, line, fields,
                 fields == 1 ? "" : "s", *columns);
}

static rs_status check_text(const char *text, size_t length, const char *name, rs_err *err) {
  if (length == 0) return rs_fail(err, RS_INPUT, "%s:1: the file is empty (a header row is needed)", name);
  const char *nul = memchr(text, '\0', length);
  if (!nul) return RS_OK;
  size_t line, column;
  rs_io_position(text, (size_t)(nul - text), &line, &column);
  return rs_fail(err, RS_INPUT, "%s:%zu: a NUL byte (this is no CSV text)", name, line);
}

static rs_status take_rows(csv_reader *in, rs_table *table) {
  do RS_TRY(take_row(in, &table->columns));
  while (*in->cursor != '\0');
  return RS_OK;
}

rs_status rs_csv_read(const char *text, size_t length, const char *name, rs_table **table, rs_err *err) {
  *table = NULL;
  rs_io_skip_bom(&text, &length);
  RS_TRY(check_text(text, length, name, err));
  rs_status status = RS_MEMORY;
  csv_reader in = {.name = name, .line = 1, .err = err};
  rs_table *parsed = rs_alloc(1, sizeof *parsed, err);
  if (!parsed) goto out;
  parsed->storage = rs_alloc(length + 1, 1, err);
  if (!parsed->storage) goto out;
  memcpy(parsed->storage, text, length);
  in.cursor = parsed->storage;
  status = take_rows(&in, parsed);
  parsed->header = in.cells;
  if (status != RS_OK) goto out;
  parsed->fields = in.cells + parsed->columns;
  parsed->rows = in.count / parsed->columns - 1;
  *table = parsed;
out:
  if (status != RS_OK) rs_table_free(parsed);
  return status;
}

void rs_table_free(rs_table *table) {
  if (!table) return;
  free(table->header); /* `fields` is the rest of this block */
  free(table->storage);
  free(table);
}

int rs_table_column(const rs_table *table, const char *name) {
  for (size_t i = 0; i < table->columns; i++) {
    if (strcmp(table->header[i], name) == 0) return (int)i;
  }
  return -1;
}

const char *rs_table_field(const rs_table *table, size_t row, const char *column) {
  int place = rs_table_column(table, column);
  return place >= 0 ? table->fields[row * table->columns + (size_t)place] : "";
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A row ends with a bare newline, and a field never does: one that holds a newline ends with its quote. */
static bool at_row_start(const rs_text *csv) {
  return csv->length == 0 || csv->data[csv->length - 1] == '\n';
}

static void add_quoted(rs_text *csv, const char *field) {
  rs_text_puts(csv, "\"");
  for (const char *quote; (quote = strchr(field, '"')); field = quote + 1) {
    rs_text_add(csv, field, (size_t)(quote - field));
    rs_text_puts(csv, "\"\"");
  }
  rs_text_puts(csv, field);
  rs_text_puts(csv, "\"");
}

/* Whether a spreadsheet would read the text as a formula: it begins like one, and is no number. */
static bool is_formula(const char *field) {
  double number;
  return field[0] != '\0' && strchr("=+-@", field[0]) != NULL && !rs_number_read(field, &number);
}

static bool must_quote(const char *field) {
  bool marked = strncmp(field, "\xef\xbb\xbf", 3) == 0; /* would be a mark of the file where it comes first */
  return marked || field[strcspn(field, ",\"\r\n")] != '\0' || is_formula(field);
}

void rs_csv_text(rs_text *csv, const char *field) {
  bool first = at_row_start(csv);
  if (!first) rs_text_puts(csv, ",");
  /* An empty first field gets quotes: else the next one would take itself for the first. */
  bool quote = field[0] == '\0' ? first : must_quote(field);
  if (quote)
    add_quoted(csv, field);
  else
    rs_text_puts(csv, field);
}

void rs_csv_number(rs_text *csv, double value) {
  char number[RS_NUMBER_CHARS] = "";
  if (!isnan(value)) rs_number_format(value, number);
  rs_csv_text(csv, number);
}

void rs_csv_end_row(rs_text *csv) {
  rs_text_puts(csv, "\n");
}
