/* pages/pages.h: what people look at. Four parts: plot (pictures of a results folder), page (what every page for a
 * browser is made of), report (results folders as one page) and explore (one recipe at a time, live). */
#ifndef ROPESCOPE_PAGES_H
#define ROPESCOPE_PAGES_H

#include "base/base.h"
#include "config/config.h"
#include "io/io.h"
#include "metrics/metrics.h"

/* ==== blocks ==================================================================================================== */

/* What stands behind the columns NAME_low and NAME_high of a summary: a curve's file with the value NAME of each block
 * of targets, which all cells of one seed read alike. From it comes the interval of a mean over several seeds, and that
 * of the paired difference of two methods. */

/* The blocks of a column. Borrows. */
typedef struct rs_blocks {
  const rs_table *table;     /* NULL: there are none */
  size_t cell, block, value; /* columns of it; rows of one cell stand together */
} rs_blocks;

/* The mean of `cells` (count,), words of the column `cell`, over their seeds and blocks, with its 95 % interval; of
 * their differences to `less` (count,), block by block, unless it is NULL. All three numbers are NaN where there are no
 * blocks, or the cells differ in them. RS_MEMORY. */
rs_status rs_blocks_interval(const rs_blocks *blocks, const char *const *cells, const char *const *less, size_t count,
                             rs_interval *interval, rs_err *err) RS_NONNULL(1, 2, 5);

/* What is compared with others: the cells of one method, a seed each. Borrows. */
typedef struct rs_rival {
  const char *const *cells, *const *seeds; /* (count,) words of the columns */
  size_t count;
  double mean; /* NaN: it does not compete */
  bool near;   /* found: it is the best, or cannot be told apart from it */
} rs_rival;

/* Finds the best of the rivals (count,) by their means and, by the 95 % intervals of paired differences, who cannot
 * be told apart from it: also who has read other blocks or seeds, and all where there are fewer than 8 blocks. *best is
 * SIZE_MAX where nobody competes; *won: all others, at least one, are apart from it. RS_MEMORY. */
rs_status rs_blocks_rank(const rs_blocks *blocks, bool higher, rs_rival *rivals, size_t count, size_t *best, bool *won,
                         rs_err *err) RS_NONNULL(1, 5, 6);

/* What the manifest of a folder says of a column of its summary. Zero-initialise; release with rs_paired_clear. */
typedef struct rs_paired {
  bool known;              /* a value, with an interval in NAME_low and NAME_high */
  int better;              /* 1: higher, -1: lower, 0: neither is said */
  const char *const *keys; /* (key_count,) key columns of the summary */
  size_t key_count;
  rs_blocks blocks;
  const char *file; /* "loss_difference.csv"; NULL: the folder has no blocks */
  struct rs_paired_memory *memory;
} rs_paired;

/* Nothing is known where the folder has no manifest. RS_INPUT: a manifest or CSV that is not as promised; RS_IO,
 * RS_MEMORY. */
rs_status rs_paired_read(const char *directory, const char *column, rs_paired *paired, rs_err *err) RS_NONNULL(1, 2, 3);
void rs_paired_clear(rs_paired *paired) RS_NONNULL(1);

/* ==== plot ====================================================================================================== */

