/* Columns of numbers of the golden tables. */
#ifndef ROPESCOPE_TESTS_COLUMN_H
#define ROPESCOPE_TESTS_COLUMN_H

#include "../golden.h"

static inline void read_column(const rs_table *table, size_t begin, size_t count, const char *column, double *out) {
  for (size_t i = 0; i < count; i++) out[i] = golden_number(table, begin + i, column);
}

#endif
