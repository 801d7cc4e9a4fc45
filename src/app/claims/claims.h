/* What the parts of claims share. */
#ifndef ROPESCOPE_APP_CLAIMS_CLAIMS_H
#define ROPESCOPE_APP_CLAIMS_CLAIMS_H

#include "app/app.h"
#include "base/base.h"
#include "io/io.h"
#include "metrics/metrics.h"

/* ---- reductions ------------------------------------------------------------------------------------------------ */

/* Reductions of the rows that were selected to one number. */

/* The rows that were selected: of each, y and, for reductions of two columns, x. Release with rs_sample_clear. */
typedef struct rs_sample {
  double *y, *x;      /* (count,); rows without a number are left out */
  const char **group; /* (count,) words of a third column, borrowed, where rows are grouped */
  bool grouped;
  double level;       /* of reductions that take one */
  size_t count, rows; /* with a value; all that were selected */
} rs_sample;

/* What may stand behind a reduction's columns: a level, which must be there; one more column, which may: rows with the
 * same word there become one, of their means. */
typedef enum rs_reduction_more { RS_MORE_NOTHING, RS_MORE_LEVEL, RS_MORE_GROUP } rs_reduction_more;

typedef struct rs_reduction {
  const char *name;
  size_t columns; /* 1, y; or 2, y and x */
  rs_reduction_more more;
  bool counts_rows; /* has a value where no row has one */
  rs_status (*reduce)(const rs_sample *sample, double *value, rs_err *err);
} rs_reduction;

/* The reduction called `name`, or the one that takes the only row (NULL). RS_INPUT with those there are. */
rs_status rs_reduction_find(const char *name, const rs_reduction **found, rs_err *err);

/* "two columns: (y; x)". */
const char *rs_reduction_takes(const rs_reduction *reduction);

/* Room for so many rows. RS_MEMORY. */
rs_status rs_sample_make(size_t rows, rs_sample *sample, rs_err *err);
void rs_sample_clear(rs_sample *sample);

/* The number, unless `value` is NULL; changes the sample. RS_INPUT where its rows have none. */
rs_status rs_sample_reduce(rs_sample *sample, const rs_reduction *reduction, double *value, rs_err *err);

/* ---- claims ---------------------------------------------------------------------------------------------------- */

/* The parts of reading and judging claims. */

/* ---- expected.c -------------------------------------------------------------------------------------------------- */

/* Reads "4.3e3" or "<=0.434"; the tolerance is what rounding to the digits written leaves. An empty text is an unstated
 * bound. RS_INPUT with the reason. */
rs_status rs_bound_read(const char *text, rs_bound *bound, rs_err *err);

/* Replaces the tolerance by "0.01" or "1%"; an empty text changes nothing. RS_INPUT with the reason. */
rs_status rs_bound_tolerance(const char *text, rs_bound *bound, rs_err *err);

/* Whether `value` keeps to it; false for NaN. */
bool rs_bound_holds(const rs_bound *bound, double value);

/* The relation that begins `text`, and in *length how long it is; 0: none, which means equal. */
rs_relation rs_relation_read(const char *text, size_t *length);
bool rs_relation_holds(rs_relation relation, double order);

/* A number, also as "8k" and "1M". */
bool rs_quantity_read(const char *text, double *value);

/* (RS_ORIGINS) the words of expected.csv. */
extern const char *const rs_origin_words[];

/* Whether what a run comes to must not be what was claimed. */
bool rs_claim_contradicts(const rs_claim *claim);

/* ---- select.c ---------------------------------------------------------------------------------------------------- */

/* The rows that hold this very word in a column; it is borrowed. */
typedef struct rs_line {
  size_t column;
  const char *word;
} rs_line;

/* The number that `column` and `where` name in `table`, of one line's rows unless `line` is NULL; "A less B" is A's
 * number less B's. Without `value` only what there is to reduce is checked. RS_INPUT with the reason, RS_MEMORY. */
