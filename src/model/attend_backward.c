/* Attention backwards. With dp = <dout, v> and dot = <dout, out>, a logit's gradient is p (dp - dot); a tile's are
 * computed from its queries and keys again (Dao et al., arXiv:2205.14135, algorithm 4). Gradients by queries gather
 * over a tile of them, those by keys and values over all. */
#include "attend_work.h"

#include <math.h>
#include <string.h>

typedef struct backward {
  rs_attend_work work;
  const rs_attend_gradients *gradients;
} backward;

/* <a, b> of (dims,), in eight sums that the compiler may keep side by side. */
static real inner(const real *a, const real *b, size_t dims) {
  enum { SUMS = 8 };
  real sum[SUMS] = {0};
  size_t d = 0;
  for (; d + SUMS <= dims; d += SUMS)
    for (size_t i = 0; i < SUMS; i++) sum[i] += a[d + i] * b[d + i];
  for (size_t i = 0; d < dims; d++, i++) sum[i] += a[d] * b[d];
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

/* ---- logits ------------------------------------------------------------------------------------------------------ */

/* The gradients of what one row sees go to the biases. */
static void pass_biases(const backward *b, const rs_tile *tile, size_t row, const real *dlogits) {
  const rs_attend *attend = b->work.attend;
  rs_attend_sums *sums = b->gradients->sums;
  size_t begin = tile->begin[row], count = tile->end[row] - begin, query = tile->query + row, key = tile->key + begin;
  double passed[RS_TILE];
  if (sums->bias != NULL) {
    real *into = (real *)sums->bias + rs_bias_place(attend, b->work.head, query, key);
    b->work.net->add(dlogits + begin, count, into);
    return;
  }
  for (size_t i = 0; i < count; i++) passed[i] = dlogits[begin + i];
  rs_encoding_bias_gradient(attend->shape.encoding, b->work.head, query, key, key + count, passed, sums->learned);
}

/* Weights and gradients of logits for rows [row, row + count), 0 where nothing is seen. */
static void weigh(const backward *b, const rs_tile *tile, size_t row, size_t count) {
  const rs_attend_work *work = &b->work;
  const rs_attend *attend = work->attend;
  const rs_attend_room *room = &attend->room;
  size_t columns = rs_tile_columns(tile, row, count), dims = work->dims;
  real *weights = rs_work_part(work, room->logits) + row * RS_TILE;
  real *dlogits = rs_work_part(work, room->dlogits) + row * RS_TILE;
  real *slopes = attend->shape.soft_cap != 0 ? rs_work_part(work, room->slopes) : NULL;
  for (size_t r = 0; r < count; r++) {
    memset(weights + r * RS_TILE + columns, 0, (tile->columns - columns) * sizeof(real));
    memset(dlogits + r * RS_TILE + columns, 0, (tile->columns - columns) * sizeof(real));
  }
  if (columns == 0) return;
  RS_OF_REAL(rs_work_logits)(work, tile, row, count, columns, slopes);
  work->net->product(&(rs_product){.rows = count,
                                   .columns = columns,
                                   .depth = dims,
                                   .a = rs_work_part(work, room->out) + row * dims,
                                   .a_step = dims,
                                   .b = rs_work_tokens(work, room->values, 0) + tile->key * dims,
                                   .b_step = RS_TILE,
                                   .c = dlogits,
                                   .c_step = RS_TILE});
  rs_soft_tile soft = {count, columns, weights, RS_TILE, tile->begin + row, tile->end + row};
  work->net->soften_back(&soft, work->call->level + work->head * attend->shape.queries + tile->query + row,
                         rs_work_rows(work, RS_ROW_DOT) + row, dlogits, RS_TILE);
  for (size_t r = 0; r < count && attend->bias_learned && b->gradients->sums != NULL; r++)
    pass_biases(b, tile, row + r, dlogits + r * RS_TILE);
  for (size_t r = 0; r < count && slopes != NULL; r++)
    for (size_t c = 0; c < columns; c++) dlogits[r * RS_TILE + c] *= slopes[(row + r) * RS_TILE + c];
}

/* ---- a tile of queries ------------------------------------------------------------------------------------------- */

/* c (rows, D) += a^T b, a (queries, rows) columns of a tile, b (queries, D). */
static void gather(const backward *b, const real *tile, size_t column, size_t columns, rs_range rows,
                   const real *queries, real *keys) {
  size_t dims = b->work.dims;
  b->work.net->product(&(rs_product){.rows = columns,
                                     .columns = dims,
                                     .depth = rows.end - rows.begin,
                                     .a = tile + rows.begin * RS_TILE + column,
                                     .a_step = RS_TILE,
                                     .a_turned = true,
                                     .b = queries + rows.begin * dims,
                                     .b_step = dims,
                                     .c = keys,
                                     .c_step = dims,
                                     .add = true});
}

/* The tile's share of the gradients by keys and values. */
static void share_with_keys(const backward *b, const rs_tile *tile) {
  const rs_attend_work *work = &b->work;
  const rs_attend_room *room = &work->attend->room;
  for (size_t column = 0; column < tile->columns; column += tile->strip) {
    size_t columns = tile->columns - column < tile->strip ? tile->columns - column : tile->strip;
    size_t place = (tile->key + column) * work->dims;
    rs_range rows = rs_tile_rows(tile, column, columns);
    if (rows.begin == rows.end) continue;
    gather(b, rs_work_part(work, room->logits), column, columns, rows, rs_work_part(work, room->out),
           rs_work_tokens(work, room->dvalues, 0) + place);
    gather(b, rs_work_part(work, room->dlogits), column, columns, rows, rs_work_tile(work, room->queries, tile->view),
           rs_work_tokens(work, room->dkeys, tile->view) + place);
  }
}

static void share_with_queries(const backward *b, const rs_tile *tile, size_t row, size_t count) {
  const rs_attend_work *work = &b->work;
  const rs_attend_room *room = &work->attend->room;
  size_t columns = rs_tile_columns(tile, row, count), dims = work->dims;
  if (columns == 0) return;
  work->net->product(&(rs_product){.rows = count,
                                   .columns = dims,
                                   .depth = columns,
                                   .a = rs_work_part(work, room->dlogits) + row * RS_TILE,
                                   .a_step = RS_TILE,
                                   .b = rs_work_tokens(work, room->keys, tile->view) + tile->key * dims,
                                   .b_step = dims,
                                   .c = rs_work_tile(work, room->dqueries, tile->view) + row * dims,
                                   .c_step = dims,
                                   .add = true});
}

/* The outputs' gradients, their products with the outputs, and what a sink gets of them. */
static void begin_rows(const backward *b, size_t first, size_t count) {
  const rs_attend_work *work = &b->work;
  const rs_attend_call *call = work->call;
  const rs_attend_gradients *gradients = b->gradients;
  size_t dims = work->dims;
  const real *level = call->level + work->head * work->attend->shape.queries + first;
  real *dout = rs_work_part(work, work->attend->room.out), *dot = rs_work_rows(work, RS_ROW_DOT);
  RS_OF_REAL(rs_work_copy)
  (work, gradients->dout + first * gradients->dout_step + work->head * dims, gradients->dout_step, count, dout, dims);
  for (size_t r = 0; r < count; r++)
    dot[r] = inner(call->out + (first + r) * call->out_step + work->head * dims, dout + r * dims, dims);
  for (size_t r = 0; r < count && call->sinks != NULL && gradients->dsinks != NULL; r++)
    gradients->dsinks[work->head] -= (real)exp(call->sinks[work->head] - level[r]) * dot[r];
  memset(rs_work_part(work, work->attend->room.dqueries), 0, work->attend->views * RS_TILE * dims * sizeof(real));
}

/* Turns the gradients of all views back, into those of the first. */
static void turn_back(const backward *b, rs_side side, size_t first, size_t count, real *rows, size_t view_step) {
  for (size_t view = 0; view < b->work.attend->views; view++) {
    RS_OF_REAL(rs_work_turn)(&b->work, side, view, first, count, true, rows + view * view_step);
    if (view > 0) b->work.net->add(rows + view * view_step, count * b->work.dims, rows);
  }
}

/* From the gradients by turned and scaled queries to those by q, and by the head's scale on the way. */
static void finish_rows(const backward *b, size_t first, size_t count) {
  const rs_attend_work *work = &b->work;
  const rs_attend *attend = work->attend;
  const rs_attend_gradients *gradients = b->gradients;
  size_t dims = work->dims, head_place = work->head * dims;
  real *rows = rs_work_part(work, attend->room.dqueries), *factor = rs_work_rows(work, RS_ROW_FACTOR);
  bool learned = attend->scale_learned && gradients->sums != NULL;
  for (size_t r = 0; r < count; r++) factor[r] = (real)attend->scale[first + r];
  for (size_t view = 0; view < attend->views; view++)
    work->net->scale_rows(rows + view * RS_TILE * dims, dims, count, dims, factor);
  turn_back(b, RS_QUERY_SIDE, first, count, rows, RS_TILE * dims);
  for (size_t r = 0; r < count && learned; r++)
    gradients->sums->head_scale[work->head] +=
        inner(rows + r * dims, work->call->q + (first + r) * work->call->q_step + head_place, dims);
  for (size_t r = 0; r < count; r++) factor[r] = (real)attend->head_scale[work->head];
  work->net->scale_rows(rows, dims, count, dims, factor);
  RS_OF_REAL(rs_work_copy)
  (work, rows, dims, count, gradients->dq + first * gradients->dq_step + head_place, gradients->dq_step);
}

static void attend_tile(const backward *b, size_t tile) {
  const rs_attend *attend = b->work.attend;
  size_t first = tile * RS_TILE, begin = tile > 0 ? attend->sight_end[tile - 1] : 0;
  size_t count = attend->shape.queries - first < RS_TILE ? attend->shape.queries - first : RS_TILE;
  rs_tile cut;
  RS_OF_REAL(rs_work_load_queries)(&b->work, tile);
  begin_rows(b, first, count);
  for (size_t s = begin; s < attend->sight_end[tile]; s++) {
    const rs_sight *sight = &attend->sights[s];
    for (size_t key_tile = sight->begin / RS_TILE; key_tile < rs_tiles_of(sight->end); key_tile++) {
      if (!rs_tile_cut(attend, sight, tile, key_tile, &cut)) continue;
      for (size_t row = 0; row < count; row += cut.strip) {
        size_t rows = count - row < cut.strip ? count - row : cut.strip;
        weigh(b, &cut, row, rows);
        share_with_queries(b, &cut, row, rows);
      }
      share_with_keys(b, &cut);
    }
  }
  finish_rows(b, first, count);
}

/* ---- a head of keys ---------------------------------------------------------------------------------------------- */

static void begin_keys(const backward *b, size_t kv_head) {
  const rs_attend_work *work = &b->work;
  const rs_attend_room *room = &work->attend->room;
  RS_OF_REAL(rs_work_load_keys)(work);
  RS_OF_REAL(rs_work_turn_over)
  (work, work->call->v + kv_head * work->dims, work->call->v_step, rs_work_tokens(work, room->values, 0));
  memset(rs_work_part(work, room->dkeys), 0, (room->end - room->dkeys) * sizeof(real)); /* and values' */
}

static void finish_keys(const backward *b, size_t kv_head) {
  const rs_attend_work *work = &b->work;
  const rs_attend_gradients *gradients = b->gradients;
  const rs_attend_room *room = &work->attend->room;
  size_t keys = work->attend->shape.keys, dims = work->dims;
  real *dkeys = rs_work_tokens(work, room->dkeys, 0);
  turn_back(b, RS_KEY_SIDE, 0, keys, dkeys, rs_tiles_of(keys) * RS_TILE * dims);
  RS_OF_REAL(rs_work_copy)(work, dkeys, dims, keys, gradients->dk + kv_head * dims, gradients->dk_step);
  RS_OF_REAL(rs_work_copy)
  (work, rs_work_tokens(work, room->dvalues, 0), dims, keys, gradients->dv + kv_head * dims, gradients->dv_step);
}

void RS_OF_REAL(rs_attend_backward)(const rs_attend *attend, const rs_attend_call *call,
                                    const rs_attend_gradients *gradients, real *scratch) {
  const rs_attend_shape *shape = &attend->shape;
  size_t group = shape->heads / shape->kv_heads;
  backward b = {{.attend = attend, .call = call, .net = rs_real_kernel(), .scratch = scratch, .dims = shape->head_dim},
                gradients};
  for (size_t kv_head = 0; kv_head < shape->kv_heads; kv_head++) {
    b.work.head = kv_head * group;
    begin_keys(&b, kv_head);
    for (; b.work.head < (kv_head + 1) * group; b.work.head++)
      for (size_t tile = 0; tile < rs_tiles_of(shape->queries); tile++) attend_tile(&b, tile);
    finish_keys(&b, kv_head);
  }
}
