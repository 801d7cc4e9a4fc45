/* A block of query tiles walks over the keys: through one view and one range of the mask after the other, from the
 * query's own place outwards, so that the largest logits tend to come first. */
#include "limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys that a block's tiles share: what fills a quarter of a second cache of 1 MiB, and no more than sums of weights in
 * float stay exact for (limits.h). */
enum { KEY_BYTES = 224 * 1024, MOST_KEYS = 512 };

size_t rs_block_panels(const rs_engine *engine) {
  size_t panel = engine->kernel->rows * engine->head_dim * engine->kernel->real_bytes;
  size_t fitting = panel < KEY_BYTES ? KEY_BYTES / panel : 1, most = MOST_KEYS / engine->kernel->rows;
  return fitting < most ? fitting : most;
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

size_t rs_bins_each(const rs_engine *engine, const rs_attention_job *job) {
  return (job->moments ? 4 : 1) * job->bins * engine->kernel->lanes;
}

void rs_place_bins(const rs_engine *engine, const rs_attention_job *job, double *bins, rs_score_state *state) {
  size_t each = job->bins * engine->kernel->lanes;
  state->bin_weight = bins;
  state->bin_keys = job->moments ? bins + each : NULL;
  state->bin_mean = job->moments ? bins + 2 * each : NULL;
  state->bin_squares = job->moments ? bins + 3 * each : NULL;
}

static rs_status prepare_turner(const rs_encoding *encoding, rs_turner *turner, rs_err *err) {
  size_t pairs = encoding->rotary_dim / 2;
  RS_TRY(rs_reals_reserve(&turner->storage, RS_TURNED * (2 * pairs + encoding->head_dim), sizeof(double), err));
  turner->cosine = turner->storage.at;
  turner->sine = turner->cosine + RS_TURNED * pairs;
  turner->rows = turner->sine + RS_TURNED * pairs;
  return RS_OK;
}

rs_status rs_worker_prepare(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, rs_err *err) {
  const rs_score_kernel *kernel = engine->kernel;
  size_t tile = kernel->lanes * job->encoding->head_dim, block = rs_block_panels(engine) * kernel->rows;
  size_t bins = job->bins * kernel->lanes, each = rs_bins_each(engine, job);
  RS_TRY(prepare_turner(job->encoding, &worker->turner, err));
  RS_TRY(rs_reals_reserve(&worker->queries, RS_TILES * rs_views_of(job) * tile, kernel->real_bytes, err));
  RS_TRY(rs_reals_reserve(&worker->pairs, 2 * tile, kernel->real_bytes, err));
  RS_TRY(rs_reals_reserve(&worker->scratch, bins, kernel->real_bytes, err));
  RS_TRY(rs_reals_reserve(&worker->bias, block * kernel->lanes, kernel->real_bytes, err));
  RS_TRY(rs_reals_reserve(&worker->bias_row, block, sizeof(double), err));
  RS_TRY(rs_reals_reserve(&worker->bins, RS_TILES * each, sizeof(double), err));
  memset(worker->scratch.at, 0, bins * kernel->real_bytes);
  for (size_t t = 0; t < RS_TILES; t++)
    rs_place_bins(engine, job, (double *)worker->bins.at + t * each, &worker->tiles[t].state);
  worker->above = 0;
  worker->first = worker->end = 0;
  return RS_OK;
}

void rs_worker_clear(rs_worker *worker) {
  free(worker->turner.storage.at);
  free(worker->queries.at);
  free(worker->pairs.at);
  free(worker->scratch.at);
  free(worker->bias.at);
  free(worker->bias_row.at);
  free(worker->bins.at);
}

/* ---- queries into lanes ------------------------------------------------------------------------------------------ */

static void *tile_queries(const rs_engine *engine, const rs_attention_job *job, const rs_worker *worker, size_t t,
                          size_t view) {
  size_t reals = engine->kernel->lanes * engine->head_dim;
  return (char *)worker->queries.at + (t * rs_views_of(job) + view) * reals * engine->kernel->real_bytes;
}

/* Puts x (D) * factor into one lane of a tile (D, lanes); returns its norm. */
static double pack(const rs_engine *engine, const double *x, double factor, size_t lane, void *tile) {
  double squares = 0;
  for (size_t d = 0; d < engine->head_dim; d++) {
    double value = factor * x[d];
    rs_real_put(tile, engine->kernel->real_bytes, d * engine->kernel->lanes + lane, value);
    squares += value * value;
  }
  return sqrt(squares);
}

/* The number of the query in a lane; idle lanes repeat the last one. */
static size_t query_of(const rs_tile *tile, size_t lane) {
  return tile->first + (lane < tile->count ? lane : tile->count - 1);
}

static void pack_tile(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, size_t t) {
  rs_tile *tile = &worker->tiles[t];
  size_t dims = engine->head_dim;
  for (size_t v = 0; v < rs_views_of(job); v++)
    for (size_t lane = 0; lane < engine->kernel->lanes; lane++) {
      size_t i = query_of(tile, lane), m = job->queries[i];
      double factor = job->encoding->logit_scale[m] * M_LOG2E / sqrt((double)dims);
      rs_turn_tokens(&worker->turner, job, RS_QUERY_SIDE, v, m, m + 1, job->q + i * dims,
                     job->projection != NULL ? job->projection->q + i * dims : NULL);
      tile->norm[v][lane] =
          pack(engine, worker->turner.rows, factor, lane, tile_queries(engine, job, worker, t, v)) * (1 + 1e-6);
    }
}

/* ---- single keys beside a tile ----------------------------------------------------------------------------------- */

static bool sees(const rs_attention_job *job, size_t query, size_t key) {
  rs_range seen[2];
  size_t ranges = rs_mask_ranges(&job->mask, job->encoding->length, query, seen);
  for (size_t r = 0; r < ranges; r++)
    if (key >= seen[r].begin && key < seen[r].end) return true;
  return false;
}

/* One lane's query and the key x (D) at position `at`, side by side for the kernel's dot. */
static void pair_up(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, size_t t, size_t lane,
                    size_t at, const double *x) {
  size_t lanes = engine->kernel->lanes, dims = engine->head_dim, bytes = engine->kernel->real_bytes;
  size_t m = job->queries[query_of(&worker->tiles[t], lane)], tile = lanes * dims * bytes;
  size_t view = rs_views_of(job) > 1 && at <= m ? rs_encoding_view(job->encoding, m, at) : 0;
  const char *from = tile_queries(engine, job, worker, t, view);
  char *queries = worker->pairs.at;
  for (size_t d = lane; d < dims * lanes; d += lanes) memcpy(queries + d * bytes, from + d * bytes, bytes);
  rs_turn_tokens(&worker->turner, job, RS_KEY_SIDE, view, at, at + 1, x,
                 job->projection != NULL ? job->projection->k + at * dims : NULL);
  pack(engine, worker->turner.rows, 1, lane, queries + tile);
}

static void dot_pairs(const rs_engine *engine, const rs_worker *worker, double *dots) {
  const char *queries = worker->pairs.at;
  size_t tile = engine->kernel->lanes * engine->head_dim * engine->kernel->real_bytes;
  engine->kernel->dot(queries, queries + tile, engine->head_dim, dots);
}

/* The logits of a tile's needles, with the roundings of any other key's: a copy of a key ties with it. */
static void score_needles(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, size_t t) {
  rs_tile *tile = &worker->tiles[t];
  bool single = engine->kernel->real_bytes == sizeof(float);
  double dots[RS_SCORE_LANES];
  for (size_t lane = 0; lane < engine->kernel->lanes; lane++) {
    size_t i = query_of(tile, lane);
    pair_up(engine, job, worker, t, lane, job->needle_at[i], job->needle_key + i * engine->head_dim);
  }
  dot_pairs(engine, worker, dots);
  for (size_t lane = 0; lane < engine->kernel->lanes; lane++) {
    size_t i = query_of(tile, lane), at = job->needle_at[i];
    double bias = 0;
    if (engine->bias.any) rs_bias_of_query(job, job->queries[i], at, at + 1, &bias);
    tile->has_needle[lane] = sees(job, job->queries[i], at);
    tile->needle_logit[lane] = single ? (double)((float)dots[lane] + (float)bias) : dots[lane] + bias;
  }
}

/* The largest logit is at least that of the query's own key, which every mask within a sequence shows; its bias is what
 * all are relative to. For tiles that begin with far keys. */
static void set_floors(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, size_t t) {
  rs_tile *tile = &worker->tiles[t];
  double dots[RS_SCORE_LANES];
  for (size_t lane = 0; lane < engine->kernel->lanes; lane++) {
    size_t m = job->queries[query_of(tile, lane)];
    pair_up(engine, job, worker, t, lane, m, job->k + m * engine->head_dim);
  }
  dot_pairs(engine, worker, dots);
  for (size_t lane = 0; lane < engine->kernel->lanes; lane++) tile->floor[lane] = dots[lane] - engine->error * M_LOG2E;
}

/* ---- what each lane sees ----------------------------------------------------------------------------------------- */

static rs_range intersect(rs_range a, rs_range b) {
  rs_range both = {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
  return both.begin < both.end ? both : (rs_range){0, 0};
}

/* The part of query m's keys that lies in range number `r` of its mask and is read through `view`. */
static rs_range lane_range(const rs_attention_job *job, size_t query, size_t view, size_t r) {
  rs_segment segments[RS_VIEWS];
  rs_range seen[2];
  if (r >= rs_mask_ranges(&job->mask, job->encoding->length, query, seen)) return (rs_range){0, 0};
  if (rs_views_of(job) == 1) return seen[r];
  size_t count = rs_encoding_segments(job->encoding, query, segments);
  for (size_t s = 0; s < count; s++)
    if (segments[s].view == view) return intersect((rs_range){segments[s].begin, segments[s].end}, seen[r]);
  return (rs_range){0, 0};
}

/* Views of the last query's segments from the nearest to the farthest, then those it does not read. */
static void order_views(const rs_attention_job *job, size_t query, size_t order[RS_VIEWS]) {
  rs_segment segments[RS_VIEWS];
  size_t views = rs_views_of(job), count = 0, found = 0;
  bool taken[RS_VIEWS] = {false};
  if (views > 1) count = rs_encoding_segments(job->encoding, query, segments);
  for (size_t s = count; s-- > 0;)
    if (!taken[segments[s].view]) {
      taken[segments[s].view] = true;
      order[found++] = segments[s].view;
    }
  for (size_t v = 0; v < views; v++)
    if (!taken[v]) order[found++] = v;
}

/* The lanes' keys of one view and range into the call; returns what covers them. */
static rs_range set_ranges(const rs_engine *engine, const rs_attention_job *job, const rs_tile *tile, size_t view,
                           size_t r, rs_score_call *call) {
  rs_range all = {SIZE_MAX, 0};
  for (size_t lane = 0; lane < engine->kernel->lanes; lane++) {
    size_t m = job->queries[query_of(tile, lane)];
    rs_range range = lane_range(job, m, view, r);
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

/* Bias of keys [begin, end) for every lane of the tile, (end - begin, lanes). */
static void tabulate_bias(const rs_engine *engine, const rs_attention_job *job, const rs_tile *tile, rs_worker *worker,
                          size_t begin, size_t end) {
  size_t lanes = engine->kernel->lanes, bytes = engine->kernel->real_bytes;
  double *row = worker->bias_row.at;
  for (size_t lane = 0; lane < lanes; lane++) {
    rs_bias_of_query(job, job->queries[query_of(tile, lane)], begin, end, row);
    for (size_t n = begin; n < end; n++) {
      rs_real_put(worker->bias.at, bytes, (n - begin) * lanes + lane, row[n - begin]);
      worker->above = fmax(worker->above, row[n - begin] * M_LN2);
    }
  }
}

/* Where the kernel finds the bias of panels [call->first, call->end). */
static void set_bias(const rs_engine *engine, const rs_attention_job *job, const rs_tile *tile, rs_worker *worker,
                     rs_score_call *call) {
  const rs_bias_table *bias = &engine->bias;
  size_t rows = engine->kernel->rows, begin = call->first * rows, end = call->end * rows;
  if (!bias->any) return;
  if (bias->by_distance && tile->consecutive) {
    call->bias = (const char *)bias->table.at + (bias->origin + job->queries[tile->first]) * engine->kernel->real_bytes;
    call->bias_step = -1;
    return;
  }
  tabulate_bias(engine, job, tile, worker, begin, end < job->encoding->length ? end : job->encoding->length);
  call->bias = worker->bias.at;
  call->bias_key = (ptrdiff_t)begin;
  call->bias_step = (ptrdiff_t)engine->kernel->lanes;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

/* One view and one range of the mask for a block of tiles. */
typedef struct piece {
  size_t view;
  rs_score_call calls[RS_TILES];
  rs_range keys[RS_TILES]; /* what covers the lanes' ranges */
  bool done[RS_TILES];     /* what is left on this side cannot matter */
} piece;

/* Queries [first, first + count) of the job become tile t: packed, with what depends on them alone. */
static void place_tile(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, size_t t, size_t first,
                       size_t count) {
  rs_tile *tile = &worker->tiles[t];
  tile->first = first;
  tile->count = count;
  tile->consecutive = job->queries[first + count - 1] - job->queries[first] == count - 1;
  for (size_t lane = 0; lane < RS_SCORE_LANES; lane++) {
    tile->has_needle[lane] = false;
    tile->floor[lane] = -INFINITY;
  }
  for (size_t lane = 0; lane < count; lane++) tile->keys[lane] = rs_count_pairs(job, first + lane, 1);
  pack_tile(engine, job, worker, t);
  if (job->needle_at != NULL) score_needles(engine, job, worker, t);
}

/* Nothing seen yet. */
static void reset_tile(const rs_engine *engine, const rs_attention_job *job, rs_tile *tile) {
  rs_score_state_reset(&tile->state, job->bins, engine->kernel->lanes);
  for (size_t lane = 0; lane < RS_SCORE_LANES; lane++) {
    tile->skipped[lane] = tile->certified[lane] = 0;
    tile->state.needle[lane] = tile->has_needle[lane] ? tile->needle_logit[lane] : INFINITY;
  }
}

static void prepare_piece(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, size_t tiles,
                          size_t view, size_t r, piece *part) {
  size_t bytes = engine->kernel->real_bytes;
  part->view = view;
  for (size_t t = 0; t < tiles; t++) {
    part->calls[t] = (rs_score_call){.queries = tile_queries(engine, job, worker, t, view),
                                     .keys = (const char *)engine->keys.at +
                                             view * rs_view_reals(engine, job->encoding->length) * bytes,
                                     .dims = engine->head_dim,
                                     .used = worker->tiles[t].count,
                                     .sinks = (int32_t)job->sinks,
                                     .bins = job->bins,
                                     .edges = job->edges,
                                     .bin_of = engine->bin_of,
                                     .ranks = job->needle_at != NULL,
                                     .scratch = worker->scratch.at};
    part->keys[t] = set_ranges(engine, job, &worker->tiles[t], view, r, &part->calls[t]);
  }
}

/* Whether the call's panels cannot matter, or even none that is still to come on this side: those before (`down`) or
 * after them. */
static bool skip(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, piece *part, size_t t,
                 bool down) {
  const rs_score_call *call = &part->calls[t];
  rs_tile *tile = &worker->tiles[t];
  size_t rows = engine->kernel->rows, panels = rs_panels(engine, job->encoding->length);
  const double *so_far = engine->so_far + part->view * panels, *norm = engine->norm + part->view * panels;
  double all = so_far[down ? call->end - 1 : panels - 1], here = 0;
  size_t begin = down ? part->keys[t].begin : call->first * rows, end = down ? call->end * rows : part->keys[t].end;
  part->done[t] = rs_negligible(engine, job, tile, call, part->view, all, begin, end);
  if (part->done[t]) return true;
  for (size_t p = call->first; p < call->end; p++) here = norm[p] > here ? norm[p] : here;
  return rs_negligible(engine, job, tile, call, part->view, here, call->first * rows, call->end * rows);
}

/* One tile against panels [first, end). */
static void walk_tile(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, piece *part, size_t t,
                      size_t first, size_t end, bool down) {
  rs_score_call *call = &part->calls[t];
  size_t rows = engine->kernel->rows;
  size_t begin = part->keys[t].begin / rows, stop = (part->keys[t].end + rows - 1) / rows;
  call->first = first > begin ? first : begin;
  call->end = end < stop ? end : stop;
  if (part->done[t] || call->first >= call->end) return;
  if (rs_may_skip(engine, job) && skip(engine, job, worker, part, t, down)) return;
  set_bias(engine, job, &worker->tiles[t], worker, call);
  engine->kernel->walk(call, &worker->tiles[t].state);
}

/* A piece over panels [from, to): first from the block's own place down, then up from it. */
static void walk_piece(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, size_t tiles,
                       piece *part, size_t from, size_t to) {
  size_t rows = engine->kernel->rows, each = rs_block_panels(engine);
  const rs_tile *last = &worker->tiles[tiles - 1];
  size_t own = job->queries[last->first + last->count - 1] / rows / each * each + each; /* past the own panels */
  size_t pivot = own < to ? own : to;
  memset(part->done, 0, sizeof part->done);
  for (size_t end = pivot; end > from; end = (end - 1) / each * each)
    for (size_t t = 0; t < tiles; t++) {
      size_t first = (end - 1) / each * each;
      walk_tile(engine, job, worker, part, t, first > from ? first : from, end, true);
    }
  memset(part->done, 0, sizeof part->done);
  for (size_t first = pivot > from ? pivot : from; first < to; first = (first / each + 1) * each)
    for (size_t t = 0; t < tiles; t++) {
      size_t end = (first / each + 1) * each;
      walk_tile(engine, job, worker, part, t, first, end < to ? end : to, false);
    }
}

/* A block of tiles, unless the worker has just walked them over other keys. Returns how many they are. */
static size_t place_block(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, size_t first,
                          size_t end, bool far) {
  size_t lanes = engine->kernel->lanes, tiles = (end - first + lanes - 1) / lanes;
  bool floors = far && rs_may_skip(engine, job) && job->mask.kind != RS_CROSS;
  bool there = worker->first == first && worker->end == end;
  for (size_t t = 0; t < tiles; t++) {
    size_t at = first + t * lanes;
    if (!there) place_tile(engine, job, worker, t, at, end - at < lanes ? end - at : lanes);
    if (!there && floors) set_floors(engine, job, worker, t);
    reset_tile(engine, job, &worker->tiles[t]);
  }
  worker->first = first;
  worker->end = end;
  return tiles;
}

void rs_walk_block(const rs_engine *engine, const rs_attention_job *job, rs_worker *worker, size_t first, size_t end,
                   size_t from, size_t to) {
  size_t order[RS_VIEWS];
  bool all = from == 0 && to == rs_panels(engine, job->encoding->length);
  size_t tiles = place_block(engine, job, worker, first, end, !all);
  piece part;
  order_views(job, job->queries[end - 1], order);
  for (size_t v = 0; v < rs_views_of(job); v++)
    for (size_t r = 2; r-- > 0;) {
      prepare_piece(engine, job, worker, tiles, order[v], r, &part);
      walk_piece(engine, job, worker, tiles, &part, from, to);
    }
}

void rs_tile_join(const rs_engine *engine, size_t bins, rs_tile *into, const rs_tile *from) {
  rs_score_state_join(&into->state, &from->state, bins, engine->kernel->lanes, into->count);
  for (size_t lane = 0; lane < into->count; lane++) {
    into->certified[lane] += from->certified[lane];
    into->skipped[lane] += from->skipped[lane];
  }
}
