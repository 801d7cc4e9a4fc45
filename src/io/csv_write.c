/* csv_write.c: rows of CSV as RFC 4180 has it, with LF. The text itself says where a row begins, so that writers of
 * different columns need to share no state. */
#include <math.h>
#include <string.h>

#include "io/io.h"

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
