/* plot_internal.h: the parts of the plot layer, in the order in which data passes through them.
 *
 *   manifest.c  manifest.json -> files and their columns
 *   cells.c     a CSV file -> its cells (one model, method, length, source, seed, heads), numbers
 *   series.c    the rows of one chart -> one series of points per method
 *   family.c    sources that differ in one number, which a summary is drawn over
 *   map.c       the same -> one map per method and panel, where the file is over two indices
 *   label.c     words, numbers and file names; measure.c: widths of text
 *   axis.c      ranges and pixels; ticks.c: where the ticks stand and what they say
 *   lines.c     series -> strokes, bands and markers, with gaps and coinciding lines
 *   chart.c     the whole picture: frame, lines, legend, title
 *   heat.c      the same of maps: panels, colour bar, title
 *   strip.c     the same of values over one index: a row of colours per method
 *   bar.c       values -> colours, and the bar that explains them
 *   picture.c   a list of shapes in pixels; style.c: colours, dashes, markers
 *   svg.c       shapes -> SVG; render.c: SVG -> PNG, PDF
 *   caption.c   the words of a chart
 *   drawn.c     the list of pictures, and the removal of stale ones
 *   results.c   all charts of a folder
 *
 * Pixels: x to the right, y downwards, 1 is one CSS pixel. */
#ifndef ROPESCOPE_PLOT_INTERNAL_H
#define ROPESCOPE_PLOT_INTERNAL_H

#include "ropescope/io.h"
#include "ropescope/plot.h"

#define RS_PLOT_ANY SIZE_MAX

enum { RS_PLOT_LEGEND = 16 }; /* lines that can be told apart at a glance, and have a marker of their own */

/* Appends a note to the report (results.c). */
rs_status rs_plot_note(rs_plot_report *report, rs_err *err, const char *format, ...) RS_PRINTF(3, 4);

/* ---- manifest.c: what the folder holds --------------------------------------------------------------------------- */

typedef enum rs_plot_role { RS_PLOT_KEY, RS_PLOT_INDEX, RS_PLOT_VALUE, RS_PLOT_ERROR, RS_PLOT_STATUS } rs_plot_role;

/* What a column is to a map. As rs_map_part of the metrics. */
typedef enum rs_plot_part {
  RS_PLOT_NO_PART,
  RS_PLOT_MAP_X,
  RS_PLOT_MAP_Y,
  RS_PLOT_MAP_PANEL,
  RS_PLOT_MAP_MARK,
  RS_PLOT_MAP_STRIP, /* of a value: drawn as colours over the first index, not as lines */
  RS_PLOT_PARTS
} rs_plot_part;

typedef struct rs_plot_column {
  const char *name, *unit, *summary; /* borrowed from the manifest; "" where absent */
  rs_plot_role role;
  rs_plot_part part;
  bool log;
  size_t at; /* its place in the table, once that is read */
} rs_plot_column;

/* Rows begin..end-1 of a table, which share their keys. Names are indices into the lists of rs_plot_data. */
typedef struct rs_plot_cell {
  size_t model, method, source, seed, heads;
  double length; /* tokens */
  size_t begin, end;
} rs_plot_cell;

typedef struct rs_plot_file {
  const char *name; /* "summary.csv"; borrowed from the manifest */
  char *path;       /* owned */
  rs_plot_column *columns;
  size_t count;
  rs_table *table; /* NULL when the file holds nothing to draw. Owned. */
  rs_plot_cell *cells;
  size_t cell_count, cell_capacity;
} rs_plot_file;

/* Names in order of first appearance; each owned. */
typedef struct rs_plot_names {
  char **items;
  size_t count, capacity;
} rs_plot_names;

typedef struct rs_plot_data {
  rs_tree *manifest;
  const char *name;   /* of the experiment; "" when it has none. Borrowed from the manifest. */
  const char *config; /* fingerprint of the config, likewise */
  rs_plot_file *files;
  size_t count;
  rs_plot_names models, methods, sources, seeds, heads;
} rs_plot_data;

/* The index of `name`, added when new. */
rs_status rs_plot_names_add(rs_plot_names *names, const char *name, size_t *index, rs_err *err);
void rs_plot_names_clear(rs_plot_names *names);

/* Reads DIRECTORY/manifest.json into zeroed `data`: names, files and columns, no table yet. */
rs_status rs_plot_manifest_read(const char *directory, rs_plot_data *data, rs_err *err);
void rs_plot_data_clear(rs_plot_data *data);

/* The first column of the role after the first `skip` such, or NULL. Borrows. */
const rs_plot_column *rs_plot_column_of(const rs_plot_file *file, rs_plot_role role, size_t skip);

