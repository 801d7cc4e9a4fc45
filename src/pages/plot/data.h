/* Data: a folder of results, as it is read and averaged, and what its pictures were drawn from. */
#ifndef ROPESCOPE_PAGES_PLOT_DATA_H
#define ROPESCOPE_PAGES_PLOT_DATA_H

#include "base/base.h"
#include "io/io.h"
#include "pages/pages.h"

#include "paper.h"

/* ---- report: what was done and what is to be said of it ---------------------------------------------------------- */

/* Appends a note. */
rs_status rs_plot_note(rs_plot_report *report, rs_err *err, const char *format, ...) RS_PRINTF(3, 4);

/* Appends a path of a picture that was written. */
rs_status rs_plot_report_add(rs_plot_report *report, const char *path, rs_err *err);

/* ---- names: a list of names, each once, in order of first appearance --------------------------------------------- */

/* Names in order of first appearance; each owned. */
typedef struct rs_plot_names {
  char **items;
  size_t count, capacity;
} rs_plot_names;

/* The index of `name`, added when new. */
rs_status rs_plot_names_add(rs_plot_names *names, const char *name, size_t *index, rs_err *err);
void rs_plot_names_clear(rs_plot_names *names);

/* ---- data: what a folder of results holds: files, their columns, their cells ------------------------------------- */

#define RS_PLOT_ANY SIZE_MAX

typedef enum rs_plot_role { RS_PLOT_KEY, RS_PLOT_INDEX, RS_PLOT_VALUE, RS_PLOT_ERROR, RS_PLOT_STATUS } rs_plot_role;

/* What a column is to its picture. As rs_map_part of the metrics. */
typedef enum rs_plot_part {
  RS_PLOT_NO_PART,
  RS_PLOT_MAP_X,
  RS_PLOT_MAP_Y,
  RS_PLOT_MAP_PANEL,
  RS_PLOT_MAP_MARK,
  RS_PLOT_BIN_END,  /* where the bin ends that starts at the first index */
  RS_PLOT_SAMPLES,  /* how many samples the values are means of */
  RS_PLOT_CATEGORY, /* the first index: numbers of things that have names */
  RS_PLOT_STRIP,    /* a value: drawn as colours over the first index, not as lines */
  RS_PLOT_MASS,     /* a value: falls into bins, drawn divided by their width */
  RS_PLOT_LOW,      /* a value: the least of the bin, drawn with the value that is called as it without _low; of a
                       summary, where the 95 % interval of that value begins */
  RS_PLOT_HIGH,     /* the largest, or where it ends, likewise */
  RS_PLOT_SEEN,     /* a value: as with RS_PLOT_ONE; a place without one is not seen, and stays blank */
  RS_PLOT_SHARE,    /* a value: a share of the panel, said in its title */
  RS_PLOT_ONE,      /* a value: of one model or one sequence; it has no mean over seeds */
  RS_PLOT_PARTS
} rs_plot_part;

typedef struct rs_plot_column {
  const char *name, *unit, *summary; /* borrowed from the manifest; "" where absent */
  rs_plot_role role;
  rs_plot_part part;
  bool log;
  bool sourced; /* its values are observed in queries and keys, and not in tables alone */
  bool tasked;  /* they are read from the task, whatever the source */
  int better;   /* 1: higher, -1: lower, 0: neither is said */
  size_t place; /* its number in the table, once that is read */
} rs_plot_column;

/* Keys whose words are names of rs_plot_data. */
enum { RS_PLOT_MODEL, RS_PLOT_METHOD, RS_PLOT_SOURCE, RS_PLOT_SEED, RS_PLOT_HEADS, RS_PLOT_NAMED };

/* Rows begin..end-1 of a table, which share their keys. Names are indices into the lists of rs_plot_data. */
typedef struct rs_plot_cell {
  union {
    struct {
      size_t model, method, source, seed, heads;
    };
    size_t keys[RS_PLOT_NAMED]; /* the same, in this order */
  };
  double length; /* tokens */
  size_t begin, end;
} rs_plot_cell;

typedef struct rs_plot_file {
  const char *name; /* "summary.csv"; borrowed from the manifest */
  char *path;       /* owned */
  rs_plot_column *columns;
  size_t count;
  const rs_plot_column *keys[RS_PLOT_NAMED + 2]; /* columns of these, then of the length and the cell, once read */
  rs_table *table;                               /* NULL when the file holds nothing to draw. Owned. */
  rs_plot_cell *cells;
  size_t cell_count, cell_capacity;
} rs_plot_file;

