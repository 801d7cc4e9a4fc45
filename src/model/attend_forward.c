/* Attention forwards: each tile of queries walks over the tiles of keys that it sees, and keeps an online softmax
 * (Milakov and Gimelshein, arXiv:1805.02867; in tiles: Dao et al., arXiv:2205.14135). */
#include "attend_work.h"

#include <math.h>
#include <string.h>

/* A sink is a key seen before all others, of value 0. */
static void begin_rows(const rs_attend_work *work, size_t count) {
  const real *sinks = work->call->sinks;
  real *top = rs_work_rows(work, RS_ROW_TOP), *sum = rs_work_rows(work, RS_ROW_SUM);
  for (size_t r = 0; r < count; r++) {
    top[r] = sinks != NULL ? sinks[work->head] : -(real)INFINITY;
    sum[r] = sinks != NULL ? 1 : 0;
  }
  memset(rs_work_part(work, work->attend->room.out), 0, count * work->dims * sizeof(real));
}

/* What rows [row, row + count) see of the tile goes into their sums. */
static void weigh(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count) {
  const rs_attend_room *room = &work->attend->room;
  size_t dims = work->dims, columns = rs_tile_columns(tile, row, count);
  real *weights = rs_work_part(work, room->logits) + row * RS_TILE, *out = rs_work_part(work, room->out) + row * dims;
  real *shrink = rs_work_rows(work, RS_ROW_SHRINK) + row;
  if (columns == 0) return;
  RS_OF_REAL(rs_work_logits)(work, tile, row, count, columns, NULL);
  rs_soft_tile soft = {count, columns, weights, RS_TILE, tile->begin + row, tile->end + row};
  work->net->soften(&soft, rs_work_rows(work, RS_ROW_TOP) + row, rs_work_rows(work, RS_ROW_SUM) + row, shrink);
  work->net->scale_rows(out, dims, count, dims, shrink);
  work->net->product(&(rs_product){.rows = count,
                                   .columns = dims,
                                   .depth = columns,
                                   .a = weights,
                                   .a_step = RS_TILE,
                                   .b = rs_work_tokens(work, room->values, 0) + tile->key * dims,
                                   .b_step = dims,
                                   .c = out,
                                   .c_step = dims,
                                   .add = true});
}

static void finish_rows(const rs_attend_work *work, size_t first, size_t count) {
  const rs_attend_call *call = work->call;
  const real *top = rs_work_rows(work, RS_ROW_TOP), *sum = rs_work_rows(work, RS_ROW_SUM);
  real *shrink = rs_work_rows(work, RS_ROW_SHRINK), *rows = rs_work_part(work, work->attend->room.out);
  real *level = call->level + work->head * work->attend->shape.queries + first;
  for (size_t r = 0; r < count; r++) {
    shrink[r] = sum[r] > 0 ? 1 / sum[r] : 0;
    level[r] = top[r] + (real)log(sum[r]);
  }
  work->net->scale_rows(rows, work->dims, count, work->dims, shrink);
  RS_OF_REAL(rs_work_copy)
  (work, rows, work->dims, count, call->out + first * call->out_step + work->head * work->dims, call->out_step);
}

static void attend_tile(const rs_attend_work *work, size_t tile) {
  const rs_attend *attend = work->attend;
  size_t first = tile * RS_TILE, begin = tile > 0 ? attend->sight_end[tile - 1] : 0;
  size_t count = attend->shape.queries - first < RS_TILE ? attend->shape.queries - first : RS_TILE;
  rs_tile cut;
  RS_OF_REAL(rs_work_load_queries)(work, tile);
  begin_rows(work, count);
  for (size_t s = begin; s < attend->sight_end[tile]; s++) {
    const rs_sight *sight = &attend->sights[s];
    for (size_t key_tile = sight->begin / RS_TILE; key_tile < rs_tiles_of(sight->end); key_tile++) {
      if (!rs_tile_cut(attend, sight, tile, key_tile, &cut)) continue;
      for (size_t row = 0; row < count; row += cut.strip)
        weigh(work, &cut, row, count - row < cut.strip ? count - row : cut.strip);
    }
  }
  finish_rows(work, first, count);
}

void RS_OF_REAL(rs_attend_forward)(const rs_attend *attend, const rs_attend_call *call, real *scratch) {
  const rs_attend_shape *shape = &attend->shape;
  size_t group = shape->heads / shape->kv_heads;
  rs_attend_work work = {
      .attend = attend, .call = call, .net = rs_real_kernel(), .scratch = scratch, .dims = shape->head_dim};
  for (; work.head < shape->heads; work.head++) {
    if (work.head % group == 0) {
      RS_OF_REAL(rs_work_load_keys)(&work);
      RS_OF_REAL(rs_work_copy)
      (&work, call->v + work.head / group * work.dims, call->v_step, shape->keys,
       rs_work_tokens(&work, attend->room.values, 0), work.dims);
    }
    for (size_t tile = 0; tile < rs_tiles_of(shape->queries); tile++) attend_tile(&work, tile);
  }
}
