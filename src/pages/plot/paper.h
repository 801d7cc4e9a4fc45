/* Paper: what pictures are drawn on. Text and its width, styles, axes with their ticks, the page, SVG and its
 * renderings. */
#ifndef ROPESCOPE_PAGES_PLOT_PAPER_H
#define ROPESCOPE_PAGES_PLOT_PAPER_H

#include "base/base.h"
#include "pages/pages.h"

/* ---- width: how wide text is ------------------------------------------------------------------------------------- */

/* Width in pixels of the first `length` bytes of UTF-8 text in the widest of the common sans-serif fonts. */
double rs_plot_text_width(const char *text, size_t length, double size, bool bold);

/* Bytes of the first line when `text` is wrapped at `width` pixels; `*next` is where the second starts. */
size_t rs_plot_wrap(const char *text, double size, bool bold, double width, const char **next);

/* ---- format: the formats of pictures ----------------------------------------------------------------------------- */

/* "svg"; and the format of a file by its ending, 0: none. */
const char *rs_plot_format_name(rs_plot_format format);
unsigned rs_plot_format_of(const char *file);

/* ---- symbols: formulas as they are printed, from formulas as they are typed -------------------------------------- */

/* Appends `text` with its formulas in symbols: "sum_j cos(angle_j)" as "Σⱼ cos(θⱼ)", "2 pi / omega_j" as "2π / ωⱼ". */
void rs_plot_symbols(const char *text, rs_text *out);

/* ---- label: words for people and names for files ----------------------------------------------------------------- */

/* "entropy_nats" of unit "nats" as "entropy". */
void rs_plot_words(const char *name, const char *unit, rs_text *out);

/* The same as a title says it: "ood_overshoot_rad" of unit "rad" as "out-of-range overshoot". */
void rs_plot_phrase(const char *name, const char *unit, rs_text *out);

/* The unit as printed: "" for a pure number (unit "1"). Borrows. */
const char *rs_plot_unit(const char *unit);

/* Appends `text` as part of a file name: lower-case letters, digits, '.', '_', '=' and single '-', at most 80 bytes. */
void rs_plot_slug(const char *text, rs_text *out);

/* 4096 as "4k", 1572864 as "1.5M", 3000 as "3000": k is 1024. */
void rs_plot_tokens(double tokens, rs_text *out);

enum { RS_PLOT_POWER_CHARS = 8 };

/* n * 10^exponent, exactly: 15 and -1 as "1.5". */
void rs_plot_decimal(long long n, int exponent, rs_text *out);

/* The same as "1.5×10" and the power to raise behind it, with `decimals` digits after the point. */
void rs_plot_scientific(long long n, int exponent, int decimals, rs_text *out, char power[RS_PLOT_POWER_CHARS]);
void rs_plot_power(int exponent, char power[RS_PLOT_POWER_CHARS]);

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

/* ---- style: colours, dashes, markers ----------------------------------------------------------------------------- */

enum { RS_PLOT_COLOURS = 16, RS_PLOT_ROUNDS = 4 };

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

enum { RS_PLOT_LEVELS = 256 };

/* The colour of a level 0..RS_PLOT_LEVELS - 1, dark to light. */
uint32_t rs_plot_level_colour(size_t level);

enum { RS_PLOT_CORNERS = 16 };

#define RS_PLOT_LINE_WIDTH 1.8 /* pixels: 0.5 mm where the picture is as wide as a page */

rs_plot_style rs_plot_style_of(size_t look);

/* The corners of a marker around the origin; returns their number (0: a circle). */
size_t rs_plot_marker_corners(size_t marker, double radius, rs_plot_xy corners[RS_PLOT_CORNERS]);

/* ---- svg: a picture as SVG --------------------------------------------------------------------------------------- */

void rs_plot_svg_write(const rs_plot_picture *picture, rs_text *out);

/* ---- render ---------------------------------------------------------------------------------------------------- */

/* An SVG as a PNG or a PDF, by librsvg and cairo. Both are left out of builds that do not find them. */

/* Turns SVG text of `width` x `height` CSS pixels into RS_PLOT_PNG, twice as many pixels each way, or RS_PLOT_PDF, a
 * page of that size at 96 pixels an inch. Appends the file's bytes to `out`; the same bytes for the same SVG, fonts and
 * libraries. RS_UNSUPPORTED, RS_INTERNAL (librsvg's or cairo's own words), RS_MEMORY. */
rs_status rs_plot_render(const rs_text *svg, double width, double height, rs_plot_format format, rs_text *out,
                         rs_err *err);

/* ---- axis: ranges and pixels ------------------------------------------------------------------------------------- */

enum { RS_PLOT_TICKS = 128, RS_PLOT_TICK_CHARS = 40, RS_PLOT_TICK_SIZE = 13 };

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

/* Lays a fitted axis between two pixels; it has no ticks yet. */
void rs_plot_axis_span(rs_plot_axis *axis, double start, double stop);
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

/* ---- page ------------------------------------------------------------------------------------------------------ */

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

/* A tick below the area's `bottom` at x, or at the left of `left` at y, with its label. */
void rs_plot_page_tick_x(const rs_plot_page *page, const rs_plot_tick *tick, double x, double bottom);
void rs_plot_page_tick_y(const rs_plot_page *page, const rs_plot_tick *tick, double left, double y);

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

#endif
