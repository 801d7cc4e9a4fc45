/* The blocked engine: keys are rotated once per head, then blocks of queries walk over them. Memory is linear in L: the
 * rotated keys of each view, and one row of logits for each query of the blocks in flight. Every row is computed by one
 * thread in an order that does not depend on the thread, so that any number of threads gives the same bits. */
#include "observe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  TILE = 4,       /* keys multiplied at a time */
  LANES = 8,      /* queries of a block: one AVX-512 register of doubles, four of SSE2 */
  KEY_BLOCK = 256 /* keys rotated as one unit of work */
};

struct rs_engine {
  size_t length, head_dim, views;
  double *keys;     /* [view][L][D] rotated, and TILE rows that are read but never used */
  uint16_t *bin_of; /* (L,) */
};

/* One number for each query of a block. The compiler splits it into the registers there are. */
typedef double lane_vector __attribute__((vector_size(LANES * sizeof(double))));

/* What one thread needs for a block of queries. */
typedef struct lane_block {
  double *packed; /* [D][LANES] rotated queries */
  double *logits; /* [LANES][L] */
  double *bias;   /* (L,) nats; stays zero without a bias */
  double *vector; /* (2 D) */
} lane_block;

/* One machine code for each of these x86-64 levels, chosen when the program starts. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define RS_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define RS_CLONES
#endif

size_t rs_engine_threads(void) {
#ifdef _OPENMP
  return (size_t)omp_get_max_threads();
#else
  return 1;
#endif
}

double rs_engine_bytes(size_t length, size_t head_dim, size_t views, size_t threads) {
  double keys = (double)views * (double)length * (double)head_dim, rows = (double)(threads * (LANES + 1) * length);
  return 8 * (keys + rows) + 2 * (double)length;
}

rs_status rs_engine_create(size_t length, size_t head_dim, size_t views, rs_engine **engine, rs_err *err) {
  *engine = NULL;
  rs_engine *made = rs_alloc(1, sizeof *made, err);
  if (made == NULL) return RS_MEMORY;
  *made = (rs_engine){.length = length, .head_dim = head_dim, .views = views};
  made->keys = rs_alloc(length + TILE, views * head_dim * sizeof *made->keys, err);
  made->bin_of = rs_alloc(length, sizeof *made->bin_of, err);
  if (made->keys == NULL || made->bin_of == NULL) {
    rs_engine_free(made);
    return RS_MEMORY;
  }
  *engine = made;
  return RS_OK;
}

void rs_engine_free(rs_engine *engine) {
  if (engine == NULL) return;
  free(engine->keys);
  free(engine->bin_of);
  free(engine);
}

static void clear_block(lane_block *block) {
  free(block->packed);
  free(block->logits);
  free(block->bias);
  free(block->vector);
}

static bool make_block(const rs_engine *engine, lane_block *block) {
  block->packed = aligned_alloc(64, engine->head_dim * LANES * sizeof(double));
  block->logits = rs_alloc(engine->length, LANES * sizeof(double), NULL);
  block->bias = rs_alloc(engine->length, sizeof(double), NULL);
  block->vector = rs_alloc(engine->head_dim, 2 * sizeof(double), NULL);
  return block->packed != NULL && block->logits != NULL && block->bias != NULL && block->vector != NULL;
}

static const double *view_keys(const rs_engine *engine, size_t view) {
  return engine->keys + view * engine->length * engine->head_dim;
}

/* Views differ in rotation alone, which does not act across sequences. */
static size_t views_of(const rs_attention_job *job) {
  return job->mask.kind == RS_CROSS ? 1 : job->encoding->views;
}

/* out (D) = rot(x + embedded, position of `token` in the view). */
static void embed_and_rotate(const rs_attention_job *job, rs_side side, size_t view, size_t token, const double *x,
                             const double *embedded, double *out) {
  for (size_t d = 0; d < job->encoding->head_dim; d++) out[d] = x[d] + (embedded != NULL ? embedded[d] : 0);
  if (job->mask.kind != RS_CROSS) rs_encoding_rotate_token(job->encoding, side, view, token, out, out);
}

