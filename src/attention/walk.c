/* A block of query tiles walks over the keys: through one view and one range of the mask after the other, from the
 * query's own place outwards, so that the largest logits tend to come first. */
#include "engine.h"

#include <math.h>
#include <string.h>

/* ---- tiles of queries -------------------------------------------------------------------------------------------- */

static const double ROUNDED = 1 + 1e-6; /* a norm that float queries cannot exceed */

/* Real [D][lanes]: the queries of a tile as one view rotates them. */
static char *queries_of(const rs_loaded_job *loaded, const rs_tile *tile, size_t view) {
  return tile->queries + view * loaded->kernel->lanes * loaded->dims * loaded->kernel->real_bytes;
}

/* Puts x (D) * factor into one lane of `packed` (D, lanes); returns its norm. */
static double pack(const rs_loaded_job *loaded, const double *x, double factor, size_t lane, void *packed) {
  size_t dims = loaded->dims, lanes = loaded->kernel->lanes, bytes = loaded->kernel->real_bytes;
  double squares = 0;
  for (size_t d = 0; d < dims; d++) {
    double value = factor * x[d];
    rs_real_put(packed, bytes, d * lanes + lane, value);
    squares += value * value;
  }
  return sqrt(squares);
}

static void pack_queries(const rs_worker *worker, rs_tile *tile) {
  const rs_loaded_job *loaded = worker->loaded;
  const rs_encoding *encoding = loaded->job.encoding;
  double of_head = rs_encoding_head_scale(encoding, loaded->job.head);
  for (size_t v = 0; v < loaded->views; v++)
    for (size_t lane = 0; lane < loaded->kernel->lanes; lane++) {
      const double *turned = rs_turn_query(worker, v, rs_lane_query(tile, lane));
      double scale = of_head * encoding->logit_scale[rs_lane_position(loaded, tile, lane)];
      double factor = scale * M_LOG2E / sqrt((double)loaded->dims);
      tile->norm[v][lane] = pack(loaded, turned, factor, lane, queries_of(loaded, tile, v)) * ROUNDED;
    }
}

/* ---- single keys beside a tile ----------------------------------------------------------------------------------- */

/* One lane's query and the content `key` (D) at `position`, side by side for the kernel's dot. */
static void pair_up(const rs_worker *worker, const rs_tile *tile, size_t lane, size_t position, const double *key) {
  const rs_loaded_job *loaded = worker->loaded;
  size_t lanes = loaded->kernel->lanes, bytes = loaded->kernel->real_bytes, reals = lanes * loaded->dims;
  size_t m = rs_lane_position(loaded, tile, lane);
  size_t view = loaded->views > 1 && position <= m ? rs_encoding_view(loaded->job.encoding, m, position) : 0;
  const char *from = queries_of(loaded, tile, view);
  char *queries = worker->pairs;
  for (size_t d = lane; d < reals; d += lanes) memcpy(queries + d * bytes, from + d * bytes, bytes);
  pack(loaded, rs_turn_keys(worker, view, position, position + 1, key), 1, lane, queries + reals * bytes);
}

static void dot_pairs(const rs_worker *worker, double *dots) {
  const rs_score_kernel *kernel = worker->loaded->kernel;
  const char *queries = worker->pairs;
  size_t dims = worker->loaded->dims;
  kernel->dot(queries, queries + kernel->lanes * dims * kernel->real_bytes, dims,
              worker->loaded->job.soft_cap * M_LOG2E, dots);
}

/* Whether the mask shows the key at position `key` to the query at position `query`. */
static bool sees(const rs_attention_job *job, size_t query, size_t key) {
  rs_range seen[2];
  size_t ranges = rs_mask_ranges(&job->mask, job->encoding->length, query, seen);
  for (size_t r = 0; r < ranges; r++)
    if (key >= seen[r].begin && key < seen[r].end) return true;
  return false;
}

/* The logits of a tile's needles, with the roundings of any other key's: a copy of a key ties with it. Lanes without a
 * needle score their own key, which nobody asks for. */
static void score_needles(const rs_worker *worker, rs_tile *tile) {
  const rs_loaded_job *loaded = worker->loaded;
  const rs_attention_job *job = &loaded->job;
  bool single = loaded->kernel->real_bytes == sizeof(float);
  double dots[RS_SCORE_LANES];
  for (size_t lane = 0; lane < loaded->kernel->lanes; lane++) {
    size_t i = rs_lane_query(tile, lane), position = job->needle_at[i];
    if (position == RS_NO_NEEDLE) position = job->queries[i];
    bool added = job->needle_key != NULL && job->needle_at[i] != RS_NO_NEEDLE;
    pair_up(worker, tile, lane, position,
            added ? job->needle_key + i * loaded->dims : job->k + position * loaded->dims);
  }
  dot_pairs(worker, dots);
  for (size_t lane = 0; lane < loaded->kernel->lanes; lane++) {
    size_t i = rs_lane_query(tile, lane), position = job->needle_at[i];
    const double *key = job->needle_key != NULL ? job->needle_key + i * loaded->dims : job->k + position * loaded->dims;
    double bias = 0;
    if (position == RS_NO_NEEDLE) continue;
    if (rs_job_adds(loaded)) rs_added_to_query(loaded, i, position, position + 1, key, &bias);
    tile->has_needle[lane] = sees(job, job->queries[i], position);
    tile->needle_logit[lane] = single ? (double)((float)dots[lane] + (float)bias) : dots[lane] + bias;
  }
}

