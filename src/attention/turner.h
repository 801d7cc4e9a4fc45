/* Rotation of a job's queries and keys, some tokens at a time. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_TURNER_H
#define ROPESCOPE_ATTENTION_TURNER_H

#include "attention/attention.h"
#include "reals.h"

enum { RS_TURNED = 64 }; /* the most tokens turned at a time */

/* Scratch of one thread. */
typedef struct rs_turner {
  const rs_attention_job *job; /* borrowed */
  rs_reals storage;
  double *cosine, *sine; /* (RS_TURNED, R/2) */
  double *rows;          /* (RS_TURNED, D) */
} rs_turner;

/* Makes the turner ready for a job; keeps what is large enough. Release with rs_turner_clear. */
rs_status rs_turner_prepare(rs_turner *turner, const rs_attention_job *job, rs_err *err);
void rs_turner_clear(rs_turner *turner);

/* rot(x + embedded) in one view of the encoding, embeddings where the job has a projection. The rows that come back
 * hold until the next call. */

/* Of query number `query` of the job: (D,). */
const double *rs_turn_query(const rs_turner *turner, size_t view, size_t query);

/* Of keys [begin, end), at most RS_TURNED: (end - begin, D). */
const double *rs_turn_keys(const rs_turner *turner, size_t view, size_t begin, size_t end);

/* Of the content `key` (D,) at the position of a key: (D,). */
const double *rs_turn_key(const rs_turner *turner, size_t view, size_t position, const double *key);

#endif
