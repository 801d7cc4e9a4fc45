/* Queries and keys of the caller's as rows of doubles. Private to the api layer. */
#ifndef ROPESCOPE_API_ROWS_H
#define ROPESCOPE_API_ROWS_H

#include "api.h"

/* Which numbers of an array are wanted, and what for. */
typedef struct rs_api_part {
  const ropescope_rows *rows;
  const char *name; /* for messages: "q" */
  size_t head;
  const size_t *tokens; /* (count,) row `tokens[i] - first`; NULL: row i */
  size_t first, count, dims;
  double factor; /* multiplies all */
} rs_api_part;

/* Where the part stands as (count, dims) doubles already; NULL: nowhere. */
const double *rs_api_part_there(const rs_api_part *part);

/* out (count, dims): the part as doubles. */
void rs_api_part_read(const rs_api_part *part, double *out);

/* RS_INPUT with the place of a number of (count, dims) that is not finite. */
rs_status rs_api_part_check(const rs_api_part *part, const double *numbers, rs_err *err);

#endif