/* The largest logit is at least that of the query's own key, which every mask within a sequence shows; its bias is what
 * all are relative to. For tiles that begin with far keys. */
static void set_floors(rs_worker *worker, rs_tile *tile) {
  const rs_loaded_job *loaded = worker->loaded;
  double dots[RS_SCORE_LANES];
  for (size_t lane = 0; lane < loaded->kernel->lanes; lane++) {
    size_t m = rs_lane_position(loaded, tile, lane);
    pair_up(worker, tile, lane, m, loaded->job.k + m * loaded->dims);
  }
  dot_pairs(worker, dots);
  for (size_t lane = 0; lane < loaded->kernel->lanes; lane++) tile->floor[lane] = dots[lane] - loaded->error * M_LOG2E;
}

/* ---- from before the walk to after it ---------------------------------------------------------------------------- */

void rs_tile_place(rs_worker *worker, rs_tile *tile, size_t first, size_t count) {
  const rs_attention_job *job = &worker->loaded->job;
  const rs_loaded_job *loaded = worker->loaded;
  tile->first = first;
  tile->count = count;
  tile->consecutive = job->queries[first + count - 1] - job->queries[first] == count - 1;
  for (size_t lane = 0; lane < RS_SCORE_LANES; lane++) {
    tile->has_needle[lane] = false;
    tile->floor[lane] = -INFINITY;
  }
  for (size_t lane = 0; lane < count; lane++) tile->keys[lane] = rs_job_pairs(job, first + lane, 1);
  pack_queries(worker, tile);
  if (rs_job_adds(loaded) && !(rs_job_adds_by_distance(loaded) && tile->consecutive))
    rs_tile_set_own_bias(loaded, tile);
  if (job->needle_at != NULL) score_needles(worker, tile);
}

/* Nothing seen yet. */
static void reset(const rs_loaded_job *loaded, rs_tile *tile) {
  rs_score_state_reset(&tile->state, loaded->job.bins, loaded->kernel->lanes);
  for (size_t lane = 0; lane < RS_SCORE_LANES; lane++) {
    tile->skipped[lane] = tile->certified[lane] = 0;
    tile->state.needle[lane] = tile->has_needle[lane] ? tile->needle_logit[lane] : INFINITY;
  }
}

void rs_tile_join(const rs_loaded_job *loaded, rs_tile *into, const rs_tile *from) {
  rs_score_state_join(&into->state, &from->state, loaded->job.bins, loaded->kernel->lanes, into->count);
  for (size_t lane = 0; lane < into->count; lane++) {
    into->certified[lane] += from->certified[lane];
    into->skipped[lane] += from->skipped[lane];
  }
}

/* ---- what may be left out ---------------------------------------------------------------------------------------- */

/* Whether any keys of the job may be left out. */
static bool may_skip(const rs_loaded_job *loaded) {
  return loaded->job.epsilon > 0 && !loaded->job.moments && (!rs_job_adds(loaded) || rs_job_adds_by_distance(loaded));
}

/* The largest bias of the lanes against the keys, bits. */
static double largest_bias(const rs_bias_table *bias, const rs_score_call *call, size_t lanes, rs_range keys) {
  double most = -INFINITY;
  if (!bias->any) return 0;
  for (size_t lane = 0; lane < lanes; lane++) {
    size_t m = (size_t)call->position[lane];
    if (keys.end <= m + 1)
      most = fmax(most, bias->past[m + 1 - keys.end]);
    else if (keys.begin >= m)
      most = fmax(most, bias->future[keys.begin - m]);
    else
      most = fmax(most, fmax(bias->past[0], bias->future[0]));
  }
  return most;
}

/* How many of the keys a lane sees. */
static double seen(const rs_score_call *call, size_t lane, rs_range keys) {
  size_t from = (size_t)call->begin[lane] > keys.begin ? (size_t)call->begin[lane] : keys.begin;
  size_t to = (size_t)call->stop[lane] < keys.end ? (size_t)call->stop[lane] : keys.end;
  return from < to ? (double)(to - from) : 0;
}

/* What the largest logit of a lane is known to reach. */
static double largest_known(const rs_tile *tile, size_t lane) {
  return fmax(tile->state.top[lane], tile->floor[lane]);
}

