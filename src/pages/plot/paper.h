/* Paper: what pictures are drawn on. Text and its width, shapes, axes with their ticks, the page, legends, SVG and its
 * renderings. */
#ifndef ROPESCOPE_PAGES_PLOT_PAPER_H
#define ROPESCOPE_PAGES_PLOT_PAPER_H

#include "base/base.h"
#include "pages/pages.h"

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Width in pixels of the first `length` bytes of UTF-8 text in the widest of the common sans-serif fonts. */
double rs_plot_text_width(const char *text, size_t length, double size, bool bold);

/* Bytes of the first line when `text` is wrapped at `width` pixels; `*next` is where the second starts. */
size_t rs_plot_wrap(const char *text, double size, bool bold, double width, const char **next);

/* Moves a text into `memory`, and its failure, too. Never NULL. */
const char *rs_plot_keep(rs_arena *memory, rs_text *text);

/* The unit as printed: "" for a pure number (unit "1"). Borrows. */
const char *rs_plot_unit(const char *unit);

/* 4096 as "4k", 1572864 as "1.5M", 3000 as "3000": k is 1024. */
void rs_plot_tokens(double tokens, rs_text *out);

/* n * 10^exponent, exactly: 15 and -1 as "1.5". */
void rs_plot_decimal(long long n, int exponent, rs_text *out);

/* ---- picture: a picture as a list of shapes in pixels: x to the right, y downwards, 1 is one CSS pixel ----------- */

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
  char *text, *power; /* power: to raise behind the text, or NULL */
} rs_plot_shape;

/* Zero-initialise; release with rs_plot_picture_clear. */
typedef struct rs_plot_picture {
  double width, height;
  rs_plot_shape *shapes;
  size_t count, capacity;
  rs_plot_xy *points;
  size_t point_count, point_capacity;
  rs_arena memory; /* of all texts; a failed allocation of any list is remembered here, too */
  const char *title, *description;
  rs_plot_shape spare; /* what is handed out after a failure */
} rs_plot_picture;

/* How a method looks. Looks 0 to 15 differ in colour and in marker, each of the other three rounds of 16 differs from
 * those of the same colour in marker and dash. */
typedef struct rs_plot_style {
  uint32_t colour;
  size_t marker;
  bool hollow;
  double dash[4];
  size_t dashes;
} rs_plot_style;

/* The ink of texts, of lesser texts, of axes. */
enum { RS_PLOT_INK = 0x1A1A1A, RS_PLOT_SOFT = 0x595959, RS_PLOT_AXIS = 0x4D4D4D };

#define RS_PLOT_LINE_WIDTH 1.8 /* pixels: 0.5 mm where the picture is as wide as a page */

/* Appends a shape without points; never NULL. Borrowed until the next shape. */
rs_plot_shape *rs_plot_shape_add(rs_plot_picture *picture, rs_plot_kind kind, uint32_t colour, double size);

/* Appends a point to the last shape. */
void rs_plot_point_add(rs_plot_picture *picture, double x, double y);
rs_plot_shape *rs_plot_segment_add(rs_plot_picture *picture, double x1, double y1, double x2, double y2,
                                   uint32_t colour, double width);

/* Markers of a style, still without points. */
rs_plot_shape *rs_plot_markers_add(rs_plot_picture *picture, const rs_plot_style *style, double radius);
rs_plot_shape *rs_plot_text_add(rs_plot_picture *picture, double x, double y, const char *text, double size,
                                rs_plot_anchor anchor, uint32_t colour);

/* How rows of text are set: the font's size, and pixels from one row to the next, to the right where they are upright.
 */
typedef struct rs_plot_letters {
  double size, row;
  rs_plot_anchor anchor;
  bool bold, upright;
} rs_plot_letters;

/* Rows that `text` takes when it is wrapped at `width`; `*widest` (or NULL) grows to the width of the widest. */
size_t rs_plot_rows_count(const char *text, const rs_plot_letters *letters, double width, double *widest);

/* Writes those rows, the first with its baseline at y; returns the baseline after the last. */
double rs_plot_rows_add(rs_plot_picture *picture, double x, double y, const char *text, const rs_plot_letters *letters,
                        double width, uint32_t colour);
rs_status rs_plot_picture_check(const rs_plot_picture *picture, rs_err *err);
void rs_plot_picture_clear(rs_plot_picture *picture);

enum { RS_PLOT_CORNERS = 16 };

/* The corners of a marker around the origin; returns their number (0: a circle). */
size_t rs_plot_marker_corners(size_t marker, double radius, rs_plot_xy corners[RS_PLOT_CORNERS]);
void rs_plot_svg_write(const rs_plot_picture *picture, rs_text *out);

