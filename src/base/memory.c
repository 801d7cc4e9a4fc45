/* Checked allocation: sizes that would overflow fail like an exhausted heap. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

void *rs_alloc(size_t count, size_t size, rs_err *err) {
  void *memory = count > SIZE_MAX / 2 / size ? NULL : calloc(count > 0 ? count : 1, size);
  if (memory == NULL) (void)rs_fail(err, RS_MEMORY, "out of memory: %zu elements of %zu bytes", count, size);
  return memory;
}

rs_status rs_grow(void **array, size_t *capacity, size_t needed, size_t size, rs_err *err) {
  if (needed <= *capacity) return RS_OK;
  size_t wanted = *capacity > SIZE_MAX / 4 / size ? needed : *capacity * 2;
  if (wanted < needed) wanted = needed;
  if (wanted < 8) wanted = 8;
  void *grown = wanted > SIZE_MAX / 2 / size ? NULL : realloc(*array, wanted * size);
  if (grown == NULL) return rs_fail(err, RS_MEMORY, "out of memory: %zu elements of %zu bytes", wanted, size);
  memset((char *)grown + *capacity * size, 0, (wanted - *capacity) * size);
  *array = grown;
  *capacity = wanted;
  return RS_OK;
}

char *rs_strdup(const char *text, rs_err *err) {
  size_t length = strlen(text);
  char *copy = rs_alloc(length + 1, 1, err);
  if (copy != NULL) memcpy(copy, text, length);
  return copy;
}
