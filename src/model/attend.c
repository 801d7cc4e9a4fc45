/* The tables of an attention at one length, made in double and kept in the numbers of the attention; and the sums of
 * gradients by what its encoding has learned. */
#include "attend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rs_status check(const rs_attend_shape *shape, rs_err *err) {
  const rs_encoding *encoding = shape->encoding;
  bool cross = shape->mask.kind == RS_CROSS;
  if (shape->queries < 1 || shape->keys < 1 || shape->queries > INT32_MAX / 2 || shape->keys > INT32_MAX / 2)
    return rs_fail(err, RS_INPUT, "attention of %zu queries and %zu keys: must be between 1 and %d", shape->queries,
                   shape->keys, INT32_MAX / 2);
  if (shape->kv_heads < 1 || shape->head_dim < 1 || shape->heads < 1 || shape->heads % shape->kv_heads != 0)
    return rs_fail(err, RS_INPUT, "%zu heads cannot share %zu heads of keys of %zu numbers", shape->heads,
                   shape->kv_heads, shape->head_dim);
  if (!cross && shape->queries != shape->keys)
    return rs_fail(err, RS_INPUT, "%zu queries of %zu keys: as many unless attention is across sequences",
                   shape->queries, shape->keys);
  if (encoding == NULL) return RS_OK;
  if (encoding->length != shape->queries || encoding->heads != shape->heads || encoding->head_dim != shape->head_dim)
    return rs_fail(err, RS_INPUT, "an encoding of %zu tokens for %zu heads of %zu cannot serve %zu tokens, %zu of %zu",
                   encoding->length, encoding->heads, encoding->head_dim, shape->queries, shape->heads,
                   shape->head_dim);
  if (rs_mask_sees_ahead(&shape->mask) && encoding->views > 1)
    return rs_fail(err, RS_UNSUPPORTED, "%s is defined for causal attention only", encoding->method->name);
  return RS_OK;
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

static void put(const rs_attend *attend, const double *from, size_t count, void *to, size_t place) {
  for (size_t i = 0; i < count; i++)
    if (attend->format == RS_F32)
      ((float *)to)[place + i] = (float)from[i];
    else
      ((double *)to)[place + i] = from[i];
}

/* Table number `table` of the turns of one side in one view. */
static void fill_table_of_turns(const rs_attend *attend, size_t table, rs_side side, size_t view) {
  const rs_encoding head = rs_encoding_of_head(attend->shape.encoding, table);
  size_t length = attend->shape.queries, pairs = attend->pairs, start = table * length * pairs;
  const rs_token_turns *turns = &attend->turns[side][view];
  double *cosine = attend->turn_room, *sine = cosine + RS_TILE * pairs;
  for (size_t begin = 0, end; begin < length; begin = end) {
    end = length - begin < RS_TILE ? length : begin + RS_TILE;
    rs_encoding_turns(&head, side, view, begin, end, cosine, sine);
    put(attend, cosine, (end - begin) * pairs, turns->cosine, start + begin * pairs);
    put(attend, sine, (end - begin) * pairs, turns->sine, start + begin * pairs);
  }
}

static void fill_turns(const rs_attend *attend) {
  for (size_t table = 0; table < attend->tables && attend->pairs > 0; table++)
    for (size_t view = 0; view < attend->views; view++) {
      fill_table_of_turns(attend, table, RS_QUERY_SIDE, view);
      fill_table_of_turns(attend, table, RS_KEY_SIDE, view);
    }
}

static void make_turns(rs_attend *attend) {
  size_t rows = attend->tables * attend->shape.queries, row = attend->pairs * attend->real_bytes;
  if (attend->pairs == 0) return;
  attend->turn_room = rs_arena_take(&attend->arena, 2 * RS_TILE, attend->pairs * sizeof(double));
  for (size_t i = 0; i < 2 * attend->views; i++) {
    rs_token_turns *turns = &attend->turns[i % 2][i / 2];
    turns->cosine = rs_arena_take(&attend->arena, rows, row);
    turns->sine = rs_arena_take(&attend->arena, rows, row);
  }
}

/* ---- scales and biases ------------------------------------------------------------------------------------------- */

static void fill_scales(rs_attend *attend) {
  const rs_attend_shape *shape = &attend->shape;
  double scale = shape->score_scale != 0 ? shape->score_scale : 1 / sqrt((double)shape->head_dim);
  for (size_t m = 0; m < shape->queries; m++)
    attend->scale[m] = scale * (shape->encoding != NULL ? shape->encoding->logit_scale[m] : 1);
}

