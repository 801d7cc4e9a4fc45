/* Columns of numbers and words, read from CSV text or made of numbers. */
#include "api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct about {
  const char *name, *unit, *summary; /* borrowed from the words or the table */
  bool numeric, integer;
} about;

struct ropescope_frame {
  rs_table *table; /* of CSV text, which the fields are of; NULL: `numbers` are what they say */
  double *numbers; /* (rows * count) */
  const char *const *fields;
  char *storage;
  about *columns; /* (count,) */
  size_t count, capacity, rows;
  rs_api_strings words;
};

static const char *field(const ropescope_frame *frame, size_t row, size_t column) {
  return frame->fields[row * frame->count + column];
}

static double number_of(const ropescope_frame *frame, size_t row, size_t column) {
  double value;
  if (frame->numbers != NULL) return frame->numbers[row * frame->count + column];
  return rs_number_read(field(frame, row, column), &value) ? value : NAN;
}

static bool is_numeric(const ropescope_frame *frame, size_t column) {
  double value;
  for (size_t r = 0; r < frame->rows; r++) {
    const char *text = field(frame, r, column);
    if (*text != '\0' && !rs_number_read(text, &value)) return false;
  }
  return true;
}

/* Whether every field is an integer that a double holds exactly, so that none is empty. */
static bool is_integer(const ropescope_frame *frame, size_t column) {
  const double exact = 9007199254740992; /* 2^53 */
  for (size_t r = 0; r < frame->rows; r++) {
    double value = number_of(frame, r, column);
    if (!(fabs(value) <= exact && value == trunc(value))) return false;
  }
  return true;
}

static rs_status read_csv(ropescope_frame *frame, const char *csv, size_t length, const char *name, rs_err *err) {
  RS_TRY(rs_csv_read(csv, length, name, &frame->table, err));
  frame->columns = rs_alloc(frame->table->columns, sizeof *frame->columns, err);
  if (frame->columns == NULL) return RS_MEMORY;
  frame->fields = (const char *const *)frame->table->fields;
  frame->count = frame->table->columns;
  frame->rows = frame->table->rows;
  for (size_t c = 0; c < frame->count; c++)
    frame->columns[c] = (about){frame->table->header[c], "", "", .numeric = is_numeric(frame, c)};
  return RS_OK;
}

rs_status rs_api_frame_make(const char *csv, size_t length, const char *name, ropescope_frame **frame, rs_err *err) {
  RS_TRY(rs_api_frame_begin(frame, err));
  rs_status status = read_csv(*frame, csv, length, name, err);
  if (status == RS_OK) return RS_OK;
  rs_api_frame_free(*frame);
  *frame = NULL;
  return status;
}

rs_status rs_api_frame_begin(ropescope_frame **frame, rs_err *err) {
  *frame = rs_alloc(1, sizeof **frame, err);
  return *frame != NULL ? RS_OK : RS_MEMORY;
}

rs_status rs_api_frame_add(ropescope_frame *frame, const rs_api_column *column, rs_err *err) {
  rs_text name = {0};
  rs_text_puts(&name, column->name);
  const char *kept = rs_api_keep(&frame->words, &name, err);
  if (kept == NULL) return RS_MEMORY;
  RS_TRY(RS_GROW(frame->columns, &frame->capacity, frame->count + 1, err));
  frame->columns[frame->count++] = (about){kept, "", "", .numeric = true};
  return RS_OK;
}

rs_status rs_api_frame_fill(ropescope_frame *frame, const double *numbers, size_t rows, rs_err *err) {
  size_t cells = rows * frame->count;
  const char **fields = rs_alloc(cells, sizeof *fields, err);
  frame->fields = fields;
  frame->numbers = rs_alloc(cells, sizeof *frame->numbers, err);
  frame->storage = rs_alloc(cells, RS_NUMBER_CHARS, err);
  if (fields == NULL || frame->numbers == NULL || frame->storage == NULL) return RS_MEMORY;
  frame->rows = rows;
  for (size_t i = 0; i < cells; i++) {
    char *text = frame->storage + i * RS_NUMBER_CHARS;
    if (!isnan(numbers[i])) rs_number_format(numbers[i], text); /* else empty */
    fields[i] = text;
    frame->numbers[i] = numbers[i];
  }
  return RS_OK;
}

