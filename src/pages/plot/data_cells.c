/* data_cells.c: one CSV file of results as cells and numbers. A cell is a run of rows with the same number in `cell`. A
 * line of a chart must not mix two settings unsaid: where the keys it knows do not tell two cells apart, others join
 * the method's name. */
#include "data.h"

#include "io/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ------------------------------------------------------------------------------------------------------- */

enum { KEY_LENGTH = RS_PLOT_NAMED, KEY_CELL, KEYS };
static const char *const key_names[KEYS] = {"model", "method", "source", "seed", "heads", "length_tokens", "cell"};

enum { TABLE_LIMIT = 2047 << 20 }; /* bytes of one CSV file */

/* Beyond these no range can be padded or cut into steps in double; the one reads as no number, the other as zero. */
#define LARGEST 1e300
#define SMALLEST 1e-290

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

rs_status rs_plot_table_read(rs_plot_file *file, rs_err *err) {
  char *text;
  size_t length;
  RS_TRY(rs_results_read(file->path, TABLE_LIMIT, &text, &length, err));
  rs_status status = rs_csv_read(text, length, file->path, &file->table, err);
  free(text);
  return status == RS_OK ? find_columns(file, err) : status;
}

static rs_status find_keys(rs_plot_file *file, rs_err *err) {
  for (size_t k = KEYS; k-- > 0;) { /* the cell is named first */
    const rs_plot_column *key = file->keys[k] = rs_plot_column_named(file, "", key_names[k], "");
    if (key == NULL || key->role != RS_PLOT_KEY)
      return rs_fail(err, RS_INPUT, "%s: manifest.json lists no key column \"%s\" for this file", file->path,
                     key_names[k]);
  }
  return RS_OK;
}

/* Where several checkpoints were read by one method, the checkpoints are the lines: they and methods change places. */
static void place_lines(rs_plot_data *data, rs_plot_file *file) {
  const rs_plot_column *method = file->keys[RS_PLOT_METHOD];
  if (data->checkpoints == NULL || data->checkpoints->count < 2) return;
  for (size_t row = 1; row < file->table->rows; row++)
    if (strcmp(rs_plot_field(file, row, method), rs_plot_field(file, 0, method)) != 0) return;
  file->keys[RS_PLOT_METHOD] = file->keys[RS_PLOT_MODEL];
  file->keys[RS_PLOT_MODEL] = method;
  data->by_checkpoint = true;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* A cell without its method, which is named later. */
static rs_status add_cell(rs_plot_data *data, rs_plot_file *file, size_t row, rs_err *err) {
  RS_TRY(RS_GROW(file->cells, &file->cell_capacity, file->cell_count + 1, err));
  rs_plot_cell *cell = &file->cells[file->cell_count++];
  *cell = (rs_plot_cell){.begin = row, .end = row + 1};
  for (size_t k = 0; k < RS_PLOT_NAMED; k++)
    if (k != RS_PLOT_METHOD)
      RS_TRY(rs_plot_names_add(&data->names[k], rs_plot_field(file, row, file->keys[k]), &cell->keys[k], err));
  const char *text = rs_plot_field(file, row, file->keys[KEY_LENGTH]);
  if (rs_number_read(text, &cell->length) && cell->length > 0 && cell->length < LARGEST) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s:%zu: length_tokens = \"%s\": must be a positive number", file->path,
                 line_of(file->table, row), text);
}

