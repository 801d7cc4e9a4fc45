/* Lists in place of values: how many values each has. They form a grid, whose last list runs fastest; zipped, they
 * advance together. Private to the config layer. */
#ifndef ROPESCOPE_CONFIG_CHOICES_H
#define ROPESCOPE_CONFIG_CHOICES_H

#include "config/config.h"

/* Zero-initialise. */
typedef struct rs_choices {
  size_t *counts; /* (count,) */
  size_t count, room;
  bool zipped;
} rs_choices;

/* False where there is no memory. */
bool rs_choices_add(rs_choices *choices, size_t values);
void rs_choices_clear(rs_choices *choices);

/* Reads the entry's `zip`, and reports lists that cannot advance together. */
void rs_choices_zip(rs_problems *problems, const rs_node *entry, const rs_path *path, rs_choices *choices);

/* How many combinations there are; a number above `most` where there are more than that. */
size_t rs_choices_combinations(const rs_choices *choices, size_t most);

/* Which of its values a list has in the combination. */
size_t rs_choices_pick(const rs_choices *choices, size_t list, size_t combination);

#endif
