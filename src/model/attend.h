/* Attention of one sequence, and the arithmetic that it is compiled for. */
#ifndef ROPESCOPE_MODEL_ATTEND_H
#define ROPESCOPE_MODEL_ATTEND_H

#include <string.h>

#include "attention/attention.h"
#include "kernel/kernel.h"

/* ---- real ------------------------------------------------------------------------------------------------------ */

/* The arithmetic that a source of this layer is compiled for: meson.build compiles each of `real_sources` twice, with
 * RS_REAL_BITS 32 and 64. */

#ifdef RS_REAL_BITS

/* RS_OF_REAL(rs_attend_forward) is rs_attend_forward_f32 or rs_attend_forward_f64. */
#if RS_REAL_BITS == 32
typedef float real;
#define RS_OF_REAL(name) name##_f32
#define RS_REAL_FORMAT RS_F32
#else
typedef double real;
#define RS_OF_REAL(name) name##_f64
#define RS_REAL_FORMAT RS_F64
#endif

static inline const rs_net_kernel *rs_real_kernel(void) {
  return RS_REAL_FORMAT == RS_F32 ? rs_kernels_get()->net_f32 : rs_kernels_get()->net_f64;
}

/* x (count,), at most 64, of which bits of `kept` say what stays. */
static inline void rs_drop_numbers(double share, uint64_t kept, size_t count, real *x) {
  real scale = (real)(1 / (1 - share));
  for (size_t i = 0; i < count; i++) x[i] = kept >> i & 1 ? x[i] * scale : 0;
}

#endif

/* ---- attend ---------------------------------------------------------------------------------------------------- */

/* The attention of one sequence, exact, forwards and backwards, in memory linear in the length: logits live
 * in tiles, and are computed again on the way back.
 *
 *   out[m] = sum_n p(m, n) v[n] over the keys that query m sees, with p the softmax of
 *   cap(score_scale * head_scale[h] * logit_scale[m] * <rot(q[m]), rot(k[n])>) + bias(h, m, n),
 *   behind the softmax times 0 or 1 / (1 - share) where training drops weights
 *
 * where vectors of distance (encoding.h) stand in the place of <q, k> and v with some encodings.
 *
 * With u = 2^-24 or 2^-53, a logit errs by about u sqrt(D) |q||k| times the scales, a weight by that and u |level|.
 *
 * Symbols as in encoding.h and model.h; Lq and Lk queries and keys. */

/* What one attention of a block is at one length. The encoding is borrowed. */
typedef struct rs_attend_shape {
  const rs_encoding *encoding; /* NULL: no rotation, no bias, no logit scale */
  rs_mask mask;                /* RS_CROSS: neither rotation nor bias, and Lk may differ from Lq */
  size_t queries, keys;        /* Lq, Lk */
  size_t heads, kv_heads, head_dim;
  double score_scale; /* multiplies q.k; 0: 1/sqrt(D) */
  double soft_cap;    /* nats: cap(x) = soft_cap tanh(x / soft_cap); 0: x */
} rs_attend_shape;

/* The tables of that: turns of each view and side, scales, biases, what each query sees. Any number of threads may read
 * them. */
typedef struct rs_attend rs_attend;

/* For numbers of `format`, RS_F32 or RS_F64. RS_INPUT where the parts do not fit together, RS_UNSUPPORTED where a mask
 * sees the future and the encoding's views do not, RS_MEMORY. */
rs_status rs_attend_create(const rs_attend_shape *shape, rs_format format, rs_attend **attend, rs_err *err)
    RS_NONNULL(1, 3);
void rs_attend_free(rs_attend *attend);

/* Reads again what the encoding has learned: frequencies, biases and scales of heads. Not while other threads read the
 * tables. */
void rs_attend_refresh(rs_attend *attend) RS_NONNULL(1);

/* Numbers of scratch that a pass needs, 64-byte aligned, for the way forwards alone or both: linear in the length.
 * Nothing is kept there between calls. */
size_t rs_attend_scratch(const rs_attend *attend, bool training) RS_NONNULL(1);

