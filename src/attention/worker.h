/* A job as the kernel reads it, and what one thread needs to walk queries over it. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_WORKER_H
#define ROPESCOPE_ATTENTION_WORKER_H

#include "bias_table.h"
#include "turner.h"

/* A job with its keys rotated and dealt into panels, in which the same dim of `rows` neighbouring keys stands together.
 * Tiles of queries walk over it and change nothing. */
typedef struct rs_loaded_job {
  rs_attention_job job;          /* its arrays are borrowed */
  rs_encoding encoding;          /* the job's, as its head has it */
  size_t dims, views, panels;    /* panels of each view */
  const rs_score_kernel *kernel; /* of the format `scores` */
  rs_score_format scores;        /* float or double */
  double error;                  /* see limits.h */
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

enum { RS_TILES = 8 }; /* tiles that share keys in the second cache */

/* Some queries of the job, one a lane; idle lanes repeat the last. */
typedef struct rs_tile {
  size_t first, count; /* queries of the job */
  bool consecutive;    /* neighbours in the sequence: a table by distance can be read in place */
  char *queries;       /* real [view][D][lanes], rotated; the worker's */
  rs_score_state state;
  double norm[RS_VIEWS][RS_SCORE_LANES]; /* of the rotated queries, bits for each unit of key */
  double own_bias[RS_SCORE_LANES];       /* of the lanes' own places, nats; where it is needed (bias_block.h) */
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
  double above;       /* the largest bias it has tabulated, nats; 0 if none is positive */
  rs_tile tiles[RS_TILES];
  size_t first, end; /* the queries that are packed; none where equal */
} rs_worker;

/* Makes the worker ready for a job whose format is chosen; keeps what is large enough. Release with rs_worker_clear. */
rs_status rs_worker_prepare(rs_worker *worker, const rs_loaded_job *loaded, rs_err *err);
void rs_worker_clear(rs_worker *worker);

#endif
