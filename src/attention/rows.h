/* From what a tile has seen to rows. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_ROWS_H
#define ROPESCOPE_ATTENTION_ROWS_H

#include "worker.h"

/* An observation of `queries` rows of the job, all zero. */
rs_status rs_observation_create(const rs_attention_job *job, size_t queries, rs_observation **observation, rs_err *err);

/* The rows (tile->count,) of a finished tile. */
void rs_tile_finish_rows(const rs_loaded_job *loaded, rs_tile *tile, rs_row *rows);

#endif
