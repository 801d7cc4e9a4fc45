/* A head to observe, as a sweep makes one. */
#include "bench.h"

#include <stdlib.h>

enum { SEED = 1, SINKS = 4, BINS_PER_OCTAVE = 4 }; /* the bins of a config that says nothing of them */

typedef struct head {
  rs_attention_job job;
  rs_encoding *encoding;
  rs_engine *engine;
  size_t *queries, *edges;
  double *q, *k;
  double pairs; /* (query, key) that see each other */
  bool loaded;  /* the keys were laid out before: a run only observes */
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

/* (count,) numbers N(0, 1), or NULL with RS_MEMORY. Release with free(). */
static double *gaussians(uint32_t purpose, size_t count, rs_err *err) {
  enum { BLOCK = 1 << 16 };
  double *numbers = rs_alloc(count, sizeof *numbers, err);
  if (numbers == NULL) return NULL;
#pragma omp parallel for schedule(static)
  for (size_t first = 0; first < count; first += BLOCK)
    rs_gaussian_fill((rs_stream){SEED, purpose, 0}, first, count - first < BLOCK ? count - first : BLOCK,
                     numbers + first);
  return numbers;
}

/* The last queries, and how many keys they see. */
static rs_status choose_queries(head *h, size_t length, size_t count, rs_err *err) {
  h->queries = rs_alloc(count, sizeof *h->queries, err);
  if (h->queries == NULL) return RS_MEMORY;
  for (size_t i = 0; i < count; i++) {
    h->queries[i] = length - count + i;
    h->pairs += (double)h->queries[i] + 1;
  }
  return RS_OK;
}

static rs_status fill(head *h, const rs_bench_method *method, size_t length, size_t count, rs_score_format scores,
                      rs_err *err) {
  size_t bins;
  RS_TRY(rs_bench_encoding(method, length, &h->encoding, err));
  RS_TRY(rs_engine_create(length, RS_BENCH_HEAD_DIM, h->encoding->views, &h->engine, err));
  RS_TRY(rs_log_edges(length, BINS_PER_OCTAVE, &h->edges, &bins, err));
  RS_TRY(choose_queries(h, length, count, err));
  h->k = gaussians(RS_PURPOSE_KEYS, length * RS_BENCH_HEAD_DIM, err);
  h->q = gaussians(RS_PURPOSE_QUERIES, count * RS_BENCH_HEAD_DIM, err);
  if (h->k == NULL || h->q == NULL) return RS_MEMORY;
  h->job = (rs_attention_job){.encoding = h->encoding,
                              .mask = {.kind = RS_CAUSAL},
                              .queries = h->queries,
                              .query_count = count,
                              .q = h->q,
                              .k = h->k,
                              .edges = h->edges,
                              .bins = bins,
                              .sinks = SINKS,
                              .scores = scores};
  return RS_OK;
}

rs_status rs_bench_head_create_with(const rs_bench_method *method, rs_score_format scores, const rs_bench_job *job,
                                    const size_t *sizes, void **state, rs_bench_work *work, rs_err *err) {
  head *h = rs_alloc(1, sizeof *h, err);
  size_t count = sizes[1] > 0 ? sizes[1] : sizes[0];
  rs_status status = h != NULL ? fill(h, method, sizes[0], count, scores, err) : RS_MEMORY;
  *state = NULL;
  if (status == RS_OK && sizes[1] > 0) {
    status = rs_engine_load(h->engine, &h->job, err);
    h->loaded = true;
  }
  if (status != RS_OK) {
    rs_bench_head_free(h);
    return status;
  }
  work->items = h->pairs;
  double key_bytes = RS_BENCH_HEAD_DIM * (scores == RS_SCORES_F32 ? sizeof(float) : sizeof(double));
  work->amount = job->limit == RS_LIMIT_READ ? key_bytes * (double)sizes[0] : 2 * RS_BENCH_HEAD_DIM * h->pairs;
  *state = h;
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
  free(h->queries);
  free(h->edges);
  free(h->q);
  free(h->k);
  free(h);
}
