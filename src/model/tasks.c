/* The tasks by name, and the state of one that is drawn from. */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY(name) &rs_task_##name,
static const rs_task_kind *const kinds[] = {RS_TASKS(ENTRY)};

const rs_task_kind *const *rs_task_kinds(size_t *count) {
  *count = RS_COUNT(kinds);
  return kinds;
}

const rs_task_kind *rs_task_find(const char *name) {
  for (size_t i = 0; i < RS_COUNT(kinds); i++)
    if (strcmp(kinds[i]->kind.name, name) == 0) return kinds[i];
  return NULL;
}

unsigned rs_task_needles(const rs_task_kind *kind) {
  return kind->probes != 0 ? kind->probes : ~0u;
}

rs_status rs_task_prepare(const rs_task_kind *kind, const rs_task_in *in, rs_task *task, rs_err *err) {
  *task = (rs_task){kind, rs_alloc(1, kind->state_size, err)};
  rs_status status = task->state != NULL ? kind->prepare(in, task->state, err) : RS_MEMORY;
  if (status != RS_OK) rs_task_clear(task);
  return status;
}

void rs_task_clear(rs_task *task) {
  if (task->state != NULL && task->kind->release != NULL) task->kind->release(task->state);
  free(task->state);
  *task = (rs_task){0};
}
