/* Queries and keys of one source, seed and head, and the cells that observe them. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_CONTENT_H
#define ROPESCOPE_SWEEP_CONTENT_H

#include "work.h"

/* What one source, seed and head come to, and who observes it. */
typedef struct rs_content {
  double *q, *k, *needles; /* (Q, D), (L, D), (Q, D) */
  size_t *needle_at;       /* (Q,) */
  rs_engine *engine;
  bool shared; /* all threads fill it together; else one does */
  rs_err why;  /* RS_INTERNAL: the run is to end */
} rs_content;

/* One for each thread that takes units of its own, a unit being a source and a seed. */
typedef struct rs_contents {
  rs_content *items; /* owned */
  size_t count;
} rs_contents;

/* Room for the contents of a batch whose tables are there. Release with rs_contents_clear, also after a failure. */
rs_status rs_contents_make(const rs_batch_work *work, rs_contents *contents, rs_err *err);
void rs_contents_clear(rs_contents *contents);

/* Every cell of every unit, for one head. RS_INTERNAL alone is returned. */
rs_status rs_contents_run(const rs_batch_work *work, size_t head, rs_contents *contents, rs_err *err);

#endif
