/* From what a tile has seen to rows: bits become nats, what was taken off the bias comes back, an added needle joins
 * the keys. */
#include "engine.h"

#include <math.h>
#include <stdlib.h>

size_t rs_row_numbers(const rs_attention_job *job) {
  return (job->moments ? 4 : 1) * job->bins + job->top_count;
}

rs_status rs_observation_create(const rs_attention_job *job, size_t queries, rs_observation **observation,
                                rs_err *err) {
  size_t bins = job->bins, each = rs_row_numbers(job);
  rs_observation *blank = rs_alloc(1, sizeof *blank, err);
  *observation = NULL;
  if (blank == NULL) return RS_MEMORY;
  blank->rows = rs_alloc(queries, sizeof *blank->rows, err);
  blank->storage = rs_alloc(queries, each * sizeof(double), err);
  if (blank->rows == NULL || blank->storage == NULL) {
    rs_observation_free(blank);
    return RS_MEMORY;
  }
  for (size_t i = 0; i < queries; i++) {
    rs_row *row = &blank->rows[i];
    row->bin_weight = blank->storage + i * each;
    row->top_weight = row->bin_weight + each - job->top_count;
    if (!job->moments) continue;
    row->bin_keys = row->bin_weight + bins;
    row->bin_mean = row->bin_weight + 2 * bins;
    row->bin_squares = row->bin_weight + 3 * bins;
  }
  blank->count = queries;
  blank->bins = bins;
  *observation = blank;
  return RS_OK;
}

void rs_observation_free(rs_observation *observation) {
  if (observation == NULL) return;
  free(observation->rows);
  free(observation->storage);
  free(observation);
}

/* What the keys of a row come to together, relative to the reference. */
typedef struct row_sums {
  double mass;   /* of their weights */
  double spread; /* of weight times logit, bits */
} row_sums;

/* The needle, which joins the sums unless it is one of the keys that they hold. */
static void add_needle(const rs_loaded_job *loaded, const rs_tile *tile, size_t lane, row_sums *sums, rs_row *row) {
  size_t position = loaded->job.needle_at[tile->first + lane];
  row->needle_planted = position != RS_NO_NEEDLE;
  if (!row->needle_planted) return;
  row->needle_distance = position > row->query ? position - row->query : row->query - position;
  row->has_needle = tile->has_needle[lane];
  if (!row->has_needle) return;
  double t = tile->needle_logit[lane] - tile->state.reference[lane], weight = exp2(t);
  row->needle_rank = (size_t)tile->state.rank[lane];
  row->needle_weight = weight;
  if (loaded->job.needle_key == NULL) return;
  row->keys++;
  row->bin_weight[loaded->bin_of[row->needle_distance]] += weight;
  sums->mass += weight;
  if (weight > 0) sums->spread += weight * t; /* 0 times minus infinity is no number */
}

double rs_row_entropy(const rs_row *row, double computed) {
  double largest = log((double)rs_row_outcomes(row));
  if (computed > largest) return largest;
  return computed < 0 ? 0 : computed;
}

/* The learned sink is no key: it is in the mass, and in the spread that entropy is made of. */
static void add_learned(double logit, double reference, row_sums *sums, rs_row *row) {
  double t = logit - reference, weight = exp2(t);
  row->has_learned = true;
  row->learned_weight = weight;
  sums->mass += weight;
  if (weight > 0) sums->spread += weight * t;
}

double rs_row_offset(const rs_loaded_job *loaded, size_t query) {
  double bits;
  if (!loaded->bias.any) return 0;
  return loaded->bias.by_distance ? loaded->bias.offset
                                  : rs_bias_of_query(&loaded->job, query, query, query + 1, &bits);
}

static void copy_moments(const rs_loaded_job *loaded, const rs_tile *tile, size_t lane, double offset, rs_row *row) {
  const rs_score_state *state = &tile->state;
  size_t lanes = loaded->kernel->lanes;
  for (size_t b = 0; b < loaded->job.bins; b++) {
    row->bin_keys[b] = state->bin_keys[b * lanes + lane];
    row->bin_mean[b] = row->bin_keys[b] > 0 ? state->bin_mean[b * lanes + lane] * M_LN2 + offset : 0;
    row->bin_squares[b] = state->bin_squares[b * lanes + lane] * M_LN2 * M_LN2;
  }
}

/* The weights of the bins, and what they come to with the needle's. */
static row_sums sum_keys(const rs_loaded_job *loaded, const rs_tile *tile, size_t lane, rs_row *row) {
  size_t lanes = loaded->kernel->lanes;
  row_sums sums = {.spread = tile->state.spread[lane]};
  for (size_t b = 0; b < loaded->job.bins; b++)
    sums.mass += row->bin_weight[b] = tile->state.bin_weight[b * lanes + lane];
  if (loaded->job.needle_at != NULL) add_needle(loaded, tile, lane, &sums, row);
  return sums;
}

static void fill_row(const rs_loaded_job *loaded, rs_tile *tile, size_t lane, rs_row *row) {
  const rs_attention_job *job = &loaded->job;
  rs_score_state *state = &tile->state;
  bool added = tile->has_needle[lane] && job->needle_key != NULL;
  row->head = job->head;
  row->query = job->queries[tile->first + lane];
  double offset = rs_row_offset(loaded, row->query), needle = added ? tile->needle_logit[lane] : -INFINITY;
  double learned = job->learned_sink != NULL ? (*job->learned_sink - offset) * M_LOG2E : -INFINITY;
  double largest = fmax(needle, learned);
  if (largest > state->reference[lane]) rs_score_state_move(state, job->bins, loaded->kernel->lanes, lane, largest);
  row->keys = (size_t)tile->keys[lane];
  row->skipped_keys = tile->skipped[lane];
  row->skipped_weight = tile->certified[lane];
  row_sums sums = sum_keys(loaded, tile, lane, row);
  if (job->learned_sink != NULL) add_learned(learned, state->reference[lane], &sums, row);
  bool wins = needle > state->top[lane];
  row->argmax = wins ? job->needle_at[tile->first + lane] : (size_t)state->argmax[lane];
  double entropy = (log2(sums.mass) - sums.spread / sums.mass) * M_LN2;
  row->max_logit = (wins ? needle : state->top[lane]) * M_LN2 + offset;
  row->log_sum_exp = (state->reference[lane] + log2(sums.mass)) * M_LN2 + offset;
  row->entropy = rs_row_entropy(row, entropy);
  row->sink_weight = state->sink[lane] / sums.mass;
  row->needle_weight /= sums.mass;
  row->learned_weight /= sums.mass;
  if (row->has_needle) row->needle_logit = tile->needle_logit[lane] * M_LN2 + offset;
  for (size_t b = 0; b < job->bins; b++) row->bin_weight[b] /= sums.mass;
  if (job->moments) copy_moments(loaded, tile, lane, offset, row);
}

void rs_tile_finish_rows(const rs_loaded_job *loaded, rs_tile *tile, rs_row *rows) {
  for (size_t lane = 0; lane < tile->count; lane++) fill_row(loaded, tile, lane, &rows[lane]);
}
