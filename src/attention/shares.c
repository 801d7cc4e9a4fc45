/* The shares of a row's weight that its logits tell alone: those of parts of the context and of the largest keys. The
 * log-sum-exp is known by then, so that each logit is a weight by itself, and comes and goes in a block of keys. */
#include "engine.h"

#include <math.h>
#include <stdlib.h>

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
} share;

static void add(share *s, rs_row_segment part, double logit) {
  if (s->job->local > 0) rs_sum_add(&s->parts[part], exp2(logit - s->level));
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

static share begin_lane(rs_worker *worker, const rs_tile *tile, size_t lane, const rs_row *row) {
  const rs_attention_job *job = &worker->loaded->job;
  bool among = tile->has_needle[lane] && job->needle_key == NULL;
  share s = {.job = job,
             .query = row->query,
             .needle = among ? job->needle_at[tile->first + lane] : RS_NO_NEEDLE,
             .level = (row->log_sum_exp - rs_row_offset(worker->loaded, row->query)) * M_LOG2E};
  if (row->has_learned) s.learned = exp2((*job->learned_sink - row->log_sum_exp) * M_LOG2E);
  if (job->top_count > 0) s.logits = (double *)worker->rows.data + lane * (job->encoding->length + 1);
  if (tile->has_needle[lane] && !among) add(&s, RS_ROW_NEEDLE, tile->needle_logit[lane]);
  return s;
}

/* One view and range of the mask. */
static void read_part(rs_worker *worker, const rs_tile *tile, rs_tile_part *part, share *shares) {
  const rs_loaded_job *loaded = worker->loaded;
  size_t rows = loaded->kernel->rows, lanes = loaded->kernel->lanes, each = rs_block_panels(loaded);
  size_t end = (part->keys.end + rows - 1) / rows;
  rs_score_call *call = &part->call;
  const double *logits = worker->logits.data;
  for (call->first = part->keys.begin / rows; call->first < end; call->first = call->end) {
    call->end = call->first + each < end ? call->first + each : end;
    rs_part_set_bias(worker, tile, call);
    loaded->kernel->logits(call, worker->logits.data);
    for (size_t lane = 0; lane < tile->count; lane++) {
      size_t begin = (size_t)call->begin[lane], stop = (size_t)call->stop[lane], first = call->first * rows;
      if (begin < first) begin = first;
      if (stop > call->end * rows) stop = call->end * rows;
      for (size_t n = begin; n < stop; n++)
        add(&shares[lane], part_of(&shares[lane], n), logits[(n - first) * lanes + lane]);
    }
  }
}

void rs_share_rows(rs_worker *worker, size_t first, size_t count, rs_row *rows) {
  const rs_loaded_job *loaded = worker->loaded;
  rs_tile *tile = &worker->tiles[0];
  share shares[RS_SCORE_LANES];
  worker->first = worker->end = 0;
  rs_tile_place(worker, tile, first, count);
  for (size_t lane = 0; lane < count; lane++) shares[lane] = begin_lane(worker, tile, lane, &rows[lane]);
  for (size_t v = 0; v < loaded->views; v++)
    for (size_t r = 0; r < 2; r++) {
      rs_tile_part part = rs_part_make(worker, tile, v, r);
      read_part(worker, tile, &part, shares);
    }
  for (size_t lane = 0; lane < count; lane++) {
    if (loaded->job.local > 0) find_parts(&shares[lane], &rows[lane]);
    if (loaded->job.top_count > 0) find_tops(&shares[lane], &rows[lane]);
  }
}
