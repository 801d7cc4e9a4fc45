/* One softmax row: the largest logit first, then weights relative to it, so that nothing overflows and the entropy,
 * ln Z - sum w t / Z with t = logit - max <= 0, has no cancellation. */
#include "observe.h"

#include <math.h>
#include <stdlib.h>

rs_status rs_observation_create(size_t queries, size_t bins, rs_observation **observation, rs_err *err) {
  *observation = NULL;
  rs_observation *made = rs_alloc(1, sizeof *made, err);
  if (made == NULL) return RS_MEMORY;
  made->rows = rs_alloc(queries, sizeof *made->rows, err);
  made->storage = rs_alloc(queries, 4 * bins * sizeof(double), err);
  if (made->rows == NULL || made->storage == NULL) {
    rs_observation_free(made);
    return RS_MEMORY;
  }
  for (size_t i = 0; i < queries; i++) {
    double *row = made->storage + i * 4 * bins;
    made->rows[i].bin_weight = row;
    made->rows[i].bin_keys = row + bins;
    made->rows[i].bin_mean = row + 2 * bins;
    made->rows[i].bin_squares = row + 3 * bins;
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

/* exp() is 0 below ln of half the smallest double, -745.13; asking it costs a slow path for each far key of a steep
 * bias. */
static const double LEAST_EXPONENT = -746;

static void find_largest(const rs_range *ranges, size_t count, const double *logits, rs_row *row) {
  row->max_logit = -INFINITY;
  row->argmax = ranges[0].begin;
  for (size_t r = 0; r < count; r++)
    for (size_t n = ranges[r].begin; n < ranges[r].end; n++)
      if (logits[n] > row->max_logit) {
        row->max_logit = logits[n];
        row->argmax = n;
      }
}

/* The needle's place: its rank among the other keys, and the largest logit if it is the needle's. */
static void place_needle(const rs_range *ranges, size_t count, const double *logits, size_t at, rs_row *row) {
  for (size_t r = 0; r < count; r++)
    for (size_t n = ranges[r].begin; n < ranges[r].end; n++) row->needle_rank += logits[n] > row->needle_logit;
  if (row->needle_logit <= row->max_logit) return;
  row->max_logit = row->needle_logit;
  row->argmax = at;
}

/* Running sums over the keys of a row. */
typedef struct sums {
  rs_sum weight, weighted_logit, sink;
} sums;

static void weigh(rs_row *row, size_t bin, double logit, sums *total) {
  double t = logit - row->max_logit, weight = t < LEAST_EXPONENT ? 0 : exp(t);
  rs_sum_add(&total->weight, weight);
  if (weight > 0) rs_sum_add(&total->weighted_logit, weight * t); /* exp(-inf) * -inf is no number */
  row->bin_weight[bin] += weight;
}

/* Welford's moments of the haystack's logits in one bin. */
static void note_logit(rs_row *row, size_t bin, double logit) {
  double keys = row->bin_keys[bin] += 1, shift = logit - row->bin_mean[bin];
  row->bin_mean[bin] += shift / keys;
  row->bin_squares[bin] += shift * (logit - row->bin_mean[bin]);
}

static void weigh_keys(const rs_attention_job *job, const rs_range *ranges, size_t count, const uint16_t *bin_of,
                       const double *logits, rs_row *row, sums *total) {
  for (size_t r = 0; r < count; r++)
    for (size_t n = ranges[r].begin; n < ranges[r].end; n++) {
      size_t distance = n > row->query ? n - row->query : row->query - n;
      weigh(row, bin_of[distance], logits[n], total);
      note_logit(row, bin_of[distance], logits[n]);
      if (n < job->sinks) rs_sum_add(&total->sink, exp(logits[n] - row->max_logit));
    }
}

static void normalise(const rs_attention_job *job, const sums *total, rs_row *row) {
  double z = rs_sum_total(&total->weight);
  row->log_sum_exp = row->max_logit + log(z);
  double entropy = log(z) - rs_sum_total(&total->weighted_logit) / z;
  row->entropy = entropy < 0 ? 0 : entropy; /* rounding may fall an ulp below 0; a NaN stays one */
  row->sink_weight = rs_sum_total(&total->sink) / z;
  row->needle_weight = row->has_needle ? exp(row->needle_logit - row->max_logit) / z : 0;
  for (size_t b = 0; b < job->bins; b++) row->bin_weight[b] /= z;
}

void rs_observe_row(const rs_attention_job *job, size_t index, const uint16_t *bin_of, const double *logits,
                    rs_row *row) {
  rs_range ranges[2];
  sums total = {0};
  row->query = job->queries[index];
  size_t count = rs_mask_ranges(&job->mask, job->encoding->length, row->query, ranges);
  for (size_t r = 0; r < count; r++) row->keys += ranges[r].end - ranges[r].begin;
  row->keys += row->has_needle;
  find_largest(ranges, count, logits, row);
  if (row->has_needle) {
    place_needle(ranges, count, logits, job->needle_at[index], row);
    weigh(row, bin_of[row->needle_distance], row->needle_logit, &total);
  }
  weigh_keys(job, ranges, count, bin_of, logits, row, &total);
  normalise(job, &total, row);
}
