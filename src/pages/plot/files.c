/* files.c: pictures of a folder as files in its plots/. PNG and PDF are rendered here and nowhere else, so that a
 * program that links views alone needs no cairo. */
#include "forms.h"

#include <stdlib.h>
#include <unistd.h>

static rs_status write_file(rs_plotter *p, const rs_text *bytes) {
  if (!p->folder_there) RS_TRY(rs_make_directories(p->folder, p->err));
  p->folder_there = true;
  RS_TRY(rs_file_write(p->path, bytes->data, bytes->length, p->err));
  return rs_plot_report_add(p->report, p->path, p->err);
}

/* One file of the picture. */
static rs_status write_format(rs_plotter *p, rs_plot_format format, const char *name) {
  rs_text_clear(&p->bytes);
  rs_text_printf(&p->bytes, "%s.%s", name, rs_plot_format_name(format));
  RS_TRY(rs_text_check(&p->bytes, p->err));
  free(p->path);
  p->path = rs_path_join(p->folder, p->bytes.data, p->err);
  if (p->path == NULL) return RS_MEMORY;
  if (format == RS_PLOT_SVG) return write_file(p, &p->text);
  p->bytes.length = 0;
  RS_TRY(rs_plot_render(&p->text, p->picture.width, p->picture.height, format, &p->bytes, p->err));
  RS_TRY(rs_text_check(&p->bytes, p->err));
  return write_file(p, &p->bytes);
}

static rs_status draw_folder(rs_plotter *p) {
  if ((p->options.formats & ~(unsigned)RS_PLOT_SVG) != 0) RS_TRY(rs_plot_render_check(p->err));
  p->folder = rs_path_join(p->directory, "plots", p->err);
  if (p->folder == NULL) return RS_MEMORY;
  RS_TRY(rs_plotter_read(p, (double)p->options.length));
  if (p->list.count == 0)
    return rs_fail(p->err, RS_INPUT, "%s: nothing to draw: no file that manifest.json lists has a value", p->directory);
  RS_TRY(rs_plot_list_filter(&p->list, &p->options, p->report, p->err));
  for (size_t i = 0; i < p->list.count; i++) {
    rs_text_clear(&p->text);
    RS_TRY(rs_plotter_draw(p, &p->list.items[i], NULL));
    for (unsigned format = 1; format <= RS_PLOT_FORMATS; format <<= 1)
      if ((p->options.formats & format) != 0) RS_TRY(write_format(p, (rs_plot_format)format, p->list.items[i].name));
  }
  return rs_plot_drawn_update(p->folder, &p->data, p->report, p->err);
}

rs_status rs_plot_results(const char *directory, const rs_plot_options *options, rs_plot_report *report, rs_err *err) {
  rs_plotter p = {.directory = directory, .report = report, .err = err};
  if (options != NULL) p.options = *options;
  if (p.options.formats == 0) p.options.formats = RS_PLOT_SVG;
  return rs_plotter_finish(&p, draw_folder(&p));
}

static rs_status remove_stale(rs_plotter *p) {
  p->folder = rs_path_join(p->directory, "plots", p->err);
  p->path = p->folder != NULL ? rs_path_join(p->folder, ".drawn", p->err) : NULL;
  if (p->path == NULL) return RS_MEMORY;
  if (access(p->path, F_OK) != 0) return RS_OK;
  RS_TRY(rs_plot_manifest_read(p->directory, &p->data, p->err));
  return rs_plot_drawn_update(p->folder, &p->data, p->report, p->err);
}

rs_status rs_plot_remove_stale(const char *directory, rs_plot_report *report, rs_err *err) {
  rs_plotter p = {.directory = directory, .report = report, .err = err};
  return rs_plotter_finish(&p, remove_stale(&p));
}