/* Numbers that each thread but the first needs besides, forwards; a multiple of 16. */
size_t rs_attend_own_scratch(const rs_attend *attend) RS_NONNULL(1);

/* ---- gradients of what encodings learn --------------------------------------------------------------------------- */

/* Sums over sequences of the gradients by angles, biases and scales of heads: one for each part of a batch. Biases of
 * distance are summed by distance; others, where their (H, Lq, Lk) is at most RS_SQUARE_NUMBERS, by query and key; both
 * in the numbers of the attention. What is more goes to the encoding row by row, at once. */
typedef struct rs_attend_sums rs_attend_sums;

enum { RS_SQUARE_NUMBERS = 1 << 24 };

/* Zeros; *sums is NULL where the encoding has learned nothing that acts here. RS_MEMORY. */
rs_status rs_attend_sums_create(const rs_attend *attend, rs_attend_sums **sums, rs_err *err) RS_NONNULL(1, 2);
void rs_attend_sums_free(rs_attend_sums *sums);
void rs_attend_sums_reset(rs_attend_sums *sums) RS_NONNULL(1);

/* Adds to learned[which] (rows, columns), for the arrays of rs_encoding_learned that act here, the gradients by them.
 */
void rs_attend_sums_finish(const rs_attend *attend, const rs_attend_sums *sums, double *const *learned)
    RS_NONNULL(1, 2, 3);

/* ---- passes ------------------------------------------------------------------------------------------------------ */

#ifdef RS_REAL_BITS

/* One sequence. Row m of head h stands at q + m * q_step + h * D, and so on: parts of one projection are steps. q and k
 * come without rotation. */
typedef struct rs_attend_call {
  const real *q, *k, *v; /* (Lq, H, D), (Lk, K, D), (Lk, K, D) */
  size_t q_step, k_step, v_step;
  const real *sinks;                 /* (H,) logits that take weight and give nothing; NULL: none */
  const real *q_weights, *k_weights; /* (D,) times q and k when they have turned; NULL: none. Forwards alone */
  real *out;                         /* (Lq, H, D); written forwards, read backwards */
  size_t out_step;
  real *level;    /* (H, Lq) log-sum-exp, nats; written forwards, read backwards */
  rs_drop drop;   /* of weights: rows are queries, columns keys; of head h at place + h. share 0: none */
  size_t threads; /* that share the sequence forwards; 0: one. The same bits for any number */
} rs_attend_call;

typedef struct rs_attend_gradients {
  const real *dout; /* (Lq, H, D) */
  size_t dout_step;
  real *dq, *dk, *dv; /* as q, k and v; set, not added to */
  size_t dq_step, dk_step, dv_step;
  real *dsinks;         /* (H,) added to; NULL: not wanted */
  rs_attend_sums *sums; /* added to; NULL: not wanted */
} rs_attend_gradients;

void RS_OF_REAL(rs_attend_forward)(const rs_attend *attend, const rs_attend_call *call, real *scratch)
    RS_NONNULL(1, 2, 3);
void RS_OF_REAL(rs_attend_backward)(const rs_attend *attend, const rs_attend_call *call,
                                    const rs_attend_gradients *gradients, real *scratch) RS_NONNULL(1, 2, 3, 4);
#endif

/* ---- attend tables --------------------------------------------------------------------------------------------- */

/* What the attention is made of at one length. */

/* Queries and keys of a tile: its logits and their gradients fill half of a core's first cache in floats. */
enum { RS_TILE = 64 };

/* The keys that the queries of one tile see through one view, as one range each; two where a mask has sinks. */
typedef struct rs_sight {
  size_t view;
  uint32_t begin, end;                    /* what some query sees lies in here */
  uint32_t first[RS_TILE], stop[RS_TILE]; /* each query sees keys [first, stop); none: both 0 */
} rs_sight;

/* A tile of logits: as many queries as rows, keys as columns, read through one view. */
typedef struct rs_tile {
  size_t view;
  size_t query, rows, key, columns;      /* the first query and key, and how many */
  uint32_t begin[RS_TILE], end[RS_TILE]; /* columns that each row sees; none: both 0 */
  size_t strip;                          /* rows, or columns, that are best computed together */
} rs_tile;

