/* render.c: the SVG is the one description of a picture. librsvg reads it, cairo paints it: as pixels for slides and
 * web pages, as a page for papers. */
#include "paper.h"

#include <string.h>

/* Names are the endings of files. */
static const struct {
  rs_plot_format format;
  const char *name;
} formats[] = {{RS_PLOT_SVG, "svg"}, {RS_PLOT_PNG, "png"}, {RS_PLOT_PDF, "pdf"}};

const char *rs_plot_format_name(rs_plot_format format) {
  size_t i = 0;
  while (i + 1 < RS_COUNT(formats) && formats[i].format != format) i++;
  return formats[i].name;
}

unsigned rs_plot_format_of(const char *file) {
  size_t length = strlen(file);
  for (size_t i = 0; i < RS_COUNT(formats) && length > 4 && file[length - 4] == '.'; i++)
    if (strcmp(file + length - 3, formats[i].name) == 0) return formats[i].format;
  return 0;
}

rs_status rs_plot_formats_read(const char *list, unsigned *chosen, rs_err *err) {
  *chosen = 0;
  for (const char *word = list;; word++) {
    size_t length = strcspn(word, ","), i = 0;
    while (i < RS_COUNT(formats) && (strlen(formats[i].name) != length || strncmp(word, formats[i].name, length) != 0))
      i++;
    if (i == RS_COUNT(formats))
      return rs_fail_on(err, RS_INPUT, "format", "\"%.*s\" is not one of svg, png, pdf", (int)length, word);
    *chosen |= formats[i].format;
    word += length;
    if (*word == '\0') return RS_OK;
  }
}

#ifdef ROPESCOPE_LIBRSVG

#include <cairo-pdf.h>
#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <librsvg/rsvg.h>
#include <math.h>

#define PNG_SCALE 2 /* pixels for one CSS pixel: sharp on screens of 200 dots an inch */
#define POINTS 0.75 /* of 1/72 inch in a CSS pixel of 1/96 inch */

/* A PDF says when it was made; a fixed time keeps its bytes the same. */
#define CREATED "2000-01-01T00:00:00Z"

/* Without any font librsvg leaves all words out, and says nothing. */
rs_status rs_plot_render_check(rs_err *err) {
  const FcFontSet *fonts = FcConfigGetFonts(NULL, FcSetSystem);
  if (fonts != NULL && fonts->nfont > 0) return RS_OK;
  return rs_fail(err, RS_UNSUPPORTED,
                 "PNG and PDF need a font, and there is none (on Debian: apt-get install fonts-dejavu-core)");
}

static cairo_status_t append(void *closure, const unsigned char *bytes, unsigned count) {
  rs_text *out = closure;
  rs_text_add(out, (const char *)bytes, count);
  return out->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static rs_status check_cairo(cairo_status_t status, rs_err *err) {
  if (status == CAIRO_STATUS_SUCCESS) return RS_OK;
  if (status == CAIRO_STATUS_NO_MEMORY) return rs_fail(err, RS_MEMORY, "out of memory for a picture");
  return rs_fail(err, RS_INTERNAL, "cairo: %s", cairo_status_to_string(status));
}

/* Paints the SVG on a surface that has `scale` units for one CSS pixel. */
static rs_status paint(RsvgHandle *svg, double width, double height, double scale, cairo_surface_t *surface,
                       rs_err *err) {
  const RsvgRectangle page = {0, 0, width, height};
  GError *why = NULL;
  cairo_t *context = cairo_create(surface);
  cairo_scale(context, scale, scale);
  bool painted = rsvg_handle_render_document(svg, context, &page, &why);
  rs_status status = check_cairo(cairo_status(context), err);
  if (status == RS_OK && !painted) status = rs_fail(err, RS_INTERNAL, "librsvg: %s", why != NULL ? why->message : "");
  g_clear_error(&why);
  cairo_destroy(context);
  return status;
}

static rs_status make_png(RsvgHandle *svg, double width, double height, rs_text *out, rs_err *err) {
  const double most = 32767; /* pixels of a side: cairo's images have no more */
  double scale = fmin(PNG_SCALE, most / fmax(width, height));
  cairo_surface_t *surface =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(scale * width), (int)(scale * height));
  rs_status status = paint(svg, width, height, scale, surface, err);
  if (status == RS_OK) status = check_cairo(cairo_surface_write_to_png_stream(surface, append, out), err);
  cairo_surface_destroy(surface);
  return status;
}

static rs_status make_pdf(RsvgHandle *svg, double width, double height, rs_text *out, rs_err *err) {
  cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(append, out, POINTS * width, POINTS * height);
  /* Left alone, cairo 1.18 writes PDF 1.7, of which pdfTeX warns. */
  cairo_pdf_surface_restrict_to_version(surface, CAIRO_PDF_VERSION_1_4);
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, CREATED);
  rs_status status = paint(svg, width, height, POINTS, surface, err);
  cairo_surface_finish(surface);
  if (status == RS_OK) status = check_cairo(cairo_surface_status(surface), err);
  cairo_surface_destroy(surface);
  return status;
}

rs_status rs_plot_render(const rs_text *svg, double width, double height, rs_plot_format format, rs_text *out,
                         rs_err *err) {
  GError *why = NULL;
  RsvgHandle *handle = rsvg_handle_new_from_data((const guint8 *)rs_text_string(svg), svg->length, &why);
  rs_status status = RS_OK;
  if (handle == NULL) status = rs_fail(err, RS_INTERNAL, "librsvg: %s", why != NULL ? why->message : "");
  g_clear_error(&why);
  if (status == RS_OK) status = (format == RS_PLOT_PDF ? make_pdf : make_png)(handle, width, height, out, err);
  if (handle != NULL) g_object_unref(handle);
  return status;
}

#else

rs_status rs_plot_render_check(rs_err *err) {
  return rs_fail(err, RS_UNSUPPORTED,
                 "this build makes no PNG and PDF: it was compiled without librsvg (on Debian: apt-get install "
                 "librsvg2-dev fonts-dejavu-core, then meson setup --reconfigure build && ninja -C build)");
}

rs_status rs_plot_render(const rs_text *svg, double width, double height, rs_plot_format format, rs_text *out,
                         rs_err *err) {
  (void)svg, (void)width, (void)height, (void)format, (void)out;
  return rs_plot_render_check(err);
}

#endif