static rs_status read_cells(rs_plot_data *data, rs_plot_file *file, rs_err *err) {
  const char *before = NULL;
  for (size_t row = 0; row < file->table->rows; row++) {
    const char *now = rs_plot_field(file, row, file->keys[KEY_CELL]);
    if (before != NULL && strcmp(before, now) == 0)
      file->cells[file->cell_count - 1].end = row + 1;
    else
      RS_TRY(add_cell(data, file, row, err));
    before = now;
  }
  return RS_OK;
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

static int order(double a, double b) {
  return (a > b) - (a < b);
}

/* The order of two cells by their keys without number `but` (RS_PLOT_NAMED: by all), the heads last, so that cells
 * which differ in these alone are neighbours. */
static int order_cells(const rs_plot_cell *a, const rs_plot_cell *b, size_t but) {
  int sign = 0;
  for (size_t k = 0; k < RS_PLOT_HEADS && sign == 0; k++)
    if (k != but) sign = order((double)a->keys[k], (double)b->keys[k]);
  if (sign == 0) sign = order(a->length, b->length);
  return sign == 0 && but != RS_PLOT_HEADS ? order((double)a->heads, (double)b->heads) : sign;
}

static int compare_begins(const void *a, const void *b) {
  return order((double)((const rs_plot_cell *)a)->begin, (double)((const rs_plot_cell *)b)->begin);
}

static int compare_cells(const void *a, const void *b) {
  int sign = order_cells(a, b, RS_PLOT_NAMED);
  return sign != 0 ? sign : compare_begins(a, b);
}

static void sort_cells(rs_plot_file *file, int (*compare)(const void *, const void *)) {
  if (file->cell_count > 0) qsort(file->cells, file->cell_count, sizeof *file->cells, compare);
}

/* The first of the sorted cells from `from` > 0 on that has the keys of the one before it; else their number. */
static size_t find_twin(const rs_plot_file *file, size_t from) {
  while (from < file->cell_count && order_cells(&file->cells[from - 1], &file->cells[from], RS_PLOT_NAMED) != 0) from++;
  return from;
}

/* True if twins differ in the column. */
static bool tells_apart(const rs_plot_file *file, const rs_plot_column *column) {
  for (size_t i = find_twin(file, 1); i < file->cell_count; i = find_twin(file, i + 1)) {
    size_t before = file->cells[i - 1].begin, here = file->cells[i].begin;
    if (strcmp(rs_plot_field(file, before, column), rs_plot_field(file, here, column)) != 0) return true;
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
    bool alike = order_cells(cell - 1, cell, RS_PLOT_HEADS) == 0;
    if (alike && cell->heads != cell[-1].heads) names->headed[cell->method] = true;
  }
  for (size_t i = 0; i < methods; i++) lines += names->headed[i] ? heads - 1 : 0;
  names->heads = lines <= RS_PLOT_LEGEND;
  for (size_t i = 0; i < file->count; i++) {
    const rs_plot_column *column = &file->columns[i];
    bool fixed = false; /* a key that a line shows anyway */
    for (size_t k = 0; k < KEYS; k++) fixed |= file->keys[k] == column;
    if (column->role == RS_PLOT_KEY && !fixed && tells_apart(file, column)) names->extra[names->count++] = column;
  }
}

static void write_method(const rs_plot_file *file, const rs_plot_cell *cell, const naming *names, rs_text *out) {
  rs_text_puts(out, rs_plot_field(file, cell->begin, file->keys[RS_PLOT_METHOD]));
  if (names == NULL) return;
  for (size_t k = 0; names->parted[cell->method] && k < names->count; k++) {
    const char *value = rs_plot_field(file, cell->begin, names->extra[k]);
    if (*value != '\0') rs_text_printf(out, " %s=%s", names->extra[k]->name, value);
  }
  if (names->heads && names->headed[cell->method])
    rs_text_printf(out, " heads=%s", rs_plot_field(file, cell->begin, file->keys[RS_PLOT_HEADS]));
}

/* Gives each cell its method, in `methods`; `names` may be NULL. */
static rs_status name_methods(rs_plot_names *methods, rs_plot_file *file, const naming *names, rs_err *err) {
  rs_status status = RS_OK;
  for (size_t i = 0; i < file->cell_count && status == RS_OK; i++) {
    rs_text name = {0};
    write_method(file, &file->cells[i], names, &name);
    status = rs_text_check(&name, err);
    if (status == RS_OK) status = rs_plot_names_add(methods, rs_text_string(&name), &file->cells[i].method, err);
    rs_text_clear(&name);
  }
  return status;
}

/* First with the plain names, to see where these do not do, then for good, in the order of the file. */
static rs_status read_methods(rs_plot_data *data, rs_plot_file *file, rs_err *err) {
  rs_arena memory = {0};
  rs_plot_names plain = {0};
  naming names = {.extra = rs_arena_take(&memory, file->count, sizeof *names.extra),
                  .parted = rs_arena_take(&memory, file->cell_count, sizeof *names.parted),
                  .headed = rs_arena_take(&memory, file->cell_count, sizeof *names.headed)};
  rs_status status = rs_arena_check(&memory, err);
  if (status == RS_OK) status = name_methods(&plain, file, NULL, err);
  if (status == RS_OK) {
    sort_cells(file, compare_cells);
    find_naming(file, plain.count, data->heads.count, &names);
    sort_cells(file, compare_begins);
    status = name_methods(&data->methods, file, &names, err);
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
  RS_TRY(rs_plot_table_read(file, err));
  RS_TRY(find_keys(file, err));
  place_lines(data, file);
  RS_TRY(read_cells(data, file, err));
  RS_TRY(read_methods(data, file, err));
  sort_cells(file, compare_cells);
  RS_TRY(note_twin(file, report, err));
  sort_cells(file, compare_begins);
  return RS_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static rs_status read_number(const rs_plot_file *file, const rs_plot_column *column, size_t row, double *number,
                             rs_err *err) {
  const char *text = rs_plot_field(file, row, column);
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
  const rs_plot_column *state = rs_plot_column_named(file, "", "status", "");
  *numbers = rs_arena_take(memory, file->table->rows, sizeof **numbers);
  RS_TRY(rs_arena_check(memory, err));
  for (size_t row = 0; row < file->table->rows; row++) {
    RS_TRY(read_number(file, column, row, &(*numbers)[row], err));
    if (state != NULL && state->role == RS_PLOT_STATUS && strcmp(rs_plot_field(file, row, state), "ok") != 0)
      (*numbers)[row] = NAN;
  }
  return RS_OK;
}

/* ---- measure ----------------------------------------------------------------------------------------------------- */

double rs_plot_row_x(const rs_plot_measure *measure, const rs_plot_cell *cell, size_t row) {
  return measure->x != NULL ? measure->x[row] : cell->length;
}

static bool has_value(const rs_plot_measure *measure, const rs_plot_cell *cell) {
  for (size_t row = cell->begin; row < cell->end; row++)
    if (!isnan(measure->y[row]) && !isnan(rs_plot_row_x(measure, cell, row))) return true;
  return false;
}

static int compare_kinds(const void *a, const void *b) {
  int sign = order_cells(a, b, RS_PLOT_SOURCE);
  return sign != 0 ? sign : compare_begins(a, b);
}

/* True if two cells say the same wherever both have a value; sets *compared if they have one in common. */
static bool agree(const rs_plot_measure *measure, const rs_plot_cell *a, const rs_plot_cell *b, bool *compared) {
  size_t rows = a->end - a->begin;
  if (b->end - b->begin != rows) return !has_value(measure, a) || !has_value(measure, b);
  for (size_t i = 0; i < rows; i++) {
    double ya = measure->y[a->begin + i], yb = measure->y[b->begin + i];
    if (isnan(ya) || isnan(yb)) continue;
    if (ya != yb || rs_plot_row_x(measure, a, a->begin + i) != rs_plot_row_x(measure, b, b->begin + i)) return false;
    *compared = true;
  }
  return true;
}

/* Compares each cell with the first of its kind. `linked` (sources): those seen to agree with another. */
static bool sources_agree(const rs_plot_measure *measure, const rs_plot_cell *cells, size_t count, bool *linked) {
  for (size_t first = 0, i = 1; i < count; i++) {
    if (order_cells(&cells[first], &cells[i], RS_PLOT_SOURCE) != 0) first = i;
    if (cells[first].source == cells[i].source) continue;
    bool compared = false;
    if (!agree(measure, &cells[first], &cells[i], &compared)) return false;
    if (compared) linked[cells[first].source] = linked[cells[i].source] = true;
  }
  for (size_t i = 0; i < count; i++) {
    if (!linked[cells[i].source] && has_value(measure, &cells[i])) return false; /* nothing speaks for it */
  }
  return true;
}

static rs_status find_per_source(rs_plot_measure *measure, rs_err *err) {
  const rs_plot_file *file = measure->file;
  rs_plot_cell *cells = rs_arena_take(&measure->memory, file->cell_count, sizeof *cells);
  bool *linked = rs_arena_take(&measure->memory, measure->data->sources.count, sizeof *linked);
  RS_TRY(rs_arena_check(&measure->memory, err));
  if (file->cell_count == 0) return RS_OK;
  memcpy(cells, file->cells, file->cell_count * sizeof *cells);
  qsort(cells, file->cell_count, sizeof *cells, compare_kinds);
  measure->per_source = !sources_agree(measure, cells, file->cell_count, linked);
  return RS_OK;
}

/* A map without a first side is one over the lengths of the cells, where these have several. */
static rs_status read_lengths(rs_plot_measure *measure, rs_err *err) {
  const rs_plot_file *file = measure->file;
  bool several = false;
  for (size_t i = 1; i < file->cell_count; i++) several |= file->cells[i].length != file->cells[0].length;
  if (measure->part[RS_PLOT_MAP_Y] == NULL || measure->part[RS_PLOT_MAP_X] != NULL || !several) return RS_OK;
  double *x = measure->part[RS_PLOT_MAP_X] = rs_arena_take(&measure->memory, file->table->rows, sizeof *x);
  RS_TRY(rs_arena_check(&measure->memory, err));
  for (size_t i = 0; i < file->cell_count; i++)
    for (size_t row = file->cells[i].begin; row < file->cells[i].end; row++) x[row] = file->cells[i].length;
  measure->over_lengths = true;
  return RS_OK;
}

static rs_status read_parts(rs_plot_measure *measure, rs_err *err) {
  for (size_t part = RS_PLOT_MAP_X; part < RS_PLOT_PARTS; part++) {
    const rs_plot_column *column = rs_plot_part_of(measure->file, (rs_plot_part)part);
    if (column != NULL) RS_TRY(rs_plot_numbers(measure->file, column, &measure->memory, &measure->part[part], err));
  }
  RS_TRY(read_lengths(measure, err));
  const double *x = measure->part[RS_PLOT_MAP_X], *y = measure->part[RS_PLOT_MAP_Y];
  for (size_t row = 0; row < measure->file->table->rows && x != NULL && y != NULL; row++)
    measure->map |= !isnan(measure->y[row]) && !isnan(x[row]) && !isnan(y[row]);
  return RS_OK;
}

static rs_status read_envelope(rs_plot_measure *measure, rs_err *err) {
  const rs_plot_column *low, *high;
  if (!rs_plot_interval_of(measure->file, measure->column, &low, &high)) return RS_OK;
  measure->interval = measure->x == NULL;
  if (measure->interval)
    measure->blocks = rs_plot_blocks_of(rs_plot_blocks_file(measure->data, measure->column), measure->column);
  RS_TRY(rs_plot_numbers(measure->file, low, &measure->memory, &measure->low, err));
  return rs_plot_numbers(measure->file, high, &measure->memory, &measure->high, err);
}

/* What falls into a bin grows with its width; divided by it, it compares with the next. */
static void divide_by_widths(rs_plot_measure *measure) {
  const double *end = measure->part[RS_PLOT_BIN_END];
  if (measure->column->part != RS_PLOT_MASS || end == NULL || measure->x == NULL) return;
  measure->density = true;
  for (size_t row = 0; row < measure->file->table->rows; row++) {
    double width = end[row] - measure->x[row];
    measure->y[row] = width > 0 ? measure->y[row] / width : NAN;
    if (measure->error != NULL) measure->error[row] /= width;
  }
}

rs_status rs_plot_measure_read(const rs_plot_data *data, const rs_plot_file *file, const rs_plot_column *column,
                               rs_plot_measure *measure, rs_err *err) {
  if (measure->column == column) return RS_OK;
  rs_plot_measure_clear(measure);
  *measure = (rs_plot_measure){.data = data, .file = file, .column = column};
  const rs_plot_column *x = rs_plot_x_of(file), *error = rs_plot_column_named(file, "", column->name, "_se");
  RS_TRY(rs_plot_numbers(file, column, &measure->memory, &measure->y, err));
  if (x != NULL) RS_TRY(rs_plot_numbers(file, x, &measure->memory, &measure->x, err));
  if (error != NULL && error->role == RS_PLOT_ERROR)
    RS_TRY(rs_plot_numbers(file, error, &measure->memory, &measure->error, err));
  measure->category = x != NULL && x->part == RS_PLOT_CATEGORY;
  measure->strip = column->part == RS_PLOT_STRIP && x != NULL;
  if (measure->strip) { /* a map of one row of cells */
    measure->part[RS_PLOT_MAP_Y] = rs_arena_take(&measure->memory, file->table->rows, sizeof(double));
    RS_TRY(rs_plot_numbers(file, x, &measure->memory, &measure->part[RS_PLOT_MAP_X], err));
  } else {
    RS_TRY(read_parts(measure, err));
  }
  RS_TRY(read_envelope(measure, err));
  divide_by_widths(measure);
  for (size_t i = 0; i < file->cell_count && !measure->any; i++) measure->any = has_value(measure, &file->cells[i]);
  return find_per_source(measure, err);
}

void rs_plot_measure_clear(rs_plot_measure *measure) {
  rs_arena_clear(&measure->memory);
  *measure = (rs_plot_measure){0};
}

bool rs_plot_chosen(const rs_plot_cell *cell, const rs_plot_choice *choice) {
  return cell->model == choice->model && (choice->source == RS_PLOT_ANY || cell->source == choice->source) &&
         (!(choice->length > 0) || cell->length == choice->length) &&
         (choice->seeds == 0 || cell->seed == choice->seed);
}

void rs_plot_seed_choose(const rs_plot_measure *measure, rs_plot_choice *choice) {
  size_t most = 0, seeds = 0;
  if (measure->column->part != RS_PLOT_ONE && measure->column->part != RS_PLOT_SEEN) return;
  for (size_t seed = 0; seed < measure->data->seeds.count; seed++) {
    size_t cells = 0;
    for (size_t i = 0; i < measure->file->cell_count; i++) {
      const rs_plot_cell *cell = &measure->file->cells[i];
      cells += cell->seed == seed && rs_plot_chosen(cell, choice) && has_value(measure, cell);
    }
    seeds += cells > 0;
    if (cells <= most) continue;
    most = cells;
    choice->seed = seed;
  }
  if (seeds > 1) choice->seeds = seeds;
}

double rs_plot_longest(const rs_plot_measure *measure, const rs_plot_choice *choice) {
  double longest = 0;
  for (size_t i = 0; i < measure->file->cell_count; i++) {
    const rs_plot_cell *cell = &measure->file->cells[i];
    if (cell->length > longest && rs_plot_chosen(cell, choice) && has_value(measure, cell)) longest = cell->length;
  }
  return longest;
}