typedef struct rs_plot_data {
  rs_arena memory; /* of files and their columns */
  rs_tree *manifest;
  const char *name;           /* of the experiment; "" when it has none. Borrowed from the manifest. */
  const char *config;         /* fingerprint of the config, likewise */
  const char *incomplete;     /* "incomplete: 3 of 8 cells"; "" of a whole set */
  const rs_node *captions;    /* sources with the phrases of their captions; NULL: the manifest has none. Borrowed. */
  const char *task;           /* its name, with a caption among the sources'; NULL, "": none. Borrowed. */
  const rs_node *checkpoints; /* models, likewise, that are checkpoints */
  bool by_checkpoint;         /* `methods` are checkpoints, and `models` the one method that reads them */
  rs_plot_file *files;
  size_t count;
  union {
    struct {
      rs_plot_names models, methods, sources, seeds, heads;
    };
    rs_plot_names names[RS_PLOT_NAMED]; /* the same, in this order */
  };
} rs_plot_data;

void rs_plot_data_clear(rs_plot_data *data);

/* The first column of the role after the first `skip` such, or NULL. Borrows. */
const rs_plot_column *rs_plot_column_of(const rs_plot_file *file, rs_plot_role role, size_t skip);

/* The column of the part, or NULL. Borrows. */
const rs_plot_column *rs_plot_part_of(const rs_plot_file *file, rs_plot_part part);

/* The column called BEFORE + NAME + AFTER, or NULL. Borrows. */
const rs_plot_column *rs_plot_column_named(const rs_plot_file *file, const char *before, const char *name,
                                           const char *after);

/* What a column says in a row of the table. Borrows. */
const char *rs_plot_field(const rs_plot_file *file, size_t row, const rs_plot_column *column);

/* The index that lines are drawn against: the first that is no panel. NULL: none. Borrows. */
const rs_plot_column *rs_plot_x_of(const rs_plot_file *file);

/* True if a picture shows the column's values. */
bool rs_plot_column_drawn(const rs_plot_column *column);

/* True if `file` is one to draw: summary.csv, or one with an index column; and with a value column. */
bool rs_plot_file_drawn(const rs_plot_file *file);

/* Reads the table of `file` and where its columns are in it. RS_INPUT with file and line, RS_IO, RS_MEMORY. */
rs_status rs_plot_table_read(rs_plot_file *file, rs_err *err);

/* ---- cells: one CSV file ----------------------------------------------------------------------------------------- */

enum { RS_PLOT_LEGEND = 16 }; /* lines that can be told apart at a glance */

/* Reads the table of `file` and its cells. Where cells differ in nothing but keys that a line does not show (say,
 * scale), those keys join the names of their methods ("yarn scale=8"). So do heads that stand each for itself, if that
 * makes a legend of at most RS_PLOT_LEGEND lines; else they are averaged, like seeds. Where cells differ in no key at
 * all, a note says that their mean is shown. */
rs_status rs_plot_cells_read(rs_plot_data *data, rs_plot_file *file, rs_plot_report *report, rs_err *err);

/* The numbers of a column, one per row, in `memory`: NaN where empty, beyond 1e300, or where the row's status is not
 * "ok". RS_INPUT with file and line for what is no number. */
rs_status rs_plot_numbers(const rs_plot_file *file, const rs_plot_column *column, rs_arena *memory, double **numbers,
                          rs_err *err);

/* ---- blocks: what intervals are made of -------------------------------------------------------------------------- */

/* The columns NAME_low and NAME_high, where the manifest says that they are the ends of an interval. Borrows. */
bool rs_plot_interval_of(const rs_plot_file *file, const rs_plot_column *column, const rs_plot_column **low,
                         const rs_plot_column **high);

/* The file that has the column's value of each block, or NULL; its table may not be read yet. Borrows. */
rs_plot_file *rs_plot_blocks_file(const rs_plot_data *data, const rs_plot_column *column);

/* The blocks of such a file; none of NULL, or before its table is read. */
rs_blocks rs_plot_blocks_of(const rs_plot_file *file, const rs_plot_column *column);

/* ---- manifest: which files there are and what their columns mean ------------------------------------------------- */

/* Reads DIRECTORY/manifest.json into zeroed `data`: names, files and columns, no table yet. */
rs_status rs_plot_manifest_read(const char *directory, rs_plot_data *data, rs_err *err);

