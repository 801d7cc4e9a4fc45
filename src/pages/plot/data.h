/* data.h: what a folder of results holds: files, their columns, their cells. */
#ifndef ROPESCOPE_PLOT_DATA_H
#define ROPESCOPE_PLOT_DATA_H

#include "io/io.h"
#include "names.h"

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
  RS_PLOT_LOW,      /* a value: the least of the bin, drawn with the value that is called as it without _low */
  RS_PLOT_HIGH,     /* the largest, likewise */
  RS_PLOT_PARTS
} rs_plot_part;

typedef struct rs_plot_column {
  const char *name, *unit, *summary; /* borrowed from the manifest; "" where absent */
  rs_plot_role role;
  rs_plot_part part;
  bool log;
  bool sourced; /* its values are observed in queries and keys, and not in tables alone */
  bool tasked;  /* they are read from the task, whatever the source */
  size_t place; /* its number in the table, once that is read */
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

typedef struct rs_plot_data {
  rs_tree *manifest;
  const char *name;           /* of the experiment; "" when it has none. Borrowed from the manifest. */
  const char *config;         /* fingerprint of the config, likewise */
  char incomplete[64];        /* "incomplete: 3 of 8 cells"; "" of a whole set */
  const rs_node *captions;    /* sources with the phrases of their captions; NULL: the manifest has none. Borrowed. */
  const char *task;           /* its name, with a caption among the sources'; NULL, "": none. Borrowed. */
  const rs_node *checkpoints; /* models, likewise, that are checkpoints */
  bool by_checkpoint;         /* `methods` are checkpoints, and `models` the one method that reads them */
  rs_plot_file *files;
  size_t count;
  rs_plot_names models, methods, sources, seeds, heads;
} rs_plot_data;

void rs_plot_data_clear(rs_plot_data *data);

/* The first column of the role after the first `skip` such, or NULL. Borrows. */
const rs_plot_column *rs_plot_column_of(const rs_plot_file *file, rs_plot_role role, size_t skip);

/* The column of the part, or NULL. Borrows. */
const rs_plot_column *rs_plot_part_of(const rs_plot_file *file, rs_plot_part part);

/* The index that lines are drawn against: the first that is no panel. NULL: none. Borrows. */
const rs_plot_column *rs_plot_x_of(const rs_plot_file *file);

/* True if a picture shows the column's values. */
bool rs_plot_column_drawn(const rs_plot_column *column);

/* True if `file` is one to draw: summary.csv, or one with an index column; and with a value column. */
bool rs_plot_file_drawn(const rs_plot_file *file);

#endif
