/* A block of tiles of queries against the panels. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_WALK_H
#define ROPESCOPE_ATTENTION_WALK_H

#include "worker.h"

/* Walks tiles of queries number [queries.begin, queries.end) of the job, at most RS_TILES, over some panels; what they
 * saw stands in worker->tiles. */
void rs_walk_block(rs_worker *worker, rs_range queries, rs_range panels);

#endif