/* ---- measure: the numbers of one value column, and which of them a picture shows --------------------------------- */

/* One value column, with what it is drawn against; one number per row. */
typedef struct rs_plot_measure {
  const rs_plot_data *data;
  const rs_plot_file *file;
  const rs_plot_column *column;
  rs_arena memory;             /* of all numbers below */
  double *x;                   /* the index; NULL: x is the length. */
  double *y;                   /* NaN where not available. */
  double *error;               /* standard errors, or NULL. */
  double *low, *high;          /* the least and the largest of the bin, or NULL, both. */
  bool interval;               /* of a summary: they are the ends of a 95 % interval */
  rs_blocks blocks;            /* that it is made of */
  double *part[RS_PLOT_PARTS]; /* the indices of a map, or NULL. */
  bool density;                /* y is divided by the width of its bin */
  bool category;               /* x numbers things that have names */
  bool any;                    /* some y is a number */
  bool per_source;             /* y depends on the source */
  bool map;                    /* some y is a number at an x and y of a map */
  bool over_lengths;           /* of such a map, the x is the length of the cells */
  bool strip;                  /* y is drawn as a strip: part x is the first index, part y zero */
} rs_plot_measure;

/* Sources that differ in one number, which a summary is drawn over. */
typedef struct rs_plot_family {
  const rs_plot_column *parameter; /* its key column. Borrowed. */
  const char *name;                /* what is common to the sources' names. */
  double *values;                  /* (sources,) NaN: not of this family. */
} rs_plot_family;

/* Checkpoints that differ in one number, over which a summary is drawn at one length. Zero-initialise; release with
 * rs_plot_sweep_clear. */
typedef struct rs_plot_sweep {
  rs_arena memory;
  const rs_plot_column *parameter; /* its key column; NULL: there is none. Borrowed. */
  double *values;                  /* (methods,) of each checkpoint; NaN: it has none. */
  size_t *line;                    /* (methods,) the line that it is a point of. */
  rs_plot_names lines;             /* what is common to the checkpoints of a line, in the order of methods */
  rs_plot_style *styles;           /* (lines.count,) */
  bool log;                        /* the numbers span more than a power of ten */
} rs_plot_sweep;

/* Which cells a chart shows: of one model, of one source (or RS_PLOT_ANY), at one length (0: any); and which rows. */
typedef struct rs_plot_choice {
  size_t model, source;
  double length;
  bool in_panel; /* rows of this panel alone: */
  double panel;
  const rs_plot_family *family; /* the sources that have a place; NULL: as `source` says. Borrowed. */
  const rs_plot_sweep *sweep;   /* what a summary is drawn over; NULL: the length. Borrowed. */
  size_t seed, seeds;           /* this seed alone, of so many that have a value; seeds 0: all of them */
} rs_plot_choice;

/* Reads a column into a measure that is zero or of another; of the same nothing is read again. After a failure it is to
 * be cleared. */
rs_status rs_plot_measure_read(const rs_plot_data *data, const rs_plot_file *file, const rs_plot_column *column,
                               rs_plot_measure *measure, rs_err *err);
void rs_plot_measure_clear(rs_plot_measure *measure);

/* What a row of the cell is drawn against: its index, or the length. */
double rs_plot_row_x(const rs_plot_measure *measure, const rs_plot_cell *cell, size_t row);
bool rs_plot_chosen(const rs_plot_cell *cell, const rs_plot_choice *choice);

/* Confines the choice to one seed where the values have no mean over seeds and chosen cells have several: the first of
 * those that have a value in most cells. */
void rs_plot_seed_choose(const rs_plot_measure *measure, rs_plot_choice *choice);

/* The longest length at which the chosen cells have a value; 0: none has. */
double rs_plot_longest(const rs_plot_measure *measure, const rs_plot_choice *choice);

/* ---- ranks: numbers that occur, as places in a row --------------------------------------------------------------- */

/* Numbers that occur, rising, each once. */
typedef struct rs_plot_ranks {
  double *items;
  size_t count;
} rs_plot_ranks;

/* The distinct numbers, without NaN, in `memory`. */
rs_status rs_plot_ranks_read(const double *numbers, size_t count, rs_arena *memory, rs_plot_ranks *ranks, rs_err *err);

