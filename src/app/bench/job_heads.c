/* Statistics of one causal head, as a sweep makes one: of every query, of the last few, under biases, and at growing
 * lengths. */
#include "bench.h"

#include <stdlib.h>

/* ---- a head ------------------------------------------------------------------------------------------------------ */

enum { SEED = 1, SINKS = 4, BINS_PER_OCTAVE = 4 }; /* the bins of a config that says nothing of them */

typedef struct head {
  rs_attention_job job;
  rs_encoding *encoding;
  rs_engine *engine;
  size_t *edges;
  rs_arena arena; /* of queries, q and k */
  double pairs;   /* (query, key) that see each other */
  bool loaded;    /* the keys were laid out before: a run only observes */
} head;

rs_status rs_bench_encoding(const rs_bench_method *method, size_t length, rs_encoding **encoding, rs_err *err) {
  rs_model model = {0};
  rs_recipe recipe = {0};
  rs_status status = rs_preset_model("llama-2-7b", &model, err);
  model.pair_layout = method->layout;
  if (status == RS_OK) status = rs_recipe_init(&recipe, rs_method_find(method->name), err);
  if (status == RS_OK && method->parameter != NULL)
    status = rs_recipe_set(&recipe, method->parameter, method->value, err);
  if (status == RS_OK) status = rs_recipe_resolve(&recipe, &model, err);
  if (status == RS_OK) status = rs_recipe_check(&recipe, &model, err);
  if (status == RS_OK) status = rs_encoding_create(&recipe, &model, length, method->tokens, NULL, encoding, err);
  rs_recipe_clear(&recipe);
  rs_model_clear(&model);
  return status;
}

/* N(0, 1), in parts that depend on no thread. */
static void draw(uint32_t purpose, size_t count, double *numbers) {
  enum { BLOCK = 1 << 16 };
#pragma omp parallel for schedule(static)
  for (size_t first = 0; first < count; first += BLOCK)
    rs_gaussian_fill((rs_stream){SEED, purpose, 0}, first, count - first < BLOCK ? count - first : BLOCK,
                     numbers + first);
}

static rs_status fill(head *h, const rs_bench_method *method, size_t length, size_t count, rs_score_format scores,
                      rs_err *err) {
  size_t bins;
  RS_TRY(rs_bench_encoding(method, length, &h->encoding, err));
  RS_TRY(rs_engine_create(length, RS_BENCH_HEAD_DIM, h->encoding->views, &h->engine, err));
  RS_TRY(rs_log_edges(length, BINS_PER_OCTAVE, &h->edges, &bins, err));
  size_t *queries = rs_arena_take(&h->arena, count, sizeof *queries); /* the last ones */
  double *k = rs_arena_take(&h->arena, length, RS_BENCH_HEAD_DIM * sizeof *k);
  double *q = rs_arena_take(&h->arena, count, RS_BENCH_HEAD_DIM * sizeof *q);
  RS_TRY(rs_arena_check(&h->arena, err));
  draw(RS_PURPOSE_KEYS, length * RS_BENCH_HEAD_DIM, k);
  draw(RS_PURPOSE_QUERIES, count * RS_BENCH_HEAD_DIM, q);
  for (size_t i = 0; i < count; i++) {
    queries[i] = length - count + i;
    h->pairs += (double)queries[i] + 1;
  }
  h->job = (rs_attention_job){.encoding = h->encoding,
                              .mask = {.kind = RS_CAUSAL},
                              .queries = queries,
                              .query_count = count,
                              .q = q,
                              .k = k,
                              .edges = h->edges,
                              .bins = bins,
                              .sinks = SINKS,
                              .scores = scores};
  return RS_OK;
}

rs_status rs_bench_head_create_with(const rs_bench_method *method, rs_score_format scores, const rs_bench_job *job,
                                    const size_t *sizes, void **state, rs_bench_work *work, rs_err *err) {
  head *h = *state = rs_alloc(1, sizeof *h, err);
  if (h == NULL) return RS_MEMORY;
  h->loaded = sizes[1] > 0;
  RS_TRY(fill(h, method, sizes[0], h->loaded ? sizes[1] : sizes[0], scores, err));
  if (h->loaded) RS_TRY(rs_engine_load(h->engine, &h->job, err));
  work->items = h->pairs;
  double key_bytes = RS_BENCH_HEAD_DIM * (scores == RS_SCORES_F32 ? sizeof(float) : sizeof(double));
  work->amount = job->limit == RS_LIMIT_READ ? key_bytes * (double)sizes[0] : 2 * RS_BENCH_HEAD_DIM * h->pairs;
  return RS_OK;
}

rs_status rs_bench_head_create(const rs_bench_job *job, const size_t *sizes, void **state, rs_bench_work *work,
                               rs_err *err) {
  static const rs_bench_method rope = {.name = "rope"};
  return rs_bench_head_create_with(&rope, (rs_score_format)job->variant, job, sizes, state, work, err);
}

rs_status rs_bench_head_run(void *state, rs_err *err) {
  head *h = state;
  rs_observation *observation;
  RS_TRY(h->loaded ? rs_engine_observe(h->engine, 0, h->job.query_count, &observation, err)
                   : rs_engine_run(h->engine, &h->job, &observation, err));
  rs_observation_free(observation);
  return RS_OK;
}

