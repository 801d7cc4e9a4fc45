/* ropescope/sweep.h: from an experiment to rows. Its cells are run in batches of one model and length, and their
 * results become CSV files. */
#ifndef ROPESCOPE_SWEEP_H
#define ROPESCOPE_SWEEP_H

#include "ropescope/config.h"

/* ---- plans and runs ---------------------------------------------------------------------------------------------- */

typedef struct rs_plan {
  size_t cells, summary_columns;
  double curve_rows;  /* of all curve files together; an upper bound */
  double peak_bytes;  /* of the tables and work space alive at one time */
  double score_flops; /* multiplications and additions of queries with keys */
} rs_plan;

/* What a run would take; runs nothing. */
rs_status rs_plan_make(const rs_experiment *experiment, rs_plan *plan, rs_err *err);

typedef struct rs_run_options {
  const char *directory; /* made if missing; files in it are replaced one by one, each whole */
  /* Called after each cell, from the calling thread; may be NULL. */
  void (*progress)(void *context, size_t done, size_t cells, double work_share);
  void *context;
} rs_run_options;

typedef struct rs_run_summary {
  size_t cells, failed; /* failed: without values, whatever the reason */
  size_t starved;       /* of those, for want of memory */
  double seconds;
} rs_run_summary;

/* Runs every cell and writes summary.csv, a CSV for each metric with a curve, config.yaml, manifest.json and
 * timings.csv. A cell that is undefined at its length is a row with its error. RS_IO, RS_MEMORY or RS_INTERNAL end the
 * run. */
rs_status rs_run(const rs_experiment *experiment, const rs_run_options *options, rs_run_summary *summary, rs_err *err);

#endif