/* The rank of a number; the ranks' count where it is none of them. */
size_t rs_plot_rank(const rs_plot_ranks *ranks, double number);

/* Cells in a row, one for each rank: every how many there is a label, when one needs `room` pixels, and whether cell i
 * has one. Whole numbers without gaps have it at multiples of 1, 2, 5, 10, ..., others by their rank. */
size_t rs_plot_label_step(const rs_plot_ranks *ranks, double cell, double room);
bool rs_plot_is_labelled(const rs_plot_ranks *ranks, size_t i, size_t step);

/* ---- series: the numbers of a chart: one series of points for each method ---------------------------------------- */

typedef struct rs_plot_point {
  double x, y, low, high; /* y is NaN at a gap; low <= y <= high the band, all equal where there is none */
  double samples;         /* that y is the mean of; 0: not said */
} rs_plot_point;

/* A mean of fewer samples has a place, but does not speak of a trend: a share of 16 is known to +-0.125. */
enum { RS_PLOT_SAMPLES_LEAST = 16, RS_PLOT_TREND_LEAST = 3 /* points of a trend */ };

typedef struct rs_plot_series {
  const char *label; /* borrowed */
  size_t method;
  rs_plot_style style; /* to be set before it is drawn */
  rs_plot_point *points;
  size_t count;   /* by rising x, each once; 0: no data */
  bool bins;      /* the band of a point goes on to the next point's x */
  bool bars;      /* low and high are an interval of each point, not a band along the line */
  bool has_event; /* something happens at x = event: */
  double event;
} rs_plot_series;

typedef enum rs_plot_band {
  RS_PLOT_NO_BAND,
  RS_PLOT_MIN_MAX,
  RS_PLOT_STANDARD_ERROR,
  RS_PLOT_ENVELOPE,
  RS_PLOT_INTERVAL
} rs_plot_band;

typedef struct rs_plot_set {
  rs_arena memory;
  rs_plot_series *series; /* one per method that has a cell */
  size_t count;
  rs_plot_point *points; /* (point_count,) of all series */
  size_t point_count;
  bool any; /* there is something to show */
  rs_plot_band band;
  size_t seeds, heads; /* the most a line is a mean over */
  bool folded;         /* points are means over further index columns */
  bool events;         /* a series has one */
  bool few;            /* a point has too few samples */
  bool trendless;      /* samples are counted, and no series has enough points of enough of them */
} rs_plot_set;

/* Whether the point is of too few samples to be joined with others. */
bool rs_plot_is_few(const rs_plot_point *point);

rs_status rs_plot_set_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_set *set, rs_err *err);
void rs_plot_set_clear(rs_plot_set *set);

/* ---- map: the numbers of a heat map or of strips: one map for each method and panel ------------------------------ */

enum { RS_PLOT_PANELS = 6, RS_PLOT_MAP_SIDE = 512 }; /* most panels side by side, and cells along a side, of a chart */

/* Values over x, y, panel and method. */
typedef struct rs_plot_map {
  rs_plot_ranks x, y, panel; /* panel: of those shown; one without panels */
  size_t panels;             /* of those there are */
  size_t *methods, count;    /* numbers of the methods that have a value, in their order. */
  double *values;            /* (count, panel.count, y.count, x.count): means; NaN: none. */
  size_t *marks;             /* (panel.count,) the marked cell as y * x.count + x; SIZE_MAX: none. */
  double low, high;          /* of the values */
  size_t folded;             /* most rows that a value is the mean of */
  bool any;                  /* false also where a side has more than RS_PLOT_MAP_SIDE cells */
  size_t absent;             /* methods that have cells, but no value: their numbers stand behind the others */
  rs_arena memory;           /* of all the numbers */
  double *shares;            /* (count, panel.count) said in the titles of panels; NaN: none. NULL: there are none. */
} rs_plot_map;

rs_status rs_plot_map_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_map *map, rs_err *err);
void rs_plot_map_clear(rs_plot_map *map);

/* ---- drawn: which pictures of a folder are ours, and of which results -------------------------------------------- */

/* Lists the report's files in `folder` as drawn from these results, and removes what an earlier list names as drawn
 * from others, unless it was drawn again: a note says how many. Then writes folder/index.html, which shows what is
 * listed, under the name of the experiment; without pictures there is none. A page of that name that is not ours stays.
 */
rs_status rs_plot_drawn_update(const char *folder, const rs_plot_data *data, rs_plot_report *report, rs_err *err);

#endif
