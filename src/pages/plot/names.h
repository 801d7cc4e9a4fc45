/* names.h: a list of names, each once, in order of first appearance. */
#ifndef ROPESCOPE_PLOT_NAMES_H
#define ROPESCOPE_PLOT_NAMES_H

#include "base/base.h"

/* Names in order of first appearance; each owned. */
typedef struct rs_plot_names {
  char **items;
  size_t count, capacity;
} rs_plot_names;

/* The index of `name`, added when new. */
rs_status rs_plot_names_add(rs_plot_names *names, const char *name, size_t *index, rs_err *err);
void rs_plot_names_clear(rs_plot_names *names);

#endif
