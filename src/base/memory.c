/* Checked allocation: sizes that would overflow fail like an exhausted heap. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void *rs_alloc(size_t count, size_t size, rs_err *err) {
  void *memory = count > SIZE_MAX / 2 / size ? NULL : calloc(count > 0 ? count : 1, size);
  if (memory == NULL) (void)rs_fail(err, RS_MEMORY, "out of memory: %zu elements of %zu bytes", count, size);
  return memory;
}

rs_status rs_grow(void *array, size_t *capacity, size_t needed, size_t size, rs_err *err) {
  if (needed <= *capacity) return RS_OK;
  size_t wanted = *capacity > SIZE_MAX / 4 / size ? needed : *capacity * 2;
  if (wanted < needed) wanted = needed;
  if (wanted < 8) wanted = 8;
  void *grown;
  memcpy(&grown, array, sizeof grown); /* whatever type it points to */
  grown = wanted > SIZE_MAX / 2 / size ? NULL : realloc(grown, wanted * size);
  if (grown == NULL) return rs_fail(err, RS_MEMORY, "out of memory: %zu elements of %zu bytes", wanted, size);
  memset((char *)grown + *capacity * size, 0, (wanted - *capacity) * size);
  memcpy(array, &grown, sizeof grown);
  *capacity = wanted;
  return RS_OK;
}

void rs_free_at(void *pointer) {
  void *memory;
  memcpy(&memory, pointer, sizeof memory); /* whatever type it points to */
  free(memory);
}

char *rs_strdup(const char *text, rs_err *err) {
  size_t length = strlen(text);
  char *copy = rs_alloc(length + 1, 1, err);
  if (copy != NULL) memcpy(copy, text, length);
  return copy;
}

/* ---- arenas ------------------------------------------------------------------------------------------------------ */

/* Blocks are allocations of their own: sanitizers see the borders of each, and none is larger than it must be. */
struct rs_arena_block {
  struct rs_arena_block *next;
  max_align_t data[];
};

void *rs_arena_take(rs_arena *arena, size_t count, size_t size) {
  struct rs_arena_block *block = NULL;
  if (count == 0) count = 1;
  if (!arena->failed && count <= SIZE_MAX / 2 / size) block = calloc(1, sizeof *block + count * size);
  if (block == NULL) {
    if (!arena->failed) arena->count = count, arena->size = size;
    arena->failed = true;
    return NULL;
  }
  block->next = arena->blocks;
  arena->blocks = block;
  return block->data;
}

char *rs_arena_text(rs_arena *arena, const char *text) {
  size_t length = strlen(text);
  char *copy = rs_arena_take(arena, length + 1, 1);
  if (copy != NULL) memcpy(copy, text, length);
  return copy;
}

rs_status rs_arena_check(const rs_arena *arena, rs_err *err) {
  if (!arena->failed) return RS_OK;
  return rs_fail(err, RS_MEMORY, "out of memory: %zu elements of %zu bytes", arena->count, arena->size);
}

void rs_arena_clear(rs_arena *arena) {
  while (arena->blocks != NULL) {
    struct rs_arena_block *block = arena->blocks;
    arena->blocks = block->next;
    free(block);
  }
  arena->failed = false;
}

/* The clock that durations are measured by. */

double rs_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