/* Biases of one query to keys [begin, end). */
static void fill_row(rs_attend *attend, size_t head, size_t query, size_t begin, size_t end) {
  double row[RS_TILE];
  for (size_t key = begin, next; key < end; key = next) {
    next = end - key < RS_TILE ? end : key + RS_TILE;
    size_t place = rs_bias_place(attend, head, query, key);
    rs_encoding_bias_row(attend->shape.encoding, head, query, key, next, row);
    put(attend, row, next - key, attend->bias, place);
  }
}

/* All that one query sees. */
static void fill_seen(rs_attend *attend, size_t head, size_t query) {
  rs_range ranges[2];
  size_t count = rs_mask_ranges(&attend->shape.mask, attend->shape.keys, query, ranges);
  for (size_t r = 0; r < count; r++) fill_row(attend, head, query, ranges[r].begin, ranges[r].end);
}

/* The last query has every distance to keys before it, the first query to those behind. Else each query is asked for;
 * a long table, which takes milliseconds, by all threads. */
static void fill_table(rs_attend *attend, size_t head) {
  const rs_attend_shape *shape = &attend->shape;
  if (attend->store == RS_BIAS_BY_DISTANCE) {
    fill_row(attend, head, shape->queries - 1, 0, shape->keys);
    fill_row(attend, head, 0, 0, shape->keys);
    return;
  }
#pragma omp parallel for schedule(dynamic, RS_TILE) if (shape->queries > 2 * RS_TILE)
  for (size_t m = 0; m < shape->queries; m++) fill_seen(attend, head, m);
}

/* ---- vectors of distance ----------------------------------------------------------------------------------------- */

static void make_vectors(rs_attend *attend) {
  const rs_attend_shape *shape = &attend->shape;
  rs_attend_vectors *vectors = &attend->vectors;
  if (shape->encoding == NULL || shape->mask.kind == RS_CROSS) return;
  if (!rs_encoding_vectors(shape->encoding, &vectors->form)) return;
  size_t dims = shape->head_dim, bytes = attend->real_bytes;
  vectors->columns = rs_vector_columns(&vectors->form);
  size_t each = dims * vectors->columns, all = vectors->form.tables * each;
  vectors->room = rs_arena_take(&attend->arena, all, sizeof(double));
  vectors->turned = rs_arena_take(&attend->arena, all, bytes);
  vectors->rows = rs_arena_take(&attend->arena, all, bytes);
  if (vectors->form.added) vectors->added = rs_arena_take(&attend->arena, 2 * shape->heads * dims, bytes);
  if (!vectors->form.values) return;
  vectors->value_turned = rs_arena_take(&attend->arena, each, bytes);
  vectors->value_rows = rs_arena_take(&attend->arena, each, bytes);
}

/* The tables in the room, as they are and turned over. */
static void put_tables(const rs_attend *attend, size_t tables, void *turned, void *rows) {
  const rs_attend_vectors *vectors = &attend->vectors;
  size_t dims = attend->shape.head_dim, columns = vectors->columns, each = dims * columns;
  bool single = attend->format == RS_F32;
  const rs_net_kernel *net = single ? rs_kernels_get()->net_f32 : rs_kernels_get()->net_f64;
  put(attend, vectors->room, tables * each, turned, 0);
  for (size_t t = 0; t < tables; t++) {
    size_t start = t * each * attend->real_bytes;
    net->turn_over((const char *)turned + start, columns, dims, columns, (char *)rows + start, dims);
  }
}

static void fill_vectors(const rs_attend *attend) {
  const rs_attend_vectors *vectors = &attend->vectors;
  const rs_encoding *encoding = attend->shape.encoding;
  size_t dims = attend->shape.head_dim, heads = attend->shape.heads;
  if (vectors->columns == 0) return;
  rs_vector_part all = {0, vectors->form.tables, 0, vectors->columns};
  rs_encoding_vectors_fill(encoding, &all, vectors->room, vectors->columns);
  put_tables(attend, all.tables, vectors->turned, vectors->rows);
  for (size_t h = 0; h < heads && vectors->form.added; h++) {
    const double *u, *v;
    rs_encoding_vectors_added(encoding, h, &u, &v);
    put(attend, u, dims, vectors->added, h * dims);
    put(attend, v, dims, vectors->added, (heads + h) * dims);
  }
  if (!vectors->form.values) return;
  rs_encoding_vectors_values(encoding, vectors->room);
  put_tables(attend, 1, vectors->value_turned, vectors->value_rows);
}