/* The tiles that the queries of one tile see, one after the other. */
typedef struct rs_walk {
  rs_tile tile; /* where it stands, */
  size_t count; /* the how many-th, from 1 */
  size_t query_tile, key_tile, sight;
} rs_walk;

/* Which table holds a bias: by m - n, by query and key, or none: it is asked for row by row. */
typedef enum rs_bias_store { RS_BIAS_NONE, RS_BIAS_BY_DISTANCE, RS_BIAS_SQUARE, RS_BIAS_BY_ROW } rs_bias_store;

/* What turns the tokens of one side in one view. */
typedef struct rs_token_turns {
  void *cosine, *sine; /* real (tables, L, pairs) */
} rs_token_turns;

/* The vectors of distance of all heads. */
typedef struct rs_attend_vectors {
  rs_vectors form;
  size_t columns;                  /* C; 0: there are none that act */
  void *turned, *rows;             /* real (tables, D, C) and (tables, C, D) of r */
  void *value_turned, *value_rows; /* real (D, C) and (C, D); NULL: no values */
  void *added;                     /* real (2, H, D) u, then v; NULL: none */
  double *room;                    /* (tables, D, C) where they are made */
} rs_attend_vectors;

/* What there is one number a query of: the online softmax's, what queries are multiplied by, and <out, dout>. */
enum { RS_ROW_TOP, RS_ROW_SUM, RS_ROW_SHRINK, RS_ROW_FACTOR, RS_ROW_DOT, RS_ROW_KINDS };

/* Where things stand in the scratch, in numbers; tokens are rounded up to whole tiles. Threads that share a sequence
 * have what is in `own` each, one behind the other; G heads read the same keys, turned alike. */
typedef struct rs_attend_room {
  size_t key_panels;  /* (V, tiles, D, tile) turned, and turned over */
  size_t value_rows;  /* (Lk, D) as they are, side by side */
  size_t own;         /* what follows, to forward_end */
  size_t queries;     /* (G, V, tile, D) turned and scaled */
  size_t out;         /* (G, tile, D) sums of outputs; backwards their gradient */
  size_t logits;      /* (tile, tile) */
  size_t rows;        /* (G, RS_ROW_KINDS, tile) numbers of each query */
  size_t readers;     /* (G, tile, D) queries that read vectors of distance; those above where nothing is added */
  size_t distances;   /* (tile, 2 tile) of some distances */
  size_t forward_end; /* what follows is for the way back, by one thread */
  size_t keys;        /* (V, Lk, D) turned */
  size_t values;      /* (tiles, D, tile) turned over */
  size_t dlogits;     /* (tile, tile) */
  size_t slopes;      /* (tile, tile) of the cap */
  size_t dqueries;    /* (V, tile, D) */
  size_t dreaders;    /* (tile, D) */
  size_t dkeys;       /* (V, Lk, D) */
  size_t dvalues;     /* (Lk, D) */
  size_t end;
} rs_attend_room;

struct rs_attend {
  rs_arena arena; /* of all that it points to */
  rs_attend_shape shape;
  rs_format format;
  size_t real_bytes;
  size_t views, pairs; /* pairs 0: no rotation */
  size_t tables;       /* of turns: 1, or H: each head has its own */
  rs_token_turns turns[2][RS_VIEWS];
  double *turn_room;                /* (2, tile, pairs) where turns are made; NULL: no rotation */
  double *scale;                    /* (Lq,) of the dot products, without the head's */
  double *head_scale;               /* (H,) */
  bool scale_learned, bias_learned; /* of heads; by the encoding */
  bool turns_learned;               /* then there is one view */
  rs_bias_store store;
  void *bias;       /* real: by distance (H, Lq + Lk - 1), square (H, Lq, Lk); else NULL */
  size_t bias_size; /* numbers of it */
  rs_attend_vectors vectors;
  rs_sight *sights;
  size_t *sight_end; /* (query tiles,) sights of tile t end here, and begin where those of t - 1 end */
  rs_attend_room room;
};