/* The column of the part, or NULL. Borrows. */
const rs_plot_column *rs_plot_part_of(const rs_plot_file *file, rs_plot_part part);

/* The index that lines are drawn against: the first that is no panel. NULL: none. Borrows. */
const rs_plot_column *rs_plot_x_of(const rs_plot_file *file);

/* True if `file` is one to draw: summary.csv, or one with an index column; and with a value column. */
bool rs_plot_file_drawn(const rs_plot_file *file);

/* ---- cells.c: one CSV file --------------------------------------------------------------------------------------- */

/* Reads the table of `file` and its cells. Where cells differ in nothing but keys that a line does not show (say,
 * scale), those keys join the names of their methods ("yarn scale=8"). So do heads that stand each for itself, if that
 * makes a legend of at most RS_PLOT_LEGEND lines; else they are averaged, like seeds. Where cells differ in no key at
 * all, a note says that their mean is shown. */
rs_status rs_plot_cells_read(rs_plot_data *data, rs_plot_file *file, rs_plot_report *report, rs_err *err);

/* The numbers of a column (one per row; free() them): NaN where empty, beyond 1e300, or where the row's status is not
 * "ok". RS_INPUT with file and line for what is no number. */
rs_status rs_plot_numbers(const rs_plot_file *file, const rs_plot_column *column, double **numbers, rs_err *err);

/* ---- series.c: one chart's numbers ------------------------------------------------------------------------------- */

/* One value column, with what it is drawn against; one number per row. */
typedef struct rs_plot_measure {
  const rs_plot_data *data;
  const rs_plot_file *file;
  const rs_plot_column *column;
  double *x;                   /* the index; NULL: x is the length. Owned. */
  double *y;                   /* NaN where not available. Owned. */
  double *error;               /* standard errors, or NULL. Owned. */
  double *part[RS_PLOT_PARTS]; /* the indices of a map, or NULL. Owned. */
  bool any;                    /* some y is a number */
  bool per_source;             /* y depends on the source */
  bool map;                    /* some y is a number at an x and y of a map */
  bool strip;                  /* y is drawn as a strip: part x is the first index, part y zero */
} rs_plot_measure;

typedef struct rs_plot_point {
  double x, y, low, high; /* y is NaN at a gap; low <= y <= high the band, all equal where there is none */
} rs_plot_point;

typedef struct rs_plot_series {
  const char *label; /* borrowed */
  size_t style;      /* number of the method in the folder, so that it looks the same in all charts */
  rs_plot_point *points;
  size_t count; /* by rising x, each once; 0: no data */
} rs_plot_series;

typedef enum rs_plot_band { RS_PLOT_NO_BAND, RS_PLOT_MIN_MAX, RS_PLOT_STANDARD_ERROR } rs_plot_band;

typedef struct rs_plot_set {
  rs_plot_series *series; /* one per method that has a cell */
  size_t count;
  rs_plot_point *points; /* of all series. Owned. */
  bool any;              /* there is something to show */
  rs_plot_band band;
  size_t seeds, heads; /* the most a line is a mean over */
  bool folded;         /* points are means over further index columns */
} rs_plot_set;

/* Sources that differ in one number. */
typedef struct rs_plot_family {
  const rs_plot_column *parameter; /* its key column. Borrowed. */
  char *name;                      /* what is common to the sources' names. Owned. */
  double *values;                  /* (sources,) NaN: not of this family. Owned. */
} rs_plot_family;

typedef struct rs_plot_families {
  rs_plot_family *items; /* owned */
  size_t count, capacity;
} rs_plot_families;

/* Which cells a chart shows: of one model, of one source (or RS_PLOT_ANY), at one length (0: any); and which rows. */
typedef struct rs_plot_choice {
  size_t model, source;
  double length;
  const double *panel;          /* rows of this panel; NULL: any. Borrowed. */
  const rs_plot_family *family; /* the sources that have a place; NULL: as `source` says. Borrowed. */
} rs_plot_choice;

rs_status rs_plot_measure_read(const rs_plot_data *data, const rs_plot_file *file, const rs_plot_column *column,
                               rs_plot_measure *measure, rs_err *err);
void rs_plot_measure_clear(rs_plot_measure *measure);
bool rs_plot_chosen(const rs_plot_cell *cell, const rs_plot_choice *choice);

/* The longest length at which the chosen cells have a value; 0: none has. */
double rs_plot_longest(const rs_plot_measure *measure, const rs_plot_choice *choice);
rs_status rs_plot_set_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_set *set, rs_err *err);
void rs_plot_set_clear(rs_plot_set *set);

