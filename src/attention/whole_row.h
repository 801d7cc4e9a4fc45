/* One row of logits that is there as a whole, and what it comes to. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_WHOLE_ROW_H
#define ROPESCOPE_ATTENTION_WHOLE_ROW_H

#include "worker.h"

typedef struct rs_whole_row {
  const rs_loaded_job *loaded;
  size_t index;         /* of the query */
  const double *logits; /* (L,) nats, where it sees keys */
  rs_range seen[2];
  size_t ranges;
  bool has_needle;
  double needle;   /* its logit, nats */
  double *weights; /* (L + 1,) scratch */
  rs_sum *bins;    /* (bins,) scratch */
} rs_whole_row;

/* Fills the row, whose arrays are there. */
void rs_whole_row_finish(const rs_whole_row *whole, rs_row *row);

#endif
