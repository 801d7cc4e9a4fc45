/* The steps of the engine, from a job to rows. */
#ifndef ROPESCOPE_ATTENTION_ENGINE_H
#define ROPESCOPE_ATTENTION_ENGINE_H

#include "attention/attention.h"

/* Room that is kept from job to job. */
typedef struct rs_reals {
  void *data; /* 64-byte aligned; owned */
  size_t bytes;
} rs_reals;

/* Room for `count` elements of `size` bytes, contents lost. */
rs_status rs_reals_reserve(rs_reals *reals, size_t count, size_t size, rs_err *err);

/* Entry `index` of an array of float or double, `real_bytes` each. */
static inline void rs_real_put(void *reals, size_t real_bytes, size_t index, double value) {
  if (real_bytes == sizeof(float))
    ((float *)reals)[index] = (float)value;
  else
    ((double *)reals)[index] = value;
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

/* What a head adds to its logits. A bias that is a function of m - n alone is one table; any other is made for a block
 * of keys at a time. Numbers are in bits, and less the bias of the query's own place. */
typedef struct rs_bias_table {
  bool any, by_distance;
  rs_reals table; /* by_distance: entry `origin` + m - n */
  size_t origin;
  double *past, *future; /* by_distance: (L,) at |m - n| = d before and after the query; once loaded, at d or beyond */
  double offset;         /* by_distance: what was taken off, nats */
} rs_bias_table;

/* The vectors of distance that the head reads. */
typedef struct rs_vector_table {
  bool any;
  rs_vectors form;
  rs_reals table;      /* (D, C) r */
  const double *u, *v; /* (D,) borrowed from the encoding; NULL: none */
} rs_vector_table;

/* A job with its keys rotated and dealt into panels, in which the same dim of `rows` neighbouring keys stands together.
 * Tiles of queries walk over it and change nothing. */
typedef struct rs_loaded_job {
  rs_attention_job job;          /* its arrays are borrowed */
  rs_encoding encoding;          /* the job's, as its head has it */
  size_t dims, views, panels;    /* panels of each view; 1 view across sequences, for they differ in rotation alone */
  const rs_score_kernel *kernel; /* of the format `scores` */
  rs_score_format scores;        /* float or double */
  double error;                  /* see below */
  rs_reals keys;                 /* [view][panel][D][rows] rotated */
  double *norm;                  /* [view][panel] the largest norm in the panel */
  double *norm_so_far;           /* [view][panel] the largest norm up to it */
  uint16_t *bin_of;              /* [distance] */
  rs_bias_table bias;
  rs_vector_table vectors;
} rs_loaded_job;

/* Whether something is added to products key by key, and whether it is a function of m - n alone. */
static inline bool rs_job_adds(const rs_loaded_job *loaded) {
  return loaded->bias.any || loaded->vectors.any;
}

static inline bool rs_job_adds_by_distance(const rs_loaded_job *loaded) {
  return loaded->bias.by_distance && !loaded->vectors.any;
}

/* Pairs of queries number [first, first + count) with keys that they see, needles aside. */
double rs_job_pairs(const rs_attention_job *job, size_t first, size_t count);

/* Whether a map has the row of the query at this position. */
static inline bool rs_job_maps(const rs_attention_job *job, size_t query) {
  return job->map_keys.begin < job->map_keys.end && query >= job->map_queries.begin && query < job->map_queries.end;
}

/* Whether rows of the job have shares: parts of the context, largest keys, or keys one by one. */
static inline bool rs_job_has_shares(const rs_attention_job *job) {
  return job->local > 0 || job->top_count > 0 || job->map_keys.begin < job->map_keys.end;
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

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

/* ---- workers ----------------------------------------------------------------------------------------------------- */

enum {
  RS_TURNED = 64, /* the most tokens turned at a time */
  RS_TILES = 8    /* tiles that share keys in the second cache */
};

/* Some queries of the job, one a lane; idle lanes repeat the last. */
typedef struct rs_tile {
  size_t first, count; /* queries of the job */
  bool consecutive;    /* neighbours in the sequence: a table by distance can be read in place */
  char *queries;       /* real [view][D][lanes], rotated; the worker's */
  rs_score_state state;
  double norm[RS_VIEWS][RS_SCORE_LANES]; /* of the rotated queries, bits for each unit of key */
  double own_bias[RS_SCORE_LANES];       /* of the lanes' own places, nats; of a bias that is no table */
  double keys[RS_SCORE_LANES];           /* how many each lane sees, needle aside */
  double needle_logit[RS_SCORE_LANES];   /* bits; where has_needle */
  bool has_needle[RS_SCORE_LANES];
  double floor[RS_SCORE_LANES];     /* bits; the largest logit is no less */
  double skipped[RS_SCORE_LANES];   /* keys left out, and */
  double certified[RS_SCORE_LANES]; /* the most weight they can have, relative to that of the largest logit */
} rs_tile;

/* The number of the query in a lane, and its position. */
static inline size_t rs_lane_query(const rs_tile *tile, size_t lane) {
  return tile->first + (lane < tile->count ? lane : tile->count - 1);
}

static inline size_t rs_lane_position(const rs_loaded_job *loaded, const rs_tile *tile, size_t lane) {
  return loaded->job.queries[rs_lane_query(tile, lane)];
}

/* What one thread needs. */
typedef struct rs_worker {
  const rs_loaded_job *loaded; /* borrowed */
  rs_reals storage;            /* of the arrays; owned */
  double *cosine, *sine;       /* (RS_TURNED, R/2) */
  double *turned;              /* (RS_TURNED, D) */
  char *queries;               /* real [tile][view][D][lanes] */
  char *pairs;                 /* real [2][D][lanes]: queries and keys one by one */
  void *scratch;               /* real [bins][lanes], zero */
  void *bias;                  /* real [keys of a block][lanes] */
  double *bias_row;            /* (keys of a block,): one lane's */
  void *bias_rows;             /* real [lanes][keys of a block] */
  double *bins;                /* storage of the states */
  double *logits;              /* [keys of a block][lanes], for shares */
  double *rows;                /* [lanes][L + 1]: logits, for the largest */
  double above;                /* the largest bias it has tabulated, nats; 0 if none is positive */
  rs_tile tiles[RS_TILES];
  size_t first, end; /* the queries that are packed; none where equal */
} rs_worker;

/* Makes the worker ready for a job whose format is chosen; keeps what is large enough. Release `storage` with free().
 */
rs_status rs_worker_prepare(rs_worker *worker, const rs_loaded_job *loaded, rs_err *err);

/* Panels one block of tiles walks over before the next. */
size_t rs_block_panels(const rs_loaded_job *loaded);

/* Numbers of the bins of one state, and their places in `bins`. */
size_t rs_state_bins(const rs_loaded_job *loaded);
void rs_state_place(const rs_loaded_job *loaded, double *bins, rs_score_state *state);

/* rot(x + embedded) in one view of the encoding, embeddings where the job has a projection; the rows hold until the
 * next call. Of query number `query` of the job: (D,). */
const double *rs_turn_query(const rs_worker *worker, size_t view, size_t query);

/* Of the contents `keys` at the positions of keys [begin, end), at most RS_TURNED: (end - begin, D). */
const double *rs_turn_keys(const rs_worker *worker, size_t view, size_t begin, size_t end, const double *keys);

/* Numbers of the panels of one view. */
static inline size_t rs_view_reals(const rs_loaded_job *loaded) {
  return loaded->panels * loaded->kernel->rows * loaded->dims;
}

/* The work of rs_load_keys, in multiply-adds. */
double rs_load_work(const rs_loaded_job *loaded);

/* Fills the keys, for which there is room, and their norms, with `threads` of these workers (threads,), which are
 * ready. */
void rs_load_keys(rs_loaded_job *loaded, const rs_worker *workers, size_t threads);

/* ---- biases ------------------------------------------------------------------------------------------------------ */

/* What does not depend on the format: any, by_distance, past and future. */
void rs_bias_table_measure(rs_bias_table *bias, const rs_attention_job *job);

/* The table for a kernel, once the format is chosen. */
rs_status rs_bias_table_load(rs_bias_table *bias, const rs_attention_job *job, const rs_score_kernel *kernel,
                             rs_err *err);

/* What is added to the logit of query number `index` with the key of its own place, nats, but for u. For jobs that add
 * something. */
double rs_added_here(const rs_loaded_job *loaded, size_t index);

/* What is added to the products of query number `index` with keys [begin, end) as the kernel reads it, in double;
 * returns what was taken off, nats. `keys` (end - begin, D): their contents. For jobs that add something. */
double rs_added_to_query(const rs_loaded_job *loaded, size_t index, size_t begin, size_t end, const double *keys,
                         double *bits);

/* The same of the lanes' own places, which are taken off; for a tile that reads no table, once it is placed. */
void rs_tile_set_own_bias(const rs_loaded_job *loaded, rs_tile *tile);

/* Where the kernel finds the bias of panels [call->first, call->end), at most a block. */
void rs_tile_set_bias(rs_worker *worker, const rs_tile *tile, rs_score_call *call);

/* ---- vectors of distance ----------------------------------------------------------------------------------------- */

/* The table of the job's head. RS_UNSUPPORTED where it caps its products. */
rs_status rs_vector_table_load(rs_vector_table *vectors, const rs_attention_job *job, rs_err *err);

/* The largest norm of a vector. */
double rs_vector_norm(const rs_vector_table *vectors, size_t dims);

/* row[n - begin] += what they add to the logits of query number `index` with keys [begin, end), nats, but for u; `keys`
 * (end - begin, D): the contents of these. A number is the same whatever range it is made in. */
void rs_vector_row(const rs_loaded_job *loaded, size_t index, size_t begin, size_t end, const double *keys,
                   double *row);

/* ---- walks ------------------------------------------------------------------------------------------------------- */

/* What a tile sees through one view and one range of its mask. */
typedef struct rs_tile_part {
  rs_score_call call;
  size_t view;
  rs_range keys; /* what covers the lanes' ranges */
  bool done;     /* what is left on this side cannot matter */
} rs_tile_part;

/* Queries number [first, first + count) of the job become a tile of the worker's: packed, with the logits of their
 * needles and what else depends on them alone. */
void rs_tile_place(rs_worker *worker, rs_tile *tile, size_t first, size_t count);

/* What it sees through a view and range number `r` of its mask. */
rs_tile_part rs_tile_see(const rs_worker *worker, const rs_tile *tile, size_t view, size_t r);

/* Walks tiles of queries number [queries.begin, queries.end) of the job, at most RS_TILES, over some panels; what they
 * saw stands in worker->tiles. */
void rs_walk_block(rs_worker *worker, rs_range queries, rs_range panels);

/* Joins to tile `into` what the same queries saw of other keys. */
void rs_tile_join(const rs_loaded_job *loaded, rs_tile *into, const rs_tile *from);

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* An observation of `queries` rows of the job, all zero. */
rs_status rs_observation_create(const rs_attention_job *job, size_t queries, rs_observation **observation, rs_err *err);

/* The rows (tile->count,) of a finished tile. */
void rs_tile_finish_rows(const rs_loaded_job *loaded, rs_tile *tile, rs_row *rows);

/* The shares of queries number [first, first + count), at most one tile, in their rows (count,). */
void rs_share_rows(rs_worker *worker, size_t first, size_t count, rs_row *rows);

#endif
