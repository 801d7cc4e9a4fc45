/* Attention backwards. With dp = <dout, v>, times the mask where weights are dropped, and dot = <dout, out>, a logit's
 * gradient is p (dp - dot). A tile's logits are computed from its queries and keys again (Dao et al., arXiv:2205.14135,
 * algorithm 4). Gradients by queries gather over a tile of them, those by keys and values over all. */
#include "attend.h"

#include <math.h>

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
  real *weights = rs_part_at(work, room->logits) + row * RS_TILE;
  real *dlogits = rs_part_at(work, room->dlogits) + row * RS_TILE;
  real *slopes = attend->shape.soft_cap != 0 ? rs_part_at(work, room->slopes) : NULL;
  for (size_t r = 0; r < count; r++) {
    memset(weights + r * RS_TILE + columns, 0, (tile->columns - columns) * sizeof(real));
    memset(dlogits + r * RS_TILE + columns, 0, (tile->columns - columns) * sizeof(real));
  }
  if (columns == 0) return;
  rs_make_logits(work, tile, row, count, columns, slopes);
  rs_multiply(work, count, columns, dims, (rs_matrix){rs_part_at(work, room->out) + row * dims, dims},
              (rs_matrix){rs_part_at(work, room->values) + tile->key * dims, RS_TILE}, (rs_matrix){dlogits, RS_TILE},
              false);
  if (attend->vectors.form.values) rs_add_value_vectors(work, tile, row, count, columns);
  rs_soft_tile soft = {count, columns, weights, RS_TILE, tile->begin + row, tile->end + row};
  double share = work->call->drop.share;
  uint64_t kept[RS_TILE];
  for (size_t r = 0; r < count && share > 0; r++) {
    kept[r] = rs_tile_kept(work, tile, row + r);
    rs_drop_numbers(share, kept[r], columns, dlogits + r * RS_TILE);
  }
  work->net->soften_back(&soft, work->call->level + work->head * attend->shape.queries + tile->query + row,
                         rs_rows_at(work, RS_ROW_DOT) + row, dlogits, RS_TILE);
  for (size_t r = 0; r < count && share > 0; r++) rs_drop_numbers(share, kept[r], columns, weights + r * RS_TILE);
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
    gather(b, rs_part_at(work, room->logits), column, columns, rows, rs_part_at(work, room->out),
           rs_part_at(work, room->dvalues) + place);
    gather(b, rs_part_at(work, room->dlogits), column, columns, rows, rs_tile_at(work, room->queries, tile->view),
           rs_tokens_at(work, room->dkeys, tile->view) + place);
  }
}

static void share_with_queries(const backward *b, const rs_tile *tile, size_t row, size_t count) {
  const rs_attend_work *work = &b->work;
  const rs_attend_room *room = &work->attend->room;
  size_t columns = rs_tile_columns(tile, row, count), dims = work->dims;
  if (columns == 0) return;
  rs_multiply(work, count, dims, columns, (rs_matrix){rs_part_at(work, room->dlogits) + row * RS_TILE, RS_TILE},
              (rs_matrix){rs_tokens_at(work, room->keys, tile->view) + tile->key * dims, dims},
              (rs_matrix){rs_tile_at(work, room->dqueries, tile->view) + row * dims, dims}, true);
  if (work->attend->vectors.columns > 0) rs_pass_vectors(work, tile, row, count, b->gradients->sums);
}

/* The outputs' gradients, their products with the outputs, and what a sink gets of them. */
static void begin_rows(const backward *b, size_t first, size_t count) {
  const rs_attend_work *work = &b->work;
  const rs_attend_call *call = work->call;
  const rs_attend_gradients *gradients = b->gradients;
  size_t dims = work->dims;
  const real *level = call->level + work->head * work->attend->shape.queries + first;
  real *dout = rs_part_at(work, work->attend->room.out), *dot = rs_rows_at(work, RS_ROW_DOT);
  rs_row_turn copy = rs_copy_of(work, count);
  work->net->turn_rows(&copy, gradients->dout + first * gradients->dout_step + work->head * dims, gradients->dout_step,
                       dout, dims);
  for (size_t r = 0; r < count; r++)
    dot[r] = inner(call->out + (first + r) * call->out_step + work->head * dims, dout + r * dims, dims);
  for (size_t r = 0; r < count && call->sinks != NULL && gradients->dsinks != NULL; r++)
    gradients->dsinks[work->head] -= (real)exp((double)(call->sinks[work->head] - level[r])) * dot[r];
  memset(rs_part_at(work, work->attend->room.dqueries), 0, work->attend->views * RS_TILE * dims * sizeof(real));
  if (work->attend->vectors.form.added)
    memset(rs_part_at(work, work->attend->room.dreaders), 0, RS_TILE * dims * sizeof(real));
}