/* What acts of what the encoding has learned. */
static void find_learned(rs_attend *attend) {
  rs_learned learned[RS_LEARNED];
  size_t count = attend->shape.encoding != NULL ? rs_encoding_learned(attend->shape.encoding, learned) : 0;
  for (size_t i = 0; i < count; i++) {
    attend->scale_learned |= rs_is_head_scale(&learned[i]);
    attend->bias_learned |= strncmp(learned[i].name, "bias.", 5) == 0 && attend->store != RS_BIAS_NONE;
  }
  attend->turns_learned = attend->pairs > 0 && rs_encoding_turns_learned(attend->shape.encoding);
}

static void make_biases(rs_attend *attend) {
  const rs_attend_shape *shape = &attend->shape;
  if (shape->encoding == NULL || shape->mask.kind == RS_CROSS || shape->encoding->method->bias == NULL) return;
  attend->store = RS_BIAS_BY_ROW;
  if (rs_encoding_bias_of_distance(shape->encoding)) {
    attend->store = RS_BIAS_BY_DISTANCE;
    attend->bias_size = shape->heads * (2 * shape->queries - 1);
  } else if (shape->heads <= RS_SQUARE_NUMBERS / shape->keys / shape->queries) {
    attend->store = RS_BIAS_SQUARE;
    attend->bias_size = shape->heads * shape->queries * shape->keys;
  }
  if (attend->bias_size > 0) attend->bias = rs_arena_take(&attend->arena, attend->bias_size, attend->real_bytes);
}

void rs_attend_refresh(rs_attend *attend) {
  const rs_attend_shape *shape = &attend->shape;
  if (attend->turns_learned) fill_turns(attend);
  fill_vectors(attend);
  for (size_t h = 0; h < shape->heads; h++) {
    attend->head_scale[h] = shape->encoding != NULL ? rs_encoding_head_scale(shape->encoding, h) : 1;
    if (attend->bias != NULL) fill_table(attend, h);
  }
}

/* ---- what queries see -------------------------------------------------------------------------------------------- */

/* Ranges of keys, each through one view of the encoding. Small beside the work on them, and the same for every sequence
 * and head. */

enum {
  RANGES = 2,
  STRIP = 16 /* rows or columns of a tile at a time where not all is seen: what nobody sees is left out */
};

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Adds to what the row sees. */
static void see(rs_sight *sight, size_t row, rs_range keys) {
  if (keys.begin >= keys.end) return;
  bool first = sight->begin == sight->end;
  sight->first[row] = (uint32_t)keys.begin;
  sight->stop[row] = (uint32_t)keys.end;
  if (first || keys.begin < sight->begin) sight->begin = (uint32_t)keys.begin;
  if (first || keys.end > sight->end) sight->end = (uint32_t)keys.end;
}

/* What the queries of one tile see, from sight number `count` on; empty sights are left out. Returns where they end. */
static size_t look_from(rs_attend *attend, size_t tile, size_t count) {
  rs_sight sights[RS_VIEWS][RANGES] = {0};
  rs_range seen[RS_VIEWS][RANGES];
  size_t first = tile * RS_TILE, end = smaller(first + RS_TILE, attend->shape.queries);
  for (size_t m = first; m < end; m++) {
    rs_mask_views(&attend->shape.mask, attend->views > 1 ? attend->shape.encoding : NULL, attend->shape.keys, m, seen);
    for (size_t i = 0; i < attend->views * RANGES; i++)
      see(&sights[i / RANGES][i % RANGES], m - first, seen[i / RANGES][i % RANGES]);
  }
  for (size_t i = 0; i < attend->views * RANGES; i++) {
    rs_sight *sight = &sights[i / RANGES][i % RANGES];
    sight->view = i / RANGES;
    if (sight->begin < sight->end) attend->sights[count++] = *sight;
  }
  return count;
}

