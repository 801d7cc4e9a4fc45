/* A head to observe, as a sweep makes one. */
#include "bench.h"

#include <stdlib.h>

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
