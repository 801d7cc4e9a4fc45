/* categories.h: names of what a curve counts. */
#ifndef ROPESCOPE_PLOT_CATEGORIES_H
#define ROPESCOPE_PLOT_CATEGORIES_H

#include "data.h"

typedef struct rs_plot_categories {
  char **names; /* (count,) of x = 0, 1, ...; owned */
  size_t count;
} rs_plot_categories;

/* Names the first `count` of what a column called `what` counts. "part": of the manifest's task; "segment": of the
 * token layout in its config, as "text", "image 24 × 32", "video 32 × 12 × 16", where what it does not list is text;
 * others have numbers, as "head 0". Release with rs_plot_categories_clear, after a failure too. */
rs_status rs_plot_categories_read(const rs_plot_data *data, const char *what, size_t count,
                                  rs_plot_categories *categories, rs_err *err);
void rs_plot_categories_clear(rs_plot_categories *categories);

#endif
