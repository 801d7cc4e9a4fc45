/* From what a tile has seen to rows: bits become nats, what was taken off the bias comes back, an added needle joins
 * the keys. */
#include "engine.h"

#include <math.h>
#include <stdlib.h>

rs_status rs_observation_create(const rs_attention_job *job, size_t queries, rs_observation **observation,
                                rs_err *err) {
  size_t bins = job->bins, mapped = job->map_keys.end - job->map_keys.begin;
  size_t each = (job->moments ? 4 : 1) * bins + job->top_count + mapped;
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
    row->top_weight = row->bin_weight + each - mapped - job->top_count;
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

/* `computed` brought into [0, ln outcomes], which rounding may leave by some ulp; a NaN stays one. */
static double entropy_of(const rs_row *row, double computed) {
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

/* The bias that was taken off the row of query number `index`, nats. */
static double offset_of(const rs_loaded_job *loaded, size_t index) {
  if (!rs_job_adds(loaded)) return 0;
  return rs_job_adds_by_distance(loaded) ? loaded->bias.offset : rs_added_here(loaded, index);
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
  double offset = offset_of(loaded, tile->first + lane), needle = added ? tile->needle_logit[lane] : -INFINITY;
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
  row->entropy = entropy_of(row, entropy);
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

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* Shares of a row's weight that no walk over panels can tell: those of parts of the context, of the largest keys, and
 * of keys one by one.
 * When the log-sum-exp is known, each logit is a weight by itself. */

/* Brings the `most` largest of (count,) numbers to the front (Hoare's selection, 1961). */
static void gather_largest(double *x, ptrdiff_t count, ptrdiff_t most) {
  ptrdiff_t low = 0, high = count - 1;
  while (low < high) {
    double pivot = x[low + (high - low) / 2];
    ptrdiff_t i = low, j = high;
    while (i <= j) {
      while (x[i] > pivot) i++;
      while (x[j] < pivot) j--;
      if (i > j) break;
      double swapped = x[i];
      x[i++] = x[j];
      x[j--] = swapped;
    }
    if (most > i)
      low = i;
    else if (most <= j)
      high = j;
    else
      return; /* what stands between them equals the pivot */
  }
}

static int descending(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left < right) - (left > right);
}

/* What one lane has come to: all logits in bits, less the bias of the query's own place. */
typedef struct share {
  const rs_attention_job *job;
  size_t query, needle; /* positions; RS_NO_NEEDLE where none of the keys is the needle */
  double level;         /* log-sum-exp */
  double learned;       /* weight of the learned sink */
  rs_sum parts[RS_ROW_SEGMENTS];
  double *logits; /* (count,) where the largest are wanted; else NULL */
  size_t count;
  double *map; /* (map_keys,) of a row that has it; else NULL */
} share;

/* A needle that was added has the place of the key where it stands. */
static void add_to_map(share *s, size_t key, double weight) {
  const rs_range *keys = &s->job->map_keys;
  if (key < keys->begin || key >= keys->end) return;
  double *place = &s->map[key - keys->begin];
  *place = isnan(*place) ? weight : *place + weight;
}

static void add(share *s, rs_row_segment part, size_t key, double logit) {
  if (s->job->local > 0) rs_sum_add(&s->parts[part], exp2(logit - s->level));
  if (s->map != NULL) add_to_map(s, key, exp2(logit - s->level));
  if (s->logits != NULL) s->logits[s->count] = logit;
  s->count++;
}

static rs_row_segment part_of(const share *s, size_t key) {
  size_t distance = key > s->query ? key - s->query : s->query - key;
  if (key == s->needle) return RS_ROW_NEEDLE;
  if (key < s->job->sinks) return RS_ROW_SINK;
  return distance < s->job->local ? RS_ROW_LOCAL : RS_ROW_REST;
}

static void find_tops(share *s, rs_row *row) {
  const rs_attention_job *job = s->job;
  double last = job->tops[job->top_count - 1];
  size_t most = last < (double)s->count ? (size_t)last : s->count, taken = 0;
  rs_sum sum = {0};
  gather_largest(s->logits, (ptrdiff_t)s->count, (ptrdiff_t)most);
  qsort(s->logits, most, sizeof *s->logits, descending);
  for (size_t t = 0; t < job->top_count; t++) {
    for (; taken < most && (double)taken < job->tops[t]; taken++) rs_sum_add(&sum, exp2(s->logits[taken] - s->level));
    row->top_weight[t] = rs_sum_total(&sum);
  }
}

/* Parts add up to 1 with a learned sink. */
static void find_parts(const share *s, rs_row *row) {
  double all = s->learned;
  for (size_t p = 0; p < RS_ROW_SEGMENTS; p++) all += rs_sum_total(&s->parts[p]);
  for (size_t p = 0; p < RS_ROW_SEGMENTS; p++) row->segment_weight[p] = rs_sum_total(&s->parts[p]) / all;
}

static share begin_lane(rs_worker *worker, const rs_tile *tile, size_t lane, rs_row *row) {
  const rs_attention_job *job = &worker->loaded->job;
  bool among = tile->has_needle[lane] && job->needle_key == NULL;
  share s = {.job = job,
             .query = row->query,
             .needle = among ? job->needle_at[tile->first + lane] : RS_NO_NEEDLE,
             .level = (row->log_sum_exp - offset_of(worker->loaded, tile->first + lane)) * M_LOG2E};
  if (row->has_learned) s.learned = exp2((*job->learned_sink - row->log_sum_exp) * M_LOG2E);
  if (job->top_count > 0) s.logits = worker->rows + lane * (job->encoding->length + 1);
  if (rs_job_maps(job, row->query)) s.map = row->key_weight = row->top_weight + job->top_count;
  row->map_keys = job->map_keys;
  for (size_t n = 0; s.map != NULL && n < job->map_keys.end - job->map_keys.begin; n++) s.map[n] = NAN;
  if (tile->has_needle[lane] && !among)
    add(&s, RS_ROW_NEEDLE, job->needle_at[tile->first + lane], tile->needle_logit[lane]);
  return s;
}

/* One view and range of the mask. */
static void read_part(rs_worker *worker, const rs_tile *tile, rs_tile_part *part, share *shares) {
  const rs_loaded_job *loaded = worker->loaded;
  size_t rows = loaded->kernel->rows, lanes = loaded->kernel->lanes, each = rs_block_panels(loaded);
  size_t end = (part->keys.end + rows - 1) / rows;
  rs_score_call *call = &part->call;
  for (call->first = part->keys.begin / rows; call->first < end; call->first = call->end) {
    call->end = call->first + each < end ? call->first + each : end;
    rs_tile_set_bias(worker, tile, call);
    loaded->kernel->logits(call, worker->logits);
    for (size_t lane = 0; lane < tile->count; lane++) {
      size_t begin = (size_t)call->begin[lane], stop = (size_t)call->stop[lane], first = call->first * rows;
      if (begin < first) begin = first;
      if (stop > call->end * rows) stop = call->end * rows;
      for (size_t n = begin; n < stop; n++)
        add(&shares[lane], part_of(&shares[lane], n), n, worker->logits[(n - first) * lanes + lane]);
    }
  }
}

/* Whether any of the rows is to have shares: a map may have few of them. */
static bool wants_shares(const rs_attention_job *job, size_t count, const rs_row *rows) {
  bool mapped = false;
  for (size_t i = 0; i < count; i++) mapped |= rs_job_maps(job, rows[i].query);
  return mapped || job->local > 0 || job->top_count > 0;
}

void rs_share_rows(rs_worker *worker, size_t first, size_t count, rs_row *rows) {
  const rs_loaded_job *loaded = worker->loaded;
  rs_tile *tile = &worker->tiles[0];
  share shares[RS_SCORE_LANES];
  if (!wants_shares(&loaded->job, count, rows)) return;
  worker->first = worker->end = 0;
  rs_tile_place(worker, tile, first, count);
  for (size_t lane = 0; lane < count; lane++) shares[lane] = begin_lane(worker, tile, lane, &rows[lane]);
  for (size_t v = 0; v < loaded->views; v++)
    for (size_t r = 0; r < 2; r++) {
      rs_tile_part part = rs_tile_see(worker, tile, v, r);
      read_part(worker, tile, &part, shares);
    }
  for (size_t lane = 0; lane < count; lane++) {
    if (loaded->job.local > 0) find_parts(&shares[lane], &rows[lane]);
    if (loaded->job.top_count > 0) find_tops(&shares[lane], &rows[lane]);
  }
}
