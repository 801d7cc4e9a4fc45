/* paper_svg.c: a picture as a list of shapes, and these as SVG 1.1. Adding never fails in the caller's face: the first
 * failure is kept, and asked for once, at the end. The SVG has no ids and no style sheet, so that several pictures can
 * stand in one page; no clipping, for nothing is drawn outside its place. */
#include "paper.h"

#include "io/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAU 6.283185307179586

enum { PER_LINE = 8 }; /* points on one line of the file */

rs_plot_shape *rs_plot_shape_add(rs_plot_picture *picture, rs_plot_kind kind, uint32_t colour, double size) {
  rs_plot_shape *shape = &picture->spare;
  picture->memory.failed |= RS_GROW(picture->shapes, &picture->capacity, picture->count + 1, NULL) != RS_OK;
  if (!picture->memory.failed) shape = &picture->shapes[picture->count++];
  *shape = (rs_plot_shape){.kind = kind, .begin = picture->point_count, .colour = colour, .size = size, .opacity = 1};
  return shape;
}

void rs_plot_point_add(rs_plot_picture *picture, double x, double y) {
  picture->memory.failed |= RS_GROW(picture->points, &picture->point_capacity, picture->point_count + 1, NULL) != RS_OK;
  if (picture->memory.failed) return;
  picture->points[picture->point_count++] = (rs_plot_xy){x, y};
  picture->shapes[picture->count - 1].count++;
}

rs_plot_shape *rs_plot_segment_add(rs_plot_picture *picture, double x1, double y1, double x2, double y2,
                                   uint32_t colour, double width) {
  rs_plot_shape *shape = rs_plot_shape_add(picture, RS_PLOT_LINE, colour, width);
  rs_plot_point_add(picture, x1, y1);
  rs_plot_point_add(picture, x2, y2);
  return shape;
}

rs_plot_shape *rs_plot_text_add(rs_plot_picture *picture, double x, double y, const char *text, double size,
                                rs_plot_anchor anchor, uint32_t colour) {
  rs_plot_shape *shape = rs_plot_shape_add(picture, RS_PLOT_TEXT, colour, size);
  rs_plot_point_add(picture, x, y);
  shape->anchor = anchor;
  shape->text = rs_arena_text(&picture->memory, text);
  return shape;
}

rs_plot_shape *rs_plot_markers_add(rs_plot_picture *picture, const rs_plot_style *style, double radius) {
  rs_plot_shape *shape = rs_plot_shape_add(picture, RS_PLOT_MARKERS, style->colour, radius);
  shape->marker = style->marker;
  shape->hollow = style->hollow;
  return shape;
}

void rs_plot_label_add(rs_plot_picture *picture, double x, double y, const rs_plot_tick *tick, rs_plot_anchor anchor) {
  rs_plot_shape *text = rs_plot_text_add(picture, x, y, tick->label, RS_PLOT_TICK_SIZE, anchor, RS_PLOT_INK);
  if (tick->power[0] != '\0') text->power = rs_arena_text(&picture->memory, tick->power);
}

const char *rs_plot_keep(rs_arena *memory, rs_text *text) {
  const char *kept = rs_arena_text(memory, rs_text_string(text));
  memory->failed |= text->failed;
  rs_text_clear(text);
  return kept != NULL ? kept : "";
}

rs_status rs_plot_picture_check(const rs_plot_picture *picture, rs_err *err) {
  return picture->memory.failed ? rs_fail(err, RS_MEMORY, "out of memory for a picture") : RS_OK;
}

void rs_plot_picture_clear(rs_plot_picture *picture) {
  free(picture->shapes);
  free(picture->points);
  rs_arena_clear(&picture->memory);
  *picture = (rs_plot_picture){0};
}

/* ---- markers ----------------------------------------------------------------------------------------------------- */

/* A star-shaped polygon: `count` corners at the radii outer, inner, outer, ..., the first at `turn` (1 is full). */
static size_t ring(size_t count, double outer, double inner, double turn, rs_plot_xy *corners) {
  for (size_t i = 0; i < count; i++) {
    double angle = TAU * ((double)i / (double)count + turn), radius = i % 2 == 0 ? outer : inner;
    corners[i] = (rs_plot_xy){radius * sin(angle), -radius * cos(angle)};
  }
  return count;
}

/* A plus sign of arms `half` wide from the middle, turned. */
static size_t cross(double radius, double turn, rs_plot_xy *corners) {
  static const signed char path[12][2] = {{-1, -2}, {1, -2}, {1, -1}, {2, -1}, {2, 1},   {1, 1},
                                          {1, 2},   {-1, 2}, {-1, 1}, {-2, 1}, {-2, -1}, {-1, -1}};
  double half = radius * 0.36, cosine = cos(TAU * turn), sine = sin(TAU * turn);
  for (size_t i = 0; i < 12; i++) {
    double x = path[i][0] == 2 || path[i][0] == -2 ? path[i][0] / 2.0 * radius : path[i][0] * half;
    double y = path[i][1] == 2 || path[i][1] == -2 ? path[i][1] / 2.0 * radius : path[i][1] * half;
    corners[i] = (rs_plot_xy){x * cosine - y * sine, x * sine + y * cosine};
  }
  return 12;
}

/* The factors make the markers look equally large. */
size_t rs_plot_marker_corners(size_t marker, double radius, rs_plot_xy corners[RS_PLOT_CORNERS]) {
  switch (marker) {
  case 1: return ring(4, radius * 1.25, radius * 1.25, 0.125, corners); /* square */
  case 2: return ring(3, radius * 1.35, radius * 1.35, 0, corners);     /* triangle, point up */
  case 3: return ring(4, radius * 1.4, radius * 1.4, 0, corners);       /* diamond */
  case 4: return ring(3, radius * 1.35, radius * 1.35, 0.5, corners);   /* triangle, point down */
  case 5: return cross(radius * 1.25, 0, corners);                      /* plus */
  case 6: return cross(radius * 1.35, 0.125, corners);                  /* cross */
  case 7: return ring(10, radius * 1.5, radius * 0.65, 0, corners);     /* star */
  default: return 0;                                                    /* circle */
  }
}

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
  rs_xml_escape(shape->text, out);
  if (shape->power != NULL) {
    rs_text_puts(out, "<tspan");
    put_attribute(out, "dy", -0.4 * shape->size);
    put_attribute(out, "font-size", 0.75 * shape->size);
    rs_text_puts(out, ">");
    rs_xml_escape(shape->power, out);
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
  rs_xml_escape(picture->title, out);
  rs_text_puts(out, "</title>\n<desc>");
  rs_xml_escape(picture->description, out);
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
