/* events.c: what a summary says of a point of a curve. A decay curve is drawn at some distances; its first violation
 * was searched for over all of them. */
#include "words.h"

#include "data.h"

#include <math.h>
#include <string.h>

static const struct {
  const char *file, *column; /* the curve */
  const char *event;         /* the column of summary.csv that has a place on its first index */
  const char *words;
} table[] = {{"decay.csv", "mean_cosine", "first_violation_tokens", "ring: first distance below 0"}};

static size_t find(const rs_plot_measure *measure) {
  size_t i = 0;
  while (i < RS_COUNT(table) &&
         (strcmp(measure->file->name, table[i].file) != 0 || strcmp(measure->column->name, table[i].column) != 0))
    i++;
  return i;
}

const char *rs_plot_events_words(const rs_plot_measure *measure) {
  size_t row = find(measure);
  return row < RS_COUNT(table) ? table[row].words : NULL;
}

/* The column of events and its file; NULL: this run has none. */
static const rs_plot_column *find_column(const rs_plot_data *data, const char *name, const rs_plot_file **file) {
  for (size_t i = 0; i < data->count; i++) {
    *file = &data->files[i];
    if (strcmp((*file)->name, "summary.csv") != 0 || (*file)->table == NULL) continue;
    for (size_t k = 0; k < (*file)->count; k++) {
      if (strcmp((*file)->columns[k].name, name) == 0) return &(*file)->columns[k];
    }
  }
  return NULL;
}

rs_status rs_plot_events_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_set *set,
                              rs_err *err) {
  size_t row = find(measure);
  const rs_plot_file *file = NULL;
  const rs_plot_column *column = row < RS_COUNT(table) ? find_column(measure->data, table[row].event, &file) : NULL;
  rs_plot_choice cells = *choice; /* a kernel is drawn without a source, and the summary's rows have one */
  rs_arena memory = {0};
  double *numbers;
  cells.source = RS_PLOT_ANY;
  if (column == NULL) return RS_OK;
  rs_status status = rs_plot_numbers(file, column, &memory, &numbers, err);
  for (size_t s = 0; s < set->count && status == RS_OK; s++) {
    rs_plot_series *series = &set->series[s];
    for (size_t i = 0; i < file->cell_count; i++) {
      const rs_plot_cell *cell = &file->cells[i];
      if (cell->method != series->method || !rs_plot_chosen(cell, &cells) || isnan(numbers[cell->begin])) continue;
      series->has_event = set->events = true;
      series->event = numbers[cell->begin];
      break;
    }
  }
  rs_arena_clear(&memory);
  return status;
}
