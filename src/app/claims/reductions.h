/* Reductions of the rows that were selected to one number. Private to the layer. */
#ifndef ROPESCOPE_CLAIMS_REDUCTIONS_H
#define ROPESCOPE_CLAIMS_REDUCTIONS_H

#include "base/base.h"

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

#endif
