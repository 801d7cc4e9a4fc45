#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"

enum { TILE = 4 }; /* queries that read the keys together */

bool rs_job_is_whole(const rs_attention_job *job) {
  return job->soft_cap != 0 || job->local > 0 || job->top_count > 0;
}

double rs_whole_bytes(size_t length, size_t threads) {
  return 8 * (double)threads * (2 * TILE + 1) * (double)length;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static rs_status prepare_worker(rs_whole_worker *worker, const rs_attention_job *job, rs_err *err) {
  size_t length = job->encoding->length, dims = job->encoding->head_dim;
  size_t numbers = TILE * dims + 2 * TILE * length + length + 1;
  RS_TRY(rs_turner_prepare(&worker->turner, job, err));
  RS_TRY(rs_reals_reserve(&worker->storage, numbers + 2 * job->bins, sizeof(double), err));
  worker->queries = worker->storage.data;
  worker->scores = worker->queries + TILE * dims;
  worker->logits = worker->scores + TILE * length;
  worker->weights = worker->logits + TILE * length;
  worker->bins = (rs_sum *)(worker->weights + length + 1);
  worker->above = 0;
  return RS_OK;
}

static rs_status prepare_workers(rs_whole *whole, size_t threads, rs_err *err) {
  if (threads > whole->worker_count) {
    rs_whole_worker *workers = rs_alloc(threads, sizeof *workers, err);
    if (workers == NULL) return RS_MEMORY;
    if (whole->worker_count > 0) memcpy(workers, whole->workers, whole->worker_count * sizeof *workers);
    free(whole->workers);
    whole->workers = workers;
    whole->worker_count = threads;
  }
  for (size_t i = 0; i < threads; i++) RS_TRY(prepare_worker(&whole->workers[i], &whole->loaded->job, err));
  return RS_OK;
}

/* Keys [begin, end) of one view, a column each. */
static void load_run(rs_whole *whole, const rs_turner *turner, size_t view, size_t begin, size_t end) {
  size_t length = whole->loaded->job.encoding->length, dims = whole->loaded->dims;
  double *keys = (double *)whole->keys.data + view * dims * length + begin;
  rs_kernels_get()->net_f64->turn_over(rs_turn_keys(turner, view, begin, end), dims, end - begin, dims, keys, length);
}

rs_status rs_whole_load(rs_whole *whole, const rs_loaded_job *loaded, size_t threads, rs_err *err) {
  size_t length = loaded->job.encoding->length, runs = (length + RS_TURNED - 1) / RS_TURNED, views = loaded->views;
  whole->loaded = loaded;
  RS_TRY(rs_reals_reserve(&whole->keys, views * length * loaded->dims, sizeof(double), err));
  RS_TRY(prepare_workers(whole, threads, err));
#pragma omp parallel for schedule(static) collapse(2) num_threads((int)threads) if (threads > 1)
  for (size_t v = 0; v < views; v++)
    for (size_t run = 0; run < runs; run++) {
      size_t begin = run * RS_TURNED, end = begin + RS_TURNED < length ? begin + RS_TURNED : length;
      load_run(whole, &whole->workers[rs_engine_thread()].turner, v, begin, end);
    }
  return RS_OK;
}

void rs_whole_clear(rs_whole *whole) {
  for (size_t i = 0; i < whole->worker_count; i++) {
    rs_turner_clear(&whole->workers[i].turner);
    rs_reals_clear(&whole->workers[i].storage);
  }
  free(whole->workers);
  rs_reals_clear(&whole->keys);
}

/* ---- logits ------------------------------------------------------------------------------------------------------ */

/* Some queries of the job on their way to rows. */
typedef struct tile {
  const rs_whole *whole;
  rs_whole_worker *worker;
  size_t first, count;
  rs_range reach;      /* what covers the keys that they see */
  double needle[TILE]; /* products with needles, before cap and bias */
} tile;

static void turn_queries(const tile *t, size_t view) {
  const rs_attention_job *job = &t->whole->loaded->job;
  const rs_encoding *encoding = job->encoding;
  size_t dims = t->whole->loaded->dims;
  double of_head = rs_encoding_head_scale(encoding, job->head);
  for (size_t i = 0; i < t->count; i++) {
    const double *turned = rs_turn_query(&t->worker->turner, view, t->first + i);
    double factor = of_head * encoding->logit_scale[job->queries[t->first + i]] / sqrt((double)dims);
    for (size_t d = 0; d < dims; d++) t->worker->queries[i * dims + d] = factor * turned[d];
  }
}

static rs_range find_reach(const tile *t) {
  const rs_attention_job *job = &t->whole->loaded->job;
  rs_range reach = {SIZE_MAX, 0}, seen[2];
  for (size_t i = 0; i < t->count; i++) {
    size_t ranges = rs_mask_ranges(&job->mask, job->encoding->length, job->queries[t->first + i], seen);
    if (seen[0].begin < reach.begin) reach.begin = seen[0].begin;
    if (seen[ranges - 1].end > reach.end) reach.end = seen[ranges - 1].end;
  }
  return reach;
}

/* Of each query with the keys in reach, as one view has them. */
static void multiply(const tile *t, size_t view) {
  const rs_loaded_job *loaded = t->whole->loaded;
  size_t length = loaded->job.encoding->length, dims = loaded->dims;
  const double *keys = (const double *)t->whole->keys.data + view * dims * length;
  rs_kernels_get()->net_f64->product(&(rs_product){.rows = t->count,
                                                   .columns = t->reach.end - t->reach.begin,
                                                   .depth = dims,
                                                   .a = t->worker->queries,
                                                   .a_step = dims,
                                                   .b = keys + t->reach.begin,
                                                   .b_step = length,
                                                   .c = t->worker->scores + t->reach.begin,
                                                   .c_step = length});
}

/* What a query reads through the view becomes part of its row. */
static void copy_view(const tile *t, size_t i, size_t view) {
  const rs_loaded_job *loaded = t->whole->loaded;
  size_t length = loaded->job.encoding->length, count = 1;
  rs_segment segments[RS_VIEWS] = {{0, length, 0}};
  if (loaded->views > 1)
    count = rs_encoding_segments(loaded->job.encoding, loaded->job.queries[t->first + i], segments);
  for (size_t s = 0; s < count; s++) {
    size_t begin = segments[s].begin > t->reach.begin ? segments[s].begin : t->reach.begin;
    size_t end = segments[s].end < t->reach.end ? segments[s].end : t->reach.end, first = i * length + begin;
    if (segments[s].view == view && begin < end)
      memcpy(t->worker->logits + first, t->worker->scores + first, (end - begin) * sizeof(double));
  }
}

/* The product with the needle, where it is read through the view. A needle that is a key has the key's. */
static void multiply_needle(tile *t, size_t i, size_t view) {
  const rs_loaded_job *loaded = t->whole->loaded;
  const rs_attention_job *job = &loaded->job;
  size_t dims = loaded->dims, m = job->queries[t->first + i];
  size_t position = job->needle_at != NULL ? job->needle_at[t->first + i] : RS_NO_NEEDLE;
  if (position == RS_NO_NEEDLE || job->needle_key == NULL) return;
  size_t needed = loaded->views > 1 && position <= m ? rs_encoding_view(job->encoding, m, position) : 0;
  if (needed != view) return;
  const double *key = rs_turn_key(&t->worker->turner, view, position, job->needle_key + (t->first + i) * dims);
  rs_kernels_get()->net_f64->product(&(rs_product){.rows = 1,
                                                   .columns = 1,
                                                   .depth = dims,
                                                   .a = t->worker->queries + i * dims,
                                                   .a_step = dims,
                                                   .b = key,
                                                   .b_step = 1,
                                                   .c = &t->needle[i],
                                                   .c_step = 1});
}

/* Products become logits: capped, then with their bias. */
static void make_logits(const tile *t, size_t query, size_t begin, size_t end, double *logits) {
  const rs_attention_job *job = &t->whole->loaded->job;
  double *bias = t->worker->weights;
  if (job->soft_cap != 0) rs_kernels_get()->net_f64->cap_rows(job->soft_cap, 1, end - begin, logits, end - begin, NULL);
  if (!t->whole->loaded->bias.any) return;
  rs_encoding_bias_row(job->encoding, job->head, query, begin, end, bias);
  for (size_t n = 0; n < end - begin; n++) {
    logits[n] += bias[n];
    t->worker->above = fmax(t->worker->above, bias[n]);
  }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void finish_row(tile *t, size_t i, rs_row *row) {
  const rs_loaded_job *loaded = t->whole->loaded;
  const rs_attention_job *job = &loaded->job;
  size_t length = job->encoding->length, m = job->queries[t->first + i];
  double *logits = t->worker->logits + i * length;
  size_t needle = job->needle_at != NULL ? job->needle_at[t->first + i] : RS_NO_NEEDLE;
  rs_whole_row whole = {.loaded = loaded,
                        .index = t->first + i,
                        .logits = logits,
                        .weights = t->worker->weights,
                        .bins = t->worker->bins};
  whole.ranges = rs_mask_ranges(&job->mask, length, m, whole.seen);
  for (size_t r = 0; r < whole.ranges; r++)
    make_logits(t, m, whole.seen[r].begin, whole.seen[r].end, logits + whole.seen[r].begin);
  whole.has_needle = needle != RS_NO_NEEDLE && rs_job_sees(job, m, needle);
  if (whole.has_needle && job->needle_key != NULL) make_logits(t, m, needle, needle + 1, &t->needle[i]);
  if (whole.has_needle) whole.needle = job->needle_key != NULL ? t->needle[i] : logits[needle];
  rs_whole_row_finish(&whole, row);
}

static void observe_tile(tile *t, rs_row *rows) {
  for (size_t v = 0; v < t->whole->loaded->views; v++) {
    turn_queries(t, v);
    multiply(t, v);
    for (size_t i = 0; i < t->count; i++) {
      copy_view(t, i, v);
      multiply_needle(t, i, v);
    }
  }
  for (size_t i = 0; i < t->count; i++) finish_row(t, i, &rows[i]);
}

double rs_whole_observe(const rs_whole *whole, size_t first, size_t count, size_t threads, rs_row *rows) {
  size_t tiles = (count + TILE - 1) / TILE;
  double above = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)threads) if (threads > 1)
  for (size_t i = 0; i < tiles; i++) {
    size_t left = count - i * TILE;
    tile t = {.whole = whole, .worker = &whole->workers[rs_engine_thread()], .first = first + i * TILE};
    t.count = left < TILE ? left : TILE;
    t.reach = find_reach(&t);
    observe_tile(&t, rows + i * TILE);
  }
  for (size_t i = 0; i < whole->worker_count; i++) above = fmax(above, whole->workers[i].above);
  return above;
}
