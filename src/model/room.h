/* Memory for numbers that kernels read and write. Private to the model layer. */
#ifndef ROPESCOPE_MODEL_ROOM_H
#define ROPESCOPE_MODEL_ROOM_H

#include "base/base.h"

/* `count` zeroed numbers of `bytes` bytes, which begin at a cache line: a vector that crosses two costs two reads. NULL
 * with RS_MEMORY, which says what they are for. Release with free(). */
void *rs_room(size_t count, size_t bytes, const char *purpose, rs_err *err);

#endif
