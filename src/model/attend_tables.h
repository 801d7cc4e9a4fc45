/* attend_tables.h: what the attention of attend.h is made of at one length. Private to attend*.c. */
#ifndef ROPESCOPE_MODEL_ATTEND_TABLES_H
#define ROPESCOPE_MODEL_ATTEND_TABLES_H

#include "attend.h"

#include <string.h>

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
  size_t forward_end; /* what follows is for the way back, by one thread */
  size_t keys;        /* (V, Lk, D) turned */
  size_t values;      /* (tiles, D, tile) turned over */
  size_t dlogits;     /* (tile, tile) */
  size_t slopes;      /* (tile, tile) of the cap */
  size_t dqueries;    /* (V, tile, D) */
  size_t dkeys;       /* (V, Lk, D) */
  size_t dvalues;     /* (Lk, D) */
  size_t end;
} rs_attend_room;

struct rs_attend {
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
  rs_sight *sights;
  size_t *sight_end; /* (query tiles,) sights of tile t end here, and begin where those of t - 1 end */
  rs_attend_room room;
};

struct rs_attend_sums {
  void *bias;                  /* real, as the attention's; NULL: none */
  double *learned[RS_LEARNED]; /* of biases that go there row by row; else NULL */
  double *head_scale;          /* (H,) */
  double *turns;               /* (H, L, pairs) by angles of queries and keys; NULL: none */
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

/* Fills sights and sight_end. */
rs_status rs_attend_look(rs_attend *attend, rs_err *err);

/* Begins before the first tile that the queries of tile `query_tile` see. */
rs_walk rs_walk_begin(const rs_attend *attend, size_t query_tile);

/* Goes to the next tile of which something is seen; false: there is none. */
bool rs_walk_next(const rs_attend *attend, rs_walk *walk);

/* Columns [0, end) hold all that rows [row, row + count) see; returns `end`. */
size_t rs_tile_columns(const rs_tile *tile, size_t row, size_t count);

/* Rows [begin, end) are those that see any of columns [column, column + count), and some between. */
rs_range rs_tile_rows(const rs_tile *tile, size_t column, size_t count);

#endif
