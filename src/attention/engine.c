/* The streaming engine: memory linear in the length, time near the machine's multiply-adds. Blocks of query tiles are
 * handed to threads, the longest first; where there are few of them each also splits its keys into chunks, which are
 * joined in order afterwards. What a row comes to depends on the job alone, never on the threads. */
#include "engine.h"

#include "limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static const double TURN_COST = 32; /* multiply-adds that rotating and storing one number of a key comes to */

enum { UNITS = 32 }; /* with fewer blocks than this keys are split, too, so that threads find enough to share */

size_t rs_engine_threads(void) {
#ifdef _OPENMP
  return (size_t)omp_get_max_threads();
#else
  return 1;
#endif
}

size_t rs_engine_thread(void) {
#ifdef _OPENMP
  return (size_t)omp_get_thread_num();
#else
  return 0;
#endif
}

double rs_engine_bytes(size_t length, size_t head_dim, size_t views, size_t bins, size_t threads) {
  double keys = (double)views * (double)(length * head_dim), norms = (double)views * (double)length / 2;
  double tables = 4 * (double)length + (double)length / 4;
  double tile = (double)(RS_SCORE_LANES * (RS_TILES * views + 2) * head_dim + (4 * RS_TILES + 1) * bins);
  return 8 * (keys + norms + tables + (double)threads * (tile + 3.0 * (double)(RS_TURNED * head_dim)));
}

rs_status rs_engine_create(size_t length, size_t head_dim, size_t views, rs_engine **engine, rs_err *err) {
  *engine = NULL;
  rs_engine *made = rs_alloc(1, sizeof *made, err);
  if (made == NULL) return RS_MEMORY;
  *made = (rs_engine){.length = length, .head_dim = head_dim, .views = views};
  made->norm = rs_alloc(length, views * sizeof *made->norm, err); /* panels have at least one key */
  made->so_far = rs_alloc(length, views * sizeof *made->so_far, err);
  made->bin_of = rs_alloc(length, sizeof *made->bin_of, err);
  if (made->norm == NULL || made->so_far == NULL || made->bin_of == NULL) {
    rs_engine_free(made);
    return RS_MEMORY;
  }
  *engine = made;
  return RS_OK;
}

