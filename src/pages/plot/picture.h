/* picture.h: a picture as a list of shapes in pixels: x to the right, y downwards, 1 is one CSS pixel. */
#ifndef ROPESCOPE_PLOT_PICTURE_H
#define ROPESCOPE_PLOT_PICTURE_H

#include "base/base.h"

typedef enum rs_plot_kind { RS_PLOT_LINE, RS_PLOT_AREA, RS_PLOT_MARKERS, RS_PLOT_TEXT, RS_PLOT_CELLS } rs_plot_kind;
typedef enum rs_plot_anchor { RS_PLOT_START, RS_PLOT_MIDDLE, RS_PLOT_END } rs_plot_anchor;

typedef struct rs_plot_xy {
  double x, y;
} rs_plot_xy;

typedef struct rs_plot_shape {
  rs_plot_kind kind;
  /* points, in the picture's list: of the path, of each marker, of the text's baseline, each cell's upper left */
  size_t begin, count;
  uint32_t colour; /* 0xRRGGBB */
  double size;     /* line width, marker radius, font size or a cell's width */
  double tall;     /* a cell's height */
  double opacity;  /* of a line or an area */
  double dash[4];  /* lengths on, off, on, off */
  size_t dashes;   /* used of them; 0: solid */
  double lead;     /* the dashes start after a gap of this length */
  size_t marker;
  bool hollow, bold, upright; /* upright: text read from below */
  rs_plot_anchor anchor;
  size_t text, power; /* where they start in the picture's text */
} rs_plot_shape;

/* Zero-initialise; release with rs_plot_picture_clear. A failed allocation is remembered, as in rs_text. */
typedef struct rs_plot_picture {
  double width, height;
  rs_plot_shape *shapes;
  size_t count, capacity;
  rs_plot_xy *points;
  size_t point_count, point_capacity;
  rs_text text; /* all texts, each with its NUL */
  rs_text title, description;
  bool failed;
  rs_plot_shape spare; /* what is handed out after a failure */
} rs_plot_picture;

/* Appends a shape without points; never NULL. Borrowed until the next shape. */
rs_plot_shape *rs_plot_shape_add(rs_plot_picture *picture, rs_plot_kind kind, uint32_t colour, double size);

/* Appends a point to the last shape. */
void rs_plot_point_add(rs_plot_picture *picture, double x, double y);
rs_plot_shape *rs_plot_segment_add(rs_plot_picture *picture, double x1, double y1, double x2, double y2,
                                   uint32_t colour, double width);
rs_plot_shape *rs_plot_text_add(rs_plot_picture *picture, double x, double y, const char *text, size_t length,
                                double size, rs_plot_anchor anchor, uint32_t colour);
void rs_plot_power_add(rs_plot_picture *picture, rs_plot_shape *shape, const char *power);

/* Rows that `text` takes when it is wrapped at `width`, and those rows written downwards, the first with its baseline
 * at y; returns the baseline after the last. */
size_t rs_plot_rows_count(const char *text, double size, bool bold, double width);
double rs_plot_rows_add(rs_plot_picture *picture, double x, double y, const char *text, double size, double row,
                        bool bold, double width, uint32_t colour);
rs_status rs_plot_picture_check(const rs_plot_picture *picture, rs_err *err);
void rs_plot_picture_clear(rs_plot_picture *picture);

#endif
