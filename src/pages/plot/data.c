/* data.c: questions to the columns of a file. */
#include "data.h"

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