void rs_engine_free(rs_engine *engine) {
  if (engine == NULL) return;
  for (size_t i = 0; i < engine->worker_count; i++) rs_worker_clear(&engine->workers[i]);
  rs_bias_table_clear(&engine->bias);
  free(engine->workers);
  free(engine->keys.at);
  free(engine->norm);
  free(engine->so_far);
  free(engine->bin_of);
  free(engine);
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static rs_status check_job(const rs_engine *engine, const rs_attention_job *job, rs_err *err) {
  const rs_encoding *encoding = job->encoding;
  if (encoding->length > engine->length || encoding->head_dim != engine->head_dim || encoding->views > engine->views)
    return rs_fail(err, RS_INTERNAL, "the engine was made for %zu x %zu", engine->length, engine->head_dim);
  if (job->mask.kind == RS_BIDIRECTIONAL && encoding->views > 1)
    return rs_fail(err, RS_UNSUPPORTED, "%s is defined for causal attention only", encoding->method->name);
  if (job->bins > UINT16_MAX) return rs_fail(err, RS_UNSUPPORTED, "too many distance bins: %zu", job->bins);
  if (encoding->length > INT32_MAX - RS_TURNED)
    return rs_fail(err, RS_UNSUPPORTED, "attention over more than %d keys", INT32_MAX - RS_TURNED);
  if (job->bins == 0 || job->edges[job->bins] != encoding->length)
    return rs_fail(err, RS_INTERNAL, "the distance bins do not end at the length, %zu", encoding->length);
  return RS_OK;
}

static void fill_bins(rs_engine *engine, const rs_attention_job *job) {
  for (size_t b = 0; b < job->bins; b++)
    for (size_t distance = job->edges[b]; distance < job->edges[b + 1]; distance++)
      engine->bin_of[distance] = (uint16_t)b;
}

double rs_count_pairs(const rs_attention_job *job, size_t first, size_t count) {
  double pairs = 0;
  for (size_t i = first; i < first + count; i++) {
    rs_range seen[2];
    size_t ranges = rs_mask_ranges(&job->mask, job->encoding->length, job->queries[i], seen);
    for (size_t r = 0; r < ranges; r++) pairs += (double)(seen[r].end - seen[r].begin);
  }
  return pairs;
}

/* How many threads `work` multiply-adds are worth. */
static size_t threads_for(double work) {
  return work >= RS_WORTH_THREADS ? rs_engine_threads() : 1;
}

static rs_status prepare_workers(rs_engine *engine, const rs_attention_job *job, size_t threads, rs_err *err) {
  engine->ready = 0;
  if (threads > engine->worker_count) {
    rs_worker *workers = rs_alloc(threads, sizeof *workers, err);
    if (workers == NULL) return RS_MEMORY;
    if (engine->worker_count > 0) memcpy(workers, engine->workers, engine->worker_count * sizeof *workers);
    free(engine->workers);
    engine->workers = workers;
    engine->worker_count = threads;
  }
  for (; engine->ready < threads; engine->ready++)
    RS_TRY(rs_worker_prepare(engine, job, &engine->workers[engine->ready], err));
  return RS_OK;
}

rs_status rs_engine_load(rs_engine *engine, const rs_attention_job *job, rs_err *err) {
  RS_TRY(check_job(engine, job, err));
  fill_bins(engine, job);
  RS_TRY(rs_bias_table_measure(engine, job, err));
  RS_TRY(rs_limits_choose(engine, job, err));
  RS_TRY(rs_bias_table_load(engine, job, err));
  size_t reals = rs_views_of(job) * rs_view_reals(engine, job->encoding->length);
  RS_TRY(rs_reals_reserve(&engine->keys, reals, engine->kernel->real_bytes, err));
  double keys = TURN_COST * (double)(job->encoding->length * engine->head_dim * rs_views_of(job));
  size_t threads = threads_for(keys + rs_count_pairs(job, 0, job->query_count) * (double)engine->head_dim);
  RS_TRY(prepare_workers(engine, job, threads, err));
  rs_load_keys(engine, job, threads_for(keys));
  return RS_OK;
}

/* ---- observing --------------------------------------------------------------------------------------------------- */

/* How the queries [first, first + count) are cut: blocks of tiles, and chunks of panels for each. */
typedef struct plan {
  size_t first, count;
  size_t each;   /* queries of a block */
  size_t blocks; /* of queries */
  size_t chunks, panels;
} plan;

static plan make_plan(const rs_engine *engine, const rs_attention_job *job, size_t first, size_t count) {
  plan cut = {.first = first, .count = count, .each = RS_TILES * engine->kernel->lanes};
  cut.blocks = (count + cut.each - 1) / cut.each;
  size_t panels = rs_panels(engine, job->encoding->length), least = rs_block_panels(engine);
  size_t wanted = cut.blocks >= UNITS ? 1 : (UNITS + cut.blocks - 1) / cut.blocks;
  size_t most = (panels + least - 1) / least;
  cut.chunks = wanted < most ? wanted : most;
  cut.panels = (most + cut.chunks - 1) / cut.chunks * least;
  cut.chunks = (panels + cut.panels - 1) / cut.panels;
  return cut;
}

/* What one chunk of a block has seen. */
typedef struct partial {
  rs_tile *tiles;
  double *bins; /* of their states */
} partial;

/* Copies the tiles a worker has walked, bins included. */
static bool keep_partial(const rs_engine *engine, const rs_attention_job *job, const rs_worker *worker, size_t tiles,
                         partial *kept) {
  size_t each = rs_bins_each(engine, job), all = tiles * each;
  kept->bins = rs_alloc(all, sizeof *kept->bins, NULL);
  kept->tiles = rs_alloc(tiles, sizeof *kept->tiles, NULL);
  if (kept->bins == NULL || kept->tiles == NULL) return false;
  memcpy(kept->bins, worker->bins.at, all * sizeof *kept->bins);
  memcpy(kept->tiles, worker->tiles, tiles * sizeof *kept->tiles);
  for (size_t t = 0; t < tiles; t++) rs_place_bins(engine, job, kept->bins + t * each, &kept->tiles[t].state);
  return true;
}

static void free_partials(partial *kept, size_t units) {
  for (size_t unit = 0; unit < units && kept != NULL; unit++) {
    free(kept[unit].tiles);
    free(kept[unit].bins);
  }
  free(kept);
}

/* Unit number `unit`: the longest blocks first, and in each the nearest keys. */
static bool observe_unit(const rs_engine *engine, const rs_attention_job *job, const plan *cut, size_t unit,
                         rs_worker *worker, partial *kept, rs_observation *observation) {
  size_t block = cut->blocks - 1 - unit / cut->chunks, chunk = cut->chunks - 1 - unit % cut->chunks;
  size_t first = cut->first + block * cut->each, end = cut->first + cut->count;
  size_t panels = rs_panels(engine, job->encoding->length), stop = (chunk + 1) * cut->panels;
  if (end - first > cut->each) end = first + cut->each;
  rs_walk_block(engine, job, worker, first, end, chunk * cut->panels, stop < panels ? stop : panels);
  size_t tiles = (end - first + engine->kernel->lanes - 1) / engine->kernel->lanes;
  if (cut->chunks > 1) return keep_partial(engine, job, worker, tiles, &kept[unit]);
  for (size_t t = 0; t < tiles; t++)
    rs_tile_rows(engine, job, &worker->tiles[t], &observation->rows[worker->tiles[t].first - cut->first]);
  return true;
}

/* Joins the chunks of each block in order, and makes its rows. */
static void join_chunks(const rs_engine *engine, const rs_attention_job *job, const plan *cut, partial *kept,
                        rs_observation *observation) {
  for (size_t block = 0; block < cut->blocks; block++) {
    partial *nearest = &kept[block * cut->chunks];
    size_t first = nearest->tiles[0].first, end = first + cut->each;
    if (end > cut->first + cut->count) end = cut->first + cut->count;
    for (size_t t = 0; first + t * engine->kernel->lanes < end; t++) {
      for (size_t c = 1; c < cut->chunks; c++)
        rs_tile_join(engine, job->bins, &nearest->tiles[t], &nearest[c].tiles[t]);
      rs_tile_rows(engine, job, &nearest->tiles[t], &observation->rows[nearest->tiles[t].first - cut->first]);
    }
  }
}

static bool observe_units(const rs_engine *engine, const rs_attention_job *job, const plan *cut, size_t threads,
                          partial *kept, rs_observation *observation) {
  size_t units = cut->blocks * cut->chunks;
  bool failed = false;
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)threads) if (threads > 1) reduction(|| : failed)
  for (size_t unit = 0; unit < units; unit++)
    failed |= !observe_unit(engine, job, cut, unit, &engine->workers[rs_engine_thread()], kept, observation);
  (void)threads;
  return !failed;
}

