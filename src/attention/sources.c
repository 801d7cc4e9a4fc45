/* The table of sources: adding one is one file and one line here. */
#include "sources.h"

#include <string.h>

static const rs_source_kind *const kinds[] = {
    &rs_source_constant, &rs_source_gaussian, &rs_source_gaussian_mean, &rs_source_needle,     &rs_source_band,
    &rs_source_grid,     &rs_source_lookback, &rs_source_gap,           &rs_source_calibrated,
};

const rs_source_kind *const *rs_source_kinds(size_t *count) {
  *count = RS_COUNT(kinds);
  return kinds;
}

const rs_source_kind *rs_source_find(const char *name) {
  for (size_t i = 0; i < RS_COUNT(kinds); i++)
    if (strcmp(kinds[i]->kind.name, name) == 0) return kinds[i];
  return NULL;
}