/* What of `sight` lies in the walk's tile of keys; false: nothing. */
static bool cut(const rs_attend *attend, const rs_sight *sight, size_t query_tile, size_t key_tile, rs_tile *tile) {
  size_t query = query_tile * RS_TILE, key = key_tile * RS_TILE, seen = 0;
  tile->view = sight->view;
  tile->query = query;
  tile->key = key;
  tile->rows = smaller(RS_TILE, attend->shape.queries - query);
  tile->columns = smaller(RS_TILE, attend->shape.keys - key);
  for (size_t r = 0; r < tile->rows; r++) {
    size_t begin = larger(sight->first[r], key), end = smaller(sight->stop[r], key + tile->columns);
    tile->begin[r] = begin < end ? (uint32_t)(begin - key) : 0;
    tile->end[r] = begin < end ? (uint32_t)(end - key) : 0;
    seen += tile->end[r] - tile->begin[r];
  }
  tile->strip = seen == tile->rows * tile->columns ? RS_TILE : STRIP;
  return seen > 0;
}

rs_walk rs_walk_begin(const rs_attend *attend, size_t query_tile) {
  size_t sight = query_tile > 0 ? attend->sight_end[query_tile - 1] : 0;
  return (rs_walk){.query_tile = query_tile, .sight = sight, .key_tile = attend->sights[sight].begin / RS_TILE};
}

bool rs_walk_next(const rs_attend *attend, rs_walk *walk) {
  for (size_t end = attend->sight_end[walk->query_tile]; walk->sight < end;) {
    const rs_sight *sight = &attend->sights[walk->sight];
    if (walk->key_tile * RS_TILE >= sight->end) {
      if (++walk->sight < end) walk->key_tile = sight[1].begin / RS_TILE;
    } else if (cut(attend, sight, walk->query_tile, walk->key_tile++, &walk->tile)) {
      walk->count++;
      return true;
    }
  }
  return false;
}

size_t rs_tile_columns(const rs_tile *tile, size_t row, size_t count) {
  size_t end = 0;
  for (size_t r = row; r < row + count; r++) end = larger(end, tile->end[r]);
  return end;
}

