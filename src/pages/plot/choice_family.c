/* choice_family.c: sources, or checkpoints, that differ in one number. A swept parameter has a key column of its own,
 * and the name of each of its sources says its value: "needle depth=0.5", "rope tune.steps=20". With several values at
 * several lengths a summary column is a picture over both, as needle-in-a-haystack tests are shown, and not a chart for
 * each value; at one length it is a strip of colours for each method. Checkpoints whose names are otherwise the same
 * are one line over that number. */
#include "choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_SOURCES = 2, LEAST_CHECKPOINTS = 3 };

static const char prefix[] = "checkpoint.";

/* ---- names without a number -------------------------------------------------------------------------------------- */

/* What the column says of the name `number` of this key; or "". */
static const char *value_of(const rs_plot_file *file, const rs_plot_column *column, size_t key, size_t number) {
  for (size_t i = 0; i < file->cell_count; i++)
    if (file->cells[i].keys[key] == number) return rs_plot_field(file, file->cells[i].begin, column);
  return "";
}

/* Appends the name without " depth=0.5", or what stands in that behind "method="; false where it does not say so. */
static bool write_stem(const char *name, const char *parameter, const char *value, rs_text *stem) {
  static const char method[] = "method="; /* a line is called as its method where the name says that */
  rs_text words = {0};
  rs_text_printf(&words, " %s=%s", parameter, value);
  const char *start = strstr(name, rs_text_string(&words)), *end = start != NULL ? start + words.length : "";
  bool found = start != NULL && (*end == '\0' || *end == ' ');
  if (found) rs_text_printf(stem, "%.*s%s", (int)(start - name), name, end);
  const char *at = found ? strstr(rs_text_string(stem), method) : NULL;
  if (at != NULL) memmove(stem->data, at + strlen(method), strlen(at + strlen(method)) + 1);
  stem->failed |= words.failed;
  rs_text_clear(&words);
  return found;
}

/* Reads what each of the names of a key says of `parameter`, and which of them are a line. */
static rs_status read_lines(const rs_plot_data *data, const rs_plot_file *file, const rs_plot_column *column,
                            const char *parameter, size_t key, rs_plot_sweep *lines, rs_err *err) {
  const rs_plot_names *names = &data->names[key];
  lines->values = rs_arena_take(&lines->memory, names->count, sizeof *lines->values);
  lines->line = rs_arena_take(&lines->memory, names->count, sizeof *lines->line);
  rs_status status = rs_arena_check(&lines->memory, err);
  for (size_t i = 0; i < names->count && status == RS_OK; i++) {
    const char *text = value_of(file, column, key, i);
    rs_text stem = {0};
    bool said = rs_number_read(text, &lines->values[i]) && write_stem(names->items[i], parameter, text, &stem);
    status = rs_text_check(&stem, err);
    if (!said)
      lines->values[i] = NAN;
    else if (status == RS_OK)
      status = rs_plot_names_add(&lines->lines, rs_text_string(&stem), &lines->line[i], err);
    rs_text_clear(&stem);
  }
  return status;
}

/* Of the first `names`, those that are points of a line. */
static size_t count_points(const rs_plot_sweep *lines, size_t names, size_t line) {
  size_t points = 0;
  for (size_t i = 0; i < names; i++) points += !isnan(lines->values[i]) && lines->line[i] == line;
  return points;
}

/* ---- families of sources ----------------------------------------------------------------------------------------- */

static rs_status add_family(rs_plot_families *families, const rs_plot_column *column, const rs_plot_sweep *lines,
                            size_t line, size_t sources, rs_err *err) {
  RS_TRY(RS_GROW(families->items, &families->capacity, families->count + 1, err));
  rs_arena *memory = &families->memory;
  rs_plot_family *family = &families->items[families->count];
  *family = (rs_plot_family){column, rs_arena_text(memory, lines->lines.items[line]),
                             rs_arena_take(memory, sources, sizeof(double))};
  RS_TRY(rs_arena_check(memory, err));
  for (size_t s = 0; s < sources; s++) family->values[s] = lines->line[s] == line ? lines->values[s] : NAN;
  families->count++;
  return RS_OK;
}

bool rs_plot_in_family(const rs_plot_families *families, size_t source) {
  for (size_t i = 0; i < families->count; i++)
    if (!isnan(families->items[i].values[source])) return true;
  return false;
}

rs_status rs_plot_families_read(const rs_plot_data *data, const rs_plot_file *file, rs_plot_families *families,
                                rs_err *err) {
  size_t sources = data->sources.count;
  rs_status status = RS_OK;
  for (size_t i = 0; i < file->count && status == RS_OK; i++) {
    const rs_plot_column *column = &file->columns[i];
    rs_plot_sweep lines = {0};
    if (column->role != RS_PLOT_KEY) continue;
    status = read_lines(data, file, column, column->name, RS_PLOT_SOURCE, &lines, err);
    for (size_t s = 0; s < sources && status == RS_OK; s++)
      if (rs_plot_in_family(families, s)) lines.values[s] = NAN;
    for (size_t line = 0; line < lines.lines.count && status == RS_OK; line++)
      if (count_points(&lines, sources, line) >= LEAST_SOURCES)
        status = add_family(families, column, &lines, line, sources, err);
    rs_plot_sweep_clear(&lines);
  }
  return status;
}

