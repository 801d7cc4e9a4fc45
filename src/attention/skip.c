#include "engine.h"

#include <math.h>

bool rs_may_skip(const rs_loaded_job *loaded) {
  const rs_bias_table *bias = &loaded->bias;
  return loaded->job.epsilon > 0 && !loaded->job.moments && (!bias->any || bias->by_distance);
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

bool rs_tile_skips(const rs_loaded_job *loaded, rs_tile *tile, rs_tile_part *part, rs_range side, bool down) {
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
