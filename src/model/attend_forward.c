/* Attention forwards: each tile of queries walks over the tiles of keys that it sees, and keeps an online softmax
 * (Milakov and Gimelshein, arXiv:1805.02867; in tiles: Dao et al., arXiv:2205.14135). Statistics of rows are
 * the engine's (attention/engine.c), which is a third faster at length but makes no outputs. */
#include "attend.h"

#include <math.h>

rs_row_turn rs_turn_of(const rs_attend_work *work, rs_side side, size_t view, size_t first, size_t count) {
  const rs_attend *attend = work->attend;
  rs_row_turn turn = rs_copy_of(work, count);
  if (attend->pairs == 0) return turn;
  turn.pairs = attend->pairs;
  turn.interleaved = attend->shape.encoding->pair_layout == RS_INTERLEAVED;
  size_t row = (attend->tables > 1 ? work->head * attend->shape.queries : 0) + first;
  turn.cosine = (const real *)attend->turns[side][view].cosine + row * attend->pairs;
  turn.sine = (const real *)attend->turns[side][view].sine + row * attend->pairs;
  return turn;
}

void rs_load_tile_of_keys(const rs_attend_work *work, size_t view, size_t tile, real *rows) {
  const rs_attend *attend = work->attend;
  size_t first = tile * RS_TILE, count = rs_count_of(attend->shape.keys, tile);
  const real *k = work->call->k + first * work->call->k_step + rs_kv_head_of(work) * work->dims;
  real *panel = rs_tokens_at(work, attend->room.key_panels, view) + first * work->dims;
  rs_row_turn turn = rs_turn_of(work, RS_KEY_SIDE, view, first, count);
  work->net->turn_rows(&turn, k, work->call->k_step, rows, work->dims);
  work->net->turn_over(rows, work->dims, count, work->dims, panel, RS_TILE);
}

/* Times the weights of both sides: queries alone get them, for q.k is the same. */
static void weigh_dims(const rs_attend_work *work, size_t count, real *rows) {
  const real *q = work->call->q_weights, *k = work->call->k_weights;
  for (size_t r = 0; r < count && q != NULL; r++)
    for (size_t i = 0; i < work->dims; i++) rows[r * work->dims + i] *= q[i] * k[i];
}

