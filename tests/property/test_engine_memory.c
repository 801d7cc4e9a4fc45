/* test_engine_memory.c: each allocation of the engine and its neighbours fails in turn. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "../fixtures/heap.h"
#include "../fixtures/threads.h"
#include "../fixtures/world.h"
#include "../fixtures/world_job.h"
#include "metrics/metrics.h"

typedef rs_status (*attempt)(const world *w, rs_err *err);

static rs_status try_engine(const world *w, rs_err *err) {
  rs_engine *engine = NULL;
  rs_status status = rs_engine_create(w->encoding->length, w->model.head_dim, 1, &engine, err);
  rs_engine_free(engine);
  return status;
}

static rs_engine *shared_engine;

static rs_status try_run(const world *w, rs_err *err) {
  rs_observation *observation = NULL;
  rs_status status = rs_engine_run(shared_engine, &w->job, &observation, err);
  rs_observation_free(observation);
  return status;
}

static rs_status try_reference(const world *w, rs_err *err) {
  double logits[100], needle;
  return rs_reference_row(&w->job, 3, logits, &needle, err);
}

static rs_status try_projection(const world *w, rs_err *err) {
  rs_projection *projection = NULL;
  rs_status status = rs_projection_create(w->encoding, 0, 1, w->queries, 9, &projection, err);
  cr_assert_eq(status == RS_OK, projection != NULL);
  rs_projection_free(projection);
  return status;
}

static rs_status try_queries(const world *w, rs_err *err) {
  size_t *queries = NULL, count;
  rs_query_set set = {RS_QUERIES_RANDOM, 5};
  rs_status status = rs_queries_select(&set, w->encoding->length, 1, &queries, &count, err);
  free(queries);
  return status;
}

static rs_status try_decay(const world *w, rs_err *err) {
  const rs_metric_kind *decay = rs_metric_find("decay");
  const rs_kind *kind = &decay->kind;
  rs_settings settings;
  rs_binding binding = {0};
  rs_result result = {.curve.columns = decay->curve_count};
  rs_status status = rs_settings_init_specs(&settings, kind->params, kind->param_count, err);
  if (status != RS_OK) return status;
  status = rs_binding_make(&settings, kind->params, kind->param_count, kind->params_size, &binding, err);
  rs_metric_in in = {.encoding = w->encoding, .params = binding.fields, .heads = &w->job.head, .head_count = 1};
  if (status == RS_OK) status = decay->finish(&in, NULL, &result, err);
  rs_curve_clear(&result.curve);
  rs_binding_clear(&binding);
  rs_settings_clear(&settings);
  return status;
}

/* The tables of a method whose position map needs room of its own. */
static rs_status try_encoding(const world *w, rs_err *err) {
  rs_recipe recipe = {0};
  rs_encoding *encoding = NULL;
  rs_status status = rs_recipe_init(&recipe, rs_method_find("random_rope"), err);
  if (status == RS_OK) status = rs_encoding_create(&recipe, &w->model, w->encoding->length, NULL, NULL, &encoding, err);
  cr_assert_eq(status == RS_OK, encoding != NULL);
  rs_encoding_free(encoding);
  rs_recipe_clear(&recipe);
  return status;
}

/* Refuses each allocation of the attempt in turn, until it gets through without one refused. */
static void refuse_each(const world *w, attempt try, size_t index) {
  cr_assert_eq(try(w, NULL), RS_OK); /* warm: OpenMP keeps its team */
  for (long n = 0;; n++) {
    rs_err err = {0};
    long before = blocks;
    refused = false;
    allocations = n;
    rs_status status = try(w, &err);
    allocations = -1;
    demand(w, status == (refused ? RS_MEMORY : RS_OK), "attempt %zu, allocation %ld: status %d (%s)", index, n,
           (int)status, err.message);
    demand(w, blocks == before, "attempt %zu, allocation %ld: %ld blocks leak", index, n, blocks - before);
    if (!refused) return;
  }
}

Test(engine, each_failing_allocation__is_reported_and_leaks_nothing) {
  static const attempt attempts[] = {try_engine,  try_run,   try_reference, try_projection,
                                     try_queries, try_decay, try_encoding};
  if (!COUNTS_MEMORY) return;
  use_threads(1);
  world w;
  world_make(&w, "sinusoidal", 4, 100);
  w.model.heads = 3;
  world_fill(&w, 100);
  shared_engine = engine_for(100, 4, 1);
  for (size_t i = 0; i < RS_COUNT(attempts); i++) refuse_each(&w, attempts[i], i);
  rs_engine_free(shared_engine);
  world_clear(&w);
}
