/* test_plot_render.c: PNG and PDF by their bytes: size, words, and the colours of pixels where the SVG says that they
 * are. Without librsvg, what a user is told. */
#include "../../src/pages/plot/paper.h"
#include "plot_fixture.h"

#ifdef ROPESCOPE_LIBRSVG
#include <cairo.h>
#endif

static const rs_plot_options all_formats = {.formats = RS_PLOT_FORMATS};

static void put_entropy(void) {
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message", ROWS);
}

Test(plot_render, formats__lists__are_sets) {
  static const struct {
    const char *list;
    unsigned formats;
  } cases[] = {{"svg", 1}, {"png", 2}, {"pdf", 4}, {"pdf,svg", 5}, {"svg,png,pdf", 7}, {"png,png", 2}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    unsigned formats = 99;
    cr_assert_eq(rs_plot_formats_read(cases[i].list, &formats, NULL), RS_OK, "%s", cases[i].list);
    cr_assert_eq(formats, cases[i].formats, "%s: %u", cases[i].list, formats);
  }
  static const char *const wrong[] = {"", "svg,", ",svg", "SVG", "jpg", "sv", "svgz", "svg png"};
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    rs_err err = {0};
    unsigned formats;
    cr_assert_eq(rs_plot_formats_read(wrong[i], &formats, &err), RS_INPUT, "%s", wrong[i]);
    cr_assert_not_null(strstr(err.message, "is not one of svg, png, pdf"), "%s", err.message);
  }
}

Test(plot_render, results__of_the_formats_asked_for__have_these_files, .init = make_folder, .fini = remove_folder) {
  put_entropy();
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  cr_assert(exists("plots/entropy_nats--gaussian.svg") && !exists("plots/entropy_nats--gaussian.png"));
  if (rs_plot_render_check(NULL) != RS_OK) {
    cr_assert_eq(draw_all(&all_formats, RS_UNSUPPORTED, ""), 0u);
    cr_skip("no librsvg or no font here");
  }
  cr_assert_eq(remove(path_in("plots/entropy_nats--gaussian.svg")), 0);
  cr_assert_eq(draw_all(&(rs_plot_options){.formats = RS_PLOT_PDF}, RS_OK, NULL), 1u);
  cr_assert(exists("plots/entropy_nats--gaussian.pdf") && !exists("plots/entropy_nats--gaussian.svg"));
  cr_assert_eq(draw_all(&all_formats, RS_OK, NULL), 3u);
  cr_assert(exists("plots/entropy_nats--gaussian.png") && exists("plots/entropy_nats--gaussian.svg"));
}

#ifdef ROPESCOPE_LIBRSVG

/* A machine without fonts gives pictures without words: that is an error, before any file. */
Test(plot_render, results__without_a_font__say_so_and_write_nothing, .init = make_folder, .fini = remove_folder) {
  put_entropy();
  put_file("fonts.conf", "<?xml version=\"1.0\"?><fontconfig></fontconfig>");
  setenv("FONTCONFIG_FILE", path_in("fonts.conf"), 1);
  cr_assert_eq(draw_all(&all_formats, RS_UNSUPPORTED, "apt-get install fonts-dejavu-core"), 0u);
  cr_assert_not(exists("plots"));
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u, "an SVG brings no glyphs");
}

static uint32_t pixel_at(cairo_surface_t *image, double x, double y) {
  const unsigned char *row = cairo_image_surface_get_data(image) + (int)y * cairo_image_surface_get_stride(image);
  uint32_t pixel;
  memcpy(&pixel, row + (int)x * 4, sizeof pixel);
  return pixel & 0xFFFFFF;
}

/* How many pixels of a box (in CSS pixels) are nearly black. */
static size_t count_ink(cairo_surface_t *image, double left, double right, double top, double bottom) {
  size_t count = 0;
  for (double y = 2 * top; y < 2 * bottom; y++)
    for (double x = 2 * left; x < 2 * right; x++) count += (pixel_at(image, x, y) & 0xFF) < 0x40;
  return count;
}

/* A picture of hundreds of rows is smaller in proportion, not refused. */
Test(plot_render, png__of_a_tall_picture__is_as_large_as_images_can_be) {
  enum { HEIGHT_AT = 20, BEGIN = 24 };
  static const char drawing[] = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"40000\"/>";
  rs_text svg = {0}, png = {0};
  rs_err err = {0};
  rs_text_puts(&svg, drawing);
  cr_assert_eq(rs_plot_render(&svg, 10, 40000, RS_PLOT_PNG, &png, &err), RS_OK, "%s", err.message);
  cr_assert_gt(png.length, BEGIN);
  const unsigned char *height = (const unsigned char *)png.data + HEIGHT_AT;
  cr_assert_eq((height[2] << 8) + height[3], 32767);
  rs_text_clear(&svg);
  rs_text_clear(&png);
}