/* Pictures of a folder of results. Reads manifest.json and the CSV files it lists, and draws one
 * chart per value column, model and query/key source into DIRECTORY/plots/, as SVG, PNG or PDF.
 *
 * What a picture shows:
 *  - summary.csv: the value against the length, one line per method; at one length one dot per method, on a row of its
 *    own. A file with an index column (a curve): the value against its first index at one length. Columns without a
 *    value are left out; a method without one is named with "no data".
 *  - Where sources of summary.csv differ in one swept number (the depth of a needle, say), they share a picture of each
 *    value: a heat map of length to the right and that number downwards, one panel per method; at one length a strip of
 *    colours over that number per method. Cells with room for it say their value.
 *  - A curve over two indices, which the manifest calls map x and y, is a heat map: one for each method and, where a
 *    third index is its panel, for each of (at most six of) its numbers; all on one scale of colours. Where those
 *    indices are empty it is lines again, one chart for each panel. Methods without a value have no panel, but are
 *    named.
 *  - A value that the manifest calls a strip is drawn as colours over the first index, a row for each method. One that
 *    it calls a mass is divided by the width of its bin. An index that it calls a category gives a row to each of its
 *    numbers, with names, and a dot for each method.
 *  - The line is the mean over the seeds, the band their minimum and maximum; with one seed, the band is one standard
 *    error up and down where the file has one. A column of the summary with its interval in NAME_low and NAME_high has
 *    bars with caps, side by side; over several seeds they are made from the blocks (rs_blocks_interval). A difference
 *    has a line at 0. A curve with columns of its bins' least and largest values has these as
 *    its band. Further index columns are averaged too, and so are heads that stand each for itself when they are many.
 *    The line under the title says what the band is.
 *  - Means of fewer than 16 samples, where the file counts them, are not joined, and say how many they are.
 *  - A column whose values are the same for all sources gets one chart, without a source in its name.
 *  - A log axis wants values >= 0; with a negative one it turns linear. Zeros have no place on it: they stand beyond a
 *    break at its start, at a tick labelled 0 (a curve's line does not cross that break), and so does what is more than
 *    16 decades below the largest value. Where a few series are a hundred times as large as the others, a linear axis
 *    is logarithmic beyond these.
 *  - A method has the same colour, marker, dash and rank in all pictures. Where lines coincide their dashes and markers
 *    take turns, so that none hides another.
 *  - Lines of more than 2000 points are thinned to the lowest and highest value of each of 1000 steps of the x axis.
 *  - A picture of one number, of lines that are all equal, or of a curve with fewer than three means of enough samples
 *    says nothing, and is left out unless asked for.
 *
 * Uses base, io and the intervals of metrics. Prints nothing; a picture appears whole or not at all. */

/* Bits of a set. PNG has two pixels for each of the SVG's, PDF is a page of the picture's size. */
typedef enum rs_plot_format { RS_PLOT_SVG = 1, RS_PLOT_PNG = 2, RS_PLOT_PDF = 4, RS_PLOT_FORMATS = 7 } rs_plot_format;

typedef struct rs_plot_options {
  size_t length; /* show curves at this length, tokens; 0: at the longest that has data, chart by chart */
  /* Only pictures that one of these names means: a picture's name, its beginning up to a "--", or a column. 0: all.
   * Borrowed. */
  const char *const *only;
  size_t only_count;
  bool all;         /* also pictures that say nothing: of one number, or of lines that are all equal */
  unsigned formats; /* bits of rs_plot_format; 0: SVG alone */
} rs_plot_options;

/* What was done. Zero-initialise; release with rs_plot_report_clear, after a failure too. */
typedef struct rs_plot_report {
  char **files; /* paths written (count), in order. Owned. */
  size_t count, capacity;
  char **notes; /* what was left out, and why (note_count); one line each. Owned. */
  size_t note_count, note_capacity;
  size_t plain; /* pictures left out because they say nothing */
} rs_plot_report;

/* Reads "svg,png,pdf", any of them, as a set. RS_INPUT names the word that is none. */
rs_status rs_plot_formats_read(const char *list, unsigned *formats, rs_err *err) RS_NONNULL(1, 2);

/* Whether this build and machine make PNG and PDF: RS_OK, or RS_UNSUPPORTED with what is missing (librsvg, a font). */
rs_status rs_plot_render_check(rs_err *err);

/* Draws the results in `directory` into directory/plots/, replacing pictures of the same name. Pictures that it drew
 * there from other results (another config, or other numbers) and does not draw now are removed: plots/.drawn lists
 * what it drew, plots/index.html shows it, and all other files are left be. `options` may be NULL (all zero). All input
 * is checked before the first picture is written; on a later failure the report holds what is there by then. RS_INPUT:
 * a manifest or CSV that is not as promised (file, and line of a CSV), no curve at options->length, no picture that a
 * name of options->only means, nothing to draw. RS_UNSUPPORTED: PNG or PDF, as rs_plot_render_check says. RS_IO: a file
 * could not be read or written. RS_MEMORY. */
rs_status rs_plot_results(const char *directory, const rs_plot_options *options, rs_plot_report *report, rs_err *err)
    RS_NONNULL(1, 3);

/* One picture in a form for pages. Its text is the views'. */
typedef struct rs_plot_view {
  char *name;    /* of the picture's files, without an ending */
  char *numbers; /* JSON: see rs_plot_views_read; NULL where pictures were asked for */
  char *svg;     /* the picture; NULL where numbers were asked for */
} rs_plot_view;

/* Zero-initialise; release with rs_plot_views_clear, after a failure too. */
typedef struct rs_plot_views {
  rs_plot_view *items;
  size_t count, capacity;
  rs_arena memory; /* of their text */
} rs_plot_views;

