/* The sources by name, and the state of one that is read. */
#include "sources.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY(name) &rs_source_##name,
static const rs_source_kind *const kinds[] = {RS_SOURCES(ENTRY)};

const rs_source_kind *const *rs_source_kinds(size_t *count) {
  *count = RS_COUNT(kinds);
  return kinds;
}

const rs_source_kind *rs_source_find(const char *name) {
  for (size_t i = 0; i < RS_COUNT(kinds); i++)
    if (strcmp(kinds[i]->kind.name, name) == 0) return kinds[i];
  return NULL;
}

rs_status rs_source_prepare(const rs_source_kind *kind, rs_source_in *in, rs_err *err) {
  in->state = NULL;
  if (kind->prepare == NULL) return RS_OK;
  in->state = rs_alloc(1, kind->state_size, err);
  if (in->state == NULL) return RS_MEMORY;
  rs_status status = kind->prepare(in, in->state, err);
  if (status != RS_OK) {
    free(in->state);
    in->state = NULL;
  }
  return status;
}

void rs_source_release(const rs_source_kind *kind, rs_source_in *in) {
  if (in->state != NULL && kind->release != NULL) kind->release(in->state);
  free(in->state);
  in->state = NULL;
}
