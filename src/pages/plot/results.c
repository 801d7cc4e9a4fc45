/* results.c: all pictures of a folder: its files are read and checked, the pictures listed and chosen, and only then
 * drawn and written. */
#include "data.h"
#include "forms.h"
#include "paper.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct plotter {
  rs_plot_data data;
  rs_plot_list list;
  rs_plot_style *styles; /* of the data's methods. Owned. */
  rs_plot_options options;
  const char *directory;
  char *folder;      /* DIRECTORY/plots. Owned. */
  bool folder_there; /* it has been made */
  rs_plot_report *report;
  rs_err *err;
} plotter;

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Appends the lengths of the file's cells, each once, as far as a message holds them. */
static void list_lengths(const rs_plot_file *file, rs_text *out) {
  enum { MOST = 300 };
  for (size_t i = 0; i < file->cell_count && out->length < MOST; i++) {
    bool seen = false;
    for (size_t k = 0; k < i && !seen; k++) seen = file->cells[k].length == file->cells[i].length;
    if (seen) continue;
    if (out->length > 0) rs_text_puts(out, ", ");
    rs_text_number(out, file->cells[i].length);
  }
}

/* A length that no curve has is a slip of the user's. */
static rs_status check_length(plotter *p) {
  rs_text lengths = {0};
  bool curves = false, found = p->options.length == 0;
  for (size_t i = 0; i < p->data.count && !found; i++) {
    const rs_plot_file *file = &p->data.files[i];
    if (file->table == NULL || rs_plot_column_of(file, RS_PLOT_INDEX, 0) == NULL) continue;
    for (size_t k = 0; k < file->cell_count && !found; k++) found = file->cells[k].length == (double)p->options.length;
    if (!curves) list_lengths(file, &lengths);
    curves = true;
  }
  rs_status status = RS_OK;
  if (curves && !found)
    status = rs_fail_on(p->err, RS_INPUT, "length", "there is no curve at %zu tokens (there are at %s)",
                        p->options.length, rs_text_string(&lengths));
  rs_text_clear(&lengths);
  return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* folder/name.ending. Owned by the caller. */
static char *path_of(const plotter *p, const char *name, const char *ending) {
  rs_text file = {0};
  rs_text_printf(&file, "%s.%s", name, ending);
  char *path = rs_text_check(&file, p->err) == RS_OK ? rs_path_join(p->folder, file.data, p->err) : NULL;
  rs_text_clear(&file);
  return path;
}

static rs_status write_file(plotter *p, const char *path, const rs_text *bytes) {
  if (!p->folder_there) RS_TRY(rs_make_directories(p->folder, p->err));
  p->folder_there = true;
  RS_TRY(rs_file_write(path, bytes->data, bytes->length, p->err));
  return rs_plot_report_add(p->report, path, p->err);
}

/* One file of a picture; `svg` is its text. */
static rs_status write_format(plotter *p, const rs_plot_picture *picture, const rs_text *svg, rs_plot_format format,
                              const char *name) {
  rs_text bytes = {0};
  char *path = path_of(p, name, rs_plot_format_name(format));
  rs_status status = path != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK && format != RS_PLOT_SVG)
    status = rs_plot_render(svg, picture->width, picture->height, format, &bytes, p->err);
  if (status == RS_OK) status = rs_text_check(&bytes, p->err);
  if (status == RS_OK) status = write_file(p, path, format == RS_PLOT_SVG ? svg : &bytes);
  rs_text_clear(&bytes);
  free(path);
  return status;
}

static rs_status write_picture(plotter *p, const rs_plot_picture *picture, const char *name) {
  rs_text svg = {0};
  rs_plot_svg_write(picture, &svg);
  rs_status status = rs_text_check(&svg, p->err);
  for (unsigned format = 1; format <= RS_PLOT_FORMATS && status == RS_OK; format <<= 1) {
    if ((p->options.formats & format) != 0) status = write_format(p, picture, &svg, (rs_plot_format)format, name);
  }
  rs_text_clear(&svg);
  return status;
}

static rs_status draw_items(plotter *p) {
  rs_plot_measure measure = {0};
  rs_status status = RS_OK;
  for (size_t i = 0; i < p->list.count && status == RS_OK; i++) {
    const rs_plot_item *item = &p->list.items[i];
    rs_plot_picture picture = {0};
    if (measure.column != item->column) {
      rs_plot_measure_clear(&measure);
      status = rs_plot_measure_read(&p->data, item->file, item->column, &measure, p->err);
    }
    if (status == RS_OK) status = rs_plot_draw(&measure, item, p->styles, &picture, NULL, p->err);
    if (status == RS_OK) status = write_picture(p, &picture, item->name);
    rs_plot_picture_clear(&picture);
  }
  rs_plot_measure_clear(&measure);
  return status;
}

static rs_status draw_folder(plotter *p) {
  char fingerprint[RS_PLOT_FINGERPRINT];
  if ((p->options.formats & ~(unsigned)RS_PLOT_SVG) != 0) RS_TRY(rs_plot_render_check(p->err));
  p->folder = rs_path_join(p->directory, "plots", p->err);
  if (p->folder == NULL) return RS_MEMORY;
  RS_TRY(rs_plot_folder_read(p->directory, &p->data, &p->styles, p->report, p->err));
  RS_TRY(check_length(p));
  RS_TRY(rs_plot_list_read(&p->data, (double)p->options.length, &p->list, p->report, p->err));
  if (p->list.count == 0)
    return rs_fail(p->err, RS_INPUT, "%s: nothing to draw: no file that manifest.json lists has a value", p->directory);
  RS_TRY(rs_plot_list_filter(&p->list, &p->options, p->report, p->err));
  RS_TRY(draw_items(p));
  RS_TRY(rs_plot_fingerprint(&p->data, fingerprint, p->err));
  RS_TRY(rs_plot_drawn_update(p->folder, fingerprint, p->report, p->err));
  return rs_plot_index_write(p->folder, p->data.name, p->err);
}

rs_status rs_plot_results(const char *directory, const rs_plot_options *options, rs_plot_report *report, rs_err *err) {
  plotter p = {.directory = directory, .report = report, .err = err};
  if (options != NULL) p.options = *options;
  if (p.options.formats == 0) p.options.formats = RS_PLOT_SVG;
  rs_status status = draw_folder(&p);
  rs_plot_data_clear(&p.data);
  rs_plot_list_clear(&p.list);
  free(p.styles);
  free(p.folder);
  return status;
}

rs_status rs_plot_remove_stale(const char *directory, rs_plot_report *report, rs_err *err) {
  rs_plot_data data = {0};
  char fingerprint[RS_PLOT_FINGERPRINT], *folder = rs_path_join(directory, "plots", err);
  char *list = folder != NULL ? rs_path_join(folder, ".drawn", err) : NULL;
  bool drawn = list != NULL && access(list, F_OK) == 0;
  rs_status status = list != NULL ? RS_OK : RS_MEMORY;
  if (drawn) status = rs_plot_manifest_read(directory, &data, err);
  if (status == RS_OK && drawn) status = rs_plot_fingerprint(&data, fingerprint, err);
  if (status == RS_OK && drawn) status = rs_plot_drawn_update(folder, fingerprint, report, err);
  if (status == RS_OK && drawn) status = rs_plot_index_write(folder, data.name, err);
  rs_plot_data_clear(&data);
  free(folder);
  free(list);
  return status;
}