/* "svg"; and the format of a file by its ending, 0: none. */
const char *rs_plot_format_name(rs_plot_format format);
unsigned rs_plot_format_of(const char *file);

/* Turns SVG text of `width` x `height` CSS pixels into RS_PLOT_PNG, twice as many pixels each way, or RS_PLOT_PDF, a
 * page of that size at 96 pixels an inch, by librsvg and cairo; builds that do not find them have neither. Appends the
 * file's bytes to `out`; the same bytes for the same SVG, fonts and libraries. RS_UNSUPPORTED, RS_INTERNAL (librsvg's
 * or cairo's own words), RS_MEMORY. */
rs_status rs_plot_render(const rs_text *svg, double width, double height, rs_plot_format format, rs_text *out,
                         rs_err *err);

/* ---- axis: ranges and pixels ------------------------------------------------------------------------------------- */

enum { RS_PLOT_TICKS = 128, RS_PLOT_TICK_CHARS = 40, RS_PLOT_POWER_CHARS = 8, RS_PLOT_TICK_SIZE = 13 };

typedef enum rs_plot_scale {
  RS_PLOT_LINEAR,
  RS_PLOT_LOG2,
  RS_PLOT_LOG10,
  RS_PLOT_SYMLOG /* linear up to a bend on both sides of zero, logarithmic beyond */
} rs_plot_scale;

typedef struct rs_plot_tick {
  double pixel;
  char label[RS_PLOT_TICK_CHARS];  /* "" for a minor tick */
  char power[RS_PLOT_POWER_CHARS]; /* exponent to raise behind the label, or "" */
} rs_plot_tick;

/* What the numbers of an axis span. Zero-initialise, then rs_plot_extent_add. */
typedef struct rs_plot_extent {
  bool any;
  double low, high;
  double positive; /* the smallest number above zero; 0: none */
  bool broken;     /* some number is not whole */
  int decades;     /* that a log axis shows below the largest number; 0: as many as doubles tell apart */
} rs_plot_extent;

typedef struct rs_plot_axis {
  rs_plot_scale scale;
  bool vertical, tokens;
  bool whole;  /* all numbers are whole: there are no ticks between */
  bool single; /* all numbers are (nearly) the same, and this one: */
  double only;
  bool rail;  /* log: numbers below `low` stand apart, at pixel `rail_at` */
  bool floor; /* log: not all of those are zeros, but they are below this power of ten: */
  int floor_power;
  double bend; /* symlog: 1, 2 or 5 times a power of ten */
  double low, high;
  double start, base, stop; /* pixels: of the axis' start, of low, of high */
  double rail_at;
  rs_plot_tick ticks[RS_PLOT_TICKS];
  size_t count;
  bool kilo;   /* a label ends in k or M */
  bool failed; /* no memory for a label */
} rs_plot_axis;

void rs_plot_extent_add(rs_plot_extent *extent, double value);

/* Scale and range: log when wanted and possible, in powers of two for tokens, padded. */
void rs_plot_axis_fit(rs_plot_axis *axis, const rs_plot_extent *extent, bool log, bool tokens, bool vertical);

/* The same for numbers of which some are hundreds of times as large as those up to `bend`: symlog. */
void rs_plot_axis_fit_symlog(rs_plot_axis *axis, const rs_plot_extent *extent, double bend, bool tokens, bool vertical);

double rs_plot_axis_pixel(const rs_plot_axis *axis, double value);

/* ---- ticks: where the ticks of an axis stand and what they say --------------------------------------------------- */

/* Puts a fitted axis between two pixels and makes its ticks, as many as have room. */
void rs_plot_axis_place(rs_plot_axis *axis, double start, double stop);

/* A number of an axis that has a name. */
typedef struct rs_plot_mark {
  double value;
  char label[RS_PLOT_TICK_CHARS];
} rs_plot_mark;

/* The same with ticks at the marks within the axis alone. */
void rs_plot_axis_mark(rs_plot_axis *axis, double start, double stop, const rs_plot_mark *marks, size_t count);
double rs_plot_tick_width(const rs_plot_tick *tick);

/* Of the widest tick. */
double rs_plot_ticks_width(const rs_plot_axis *axis);

/* Appends the name of a placed axis with its unit: "length (tokens, 1k = 1024)". */
void rs_plot_axis_name(const rs_plot_axis *axis, const char *name, const char *unit, rs_text *label);

/* ---- page -------------------------------------------------------------------------------------------------------- */

/* What all pictures have around their plot area: title, definition and subtitle above, names of axes, ticks. */