void rs_api_frame_free(ropescope_frame *frame) {
  if (frame == NULL) return;
  if (frame->table == NULL) free((void *)frame->fields);
  rs_table_free(frame->table);
  free(frame->numbers);
  free(frame->storage);
  free(frame->columns);
  rs_api_strings_clear(&frame->words);
  free(frame);
}

rs_status rs_api_frame_describe(ropescope_frame *frame, const rs_api_column *column, rs_err *err) {
  rs_text words[2] = {{0}, {0}};
  size_t index = ropescope_frame_find(frame, column->name);
  if (index == SIZE_MAX) return RS_OK;
  rs_text_puts(&words[0], rs_api_word(column->unit));
  rs_text_puts(&words[1], rs_api_word(column->summary));
  const char *kept[2] = {rs_api_keep(&frame->words, &words[0], err), rs_api_keep(&frame->words, &words[1], err)};
  if (kept[0] == NULL || kept[1] == NULL) return RS_MEMORY;
  frame->columns[index].unit = kept[0];
  frame->columns[index].summary = kept[1];
  frame->columns[index].integer = column->integer && is_integer(frame, index);
  return RS_OK;
}

size_t ropescope_frame_rows(const ropescope_frame *frame) {
  return frame->rows;
}

size_t ropescope_frame_columns(const ropescope_frame *frame) {
  return frame->count;
}

const char *ropescope_frame_name(const ropescope_frame *frame, size_t column) {
  return column < frame->count ? frame->columns[column].name : NULL;
}

const char *ropescope_frame_unit(const ropescope_frame *frame, size_t column) {
  return column < frame->count ? frame->columns[column].unit : NULL;
}

const char *ropescope_frame_summary(const ropescope_frame *frame, size_t column) {
  return column < frame->count ? frame->columns[column].summary : NULL;
}

int ropescope_frame_is_numeric(const ropescope_frame *frame, size_t column) {
  return column < frame->count && frame->columns[column].numeric;
}

int ropescope_frame_is_integer(const ropescope_frame *frame, size_t column) {
  return column < frame->count && frame->columns[column].integer;
}

size_t ropescope_frame_find(const ropescope_frame *frame, const char *name) {
  for (size_t c = 0; c < frame->count; c++)
    if (strcmp(frame->columns[c].name, name) == 0) return c;
  return SIZE_MAX;
}

const char *ropescope_frame_text(const ropescope_frame *frame, size_t row, size_t column) {
  bool there = row < frame->rows && column < frame->count;
  return there ? field(frame, row, column) : NULL;
}

double ropescope_frame_number(const ropescope_frame *frame, size_t row, size_t column) {
  return row < frame->rows && column < frame->count ? number_of(frame, row, column) : NAN;
}

size_t ropescope_frame_numbers(const ropescope_frame *frame, size_t column, double *out, size_t capacity) {
  size_t rows = frame->rows;
  if (column >= frame->count) return 0;
  for (size_t r = 0; r < rows && out != NULL && capacity >= rows; r++) out[r] = number_of(frame, r, column);
  return rows;
}

size_t ropescope_frame_integers(const ropescope_frame *frame, size_t column, int64_t *out, size_t capacity) {
  size_t rows = frame->rows;
  if (!ropescope_frame_is_integer(frame, column)) return 0;
  for (size_t r = 0; r < rows && out != NULL && capacity >= rows; r++) out[r] = (int64_t)number_of(frame, r, column);
  return rows;
}
