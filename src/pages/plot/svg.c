/* svg.c: a picture as SVG 1.1. No ids and no style sheet, so that several pictures can stand in one page; no clipping,
 * for nothing is drawn outside its place. */
#include "paper.h"

#include "io/io.h"

#include <math.h>

enum { PER_LINE = 8 }; /* points on one line of the file */

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* A coordinate to a hundredth of a pixel: finer than any printer at column width. */
static void put(rs_text *out, double value) {
  rs_text_number(out, round(value * 100) / 100);
}

static void put_pair(rs_text *out, double x, double y) {
  put(out, x);
  rs_text_puts(out, " ");
  put(out, y);
}

static void put_attribute(rs_text *out, const char *name, double value) {
  rs_text_printf(out, " %s=\"", name);
  put(out, value);
  rs_text_puts(out, "\"");
}

static void put_colour(rs_text *out, const char *name, uint32_t colour) {
  rs_text_printf(out, " %s=\"#%06x\"", name, (unsigned)colour);
}

static void put_path(const rs_plot_picture *picture, const rs_plot_shape *shape, rs_text *out) {
  for (size_t i = 0; i < shape->count; i++) {
    const rs_plot_xy *point = &picture->points[shape->begin + i];
    rs_text_puts(out, i == 0 ? "M" : i % PER_LINE == 0 ? "\nL" : "L");
    put_pair(out, point->x, point->y);
  }
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static void write_line(const rs_plot_picture *picture, const rs_plot_shape *shape, rs_text *out) {
  rs_text_puts(out, "<path fill=\"none\"");
  put_colour(out, "stroke", shape->colour);
  put_attribute(out, "stroke-width", shape->size);
  for (size_t i = 0; i < shape->dashes; i++) {
    rs_text_puts(out, i == 0 ? " stroke-dasharray=\"" : " ");
    put(out, shape->dash[i]);
  }
  if (shape->dashes > 0) rs_text_puts(out, "\"");
  if (shape->lead > 0) put_attribute(out, "stroke-dashoffset", -shape->lead);
  if (shape->opacity < 1) put_attribute(out, "stroke-opacity", shape->opacity);
  rs_text_puts(out, " d=\"");
  put_path(picture, shape, out);
  rs_text_puts(out, "\"/>\n");
}

static void write_area(const rs_plot_picture *picture, const rs_plot_shape *shape, rs_text *out) {
  rs_text_puts(out, "<path");
  put_colour(out, "fill", shape->colour);
  put_attribute(out, "fill-opacity", shape->opacity);
  rs_text_puts(out, " d=\"");
  put_path(picture, shape, out);
  rs_text_puts(out, "Z\"/>\n");
}

/* One marker as a closed path, from its middle. */
static void put_marker(const rs_plot_shape *shape, const rs_plot_xy *point, rs_text *out) {
  rs_plot_xy corners[RS_PLOT_CORNERS];
  size_t count = rs_plot_marker_corners(shape->marker, shape->size, corners);
  if (count == 0) {
    rs_text_puts(out, "M");
    put_pair(out, point->x - shape->size, point->y);
    for (int half = 1; half >= -1; half -= 2) {
      rs_text_puts(out, "a");
      put_pair(out, shape->size, shape->size);
      rs_text_puts(out, " 0 0 0 ");
      put_pair(out, half * 2 * shape->size, 0);
    }
  }
  for (size_t i = 0; i < count; i++) {
    rs_text_puts(out, i == 0 ? "M" : "L");
    put_pair(out, point->x + corners[i].x, point->y + corners[i].y);
  }
  rs_text_puts(out, "Z");
}

static void write_markers(const rs_plot_picture *picture, const rs_plot_shape *shape, rs_text *out) {
  if (shape->count == 0) return;
  rs_text_puts(out, "<path");
  put_colour(out, "fill", shape->hollow ? 0xFFFFFF : shape->colour);
  put_colour(out, "stroke", shape->hollow ? shape->colour : 0xFFFFFF);
  put_attribute(out, "stroke-width", shape->hollow ? 1.5 : 0.8);
  rs_text_puts(out, " d=\"");
  for (size_t i = 0; i < shape->count; i++) {
    if (i > 0) rs_text_puts(out, "\n");
    put_marker(shape, &picture->points[shape->begin + i], out);
  }
  rs_text_puts(out, "\"/>\n");
}

/* Crisp edges: neighbours share one, and half a pixel of each would show the page between them. */
static void write_cells(const rs_plot_picture *picture, const rs_plot_shape *shape, rs_text *out) {
  rs_text_puts(out, "<path shape-rendering=\"crispEdges\"");
  put_colour(out, "fill", shape->colour);
  rs_text_puts(out, " d=\"");
  for (size_t i = 0; i < shape->count; i++) {
    const rs_plot_xy *point = &picture->points[shape->begin + i];
    rs_text_puts(out, i > 0 && i % PER_LINE == 0 ? "\nM" : "M");
    put_pair(out, point->x, point->y);
    rs_text_puts(out, "h");
    put(out, shape->size);
    rs_text_puts(out, "v");
    put(out, shape->tall);
    rs_text_puts(out, "h");
    put(out, -shape->size);
    rs_text_puts(out, "z");
  }
  rs_text_puts(out, "\"/>\n");
}

static void write_text(const rs_plot_picture *picture, const rs_plot_shape *shape, rs_text *out) {
  static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  const rs_plot_xy *point = &picture->points[shape->begin];
  rs_text_puts(out, "<text");
  put_attribute(out, "x", point->x);
  put_attribute(out, "y", point->y);
  put_attribute(out, "font-size", shape->size);
  rs_text_puts(out, anchors[shape->anchor]);
  put_colour(out, "fill", shape->colour);
  if (shape->bold) rs_text_puts(out, " font-weight=\"bold\"");
  if (shape->upright) {
    rs_text_puts(out, " transform=\"rotate(-90 ");
    put_pair(out, point->x, point->y);
    rs_text_puts(out, ")\"");
  }
  rs_text_puts(out, ">");
  rs_xml_escape(picture->text.data + shape->text, out);
  if (shape->power != SIZE_MAX) {
    rs_text_puts(out, "<tspan");
    put_attribute(out, "dy", -0.4 * shape->size);
    put_attribute(out, "font-size", 0.75 * shape->size);
    rs_text_puts(out, ">");
    rs_xml_escape(picture->text.data + shape->power, out);
    rs_text_puts(out, "</tspan>");
  }
  rs_text_puts(out, "</text>\n");
}

static void write_head(const rs_plot_picture *picture, rs_text *out) {
  rs_text_puts(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ");
  put_pair(out, picture->width, picture->height);
  rs_text_puts(out, "\"");
  put_attribute(out, "width", picture->width);
  put_attribute(out, "height", picture->height);
  rs_text_puts(out, " role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" stroke-linejoin=\"round\">\n<title>");
  rs_xml_escape(rs_text_string(&picture->title), out);
  rs_text_puts(out, "</title>\n<desc>");
  rs_xml_escape(rs_text_string(&picture->description), out);
  rs_text_puts(out, "</desc>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
}

void rs_plot_svg_write(const rs_plot_picture *picture, rs_text *out) {
  static void (*const write[])(const rs_plot_picture *, const rs_plot_shape *, rs_text *) = {
      [RS_PLOT_LINE] = write_line, [RS_PLOT_AREA] = write_area,   [RS_PLOT_MARKERS] = write_markers,
      [RS_PLOT_TEXT] = write_text, [RS_PLOT_CELLS] = write_cells,
  };
  write_head(picture, out);
  for (size_t i = 0; i < picture->count; i++) write[picture->shapes[i].kind](picture, &picture->shapes[i], out);
  rs_text_puts(out, "</svg>\n");
}
