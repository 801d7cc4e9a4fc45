/* Rows that the members of a team observe together. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_TOGETHER_H
#define ROPESCOPE_ATTENTION_TOGETHER_H

#include "attention/attention.h"

/* Who observes block number `block` of the queries. */
bool rs_block_is_own(const rs_team *team, size_t block);

/* Gives every member the rows of all blocks of `each` queries, and the largest `above` of all. `status`: what this
 * member's own blocks came to; where that is a failure, `observation` may be NULL. What rs_team_gather returns. */
rs_status rs_rows_gather(rs_team *team, rs_status status, const rs_attention_job *job, size_t each,
                         rs_observation *observation, double *above, rs_err *err);

#endif
