/* The tables of an attention at one length, made in double and kept in the numbers of the attention. */
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

static rs_status make_turns(rs_attend *attend, rs_err *err) {
  size_t rows = attend->tables * attend->shape.queries, row = attend->pairs * attend->real_bytes;
  if (attend->pairs == 0) return RS_OK;
  attend->turn_room = rs_alloc(2 * RS_TILE, attend->pairs * sizeof(double), err);
  if (attend->turn_room == NULL) return RS_MEMORY;
  for (size_t i = 0; i < 2 * attend->views; i++) {
    rs_token_turns *turns = &attend->turns[i % 2][i / 2];
    turns->cosine = rs_alloc(rows, row, err);
    turns->sine = rs_alloc(rows, row, err);
    if (turns->cosine == NULL || turns->sine == NULL) return RS_MEMORY;
  }
  fill_turns(attend);
  return RS_OK;
}

/* ---- scales and biases ------------------------------------------------------------------------------------------- */

static rs_status fill_scales(rs_attend *attend, rs_err *err) {
  const rs_attend_shape *shape = &attend->shape;
  double scale = shape->score_scale != 0 ? shape->score_scale : 1 / sqrt((double)shape->head_dim);
  attend->scale = rs_alloc(shape->queries, sizeof *attend->scale, err);
  attend->head_scale = rs_alloc(shape->heads, sizeof *attend->head_scale, err);
  if (attend->scale == NULL || attend->head_scale == NULL) return RS_MEMORY;
  for (size_t m = 0; m < shape->queries; m++)
    attend->scale[m] = scale * (shape->encoding != NULL ? shape->encoding->logit_scale[m] : 1);
  return RS_OK;
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

static rs_status make_biases(rs_attend *attend, rs_err *err) {
  const rs_attend_shape *shape = &attend->shape;
  if (shape->encoding == NULL || shape->mask.kind == RS_CROSS || shape->encoding->method->bias == NULL) return RS_OK;
  attend->store = RS_BIAS_BY_ROW;
  if (rs_encoding_bias_of_distance(shape->encoding)) {
    attend->store = RS_BIAS_BY_DISTANCE;
    attend->bias_size = shape->heads * (2 * shape->queries - 1);
  } else if (shape->heads <= RS_SQUARE_NUMBERS / shape->keys / shape->queries) {
    attend->store = RS_BIAS_SQUARE;
    attend->bias_size = shape->heads * shape->queries * shape->keys;
  }
  if (attend->bias_size > 0) attend->bias = rs_alloc(attend->bias_size, attend->real_bytes, err);
  return attend->bias_size == 0 || attend->bias != NULL ? RS_OK : RS_MEMORY;
}

void rs_attend_refresh(rs_attend *attend) {
  const rs_attend_shape *shape = &attend->shape;
  if (attend->turns_learned) fill_turns(attend);
  for (size_t h = 0; h < shape->heads; h++) {
    attend->head_scale[h] = shape->encoding != NULL ? rs_encoding_head_scale(shape->encoding, h) : 1;
    if (attend->bias != NULL) fill_table(attend, h);
  }
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
  room->forward_end = end;
  room->keys = reserve(&end, views * all);
  room->values = reserve(&end, all);
  room->dlogits = reserve(&end, square);
  room->slopes = reserve(&end, attend->shape.soft_cap != 0 ? square : 0);
  room->dqueries = reserve(&end, views * tile);
  room->dkeys = reserve(&end, views * all);
  room->dvalues = reserve(&end, all);
  room->end = end;
}

static rs_status prepare(rs_attend *attend, rs_err *err) {
  RS_TRY(make_turns(attend, err));
  RS_TRY(fill_scales(attend, err));
  RS_TRY(make_biases(attend, err));
  RS_TRY(rs_attend_look(attend, err));
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
  for (size_t i = 0; i < 2 * RS_VIEWS; i++) {
    free(attend->turns[i % 2][i / 2].cosine);
    free(attend->turns[i % 2][i / 2].sine);
  }
  free(attend->turn_room);
  free(attend->scale);
  free(attend->head_scale);
  free(attend->bias);
  free(attend->sights);
  free(attend->sight_end);
  free(attend);
}

size_t rs_attend_scratch(const rs_attend *attend, bool training) {
  return training ? attend->room.end : attend->room.forward_end;
}

size_t rs_attend_own_scratch(const rs_attend *attend) {
  return attend->room.forward_end - attend->room.own;
}
