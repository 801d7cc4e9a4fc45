/* CSV text as columns. Private to the api layer. */
#ifndef ROPESCOPE_API_FRAME_H
#define ROPESCOPE_API_FRAME_H

#include "api.h"

/* Reads CSV text (length bytes), which messages call `name`. RS_INPUT as rs_csv_read, RS_MEMORY; *frame is NULL then.
 */
rs_status rs_api_frame_make(const char *csv, size_t length, const char *name, ropescope_frame **frame, rs_err *err);
void rs_api_frame_free(ropescope_frame *frame);

/* What is known of a column; the words may be NULL. */
typedef struct rs_api_column {
  const char *name, *unit, *summary;
  bool integer; /* its fields are integers or empty */
} rs_api_column;

/* What is known of the column called so, where there is one; the words are copied. RS_MEMORY. */
rs_status rs_api_frame_describe(ropescope_frame *frame, const rs_api_column *column, rs_err *err);

#endif
