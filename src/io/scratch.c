/* scratch.c: folders that hold something for a moment. */
#include "io_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"

rs_status rs_scratch_make(char **path, rs_err *err) {
  const char *temporary = getenv("TMPDIR");
  *path = rs_path_join(temporary != NULL && *temporary != '\0' ? temporary : "/tmp", "ropescope-XXXXXX", err);
  if (*path == NULL) return RS_MEMORY;
  if (mkdtemp(*path) != NULL) return RS_OK;
  rs_status status = rs_fail(err, RS_IO, "%s: cannot be made (TMPDIR): %s", *path, strerror(errno));
  free(*path);
  *path = NULL;
  return status;
}

void rs_scratch_remove(char *path) {
  for (size_t tries = 0; path != NULL && tries < 2; tries++) /* what lacked memory once may have it again */
    if (rs_tree_remove(path)) break;
  free(path);
}
