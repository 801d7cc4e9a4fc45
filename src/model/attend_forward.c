/* Attention forwards: each tile of queries walks over the tiles of keys that it sees, and keeps an online softmax
 * (Milakov and Gimelshein, arXiv:1805.02867; in tiles: Dao et al., arXiv:2205.14135). */
#include "attend_work.h"

#include <math.h>

/* A sink is a key seen before all others, of value 0. */
static void begin_rows(const rs_attend_work *work, size_t count) {
  const real *sinks = work->call->sinks;
  real *top = rs_work_rows(work, RS_ROW_TOP), *sum = rs_work_rows(work, RS_ROW_SUM);
  for (size_t r = 0; r < count; r++) {
    top[r] = sinks != NULL ? sinks[work->head] : -(real)INFINITY;
    sum[r] = sinks != NULL ? 1 : 0;
  }
}

/* The rows' sums of values, times `shrink`, plus those of the tile by its weights; `first`: there were none before. */
static void gather(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, size_t columns,
                   bool first) {
  const rs_attend_room *room = &work->attend->room;
  size_t dims = work->dims, step = work->call->v_step;
  real *out = rs_work_part(work, room->out) + row * dims;
  if (!first) work->net->scale_rows(out, dims, count, dims, rs_work_rows(work, RS_ROW_SHRINK) + row);
  work->net->product(&(rs_product){.rows = count,
                                   .columns = dims,
                                   .depth = columns,
                                   .a = rs_work_part(work, room->logits) + row * RS_TILE,
                                   .a_step = RS_TILE,
                                   .b = work->call->v + tile->key * step + rs_work_kv_head(work) * dims,
                                   .b_step = step,
                                   .c = out,
                                   .c_step = dims,
                                   .add = !first});
}

/* What rows [row, row + count) see of the tile, the `first` of their tiles or not, goes into their sums. */
static void weigh(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, bool first) {
  size_t columns = rs_tile_columns(tile, row, count);
  real *logits = rs_work_part(work, work->attend->room.logits) + row * RS_TILE;
  if (columns == 0 && !first) return;
  RS_OF_REAL(rs_work_logits)(work, tile, row, count, columns, NULL);
  rs_soft_tile soft = {count, columns, logits, RS_TILE, tile->begin + row, tile->end + row};
  work->net->soften(&soft, rs_work_rows(work, RS_ROW_TOP) + row, rs_work_rows(work, RS_ROW_SUM) + row,
                    rs_work_rows(work, RS_ROW_SHRINK) + row);
  gather(work, tile, row, count, columns, first);
}

static void finish_rows(const rs_attend_work *work, size_t first, size_t count) {
  const rs_attend_call *call = work->call;
  const real *top = rs_work_rows(work, RS_ROW_TOP), *sum = rs_work_rows(work, RS_ROW_SUM);
  real *shrink = rs_work_rows(work, RS_ROW_SHRINK);
  real *level = call->level + work->head * work->attend->shape.queries + first;
  for (size_t r = 0; r < count; r++) {
    shrink[r] = sum[r] > 0 ? 1 / sum[r] : 0;
    level[r] = top[r] + (real)log(sum[r]);
  }
  rs_row_turn copy = rs_work_copy(work, count);
  copy.factor = shrink;
  work->net->turn_rows(&copy, rs_work_part(work, work->attend->room.out), work->dims,
                       call->out + first * call->out_step + work->head * work->dims, call->out_step);
}

static void attend_tile(const rs_attend_work *work, size_t tile) {
  const rs_attend *attend = work->attend;
  size_t first = tile * RS_TILE, left = attend->shape.queries - first, count = left < RS_TILE ? left : RS_TILE;
  rs_walk walk = rs_walk_begin(attend, tile);
  RS_OF_REAL(rs_work_load_queries)(work, tile);
  begin_rows(work, count);
  while (rs_walk_next(attend, &walk))
    for (size_t row = 0, rows; row < count; row += rows) {
      rows = count - row < walk.tile.strip ? count - row : walk.tile.strip;
      weigh(work, &walk.tile, row, rows, walk.count == 1);
    }
  finish_rows(work, first, count);
}

void RS_OF_REAL(rs_attend_forward)(const rs_attend *attend, const rs_attend_call *call, real *scratch) {
  const rs_attend_shape *shape = &attend->shape;
  size_t group = shape->heads / shape->kv_heads;
  rs_attend_work work = {
      .attend = attend, .call = call, .net = rs_real_kernel(), .scratch = scratch, .dims = shape->head_dim};
  for (; work.head < shape->heads; work.head++) {
    if (work.head % group == 0) RS_OF_REAL(rs_work_load_keys)(&work);
    for (size_t tile = 0; tile < rs_tiles_of(shape->queries); tile++) attend_tile(&work, tile);
  }
}