Test(plot_render, png__shows_what_the_svg_says, .init = make_folder, .fini = remove_folder) {
  rs_err err = {0};
  if (rs_plot_render_check(&err) != RS_OK) cr_skip("%s", err.message);
  put_entropy();
  draw_all(&all_formats, RS_OK, NULL);
  char *svg = picture_text("plots/entropy_nats--gaussian.svg"), *png = picture_text("plots/entropy_nats--gaussian.png");
  cr_assert_eq(memcmp(png, "\x89PNG\r\n\x1a\n", 8), 0);
  cairo_surface_t *image = cairo_image_surface_create_from_png(path_in("plots/entropy_nats--gaussian.png"));
  cr_assert_eq(cairo_surface_status(image), CAIRO_STATUS_SUCCESS);
  double width = atof(strstr(svg, " width=\"") + 8), height = atof(strstr(svg, " height=\"") + 9);
  cr_assert_eq(cairo_image_surface_get_width(image), (int)(2 * width), "%g", width);
  cr_assert_eq(cairo_image_surface_get_height(image), (int)(2 * height), "%g", height);
  cr_assert_eq(pixel_at(image, 1, 1), 0xFFFFFFu, "paper");
  /* The first marker: a path "M x y a r r ..." of a circle, from its left. */
  const char *marker = strstr(svg, "stroke-width=\"0.8\" d=\"M");
  double x, y, radius;
  cr_assert_not_null(marker);
  cr_assert_eq(sscanf(strstr(marker, "d=\"M") + 4, "%lf %lfa%lf", &x, &y, &radius), 3);
  const char *fill = marker;
  while (strncmp(fill, "fill=\"#", 7) != 0) fill--;
  cr_assert_eq(pixel_at(image, 2 * (x + radius), 2 * y), (uint32_t)strtoul(fill + 7, NULL, 16));
  /* The title's letters: bold, so about a fifth of their box is ink. */
  const char *title = strstr(svg, "<text");
  double left = atof(strstr(title, " x=\"") + 4), base = atof(strstr(title, " y=\"") + 4);
  size_t ink = count_ink(image, left, left + 60, base - 13, base);
  cr_assert(ink > 300 && ink < 2500, "%zu of 3120 pixels", ink);
  cairo_surface_destroy(image);
  free(svg);
  free(png);
}

Test(plot_render, pdf__is_a_page_with_its_font_and_the_same_bytes_again, .init = make_folder, .fini = remove_folder) {
  rs_err err = {0};
  size_t length, again;
  double width, height;
  if (rs_plot_render_check(&err) != RS_OK) cr_skip("%s", err.message);
  put_entropy();
  draw_all(&all_formats, RS_OK, NULL);
  char *svg = picture_text("plots/entropy_nats--gaussian.svg");
  char *pdf = read_picture("plots/entropy_nats--gaussian.pdf", &length);
  cr_assert_eq(memcmp(pdf, "%PDF-1.4", 8), 0, "later ones may hide box and font in compressed objects");
  const char *box = memmem(pdf, length, "/MediaBox [ 0 0 ", 16);
  cr_assert_not_null(box);
  cr_assert_eq(sscanf(box + 16, "%lf %lf", &width, &height), 2);
  cr_assert_float_eq(width, 0.75 * atof(strstr(svg, " width=\"") + 8), 0.01, "%g", width);
  cr_assert_float_eq(height, 0.75 * atof(strstr(svg, " height=\"") + 9), 0.01, "%g", height);
  cr_assert_not_null(memmem(pdf, length, "/FontFile", 9), "letters, not pictures of them");
  draw_all(&all_formats, RS_OK, NULL);
  char *other = read_picture("plots/entropy_nats--gaussian.pdf", &again);
  cr_assert(again == length && memcmp(other, pdf, length) == 0);
  free(svg);
  free(pdf);
  free(other);
}

#else

Test(plot_render, results__without_librsvg__say_how_to_get_it, .init = make_folder, .fini = remove_folder) {
  put_entropy();
  cr_assert_eq(draw_all(&all_formats, RS_UNSUPPORTED, "apt-get install librsvg2-dev"), 0u);
  cr_assert_not(exists("plots"), "nothing was written");
}

#endif
