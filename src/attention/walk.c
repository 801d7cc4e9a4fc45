/* A block of query tiles walks over the keys: through one view and one range of the mask after the other, from the
 * query's own place outwards, so that the largest logits tend to come first. */
#include "engine.h"

#include <math.h>

/* ---- what each lane sees ----------------------------------------------------------------------------------------- */

static rs_range intersect(rs_range a, rs_range b) {
  rs_range both = {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
  return both.begin < both.end ? both : (rs_range){0, 0};
}

/* The part of query m's keys that lies in range number `r` of its mask and is read through `view`. */
static rs_range lane_range(const rs_loaded_job *loaded, size_t query, size_t view, size_t r) {
  const rs_encoding *encoding = loaded->job.encoding;
  rs_segment segments[RS_VIEWS];
  rs_range seen[2];
  if (r >= rs_mask_ranges(&loaded->job.mask, encoding->length, query, seen)) return (rs_range){0, 0};
  if (loaded->views == 1) return seen[r];
  size_t count = rs_encoding_segments(encoding, query, segments);
  for (size_t s = 0; s < count; s++)
    if (segments[s].view == view) return intersect((rs_range){segments[s].begin, segments[s].end}, seen[r]);
  return (rs_range){0, 0};
}

/* Views of the last query's segments from the nearest to the farthest, then those it does not read. */
static void order_views(const rs_loaded_job *loaded, size_t query, size_t order[RS_VIEWS]) {
  rs_segment segments[RS_VIEWS];
  size_t views = loaded->views, count = 0, found = 0;
  bool listed[RS_VIEWS] = {false};
  if (views > 1) count = rs_encoding_segments(loaded->job.encoding, query, segments);
  for (size_t s = count; s-- > 0;)
    if (!listed[segments[s].view]) {
      listed[segments[s].view] = true;
      order[found++] = segments[s].view;
    }
  for (size_t v = 0; v < views; v++)
    if (!listed[v]) order[found++] = v;
}

/* The lanes' keys of one view and range into the call; returns what covers them. */
static rs_range set_ranges(const rs_loaded_job *loaded, const rs_tile *tile, size_t view, size_t r,
                           rs_score_call *call) {
  rs_range all = {SIZE_MAX, 0};
  for (size_t lane = 0; lane < loaded->kernel->lanes; lane++) {
    size_t m = rs_lane_position(loaded, tile, lane);
    rs_range range = lane_range(loaded, m, view, r);
    call->begin[lane] = (int32_t)range.begin;
    call->stop[lane] = (int32_t)range.end;
    call->position[lane] = (int32_t)m;
    if (range.begin == range.end) continue;
    all.begin = range.begin < all.begin ? range.begin : all.begin;
    all.end = range.end > all.end ? range.end : all.end;
  }
  return all.begin < all.end ? all : (rs_range){0, 0};
}

/* ---- bias -------------------------------------------------------------------------------------------------------- */

/* Where the kernel finds the bias of panels [call->first, call->end). */
void rs_part_set_bias(rs_worker *worker, const rs_tile *tile, rs_score_call *call) {
  const rs_loaded_job *loaded = worker->loaded;
  const rs_bias_table *bias = &loaded->bias;
  size_t length = loaded->job.encoding->length, bytes = loaded->kernel->real_bytes;
  rs_range keys = {call->first * loaded->kernel->rows, call->end * loaded->kernel->rows};
  if (!bias->any) return;
  if (!rs_tile_needs_bias(loaded, tile)) {
    call->bias = (const char *)bias->table.data + (bias->origin + loaded->job.queries[tile->first]) * bytes;
    call->bias_step = -1;
    return;
  }
  if (keys.end > length) keys.end = length;
  rs_bias_block(worker, tile, keys);
  call->bias = worker->bias.data;
  call->bias_key = (ptrdiff_t)keys.begin;
  call->bias_step = (ptrdiff_t)loaded->kernel->lanes;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

/* One view and one range of the mask for a block of tiles. */
typedef struct walk {
  rs_worker *worker;
  size_t tiles;
  rs_range keys; /* of the panels that are walked over */
  bool down;     /* towards earlier ones */
  rs_tile_part parts[RS_TILES];
} walk;

/* The part of a tile for range number `r` of its mask. */
rs_tile_part rs_part_make(const rs_worker *worker, const rs_tile *tile, size_t view, size_t r) {
  const rs_loaded_job *loaded = worker->loaded;
  const rs_attention_job *job = &loaded->job;
  rs_tile_part part = {.view = view};
  const char *keys = loaded->keys.data;
  part.call = (rs_score_call){.queries = rs_tile_queries(loaded, tile, view),
                              .keys = keys + view * rs_view_reals(loaded) * loaded->kernel->real_bytes,
                              .dims = loaded->dims,
                              .used = tile->count,
                              .sinks = (int32_t)job->sinks,
                              .bins = job->bins,
                              .edges = job->edges,
                              .bin_of = loaded->bin_of,
                              .cap = job->soft_cap * M_LOG2E,
                              .ranks = job->needle_at != NULL,
                              .scratch = worker->scratch.data};
  part.keys = set_ranges(loaded, tile, view, r, &part.call);
  return part;
}

/* The keys of a part that are still to come when the call's panels are. */
static rs_range left_of(const walk *w, const rs_tile_part *part) {
  size_t rows = w->worker->loaded->kernel->rows;
  rs_range left = intersect(part->keys, w->keys);
  if (w->down)
    left.end = part->call.end * rows;
  else
    left.begin = part->call.first * rows;
  return left;
}

/* One tile against panels [first, end). */
static void walk_tile(walk *w, size_t t, size_t first, size_t end) {
  const rs_loaded_job *loaded = w->worker->loaded;
  rs_tile *tile = &w->worker->tiles[t];
  rs_tile_part *part = &w->parts[t];
  rs_score_call *call = &part->call;
  size_t rows = loaded->kernel->rows, begin = part->keys.begin / rows, stop = (part->keys.end + rows - 1) / rows;
  call->first = first > begin ? first : begin;
  call->end = end < stop ? end : stop;
  if (part->done || call->first >= call->end) return;
  if (rs_may_skip(loaded) && rs_tile_skips(loaded, tile, part, left_of(w, part), w->down)) return;
  rs_part_set_bias(w->worker, tile, call);
  loaded->kernel->walk(call, &tile->state);
}

static void turn_walk(walk *w, bool down) {
  w->down = down;
  for (size_t t = 0; t < w->tiles; t++) w->parts[t].done = false;
}

/* Over the panels: first from the block's own place down, then up from it. */
static void walk_panels(walk *w, rs_range panels) {
  const rs_loaded_job *loaded = w->worker->loaded;
  size_t each = rs_block_panels(loaded);
  const rs_tile *last = &w->worker->tiles[w->tiles - 1];
  size_t position = loaded->job.queries[last->first + last->count - 1];
  size_t past = position / loaded->kernel->rows / each * each + each; /* the own panels */
  size_t pivot = past < panels.end ? past : panels.end;
  w->keys = (rs_range){panels.begin * loaded->kernel->rows, panels.end * loaded->kernel->rows};
  turn_walk(w, true);
  for (size_t end = pivot; end > panels.begin; end = (end - 1) / each * each)
    for (size_t t = 0; t < w->tiles; t++) {
      size_t first = (end - 1) / each * each;
      walk_tile(w, t, first > panels.begin ? first : panels.begin, end);
    }
  turn_walk(w, false);
  for (size_t first = pivot > panels.begin ? pivot : panels.begin; first < panels.end;
       first = (first / each + 1) * each)
    for (size_t t = 0; t < w->tiles; t++) {
      size_t end = (first / each + 1) * each;
      walk_tile(w, t, first, end < panels.end ? end : panels.end);
    }
}

/* A block of tiles, unless the worker has just walked them over other keys. Returns how many they are. */
static size_t place_block(rs_worker *worker, rs_range queries, bool far) {
  const rs_loaded_job *loaded = worker->loaded;
  size_t lanes = loaded->kernel->lanes, tiles = (queries.end - queries.begin + lanes - 1) / lanes;
  bool floors = far && rs_may_skip(loaded) && loaded->job.mask.kind != RS_CROSS;
  bool there = worker->first == queries.begin && worker->end == queries.end;
  for (size_t t = 0; t < tiles; t++) {
    rs_tile *tile = &worker->tiles[t];
    size_t first = queries.begin + t * lanes, left = queries.end - first;
    if (!there) rs_tile_place(worker, tile, first, left < lanes ? left : lanes);
    if (!there && floors) rs_tile_set_floors(worker, tile);
    rs_tile_reset(loaded, tile);
  }
  worker->first = queries.begin;
  worker->end = queries.end;
  return tiles;
}

void rs_walk_block(rs_worker *worker, rs_range queries, rs_range panels) {
  const rs_loaded_job *loaded = worker->loaded;
  size_t order[RS_VIEWS];
  bool all = panels.begin == 0 && panels.end == loaded->panels;
  walk w = {.worker = worker, .tiles = place_block(worker, queries, !all)};
  order_views(loaded, loaded->job.queries[queries.end - 1], order);
  for (size_t v = 0; v < loaded->views; v++)
    for (size_t r = 2; r-- > 0;) {
      for (size_t t = 0; t < w.tiles; t++) w.parts[t] = rs_part_make(worker, &worker->tiles[t], order[v], r);
      walk_panels(&w, panels);
    }
}
