/* The steps of the engine, from a job to rows. */
#ifndef ROPESCOPE_ATTENTION_ENGINE_H
#define ROPESCOPE_ATTENTION_ENGINE_H

#include "attention/attention.h"

#include "worker.h"

/* ---- job ------------------------------------------------------------------------------------------------------- */

/* What follows from a job alone. */

/* Views differ in rotation alone, which does not act across sequences. */
size_t rs_job_views(const rs_attention_job *job);

/* Whether the mask shows the key at position `key` to the query at position `query`. */
bool rs_job_sees(const rs_attention_job *job, size_t query, size_t key);

/* Pairs of queries number [first, first + count) with keys that they see, needles aside. */
double rs_job_pairs(const rs_attention_job *job, size_t first, size_t count);

/* ---- limits ---------------------------------------------------------------------------------------------------- */

/* How large the logits of a job can be, and what float loses on them.
 *
 * By Cauchy and Schwarz |logit - bias| <= B = max |q| max |k| scale / sqrt(D). Each of the D steps of a logit's sum
 * rounds by at most u of what has come together so far, half of the whole on average where all terms have one sign (as
 * those of constant content have): u D B / 2. Rounding q, k, the logit and the bias costs a few u of each; keys whose
 * bias is lower than the best by more than 2 B + 28 nats (ln 1e12) hold no weight worth an error. Sums of weights in
 * float run over one block of at most 512 keys, and err by u / 4 for each. So
 *
 *   error = u (D B / 2 + 3 (B + b) + 28 + 128),    u = 2^-24 or 2^-53, b = the largest bias above the own place's
 *
 * bounds the relative error of every weight not below 1e-12, and that of its logit in nats; a logit that a bias takes
 * farther down errs by 2 u of itself besides. Random content errs by sqrt(D) in place of D / 2 (Higham and Mary, SIAM
 * J. Sci. Comput. 41, 2019): weights of 131072 Gaussian keys of 128 dims by 2e-6 where the bound says 7e-5. */

/* Sets the scores, error and kernel of a job whose bias has been measured. RS_DOMAIN where logits may not be finite. */
rs_status rs_limits_choose(rs_loaded_job *loaded, rs_err *err);

/* loaded->error, or more where a bias that is no table turned out to reach `above` nats. */
double rs_limits_error(const rs_loaded_job *loaded, double above);

/* ---- load ------------------------------------------------------------------------------------------------------ */

/* Filling a loaded job. */

/* The work of rs_load_keys, in multiply-adds. */
double rs_load_work(const rs_loaded_job *loaded);

/* Fills the keys, for which there is room, and their norms, with `threads` of these workers (threads,), which are
 * ready. */
void rs_load_keys(rs_loaded_job *loaded, const rs_worker *workers, size_t threads);

/* ---- bias block ------------------------------------------------------------------------------------------------ */

/* A bias that is no function of distance, as the kernel reads it: a block of keys for every lane of a tile. */

/* Whether the tile's bias cannot be read from the table by distance. */
bool rs_tile_needs_bias(const rs_loaded_job *loaded, const rs_tile *tile);

/* The biases of the lanes' own places, which are taken off; for such a tile, once it is placed. */
void rs_tile_set_own_bias(const rs_loaded_job *loaded, rs_tile *tile);

/* worker->bias: of keys [begin, end), at most a block's, for every lane, (keys, lanes). */
void rs_bias_block(rs_worker *worker, const rs_tile *tile, rs_range keys);

/* ---- tile ------------------------------------------------------------------------------------------------------ */

/* Tiles of queries before they walk. */

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

/* ---- skip ------------------------------------------------------------------------------------------------------ */

/* Which keys of a row may be left out.
 *
 * By Cauchy and Schwarz a logit is at most |q| |k| scale / sqrt(D) + bias; with the largest norm of some panels' keys
 * that bounds what all of them can weigh against the largest logit known of the row. */

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

/* ---- walk ------------------------------------------------------------------------------------------------------ */

/* A block of tiles of queries against the panels. */

/* What a tile sees through one view and range number `r` of its mask. */
rs_tile_part rs_part_make(const rs_worker *worker, const rs_tile *tile, size_t view, size_t r);

/* Where the kernel finds the bias of panels [call->first, call->end), at most a block. */
void rs_part_set_bias(rs_worker *worker, const rs_tile *tile, rs_score_call *call);

/* Walks tiles of queries number [queries.begin, queries.end) of the job, at most RS_TILES, over some panels; what they
 * saw stands in worker->tiles. */
void rs_walk_block(rs_worker *worker, rs_range queries, rs_range panels);

/* ---- rows ------------------------------------------------------------------------------------------------------ */

/* From what a tile has seen to rows. */

/* How many numbers a row has beside its own, of bins and largest keys, from row->bin_weight on. */
size_t rs_row_numbers(const rs_attention_job *job);

/* An observation of `queries` rows of the job, all zero. */
rs_status rs_observation_create(const rs_attention_job *job, size_t queries, rs_observation **observation, rs_err *err);

/* The entropy of the row, whose keys and sink are known: `computed` brought into [0, ln outcomes], which rounding may
 * leave by some ulp. A NaN stays one. */
double rs_row_entropy(const rs_row *row, double computed);

/* The bias that was taken off the row of the query at position `query`, nats. */
double rs_row_offset(const rs_loaded_job *loaded, size_t query);

/* The rows (tile->count,) of a finished tile. */
void rs_tile_finish_rows(const rs_loaded_job *loaded, rs_tile *tile, rs_row *rows);

/* ---- shares ---------------------------------------------------------------------------------------------------- */

/* What no walk over panels can tell: the weight of the largest keys, and that of parts of the context. The logits of a
 * tile are made once more when its rows are known. */

/* Whether the job's rows are in double with nothing left out: it wants such shares, or caps its products. */
bool rs_job_is_exact(const rs_attention_job *job);

/* The shares of queries number [first, first + count), at most one tile, in their rows (count,). */
void rs_share_rows(rs_worker *worker, size_t first, size_t count, rs_row *rows);

/* ---- together -------------------------------------------------------------------------------------------------- */

/* Rows that the members of a team observe together. */

/* Who observes block number `block` of the queries. */
bool rs_block_is_own(const rs_team *team, size_t block);

/* Gives every member the rows of all blocks of `each` queries, and the largest `above` of all. `status`: what this
 * member's own blocks came to; where that is a failure, `observation` may be NULL. What rs_team_gather returns. */
rs_status rs_rows_gather(rs_team *team, rs_status status, const rs_attention_job *job, size_t each,
                         rs_observation *observation, double *above, rs_err *err);

#endif
