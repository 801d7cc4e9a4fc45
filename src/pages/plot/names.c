/* names.c: a list of names that grows. A folder has tens of them, so a walk finds them. */
#include "data.h"

#include <stdlib.h>
#include <string.h>

rs_status rs_plot_names_add(rs_plot_names *names, const char *name, size_t *index, rs_err *err) {
  for (*index = 0; *index < names->count; ++*index) {
    if (strcmp(names->items[*index], name) == 0) return RS_OK;
  }
  RS_TRY(RS_GROW(names->items, &names->capacity, names->count + 1, err));
  names->items[names->count] = rs_strdup(name, err);
  if (names->items[names->count] == NULL) return RS_MEMORY;
  names->count++;
  return RS_OK;
}

void rs_plot_names_clear(rs_plot_names *names) {
  for (size_t i = 0; i < names->count; i++) free(names->items[i]);
  free(names->items);
  *names = (rs_plot_names){0};
}
