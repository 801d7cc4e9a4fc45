/* folder.c: a folder of results, read and checked before anything is drawn. */
#include "data.h"

#include <stdlib.h>

/* A number that is none must show before there is a picture, not between two. */
static rs_status check_numbers(const rs_plot_file *file, rs_err *err) {
  rs_status status = RS_OK;
  for (size_t i = 0; i < file->count && status == RS_OK; i++) {
    double *numbers = NULL;
    rs_plot_role role = file->columns[i].role;
    if (role != RS_PLOT_KEY && role != RS_PLOT_STATUS) status = rs_plot_numbers(file, &file->columns[i], &numbers, err);
    free(numbers);
  }
  return status;
}

rs_status rs_plot_folder_read(const char *directory, rs_plot_data *data, rs_plot_style **styles, rs_plot_report *report,
                              rs_err *err) {
  *styles = NULL;
  RS_TRY(rs_plot_manifest_read(directory, data, err));
  for (size_t i = 0; i < data->count; i++) {
    if (!rs_plot_file_drawn(&data->files[i])) continue;
    RS_TRY(rs_plot_cells_read(data, &data->files[i], report, err));
    RS_TRY(check_numbers(&data->files[i], err));
  }
  RS_TRY(rs_plot_methods_sort(data, err));
  *styles = rs_alloc(data->methods.count, sizeof **styles, err);
  if (*styles == NULL) return RS_MEMORY;
  rs_plot_methods_style(&data->methods, *styles);
  return RS_OK;
}
