/* Each lane's row is made as the encoding has it, in double, turned into what the kernel adds, and then turned over
 * with the others: a row at a time, encodings need little for a number; key by key they would begin anew for each. */
#include "engine.h"

#include <math.h>

bool rs_tile_needs_bias(const rs_loaded_job *loaded, const rs_tile *tile) {
  return loaded->bias.any && !(loaded->bias.by_distance && tile->consecutive);
}

void rs_tile_set_own_bias(const rs_loaded_job *loaded, rs_tile *tile) {
  for (size_t lane = 0; lane < loaded->kernel->lanes; lane++) {
    size_t m = rs_lane_position(loaded, tile, lane);
    rs_encoding_quick_bias_row(loaded->job.encoding, loaded->job.head, m, m, m + 1, &tile->own_bias[lane]);
  }
}

enum { APART = 8 }; /* maxima that are kept side by side, so that none waits for the one before */

static double largest(const double most[APART]) {
  double all = most[0];
  for (size_t i = 1; i < APART; i++) all = fmax(all, most[i]);
  return all;
}

static inline double in_bits(double bias, double own, double *most) {
  double bits = (bias - own) * M_LOG2E;
  *most = bits > *most ? bits : *most;
  return bits;
}

/* out = row less own, in bits; returns the largest, 0 at least. */
static double put_floats(const double *row, double own, size_t count, float *out) {
  double most[APART] = {0};
  size_t i = 0;
  for (; i + APART <= count; i += APART)
    for (size_t j = 0; j < APART; j++) out[i + j] = (float)in_bits(row[i + j], own, &most[j]);
  for (; i < count; i++) out[i] = (float)in_bits(row[i], own, &most[0]);
  return largest(most);
}

static double put_doubles(const double *row, double own, size_t count, double *out) {
  double most[APART] = {0};
  size_t i = 0;
  for (; i + APART <= count; i += APART)
    for (size_t j = 0; j < APART; j++) out[i + j] = in_bits(row[i + j], own, &most[j]);
  for (; i < count; i++) out[i] = in_bits(row[i], own, &most[0]);
  return largest(most);
}

void rs_bias_block(rs_worker *worker, const rs_tile *tile, rs_range keys) {
  const rs_loaded_job *loaded = worker->loaded;
  const rs_encoding *encoding = loaded->job.encoding;
  size_t lanes = loaded->kernel->lanes, count = keys.end - keys.begin;
  bool single = loaded->kernel->real_bytes == sizeof(float), shared = rs_encoding_bias_of_key(encoding);
  const rs_net_kernel *net = single ? rs_kernels_get()->net_f32 : rs_kernels_get()->net_f64;
  double *row = worker->bias_row.data, most = 0;
  for (size_t lane = 0; lane < lanes; lane++) {
    size_t m = rs_lane_position(loaded, tile, lane);
    if (lane == 0 || (!shared && lane < tile->count))
      rs_encoding_quick_bias_row(encoding, loaded->job.head, m, keys.begin, keys.end, row);
    double here = single
                      ? put_floats(row, tile->own_bias[lane], count, (float *)worker->bias_rows.data + lane * count)
                      : put_doubles(row, tile->own_bias[lane], count, (double *)worker->bias_rows.data + lane * count);
    most = fmax(most, here);
  }
  worker->above = fmax(worker->above, most * M_LN2);
  net->turn_over(worker->bias_rows.data, count, lanes, count, worker->bias.data, lanes);
}
