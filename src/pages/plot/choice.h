/* Choice: which pictures a folder has, and which series each of them shows. */
#ifndef ROPESCOPE_PAGES_PLOT_CHOICE_H
#define ROPESCOPE_PAGES_PLOT_CHOICE_H

#include "pages/pages.h"

#include "data.h"
#include "paper.h"

/* ---- family: sources that differ in one number, which a summary is drawn over ------------------------------------ */

/* Sources that differ in one number. */
typedef struct rs_plot_family {
  const rs_plot_column *parameter; /* its key column. Borrowed. */
  char *name;                      /* what is common to the sources' names. */
  double *values;                  /* (sources,) NaN: not of this family. */
} rs_plot_family;

typedef struct rs_plot_families {
  rs_arena memory;
  rs_plot_family *items; /* owned */
  size_t count, capacity;
} rs_plot_families;

/* Appends the name without " depth=0.5"; false where it does not say so. */
bool rs_plot_write_stem(const char *name, const char *parameter, const char *value, rs_text *stem);

/* The families of at least two sources in a summary; a source is in one at most. Release with rs_plot_families_clear,
 * after a failure too. */
rs_status rs_plot_families_read(const rs_plot_data *data, const rs_plot_file *file, rs_plot_families *families,
                                rs_err *err);
void rs_plot_families_clear(rs_plot_families *families);
bool rs_plot_in_family(const rs_plot_families *families, size_t source);

/* Makes the measure a map of the model's cells: x is the length, y the family's parameter; or, where these have one
 * length alone, one row over the parameter, and `*strips` is true. */
rs_status rs_plot_family_places(const rs_plot_family *family, size_t model, rs_plot_measure *measure, bool *strips,
                                rs_err *err);

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
} rs_plot_map;

rs_status rs_plot_map_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_map *map, rs_err *err);
void rs_plot_map_clear(rs_plot_map *map);

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
  bool has_event; /* something happens at x = event: */
  double event;
} rs_plot_series;

typedef enum rs_plot_band { RS_PLOT_NO_BAND, RS_PLOT_MIN_MAX, RS_PLOT_STANDARD_ERROR, RS_PLOT_ENVELOPE } rs_plot_band;

typedef struct rs_plot_set {
  rs_arena memory;
  rs_plot_series *series; /* one per method that has a cell */
  size_t count;
  rs_plot_point *points; /* of all series */
  bool any;              /* there is something to show */
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

/* ---- sweep: checkpoints that differ in one number, over which a summary is drawn at one length ------------------- */

/* Zero-initialise; release with rs_plot_sweep_clear. */
typedef struct rs_plot_sweep {
  rs_arena memory;
  const rs_plot_column *parameter; /* its key column; NULL: there is none. Borrowed. */
  double *values;                  /* (methods,) of each checkpoint; NaN: it has none. */
  size_t *line;                    /* (methods,) the line that it is a point of. */
  rs_plot_names lines;             /* what is common to the checkpoints of a line, in the order of methods */
  rs_plot_style *styles;           /* (lines.count,) */
  bool log;                        /* the numbers span more than a power of ten */
} rs_plot_sweep;

/* The first number that at least three checkpoints of a line differ in, where the lines of `data` are checkpoints and
 * `file` is their summary. RS_MEMORY. */
rs_status rs_plot_sweep_read(const rs_plot_data *data, const rs_plot_file *file, rs_plot_sweep *sweep, rs_err *err);
/* The parameter's name within its checkpoint: "tune.steps". */
const char *rs_plot_sweep_words(const rs_plot_sweep *sweep);
void rs_plot_sweep_clear(rs_plot_sweep *sweep);

/* ---- content: the numbers of one picture, in the form in which it shows them ------------------------------------- */

typedef enum rs_plot_form {
  RS_PLOT_LINES,
  RS_PLOT_DOTS,  /* one row a method, where all have values at one place alone; or one row a category */
  RS_PLOT_HEAT,  /* over two numbers */
  RS_PLOT_STRIPS /* colours over one number, one strip a method */
} rs_plot_form;

/* Zero-initialise; release with rs_plot_content_clear, after a failure too. */
typedef struct rs_plot_content {
  rs_plot_form form;
  rs_plot_set set; /* of lines and dots */
  rs_plot_map map; /* of the other two */
} rs_plot_content;

/* Reads what `choice` shows of `measure`; of a family, `measure` gets its places. */
rs_status rs_plot_content_read(rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_content *content,
                               rs_err *err);
void rs_plot_content_clear(rs_plot_content *content);

/* Whether there is a value to show; and whether that says nothing: there is but one number, or all methods have the
 * same line, or means of samples that are too few, at too few places, for a trend. */
bool rs_plot_content_any(const rs_plot_content *content);
bool rs_plot_content_plain(const rs_plot_content *content);

/* ---- list: the pictures that a folder's results give, by name, before any is drawn ------------------------------- */

typedef struct rs_plot_item {
  const rs_plot_file *file;     /* borrowed */
  const rs_plot_column *column; /* borrowed */
  rs_plot_choice choice;
  bool plain; /* it says nothing: rs_plot_content_plain */
  char *name; /* of its files, without an ending; no other has it */
} rs_plot_item;

/* Zero-initialise; release with rs_plot_list_clear, after a failure too. */
typedef struct rs_plot_list {
  rs_arena memory;     /* of the names */
  rs_plot_item *items; /* those of one column stand together. Owned. */
  size_t count, capacity;
  rs_plot_families families; /* that the items' choices borrow */
  rs_plot_sweep sweep;       /* likewise */
} rs_plot_list;

#define RS_PLOT_EVERY_LENGTH (-1.0)

/* Lists the pictures of all values, curves at `length` tokens (0: at the longest that has data, picture by picture;
 * RS_PLOT_EVERY_LENGTH: one picture for each length, the shortest first).
 * Notes say what has no picture, and why. RS_MEMORY. */
rs_status rs_plot_list_read(const rs_plot_data *data, double length, rs_plot_list *list, rs_plot_report *report,
                            rs_err *err);

/* Leaves the items that options->only means; where it names none, those that say something, or, with options->all,
 * each. RS_INPUT: a name that means no picture. */
rs_status rs_plot_list_filter(rs_plot_list *list, const rs_plot_options *options, rs_plot_report *report, rs_err *err);
void rs_plot_list_clear(rs_plot_list *list);

#endif