/* Numbers that are zero before a batch. */
typedef struct rs_sums_part {
  void *numbers;
  size_t bytes;
} rs_sums_part;

struct rs_attend_sums {
  rs_arena arena; /* of all that it points to */
  rs_sums_part parts[RS_LEARNED + 6];
  size_t part_count;
  void *bias;                  /* real, as the attention's; NULL: none */
  double *learned[RS_LEARNED]; /* of biases that go there row by row; else NULL */
  double *head_scale;          /* (H,) */
  double *turns;               /* (H, L, pairs) by angles of queries and keys; NULL: none */
  void *vectors;               /* real (tables, D, C) by vectors of distance; NULL: none */
  void *value_vectors;         /* real (D, C) */
  double *added;               /* (2, H, D) */
  double *room;                /* (tables + 1, D, C) where the former two become doubles */
};

/* How many heads read the same keys, turned alike; 1 where each has turns of its own. */
static inline size_t rs_alike_heads(const rs_attend *attend) {
  return attend->tables > 1 ? 1 : attend->shape.heads / attend->shape.kv_heads;
}

static inline size_t rs_tiles_of(size_t tokens) {
  return (tokens + RS_TILE - 1) / RS_TILE;
}

/* Where bias(head, query, key) stands in a table; those of the keys that follow stand behind it. */
static inline size_t rs_bias_place(const rs_attend *attend, size_t head, size_t query, size_t key) {
  size_t queries = attend->shape.queries, keys = attend->shape.keys;
  if (attend->store == RS_BIAS_SQUARE) return (head * queries + query) * keys + key;
  return head * (queries + keys - 1) + queries - 1 + key - query;
}

static inline bool rs_is_head_scale(const rs_learned *learned) {
  return strcmp(learned->name, "logit_scale") == 0;
}

/* Begins before the first tile that the queries of tile `query_tile` see. */
rs_walk rs_walk_begin(const rs_attend *attend, size_t query_tile);

/* Goes to the next tile of which something is seen; false: there is none. */
bool rs_walk_next(const rs_attend *attend, rs_walk *walk);

/* Columns [0, end) hold all that rows [row, row + count) see; returns `end`. */
size_t rs_tile_columns(const rs_tile *tile, size_t row, size_t count);

/* Rows [begin, end) are those that see any of columns [column, column + count), and some between. */
rs_range rs_tile_rows(const rs_tile *tile, size_t column, size_t count);

/* ---- one head ---------------------------------------------------------------------------------------------------- */

/* What both ways through an attention share. */

#ifdef RS_REAL_BITS

#define rs_turn_of RS_OF_REAL(rs_turn_of)
#define rs_load_tile_of_keys RS_OF_REAL(rs_load_tile_of_keys)
#define rs_load_queries RS_OF_REAL(rs_load_queries)
#define rs_make_logits RS_OF_REAL(rs_make_logits)
#define rs_load_readers RS_OF_REAL(rs_load_readers)
#define rs_add_vectors RS_OF_REAL(rs_add_vectors)
#define rs_gather_value_vectors RS_OF_REAL(rs_gather_value_vectors)
#define rs_add_value_vectors RS_OF_REAL(rs_add_value_vectors)
#define rs_pass_vectors RS_OF_REAL(rs_pass_vectors)
#define rs_finish_readers RS_OF_REAL(rs_finish_readers)

/* One head of one sequence. */
typedef struct rs_attend_work {
  const rs_attend *attend;
  const rs_attend_call *call;
  const rs_net_kernel *net;
  real *scratch; /* of all threads */
  real *own;     /* the same place for the first thread; further by its number times rs_attend_own_scratch for others */
  size_t dims, head;
  size_t slot; /* of the head among those whose queries are loaded side by side; backwards 0 */
} rs_attend_work;

static inline real *rs_part_at(const rs_attend_work *work, size_t place) {
  return work->own + place;
}

/* The head of keys and values that the head reads. */
static inline size_t rs_kv_head_of(const rs_attend_work *work) {
  return work->head / (work->attend->shape.heads / work->attend->shape.kv_heads);
}

