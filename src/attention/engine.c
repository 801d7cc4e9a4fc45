/* The streaming engine: memory linear in the length, time near the machine's multiply-adds. A job is loaded (keys
 * rotated into panels, the bias tabulated, norms taken), then tiles of queries walk over the panels. Blocks of tiles
 * are handed to threads, the longest first; where there are few of them each also splits its keys into chunks, which
 * are joined in order afterwards. What a row comes to depends on the job alone, never on the threads.
 *
 * Models have a way of their own (model/attend.h), which makes outputs and gradients. For statistics it would be
 * slower: its tiles, softmax and sums of them over 32768 tokens of 64 (128) dims in floats take 1.53 (1.61) times as
 * long on one core with AVX-512, and as long as here over 4096. */
#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Multiply-adds below which threads cost more than they bring: some 50 microseconds of one core. */
static const double WORTH_THREADS = 4e6;

enum { UNITS = 32 }; /* with fewer blocks than this keys are split, too, so that threads find enough to share */

struct rs_engine {
  size_t length, head_dim, views; /* the largest job */
  rs_arena arena;                 /* of the loaded job's arrays */
  rs_loaded_job loaded;
  rs_worker *workers;         /* one for each thread that ever took part */
  size_t worker_count, ready; /* ready: threads for the job that is loaded; 0: none is */
};

double rs_top_bytes(size_t length, size_t threads) {
  return 8 * (double)threads * RS_SCORE_LANES / 2 * (double)(length + 1); /* a vector has half as many doubles */
}

double rs_engine_bytes(size_t length, size_t head_dim, size_t views, size_t bins, size_t threads) {
  double keys = (double)views * (double)(length * head_dim), norms = (double)views * (double)length / 2;
  double tables = 4 * (double)length + (double)length / 4;
  double tile = (double)(RS_SCORE_LANES * (RS_TILES * views + 2) * head_dim + (4 * RS_TILES + 1) * bins);
  return 8 * (keys + norms + tables + (double)threads * (tile + 3.0 * (double)(RS_TURNED * head_dim)));
}

rs_status rs_engine_create(size_t length, size_t head_dim, size_t views, rs_engine **engine, rs_err *err) {
  rs_engine *fresh = rs_alloc(1, sizeof *fresh, err);
  *engine = NULL;
  if (fresh == NULL) return RS_MEMORY;
  *fresh = (rs_engine){.length = length, .head_dim = head_dim, .views = views};
  rs_loaded_job *loaded = &fresh->loaded;
  rs_arena *arena = &fresh->arena;
  loaded->norm = rs_arena_take(arena, length, views * sizeof *loaded->norm); /* panels have at least one key */
  loaded->norm_so_far = rs_arena_take(arena, length, views * sizeof *loaded->norm_so_far);
  loaded->bin_of = rs_arena_take(arena, length, sizeof *loaded->bin_of);
  loaded->bias.past = rs_arena_take(arena, length, sizeof(double));
  loaded->bias.future = rs_arena_take(arena, length, sizeof(double));
  rs_status status = rs_arena_check(arena, err);
  if (status != RS_OK) {
    rs_engine_free(fresh);
    return status;
  }
  *engine = fresh;
  return RS_OK;
}

