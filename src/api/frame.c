/* Columns of numbers and words, read from CSV text. */
#include "api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct about {
  const char *unit, *summary; /* borrowed from the words */
  bool numeric, integer;
} about;

struct ropescope_frame {
  rs_table *table;
  about *columns; /* (table->columns,) */
  rs_api_strings words;
};

static const char *field(const ropescope_frame *frame, size_t row, size_t column) {
  return frame->table->fields[row * frame->table->columns + column];
}

static double number_of(const char *text) {
  double value;
  return rs_number_read(text, &value) ? value : NAN;
}

static bool is_numeric(const ropescope_frame *frame, size_t column) {
  double value;
  for (size_t r = 0; r < frame->table->rows; r++) {
    const char *text = field(frame, r, column);
    if (*text != '\0' && !rs_number_read(text, &value)) return false;
  }
  return true;
}

/* Whether every field is an integer that a double holds exactly, so that none is empty. */
static bool is_integer(const ropescope_frame *frame, size_t column) {
  const double exact = 9007199254740992; /* 2^53 */
  for (size_t r = 0; r < frame->table->rows; r++) {
    double value = number_of(field(frame, r, column));
    if (!(fabs(value) <= exact && value == trunc(value))) return false;
  }
  return true;
}

rs_status rs_api_frame_make(const char *csv, size_t length, const char *name, ropescope_frame **frame, rs_err *err) {
  *frame = rs_alloc(1, sizeof **frame, err);
  rs_status status = *frame != NULL ? rs_csv_read(csv, length, name, &(*frame)->table, err) : RS_MEMORY;
  if (status == RS_OK) {
    (*frame)->columns = rs_alloc((*frame)->table->columns, sizeof(about), err);
    status = (*frame)->columns != NULL ? RS_OK : RS_MEMORY;
  }
  for (size_t c = 0; status == RS_OK && c < (*frame)->table->columns; c++)
    (*frame)->columns[c] = (about){.unit = "", .summary = "", .numeric = is_numeric(*frame, c)};
  if (status == RS_OK) return RS_OK;
  rs_api_frame_free(*frame);
  *frame = NULL;
  return status;
}

void rs_api_frame_free(ropescope_frame *frame) {
  if (frame == NULL) return;
  rs_table_free(frame->table);
  free(frame->columns);
  rs_api_strings_clear(&frame->words);
  free(frame);
}

rs_status rs_api_frame_describe(ropescope_frame *frame, const rs_api_column *column, rs_err *err) {
  rs_text words[2] = {{0}, {0}};
  int index = rs_table_column(frame->table, column->name);
  if (index < 0) return RS_OK;
  rs_text_puts(&words[0], rs_api_word(column->unit));
  rs_text_puts(&words[1], rs_api_word(column->summary));
  const char *kept[2] = {rs_api_keep(&frame->words, &words[0], err), rs_api_keep(&frame->words, &words[1], err)};
  if (kept[0] == NULL || kept[1] == NULL) return RS_MEMORY;
  frame->columns[index].unit = kept[0];
  frame->columns[index].summary = kept[1];
  frame->columns[index].integer = column->integer && is_integer(frame, (size_t)index);
  return RS_OK;
}

size_t ropescope_frame_rows(const ropescope_frame *frame) {
  return frame->table->rows;
}

size_t ropescope_frame_columns(const ropescope_frame *frame) {
  return frame->table->columns;
}

const char *ropescope_frame_name(const ropescope_frame *frame, size_t column) {
  return column < frame->table->columns ? frame->table->header[column] : NULL;
}

const char *ropescope_frame_unit(const ropescope_frame *frame, size_t column) {
  return column < frame->table->columns ? frame->columns[column].unit : NULL;
}

const char *ropescope_frame_summary(const ropescope_frame *frame, size_t column) {
  return column < frame->table->columns ? frame->columns[column].summary : NULL;
}

int ropescope_frame_is_numeric(const ropescope_frame *frame, size_t column) {
  return column < frame->table->columns && frame->columns[column].numeric;
}

int ropescope_frame_is_integer(const ropescope_frame *frame, size_t column) {
  return column < frame->table->columns && frame->columns[column].integer;
}

size_t ropescope_frame_find(const ropescope_frame *frame, const char *name) {
  int column = rs_table_column(frame->table, name);
  return column >= 0 ? (size_t)column : SIZE_MAX;
}

const char *ropescope_frame_text(const ropescope_frame *frame, size_t row, size_t column) {
  bool there = row < frame->table->rows && column < frame->table->columns;
  return there ? field(frame, row, column) : NULL;
}

double ropescope_frame_number(const ropescope_frame *frame, size_t row, size_t column) {
  const char *text = ropescope_frame_text(frame, row, column);
  return text != NULL ? number_of(text) : NAN;
}

size_t ropescope_frame_numbers(const ropescope_frame *frame, size_t column, double *out, size_t capacity) {
  size_t rows = frame->table->rows;
  if (column >= frame->table->columns) return 0;
  for (size_t r = 0; r < rows && out != NULL && capacity >= rows; r++) out[r] = number_of(field(frame, r, column));
  return rows;
}

size_t ropescope_frame_integers(const ropescope_frame *frame, size_t column, int64_t *out, size_t capacity) {
  size_t rows = frame->table->rows;
  if (!ropescope_frame_is_integer(frame, column)) return 0;
  for (size_t r = 0; r < rows && out != NULL && capacity >= rows; r++)
    out[r] = (int64_t)number_of(field(frame, r, column));
  return rows;
}
