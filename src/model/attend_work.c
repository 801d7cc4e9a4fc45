/* What both ways through an attention share: rows on their way to the kernel, and the logits of a tile. */
#include "attend.h"

rs_row_turn RS_OF_REAL(rs_work_turn)(const rs_attend_work *work, rs_side side, size_t view, size_t first,
                                     size_t count) {
  const rs_attend *attend = work->attend;
  rs_row_turn turn = rs_work_copy(work, count);
  if (attend->pairs == 0) return turn;
  turn.pairs = attend->pairs;
  turn.interleaved = attend->shape.encoding->pair_layout == RS_INTERLEAVED;
  size_t row = (attend->tables > 1 ? work->head * attend->shape.queries : 0) + first;
  turn.cosine = (const real *)attend->turns[side][view].cosine + row * attend->pairs;
  turn.sine = (const real *)attend->turns[side][view].sine + row * attend->pairs;
  return turn;
}

void RS_OF_REAL(rs_work_turn_over)(const rs_attend_work *work, const real *rows, size_t step, real *panels) {
  size_t keys = work->attend->shape.keys;
  for (size_t key = 0; key < keys; key += RS_TILE) {
    size_t count = keys - key < RS_TILE ? keys - key : RS_TILE;
    work->net->turn_over(rows + key * step, step, count, work->dims, panels + key * work->dims, RS_TILE);
  }
}

void RS_OF_REAL(rs_work_load_keys)(const rs_attend_work *work, size_t view, size_t tile, real *rows) {
  const rs_attend *attend = work->attend;
  size_t first = tile * RS_TILE, left = attend->shape.keys - first, count = left < RS_TILE ? left : RS_TILE;
  const real *k = work->call->k + first * work->call->k_step + rs_work_kv_head(work) * work->dims;
  real *panel = rs_work_tokens(work, attend->room.key_panels, view) + first * work->dims;
  rs_row_turn turn = RS_OF_REAL(rs_work_turn)(work, RS_KEY_SIDE, view, first, count);
  work->net->turn_rows(&turn, k, work->call->k_step, rows, work->dims);
  work->net->turn_over(rows, work->dims, count, work->dims, panel, RS_TILE);
}

/* Times the weights of both sides: queries alone get them, for q.k is the same. */
static void weigh_dims(const rs_attend_work *work, size_t count, real *rows) {
  const real *q = work->call->q_weights, *k = work->call->k_weights;
  for (size_t r = 0; r < count && q != NULL; r++)
    for (size_t i = 0; i < work->dims; i++) rows[r * work->dims + i] *= q[i] * k[i];
}

void RS_OF_REAL(rs_work_load_queries)(const rs_attend_work *work, size_t tile) {
  const rs_attend *attend = work->attend;
  size_t first = tile * RS_TILE, dims = work->dims;
  size_t count = attend->shape.queries - first < RS_TILE ? attend->shape.queries - first : RS_TILE;
  const real *q = work->call->q + first * work->call->q_step + work->head * dims;
  real *factor = rs_work_rows(work, RS_ROW_FACTOR);
  for (size_t r = 0; r < count; r++) factor[r] = (real)(attend->scale[first + r] * attend->head_scale[work->head]);
  for (size_t view = 0; view < attend->views; view++) {
    rs_row_turn turn = RS_OF_REAL(rs_work_turn)(work, RS_QUERY_SIDE, view, first, count);
    turn.factor = factor;
    work->net->turn_rows(&turn, q, work->call->q_step, rs_work_tile(work, attend->room.queries, view), dims);
    weigh_dims(work, count, rs_work_tile(work, attend->room.queries, view));
  }
}

/* Biases of what one row sees, from wherever they are. */
static void add_biases(const rs_attend_work *work, const rs_tile *tile, size_t row, real *logits) {
  const rs_attend *attend = work->attend;
  size_t begin = tile->begin[row], count = tile->end[row] - begin, query = tile->query + row, key = tile->key + begin;
  double asked[RS_TILE];
  if (attend->bias != NULL) {
    work->net->add((const real *)attend->bias + rs_bias_place(attend, work->head, query, key), count, logits + begin);
    return;
  }
  rs_encoding_bias_row(attend->shape.encoding, work->head, query, key, key + count, asked);
  for (size_t i = 0; i < count; i++) logits[begin + i] += (real)asked[i];
}

void RS_OF_REAL(rs_work_logits)(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count,
                                size_t columns, real *slopes) {
  const rs_attend *attend = work->attend;
  real *logits = rs_work_part(work, attend->room.logits) + row * RS_TILE;
  work->net->product(&(rs_product){
      .rows = count,
      .columns = columns,
      .depth = work->dims,
      .a = rs_work_tile(work, attend->room.queries, tile->view) + row * work->dims,
      .a_step = work->dims,
      .b = rs_work_tokens(work, attend->room.key_panels, tile->view) + tile->key * work->dims,
      .b_step = RS_TILE,
      .c = logits,
      .c_step = RS_TILE,
  });
  if (attend->shape.soft_cap != 0)
    work->net->cap_rows(attend->shape.soft_cap, count, columns, logits, RS_TILE,
                        slopes != NULL ? slopes + row * RS_TILE : NULL);
  for (size_t r = 0; r < count && attend->store != RS_BIAS_NONE; r++)
    add_biases(work, tile, row + r, logits + r * RS_TILE);
}
