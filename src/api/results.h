/* What a results folder holds, in memory. Private to the api layer. */
#ifndef ROPESCOPE_API_RESULTS_H
#define ROPESCOPE_API_RESULTS_H

#include "api.h"

typedef struct rs_api_file {
  char *name, *data; /* owned; a NUL follows the data */
  size_t length;
  ropescope_frame *frame; /* of a CSV file, owned; else NULL */
} rs_api_file;

struct ropescope_results {
  rs_api_file *files; /* (count,) by name */
  size_t count, capacity;
};

/* Every file of the folder but hidden ones and folders. RS_INPUT where one is not what manifest.json says, RS_IO,
 * RS_MEMORY; *results is NULL then. */
rs_status rs_api_results_read(const char *directory, ropescope_results **results, rs_err *err);

#endif