void rs_engine_free(rs_engine *engine) {
  if (engine == NULL) return;
  for (size_t i = 0; i < engine->worker_count; i++) free(engine->workers[i].storage.data);
  free(engine->workers);
  free(engine->loaded.bias.table.data);
  free(engine->loaded.vectors.table.data);
  free(engine->loaded.keys.data);
  rs_arena_clear(&engine->arena);
  free(engine);
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static rs_status check_job(const rs_engine *engine, const rs_attention_job *job, rs_err *err) {
  const rs_encoding *encoding = job->encoding;
  if (encoding->length > engine->length || encoding->head_dim != engine->head_dim || encoding->views > engine->views)
    return rs_fail(err, RS_INTERNAL, "the engine was made for %zu x %zu", engine->length, engine->head_dim);
  if (rs_mask_sees_ahead(&job->mask) && encoding->views > 1)
    return rs_fail(err, RS_UNSUPPORTED, "%s is defined for causal attention only", encoding->method->name);
  if (job->bins > UINT16_MAX) return rs_fail(err, RS_UNSUPPORTED, "too many distance bins: %zu", job->bins);
  if (encoding->length > INT32_MAX - RS_TURNED)
    return rs_fail(err, RS_UNSUPPORTED, "attention over more than %d keys", INT32_MAX - RS_TURNED);
  if (job->bins == 0 || job->edges[job->bins] != encoding->length)
    return rs_fail(err, RS_INTERNAL, "the distance bins do not end at the length, %zu", encoding->length);
  return RS_OK;
}

static void fill_bins(rs_loaded_job *loaded) {
  const size_t *edges = loaded->job.edges;
  for (size_t b = 0; b < loaded->job.bins; b++)
    for (size_t distance = edges[b]; distance < edges[b + 1]; distance++) loaded->bin_of[distance] = (uint16_t)b;
}

/* What every job has before its keys are read. */
static rs_status begin_load(rs_loaded_job *loaded, const rs_attention_job *job, rs_err *err) {
  const rs_encoding *encoding = job->encoding;
  loaded->encoding = rs_encoding_of_head(encoding, job->head);
  loaded->job = *job;
  loaded->job.encoding = &loaded->encoding;
  loaded->job.map_keys.begin = job->map_keys.begin < encoding->length ? job->map_keys.begin : encoding->length;
  loaded->job.map_keys.end = job->map_keys.end < encoding->length ? job->map_keys.end : encoding->length;
  if (job->soft_cap != 0 || rs_job_has_shares(job)) { /* which are exact */
    loaded->job.scores = RS_SCORES_F64;
    loaded->job.epsilon = 0;
  }
  loaded->dims = encoding->head_dim;
  loaded->views = job->mask.kind == RS_CROSS ? 1 : encoding->views;
  fill_bins(loaded);
  rs_bias_table_measure(&loaded->bias, job);
  RS_TRY(rs_vector_table_load(&loaded->vectors, job, err));
  return rs_limits_choose(loaded, err);
}

/* Room for the panels of keys, and the table of the bias. */
static rs_status make_panels(rs_loaded_job *loaded, rs_err *err) {
  const rs_attention_job *job = &loaded->job;
  loaded->panels = (job->encoding->length + loaded->kernel->rows - 1) / loaded->kernel->rows;
  RS_TRY(rs_bias_table_load(&loaded->bias, job, loaded->kernel, err));
  return rs_reals_reserve(&loaded->keys, loaded->views * rs_view_reals(loaded), loaded->kernel->real_bytes, err);
}

/* How many threads `work` multiply-adds are worth. */
static size_t threads_for(double work) {
  return work >= WORTH_THREADS ? rs_engine_threads() : 1;
}

static rs_status prepare_workers(rs_engine *engine, size_t threads, rs_err *err) {
  RS_TRY(RS_GROW(engine->workers, &engine->worker_count, threads, err));
  for (; engine->ready < threads; engine->ready++)
    RS_TRY(rs_worker_prepare(&engine->workers[engine->ready], &engine->loaded, err));
  return RS_OK;
}

rs_status rs_engine_load(rs_engine *engine, const rs_attention_job *job, rs_err *err) {
  rs_loaded_job *loaded = &engine->loaded;
  engine->ready = 0;
  RS_TRY(check_job(engine, job, err));
  RS_TRY(begin_load(loaded, job, err));
  double keys = rs_load_work(loaded), pairs = rs_job_pairs(job, 0, job->query_count);
  size_t threads = threads_for(keys + pairs * (double)loaded->dims);
  RS_TRY(make_panels(loaded, err));
  RS_TRY(prepare_workers(engine, threads, err));
  rs_load_keys(loaded, engine->workers, threads_for(keys));
  return RS_OK;
}

/* ---- observing --------------------------------------------------------------------------------------------------- */

/* What one chunk of a block has seen. */
typedef struct partial {
  rs_tile *tiles;
  double *bins; /* of their states */
} partial;

/* How some queries of the job are cut: into blocks of tiles, and the keys of each into chunks of panels. */
typedef struct plan {
  const rs_loaded_job *loaded;
  rs_range queries;
  size_t each;   /* queries of a block */
  size_t blocks; /* of queries */
  size_t chunks, panels;
  partial *partials; /* (blocks * chunks,) or NULL where chunks is 1 */
  rs_row *rows;      /* of the queries */
} plan;

static plan make_plan(const rs_loaded_job *loaded, rs_range queries, rs_row *rows) {
  plan cut = {.loaded = loaded, .queries = queries, .each = RS_TILES * loaded->kernel->lanes, .rows = rows};
  cut.blocks = (queries.end - queries.begin + cut.each - 1) / cut.each;
  size_t panels = loaded->panels, least = rs_block_panels(loaded);
  size_t wanted = cut.blocks >= UNITS ? 1 : (UNITS + cut.blocks - 1) / cut.blocks;
  size_t most = (panels + least - 1) / least;
  cut.chunks = wanted < most ? wanted : most;
  cut.panels = (most + cut.chunks - 1) / cut.chunks * least;
  cut.chunks = (panels + cut.panels - 1) / cut.panels;
  return cut;
}

/* The queries of block number `block`, and how many tiles they are. */
static rs_range block_queries(const plan *cut, size_t block) {
  size_t first = cut->queries.begin + block * cut->each, end = cut->queries.end;
  return (rs_range){first, end - first > cut->each ? first + cut->each : end};
}

static size_t count_tiles(const plan *cut, rs_range queries) {
  size_t lanes = cut->loaded->kernel->lanes;
  return (queries.end - queries.begin + lanes - 1) / lanes;
}

static void write_rows(const plan *cut, rs_tile *tile) {
  rs_tile_finish_rows(cut->loaded, tile, &cut->rows[tile->first - cut->queries.begin]);
}

/* Copies the tiles a worker has walked, bins included. */
static bool keep_partial(const plan *cut, const rs_worker *worker, size_t tiles, partial *copy) {
  size_t each = rs_state_bins(cut->loaded), all = tiles * each;
  copy->bins = rs_alloc(all, sizeof *copy->bins, NULL);
  copy->tiles = rs_alloc(tiles, sizeof *copy->tiles, NULL);
  if (copy->bins == NULL || copy->tiles == NULL) return false;
  memcpy(copy->bins, worker->bins, all * sizeof *copy->bins);
  memcpy(copy->tiles, worker->tiles, tiles * sizeof *copy->tiles);
  for (size_t t = 0; t < tiles; t++) rs_state_place(cut->loaded, copy->bins + t * each, &copy->tiles[t].state);
  return true;
}

static void free_partials(plan *cut) {
  for (size_t unit = 0; unit < cut->blocks * cut->chunks && cut->partials != NULL; unit++) {
    free(cut->partials[unit].tiles);
    free(cut->partials[unit].bins);
  }
  free(cut->partials);
}

/* Unit number `unit`: the longest blocks first, and in each the nearest keys. */
static bool observe_unit(const plan *cut, size_t unit, rs_worker *worker) {
  size_t chunk = cut->chunks - 1 - unit % cut->chunks, stop = (chunk + 1) * cut->panels;
  rs_range queries = block_queries(cut, cut->blocks - 1 - unit / cut->chunks);
  rs_range panels = {chunk * cut->panels, stop < cut->loaded->panels ? stop : cut->loaded->panels};
  rs_walk_block(worker, queries, panels);
  size_t tiles = count_tiles(cut, queries);
  if (cut->chunks > 1) return keep_partial(cut, worker, tiles, &cut->partials[unit]);
  for (size_t t = 0; t < tiles; t++) write_rows(cut, &worker->tiles[t]);
  return true;
}

static bool observe_units(const plan *cut, rs_worker *workers, size_t threads) {
  size_t units = cut->blocks * cut->chunks;
  bool failed = false;
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)threads) if (threads > 1) reduction(|| : failed)
  for (size_t unit = 0; unit < units; unit++) failed |= !observe_unit(cut, unit, &workers[rs_engine_thread()]);
  (void)threads;
  return !failed;
}