/* ---- family.c: sources that differ in one number ----------------------------------------------------------------- */

/* The families of at least four sources in a summary of several lengths; a source is in one at most. Release with
 * rs_plot_families_clear, after a failure too. */
rs_status rs_plot_families_read(const rs_plot_data *data, const rs_plot_file *file, rs_plot_families *families,
                                rs_err *err);
void rs_plot_families_clear(rs_plot_families *families);
bool rs_plot_in_family(const rs_plot_families *families, size_t source);

/* Makes the measure a map: x is the length, y the family's parameter. */
rs_status rs_plot_family_places(const rs_plot_family *family, rs_plot_measure *measure, rs_err *err);

/* ---- map.c: one chart's maps ------------------------------------------------------------------------------------- */

enum { RS_PLOT_PANELS = 6, RS_PLOT_MAP_SIDE = 512 }; /* most panels side by side, and cells along a side, of a chart */

/* Numbers that occur, rising, each once. */
typedef struct rs_plot_ranks {
  double *items; /* owned */
  size_t count;
} rs_plot_ranks;

/* Values over x, y, panel and method. */
typedef struct rs_plot_map {
  rs_plot_ranks x, y, panel; /* panel: of those shown; one without panels */
  size_t panels;             /* of those there are */
  size_t *methods, count;    /* numbers of the methods that have a value, in their order. Owned. */
  double *values;            /* (count, panel.count, y.count, x.count): means; NaN: none. Owned. */
  size_t *marks;             /* (panel.count,) the marked cell as y * x.count + x; SIZE_MAX: none. Owned. */
  double low, high;          /* of the values */
  size_t folded;             /* most rows that a value is the mean of */
  bool any;                  /* false also where a side has more than RS_PLOT_MAP_SIDE cells */
  size_t absent;             /* methods that have cells, but no value: their numbers stand behind the others */
} rs_plot_map;

/* The distinct numbers, without NaN. */
rs_status rs_plot_ranks_read(const double *numbers, size_t count, rs_plot_ranks *ranks, rs_err *err);
rs_status rs_plot_map_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_map *map, rs_err *err);
void rs_plot_map_clear(rs_plot_map *map);

/* ---- label.c, measure.c: words ----------------------------------------------------------------------------------- */

/* "entropy_nats" of unit "nats" as "entropy". */
void rs_plot_words(const char *name, const char *unit, rs_text *out);

/* The unit as printed: "" for a pure number (unit "1"). Borrows. */
const char *rs_plot_unit(const char *unit);

/* "svg"; and the format of a file by its ending, 0: none. */
const char *rs_plot_format_name(rs_plot_format format);
unsigned rs_plot_format_of(const char *file);

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

/* Width in pixels of the first `length` bytes of UTF-8 text in the widest of the common sans-serif fonts. */
double rs_plot_text_width(const char *text, size_t length, double size, bool bold);

/* Bytes of the first line when `text` is wrapped at `width` pixels; `*next` is where the second starts. */
size_t rs_plot_wrap(const char *text, double size, bool bold, double width, const char **next);

/* ---- axis.c, ticks.c --------------------------------------------------------------------------------------------- */

enum { RS_PLOT_TICKS = 128, RS_PLOT_TICK_CHARS = 40, RS_PLOT_TICK_SIZE = 13 };

typedef enum rs_plot_scale { RS_PLOT_LINEAR, RS_PLOT_LOG2, RS_PLOT_LOG10 } rs_plot_scale;

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

/* Puts a fitted axis between two pixels and makes its ticks, as many as have room. */
void rs_plot_axis_place(rs_plot_axis *axis, double start, double stop);
double rs_plot_axis_pixel(const rs_plot_axis *axis, double value);
void rs_plot_axis_ticks(rs_plot_axis *axis);
double rs_plot_tick_width(const rs_plot_tick *tick);

/* Cells in a row, one for each rank: every how many there is a label, when one needs `room` pixels, and whether cell i
 * has one. Whole numbers without gaps have it at multiples of 1, 2, 5, 10, ..., others by their rank. */
size_t rs_plot_label_step(const rs_plot_ranks *ranks, double cell, double room);
bool rs_plot_is_labelled(const rs_plot_ranks *ranks, size_t i, size_t step);

/* ---- picture.c, style.c: shapes ---------------------------------------------------------------------------------- */

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

/* How a method looks: 32 different looks, of which 16 differ in colour and in marker. */
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

rs_plot_style rs_plot_style_of(size_t index);

/* The corners of a marker around the origin; returns their number (0: a circle). */
size_t rs_plot_marker_corners(size_t marker, double radius, rs_plot_xy corners[RS_PLOT_CORNERS]);

