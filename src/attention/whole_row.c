#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the largest weights ----------------------------------------------------------------------------------------- */

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

/* The weights (count,) lose their order. */
static void sum_largest(const rs_attention_job *job, double *weights, size_t count, double mass, rs_row *row) {
  size_t most = job->tops[job->top_count - 1] < (double)count ? (size_t)job->tops[job->top_count - 1] : count;
  size_t taken = 0;
  rs_sum sum = {0};
  gather_largest(weights, (ptrdiff_t)count, (ptrdiff_t)most);
  qsort(weights, most, sizeof *weights, descending);
  for (size_t t = 0; t < job->top_count; t++) {
    for (; taken < most && (double)taken < job->tops[t]; taken++) rs_sum_add(&sum, weights[taken]);
    row->top_weight[t] = rs_sum_total(&sum) / mass;
  }
}

/* ---- all weights ------------------------------------------------------------------------------------------------- */

/* What the keys of a row come to together, relative to e^reference. */
typedef struct row_sums {
  double reference;
  rs_sum mass, spread, sink; /* of weights; of weight times logit less the reference; of the first keys' weights */
  rs_sum segments[RS_ROW_SEGMENTS];
  size_t keys;
} row_sums;

static size_t distance_to(size_t query, size_t key) {
  return key > query ? key - query : query - key;
}

/* Adds `logit`; returns its weight. */
static double add_weight(row_sums *sums, double logit) {
  double t = logit - sums->reference, weight = exp(t);
  rs_sum_add(&sums->mass, weight);
  if (weight > 0) rs_sum_add(&sums->spread, weight * t); /* 0 times minus infinity is no number */
  return weight;
}

static rs_row_segment segment_of(const rs_attention_job *job, size_t needle, size_t key, size_t distance) {
  if (key == needle) return RS_ROW_NEEDLE;
  if (key < job->sinks) return RS_ROW_SINK;
  return distance < job->local ? RS_ROW_LOCAL : RS_ROW_REST;
}

/* Adds all keys of the row's ranges. */
static void add_keys(const rs_whole_row *whole, row_sums *sums, rs_row *row) {
  const rs_loaded_job *loaded = whole->loaded;
  const rs_attention_job *job = &loaded->job;
  size_t needle = whole->has_needle && job->needle_key == NULL ? job->needle_at[whole->index] : RS_NO_NEEDLE;
  for (size_t r = 0; r < whole->ranges; r++)
    for (size_t n = whole->seen[r].begin; n < whole->seen[r].end; n++) {
      size_t distance = distance_to(row->query, n);
      double weight = add_weight(sums, whole->logits[n]);
      whole->weights[sums->keys++] = weight;
      rs_sum_add(&whole->bins[loaded->bin_of[distance]], weight);
      if (job->local > 0) rs_sum_add(&sums->segments[segment_of(job, needle, n, distance)], weight);
      if (n < job->sinks) rs_sum_add(&sums->sink, weight);
    }
}

/* An added needle is one key more; one that is a key has been added. */
static void add_needle(const rs_whole_row *whole, row_sums *sums, rs_row *row) {
  const rs_attention_job *job = &whole->loaded->job;
  size_t position = job->needle_at != NULL ? job->needle_at[whole->index] : RS_NO_NEEDLE;
  row->needle_planted = position != RS_NO_NEEDLE;
  if (!row->needle_planted) return;
  row->needle_distance = distance_to(row->query, position);
  row->has_needle = whole->has_needle;
  if (!row->has_needle) return;
  row->needle_logit = whole->needle;
  row->needle_weight = exp(whole->needle - sums->reference);
  for (size_t r = 0; r < whole->ranges; r++)
    for (size_t n = whole->seen[r].begin; n < whole->seen[r].end; n++)
      row->needle_rank += whole->logits[n] > whole->needle;
  if (job->needle_key == NULL) return;
  whole->weights[sums->keys++] = add_weight(sums, whole->needle);
  rs_sum_add(&whole->bins[whole->loaded->bin_of[row->needle_distance]], row->needle_weight);
  rs_sum_add(&sums->segments[RS_ROW_NEEDLE], row->needle_weight);
}

/* The largest logit, the first of equals; the needle's if it is larger than all. */
static void find_largest(const rs_whole_row *whole, rs_row *row) {
  const rs_attention_job *job = &whole->loaded->job;
  bool added = whole->has_needle && job->needle_key != NULL;
  row->max_logit = -INFINITY;
  for (size_t r = 0; r < whole->ranges; r++)
    for (size_t n = whole->seen[r].begin; n < whole->seen[r].end; n++) {
      if (!(whole->logits[n] > row->max_logit)) continue;
      row->max_logit = whole->logits[n];
      row->argmax = n;
    }
  if (!added || !(whole->needle > row->max_logit)) return;
  row->max_logit = whole->needle;
  row->argmax = job->needle_at[whole->index];
}

static void note_moments(const rs_whole_row *whole, rs_row *row) {
  const rs_loaded_job *loaded = whole->loaded;
  for (size_t r = 0; r < whole->ranges; r++)
    for (size_t n = whole->seen[r].begin; n < whole->seen[r].end; n++) {
      size_t bin = loaded->bin_of[distance_to(row->query, n)];
      rs_moments moments = {row->bin_keys[bin], row->bin_mean[bin], row->bin_squares[bin]};
      rs_moments_add(&moments, whole->logits[n]);
      row->bin_keys[bin] = moments.count;
      row->bin_mean[bin] = moments.mean;
      row->bin_squares[bin] = moments.squares;
    }
}

/* Sums become shares of the whole. */
static void divide(const rs_whole_row *whole, const row_sums *sums, double mass, rs_row *row) {
  const rs_attention_job *job = &whole->loaded->job;
  double entropy = log(mass) - rs_sum_total(&sums->spread) / mass;
  row->log_sum_exp = sums->reference + log(mass);
  row->entropy = rs_row_entropy(row, entropy);
  row->sink_weight = rs_sum_total(&sums->sink) / mass;
  row->needle_weight /= mass;
  for (size_t b = 0; b < job->bins; b++) row->bin_weight[b] = rs_sum_total(&whole->bins[b]) / mass;
  for (size_t s = 0; s < RS_ROW_SEGMENTS && job->local > 0; s++)
    row->segment_weight[s] = rs_sum_total(&sums->segments[s]) / mass;
}

void rs_whole_row_finish(const rs_whole_row *whole, rs_row *row) {
  const rs_attention_job *job = &whole->loaded->job;
  row_sums sums = {0};
  row->head = job->head;
  row->query = job->queries[whole->index];
  find_largest(whole, row);
  sums.reference = job->learned_sink != NULL ? fmax(row->max_logit, *job->learned_sink) : row->max_logit;
  memset(whole->bins, 0, job->bins * sizeof *whole->bins);
  add_keys(whole, &sums, row);
  add_needle(whole, &sums, row);
  row->keys = sums.keys;
  row->has_learned = job->learned_sink != NULL;
  double learned = row->has_learned ? add_weight(&sums, *job->learned_sink) : 0;
  double mass = rs_sum_total(&sums.mass);
  row->learned_weight = learned / mass;
  divide(whole, &sums, mass, row);
  if (job->top_count > 0) sum_largest(job, whole->weights, sums.keys, mass, row);
  if (job->moments) note_moments(whole, row);
}
