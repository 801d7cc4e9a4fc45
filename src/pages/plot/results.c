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
  rs_plot_measure measure;
  rs_plot_picture picture; /* and its text, a file of it, and where that goes: */
  rs_text svg, bytes;
  char *path; /* owned */
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

static rs_status write_file(plotter *p, const rs_text *bytes) {
  if (!p->folder_there) RS_TRY(rs_make_directories(p->folder, p->err));
  p->folder_there = true;
  RS_TRY(rs_file_write(p->path, bytes->data, bytes->length, p->err));
  return rs_plot_report_add(p->report, p->path, p->err);
}

/* One file of the picture. */
static rs_status write_format(plotter *p, rs_plot_format format, const char *name) {
  rs_text_clear(&p->bytes);
  rs_text_printf(&p->bytes, "%s.%s", name, rs_plot_format_name(format));
  RS_TRY(rs_text_check(&p->bytes, p->err));
  free(p->path);
  p->path = rs_path_join(p->folder, p->bytes.data, p->err);
  if (p->path == NULL) return RS_MEMORY;
  if (format == RS_PLOT_SVG) return write_file(p, &p->svg);
  p->bytes.length = 0;
  RS_TRY(rs_plot_render(&p->svg, p->picture.width, p->picture.height, format, &p->bytes, p->err));
  RS_TRY(rs_text_check(&p->bytes, p->err));
  return write_file(p, &p->bytes);
}

static rs_status draw_item(plotter *p, const rs_plot_item *item) {
  rs_plot_picture_clear(&p->picture);
  rs_text_clear(&p->svg);
  RS_TRY(rs_plot_measure_read(&p->data, item->file, item->column, &p->measure, p->err));
  RS_TRY(rs_plot_draw(&p->measure, item, p->styles, &p->picture, NULL, p->err));
  rs_plot_svg_write(&p->picture, &p->svg);
  RS_TRY(rs_text_check(&p->svg, p->err));
  for (unsigned format = 1; format <= RS_PLOT_FORMATS; format <<= 1)
    if ((p->options.formats & format) != 0) RS_TRY(write_format(p, (rs_plot_format)format, item->name));
  return RS_OK;
}

/* Removes what was drawn from other results, and shows the rest. */
static rs_status update_folder(plotter *p) {
  char fingerprint[RS_PLOT_FINGERPRINT];
  RS_TRY(rs_plot_fingerprint(&p->data, fingerprint, p->err));
  RS_TRY(rs_plot_drawn_update(p->folder, fingerprint, p->report, p->err));
  return rs_plot_index_write(p->folder, p->data.name, p->err);
}

static rs_status draw_folder(plotter *p) {
  if ((p->options.formats & ~(unsigned)RS_PLOT_SVG) != 0) RS_TRY(rs_plot_render_check(p->err));
  p->folder = rs_path_join(p->directory, "plots", p->err);
  if (p->folder == NULL) return RS_MEMORY;
  RS_TRY(rs_plot_folder_read(p->directory, &p->data, &p->styles, p->report, p->err));
  RS_TRY(check_length(p));
  RS_TRY(rs_plot_list_read(&p->data, (double)p->options.length, &p->list, p->report, p->err));
  if (p->list.count == 0)
    return rs_fail(p->err, RS_INPUT, "%s: nothing to draw: no file that manifest.json lists has a value", p->directory);
  RS_TRY(rs_plot_list_filter(&p->list, &p->options, p->report, p->err));
  for (size_t i = 0; i < p->list.count; i++) RS_TRY(draw_item(p, &p->list.items[i]));
  return update_folder(p);
}

static rs_status remove_stale(plotter *p) {
  p->folder = rs_path_join(p->directory, "plots", p->err);
  p->path = p->folder != NULL ? rs_path_join(p->folder, ".drawn", p->err) : NULL;
  if (p->path == NULL) return RS_MEMORY;
  if (access(p->path, F_OK) != 0) return RS_OK;
  RS_TRY(rs_plot_manifest_read(p->directory, &p->data, p->err));
  return update_folder(p);
}

static rs_status finish(plotter *p, rs_status status) {
  rs_plot_measure_clear(&p->measure);
  rs_plot_picture_clear(&p->picture);
  rs_text_clear(&p->svg);
  rs_text_clear(&p->bytes);
  rs_plot_data_clear(&p->data);
  rs_plot_list_clear(&p->list);
  free(p->styles);
  free(p->folder);
  free(p->path);
  return status;
}

rs_status rs_plot_results(const char *directory, const rs_plot_options *options, rs_plot_report *report, rs_err *err) {
  plotter p = {.directory = directory, .report = report, .err = err};
  if (options != NULL) p.options = *options;
  if (p.options.formats == 0) p.options.formats = RS_PLOT_SVG;
  return finish(&p, draw_folder(&p));
}

rs_status rs_plot_remove_stale(const char *directory, rs_plot_report *report, rs_err *err) {
  plotter p = {.directory = directory, .report = report, .err = err};
  return finish(&p, remove_stale(&p));
}
