/* What queries see, tile by tile: ranges of keys, each through one view of the encoding. Small beside the work on them,
 * and the same for every sequence and head. */
#include "attend.h"

enum {
  RANGES = 2,
  STRIP = 16 /* rows or columns of a tile at a time where not all is seen: what nobody sees is left out */
};

/* Adds keys [begin, end) to what one query sees. */
static void see(rs_sight *sight, size_t row, size_t begin, size_t end) {
  if (begin >= end) return;
  bool first = sight->begin == sight->end;
  sight->first[row] = (uint32_t)begin;
  sight->stop[row] = (uint32_t)end;
  if (first || begin < sight->begin) sight->begin = (uint32_t)begin;
  if (first || end > sight->end) sight->end = (uint32_t)end;
}

/* The keys of query m in segments of views. Where nothing is turned there is one. */
static size_t segments_of(const rs_attend *attend, size_t query, rs_segment out[RS_VIEWS]) {
  if (attend->views > 1) return rs_encoding_segments(attend->shape.encoding, query, out);
  out[0] = (rs_segment){0, attend->shape.keys, 0};
  return 1;
}

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Each range of the mask, cut by each view. */
static void look(const rs_attend *attend, size_t query, size_t row, rs_sight sights[RS_VIEWS][RANGES]) {
  rs_range ranges[RANGES];
  rs_segment segments[RS_VIEWS];
  size_t range_count = rs_mask_ranges(&attend->shape.mask, attend->shape.keys, query, ranges);
  size_t segment_count = segments_of(attend, query, segments);
  for (size_t s = 0; s < segment_count; s++)
    for (size_t r = 0; r < range_count; r++)
      see(&sights[segments[s].view][r], row, larger(segments[s].begin, ranges[r].begin),
          smaller(segments[s].end, ranges[r].end));
}

/* What the queries of one tile see; empty sights are left out. */
static rs_status look_from(rs_attend *attend, size_t tile, size_t *capacity, rs_err *err) {
  rs_sight sights[RS_VIEWS][RANGES] = {0};
  size_t first = tile * RS_TILE, end = smaller(first + RS_TILE, attend->shape.queries);
  for (size_t m = first; m < end; m++) look(attend, m, m - first, sights);
  size_t count = tile > 0 ? attend->sight_end[tile - 1] : 0;
  RS_TRY(RS_GROW(attend->sights, capacity, count + RS_VIEWS * RANGES, err));
  for (size_t view = 0; view < attend->views; view++)
    for (size_t r = 0; r < RANGES; r++) {
      sights[view][r].view = view;
      if (sights[view][r].begin < sights[view][r].end) attend->sights[count++] = sights[view][r];
    }
  attend->sight_end[tile] = count;
  return RS_OK;
}

rs_status rs_attend_look(rs_attend *attend, rs_err *err) {
  size_t tiles = rs_tiles_of(attend->shape.queries), capacity = 0;
  attend->sight_end = rs_alloc(tiles, sizeof *attend->sight_end, err);
  if (attend->sight_end == NULL) return RS_MEMORY;
  for (size_t tile = 0; tile < tiles; tile++) RS_TRY(look_from(attend, tile, &capacity, err));
  return RS_OK;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

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