static void rotate_keys(rs_engine *engine, const rs_attention_job *job) {
  const rs_encoding *encoding = job->encoding;
  const double *embedded = job->projection != NULL ? job->projection->k : NULL;
  size_t dims = encoding->head_dim, blocks = (encoding->length + KEY_BLOCK - 1) / KEY_BLOCK, views = views_of(job);
#pragma omp parallel for schedule(static) collapse(2)
  for (size_t v = 0; v < views; v++)
    for (size_t b = 0; b < blocks; b++) {
      size_t end = (b + 1) * KEY_BLOCK < encoding->length ? (b + 1) * KEY_BLOCK : encoding->length;
      for (size_t n = b * KEY_BLOCK; n < end; n++)
        embed_and_rotate(job, RS_KEY_SIDE, v, n, job->k + n * dims, embedded != NULL ? embedded + n * dims : NULL,
                         engine->keys + (v * engine->length + n) * dims);
    }
}

/* Query number `index` in view v, rotated. */
static void rotate_query(const rs_attention_job *job, size_t index, size_t view, double *out) {
  size_t dims = job->encoding->head_dim;
  embed_and_rotate(job, RS_QUERY_SIDE, view, job->queries[index], job->q + index * dims,
                   job->projection != NULL ? job->projection->q + index * dims : NULL, out);
}

/* Packs `lanes` queries from number `first` on for one view; idle lanes are zero. */
static void pack_queries(const rs_attention_job *job, size_t first, size_t lanes, size_t view, lane_block *block) {
  size_t dims = job->encoding->head_dim;
  memset(block->packed, 0, dims * LANES * sizeof(double));
  for (size_t i = 0; i < lanes; i++) {
    rotate_query(job, first + i, view, block->vector);
    for (size_t d = 0; d < dims; d++) block->packed[d * LANES + i] = block->vector[d];
  }
}

/* Keys [begin, end) of each lane that are read through one view and one range of the mask. */
typedef struct piece {
  rs_range lane[LANES];
  rs_range all; /* what covers them */
} piece;

