/* sweep.h: checkpoints that differ in one number, over which a summary is drawn at one length. */
#ifndef ROPESCOPE_PLOT_SWEEP_H
#define ROPESCOPE_PLOT_SWEEP_H

#include "measure.h"
#include "style.h"

/* Zero-initialise; release with rs_plot_sweep_clear. */
typedef struct rs_plot_sweep {
  const rs_plot_column *parameter; /* its key column; NULL: there is none. Borrowed. */
  double *values;                  /* (methods,) of each checkpoint; NaN: it has none. Owned. */
  size_t *line;                    /* (methods,) the line that it is a point of. Owned. */
  rs_plot_names lines;             /* what is common to the checkpoints of a line, in the order of methods */
  rs_plot_style *styles;           /* (lines.count,) owned */
  bool log;                        /* the numbers span more than a power of ten */
} rs_plot_sweep;

/* The first number that at least three checkpoints of a line differ in, where the lines of `data` are checkpoints and
 * `file` is their summary. RS_MEMORY. */
rs_status rs_plot_sweep_read(const rs_plot_data *data, const rs_plot_file *file, rs_plot_sweep *sweep, rs_err *err);
/* The parameter's name within its checkpoint: "tune.steps". */
const char *rs_plot_sweep_words(const rs_plot_sweep *sweep);
void rs_plot_sweep_clear(rs_plot_sweep *sweep);

#endif
