/* Which keys of a row may be left out. Private to the attention layer.
 *
 * By Cauchy and Schwarz a logit is at most |q| |k| scale / sqrt(D) + bias; with the largest norm of some panels' keys
 * that bounds what all of them can weigh against the largest logit known of the row. */
#ifndef ROPESCOPE_ATTENTION_SKIP_H
#define ROPESCOPE_ATTENTION_SKIP_H

#include "worker.h"

/* What a tile sees through one view and one range of its mask. */
typedef struct rs_tile_part {
  rs_score_call call;
  size_t view;
  rs_range keys; /* what covers the lanes' ranges */
  bool done;     /* what is left on this side cannot matter */
} rs_tile_part;

/* Whether any keys of the job may be left out. */
bool rs_may_skip(const rs_loaded_job *loaded);

/* For such a job: whether the call's panels cannot matter, or even (part->done) none of `side`, the keys that are still
 * to come with theirs: those before (`down`) or after them. The largest possible weight of what is left out is added to
 * tile->certified. */
bool rs_tile_skips(const rs_loaded_job *loaded, rs_tile *tile, rs_tile_part *part, rs_range side, bool down);

#endif