static rs_range intersect(rs_range a, rs_range b) {
  rs_range both = {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
  return both.begin < both.end ? both : (rs_range){0, 0};
}

/* The part of query m's keys that lies in range number `r` of its mask and is read through `view`. */
static rs_range lane_range(const rs_attention_job *job, size_t query, size_t view, size_t r) {
  rs_segment segments[RS_VIEWS];
  rs_range seen[2];
  size_t count = rs_encoding_segments(job->encoding, query, segments);
  if (r >= rs_mask_ranges(&job->mask, job->encoding->length, query, seen)) return (rs_range){0, 0};
  if (job->mask.kind == RS_CROSS) return seen[r];
  for (size_t s = 0; s < count; s++)
    if (segments[s].view == view) return intersect((rs_range){segments[s].begin, segments[s].end}, seen[r]);
  return (rs_range){0, 0};
}

static piece find_piece(const rs_attention_job *job, size_t first, size_t lanes, size_t view, size_t r) {
  piece found = {.all = {SIZE_MAX, 0}};
  for (size_t i = 0; i < lanes; i++) {
    rs_range lane = lane_range(job, job->queries[first + i], view, r);
    found.lane[i] = lane;
    if (lane.end > 0 && lane.begin < found.all.begin) found.all.begin = lane.begin;
    if (lane.end > found.all.end) found.all.end = lane.end;
  }
  return found;
}

/* Dot products of LANES packed queries with TILE keys (rows of `keys`), each summed in the order of the dims as the
 * reference does. TILE independent sums hide the latency of the additions. */
static inline void dot_tile(const lane_vector *restrict packed, const double *restrict keys, size_t dims,
                            lane_vector out[TILE]) {
  lane_vector a = {0}, b = {0}, c = {0}, d = {0};
  for (size_t i = 0; i < dims; i++) {
    a += packed[i] * keys[i];
    b += packed[i] * keys[dims + i];
    c += packed[i] * keys[2 * dims + i];
    d += packed[i] * keys[3 * dims + i];
  }
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = d;
}

/* Products with keys n .. n + TILE - 1 into the rows of the lanes that read them. */
static inline void store_tile(const piece *part, size_t n, size_t length, const lane_vector *products, double *logits) {
  for (size_t i = 0; i < LANES; i++)
    for (size_t t = 0; t < TILE; t++)
      if (n + t >= part->lane[i].begin && n + t < part->lane[i].end) logits[i * length + n + t] = products[t][i];
}

/* Products of the packed queries with the keys of a piece, into the lanes' rows. The same source for each instruction
 * set, and no fused multiply-add in any: the same bits. The last tile of the last keys reads the padding of TILE - 1
 * rows. */
RS_CLONES static void multiply(const double *packed, const double *keys, const piece *part, size_t dims, size_t length,
                               double *logits) {
  for (size_t n = part->all.begin; n < part->all.end; n += TILE) {
    lane_vector products[TILE];
    dot_tile((const lane_vector *)packed, keys + n * dims, dims, products);
    store_tile(part, n, length, products, logits);
  }
}

/* From products to logits: scale, and bias where the encoding has one. `products` and `bias` start at key range.begin.
 */
static void finish(const rs_attention_job *job, size_t query, rs_range range, double *bias, double *products) {
  const rs_encoding *encoding = job->encoding;
  double scale = encoding->logit_scale[query], root = sqrt((double)encoding->head_dim);
  bool biased = encoding->method->bias != NULL && job->mask.kind != RS_CROSS;
  if (biased && range.begin < range.end)
    encoding->method->bias->row(encoding, job->head, query, range.begin, range.end, bias);
  for (size_t i = 0; i < range.end - range.begin; i++) products[i] = scale * products[i] / root + bias[i];
}

/* The rows of `lanes` queries from number `first` on. */
static void block_logits(const rs_engine *engine, const rs_attention_job *job, size_t first, size_t lanes,
                         lane_block *block) {
  for (size_t v = 0; v < views_of(job); v++) {
    pack_queries(job, first, lanes, v, block);
    for (size_t r = 0; r < 2; r++) {
      piece part = find_piece(job, first, lanes, v, r);
      multiply(block->packed, view_keys(engine, v), &part, job->encoding->head_dim, engine->length, block->logits);
      for (size_t i = 0; i < lanes; i++)
        finish(job, job->queries[first + i], part.lane[i], block->bias,
               block->logits + i * engine->length + part.lane[i].begin);
    }
  }
}

/* The needle of query number `index`, if its query sees it. */
static void needle_logit(const rs_attention_job *job, size_t index, lane_block *block, rs_row *row) {
  const rs_encoding *encoding = job->encoding;
  size_t dims = encoding->head_dim, m = job->queries[index], at = job->needle_at[index];
  rs_range seen[2];
  size_t ranges = rs_mask_ranges(&job->mask, encoding->length, m, seen);
  row->needle_planted = true;
  row->needle_distance = at > m ? at - m : m - at;
  for (size_t r = 0; r < ranges; r++) row->has_needle |= at >= seen[r].begin && at < seen[r].end;
  if (!row->has_needle) return;
  size_t view = rs_encoding_view(encoding, m, at);
  double *query = block->vector, *key = block->vector + dims, sum = 0;
  rotate_query(job, index, view, query);
  embed_and_rotate(job, RS_KEY_SIDE, view, at, job->needle_key + index * dims,
                   job->projection != NULL ? job->projection->k + at * dims : NULL, key);
  for (size_t d = 0; d < dims; d++) sum += query[d] * key[d];
  row->needle_logit = sum;
  finish(job, m, (rs_range){at, at + 1}, block->bias, &row->needle_logit);
}

static void observe_block(const rs_engine *engine, const rs_attention_job *job, size_t first, lane_block *block,
                          rs_observation *observation) {
  size_t lanes = job->query_count - first < LANES ? job->query_count - first : LANES;
  block_logits(engine, job, first, lanes, block);
  for (size_t i = 0; i < lanes; i++) {
    rs_row *row = &observation->rows[first + i];
    if (job->needle_at != NULL) needle_logit(job, first + i, block, row);
    rs_observe_row(job, first + i, engine->bin_of, block->logits + i * engine->length, row);
  }
}

static void fill_bins(rs_engine *engine, const rs_attention_job *job) {
  for (size_t b = 0; b < job->bins; b++)
    for (size_t distance = job->edges[b]; distance < job->edges[b + 1]; distance++)
      engine->bin_of[distance] = (uint16_t)b;
}

static rs_status check_job(const rs_engine *engine, const rs_attention_job *job, rs_err *err) {
  const rs_encoding *encoding = job->encoding;
  if (encoding->length > engine->length || encoding->head_dim != engine->head_dim || encoding->views > engine->views)
    return rs_fail(err, RS_INTERNAL, "the engine was made for %zu x %zu", engine->length, engine->head_dim);
  if (job->mask.kind == RS_BIDIRECTIONAL && encoding->views > 1)
    return rs_fail(err, RS_UNSUPPORTED, "%s is defined for causal attention only", encoding->method->name);
  if (job->bins > UINT16_MAX) return rs_fail(err, RS_UNSUPPORTED, "too many distance bins: %zu", job->bins);
  if (job->bins == 0 || job->edges[job->bins] != encoding->length)
    return rs_fail(err, RS_INTERNAL, "the distance bins do not end at the length, %zu", encoding->length);
  return RS_OK;
}

/* Largest queries last in the list see the most keys: handed out first, so that no thread is left with a long one. */
static bool observe_all(const rs_engine *engine, const rs_attention_job *job, rs_observation *observation) {
  size_t blocks = (job->query_count + LANES - 1) / LANES;
  bool failed = false;
#pragma omp parallel reduction(|| : failed)
  {
    lane_block block = {0};
    failed = !make_block(engine, &block);
#pragma omp for schedule(dynamic, 1)
    for (size_t b = 0; b < blocks; b++)
      if (!failed) observe_block(engine, job, (blocks - 1 - b) * LANES, &block, observation);
    clear_block(&block);
  }
  return !failed;
}

/* A position or angle beyond a short float format's range makes logits that are no numbers: no row to report. */
static rs_status check_rows(const rs_observation *observation, rs_err *err) {
  for (size_t i = 0; i < observation->count; i++)
    if (!isfinite(observation->rows[i].log_sum_exp))
      return rs_fail(err, RS_DOMAIN, "query %zu has logits that are not finite (an angle beyond its float format?)",
                     observation->rows[i].query);
  return RS_OK;
}

rs_status rs_engine_run(rs_engine *engine, const rs_attention_job *job, rs_observation **observation, rs_err *err) {
  *observation = NULL;
  RS_TRY(check_job(engine, job, err));
  rs_observation *made;
  RS_TRY(rs_observation_create(job->query_count, job->bins, &made, err));
  fill_bins(engine, job);
  rotate_keys(engine, job);
  if (!observe_all(engine, job, made)) {
    rs_observation_free(made);
    return rs_fail(err, RS_MEMORY, "out of memory: %d rows of %zu logits a thread", LANES, engine->length);
  }
  rs_status status = check_rows(made, err);
  if (status == RS_OK)
    *observation = made;
  else
    rs_observation_free(made);
  return status;
}