/* The pictures that rs_plot_results draws of `directory`, which it does not change: as SVG (`still`), or as what they
 * show, and then curves at every length. Of pictures that differ in nothing but the length all are left out that say
 * nothing, or none. The numbers are an object with
 *   name, file, column, length (null: none), title, definition, subtitle, form (lines, dots, heat or strips);
 *   group: equal for pictures that differ in the length alone;
 *   lines and dots: x {name, unit, log, marks [[number, name], ...]}, y {name, unit, log}, level {name, value} or null,
 *     lines [{name, colour, dash, x, y, low, high, samples, event}], the last four where there are any; bars, true
 *     where low and high are intervals;
 *   heat and strips: x {name, values}, y, panel, value {name, unit, log, low, high}, methods, absent (names without a
 *     value), marks (of each panel the marked cell, y by y, or null) and values by method, panel, y and x.
 * The report gets notes alone. Fails as rs_plot_results does. */
rs_status rs_plot_views_read(const char *directory, bool still, rs_plot_views *views, rs_plot_report *report,
                             rs_err *err) RS_NONNULL(1, 3, 4);
void rs_plot_views_clear(rs_plot_views *views) RS_NONNULL(1);

enum { RS_PLOT_MAP_LEVELS = 64 };

/* The colours of maps as 0xRRGGBB, dark to light. */
void rs_plot_map_colours(uint32_t colours[RS_PLOT_MAP_LEVELS]) RS_NONNULL(1);

/* Removes the pictures that were drawn from results which are there no more, as rs_plot_results does, and draws none.
 */
rs_status rs_plot_remove_stale(const char *directory, rs_plot_report *report, rs_err *err) RS_NONNULL(1, 2);

void rs_plot_report_clear(rs_plot_report *report) RS_NONNULL(1);

/* ==== page ====================================================================================================== */

/* What every page for a browser is made of: one style, one script that draws charts, and the chart
 * library behind it. A page holds all of these and asks no other host for anything: its content policy forbids it.
 *
 * The library is dygraphs (MIT), as the system packages it; it becomes part of the program when that is built, and is
 * left out where it is not there. Uses base and io. */

/* Whether the chart library is part of this program. */
bool rs_page_has_charts(void);

/* Appends a page up to and with <body>. `title` is plain text. */
void rs_page_begin(rs_text *out, const char *title) RS_NONNULL(1, 2);

/* Appends <script type="application/json" id=ID> with `json`, which is made safe within a page: it has no <, and reads
 * back as it was. */
void rs_page_json(rs_text *out, const char *id, const char *json) RS_NONNULL(1, 2, 3);

/* Appends the scripts of charts, before it (with `library`, where the program has it) the chart library and the terms
 * that it comes under. src/pages/page/chart.js and heat.js say what they offer to scripts that follow. */
void rs_page_charts(rs_text *out, bool library) RS_NONNULL(1);

/* Appends <script> with `bytes` (length,), which come with the program and are no user's. */
void rs_page_script(rs_text *out, const unsigned char *bytes, size_t length) RS_NONNULL(1, 2);

/* A file of the page of explore, which asks its server for its parts. */
typedef struct rs_page_file {
  const char *path, *type; /* its name; what it is */
  const unsigned char *data;
  size_t length;
} rs_page_file;

/* The file of this name; its data is NULL where there is none. */
rs_page_file rs_page_find(const char *path) RS_NONNULL(1);

/* ==== report ==================================================================================================== */

/* Folders of results as one page for a browser, which holds all it shows: what was asked and what
 * came out in sentences, a table of the summary, the curves and maps, and the CSV files themselves. It reads
 * manifest.json and the CSV files of the folders, and nothing else. Uses base, io, plot and page. */

/* Bytes of the largest CSV file that a page holds; of a larger one it says where it is. */
enum { RS_REPORT_CSV = 32 << 20 };

/* Appends the page of `directories` (count, at least 1), side by side where they are several. Charts answer the mouse
 * and the keyboard where this program has the chart library (rs_page_has_charts) and `still` is false; else they are
 * pictures as rs_plot_results draws them. All text of the folders is plain text in the page. The notes of `notes` say
 * what has no picture, and why. RS_INPUT: a manifest or CSV that is not as promised (file, and line of a CSV). RS_IO:
 * a file could not be read. RS_MEMORY. */
rs_status rs_report_write(const char *const *directories, size_t count, bool still, rs_text *page,
                          rs_plot_report *notes, rs_err *err) RS_NONNULL(1, 4, 5);

