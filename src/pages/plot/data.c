/* data.c: questions to the columns of a folder of results, lists of its names, and what is to be said of it. */
#include "data.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rs_plot_data_clear(rs_plot_data *data) {
  for (size_t i = 0; i < data->count; i++) {
    free(data->files[i].path);
    free(data->files[i].columns);
    free(data->files[i].cells);
    rs_table_free(data->files[i].table);
  }
  free(data->files);
  rs_tree_free(data->manifest);
  rs_plot_names_clear(&data->models);
  rs_plot_names_clear(&data->methods);
  rs_plot_names_clear(&data->sources);
  rs_plot_names_clear(&data->seeds);
  rs_plot_names_clear(&data->heads);
  *data = (rs_plot_data){0};
}

const rs_plot_column *rs_plot_column_of(const rs_plot_file *file, rs_plot_role role, size_t skip) {
  for (size_t i = 0; i < file->count; i++) {
    if (file->columns[i].role == role && skip-- == 0) return &file->columns[i];
  }
  return NULL;
}

const rs_plot_column *rs_plot_part_of(const rs_plot_file *file, rs_plot_part part) {
  for (size_t i = 0; i < file->count; i++) {
    if (file->columns[i].role == RS_PLOT_INDEX && file->columns[i].part == part) return &file->columns[i];
  }
  return NULL;
}

const rs_plot_column *rs_plot_x_of(const rs_plot_file *file) {
  const rs_plot_column *column = NULL;
  for (size_t i = 0; (column = rs_plot_column_of(file, RS_PLOT_INDEX, i)) != NULL; i++) {
    if (column->part != RS_PLOT_MAP_PANEL) break;
  }
  return column;
}

bool rs_plot_file_drawn(const rs_plot_file *file) {
  bool summary = strcmp(file->name, "summary.csv") == 0;
  return (summary || rs_plot_column_of(file, RS_PLOT_INDEX, 0) != NULL) &&
         rs_plot_column_of(file, RS_PLOT_VALUE, 0) != NULL;
}

bool rs_plot_column_drawn(const rs_plot_column *column) {
  return column->role == RS_PLOT_VALUE && column->part != RS_PLOT_LOW && column->part != RS_PLOT_HIGH;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* A folder has tens of names, so a walk finds them. */
rs_status rs_plot_names_add(rs_plot_names *names, const char *name, size_t *index, rs_err *err) {
  for (*index = 0; *index < names->count; ++*index) {
    if (strcmp(names->items[*index], name) == 0) return RS_OK;
  }
  RS_TRY(RS_GROW(names->items, &names->capacity, names->count + 1, err));
  names->items[names->count] = rs_strdup(name, err);
  if (names->items[names->count] == NULL) return RS_MEMORY;
  names->count++;
  return RS_OK;
}

void rs_plot_names_clear(rs_plot_names *names) {
  for (size_t i = 0; i < names->count; i++) free(names->items[i]);
  free(names->items);
  *names = (rs_plot_names){0};
}

/* ---- report ------------------------------------------------------------------------------------------------------ */

static rs_status add_line(char ***lines, size_t *count, size_t *capacity, const char *text, rs_err *err) {
  RS_TRY(RS_GROW(*lines, capacity, *count + 1, err));
  (*lines)[*count] = rs_strdup(text, err);
  if ((*lines)[*count] == NULL) return RS_MEMORY;
  ++*count;
  return RS_OK;
}

rs_status rs_plot_note(rs_plot_report *report, rs_err *err, const char *format, ...) {
  char note[1024];
  va_list words;
  va_start(words, format);
  vsnprintf(note, sizeof note, format, words);
  va_end(words);
  return add_line(&report->notes, &report->note_count, &report->note_capacity, note, err);
}

void rs_plot_report_clear(rs_plot_report *report) {
  for (size_t i = 0; i < report->count; i++) free(report->files[i]);
  for (size_t i = 0; i < report->note_count; i++) free(report->notes[i]);
  free(report->files);
  free(report->notes);
  *report = (rs_plot_report){0};
}

rs_status rs_plot_report_add(rs_plot_report *report, const char *path, rs_err *err) {
  return add_line(&report->files, &report->count, &report->capacity, path, err);
}
