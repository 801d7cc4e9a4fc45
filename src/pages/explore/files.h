/* The files of the page, which are part of the program. */
#ifndef ROPESCOPE_EXPLORE_FILES_H
#define ROPESCOPE_EXPLORE_FILES_H

#include <stddef.h>

typedef struct rs_explore_file {
  const char *path, *type; /* behind the token; what it is */
  const unsigned char *data;
  const size_t *length;
} rs_explore_file;

/* The file at `path` ("": the page), or NULL. */
const rs_explore_file *rs_explore_file_find(const char *path);

#endif
