/* A bias that is no function of distance, as the kernel reads it: a block of keys for every lane of a tile. Private to
 * the attention layer. */
#ifndef ROPESCOPE_ATTENTION_BIAS_BLOCK_H
#define ROPESCOPE_ATTENTION_BIAS_BLOCK_H

#include "worker.h"

/* Whether the tile's bias cannot be read from the table by distance. */
bool rs_tile_needs_bias(const rs_loaded_job *loaded, const rs_tile *tile);

/* The biases of the lanes' own places, which are taken off; for such a tile, once it is placed. */
void rs_tile_set_own_bias(const rs_loaded_job *loaded, rs_tile *tile);

/* worker->bias: of keys [begin, end), at most a block's, for every lane, (keys, lanes). */
void rs_bias_block(rs_worker *worker, const rs_tile *tile, rs_range keys);

#endif