/* Whether the keys, whose norms are at most `norm`, can be left out; then they are. */
static bool leave_out(const rs_loaded_job *loaded, rs_tile *tile, const rs_tile_part *part, double norm,
                      rs_range keys) {
  double bias = largest_bias(&loaded->bias, &part->call, tile->count, keys);
  const double *query_norm = tile->norm[part->view];
  for (size_t lane = 0; lane < tile->count; lane++) {
    double most = query_norm[lane] * norm + bias, room = most - largest_known(tile, lane);
    if (!(tile->keys[lane] * exp2(room) <= loaded->job.epsilon)) return false;
    if (tile->has_needle[lane] && most >= tile->needle_logit[lane]) return false;
  }
  for (size_t lane = 0; lane < tile->count; lane++) {
    double count = seen(&part->call, lane, keys), most = query_norm[lane] * norm + bias;
    tile->certified[lane] += count * exp2(most - largest_known(tile, lane));
    tile->skipped[lane] += count;
  }
  return true;
}

/* Whether the call's panels cannot matter, or even (part->done) none of `side`, the keys that are still to come with
 * theirs: those before (`down`) or after them. The largest possible weight of what is left out is added to
 * tile->certified. */
static bool skips(const rs_loaded_job *loaded, rs_tile *tile, rs_tile_part *part, rs_range side, bool down) {
  const rs_score_call *call = &part->call;
  size_t rows = loaded->kernel->rows, panels = loaded->panels;
  const double *so_far = loaded->norm_so_far + part->view * panels, *norm = loaded->norm + part->view * panels;
  rs_range here = {call->first * rows, call->end * rows};
  part->done = leave_out(loaded, tile, part, so_far[down ? call->end - 1 : panels - 1], side);
  if (part->done) return true;
  double most = 0;
  for (size_t p = call->first; p < call->end; p++) most = norm[p] > most ? norm[p] : most;
  return leave_out(loaded, tile, part, most, here);
}

/* ---- what each lane sees ----------------------------------------------------------------------------------------- */

static rs_range intersect(rs_range a, rs_range b) {
  rs_range both = {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
  return both.begin < both.end ? both : (rs_range){0, 0};
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
  rs_range all = {SIZE_MAX, 0}, seen[RS_VIEWS][2];
  for (size_t lane = 0; lane < loaded->kernel->lanes; lane++) {
    size_t m = rs_lane_position(loaded, tile, lane);
    rs_mask_views(&loaded->job.mask, loaded->views > 1 ? loaded->job.encoding : NULL, loaded->job.encoding->length, m,
                  seen);
    rs_range range = seen[view][r];
    call->begin[lane] = (int32_t)range.begin;
    call->stop[lane] = (int32_t)range.end;
    call->position[lane] = (int32_t)m;
    if (range.begin == range.end) continue;
    all.begin = range.begin < all.begin ? range.begin : all.begin;
    all.end = range.end > all.end ? range.end : all.end;
  }
  return all.begin < all.end ? all : (rs_range){0, 0};
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
rs_tile_part rs_tile_see(const rs_worker *worker, const rs_tile *tile, size_t view, size_t r) {
  const rs_loaded_job *loaded = worker->loaded;
  const rs_attention_job *job = &loaded->job;
  rs_tile_part part = {.view = view};
  const char *keys = loaded->keys.data;
  part.call = (rs_score_call){.queries = queries_of(loaded, tile, view),
                              .keys = keys + view * rs_view_reals(loaded) * loaded->kernel->real_bytes,
                              .dims = loaded->dims,
                              .used = tile->count,
                              .sinks = (int32_t)job->sinks,
                              .bins = job->bins,
                              .edges = job->edges,
                              .bin_of = loaded->bin_of,
                              .cap = job->soft_cap * M_LOG2E,
                              .ranks = job->needle_at != NULL,
                              .scratch = worker->scratch};
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
  if (may_skip(loaded) && skips(loaded, tile, part, left_of(w, part), w->down)) return;
  rs_tile_set_bias(w->worker, tile, call);
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
  bool floors = far && may_skip(loaded) && loaded->job.mask.kind != RS_CROSS;
  bool there = worker->first == queries.begin && worker->end == queries.end;
  for (size_t t = 0; t < tiles; t++) {
    rs_tile *tile = &worker->tiles[t];
    size_t first = queries.begin + t * lanes, left = queries.end - first;
    if (!there) rs_tile_place(worker, tile, first, left < lanes ? left : lanes);
    if (!there && floors) set_floors(worker, tile);
    reset(loaded, tile);
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
      for (size_t t = 0; t < w.tiles; t++) w.parts[t] = rs_tile_see(worker, &worker->tiles[t], order[v], r);
      walk_panels(&w, panels);
    }
}