rs_range rs_tile_rows(const rs_tile *tile, size_t column, size_t count) {
  rs_range rows = {0, 0};
  for (size_t r = 0; r < tile->rows; r++) {
    if (tile->begin[r] >= column + count || tile->end[r] <= column) continue;
    if (rows.end == 0) rows.begin = r;
    rows.end = r + 1;
  }
  return rows;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* The next `numbers` of scratch. Every part begins at a whole line, for a tile's numbers fill lines. */
static size_t reserve(size_t *end, size_t numbers) {
  size_t place = *end;
  *end += numbers;
  return place;
}

static void lay_out(rs_attend *attend) {
  size_t dims = attend->shape.head_dim, views = attend->views, square = RS_TILE * RS_TILE, tile = RS_TILE * dims;
  size_t all = rs_tiles_of(attend->shape.keys) * tile, end = 0, group = rs_alike_heads(attend);
  rs_attend_room *room = &attend->room;
  room->key_panels = reserve(&end, views * all);
  room->value_rows = reserve(&end, all);
  room->own = end;
  room->queries = reserve(&end, group * views * tile);
  room->out = reserve(&end, group * tile);
  room->logits = reserve(&end, square);
  room->rows = reserve(&end, group * RS_ROW_KINDS * RS_TILE);
  bool vectors = attend->vectors.columns > 0, added = attend->vectors.form.added;
  room->readers = added ? reserve(&end, group * tile) : room->queries;
  room->distances = reserve(&end, vectors ? 2 * square : 0);
  room->forward_end = end;
  room->keys = reserve(&end, views * all);
  room->values = reserve(&end, all);
  room->dlogits = reserve(&end, square);
  room->slopes = reserve(&end, attend->shape.soft_cap != 0 ? square : 0);
  room->dqueries = reserve(&end, views * tile);
  room->dreaders = added ? reserve(&end, tile) : room->dqueries;
  room->dkeys = reserve(&end, views * all);
  room->dvalues = reserve(&end, all);
  room->end = end;
}

static rs_status prepare(rs_attend *attend, rs_err *err) {
  const rs_attend_shape *shape = &attend->shape;
  size_t tiles = rs_tiles_of(shape->queries), sights = 0;
  attend->scale = rs_arena_take(&attend->arena, shape->queries, sizeof *attend->scale);
  attend->head_scale = rs_arena_take(&attend->arena, shape->heads, sizeof *attend->head_scale);
  attend->sight_end = rs_arena_take(&attend->arena, tiles, sizeof *attend->sight_end);
  attend->sights = rs_arena_take(&attend->arena, tiles, attend->views * RANGES * sizeof *attend->sights);
  make_turns(attend);
  make_biases(attend);
  make_vectors(attend);
  RS_TRY(rs_arena_check(&attend->arena, err));
  for (size_t tile = 0; tile < tiles; tile++) attend->sight_end[tile] = sights = look_from(attend, tile, sights);
  fill_turns(attend);
  fill_scales(attend);
  find_learned(attend);
  lay_out(attend);
  rs_attend_refresh(attend);
  return RS_OK;
}

rs_status rs_attend_create(const rs_attend_shape *shape, rs_format format, rs_attend **attend, rs_err *err) {
  *attend = NULL;
  RS_TRY(check(shape, err));
  rs_attend *fresh = rs_alloc(1, sizeof *fresh, err);
  if (fresh == NULL) return RS_MEMORY;
  bool turned = shape->encoding != NULL && shape->mask.kind != RS_CROSS && shape->encoding->rotary_dim > 0;
  *fresh = (rs_attend){.shape = *shape,
                       .format = format,
                       .real_bytes = format == RS_F32 ? sizeof(float) : sizeof(double),
                       .views = turned ? shape->encoding->views : 1,
                       .pairs = turned ? shape->encoding->rotary_dim / 2 : 0,
                       .tables = turned ? shape->encoding->tables : 1};
  rs_status status = prepare(fresh, err);
  if (status != RS_OK) {
    rs_attend_free(fresh);
    return status;
  }
  *attend = fresh;
  return RS_OK;
}

void rs_attend_free(rs_attend *attend) {
  if (attend == NULL) return;
  rs_arena_clear(&attend->arena);
  free(attend);
}

size_t rs_attend_scratch(const rs_attend *attend, bool training) {
  return training ? attend->room.end : attend->room.forward_end;
}

size_t rs_attend_own_scratch(const rs_attend *attend) {
  return attend->room.forward_end - attend->room.own;
}

/* ---- sums of gradients ------------------------------------------------------------------------------------------- */

/* Summed over sequences before they go to the encoding: a learned function of a distance is then asked for its gradient
 * once for each distance, not for each pair of tokens. */

/* The arrays of the encoding, with how many numbers each has. */
static size_t arrays_of(const rs_attend *attend, rs_learned learned[RS_LEARNED]) {
  return attend->shape.encoding != NULL ? rs_encoding_learned(attend->shape.encoding, learned) : 0;
}

/* One of the arrays that are zero before a batch. */
static void *take(rs_attend_sums *sums, size_t count, size_t size) {
  void *numbers = rs_arena_take(&sums->arena, count, size);
  sums->parts[sums->part_count++] = (rs_sums_part){numbers, count * size};
  return numbers;
}

static void make_vector_sums(const rs_attend *attend, rs_attend_sums *sums) {
  const rs_attend_vectors *vectors = &attend->vectors;
  size_t each = attend->shape.head_dim * vectors->columns;
  if (vectors->columns == 0) return;
  sums->vectors = take(sums, vectors->form.tables * each, attend->real_bytes);
  sums->room = rs_arena_take(&sums->arena, (vectors->form.tables + 1) * each, sizeof *sums->room);
  if (vectors->form.values) sums->value_vectors = take(sums, each, attend->real_bytes);
  if (vectors->form.added)
    sums->added = take(sums, 2 * attend->shape.heads * attend->shape.head_dim, sizeof *sums->added);
}

static void make_sums(const rs_attend *attend, rs_attend_sums *sums) {
  const rs_attend_shape *shape = &attend->shape;
  rs_learned learned[RS_LEARNED];
  size_t count = arrays_of(attend, learned);
  sums->head_scale = take(sums, shape->heads, sizeof *sums->head_scale);
  if (attend->turns_learned)
    sums->turns = take(sums, shape->heads * shape->queries * attend->pairs, sizeof *sums->turns);
  make_vector_sums(attend, sums);
  if (!attend->bias_learned) return;
  if (attend->bias_size > 0) sums->bias = take(sums, attend->bias_size, attend->real_bytes);
  for (size_t i = 0; i < count && attend->store == RS_BIAS_BY_ROW; i++)
    sums->learned[i] = take(sums, learned[i].rows * learned[i].columns, sizeof(double));
}

rs_status rs_attend_sums_create(const rs_attend *attend, rs_attend_sums **sums, rs_err *err) {
  *sums = NULL;
  if (!attend->bias_learned && !attend->scale_learned && !attend->turns_learned && attend->vectors.columns == 0)
    return RS_OK;
  rs_attend_sums *fresh = rs_alloc(1, sizeof *fresh, err);
  if (fresh == NULL) return RS_MEMORY;
  make_sums(attend, fresh);
  rs_status status = rs_arena_check(&fresh->arena, err);
  if (status == RS_OK)
    *sums = fresh;
  else
    rs_attend_sums_free(fresh);
  return status;
}

void rs_attend_sums_free(rs_attend_sums *sums) {
  if (sums == NULL) return;
  rs_arena_clear(&sums->arena);
  free(sums);
}

void rs_attend_sums_reset(rs_attend_sums *sums) {
  for (size_t i = 0; i < sums->part_count; i++) memset(sums->parts[i].numbers, 0, sums->parts[i].bytes);
}

static void add(const double *from, size_t count, double *into) {
  for (size_t i = 0; i < count; i++) into[i] += from[i];
}

/* Sums of the biases of one query to keys [begin, end). */
static void pass_row(const rs_attend *attend, const rs_attend_sums *sums, size_t head, size_t query, size_t begin,
                     size_t end, double *const *learned) {
  double row[RS_TILE];
  for (size_t key = begin, next; key < end; key = next) {
    next = end - key < RS_TILE ? end : key + RS_TILE;
    size_t place = rs_bias_place(attend, head, query, key);
    for (size_t i = 0; i < next - key; i++)
      row[i] =
          attend->format == RS_F32 ? ((const float *)sums->bias)[place + i] : ((const double *)sums->bias)[place + i];
    rs_encoding_bias_gradient(attend->shape.encoding, head, query, key, next, row, learned);
  }
}

static void pass_table(const rs_attend *attend, const rs_attend_sums *sums, size_t head, double *const *learned) {
  const rs_attend_shape *shape = &attend->shape;
  rs_range ranges[2];
  if (attend->store == RS_BIAS_BY_DISTANCE) {
    pass_row(attend, sums, head, shape->queries - 1, 0, shape->keys, learned);
    pass_row(attend, sums, head, 0, 1, shape->keys, learned); /* distance 0 has been passed */
    return;
  }
  for (size_t m = 0; m < shape->queries; m++) {
    size_t count = rs_mask_ranges(&shape->mask, shape->keys, m, ranges);
    for (size_t r = 0; r < count; r++) pass_row(attend, sums, head, m, ranges[r].begin, ranges[r].end, learned);
  }
}

static void widen(const rs_attend *attend, const void *from, size_t count, double *to) {
  for (size_t i = 0; i < count; i++)
    to[i] = attend->format == RS_F32 ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

static void pass_vectors(const rs_attend *attend, const rs_attend_sums *sums, double *const *learned) {
  const rs_attend_vectors *vectors = &attend->vectors;
  size_t each = attend->shape.head_dim * vectors->columns, all = vectors->form.tables * each;
  rs_vector_gradients by = {.r = sums->room};
  widen(attend, sums->vectors, all, sums->room);
  if (vectors->form.added) by.u = sums->added, by.v = sums->added + attend->shape.heads * attend->shape.head_dim;
  if (vectors->form.values) {
    widen(attend, sums->value_vectors, each, sums->room + all);
    by.values = sums->room + all;
  }
  rs_encoding_vectors_gradient(attend->shape.encoding, &by, learned);
}

void rs_attend_sums_finish(const rs_attend *attend, const rs_attend_sums *sums, double *const *learned) {
  rs_learned arrays[RS_LEARNED];
  size_t count = arrays_of(attend, arrays);
  size_t length = attend->shape.queries;
  for (size_t h = 0; h < attend->shape.heads && sums->turns != NULL; h++)
    rs_encoding_turn_gradient(attend->shape.encoding, h, 0, length, sums->turns + h * length * attend->pairs, learned);
  if (sums->vectors != NULL) pass_vectors(attend, sums, learned);
  for (size_t h = 0; h < attend->shape.heads && sums->bias != NULL; h++) pass_table(attend, sums, h, learned);
  for (size_t i = 0; i < count; i++) {
    if (sums->learned[i] != NULL) add(sums->learned[i], arrays[i].rows * arrays[i].columns, learned[i]);
    if (rs_is_head_scale(&arrays[i])) add(sums->head_scale, attend->shape.heads, learned[i]);
  }
}