/* Turns the gradients of all views back, times `factor`, and adds them up in `to`, to what is there where `add`. */
static void turn_back(const backward *b, rs_side side, size_t first, size_t count, const real *views, size_t view_step,
                      const real *factor, bool add, real *to, size_t to_step) {
  for (size_t view = 0; view < b->work.attend->views; view++) {
    rs_row_turn turn = rs_turn_of(&b->work, side, view, first, count);
    turn.back = true;
    turn.factor = factor;
    turn.add = add || view > 0;
    b->work.net->turn_rows(&turn, views + view * view_step, b->work.dims, to, to_step);
  }
}

/* The angles of tokens [first, first + count) get what their rows, as they are turned, and the gradients by these give:
 * turning on moves (a, b) by (-b, a). */
static void pass_turns(const backward *b, size_t first, size_t count, const real *rows, const real *gradient) {
  const rs_attend *attend = b->work.attend;
  size_t pairs = attend->pairs, dims = b->work.dims;
  if (!attend->turns_learned || b->gradients->sums == NULL) return;
  bool interleaved = attend->shape.encoding->pair_layout == RS_INTERLEAVED;
  size_t step = interleaved ? 2 : 1, across = interleaved ? 1 : pairs;
  double *into = b->gradients->sums->turns + (b->work.head * attend->shape.queries + first) * pairs;
  for (size_t r = 0; r < count; r++, rows += dims, gradient += dims)
    for (size_t j = 0; j < pairs; j++) {
      size_t one = j * step, other = one + across;
      into[r * pairs + j] += (double)(rows[one] * gradient[other] - rows[other] * gradient[one]);
    }
}

/* The head's scale gets its share of `dq`, which lacks that scale yet, and multiplies it. */
static void pass_head_scale(const backward *b, size_t first, size_t count, real *dq) {
  const rs_attend_work *work = &b->work;
  const rs_attend_call *call = work->call;
  real *factor = rs_rows_at(work, RS_ROW_FACTOR);
  for (size_t r = 0; r < count; r++) {
    const real *q = call->q + (first + r) * call->q_step + work->head * work->dims;
    b->gradients->sums->head_scale[work->head] += inner(dq + r * b->gradients->dq_step, q, work->dims);
    factor[r] = (real)work->attend->head_scale[work->head];
  }
  work->net->scale_rows(dq, b->gradients->dq_step, count, work->dims, factor);
}

/* From the gradients by turned and scaled queries to those by q. */
static void finish_rows(const backward *b, size_t first, size_t count) {
  const rs_attend_work *work = &b->work;
  const rs_attend *attend = work->attend;
  const rs_attend_gradients *gradients = b->gradients;
  bool learned = attend->scale_learned && gradients->sums != NULL;
  real *factor = rs_rows_at(work, RS_ROW_FACTOR);
  real *dq = gradients->dq + first * gradients->dq_step + work->head * work->dims;
  if (attend->vectors.columns > 0) rs_finish_readers(work, first, count, gradients->sums);
  for (size_t r = 0; r < count && learned; r++) factor[r] = (real)attend->scale[first + r];
  const real *dqueries = rs_part_at(work, attend->room.dqueries);
  pass_turns(b, first, count, rs_part_at(work, attend->room.queries), dqueries);
  turn_back(b, RS_QUERY_SIDE, first, count, dqueries, RS_TILE * work->dims, factor, false, dq, gradients->dq_step);
  if (learned) pass_head_scale(b, first, count, dq);
}

