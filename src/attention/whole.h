/* Rows by way of all their logits, for what no pass over panels can tell: the weight of the largest keys, that of parts
 * of the context, and logits that are no inner products any more (soft caps). In double, with nothing left out; memory
 * is linear in the length, for a few rows at a time. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_WHOLE_H
#define ROPESCOPE_ATTENTION_WHOLE_H

#include "worker.h"

/* What one thread needs. */
typedef struct rs_whole_worker {
  rs_turner turner;
  rs_reals storage;
  double *queries; /* (tile, D) rotated, of one view */
  double *scores;  /* (tile, L) of one view */
  double *logits;  /* (tile, L) */
  double *weights; /* (L + 1,) */
  rs_sum *bins;    /* (bins,) */
  double above;    /* the largest bias it has come upon, nats; 0 if none is positive */
} rs_whole_worker;

/* Zero-initialise; release with rs_whole_clear. */
typedef struct rs_whole {
  const rs_loaded_job *loaded; /* borrowed */
  rs_reals keys;               /* [view][D][L] rotated */
  rs_whole_worker *workers;
  size_t worker_count;
} rs_whole;

/* Whether the job asks for anything that needs whole rows. */
bool rs_job_is_whole(const rs_attention_job *job);

/* Rotates the keys of a job whose sizes, bins and limits are there, for so many threads. RS_MEMORY. */
rs_status rs_whole_load(rs_whole *whole, const rs_loaded_job *loaded, size_t threads, rs_err *err);
void rs_whole_clear(rs_whole *whole);

/* Fills the rows of queries [first, first + count) of the job. Returns the largest bias it has come upon, nats. */
double rs_whole_observe(const rs_whole *whole, size_t first, size_t count, size_t threads, rs_row *rows);

#endif
