/* Queries and keys of one source, seed and head, and the cells that observe them. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_CONTENT_H
#define ROPESCOPE_SWEEP_CONTENT_H

#include "work.h"

/* What one source, seed and head come to, and who observes it. */
typedef struct rs_content {
  double *q, *k, *needles; /* (Q, D), (L, D), (Q, D) */
  size_t *needle_at;       /* (Q,) */
  rs_score_rule rule;
  rs_engine *engine;
  bool shared; /* all threads fill it together; else one does */
  rs_err why;  /* RS_INTERNAL: the run is to end */
} rs_content;

/* A source and a seed, for one head. */
typedef struct rs_content_unit {
  size_t source, seed, head;
  const rs_given_rows *given; /* NULL unless the source hands rows on */
} rs_content_unit;

/* Room for the batch's length, and for what tables there are. Release with rs_content_clear, also after a failure. */
rs_status rs_content_reserve(const rs_batch_work *work, rs_content *content, rs_err *err);
void rs_content_clear(rs_content *content);

/* Queries, keys and needles of the unit. What the source fails with. */
rs_status rs_content_fill(const rs_batch_work *work, const rs_content_unit *unit, rs_content *content, rs_err *err);

/* The content as a cell observes it in one head. */
rs_attention_job rs_cell_job(const rs_batch_work *work, const rs_cell_state *cell, const rs_content *content,
                             size_t head);

/* Shows queries and keys to every metric of the cell that reads them. */
void rs_cell_show_content(const rs_batch_work *work, rs_cell_state *cell, const rs_content *content, size_t head);

/* Shows rows to every metric of the cell, each of which sees them in order. */
void rs_cell_show(const rs_batch_work *work, rs_cell_state *cell, const rs_observation *observation);

/* Both: the content, then its rows where a metric reads rows. What the engine fails with. */
rs_status rs_cell_observe(const rs_batch_work *work, rs_cell_state *cell, const rs_content *content, size_t head,
                          rs_err *err);

/* Whether so many products of queries and keys (their dims left out) are soon done: threads then take whole units
 * rather than parts of one. */
bool rs_is_small(double work, size_t dims);

/* One for each thread that takes units of its own, a unit being a source and a seed. */
typedef struct rs_contents {
  rs_content *items; /* owned */
  size_t count;
} rs_contents;

/* Room for the contents of a batch whose tables are there. Release with rs_contents_clear, also after a failure. */
rs_status rs_contents_make(const rs_batch_work *work, rs_contents *contents, rs_err *err);
void rs_contents_clear(rs_contents *contents);

/* Every cell of every unit, for one head, but for sources with a checkpoint of their own. RS_INTERNAL alone is
 * returned. */
rs_status rs_contents_run(const rs_batch_work *work, size_t head, rs_contents *contents, rs_err *err);

/* Every cell of one such source, for one head of what it hands on. RS_INTERNAL alone is returned. */
rs_status rs_contents_run_given(const rs_batch_work *work, size_t source, size_t head, const rs_given_rows *given,
                                rs_contents *contents, rs_err *err);

#endif
