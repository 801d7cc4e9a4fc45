/* From what a tile has seen to rows. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_ROWS_H
#define ROPESCOPE_ATTENTION_ROWS_H

#include "worker.h"

/* How many numbers a row has beside its own, of bins and largest keys, from row->bin_weight on. */
size_t rs_row_numbers(const rs_attention_job *job);

/* An observation of `queries` rows of the job, all zero. */
rs_status rs_observation_create(const rs_attention_job *job, size_t queries, rs_observation **observation, rs_err *err);

/* The entropy of the row, whose keys and sink are known: `computed` brought into [0, ln outcomes], which rounding may
 * leave by some ulp. A NaN stays one. */
double rs_row_entropy(const rs_row *row, double computed);

/* The rows (tile->count,) of a finished tile. */
void rs_tile_finish_rows(const rs_loaded_job *loaded, rs_tile *tile, rs_row *rows);

#endif
