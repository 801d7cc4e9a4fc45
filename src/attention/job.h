/* What follows from a job alone. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_JOB_H
#define ROPESCOPE_ATTENTION_JOB_H

#include "attention/attention.h"

/* Views differ in rotation alone, which does not act across sequences. */
size_t rs_job_views(const rs_attention_job *job);

/* Whether the mask shows the key at position `key` to the query at position `query`. */
bool rs_job_sees(const rs_attention_job *job, size_t query, size_t key);

/* Pairs of queries number [first, first + count) with keys that they see, needles aside. */
double rs_job_pairs(const rs_attention_job *job, size_t first, size_t count);

#endif
