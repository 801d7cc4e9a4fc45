/* The parts of the streaming engine. A job is loaded (keys rotated into panels, the bias tabulated, norms taken), then
 * tiles of queries walk over the panels. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_ENGINE_H
#define ROPESCOPE_ATTENTION_ENGINE_H

#include "ropescope/attention.h"
#include "ropescope/kernel.h"

/* Multiply-adds below which threads cost more than they bring: some 50 microseconds of one core. */
#define RS_WORTH_THREADS 4e6

/* Numbers of float or double, by the format of the job. */
typedef struct rs_reals {
  void *at; /* 64-byte aligned */
  size_t bytes;
} rs_reals;

/* Room for `count` numbers of `size` bytes, contents lost. */
rs_status rs_reals_reserve(rs_reals *reals, size_t count, size_t size, rs_err *err);

static inline void rs_real_put(void *reals, size_t real_bytes, size_t index, double value) {
  if (real_bytes == sizeof(float))
    ((float *)reals)[index] = (float)value;
  else
    ((double *)reals)[index] = value;
}

/* What the rows of a head add to their logits, as the kernel reads it. A bias that is a function of m - n alone is one
 * table; any other is asked for row by row. Numbers are in bits, and less the bias of the query's own place. */
typedef struct rs_bias_table {
  bool any, by_distance;
  rs_reals table; /* by_distance: entry `origin` + m - n */
  size_t origin;
  double *past, *future; /* by_distance: (L,) at |m - n| = d before and after the query; once loaded, at d or beyond */
  double own;            /* by_distance: what was taken off, nats */
} rs_bias_table;

/* The keys of a job as the kernel reads them. */
struct rs_engine {
  size_t length, head_dim, views; /* the largest job */
  const rs_score_kernel *kernel;
  rs_score_format scores;
  double error;   /* see limits.h */
  rs_reals keys;  /* [view][panel][D][rows] rotated */
  double *norm;   /* [view][panel] the largest norm in the panel */
  double *so_far; /* [view][panel] the largest norm up to it */
  uint16_t *bin_of;
  rs_bias_table bias;
  struct rs_worker *workers;  /* one for each thread that ever took part */
  size_t worker_count, ready; /* ready: for the job that is loaded */
};

static inline size_t rs_panels(const rs_engine *engine, size_t length) {
  return (length + engine->kernel->rows - 1) / engine->kernel->rows;
}

/* Numbers of the panels of one view. */
static inline size_t rs_view_reals(const rs_engine *engine, size_t length) {
  return rs_panels(engine, length) * engine->kernel->rows * engine->head_dim;
}

/* Views differ in rotation alone, which does not act across sequences. */
static inline size_t rs_views_of(const rs_attention_job *job) {
  return job->mask.kind == RS_CROSS ? 1 : job->encoding->views;
}

/* Pairs of queries [first, first + count) with keys that they see, needles aside. */
double rs_count_pairs(const rs_attention_job *job, size_t first, size_t count);

/* ---- load.c: from the source's queries and keys to rotated ones -------------------------------------------------- */

/* Scratch for turning one run of tokens. */
typedef struct rs_turner {
  rs_reals storage;
  double *cosine, *sine; /* (RS_TURNED, R/2) */
  double *rows;          /* (RS_TURNED, D) */
} rs_turner;

enum { RS_TURNED = 64 }; /* tokens turned at a time */

/* turner->rows = rot(x + embedded) of tokens [begin, end), at most RS_TURNED; x and embedded (end - begin, D), embedded
 * may be NULL. */
void rs_turn_tokens(const rs_turner *turner, const rs_attention_job *job, rs_side side, size_t view, size_t begin,
                    size_t end, const double *x, const double *embedded);

/* Fills engine->keys and the norms, with `threads` of the engine's workers. */
void rs_load_keys(rs_engine *engine, const rs_attention_job *job, size_t threads);

/* ---- bias_table.c ------------------------------------------------------------------------------------------------ */

/* What of the bias does not depend on the format: by_distance, past and future. */
rs_status rs_bias_table_measure(rs_engine *engine, const rs_attention_job *job, rs_err *err);

/* Once the format is chosen. */
rs_status rs_bias_table_load(rs_engine *engine, const rs_attention_job *job, rs_err *err);
void rs_bias_table_clear(rs_bias_table *bias);

/* The bias of one query against keys [begin, end) as the kernel reads it, in double; returns what was taken off, nats.
 */
double rs_bias_of_query(const rs_attention_job *job, size_t query, size_t begin, size_t end, double *bits);

/* ---- tile.c: a block of tiles of queries against the panels ------------------------------------------------------ */

enum { RS_TILES = 8 }; /* tiles that share keys in the second cache */

/* One tile of queries. */
typedef struct rs_tile {
  size_t first, count; /* queries of the job */
  bool consecutive;    /* neighbours in the sequence: a table by distance can be read in place */
  rs_score_state state;
  double norm[RS_VIEWS][RS_SCORE_LANES]; /* of the rotated queries, bits for each unit of key */
  double keys[RS_SCORE_LANES];           /* how many each lane sees, needle aside */
  double needle_logit[RS_SCORE_LANES];   /* bits; where has_needle */
  bool has_needle[RS_SCORE_LANES];
  double floor[RS_SCORE_LANES];     /* bits; the largest logit is no less */
  double skipped[RS_SCORE_LANES];   /* keys left out, and */
  double certified[RS_SCORE_LANES]; /* the most weight they can have, relative to that of the largest logit */
} rs_tile;

/* What one thread needs. */
typedef struct rs_worker {
  rs_turner turner;
  rs_reals queries;  /* [tile][view][D][lanes] */
  rs_reals pairs;    /* [2][D][lanes]: queries and keys one by one */
  rs_reals scratch;  /* [bins][lanes], zero */
  rs_reals bias;     /* [keys of a block][lanes] */
  rs_reals bias_row; /* double (keys of a block) */
  rs_reals bins;     /* double: storage of the states */
  double above;      /* the largest bias it has tabulated, nats; 0 if none is positive */
  rs_tile tiles[RS_TILES];
  size_t first, end; /* the queries that are packed; none where equal */
} rs_worker;

/* Makes the worker ready for a job, once its format is chosen; keeps what is large enough. */
rs_status rs_worker_prepare(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, rs_err *err);
void rs_worker_clear(rs_worker *worker);

/* Numbers of the bins of one state, and their places in `bins`. */
size_t rs_bins_each(const rs_engine *engine, const rs_attention_job *job);
void rs_place_bins(const rs_engine *engine, const rs_attention_job *job, double *bins, rs_score_state *state);

/* Panels one block of tiles walks over before the next. */
size_t rs_block_panels(const rs_engine *engine);

/* Walks tiles of queries [first, end) of the job over panels [from, to); what they saw stands in worker->tiles. */
void rs_walk_block(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, size_t first, size_t end,
                   size_t from, size_t to);

/* Joins to tile `into` what the same queries saw of other keys. */
void rs_tile_join(const rs_engine *engine, size_t bins, rs_tile *into, const rs_tile *from);

/* ---- rows.c ------------------------------------------------------------------------------------------------------ */

/* An observation of `queries` rows with `bins` distance bins each, all zero. */
rs_status rs_observation_create(size_t queries, size_t bins, bool moments, rs_observation **observation, rs_err *err);

/* The rows (tile->count,) of a finished tile. */
void rs_tile_rows(const rs_engine *engine, const rs_attention_job *job, rs_tile *tile, rs_row *rows);

#endif
