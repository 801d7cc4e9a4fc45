/* Queries into lanes: rotated, scaled and packed as the kernel reads them. */
#include "engine.h"

#include <math.h>
#include <string.h>

static const double ROUNDED = 1 + 1e-6; /* a norm that float queries cannot exceed */

char *rs_tile_queries(const rs_loaded_job *loaded, const rs_tile *tile, size_t view) {
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
      const double *turned = rs_turn_query(&worker->turner, v, rs_lane_query(tile, lane));
      double scale = of_head * encoding->logit_scale[rs_lane_position(loaded, tile, lane)];
      double factor = scale * M_LOG2E / sqrt((double)loaded->dims);
      tile->norm[v][lane] = pack(loaded, turned, factor, lane, rs_tile_queries(loaded, tile, v)) * ROUNDED;
    }
}

/* ---- single keys beside a tile ----------------------------------------------------------------------------------- */

/* One lane's query and the content `key` (D) at `position`, side by side for the kernel's dot. */
static void pair_up(const rs_worker *worker, const rs_tile *tile, size_t lane, size_t position, const double *key) {
  const rs_loaded_job *loaded = worker->loaded;
  size_t lanes = loaded->kernel->lanes, bytes = loaded->kernel->real_bytes, reals = lanes * loaded->dims;
  size_t m = rs_lane_position(loaded, tile, lane);
  size_t view = loaded->views > 1 && position <= m ? rs_encoding_view(loaded->job.encoding, m, position) : 0;
  const char *from = rs_tile_queries(loaded, tile, view);
  char *queries = worker->pairs.data;
  for (size_t d = lane; d < reals; d += lanes) memcpy(queries + d * bytes, from + d * bytes, bytes);
  pack(loaded, rs_turn_key(&worker->turner, view, position, key), 1, lane, queries + reals * bytes);
}

static void dot_pairs(const rs_worker *worker, double *dots) {
  const rs_score_kernel *kernel = worker->loaded->kernel;
  const char *queries = worker->pairs.data;
  size_t dims = worker->loaded->dims;
  kernel->dot(queries, queries + kernel->lanes * dims * kernel->real_bytes, dims,
              worker->loaded->job.soft_cap * M_LOG2E, dots);
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
    double bias = 0;
    if (position == RS_NO_NEEDLE) continue;
    if (loaded->bias.any) rs_bias_of_query(job, job->queries[i], position, position + 1, &bias);
    tile->has_needle[lane] = rs_job_sees(job, job->queries[i], position);
    tile->needle_logit[lane] = single ? (double)((float)dots[lane] + (float)bias) : dots[lane] + bias;
  }
}

void rs_tile_set_floors(rs_worker *worker, rs_tile *tile) {
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
  tile->first = first;
  tile->count = count;
  tile->consecutive = job->queries[first + count - 1] - job->queries[first] == count - 1;
  for (size_t lane = 0; lane < RS_SCORE_LANES; lane++) {
    tile->has_needle[lane] = false;
    tile->floor[lane] = -INFINITY;
  }
  for (size_t lane = 0; lane < count; lane++) tile->keys[lane] = rs_job_pairs(job, first + lane, 1);
  pack_queries(worker, tile);
  if (rs_tile_needs_bias(worker->loaded, tile)) rs_tile_set_own_bias(worker->loaded, tile);
  if (job->needle_at != NULL) score_needles(worker, tile);
}

void rs_tile_reset(const rs_loaded_job *loaded, rs_tile *tile) {
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