void rs_load_queries(const rs_attend_work *work, size_t tile) {
  const rs_attend *attend = work->attend;
  size_t first = tile * RS_TILE, dims = work->dims, count = rs_count_of(attend->shape.queries, tile);
  const real *q = work->call->q + first * work->call->q_step + work->head * dims;
  real *factor = rs_rows_at(work, RS_ROW_FACTOR);
  for (size_t r = 0; r < count; r++) factor[r] = (real)(attend->scale[first + r] * attend->head_scale[work->head]);
  for (size_t view = 0; view < attend->views; view++) {
    rs_row_turn turn = rs_turn_of(work, RS_QUERY_SIDE, view, first, count);
    turn.factor = factor;
    work->net->turn_rows(&turn, q, work->call->q_step, rs_tile_at(work, attend->room.queries, view), dims);
    weigh_dims(work, count, rs_tile_at(work, attend->room.queries, view));
  }
  if (attend->vectors.columns > 0) rs_load_readers(work, count);
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

void rs_make_logits(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, size_t columns,
                    real *slopes) {
  const rs_attend *attend = work->attend;
  real *logits = rs_part_at(work, attend->room.logits) + row * RS_TILE;
  rs_multiply(work, count, columns, work->dims,
              (rs_matrix){rs_tile_at(work, attend->room.queries, tile->view) + row * work->dims, work->dims},
              (rs_matrix){rs_tokens_at(work, attend->room.key_panels, tile->view) + tile->key * work->dims, RS_TILE},
              (rs_matrix){logits, RS_TILE}, false);
  if (attend->vectors.columns > 0 && columns > 0) rs_add_vectors(work, tile, row, count, columns);
  if (attend->shape.soft_cap != 0)
    work->net->cap_rows(attend->shape.soft_cap, count, columns, logits, RS_TILE,
                        slopes != NULL ? slopes + row * RS_TILE : NULL);
  for (size_t r = 0; r < count && attend->store != RS_BIAS_NONE; r++)
    add_biases(work, tile, row + r, logits + r * RS_TILE);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* A sink is a key seen before all others, of value 0. */
static void begin_rows(const rs_attend_work *work, size_t count) {
  const real *sinks = work->call->sinks;
  real *top = rs_rows_at(work, RS_ROW_TOP), *sum = rs_rows_at(work, RS_ROW_SUM);
  for (size_t r = 0; r < count; r++) {
    top[r] = sinks != NULL ? sinks[work->head] : -(real)INFINITY;
    sum[r] = sinks != NULL ? 1 : 0;
  }
}

/* (tile, D) of the head. */
static real *outputs(const rs_attend_work *work) {
  return rs_part_at(work, work->attend->room.out) + work->slot * RS_TILE * work->dims;
}

/* Seldom so once the first keys are seen: largest logits rise no more. */
static bool any_shrinks(const real *shrink, size_t count) {
  bool any = false;
  for (size_t r = 0; r < count; r++) any |= shrink[r] != 1;
  return any;
}

/* The rows' sums of values, times `shrink`, plus those of the tile by its weights; `first`: there were none before. */
static void gather(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, size_t columns,
                   bool first) {
  const rs_attend_room *room = &work->attend->room;
  size_t dims = work->dims;
  real *out = outputs(work) + row * dims;
  const real *shrink = rs_rows_at(work, RS_ROW_SHRINK) + row;
  if (!first && any_shrinks(shrink, count)) work->net->scale_rows(out, dims, count, dims, shrink);
  rs_multiply(work, count, dims, columns, (rs_matrix){rs_part_at(work, room->logits) + row * RS_TILE, RS_TILE},
              (rs_matrix){rs_tokens_at(work, room->value_rows, 0) + tile->key * dims, dims}, (rs_matrix){out, dims},
              !first);
  if (work->attend->vectors.form.values && columns > 0) rs_gather_value_vectors(work, tile, row, count, columns, out);
}

/* What rows [row, row + count) see of the tile, the `first` of their tiles or not, goes into their sums. */
static void weigh(const rs_attend_work *work, const rs_tile *tile, size_t row, size_t count, bool first) {
  size_t columns = rs_tile_columns(tile, row, count);
  real *logits = rs_part_at(work, work->attend->room.logits) + row * RS_TILE;
  if (columns == 0 && !first) return;
  rs_make_logits(work, tile, row, count, columns, NULL);
  rs_soft_tile soft = {count, columns, logits, RS_TILE, tile->begin + row, tile->end + row};
  work->net->soften(&soft, rs_rows_at(work, RS_ROW_TOP) + row, rs_rows_at(work, RS_ROW_SUM) + row,
                    rs_rows_at(work, RS_ROW_SHRINK) + row);
  for (size_t r = 0; r < count && work->call->drop.share > 0; r++)
    rs_drop_numbers(work->call->drop.share, rs_tile_kept(work, tile, row + r), columns, logits + r * RS_TILE);
  gather(work, tile, row, count, columns, first);
}

static void finish_rows(const rs_attend_work *work, size_t first, size_t count) {
  const rs_attend_call *call = work->call;
  const real *top = rs_rows_at(work, RS_ROW_TOP), *sum = rs_rows_at(work, RS_ROW_SUM);
  real *shrink = rs_rows_at(work, RS_ROW_SHRINK);
  real *level = call->level + work->head * work->attend->shape.queries + first;
  for (size_t r = 0; r < count; r++) {
    shrink[r] = sum[r] > 0 ? 1 / sum[r] : 0;
    level[r] = top[r] + (real)log(sum[r]);
  }
  rs_row_turn copy = rs_copy_of(work, count);
  copy.factor = shrink;
  work->net->turn_rows(&copy, outputs(work), work->dims, call->out + first * call->out_step + work->head * work->dims,
                       call->out_step);
}

/* The queries of a tile and of all heads from `first_head` on that read the same keys, one head after the other at each
 * tile of these, while it is in the cache. */
static void attend_tile(rs_attend_work *work, size_t first_head, size_t tile) {
  const rs_attend *attend = work->attend;
  size_t group = rs_alike_heads(attend), first = tile * RS_TILE;
  size_t count = rs_count_of(attend->shape.queries, tile);
  rs_walk walk = rs_walk_begin(attend, tile);
  for (work->slot = 0; work->slot < group; work->slot++) {
    work->head = first_head + work->slot;
    rs_load_queries(work, tile);
    begin_rows(work, count);
  }
  while (rs_walk_next(attend, &walk))
    for (work->slot = 0; work->slot < group; work->slot++) {
      work->head = first_head + work->slot;
      for (size_t row = 0, rows; row < count; row += rows) {
        rows = count - row < walk.tile.strip ? count - row : walk.tile.strip;
        weigh(work, &walk.tile, row, rows, walk.count == 1);
      }
    }
  for (work->slot = 0; work->slot < group; work->slot++) {
    work->head = first_head + work->slot;
    finish_rows(work, first, count);
  }
}

/* A tile of the keys and values that the head reads, by way of where queries will stand. */
static void load_tile(rs_attend_work *work, size_t head, size_t tile) {
  const rs_attend *attend = work->attend;
  size_t first = tile * RS_TILE, count = rs_count_of(attend->shape.keys, tile);
  size_t step = work->call->v_step;
  rs_row_turn copy = rs_copy_of(work, count);
  work->slot = 0;
  work->head = head;
  for (size_t view = 0; view < attend->views; view++)
    rs_load_tile_of_keys(work, view, tile, rs_tile_at(work, attend->room.queries, 0));
  work->net->turn_rows(&copy, work->call->v + first * step + rs_kv_head_of(work) * work->dims, step,
                       rs_tokens_at(work, attend->room.value_rows, 0) + first * work->dims, work->dims);
}

static rs_attend_work work_of(const rs_attend *attend, const rs_attend_call *call, real *scratch, size_t thread) {
  return (rs_attend_work){.attend = attend,
                          .call = call,
                          .net = rs_real_kernel(),
                          .scratch = scratch,
                          .own = scratch + thread * rs_attend_own_scratch(attend),
                          .dims = attend->shape.head_dim};
}

/* The longest rows come first, so that threads end together. */
static void attend_shared(const rs_attend *attend, const rs_attend_call *call, size_t head, real *scratch) {
  size_t tiles = rs_tiles_of(attend->shape.queries);
#pragma omp parallel num_threads((int)call->threads)
  {
    rs_attend_work work = work_of(attend, call, scratch, rs_engine_thread());
#pragma omp for schedule(static)
    for (size_t tile = 0; tile < rs_tiles_of(attend->shape.keys); tile++) load_tile(&work, head, tile);
#pragma omp for schedule(dynamic, 1)
    for (size_t i = 0; i < tiles; i++) attend_tile(&work, head, tiles - 1 - i);
  }
}

void RS_OF_REAL(rs_attend_forward)(const rs_attend *attend, const rs_attend_call *call, real *scratch) {
  size_t group = rs_alike_heads(attend);
  rs_attend_work work = work_of(attend, call, scratch, 0);
  for (size_t head = 0; head < attend->shape.heads; head += group) {
    if (call->threads > 1) {
      attend_shared(attend, call, head, scratch);
      continue;
    }
    for (size_t tile = 0; tile < rs_tiles_of(attend->shape.keys); tile++) load_tile(&work, head, tile);
    for (size_t tile = 0; tile < rs_tiles_of(attend->shape.queries); tile++) attend_tile(&work, head, tile);
  }
}