void rs_plot_families_clear(rs_plot_families *families) {
  rs_arena_clear(&families->memory);
  free(families->items);
  *families = (rs_plot_families){0};
}

/* Whether the family's cells of this model have one length. */
static bool is_one_length(const rs_plot_family *family, const rs_plot_file *file, size_t model) {
  double length = 0;
  for (size_t i = 0; i < file->cell_count; i++) {
    const rs_plot_cell *cell = &file->cells[i];
    if (cell->model != model || isnan(family->values[cell->source])) continue;
    if (length > 0 && cell->length != length) return false;
    length = cell->length;
  }
  return true;
}

/* Length to the right, the parameter downwards; of one length the parameter to the right. Rows of other sources have no
 * place. */
rs_status rs_plot_family_places(const rs_plot_family *family, size_t model, rs_plot_measure *measure, bool *strips,
                                rs_err *err) {
  size_t rows = measure->file->table->rows;
  for (size_t part = RS_PLOT_MAP_X; part <= RS_PLOT_MAP_Y; part++) {
    if (measure->part[part] == NULL) measure->part[part] = rs_arena_take(&measure->memory, rows, sizeof(double));
    RS_TRY(rs_arena_check(&measure->memory, err));
  }
  *strips = is_one_length(family, measure->file, model);
  for (size_t i = 0; i < measure->file->cell_count; i++) {
    const rs_plot_cell *cell = &measure->file->cells[i];
    double value = family->values[cell->source];
    for (size_t row = cell->begin; row < cell->end; row++) {
      measure->part[RS_PLOT_MAP_X][row] = *strips ? value : cell->length;
      measure->part[RS_PLOT_MAP_Y][row] = !*strips ? value : isnan(value) ? NAN : 0;
    }
  }
  return RS_OK;
}

/* ---- sweeps of checkpoints --------------------------------------------------------------------------------------- */

/* Puts the lines in the order of methods, with their looks. */
static rs_status order_lines(rs_plot_sweep *sweep, size_t checkpoints, rs_err *err) {
  size_t count = sweep->lines.count;
  char **before = rs_arena_take(&sweep->memory, count, sizeof *before);
  sweep->styles = rs_arena_take(&sweep->memory, count, sizeof *sweep->styles);
  RS_TRY(rs_arena_check(&sweep->memory, err));
  memcpy(before, sweep->lines.items, count * sizeof *before);
  qsort(sweep->lines.items, count, sizeof *before, rs_plot_methods_order);
  for (size_t i = 0; i < checkpoints; i++) {
    if (isnan(sweep->values[i])) continue;
    const char *name = before[sweep->line[i]];
    for (sweep->line[i] = 0; sweep->lines.items[sweep->line[i]] != name;) sweep->line[i]++;
  }
  rs_plot_methods_style(&sweep->lines, sweep->styles);
  return RS_OK;
}

/* Over a power of ten and more, numbers above zero are drawn by their logarithm. */
static bool is_wide(const rs_plot_sweep *sweep, size_t checkpoints) {
  double least = INFINITY, most = 0;
  for (size_t i = 0; i < checkpoints; i++) {
    least = fmin(least, sweep->values[i]); /* fmin and fmax leave NaN out */
    most = fmax(most, sweep->values[i]);
  }
  return least > 0 && most > 10 * least;
}

static rs_status read_column(const rs_plot_data *data, const rs_plot_file *file, const rs_plot_column *column,
                             rs_plot_sweep *sweep, rs_err *err) {
  size_t checkpoints = data->methods.count, most = 0;
  sweep->parameter = column;
  RS_TRY(read_lines(data, file, column, rs_plot_sweep_words(sweep), RS_PLOT_METHOD, sweep, err));
  for (size_t line = 0; line < sweep->lines.count; line++)
    most = count_points(sweep, checkpoints, line) > most ? count_points(sweep, checkpoints, line) : most;
  if (most < LEAST_CHECKPOINTS) {
    rs_plot_sweep_clear(sweep);
    return RS_OK;
  }
  sweep->log = is_wide(sweep, checkpoints);
  return order_lines(sweep, checkpoints, err);
}

rs_status rs_plot_sweep_read(const rs_plot_data *data, const rs_plot_file *file, rs_plot_sweep *sweep, rs_err *err) {
  for (size_t i = 0; data->by_checkpoint && i < file->count && sweep->parameter == NULL; i++) {
    const rs_plot_column *column = &file->columns[i];
    if (column->role == RS_PLOT_KEY && strncmp(column->name, prefix, sizeof prefix - 1) == 0)
      RS_TRY(read_column(data, file, column, sweep, err));
  }
  return RS_OK;
}

const char *rs_plot_sweep_words(const rs_plot_sweep *sweep) {
  return sweep->parameter->name + sizeof prefix - 1;
}

void rs_plot_sweep_clear(rs_plot_sweep *sweep) {
  rs_arena_clear(&sweep->memory);
  rs_plot_names_clear(&sweep->lines);
  *sweep = (rs_plot_sweep){0};
}
