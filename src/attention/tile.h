/* Tiles of queries before they walk. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_TILE_H
#define ROPESCOPE_ATTENTION_TILE_H

#include "worker.h"

/* Real [D][lanes]: the queries of a tile as one view rotates them. */
char *rs_tile_queries(const rs_loaded_job *loaded, const rs_tile *tile, size_t view);

/* Queries number [first, first + count) of the job become a tile of the worker's: packed, with the logits of their
 * needles and what else depends on them alone. */
void rs_tile_place(rs_worker *worker, rs_tile *tile, size_t first, size_t count);

/* The largest logit is at least that of the query's own key, which every mask within a sequence shows; its bias is what
 * all are relative to. For tiles that begin with far keys. */
void rs_tile_set_floors(rs_worker *worker, rs_tile *tile);

/* Nothing seen yet. */
void rs_tile_reset(const rs_loaded_job *loaded, rs_tile *tile);

/* Joins to tile `into` what the same queries saw of other keys. */
void rs_tile_join(const rs_loaded_job *loaded, rs_tile *into, const rs_tile *from);

#endif
