/* What the parts of a report share. */
#ifndef ROPESCOPE_PAGES_REPORT_REPORT_H
#define ROPESCOPE_PAGES_REPORT_REPORT_H

#include "base/base.h"
#include "io/io.h"

/* ---- pack: bytes within a page ----------------------------------------------------------------------------------- */

/* Appends `bytes` (length,) compressed by gzip (RFC 1952), as base64 (RFC 4648, section 4): a page has room for
 * letters alone. The same bytes give the same text. RS_MEMORY, RS_INTERNAL. */
rs_status report_pack(const char *bytes, size_t length, rs_text *out, rs_err *err);

/* ---- results: what a report says of one folder: its manifest, and the means of its summary ----------------------- */

/* A column of summary.csv. Text is borrowed from the manifest. */
typedef struct report_column {
  const char *name, *unit, *summary;
  bool key, value;
  bool sourced; /* observed in queries and keys, not in tables alone */
  int better;   /* 1: higher, -1: lower, 0: neither is said */
  size_t place; /* in the table */
  bool varies;  /* a key that rows differ in */
  bool any;     /* a value that some row has */
} report_column;

/* Rows of summary.csv that differ in the seed (and the number of the cell) alone. */
typedef struct report_line {
  size_t row;       /* the first of them */
  double length;    /* tokens; NaN where the file has none */
  size_t rows, bad; /* how many they are, and how many of them failed */
  double *means;    /* (columns,) of the rows that are ok; NaN: none has a value. A part of report_results.means. */
} report_line;

/* Zero-initialise; release with report_results_clear, after a failure too. */
typedef struct report_results {
  rs_arena memory;       /* of columns, lines and means */
  const char *directory; /* borrowed */
  const char *label;     /* its last part, or all of it where that is another's too; borrowed */
  rs_tree *manifest, *config;
  const char *name, *version, *sha; /* of the experiment, the program, the config; "" where not said. Borrowed. */
  rs_table *table;                  /* summary.csv; NULL: there is none */
  report_column *columns;           /* (count,) */
  size_t count;
  report_line *lines; /* (line_count,) in the order of the file */
  size_t line_count;
  double *means;
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

/* Appends a number to six digits. */
void report_number(double value, rs_text *out);

/* Appends 32768 as "32k" and 3000 as "3000". */
void report_tokens(double tokens, rs_text *out);

/* ---- sentences: what was asked and what came out, in sentences that the numbers bear out ------------------------- */

/* Append HTML: paragraphs of what was asked, of where the numbers come from and of what failed; and a list with, for
 * each metric that has a better side, the best and the worst method at the longest length. */
void report_asked(const report_results *results, rs_text *out);

/* What captions say of the sources: what queries and keys are, and what a table of them does not rank. */
void report_sources(const report_results *results, rs_text *out);
void report_found(const report_results *results, rs_text *out);

/* ---- table: the summaries of all folders as one table ------------------------------------------------------------ */

/* Appends an HTML table: a row for each line of the folders (count,), a column for each key that lines differ in and
 * for each value that some line has. Rows of other lengths than the folder's longest are hidden where scripts run,
 * which show them again. RS_MEMORY. */
rs_status report_table(const report_results *folders, size_t count, rs_text *out, rs_err *err);

#endif
