/* Biases, and what vectors of distance add, as the kernel reads them. A softmax does not see a constant of the row, so
 * each row's is taken relative to the query's own place: then float holds it as well as it needs to be where weights
 * are. */
#include "engine.h"

#include <math.h>

/* Nats. */
static void added_row(const rs_loaded_job *loaded, size_t index, size_t begin, size_t end, const double *keys,
                      double *row) {
  rs_encoding_quick_bias_row(loaded->job.encoding, loaded->job.head, loaded->job.queries[index], begin, end, row);
  if (loaded->vectors.any) rs_vector_row(loaded, index, begin, end, keys, row);
}

double rs_added_here(const rs_loaded_job *loaded, size_t index) {
  size_t m = loaded->job.queries[index];
  double own;
  added_row(loaded, index, m, m + 1, loaded->job.k + m * loaded->dims, &own);
  return own;
}

double rs_added_to_query(const rs_loaded_job *loaded, size_t index, size_t begin, size_t end, const double *keys,
                         double *bits) {
  double offset = rs_added_here(loaded, index);
  added_row(loaded, index, begin, end, keys, bits);
  for (size_t i = 0; i < end - begin; i++) bits[i] = (bits[i] - offset) * M_LOG2E;
  return offset;
}

/* The bias of the query at position `query`, as above. */
static double bias_of_position(const rs_attention_job *job, size_t query, size_t begin, size_t end, double *bits) {
  double offset;
  rs_encoding_quick_bias_row(job->encoding, job->head, query, query, query + 1, &offset);
  rs_encoding_quick_bias_row(job->encoding, job->head, query, begin, end, bits);
  for (size_t i = 0; i < end - begin; i++) bits[i] = (bits[i] - offset) * M_LOG2E;
  return offset;
}

/* past[d] and future[d]: the largest bias at distance d or more on either side. */
static void keep_largest(rs_bias_table *bias, size_t length) {
  for (size_t d = length - 1; d-- > 0;) {
    bias->past[d] = fmax(bias->past[d], bias->past[d + 1]);
    bias->future[d] = fmax(bias->future[d], bias->future[d + 1]);
  }
}

void rs_bias_table_measure(rs_bias_table *bias, const rs_attention_job *job) {
  size_t length = job->encoding->length;
  bias->any = job->mask.kind != RS_CROSS && job->encoding->method->bias != NULL;
  bias->by_distance = bias->any && rs_encoding_bias_of_distance(job->encoding);
  bias->offset = 0;
  if (!bias->by_distance) return;
  bias->offset = bias_of_position(job, length - 1, 0, length, bias->past);
  for (size_t d = 0; d < length / 2; d++) { /* key 0 is the farthest */
    double near = bias->past[length - 1 - d];
    bias->past[length - 1 - d] = bias->past[d];
    bias->past[d] = near;
  }
  bias_of_position(job, 0, 0, length, bias->future);
}

rs_status rs_bias_table_load(rs_bias_table *bias, const rs_attention_job *job, const rs_score_kernel *kernel,
                             rs_err *err) {
  size_t length = job->encoding->length, bytes = kernel->real_bytes;
  if (!bias->by_distance) return RS_OK;
  /* The kernel reads whole vectors and whole panels: some places past either end. */
  bias->origin = length - 1 + kernel->rows;
  size_t count = 2 * length + kernel->rows + RS_SCORE_LANES;
  RS_TRY(rs_reals_reserve(&bias->table, count, bytes, err));
  for (size_t i = 0; i < count; i++) rs_real_put(bias->table.data, bytes, i, 0);
  for (size_t d = 0; d < length; d++) {
    rs_real_put(bias->table.data, bytes, bias->origin + d, bias->past[d]);
    rs_real_put(bias->table.data, bytes, bias->origin - d, bias->future[d]);
  }
  keep_largest(bias, length);
  return RS_OK;
}

/* ---- what is no function of distance --------------------------------------------------------------------- */

/* Each lane's row is made as the encoding has it, in double, turned into what the kernel adds, and then turned over
 * with the others: a row at a time, encodings need little for a number; key by key they would begin anew for each. */

void rs_tile_set_own_bias(const rs_loaded_job *loaded, rs_tile *tile) {
  for (size_t lane = 0; lane < loaded->kernel->lanes; lane++)
    tile->own_bias[lane] = rs_added_here(loaded, rs_lane_query(tile, lane));
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

/* worker->bias: of keys [begin, end), at most a block's, for every lane, (keys, lanes). */
static void make_block(rs_worker *worker, const rs_tile *tile, rs_range keys) {
  const rs_loaded_job *loaded = worker->loaded;
  size_t lanes = loaded->kernel->lanes, count = keys.end - keys.begin;
  bool single = loaded->kernel->real_bytes == sizeof(float);
  bool shared = rs_encoding_bias_of_key(loaded->job.encoding) && !loaded->vectors.any;
  const rs_net_kernel *net = single ? rs_kernels_get()->net_f32 : rs_kernels_get()->net_f64;
  double *row = worker->bias_row, most = 0;
  for (size_t lane = 0; lane < lanes; lane++) {
    if (lane == 0 || (!shared && lane < tile->count))
      added_row(loaded, rs_lane_query(tile, lane), keys.begin, keys.end, loaded->job.k + keys.begin * loaded->dims,
                row);
    double here = single ? put_floats(row, tile->own_bias[lane], count, (float *)worker->bias_rows + lane * count)
                         : put_doubles(row, tile->own_bias[lane], count, (double *)worker->bias_rows + lane * count);
    most = fmax(most, here);
  }
  worker->above = fmax(worker->above, most * M_LN2);
  net->turn_over(worker->bias_rows, count, lanes, count, worker->bias, lanes);
}

void rs_tile_set_bias(rs_worker *worker, const rs_tile *tile, rs_score_call *call) {
  const rs_loaded_job *loaded = worker->loaded;
  const rs_bias_table *bias = &loaded->bias;
  size_t length = loaded->job.encoding->length, bytes = loaded->kernel->real_bytes;
  rs_range keys = {call->first * loaded->kernel->rows, call->end * loaded->kernel->rows};
  if (!rs_job_adds(loaded)) return;
  if (rs_job_adds_by_distance(loaded) && tile->consecutive) {
    call->bias = (const char *)bias->table.data + (bias->origin + loaded->job.queries[tile->first]) * bytes;
    call->bias_step = -1;
    return;
  }
  if (keys.end > length) keys.end = length;
  make_block(worker, tile, keys);
  call->bias = worker->bias;
  call->bias_key = (ptrdiff_t)keys.begin;
  call->bias_step = (ptrdiff_t)loaded->kernel->lanes;
}
