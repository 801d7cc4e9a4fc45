/* categories.h: names of what a curve counts. */
#ifndef ROPESCOPE_PLOT_CATEGORIES_H
#define ROPESCOPE_PLOT_CATEGORIES_H

#include "data.h"

typedef struct rs_plot_categories {
  char **names; /* (count,) of x = 0, 1, ...; owned */
  size_t count;
} rs_plot_categories;

/* Names the first `count` segments of the token layout in the manifest's config: "text", "image 24 × 32", "video 32 ×
 * 12 × 16"; what it does not list is text. Release with rs_plot_categories_clear, after a failure too. */
rs_status rs_plot_categories_read(const rs_plot_data *data, size_t count, rs_plot_categories *categories, rs_err *err);
void rs_plot_categories_clear(rs_plot_categories *categories);

#endif