rs_status rs_table_select(const rs_table *table, const char *column, const char *where, const rs_line *line,
                          double *value, rs_err *err);

enum { RS_SELECT_NAME = 96 }; /* bytes of the name of a column */

/* The rows (table->rows at most) that the mean which `column` names is taken over, and in `name` the column; "" and no
 * rows where it names another reduction, or `where` a difference. RS_INPUT, RS_MEMORY. */
rs_status rs_table_rows(const rs_table *table, const char *column, const char *where, const rs_line *line, size_t *rows,
                        size_t *count, char name[RS_SELECT_NAME], rs_err *err);

/* RS_INPUT unless `where` holds conditions on columns of the table. */
rs_status rs_where_check(const rs_table *table, const char *where, rs_err *err);

/* The index of the column called `name`. RS_INPUT, with the one that was meant, or those there are. */
rs_status rs_column_find(const rs_table *table, const char *name, int *column, rs_err *err);

/* Whether `column` and `where` are well formed, whatever the table. */
rs_status rs_select_check(const char *column, const char *where, rs_err *err);

/* ---- ranking.c --------------------------------------------------------------------------------------------------- */

/* A column of numbers of a small table. Borrows. */
typedef struct rs_ranking_in {
  const rs_table *table;
  const char *directory;      /* whose summary it is */
  const char *column, *where; /* as in rs_table_select */
  const rs_line *lines;       /* (count,) */
  const double *means;        /* (count,) the numbers; NaN: none */
  size_t count;
  size_t less; /* the line that numbers are less, whose intervals are those of paired differences; RS_NO_COUNT: none */
} rs_ranking_in;

/* What intervals say of it. */
typedef struct rs_ranking {
  bool known;             /* the column has intervals: */
  rs_interval *intervals; /* (count,) of the lines; ends are NaN where there is none */
  const char *differs;    /* the key in which rows of one line differ, so that it has none; NULL: there is no such */
  bool blocks;            /* there are blocks to compare lines by */
  bool ranked;            /* lines compete: */
  size_t best;            /* SIZE_MAX: none has a number */
  bool won;               /* all others are apart from it */
  bool *near;             /* (count,) the best, and those that are not apart from it */
} rs_ranking;

/* Nothing is known unless the column is a mean of one with an interval. Lines compete at one length, where one side is
 * better. All is in `arena`. RS_INPUT, RS_IO, RS_MEMORY. */
rs_status rs_ranking_find(const rs_ranking_in *in, rs_arena *arena, rs_ranking *ranking, rs_err *err);

/* ---- check.c ----------------------------------------------------------------------------------------------------- */

/* What the verdict of a claim comes to where a run comes to finding->value: `held` and `why`. An order that does not
 * appear is one that is no larger than the tolerance of `here`. */
void rs_claim_judge(const rs_claim *claim, rs_claim_result *finding);

/* Joins published numbers to what a run wrote, where there are any: the CSV file beside the expected.csv called
 * `claims` that is named as the config which `file` ("STEM/summary") is of. A row of it belongs to the rows of the run
 * with the same words in all columns that both have; its other columns become columns of *run, empty elsewhere.
 * RS_INPUT for a row that belongs to none, or to one that has another; RS_IO, RS_MEMORY. */
rs_status rs_facts_join(const char *claims, const char *file, rs_table **run, rs_err *err);

/* Spearman's rank correlation of `count` pairs, in [-1, 1]; equal numbers share the mean of their ranks. RS_INPUT for
 * fewer than three pairs, or where all y or all x are equal; RS_MEMORY. */
rs_status rs_rank_correlation(const double *y, const double *x, size_t count, double *rho, rs_err *err);

/* The share of permutations of y that correlate with x as strongly, either way, as y itself does: (1 + those) / 10000
 * of 9999 that are drawn, the same ones every time. The same errors. */
rs_status rs_rank_correlation_p(const double *y, const double *x, size_t count, double *p, rs_err *err);

#endif
