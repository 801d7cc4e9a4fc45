/* family.h: sources that differ in one number, which a summary is drawn over. */
#ifndef ROPESCOPE_PLOT_FAMILY_H
#define ROPESCOPE_PLOT_FAMILY_H

#include "measure.h"

/* Sources that differ in one number. */
typedef struct rs_plot_family {
  const rs_plot_column *parameter; /* its key column. Borrowed. */
  char *name;                      /* what is common to the sources' names. Owned. */
  double *values;                  /* (sources,) NaN: not of this family. Owned. */
} rs_plot_family;

typedef struct rs_plot_families {
  rs_plot_family *items; /* owned */
  size_t count, capacity;
} rs_plot_families;

/* Appends the name without " depth=0.5"; false where it does not say so. */
bool rs_plot_write_stem(const char *name, const char *parameter, const char *value, rs_text *stem);

/* The families of at least two sources in a summary; a source is in one at most. Release with rs_plot_families_clear,
 * after a failure too. */
rs_status rs_plot_families_read(const rs_plot_data *data, const rs_plot_file *file, rs_plot_families *families,
                                rs_err *err);
void rs_plot_families_clear(rs_plot_families *families);
bool rs_plot_in_family(const rs_plot_families *families, size_t source);

/* Makes the measure a map of the model's cells: x is the length, y the family's parameter; or, where these have one
 * length alone, one row over the parameter, and `*strips` is true. */
rs_status rs_plot_family_places(const rs_plot_family *family, size_t model, rs_plot_measure *measure, bool *strips,
                                rs_err *err);

#endif
