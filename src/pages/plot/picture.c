/* picture.c: a picture as a list of shapes, which the writers of files know how to draw. Adding never fails in the
 * caller's face: the first failure is kept, and asked for once, at the end. */
#include "paper.h"

#include <stdlib.h>
#include <string.h>

rs_plot_shape *rs_plot_shape_add(rs_plot_picture *picture, rs_plot_kind kind, uint32_t colour, double size) {
  if (picture->failed || RS_GROW(picture->shapes, &picture->capacity, picture->count + 1, NULL) != RS_OK) {
    picture->failed = true;
    return &picture->spare;
  }
  rs_plot_shape *shape = &picture->shapes[picture->count++];
  *shape = (rs_plot_shape){
      .kind = kind, .begin = picture->point_count, .colour = colour, .size = size, .opacity = 1, .text = SIZE_MAX};
  shape->power = SIZE_MAX;
  return shape;
}

void rs_plot_point_add(rs_plot_picture *picture, double x, double y) {
  if (picture->failed || picture->count == 0 ||
      RS_GROW(picture->points, &picture->point_capacity, picture->point_count + 1, NULL) != RS_OK) {
    picture->failed = true;
    return;
  }
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

rs_plot_shape *rs_plot_text_add(rs_plot_picture *picture, double x, double y, const char *text, size_t length,
                                double size, rs_plot_anchor anchor, uint32_t colour) {
  rs_plot_shape *shape = rs_plot_shape_add(picture, RS_PLOT_TEXT, colour, size);
  rs_plot_point_add(picture, x, y);
  shape->anchor = anchor;
  shape->text = picture->text.length;
  rs_text_add(&picture->text, text, length);
  rs_text_add(&picture->text, "", 1);
  return shape;
}

void rs_plot_power_add(rs_plot_picture *picture, rs_plot_shape *shape, const char *power) {
  if (*power == '\0') return;
  shape->power = picture->text.length;
  rs_text_add(&picture->text, power, strlen(power) + 1);
}

size_t rs_plot_rows_count(const char *text, double size, bool bold, double width) {
  size_t rows = 0;
  for (; *text != '\0'; rows++) rs_plot_wrap(text, size, bold, width, &text);
  return rows;
}

double rs_plot_rows_add(rs_plot_picture *picture, double x, double y, const char *text, double size, double row,
                        bool bold, double width, uint32_t colour) {
  while (*text != '\0') {
    const char *start = text;
    size_t length = rs_plot_wrap(start, size, bold, width, &text);
    rs_plot_text_add(picture, x, y, start, length, size, RS_PLOT_START, colour)->bold = bold;
    y += row;
  }
  return y;
}

rs_status rs_plot_picture_check(const rs_plot_picture *picture, rs_err *err) {
  bool failed = picture->failed || picture->text.failed || picture->title.failed || picture->description.failed;
  return failed ? rs_fail(err, RS_MEMORY, "out of memory for a picture") : RS_OK;
}

void rs_plot_picture_clear(rs_plot_picture *picture) {
  free(picture->shapes);
  free(picture->points);
  rs_text_clear(&picture->text);
  rs_text_clear(&picture->title);
  rs_text_clear(&picture->description);
  *picture = (rs_plot_picture){0};
}
