/* Strings that are to be said again, which `copy` and `reverse` share: n symbols, a bar, and the answer, symbol by
 * symbol. A model reads the string, the bar and all of the answer but its last symbol: 2 n tokens. */
#ifndef ROPESCOPE_MODEL_STRINGS_H
#define ROPESCOPE_MODEL_STRINGS_H

#include "tasks.h"

typedef struct rs_strings {
  size_t symbols;
  size_t shortest; /* of training strings, symbols */
} rs_strings;

typedef struct rs_strings_state {
  rs_strings params;
  uint64_t seed;
} rs_strings_state;

/* Members of a task whose params struct is rs_strings. */
rs_status rs_strings_prepare(const rs_task_in *in, void *state, rs_err *err);
rs_status rs_strings_shape(const void *state, size_t length, rs_example_shape *shape, rs_err *err);
double rs_strings_chance(const void *state, size_t part);

/* One string and its answer, the same way around or backward. */
void rs_strings_draw(const void *state, rs_split split, uint64_t index, size_t length, bool backward,
                     rs_example *example);

#endif
