/* A sum of waves over distance: what score decay is made of. */
#include "bench.h"
#include "kernel/kernel.h"

#include <math.h>
#include <stdlib.h>

enum { WAVES = 64 };

/* sizes: distances. An operation is a term's multiplication or addition. */
static const rs_bench_job jobs[] = {
    {"decay", "sum of 64 cosines at 10^7 distances, doubles, tables included", RS_LIMIT_FMA_F64, "term",
     .full = {10000000}, .quick = {100000}},
};

typedef struct decay {
  rs_wave waves[WAVES];
  double *out; /* (count,) */
  size_t count;
} decay;

static void free_decay(void *state) {
  decay *d = state;
  if (d == NULL) return;
  free(d->out);
  free(d);
}

static rs_status create(const rs_bench_job *job, const size_t *sizes, void **state, rs_bench_work *work, rs_err *err) {
  decay *d = *state = rs_alloc(1, sizeof *d, err);
  (void)job;
  if (d == NULL) return RS_MEMORY;
  d->count = sizes[0];
  d->out = rs_alloc(d->count, sizeof *d->out, err);
  if (d->out == NULL) return RS_MEMORY;
  for (size_t j = 0; j < WAVES; j++)
    d->waves[j] = (rs_wave){.amplitude = 1 / (1.0 + (double)j), .omega = pow(10000, -(double)j / WAVES)};
  work->items = WAVES * (double)d->count;
  work->amount = 2 * work->items;
  return RS_OK;
}

static rs_status run(void *state, rs_err *err) {
  decay *d = state;
  rs_decay *tables;
  RS_TRY(rs_decay_create(d->waves, WAVES, &tables, err));
  rs_decay_range(tables, 0, d->count, d->out);
  rs_decay_free(tables);
  return RS_OK;
}

const rs_bench_family rs_bench_decay = {
    .name = "decay", .jobs = jobs, .job_count = RS_COUNT(jobs), .create = create, .run = run, .free = free_decay};