typedef struct rs_plot_head {
  const char *title, *definition, *subtitle, *description; /* borrowed */
} rs_plot_head;

/* What the plot area needs around itself, pixels. */
typedef struct rs_plot_room {
  double width, height;         /* of the area */
  const char *y_name;           /* written upwards at the left; "": none. Borrowed. */
  double labels;                /* between that and the area: labels of ticks, names of rows */
  double over;                  /* above the area: headings of panels */
  double beside, beside_height; /* to its right: a legend, a bar */
  double titles;                /* the least width of titles */
} rs_plot_room;

typedef struct rs_plot_page {
  const rs_plot_head *head;        /* borrowed, as the picture is */
  rs_plot_picture *picture;        /* its size is set */
  double left, top, right, bottom; /* of the plot area */
} rs_plot_page;

enum { RS_PLOT_TICK_LENGTH = 5, RS_PLOT_TICK_MINOR = 3 };

/* The middle of a pixel, where a line one pixel wide is crisp. */
double rs_plot_crisp(double pixel);

/* Sets the size of the picture and the corners of the area, and writes what stands above it. */
void rs_plot_page_place(rs_plot_page *page, const rs_plot_room *room);

/* The names of the axes, below and at the left; "": none. */
void rs_plot_page_names(const rs_plot_page *page, const char *x_name, const char *y_name);

/* A tick downwards from (x, y), or, of a vertical axis, to the left, with its label. */
void rs_plot_page_tick(const rs_plot_page *page, const rs_plot_tick *tick, bool vertical, double x, double y);

/* The label of a tick, with its power. */
void rs_plot_label_add(rs_plot_picture *picture, double x, double y, const rs_plot_tick *tick, rs_plot_anchor anchor);

/* Names of rows, right-aligned at the left of the plot area: the width of the widest of the names, wrapped, and the
 * space behind it; `*tallest` is the height of the tallest. */
double rs_plot_row_names_width(const char *const *names, size_t count, double *tallest);

/* Writes a name with its middle at y. */
void rs_plot_row_name_add(const rs_plot_page *page, const char *name, double y, uint32_t colour);

/* A frame one pixel wide around a box. */
void rs_plot_box_add(rs_plot_picture *picture, double left, double top, double right, double bottom);

enum { RS_PLOT_BREAK = 9 }; /* pixels from a break to the range behind it */

/* A break of an axis: two strokes across it, and white between them. */
void rs_plot_break_add(rs_plot_picture *picture, double x, double y, bool vertical);

/* ---- legends: which line is which method, and which colour is which value ---------------------------------------- */

struct rs_plot_series;
struct rs_plot_map;

typedef struct rs_plot_legend {
  const struct rs_plot_series *series; /* (count,) in their order. Borrowed. */
  size_t count;
  double column_width, width, height; /* pixels */
} rs_plot_legend;

/* How large the legend of `series` is; the picture is where it will be drawn. */
void rs_plot_legend_measure(rs_plot_legend *legend, const struct rs_plot_series *series, size_t count,
                            rs_plot_picture *picture);
void rs_plot_legend_draw(const rs_plot_legend *legend, double left, double top, rs_plot_picture *picture);

enum { RS_PLOT_LEVELS = 256 };

/* The colour of a level 0..RS_PLOT_LEVELS - 1, dark to light. */
uint32_t rs_plot_level_colour(size_t level);

typedef struct rs_plot_shades {
  rs_plot_axis scale; /* to be placed: from the dark end of the bar to the light one */
  bool texts;         /* values can be told in a few digits: */
  int power;          /* as multiples of ten to this */
} rs_plot_shades;

/* The ends of the colours are the least and largest value, or a little more where they are one; `whole`: 0 and 1 too.
 */
void rs_plot_shades_fit(rs_plot_shades *shades, const struct rs_plot_map *map, bool log, bool whole, int decades);
size_t rs_plot_level_of(const rs_plot_shades *shades, double value);

/* Two digits of the largest number (of 1: three), and of the others as many behind the point: 0.347 as "0.35". */
const char *rs_plot_shade_text(const rs_plot_shades *shades, double value, rs_arena *memory);

/* Writes `text` with its middle at a point on the colour of a value, in white or ink, whichever stands out. */
void rs_plot_shade_text_add(rs_plot_picture *picture, const rs_plot_shades *shades, double value, const char *text,
                            double x, double y, double size);

/* The bar of a placed scale, with ticks and name, and how wide all that is. */
double rs_plot_bar_width(const rs_plot_shades *shades);
void rs_plot_bar_add(rs_plot_picture *picture, const rs_plot_shades *shades, double left, double top, const char *name,
                     const char *unit);

#endif
