#include "context.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 }; /* bytes */

void *rs_room(size_t count, size_t bytes, const char *purpose, rs_err *err) {
  size_t total = count > 0 ? (count * bytes + LINE - 1) / LINE * LINE : LINE;
  void *room = count > SIZE_MAX / 2 / bytes ? NULL : aligned_alloc(LINE, total);
  if (room == NULL)
    (void)rs_fail(err, RS_MEMORY, "out of memory: %s of %zu numbers", purpose, count);
  else
    memset(room, 0, total);
  return room;
}