/* One number of each query of the tile. */
static inline real *rs_rows_at(const rs_attend_work *work, int kind) {
  return work->own + work->attend->room.rows + (work->slot * RS_ROW_KINDS + (size_t)kind) * RS_TILE;
}

/* (Lk, D) of one view, from the part of the scratch of all threads at `place`; tokens are rounded up to tiles. */
static inline real *rs_tokens_at(const rs_attend_work *work, size_t place, size_t view) {
  return work->scratch + place + view * rs_tiles_of(work->attend->shape.keys) * RS_TILE * work->dims;
}

/* (tile, D) of one view. */
static inline real *rs_tile_at(const rs_attend_work *work, size_t place, size_t view) {
  return work->own + place + (work->slot * work->attend->views + view) * RS_TILE * work->dims;
}

/* Carries `count` rows of D numbers as they are. */
static inline rs_row_turn rs_copy_of(const rs_attend_work *work, size_t count) {
  return (rs_row_turn){.rows = count, .width = work->dims};
}

/* How many of the tokens are in a tile. */
static inline size_t rs_count_of(size_t tokens, size_t tile) {
  size_t left = tokens - tile * RS_TILE;
  return left < RS_TILE ? left : RS_TILE;
}

typedef struct rs_matrix {
  real *numbers;
  size_t step;
} rs_matrix;

/* c (rows, columns) = a (rows, depth) b, plus c where `add`. */
static inline void rs_multiply(const rs_attend_work *work, size_t rows, size_t columns, size_t depth, rs_matrix a,
                               rs_matrix b, rs_matrix c, bool add) {
  work->net->product(&(rs_product){.rows = rows,
                                   .columns = columns,
                                   .depth = depth,
                                   .a = a.numbers,
                                   .a_step = a.step,
                                   .b = b.numbers,
                                   .b_step = b.step,
                                   .c = c.numbers,
                                   .c_step = c.step,
                                   .add = add});
}

/* Bit c: the row's weight in column c of the tile is kept. */
static inline uint64_t rs_tile_kept(const rs_attend_work *work, const rs_tile *tile, size_t row) {
  rs_drop drop = work->call->drop;
  drop.place += work->head;
  return rs_drop_kept(&drop, tile->query + row, tile->key / RS_TILE, tile->end[row]);
}

/* Turns rows of tokens [first, first + count). */
rs_row_turn rs_turn_of(const rs_attend_work *work, rs_side side, size_t view, size_t first, size_t count);

/* The keys of tile `tile` that the head reads in one view: turned into rows (tile, D), and these over into their panel.
 */
void rs_load_tile_of_keys(const rs_attend_work *work, size_t view, size_t tile, real *rows);

/* The queries of a tile, turned for each view and scaled. */
void rs_load_queries(const rs_attend_work *work, size_t tile);

/* Logits of rows [row, row + count) of the tile against its columns [0, columns). `slopes` NULL, or what the cap's
 * derivative is written to, (tile, tile). */
void rs_make_logits(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, size_t columns,
                    real *slopes);

/* ---- vectors of distance (attend_vectors.c) ---------------------------------------------------------------------- */

/* Of `count` queries, which are loaded and scaled: adds u to them, and makes those that read vectors. */
void rs_load_readers(const rs_attend_work *work, size_t count);

/* Adds to products of rows [row, row + count) of the tile with its columns [0, columns) what the vectors give. */
void rs_add_vectors(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, size_t columns);

/* Adds to out (count, D) what the vectors of values give by the rows' weights, which stand in the place of logits. */
void rs_gather_value_vectors(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, size_t columns,
                             real *out);

/* Adds to <dout, v> in the place of the gradients of logits those with the vectors of values. */
void rs_add_value_vectors(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, size_t columns);

/* The gradients of products, and the weights, of the rows go to queries, to keys that read vectors, and to sums (NULL:
 * not wanted). */
void rs_pass_vectors(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, rs_attend_sums *sums);

/* Of a finished tile from query `first` on: the gradients by queries with v join those with u, from which u and v get
 * theirs. */
void rs_finish_readers(const rs_attend_work *work, size_t first, size_t count, rs_attend_sums *sums);

#endif

#endif