/* ---- bar.c: colours of values -------------------------------------------------------------------------------------
 */

typedef struct rs_plot_shades {
  rs_plot_axis scale; /* to be placed: from the dark end of the bar to the light one */
  bool texts;         /* values can be told in a few digits: */
  int power;          /* as multiples of ten to this */
} rs_plot_shades;

/* The ends of the colours are the least and largest value, or a little more where they are one; `whole`: 0 and 1 too.
 */
void rs_plot_shades_fit(rs_plot_shades *shades, const rs_plot_map *map, bool log, bool whole);
size_t rs_plot_level_of(const rs_plot_shades *shades, double value);

/* Two digits of the largest number (of 1: three), and of the others as many behind the point: 0.347 as "0.35". */
rs_text rs_plot_shade_text(const rs_plot_shades *shades, double value);

/* Writes `text` with its middle at a point on the colour of a value, in white or ink, whichever stands out. */
void rs_plot_shade_text_add(rs_plot_picture *picture, const rs_plot_shades *shades, double value, const rs_text *text,
                            double x, double y, double size);
void rs_plot_frame_add(rs_plot_picture *picture, double left, double top, double right, double bottom);

/* The bar of a placed scale, with ticks and name, and how wide all that is. */
double rs_plot_bar_width(const rs_plot_shades *shades);
void rs_plot_bar_add(rs_plot_picture *picture, const rs_plot_shades *shades, double left, double top, const char *name,
                     const char *unit);

/* ---- caption.c: the words of a chart ----------------------------------------------------------------------------- */

/* Zero-initialise; all texts are owned. */
typedef struct rs_plot_caption {
  rs_text title, subtitle, description, slug;
  rs_text x_name, y_name, panel_name, name; /* y_name and panel_name: of maps alone; name: of the value */
} rs_plot_caption;

void rs_plot_caption_lines(const rs_plot_measure *measure, const rs_plot_choice *choice, const rs_plot_set *set,
                           rs_plot_caption *caption);
void rs_plot_caption_map(const rs_plot_measure *measure, const rs_plot_choice *choice, const rs_plot_map *map,
                         rs_plot_caption *caption);

/* RS_MEMORY when any text has none. */
rs_status rs_plot_caption_check(const rs_plot_caption *caption, rs_err *err);
void rs_plot_caption_clear(rs_plot_caption *caption);

/* ---- lines.c, chart.c, heat.c, strip.c, svg.c
 * ------------------------------------------------------------------
 */

enum { RS_PLOT_MAX_POINTS = 2000 };

typedef struct rs_plot_chart {
  const char *title, *definition, *subtitle, *description; /* borrowed, all of them */
  const char *x_name, *x_unit, *y_name, *y_unit;
  bool x_log, y_log;
  const rs_plot_series *series;
  size_t count;
} rs_plot_chart;

/* Adds the bands, lines and markers of the series. */
rs_status rs_plot_lines_draw(const rs_plot_chart *chart, const rs_plot_axis *x, const rs_plot_axis *y,
                             rs_plot_picture *picture, rs_err *err);

/* Draws the chart into the zeroed `picture`. */
rs_status rs_plot_chart_draw(const rs_plot_chart *chart, rs_plot_picture *picture, rs_err *err);

typedef struct rs_plot_heat {
  const char *title, *definition, *subtitle, *description; /* borrowed, all of them */
  const char *x_name, *y_name, *panel_name, *name, *unit;  /* panel_name: "" without panels */
  bool log, x_tokens;
  const char *const *methods; /* names, by number */
  const rs_plot_map *map;
} rs_plot_heat;

/* Draws the maps into the zeroed `picture`, one row of panels per method; without panels, method beside method. */
rs_status rs_plot_heat_draw(const rs_plot_heat *heat, rs_plot_picture *picture, rs_err *err);

/* The same of a map of one row of cells per method, as rows of colours below each other. */
rs_status rs_plot_strip_draw(const rs_plot_heat *heat, rs_plot_picture *picture, rs_err *err);

/* Appends text that is safe within XML; what XML or UTF-8 does not allow becomes U+FFFD. */
void rs_plot_xml_escape(const char *text, rs_text *out);
void rs_plot_svg_write(const rs_plot_picture *picture, rs_text *out);

/* ---- drawn.c ----------------------------------------------------------------------------------------------------- */

/* Lists the report's files in `folder` as drawn from `config`. `clean`: removes what an earlier list names as drawn
 * from another config, if it was not drawn again, and notes how many. */
rs_status rs_plot_drawn_update(const char *folder, const char *config, bool clean, rs_plot_report *report, rs_err *err);

#endif
