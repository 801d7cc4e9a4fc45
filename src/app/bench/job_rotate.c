/* Heads rotated in place. */
#include "bench.h"

#include <stdlib.h>

/* sizes: tokens, heads. variant: rs_pair_layout. */
static const rs_bench_job jobs[] = {
    {"rotate_half_split", "65536 tokens x 8 heads x 128 floats rotated in place, angles included", RS_LIMIT_SCALE,
     "head", .full = {65536, 8}, .quick = {2048, 8}, .variant = RS_HALF_SPLIT},
    {"rotate_interleaved", "the same, pairs side by side", RS_LIMIT_SCALE, "head", .full = {65536, 8},
     .quick = {2048, 8}, .variant = RS_INTERLEAVED},
    {"rotate_40_heads", "32768 tokens x 40 heads x 128 floats", RS_LIMIT_SCALE, "head", .full = {32768, 40},
     .quick = {512, 40}, .variant = RS_HALF_SPLIT},
};

typedef struct rotation {
  rs_encoding *encoding;
  size_t tokens, heads;
  float *x; /* (tokens, heads, 128) */
} rotation;

static void free_rotation(void *state) {
  rotation *r = state;
  if (r == NULL) return;
  rs_encoding_free(r->encoding);
  free(r->x);
  free(r);
}

static rs_status make_numbers(rotation *r, rs_err *err) {
  size_t count = r->tokens * r->heads * RS_BENCH_HEAD_DIM;
  r->x = aligned_alloc(64, count * sizeof *r->x);
  if (r->x == NULL) return rs_fail(err, RS_MEMORY, "out of memory: %zu floats", count);
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < count; i++) r->x[i] = (float)(i % 1000) * 0.001f;
  return RS_OK;
}

static rs_status create(const rs_bench_job *job, const size_t *sizes, void **state, rs_bench_work *work, rs_err *err) {
  rotation *r = *state = rs_alloc(1, sizeof *r, err);
  if (r == NULL) return RS_MEMORY;
  r->tokens = sizes[0];
  r->heads = sizes[1];
  const rs_bench_method rope = {.name = "rope", .layout = (rs_pair_layout)job->variant};
  RS_TRY(rs_bench_encoding(&rope, r->tokens, &r->encoding, err));
  RS_TRY(make_numbers(r, err));
  work->items = (double)(r->tokens * r->heads);
  work->amount = work->items * RS_BENCH_HEAD_DIM * 2 * sizeof *r->x;
  return RS_OK;
}

static rs_status run(void *state, rs_err *err) {
  rotation *r = state;
  return rs_rotate_heads(r->encoding, RS_QUERY_SIDE, 0, 0, r->tokens, r->heads, r->x, err);
}

const rs_bench_family rs_bench_rotate = {
    .name = "rotate", .jobs = jobs, .job_count = RS_COUNT(jobs), .create = create, .run = run, .free = free_rotation};