void rs_bench_head_free(void *state) {
  head *h = state;
  if (h == NULL) return;
  rs_engine_free(h->engine);
  rs_encoding_free(h->encoding);
  free(h->edges);
  rs_arena_clear(&h->arena);
  free(h);
}

#define HEAD_FAMILY(word, head_create, ...)                                                                            \
  { .name = word, .create = head_create, .run = rs_bench_head_run, .free = rs_bench_head_free, __VA_ARGS__ }

/* ---- every query ------------------------------------------------------------------------------------------------- */

/* sizes: tokens. */
static const rs_bench_job statistics[] = {
    {"statistics_f32", "statistics of all queries of 131072 keys, floats", RS_LIMIT_FMA_F32, "pair", .full = {131072},
     .quick = {4096}, .variant = RS_SCORES_F32},
    {"statistics_f64", "statistics of all queries of 65536 keys, doubles", RS_LIMIT_FMA_F64, "pair", .full = {65536},
     .quick = {4096}, .variant = RS_SCORES_F64},
};

const rs_bench_family rs_bench_statistics =
    HEAD_FAMILY("statistics", rs_bench_head_create, .jobs = statistics, .job_count = RS_COUNT(statistics));

/* ---- the last few: a few make reading the keys the work, more the products --------------------------------------- */

/* sizes: tokens, queries. */
static const rs_bench_job last_queries[] = {
    {"last_64", "statistics of the last 64 queries of 10^6 keys, floats, rotated before", RS_LIMIT_FMA_F32, "pair",
     .full = {1000000, 64}, .quick = {65536, 64}, .variant = RS_SCORES_F32},
    {"last_16", "the last 16, against reading the keys once", RS_LIMIT_READ, "pair", .full = {1000000, 16},
     .quick = {65536, 16}, .variant = RS_SCORES_F32},
    {"last_4", "the last 4, against reading the keys once", RS_LIMIT_READ, "pair", .full = {1000000, 4},
     .quick = {65536, 4}, .variant = RS_SCORES_F32},
};

const rs_bench_family rs_bench_last_queries =
    HEAD_FAMILY("last_queries", rs_bench_head_create, .jobs = last_queries, .job_count = RS_COUNT(last_queries));

/* ---- biases: a function of distance is read from a table, others block by block (attention/bias.c) --------------- */

enum { PLAIN, BY_DISTANCE, BLOOM, FIRE, SWIN };

/* sizes: tokens. A picture's table has four numbers for each of its tokens. */
#define BIAS_JOB(kind) RS_LIMIT_FMA_F32, "pair", .full = {32768}, .quick = {2048}, .variant = kind

static const rs_bench_job biases[] = {
    {"bias_none", "statistics of all queries of 32768 keys under plain RoPE, to compare with", BIAS_JOB(PLAIN)},
    {"bias_distance", "the same with a bias that distance alone decides (T5's buckets)", BIAS_JOB(BY_DISTANCE)},
    {"bias_bloom", "with BLOOM's form of ALiBi, which grows with the key's place", BIAS_JOB(BLOOM)},
    {"bias_fire", "with FIRE's network of 32 units", BIAS_JOB(FIRE)},
    {"bias_swin", "with Swin's table, all tokens one picture", BIAS_JOB(SWIN)},
};

static rs_status create(const rs_bench_job *job, const size_t *sizes, void **state, rs_bench_work *work, rs_err *err) {
  enum { COLUMNS = 128 };
  rs_token_run picture = {RS_IMAGE, sizes[0], 1, sizes[0] / COLUMNS, COLUMNS, 1, 1};
  rs_token_layout tokens = {.runs = &picture, .count = 1};
  const rs_bench_method methods[] = {[PLAIN] = {.name = "rope"},
                                     [BY_DISTANCE] = {.name = "t5"},
                                     [BLOOM] = {.name = "alibi", .parameter = "bias_form", .value = "position"},
                                     [FIRE] = {.name = "fire"},
                                     [SWIN] = {.name = "swin", .tokens = &tokens}};
  return rs_bench_head_create_with(&methods[job->variant], RS_SCORES_F32, job, sizes, state, work, err);
}

const rs_bench_family rs_bench_biases = HEAD_FAMILY("biases", create, .jobs = biases, .job_count = RS_COUNT(biases));

/* ---- growth: a pair should cost the same at each length, for one thread and for all ------------------------------ */

/* sizes: tokens. */
#define GROWTH_JOB(k, team, tokens, threads, words)                                                                    \
  {                                                                                                                    \
    "growth_" #k "k_" team, "statistics of " #k "k keys, " words, RS_LIMIT_FMA_F32, "pair", threads, {tokens},         \
        {(tokens) / 32}, RS_SCORES_F32                                                                                 \
  }
#define GROWTH(k, tokens) GROWTH_JOB(k, "one", tokens, 1, "one thread"), GROWTH_JOB(k, "all", tokens, 0, "all threads")

static const rs_bench_job growth[] = {GROWTH(8, 8192),   GROWTH(16, 16384),   GROWTH(32, 32768),
                                      GROWTH(64, 65536), GROWTH(128, 131072), GROWTH(256, 262144)};

const rs_bench_family rs_bench_growth =
    HEAD_FAMILY("growth", rs_bench_head_create, .on_request = true, .jobs = growth, .job_count = RS_COUNT(growth));