static void attend_tile(const backward *b, size_t tile) {
  const rs_attend *attend = b->work.attend;
  size_t first = tile * RS_TILE, count = rs_count_of(attend->shape.queries, tile);
  rs_walk walk = rs_walk_begin(attend, tile);
  rs_load_queries(&b->work, tile);
  begin_rows(b, first, count);
  while (rs_walk_next(attend, &walk)) {
    for (size_t row = 0, rows; row < count; row += rows) {
      rows = count - row < walk.tile.strip ? count - row : walk.tile.strip;
      weigh(b, &walk.tile, row, rows);
      share_with_queries(b, &walk.tile, row, rows);
    }
    share_with_keys(b, &walk.tile);
  }
  finish_rows(b, first, count);
}

/* ---- a head of keys ---------------------------------------------------------------------------------------------- */

static void begin_values(const backward *b) {
  const rs_attend_work *work = &b->work;
  const rs_attend_room *room = &work->attend->room;
  const real *v = work->call->v + rs_kv_head_of(work) * work->dims;
  size_t step = work->call->v_step;
  for (size_t tile = 0; tile < rs_tiles_of(work->attend->shape.keys); tile++)
    work->net->turn_over(v + tile * RS_TILE * step, step, rs_count_of(work->attend->shape.keys, tile), work->dims,
                         rs_part_at(work, room->values) + tile * RS_TILE * work->dims, RS_TILE);
  memset(rs_part_at(work, room->dvalues), 0, (room->end - room->dvalues) * sizeof(real));
}

static void begin_keys(const backward *b) {
  const rs_attend_work *work = &b->work;
  const rs_attend_room *room = &work->attend->room;
  for (size_t view = 0; view < work->attend->views; view++)
    for (size_t tile = 0; tile < rs_tiles_of(work->attend->shape.keys); tile++)
      rs_load_tile_of_keys(work, view, tile, rs_tokens_at(work, room->keys, view) + tile * RS_TILE * work->dims);
  memset(rs_part_at(work, room->dkeys), 0, (room->dvalues - room->dkeys) * sizeof(real));
}

/* `add`: heads before have turned the same keys for themselves. */
static void finish_keys(const backward *b, bool add) {
  const rs_attend_work *work = &b->work;
  const rs_attend_gradients *gradients = b->gradients;
  const rs_attend_room *room = &work->attend->room;
  size_t keys = work->attend->shape.keys, dims = work->dims;
  const real *dkeys = rs_part_at(work, room->dkeys);
  pass_turns(b, 0, keys, rs_part_at(work, room->keys), dkeys);
  turn_back(b, RS_KEY_SIDE, 0, keys, dkeys, rs_tiles_of(keys) * RS_TILE * dims, NULL, add,
            gradients->dk + rs_kv_head_of(work) * dims, gradients->dk_step);
}

static void finish_values(const backward *b, size_t kv_head) {
  const rs_attend_work *work = &b->work;
  rs_row_turn copy = rs_copy_of(work, work->attend->shape.keys);
  work->net->turn_rows(&copy, rs_part_at(work, work->attend->room.dvalues), work->dims,
                       b->gradients->dv + kv_head * work->dims, b->gradients->dv_step);
}

static void attend_head(const backward *b, size_t group) {
  const rs_attend *attend = b->work.attend;
  size_t place = b->work.head % group, alike = rs_alike_heads(attend);
  if (place % alike == 0) begin_keys(b);
  for (size_t tile = 0; tile < rs_tiles_of(attend->shape.queries); tile++) attend_tile(b, tile);
  if (place % alike == alike - 1) finish_keys(b, place >= alike);
}

void RS_OF_REAL(rs_attend_backward)(const rs_attend *attend, const rs_attend_call *call,
                                    const rs_attend_gradients *gradients, real *scratch) {
  const rs_attend_shape *shape = &attend->shape;
  size_t group = shape->heads / shape->kv_heads;
  backward b = {{.attend = attend,
                 .call = call,
                 .net = rs_real_kernel(),
                 .scratch = scratch,
                 .own = scratch,
                 .dims = shape->head_dim},
                gradients};
  for (size_t kv_head = 0; kv_head < shape->kv_heads; kv_head++) {
    b.work.head = kv_head * group;
    begin_values(&b);
    for (; b.work.head < (kv_head + 1) * group; b.work.head++) attend_head(&b, group);
    finish_values(&b, kv_head);
  }
}
