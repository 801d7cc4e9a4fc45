/* A job as the kernel reads it, and what one thread needs to walk queries over it. */
#ifndef ROPESCOPE_ATTENTION_WORKER_H
#define ROPESCOPE_ATTENTION_WORKER_H

#include "attention/attention.h"
#include "base/base.h"
#include "kernel/kernel.h"

/* ---- reals ----------------------------------------------------------------------------------------------------- */

/* Arrays of float or double, by the format that a job is computed in. */

typedef struct rs_reals {
  void *data; /* 64-byte aligned; owned */
  size_t bytes;
} rs_reals;

/* Room for `count` numbers of `size` bytes, contents lost. Release with rs_reals_clear. */
rs_status rs_reals_reserve(rs_reals *reals, size_t count, size_t size, rs_err *err);
void rs_reals_clear(rs_reals *reals);

/* Entry `index` of an array of numbers of `real_bytes` each. */
static inline void rs_real_put(void *reals, size_t real_bytes, size_t index, double value) {
  if (real_bytes == sizeof(float))
    ((float *)reals)[index] = (float)value;
  else
    ((double *)reals)[index] = value;
}

/* ---- bias table ------------------------------------------------------------------------------------------------ */

/* What the rows of a head add to their logits, as the kernel reads it. */

/* A bias that is a function of m - n alone is one table; any other is asked for row by row. Numbers are in bits, and
 * less the bias of the query's own place. */
typedef struct rs_bias_table {
  size_t room; /* the longest job, tokens; set before the first */
  bool any, by_distance;
  rs_reals table; /* by_distance: entry `origin` + m - n */
  size_t origin;
  double *past, *future; /* by_distance: (L,) at |m - n| = d before and after the query; once loaded, at d or beyond */
  double offset;         /* by_distance: what was taken off, nats */
} rs_bias_table;

/* What does not depend on the format: any, by_distance, past and future. */
rs_status rs_bias_table_measure(rs_bias_table *bias, const rs_attention_job *job, rs_err *err);

/* The table for a kernel, once the format is chosen. */
rs_status rs_bias_table_load(rs_bias_table *bias, const rs_attention_job *job, const rs_score_kernel *kernel,
                             rs_err *err);
void rs_bias_table_clear(rs_bias_table *bias);

/* The bias of the query at position `query` against keys [begin, end) as the kernel reads it, in double; returns what
 * was taken off, nats. For jobs that have a bias. */
double rs_bias_of_query(const rs_attention_job *job, size_t query, size_t begin, size_t end, double *bits);

/* ---- turner ---------------------------------------------------------------------------------------------------- */

/* Rotation of a job's queries and keys, some tokens at a time. */

enum { RS_TURNED = 64 }; /* the most tokens turned at a time */

/* Scratch of one thread. */
typedef struct rs_turner {
  const rs_attention_job *job; /* borrowed */
  rs_reals storage;
  double *cosine, *sine; /* (RS_TURNED, R/2) */
  double *rows;          /* (RS_TURNED, D) */
} rs_turner;

/* Makes the turner ready for a job; keeps what is large enough. Release with rs_turner_clear. */
rs_status rs_turner_prepare(rs_turner *turner, const rs_attention_job *job, rs_err *err);
void rs_turner_clear(rs_turner *turner);

/* rot(x + embedded) in one view of the encoding, embeddings where the job has a projection. The rows that come back
 * hold until the next call. */

/* Of query number `query` of the job: (D,). */
const double *rs_turn_query(const rs_turner *turner, size_t view, size_t query);

/* Of keys [begin, end), at most RS_TURNED: (end - begin, D). */
const double *rs_turn_keys(const rs_turner *turner, size_t view, size_t begin, size_t end);

/* Of the content `key` (D,) at the position of a key: (D,). */
const double *rs_turn_key(const rs_turner *turner, size_t view, size_t position, const double *key);

/* ---- worker ---------------------------------------------------------------------------------------------------- */

/* A job as the kernel reads it, and what one thread needs to walk queries over it. */

/* A job with its keys rotated and dealt into panels, in which the same dim of `rows` neighbouring keys stands together.
 * Tiles of queries walk over it and change nothing. */
typedef struct rs_loaded_job {
  rs_attention_job job;          /* its arrays are borrowed */
  rs_encoding encoding;          /* the job's, as its head has it */
  size_t dims, views, panels;    /* panels of each view */
  const rs_score_kernel *kernel; /* of the format `scores` */
  rs_score_format scores;        /* float or double */
  double error;                  /* see engine.h */
  rs_reals keys;                 /* [view][panel][D][rows] rotated */
  double *norm;                  /* [view][panel] the largest norm in the panel */
  double *norm_so_far;           /* [view][panel] the largest norm up to it */
  uint16_t *bin_of;              /* [distance] */
  rs_bias_table bias;
} rs_loaded_job;

/* Numbers of the panels of one view. */
static inline size_t rs_view_reals(const rs_loaded_job *loaded) {
  return loaded->panels * loaded->kernel->rows * loaded->dims;
}

/* Panels one block of tiles walks over before the next. */
size_t rs_block_panels(const rs_loaded_job *loaded);

/* Numbers of the bins of one state, and their places in `bins`. */
size_t rs_state_bins(const rs_loaded_job *loaded);
void rs_state_place(const rs_loaded_job *loaded, double *bins, rs_score_state *state);

/* Whether rows of the job want shares (engine.h). */
bool rs_job_has_shares(const rs_attention_job *job);

enum { RS_TILES = 8 }; /* tiles that share keys in the second cache */

/* Some queries of the job, one a lane; idle lanes repeat the last. */
typedef struct rs_tile {
  size_t first, count; /* queries of the job */
  bool consecutive;    /* neighbours in the sequence: a table by distance can be read in place */
  char *queries;       /* real [view][D][lanes], rotated; the worker's */
  rs_score_state state;
  double norm[RS_VIEWS][RS_SCORE_LANES]; /* of the rotated queries, bits for each unit of key */
  double own_bias[RS_SCORE_LANES];       /* of the lanes' own places, nats; where it is needed (engine.h) */
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
  rs_turner turner;
  rs_reals queries;   /* [tile][view][D][lanes] */
  rs_reals pairs;     /* [2][D][lanes]: queries and keys one by one */
  rs_reals scratch;   /* [bins][lanes], zero */
  rs_reals bias;      /* [keys of a block][lanes] */
  rs_reals bias_row;  /* double (keys of a block): one lane's */
  rs_reals bias_rows; /* [lanes][keys of a block] */
  rs_reals bins;      /* double: storage of the states */
  rs_reals logits;    /* [keys of a block][lanes], for shares */
  rs_reals rows;      /* double [lanes][L + 1]: logits, for the largest */
  double above;       /* the largest bias it has tabulated, nats; 0 if none is positive */
  rs_tile tiles[RS_TILES];
  size_t first, end; /* the queries that are packed; none where equal */
} rs_worker;

/* Makes the worker ready for a job whose format is chosen; keeps what is large enough. Release with rs_worker_clear. */
rs_status rs_worker_prepare(rs_worker *worker, const rs_loaded_job *loaded, rs_err *err);
void rs_worker_clear(rs_worker *worker);

#endif
