/* plot/plot.h: pictures of a folder of results. Reads manifest.json and the CSV files it lists, and draws one
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
 *    error up and down where the file has one. A curve with columns of its bins' least and largest values has these as
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
 * Uses base and io. Prints nothing; a picture appears whole or not at all. */
#ifndef ROPESCOPE_PLOT_H
#define ROPESCOPE_PLOT_H

#include "base/base.h"

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

/* One picture in a form for pages. All text is owned. */
typedef struct rs_plot_view {
  char *name;    /* of the picture's files, without an ending */
  char *numbers; /* JSON: see rs_plot_views_read; NULL where pictures were asked for */
  char *svg;     /* the picture; NULL where numbers were asked for */
} rs_plot_view;

/* Zero-initialise; release with rs_plot_views_clear, after a failure too. */
typedef struct rs_plot_views {
  rs_plot_view *items;
  size_t count, capacity;
} rs_plot_views;

/* The pictures that rs_plot_results draws of `directory`, which it does not change: as SVG (`still`), or as what they
 * show, and then curves at every length. Of pictures that differ in nothing but the length all are left out that say
 * nothing, or none. The numbers are an object with
 *   name, file, column, length (null: none), title, definition, subtitle, form (lines, dots, heat or strips);
 *   group: equal for pictures that differ in the length alone;
 *   lines and dots: x {name, unit, log, marks [[number, name], ...]}, y {name, unit, log}, level {name, value} or null,
 *     lines [{name, colour, dash, x, y, low, high, samples, event}], the last four where there are any;
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

#endif
