/* From one row of logits to what is observed of it. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_OBSERVE_H
#define ROPESCOPE_ATTENTION_OBSERVE_H

#include "ropescope/attention.h"

/* An observation of `queries` rows with `bins` distance bins each, all zero. */
rs_status rs_observation_create(size_t queries, size_t bins, rs_observation **observation, rs_err *err);

/* Fills row number `index` of the job from its logits (L,), of which only the keys its query sees are read. The
 * needle's fields has_needle and needle_logit are set already. `bin_of` (L,) gives the bin of each distance. */
void rs_observe_row(const rs_attention_job *job, size_t index, const uint16_t *bin_of, const double *logits,
                    rs_row *row);

#endif
