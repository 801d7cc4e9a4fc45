/* What the rows of a head add to their logits, as the kernel reads it. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_BIAS_TABLE_H
#define ROPESCOPE_ATTENTION_BIAS_TABLE_H

#include "attention/attention.h"
#include "kernel/kernel.h"
#include "reals.h"

/* A bias that is a function of m - n alone is one table; any other is asked for row by row. Numbers are in bits, and
 * less the bias of the query's own place. */
typedef struct rs_bias_table {
  size_t room; /* the longest job, tokens; set before the first */
  bool any, by_distance;
  rs_reals table; /* by_distance: entry `origin` + m - n */
  size_t origin;
  double *past, *future; /* by_distance: (L,) at |m - n| = d before and after the query; once loaded, at d or beyond */
  double offset;         /* by_distance: what was taken off, nats */
} rs_bias_table;

/* What does not depend on the format: any, by_distance, past and future. */
rs_status rs_bias_table_measure(rs_bias_table *bias, const rs_attention_job *job, rs_err *err);

/* The table for a kernel, once the format is chosen. */
rs_status rs_bias_table_load(rs_bias_table *bias, const rs_attention_job *job, const rs_score_kernel *kernel,
                             rs_err *err);
void rs_bias_table_clear(rs_bias_table *bias);

/* The bias of the query at position `query` against keys [begin, end) as the kernel reads it, in double; returns what
 * was taken off, nats. For jobs that have a bias. */
double rs_bias_of_query(const rs_attention_job *job, size_t query, size_t begin, size_t end, double *bits);

#endif