/* ==== explore =================================================================================================== */

/* One recipe at a time, answered while somebody moves its parameters: what is asked as the query
 * of a URL is answered as JSON, and a server on this machine alone serves both to a page. Every number comes from the
 * tables and metrics that `show` and `run` read. */

/* ---- questions and answers --------------------------------------------------------------------------------------- */

enum {
  RS_EXPLORE_LONGEST = 1 << 20, /* tokens: the longest context that is answered at once */
  RS_EXPLORE_LIST = 512,        /* numbers of a list in a query */
  RS_EXPLORE_POINTS = 288,      /* distances of a curve, at most: fewer than a picture has columns */
  RS_EXPLORE_PARAMS = 64,       /* of a question */
  RS_EXPLORE_TOKEN = 32         /* hexadecimal digits of the server's address */
};

/* Where a page begins, and the model that it can always go back to. Read-only once made: any thread. */
typedef struct rs_explorer rs_explorer;

/* The subject that `in` names by `hf` or `preset`; a model that publishes no recipe begins with its `fallback`. A
 * length past RS_EXPLORE_LONGEST becomes that. Problems and statuses as of rs_subject_read; RS_UNSUPPORTED for a recipe
 * with a list that no query holds. Release with rs_explorer_free. */
rs_status rs_explorer_create(const rs_subject_in *in, rs_explorer **explorer, rs_problems *problems, rs_err *err)
    RS_NONNULL(1, 2, 3);
void rs_explorer_free(rs_explorer *explorer);

/* The length that the subject has, tokens, be it past RS_EXPLORE_LONGEST or not. */
size_t rs_explorer_subject_length(const rs_explorer *explorer) RS_NONNULL(1);

/* A parameter of a question, decoded. */
typedef struct rs_explore_param {
  const char *name, *value; /* NULL: it has none, which is refused */
} rs_explore_param;

/* What there is to choose from, as JSON: models, methods with the specs of their parameters, columns, and in "query"
 * the parameters of the beginning. */
rs_status rs_explore_choices(const rs_explorer *explorer, rs_text *json, rs_err *err) RS_NONNULL(1, 2);

/* The answer to a question as JSON: the resolved recipe, what it comes to, its frequencies, angles and decay, and the
 * command and config that give the same. Tables are made for the distances of the curves alone (RS_EXPLORE_POINTS);
 * where the kernel is a sum of waves, its extremes between them are found, too. Of its parameters,
 * which are in any order,
 *
 *   model      "file" (of rs_subject_in's hf), or a preset; the explorer's without
 *   layers     which of its layers, as in rs_profile_find
 *   head_dim   in place of the model's, from 2 to 1024, even; rotary dims follow in proportion
 *   length     tokens, from 1 to RS_EXPLORE_LONGEST; the explorer's without
 *   method     its name; that of the explorer's recipe without
 *
 * and the method's parameters, each at most once. RS_INPUT, with the parameter as subject, for a name that is not known
 * or given twice, a value that is out of range, not finite or no value; RS_DOMAIN and RS_UNSUPPORTED where the recipe
 * is undefined there; RS_MEMORY. The text is cleared on failure. */
rs_status rs_explore_answer(const rs_explorer *explorer, const rs_explore_param *params, size_t count, rs_text *json,
                            rs_err *err) RS_NONNULL(1, 4);

/* A failure as the page reads it: {"error": "factor: must be a number", "parameter": "factor"}. */
void rs_explore_error(const rs_err *err, rs_text *json) RS_NONNULL(1, 2);

/* ---- the server -------------------------------------------------------------------------------------------------- */

/* Whether this build has it (libmicrohttpd). */
bool rs_explore_serves(void);

typedef struct rs_explore_server rs_explore_server;

/* Serves the page and the answers on 127.0.0.1, on `port` (0: any that is free), on a thread of its own, until it is
 * stopped. `explorer` outlives it. RS_IO with the port and the reason; RS_UNSUPPORTED without the library. */
rs_status rs_explore_start(const rs_explorer *explorer, unsigned port, rs_explore_server **server, rs_err *err)
    RS_NONNULL(1, 3);

/* "http://127.0.0.1:PORT/TOKEN/". Borrows. */
const char *rs_explore_url(const rs_explore_server *server) RS_NONNULL(1);

/* Ends what is being answered, and the thread. */
void rs_explore_stop(rs_explore_server *server);

#endif