/* Sums up what was left out; no row may be without numbers. */
static rs_status finish_rows(rs_observation *observation, rs_err *err) {
  for (size_t i = 0; i < observation->count; i++) {
    const rs_row *row = &observation->rows[i];
    observation->skipped += row->skipped_keys;
    observation->skipped_weight = fmax(observation->skipped_weight, row->skipped_weight);
    if (!isfinite(row->log_sum_exp))
      return rs_fail(err, RS_DOMAIN, "query %zu has logits that are not finite (an angle beyond its float format?)",
                     row->query);
  }
  return RS_OK;
}

static rs_status observe_into(rs_engine *engine, const rs_attention_job *job, size_t first, size_t count,
                              rs_observation *observation, rs_err *err) {
  if (count == 0) return RS_OK;
  plan cut = make_plan(engine, job, first, count);
  size_t units = cut.blocks * cut.chunks;
  observation->pairs = rs_count_pairs(job, first, count);
  size_t threads = threads_for(observation->pairs * (double)engine->head_dim);
  if (threads > units) threads = units;
  if (threads > engine->ready) threads = engine->ready;
  partial *kept = cut.chunks > 1 ? rs_alloc(units, sizeof *kept, err) : NULL;
  if (cut.chunks > 1 && kept == NULL) return RS_MEMORY;
  bool done = observe_units(engine, job, &cut, threads, kept, observation);
  if (done && kept != NULL) join_chunks(engine, job, &cut, kept, observation);
  free_partials(kept, units);
  return done ? finish_rows(observation, err)
              : rs_fail(err, RS_MEMORY, "out of memory: %zu chunks of keys", cut.chunks);
}

rs_status rs_engine_observe(rs_engine *engine, const rs_attention_job *job, size_t first, size_t count,
                            rs_observation **observation, rs_err *err) {
  rs_observation *made;
  *observation = NULL;
  RS_TRY(rs_observation_create(count, job->bins, job->moments, &made, err));
  made->scores = engine->scores;
  rs_status status = observe_into(engine, job, first, count, made, err);
  double above = 0;
  for (size_t i = 0; i < engine->ready; i++) above = fmax(above, engine->workers[i].above);
  made->error = rs_limits_error(engine, above);
  if (status == RS_OK)
    *observation = made;
  else
    rs_observation_free(made);
  return status;
}

rs_status rs_engine_run(rs_engine *engine, const rs_attention_job *job, rs_observation **observation, rs_err *err) {
  *observation = NULL;
  RS_TRY(rs_engine_load(engine, job, err));
  return rs_engine_observe(engine, job, 0, job->query_count, observation, err);
}
