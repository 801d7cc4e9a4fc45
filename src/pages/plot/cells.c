/* cells.c: one CSV file of results as cells and numbers. A cell is a run of rows with the same number in `cell`. A line
 * of a chart must not mix two settings unsaid: where the keys it knows do not tell two cells apart, others join the
 * method's name. */
#include "data.h"

#include "io/io.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_CELL, KEY_MODEL, KEY_METHOD, KEY_LENGTH, KEY_SOURCE, KEY_SEED, KEY_HEADS, KEYS };
static const char *const key_names[KEYS] = {"cell", "model", "method", "length_tokens", "source", "seed", "heads"};

enum { TABLE_LIMIT = 2047 << 20 }; /* bytes of one CSV file */

/* Beyond these no range can be padded or cut into steps in double; the one reads as no number, the other as zero. */
#define LARGEST 1e300
#define SMALLEST 1e-290

static const char *field(const rs_table *table, size_t row, size_t column) {
  return table->fields[row * table->columns + column];
}

static size_t count_newlines(const char *text) {
  size_t count = 0;
  while ((text = strchr(text, '\n')) != NULL) count++, text++;
  return count;
}

/* The line of the file on which a row starts: quoted fields may hold line ends. */
static size_t line_of(const rs_table *table, size_t row) {
  size_t line = row + 2;
  for (size_t i = 0; i < table->columns; i++) line += count_newlines(table->header[i]);
  for (size_t i = 0; i < row * table->columns; i++) line += count_newlines(table->fields[i]);
  return line;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static rs_status find_columns(rs_plot_file *file, rs_err *err) {
  for (size_t i = 0; i < file->count; i++) {
    int place = rs_table_column(file->table, file->columns[i].name);
    if (place < 0)
      return rs_fail(err, RS_INPUT, "%s:1: there is no column \"%s\", which manifest.json lists", file->path,
                     file->columns[i].name);
    file->columns[i].place = (size_t)place;
  }
  return RS_OK;
}

static rs_status read_table(rs_plot_file *file, rs_err *err) {
  char *text;
  size_t length;
  RS_TRY(rs_results_read(file->path, TABLE_LIMIT, &text, &length, err));
  rs_status status = rs_csv_read(text, length, file->path, &file->table, err);
  free(text);
  return status == RS_OK ? find_columns(file, err) : status;
}

static const rs_plot_column *find_key(const rs_plot_file *file, const char *name) {
  for (size_t i = 0; i < file->count; i++) {
    if (file->columns[i].role == RS_PLOT_KEY && strcmp(file->columns[i].name, name) == 0) return &file->columns[i];
  }
  return NULL;
}

static rs_status find_keys(const rs_plot_file *file, size_t keys[KEYS], rs_err *err) {
  for (size_t k = 0; k < KEYS; k++) {
    const rs_plot_column *column = find_key(file, key_names[k]);
    if (column == NULL)
      return rs_fail(err, RS_INPUT, "%s: manifest.json lists no key column \"%s\" for this file", file->path,
                     key_names[k]);
    keys[k] = column->place;
  }
  return RS_OK;
}

/* Where several checkpoints were read by one method, the checkpoints are the lines: they and methods change places. */
static void place_lines(rs_plot_data *data, const rs_plot_file *file, size_t keys[KEYS]) {
  size_t method = keys[KEY_METHOD];
  if (data->checkpoints == NULL || data->checkpoints->count < 2) return;
  for (size_t row = 1; row < file->table->rows; row++)
    if (strcmp(field(file->table, row, method), field(file->table, 0, method)) != 0) return;
  keys[KEY_METHOD] = keys[KEY_MODEL];
  keys[KEY_MODEL] = method;
  data->by_checkpoint = true;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static rs_status read_length(const rs_plot_file *file, size_t row, size_t column, double *length, rs_err *err) {
  const char *text = field(file->table, row, column);
  if (rs_number_read(text, length) && *length > 0 && *length < LARGEST) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s:%zu: length_tokens = \"%s\": must be a positive number", file->path,
                 line_of(file->table, row), text);
}

/* A cell without its method, which is named later. */
static rs_status add_cell(rs_plot_data *data, rs_plot_file *file, const size_t keys[KEYS], size_t row, rs_err *err) {
  RS_TRY(RS_GROW(file->cells, &file->cell_capacity, file->cell_count + 1, err));
  rs_plot_cell *cell = &file->cells[file->cell_count++];
  *cell = (rs_plot_cell){.begin = row, .end = row + 1};
  RS_TRY(read_length(file, row, keys[KEY_LENGTH], &cell->length, err));
  RS_TRY(rs_plot_names_add(&data->models, field(file->table, row, keys[KEY_MODEL]), &cell->model, err));
  RS_TRY(rs_plot_names_add(&data->sources, field(file->table, row, keys[KEY_SOURCE]), &cell->source, err));
  RS_TRY(rs_plot_names_add(&data->seeds, field(file->table, row, keys[KEY_SEED]), &cell->seed, err));
  return rs_plot_names_add(&data->heads, field(file->table, row, keys[KEY_HEADS]), &cell->heads, err);
}

static rs_status read_cells(rs_plot_data *data, rs_plot_file *file, const size_t keys[KEYS], rs_err *err) {
  const char *before = NULL;
  for (size_t row = 0; row < file->table->rows; row++) {
    const char *now = field(file->table, row, keys[KEY_CELL]);
    if (before != NULL && strcmp(before, now) == 0)
      file->cells[file->cell_count - 1].end = row + 1;
    else
      RS_TRY(add_cell(data, file, keys, row, err));
    before = now;
  }
  return RS_OK;
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

int rs_plot_cells_order(const rs_plot_cell *a, const rs_plot_cell *b, size_t but) {
  enum { LENGTH = 4 };
  static const size_t keys[] = {offsetof(rs_plot_cell, model),  offsetof(rs_plot_cell, method),
                                offsetof(rs_plot_cell, source), offsetof(rs_plot_cell, seed),
                                offsetof(rs_plot_cell, length), offsetof(rs_plot_cell, heads)};
  int sign = 0;
  for (size_t k = 0; k < RS_COUNT(keys) && sign == 0; k++) {
    size_t x, y;
    memcpy(&x, (const char *)a + keys[k], sizeof x);
    memcpy(&y, (const char *)b + keys[k], sizeof y);
    if (k == LENGTH)
      sign = (a->length > b->length) - (a->length < b->length);
    else if (keys[k] != but)
      sign = (x > y) - (x < y);
  }
  return sign;
}

static int compare_begins(const void *a, const void *b) {
  size_t x = ((const rs_plot_cell *)a)->begin, y = ((const rs_plot_cell *)b)->begin;
  return (x > y) - (x < y);
}

static int compare_cells(const void *a, const void *b) {
  int sign = rs_plot_cells_order(a, b, RS_PLOT_ANY);
  return sign != 0 ? sign : compare_begins(a, b);
}

static void sort_cells(rs_plot_file *file, int (*compare)(const void *, const void *)) {
  if (file->cell_count > 0) qsort(file->cells, file->cell_count, sizeof *file->cells, compare);
}

/* The first of the sorted cells from `from` > 0 on that has the keys of the one before it; else their number. */
static size_t find_twin(const rs_plot_file *file, size_t from) {
  while (from < file->cell_count && rs_plot_cells_order(&file->cells[from - 1], &file->cells[from], RS_PLOT_ANY) != 0)
    from++;
  return from;
}

/* True if twins differ in the column. */
static bool tells_apart(const rs_plot_file *file, const rs_plot_column *column) {
  for (size_t i = find_twin(file, 1); i < file->cell_count; i = find_twin(file, i + 1)) {
    size_t before = file->cells[i - 1].begin, here = file->cells[i].begin;
    if (strcmp(field(file->table, before, column->place), field(file->table, here, column->place)) != 0) return true;
  }
  return false;
}

static bool is_fixed(const char *name) {
  for (size_t k = 0; k < KEYS; k++) {
    if (strcmp(name, key_names[k]) == 0) return true;
  }
  return false;
}

/* What joins the names of methods. Flags are by the number that a method has before that. */
typedef struct naming {
  const rs_plot_column **extra; /* the key columns in which twins differ (count) */
  size_t count;
  bool *parted; /* the method has twins */
  bool *headed; /* it has cells that differ in their heads alone */
  bool heads;   /* those heads are named */
} naming;

/* Looks for what the sorted cells of `file` need, of which there are so many methods and heads. */
static void find_naming(const rs_plot_file *file, size_t methods, size_t heads, naming *names) {
  size_t lines = methods;
  for (size_t i = find_twin(file, 1); i < file->cell_count; i = find_twin(file, i + 1))
    names->parted[file->cells[i].method] = true;
  for (size_t i = 1; i < file->cell_count; i++) {
    const rs_plot_cell *cell = &file->cells[i];
    bool alike = rs_plot_cells_order(cell - 1, cell, offsetof(rs_plot_cell, heads)) == 0;
    if (alike && cell->heads != cell[-1].heads) names->headed[cell->method] = true;
  }
  for (size_t i = 0; i < methods; i++) lines += names->headed[i] ? heads - 1 : 0;
  names->heads = lines <= RS_PLOT_LEGEND;
  for (size_t i = 0; i < file->count; i++) {
    const rs_plot_column *column = &file->columns[i];
    if (column->role == RS_PLOT_KEY && !is_fixed(column->name) && tells_apart(file, column))
      names->extra[names->count++] = column;
  }
}

static void write_method(const rs_plot_file *file, const rs_plot_cell *cell, const size_t keys[KEYS],
                         const naming *names, rs_text *out) {
  rs_text_puts(out, field(file->table, cell->begin, keys[KEY_METHOD]));
  if (names == NULL) return;
  for (size_t k = 0; names->parted[cell->method] && k < names->count; k++) {
    const char *value = field(file->table, cell->begin, names->extra[k]->place);
    if (*value != '\0') rs_text_printf(out, " %s=%s", names->extra[k]->name, value);
  }
  if (names->heads && names->headed[cell->method])
    rs_text_printf(out, " heads=%s", field(file->table, cell->begin, keys[KEY_HEADS]));
}

/* Gives each cell its method, in `methods`; `names` may be NULL. */
static rs_status name_methods(rs_plot_names *methods, rs_plot_file *file, const size_t keys[KEYS], const naming *names,
                              rs_err *err) {
  rs_status status = RS_OK;
  for (size_t i = 0; i < file->cell_count && status == RS_OK; i++) {
    rs_text name = {0};
    write_method(file, &file->cells[i], keys, names, &name);
    status = rs_text_check(&name, err);
    if (status == RS_OK) status = rs_plot_names_add(methods, rs_text_string(&name), &file->cells[i].method, err);
    rs_text_clear(&name);
  }
  return status;
}

/* First with the plain names, to see where these do not do, then for good, in the order of the file. */
static rs_status read_methods(rs_plot_data *data, rs_plot_file *file, const size_t keys[KEYS], rs_err *err) {
  rs_arena memory = {0};
  rs_plot_names plain = {0};
  naming names = {.extra = rs_arena_take(&memory, file->count, sizeof *names.extra),
                  .parted = rs_arena_take(&memory, file->cell_count, sizeof *names.parted),
                  .headed = rs_arena_take(&memory, file->cell_count, sizeof *names.headed)};
  rs_status status = rs_arena_check(&memory, err);
  if (status == RS_OK) status = name_methods(&plain, file, keys, NULL, err);
  if (status == RS_OK) {
    sort_cells(file, compare_cells);
    find_naming(file, plain.count, data->heads.count, &names);
    sort_cells(file, compare_begins);
    status = name_methods(&data->methods, file, keys, &names, err);
  }
  rs_plot_names_clear(&plain);
  rs_arena_clear(&memory);
  return status;
}

static rs_status note_twin(const rs_plot_file *file, rs_plot_report *report, rs_err *err) {
  size_t twin = find_twin(file, 1);
  if (twin >= file->cell_count) return RS_OK;
  return rs_plot_note(report, err, "%s:%zu: has the keys of line %zu (their mean is shown)", file->path,
                      line_of(file->table, file->cells[twin].begin), line_of(file->table, file->cells[twin - 1].begin));
}

rs_status rs_plot_cells_read(rs_plot_data *data, rs_plot_file *file, rs_plot_report *report, rs_err *err) {
  size_t keys[KEYS];
  RS_TRY(read_table(file, err));
  RS_TRY(find_keys(file, keys, err));
  place_lines(data, file, keys);
  RS_TRY(read_cells(data, file, keys, err));
  RS_TRY(read_methods(data, file, keys, err));
  sort_cells(file, compare_cells);
  RS_TRY(note_twin(file, report, err));
  sort_cells(file, compare_begins);
  return RS_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static const rs_plot_column *status_column(const rs_plot_file *file) {
  for (size_t i = 0; i < file->count; i++) {
    if (file->columns[i].role == RS_PLOT_STATUS && strcmp(file->columns[i].name, "status") == 0)
      return &file->columns[i];
  }
  return NULL;
}

static rs_status read_number(const rs_plot_file *file, const rs_plot_column *column, size_t row, double *number,
                             rs_err *err) {
  const char *text = field(file->table, row, column->place);
  *number = NAN;
  if (*text == '\0') return RS_OK;
  if (!rs_number_read(text, number))
    return rs_fail(err, RS_INPUT, "%s:%zu: %s = \"%s\": must be a number or empty", file->path,
                   line_of(file->table, row), column->name, text);
  if (!(fabs(*number) <= LARGEST)) *number = NAN;
  if (fabs(*number) < SMALLEST) *number = 0;
  return RS_OK;
}

rs_status rs_plot_numbers(const rs_plot_file *file, const rs_plot_column *column, rs_arena *memory, double **numbers,
                          rs_err *err) {
  const rs_plot_column *state = status_column(file);
  *numbers = rs_arena_take(memory, file->table->rows, sizeof **numbers);
  RS_TRY(rs_arena_check(memory, err));
  for (size_t row = 0; row < file->table->rows; row++) {
    RS_TRY(read_number(file, column, row, &(*numbers)[row], err));
    if (state != NULL && strcmp(field(file->table, row, state->place), "ok") != 0) (*numbers)[row] = NAN;
  }
  return RS_OK;
}
