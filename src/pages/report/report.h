/* What the parts of a report share. */
#ifndef ROPESCOPE_PAGES_REPORT_REPORT_H
#define ROPESCOPE_PAGES_REPORT_REPORT_H

#include "pages/plot/data.h"

/* ---- results: what a report says of one folder: its manifest, and the means of its summary ----------------------- */

/* A column of summary.csv. */
typedef struct report_column {
  const rs_plot_column *is; /* borrowed */
  const char *name;         /* its own */
  bool key, value;
  bool varies;      /* a key that rows differ in */
  bool any;         /* a value that some row has */
  bool interval;    /* a value with an interval */
  bool end;         /* an end of such a one */
  rs_blocks blocks; /* of the value, by which lines are told apart */
} report_column;

/* Rows of summary.csv that differ in the seed (and the number of the cell) alone. */
typedef struct report_line {
  const struct report_results *of;
  size_t row;             /* the first of them */
  double length;          /* tokens; NaN where the file has none */
  size_t rows, bad;       /* how many they are, and how many of them failed */
  double *means;          /* (columns,) of the rows that are ok; NaN: none has a value */
  size_t *counts;         /* (columns,) of those values */
  rs_interval *intervals; /* (columns,) ends are NaN where there is no interval */
} report_line;

/* Zero-initialise; release with report_results_clear, after a failure too. */
typedef struct report_results {
  rs_arena memory;       /* of columns, lines and means */
  const char *directory; /* borrowed */
  const char *label;     /* its last part, or all of it where that is another's too; borrowed */
  rs_plot_data data;
  const rs_node *root;         /* of its manifest */
  rs_tree *config;             /* NULL: it cannot be read */
  const rs_plot_file *summary; /* NULL: there is none */
  report_column *columns;      /* (count,) */
  size_t count;
  report_line *lines; /* (line_count,) in the order of the file */
  size_t line_count;
  double longest; /* length of lines, tokens; NaN: none */
} report_results;

/* Reads the folder. RS_INPUT with file and line, RS_IO, RS_MEMORY. */
rs_status report_results_read(const char *directory, report_results *results, rs_err *err);
void report_results_clear(report_results *results);

/* The column of this name, or NULL. Borrows. */
const report_column *report_column_find(const report_results *results, const char *name);

/* What a column says in a row of the table; "" for a column that is not there. Borrows. */
const char *report_field(const report_results *results, const char *column, size_t row);

/* The text of a member of a node; "" where there is none. Borrows. */
const char *report_member(const rs_node *node, const char *key);

/* The rows of a line that have a value of the column, in `memory`. RS_MEMORY. */
rs_status report_rival(const report_results *results, const report_line *line, const report_column *column,
                       rs_arena *memory, rs_rival *rival, rs_err *err);

/* Appends a number to six digits. */
void report_number(double value, rs_text *out);

/* Appends a value of a line: "0.153 [0.142, 0.165]" where it has an interval. */
void report_value(const report_line *line, size_t column, rs_text *out);

/* Appends `format` as HTML: each %s, a word, is escaped; %z is a number of things, and %% a sign of percents. */
void report_put(rs_text *out, const char *format, ...);

/* ---- sentences: what was asked and what came out, in sentences that the numbers bear out ------------------------- */

/* Append HTML: paragraphs of what was asked, of where the numbers come from and of what failed; and a list with, for
 * each metric that has a better side, the best and the worst method at the longest length; where it has intervals, the
 * best alone that is apart from all others, or those that are not apart from each other. */
void report_asked(const report_results *results, rs_text *out);

/* What captions say of the sources: what queries and keys are, and what a table of them does not rank. */
void report_sources(const report_results *results, rs_text *out);
rs_status report_found(const report_results *results, rs_text *out, rs_err *err);

/* ---- table: the summaries of all folders as one table ------------------------------------------------------------ */

/* Appends an HTML table: a row for each line of the folders (count,), a column for each key that lines differ in and
 * for each value that some line has. Rows of other lengths than the folder's longest are hidden where scripts run,
 * which show them again. RS_MEMORY. */
rs_status report_table(const report_results *folders, size_t count, rs_text *out, rs_err *err);

#endif
