/* family.c: sources that differ in one number. A swept parameter has a key column of its own, and the name of each of
 * its sources says its value: "needle depth=0.5". With several values at several lengths a summary column is a picture
 * over both, as needle-in-a-haystack tests are shown, and not a chart for each value; at one length it is a strip of
 * colours for each method. */
#include "choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_VALUES = 2 };

/* What the column says of a source, or "". */
static const char *value_of(const rs_plot_file *file, const rs_plot_column *column, size_t source) {
  for (size_t i = 0; i < file->cell_count; i++) {
    const rs_plot_cell *cell = &file->cells[i];
    if (cell->source == source) return file->table->fields[cell->begin * file->table->columns + column->place];
  }
  return "";
}

bool rs_plot_write_stem(const char *name, const char *parameter, const char *value, rs_text *stem) {
  rs_text words = {0};
  rs_text_printf(&words, " %s=%s", parameter, value);
  const char *start = strstr(name, rs_text_string(&words)), *end = start != NULL ? start + words.length : NULL;
  bool found = start != NULL && (*end == '\0' || *end == ' ');
  if (found) rs_text_add(stem, name, (size_t)(start - name));
  if (found) rs_text_puts(stem, end);
  stem->failed = stem->failed || words.failed;
  rs_text_clear(&words);
  return found;
}

/* Finds the stem and value of a source that is in no family yet; *stem is its number in `stems`, SIZE_MAX: it has
 * none. */
static rs_status read_source(const rs_plot_data *data, const rs_plot_file *file, const rs_plot_column *column,
                             size_t source, rs_plot_names *stems, size_t *stem, double *value, rs_err *err) {
  const char *text = value_of(file, column, source);
  rs_text words = {0};
  *stem = SIZE_MAX;
  bool found =
      rs_number_read(text, value) && rs_plot_write_stem(data->sources.items[source], column->name, text, &words);
  rs_status status = rs_text_check(&words, err);
  if (status == RS_OK && found) status = rs_plot_names_add(stems, rs_text_string(&words), stem, err);
  rs_text_clear(&words);
  return status;
}

static rs_status add_family(rs_plot_families *families, const rs_plot_column *column, const char *name, size_t sources,
                            rs_err *err) {
  RS_TRY(RS_GROW(families->items, &families->capacity, families->count + 1, err));
  rs_plot_family *family = &families->items[families->count++];
  rs_arena *memory = &families->memory;
  *family = (rs_plot_family){column, rs_arena_text(memory, name), rs_arena_take(memory, sources, sizeof(double))};
  RS_TRY(rs_arena_check(memory, err));
  for (size_t s = 0; s < sources; s++) family->values[s] = NAN;
  return RS_OK;
}

bool rs_plot_in_family(const rs_plot_families *families, size_t source) {
  for (size_t i = 0; i < families->count; i++) {
    if (!isnan(families->items[i].values[source])) return true;
  }
  return false;
}

/* The families by one parameter: of each stem with enough sources. */
static rs_status read_families(const rs_plot_data *data, const rs_plot_file *file, const rs_plot_column *column,
                               size_t *stem, double *value, rs_plot_families *families, rs_err *err) {
  size_t sources = data->sources.count;
  rs_plot_names stems = {0};
  rs_status status = RS_OK;
  for (size_t s = 0; s < sources && status == RS_OK; s++) {
    stem[s] = SIZE_MAX;
    if (!rs_plot_in_family(families, s)) status = read_source(data, file, column, s, &stems, &stem[s], &value[s], err);
  }
  for (size_t i = 0; i < stems.count && status == RS_OK; i++) {
    size_t members = 0;
    for (size_t s = 0; s < sources; s++) members += stem[s] == i;
    if (members < LEAST_VALUES) continue;
    status = add_family(families, column, stems.items[i], sources, err);
    for (size_t s = 0; s < sources && status == RS_OK; s++) {
      if (stem[s] == i) families->items[families->count - 1].values[s] = value[s];
    }
  }
  rs_plot_names_clear(&stems);
  return status;
}

rs_status rs_plot_families_read(const rs_plot_data *data, const rs_plot_file *file, rs_plot_families *families,
                                rs_err *err) {
  *families = (rs_plot_families){0};
  size_t *stem = rs_arena_take(&families->memory, data->sources.count, sizeof *stem);
  double *value = rs_arena_take(&families->memory, data->sources.count, sizeof *value);
  RS_TRY(rs_arena_check(&families->memory, err));
  for (size_t i = 0; i < file->count; i++)
    if (file->columns[i].role == RS_PLOT_KEY)
      RS_TRY(read_families(data, file, &file->columns[i], stem, value, families, err));
  return RS_OK;
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
