/* attend_work.h: what both ways through an attention share: one sequence in one thread's scratch. Private to attend*.c.
 */
#ifndef ROPESCOPE_MODEL_ATTEND_WORK_H
#define ROPESCOPE_MODEL_ATTEND_WORK_H

#include "attend_tables.h"

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

static inline real *rs_work_part(const rs_attend_work *work, size_t place) {
  return work->own + place;
}

/* The head of keys and values that the head reads. */
static inline size_t rs_work_kv_head(const rs_attend_work *work) {
  return work->head / (work->attend->shape.heads / work->attend->shape.kv_heads);
}

/* One number of each query of the tile. */
static inline real *rs_work_rows(const rs_attend_work *work, int kind) {
  return work->own + work->attend->room.rows + (work->slot * RS_ROW_KINDS + (size_t)kind) * RS_TILE;
}

/* (Lk, D) of one view, from the part of the scratch of all threads at `place`; tokens are rounded up to tiles. */
static inline real *rs_work_tokens(const rs_attend_work *work, size_t place, size_t view) {
  return work->scratch + place + view * rs_tiles_of(work->attend->shape.keys) * RS_TILE * work->dims;
}

/* (tile, D) of one view. */
static inline real *rs_work_tile(const rs_attend_work *work, size_t place, size_t view) {
  return work->own + place + (work->slot * work->attend->views + view) * RS_TILE * work->dims;
}

/* Carries `count` rows of D numbers as they are. */
static inline rs_row_turn rs_work_copy(const rs_attend_work *work, size_t count) {
  return (rs_row_turn){.rows = count, .width = work->dims};
}

/* Turns rows of tokens [first, first + count). */
rs_row_turn RS_OF_REAL(rs_work_turn)(const rs_attend_work *work, rs_side side, size_t view, size_t first, size_t count);

/* The keys of tile `tile` that the head reads in one view: turned into rows (tile, D), and these over into their panel.
 */
void RS_OF_REAL(rs_work_load_keys)(const rs_attend_work *work, size_t view, size_t tile, real *rows);

/* Rows of (Lk, D) tokens, turned over into panels (tiles, D, tile). */
void RS_OF_REAL(rs_work_turn_over)(const rs_attend_work *work, const real *rows, size_t step, real *panels);

/* The queries of a tile, turned for each view and scaled. */
void RS_OF_REAL(rs_work_load_queries)(const rs_attend_work *work, size_t tile);

/* Logits of rows [row, row + count) of the tile against its columns [0, columns). `slopes` NULL, or what the cap's
 * derivative is written to, (tile, tile). */
void RS_OF_REAL(rs_work_logits)(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count,
                                size_t columns, real *slopes);

#endif
