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
  double *numbers; /* (rows * count), as the fields and all words of the arena */
  const char *const *fields;
  about *columns; /* (count,) */
  size_t count, capacity, rows;
  rs_arena words;
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
  RS_TRY(RS_GROW(frame->columns, &frame->capacity, frame->count + 1, err));
  frame->columns[frame->count++] = (about){rs_arena_text(&frame->words, column->name), "", "", .numeric = true};
  return rs_arena_check(&frame->words, err);
}

rs_status rs_api_frame_fill(ropescope_frame *frame, const double *numbers, size_t rows, rs_err *err) {
  size_t cells = rows * frame->count;
  const char **fields = rs_arena_take(&frame->words, cells, sizeof *fields);
  char *text = rs_arena_take(&frame->words, cells, RS_NUMBER_CHARS);
  frame->fields = fields;
  frame->numbers = rs_arena_take(&frame->words, cells, sizeof *frame->numbers);
  RS_TRY(rs_arena_check(&frame->words, err));
  frame->rows = rows;
  for (size_t i = 0; i < cells; i++, text += RS_NUMBER_CHARS) {
    if (!isnan(numbers[i])) rs_number_format(numbers[i], text); /* else empty */
    fields[i] = text;
    frame->numbers[i] = numbers[i];
  }
  return RS_OK;
}

void rs_api_frame_free(ropescope_frame *frame) {
  if (frame == NULL) return;
  rs_table_free(frame->table);
  free(frame->columns);
  rs_arena_clear(&frame->words);
  free(frame);
}

rs_status rs_api_frame_describe(ropescope_frame *frame, const rs_api_column *column, rs_err *err) {
  size_t index = ropescope_frame_find(frame, column->name);
  if (index == SIZE_MAX) return RS_OK;
  about *described = &frame->columns[index];
  described->unit = rs_arena_text(&frame->words, rs_api_word(column->unit));
  described->summary = rs_arena_text(&frame->words, rs_api_word(column->summary));
  described->integer = column->integer && is_integer(frame, index);
  return rs_arena_check(&frame->words, err);
}

RS_API_GET(size_t, ropescope_frame_rows, frame, frame->rows);
RS_API_GET(size_t, ropescope_frame_columns, frame, frame->count);
RS_API_AT(const char *, ropescope_frame_name, frame, frame->count, frame->columns[index].name);
RS_API_AT(const char *, ropescope_frame_unit, frame, frame->count, frame->columns[index].unit);
RS_API_AT(const char *, ropescope_frame_summary, frame, frame->count, frame->columns[index].summary);

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
