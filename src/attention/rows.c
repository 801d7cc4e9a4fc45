/* From what a tile has seen to rows: bits become nats, what was taken off the bias comes back, the needle joins the
 * other keys. */
#include "engine.h"

#include <math.h>
#include <stdlib.h>

rs_status rs_observation_create(size_t queries, size_t bins, bool moments, rs_observation **observation, rs_err *err) {
  size_t each = (moments ? 4 : 1) * bins;
  *observation = NULL;
  rs_observation *made = rs_alloc(1, sizeof *made, err);
  if (made == NULL) return RS_MEMORY;
  made->rows = rs_alloc(queries, sizeof *made->rows, err);
  made->storage = rs_alloc(queries, each * sizeof(double), err);
  if (made->rows == NULL || made->storage == NULL) {
    rs_observation_free(made);
    return RS_MEMORY;
  }
  for (size_t i = 0; i < queries; i++) {
    rs_row *row = &made->rows[i];
    row->bin_weight = made->storage + i * each;
    if (!moments) continue;
    row->bin_keys = row->bin_weight + bins;
    row->bin_mean = row->bin_weight + 2 * bins;
    row->bin_squares = row->bin_weight + 3 * bins;
  }
  made->count = queries;
  made->bins = bins;
  *observation = made;
  return RS_OK;
}

void rs_observation_free(rs_observation *observation) {
  if (observation == NULL) return;
  free(observation->rows);
  free(observation->storage);
  free(observation);
}

/* What the needle adds to its query's row, in bits and relative to the reference. */
static void add_needle(const rs_engine *engine, const rs_attention_job *job, const rs_tile *tile, size_t lane,
                       double *mass, double *spread, rs_row *row) {
  size_t i = tile->first + lane, at = job->needle_at[i];
  row->needle_planted = true;
  row->needle_distance = at > row->query ? at - row->query : row->query - at;
  row->has_needle = tile->has_needle[lane];
  if (!row->has_needle) return;
  double t = tile->needle_logit[lane] - tile->state.reference[lane], weight = exp2(t);
  row->keys++;
  row->needle_rank = (size_t)tile->state.rank[lane];
  row->needle_weight = weight;
  row->bin_weight[engine->bin_of[row->needle_distance]] += weight;
  *mass += weight;
  if (weight > 0) *spread += weight * t; /* 0 times minus infinity is no number */
}

static void copy_moments(const rs_tile *tile, size_t bins, size_t lanes, size_t lane, double own, rs_row *row) {
  for (size_t b = 0; b < bins; b++) {
    row->bin_keys[b] = tile->state.bin_keys[b * lanes + lane];
    row->bin_mean[b] = row->bin_keys[b] > 0 ? tile->state.bin_mean[b * lanes + lane] * M_LN2 + own : 0;
    row->bin_squares[b] = tile->state.bin_squares[b * lanes + lane] * M_LN2 * M_LN2;
  }
}

/* The bias that was taken off the row, nats. */
static double own_bias(const rs_engine *engine, const rs_attention_job *job, size_t query) {
  double bits;
  if (!engine->bias.any) return 0;
  return engine->bias.by_distance ? engine->bias.own : rs_bias_of_query(job, query, query, query + 1, &bits);
}

static void fill_row(const rs_engine *engine, const rs_attention_job *job, rs_tile *tile, size_t lane, rs_row *row) {
  rs_score_state *state = &tile->state;
  size_t lanes = engine->kernel->lanes;
  bool above = tile->has_needle[lane] && tile->needle_logit[lane] > state->reference[lane];
  if (above) rs_score_state_move(state, job->bins, lanes, lane, tile->needle_logit[lane]);
  double mass = 0, spread = state->spread[lane], top = state->top[lane];
  row->query = job->queries[tile->first + lane];
  row->keys = (size_t)tile->keys[lane];
  row->argmax = (size_t)state->argmax[lane];
  row->skipped_keys = tile->skipped[lane];
  row->skipped_weight = tile->certified[lane];
  for (size_t b = 0; b < job->bins; b++) mass += row->bin_weight[b] = state->bin_weight[b * lanes + lane];
  if (job->needle_at != NULL) add_needle(engine, job, tile, lane, &mass, &spread, row);
  if (row->has_needle && tile->needle_logit[lane] > top) {
    top = tile->needle_logit[lane];
    row->argmax = job->needle_at[tile->first + lane];
  }
  double own = own_bias(engine, job, row->query), entropy = (log2(mass) - spread / mass) * M_LN2;
  row->max_logit = top * M_LN2 + own;
  row->log_sum_exp = (state->reference[lane] + log2(mass)) * M_LN2 + own;
  row->entropy = entropy < 0 ? 0 : entropy; /* rounding may fall below 0; a NaN stays one */
  row->sink_weight = state->sink[lane] / mass;
  row->needle_weight /= mass;
  if (row->has_needle) row->needle_logit = tile->needle_logit[lane] * M_LN2 + own;
  for (size_t b = 0; b < job->bins; b++) row->bin_weight[b] /= mass;
  if (job->moments) copy_moments(tile, job->bins, lanes, lane, own, row);
}

void rs_tile_rows(const rs_engine *engine, const rs_attention_job *job, rs_tile *tile, rs_row *rows) {
  for (size_t lane = 0; lane < tile->count; lane++) fill_row(engine, job, tile, lane, &rows[lane]);
}