/* Joins the chunks of each block in order, the nearest first, and makes its rows. */
static void join_chunks(const plan *cut) {
  for (size_t block = 0; block < cut->blocks; block++) {
    partial *nearest = &cut->partials[block * cut->chunks];
    size_t tiles = count_tiles(cut, block_queries(cut, cut->blocks - 1 - block));
    for (size_t t = 0; t < tiles; t++) {
      for (size_t c = 1; c < cut->chunks; c++) rs_tile_join(cut->loaded, &nearest->tiles[t], &nearest[c].tiles[t]);
      write_rows(cut, &nearest->tiles[t]);
    }
  }
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

/* The shares of the rows, tile by tile. */
static void share_rows(const plan *cut, rs_worker *workers, size_t threads) {
  size_t lanes = cut->loaded->kernel->lanes, first = cut->queries.begin, count = cut->queries.end - first;
  size_t tiles = (count + lanes - 1) / lanes;
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)threads) if (threads > 1)
  for (size_t i = 0; i < tiles; i++) {
    size_t begin = (tiles - 1 - i) * lanes, left = count - begin;
    rs_share_rows(&workers[rs_engine_thread()], first + begin, left < lanes ? left : lanes, cut->rows + begin);
  }
  (void)threads;
}

/* *above gets the largest bias that came up, nats. */
static rs_status observe_rows(rs_engine *engine, size_t first, rs_observation *observation, double *above,
                              rs_err *err) {
  const rs_loaded_job *loaded = &engine->loaded;
  plan cut = make_plan(loaded, (rs_range){first, first + observation->count}, observation->rows);
  size_t units = cut.blocks * cut.chunks, ready = engine->ready;
  observation->pairs = rs_job_pairs(&loaded->job, first, observation->count);
  size_t threads = threads_for(observation->pairs * (double)loaded->dims);
  if (threads > ready) threads = ready;
  if (cut.chunks > 1) {
    cut.partials = rs_alloc(units, sizeof *cut.partials, err);
    if (cut.partials == NULL) return RS_MEMORY;
  }
  bool complete = observe_units(&cut, engine->workers, threads < units ? threads : units);
  if (complete && cut.chunks > 1) join_chunks(&cut);
  free_partials(&cut);
  if (complete && rs_job_has_shares(&loaded->job)) share_rows(&cut, engine->workers, threads);
  for (size_t i = 0; i < ready; i++) *above = fmax(*above, engine->workers[i].above);
  return complete ? RS_OK : rs_fail(err, RS_MEMORY, "out of memory: %zu chunks of keys", cut.chunks);
}

rs_status rs_engine_observe(rs_engine *engine, size_t first, size_t count, rs_observation **observation, rs_err *err) {
  const rs_attention_job *job = &engine->loaded.job;
  rs_observation *seen;
  double above = 0;
  *observation = NULL;
  if (engine->ready == 0) return rs_fail(err, RS_INTERNAL, "the engine has no job to observe");
  if (first > job->query_count || count > job->query_count - first)
    return rs_fail(err, RS_INTERNAL, "the engine's job has %zu queries", job->query_count);
  RS_TRY(rs_observation_create(job, count, &seen, err));
  seen->scores = engine->loaded.scores;
  rs_status status = count > 0 ? observe_rows(engine, first, seen, &above, err) : RS_OK;
  seen->error = rs_limits_error(&engine->loaded, above);
  if (status == RS_OK) status = finish_rows(seen, err);
  if (status == RS_OK)
    *observation = seen;
  else
    rs_observation_free(seen);
  return status;
}

rs_status rs_engine_run(rs_engine *engine, const rs_attention_job *job, rs_observation **observation, rs_err *err) {
  *observation = NULL;
  RS_TRY(rs_engine_load(engine, job, err));
  return rs_engine_observe(engine, 0, job->query_count, observation, err);
}
