/* What the machine can do: multiply-adds in registers and sweeps over arrays, by all threads at once. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* sizes: rounds of a multiply-add kernel; or MiB of an array, 8 times a large cache. */
#define FMA_SIZES .full = {1 << 22}, .quick = {1 << 16}
#define ARRAY_SIZES .full = {256}, .quick = {32}

static const rs_bench_job jobs[RS_LIMITS] = {
    [RS_LIMIT_FMA_F32] = {"fma_f32", "ceiling: multiply-adds of floats in registers", RS_LIMIT_FMA_F32, "flop",
                          FMA_SIZES},
    [RS_LIMIT_FMA_F64] = {"fma_f64", "ceiling: multiply-adds of doubles in registers", RS_LIMIT_FMA_F64, "flop",
                          FMA_SIZES},
    [RS_LIMIT_READ] = {"read", "ceiling: reading memory", RS_LIMIT_READ, "byte", ARRAY_SIZES},
    [RS_LIMIT_COPY] = {"copy", "ceiling: copying memory, bytes read and written", RS_LIMIT_COPY, "byte", ARRAY_SIZES},
};

const char *rs_limit_name(rs_limit limit) {
  return jobs[limit].name;
}

const char *rs_limit_unit(rs_limit limit) {
  return limit == RS_LIMIT_FMA_F32 || limit == RS_LIMIT_FMA_F64 ? "GFLOP/s" : "GB/s";
}

/* A thread's part of an array is a multiple of this: a page, and what the kernels ask for. */
enum { PART = 4096 / sizeof(float) };

typedef struct ceiling {
  rs_limit limit;
  size_t rounds;    /* of a multiply-add kernel */
  size_t count;     /* floats of an array */
  float *from, *to; /* (count,); `to` for copies alone */
  double result;    /* what was computed: it is used, so that it has to be computed */
} ceiling;

/* Where part number `index` of `count` floats begins. */
static size_t part_begin(size_t count, size_t index, size_t parts) {
  return index == parts ? count : count / PART * index / parts * PART;
}

static double work_on(const ceiling *c, size_t begin, size_t end) {
  const rs_ceiling_kernel *kernel = rs_kernels_get()->ceiling;
  switch (c->limit) {
  case RS_LIMIT_FMA_F32: return kernel->fma_f32(c->rounds);
  case RS_LIMIT_FMA_F64: return kernel->fma_f64(c->rounds);
  case RS_LIMIT_READ: return kernel->read(c->from + begin, end - begin);
  default: kernel->copy(c->from + begin, end - begin, c->to + begin); return 0;
  }
}

static rs_status run(void *state, rs_err *err) {
  ceiling *c = state;
  double result = 0;
  (void)err;
#pragma omp parallel reduction(+ : result)
  {
    size_t part = 0, parts = 1;
#ifdef _OPENMP
    part = (size_t)omp_get_thread_num();
    parts = (size_t)omp_get_num_threads();
#endif
    result += work_on(c, part_begin(c->count, part, parts), part_begin(c->count, part + 1, parts));
  }
  c->result = result;
  return RS_OK;
}

static void free_ceiling(void *state) {
  ceiling *c = state;
  if (c == NULL) return;
  free(c->from);
  free(c->to);
  free(c);
}

/* Each thread touches its part first: on a machine of several memories it then lies near. */
static void touch(ceiling *c) {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < c->count; i++) {
    c->from[i] = 1;
    if (c->to != NULL) c->to[i] = 0;
  }
}

static bool make_arrays(ceiling *c, size_t mebibytes) {
  enum { ALIGNMENT = 2 << 20 }; /* a large page, where there are any */
  c->count = (mebibytes << 20) / sizeof(float);
  c->from = aligned_alloc(ALIGNMENT, c->count * sizeof(float));
  if (c->limit == RS_LIMIT_COPY) c->to = aligned_alloc(ALIGNMENT, c->count * sizeof(float));
  if (c->from == NULL || (c->limit == RS_LIMIT_COPY && c->to == NULL)) return false;
  touch(c);
  return true;
}

static rs_status create(const rs_bench_job *job, const size_t *sizes, void **state, rs_bench_work *work, rs_err *err) {
  bool fma = job->limit == RS_LIMIT_FMA_F32 || job->limit == RS_LIMIT_FMA_F64;
  ceiling *c = *state = rs_alloc(1, sizeof *c, err);
  if (c == NULL) return RS_MEMORY;
  c->limit = job->limit;
  c->rounds = sizes[0];
  if (!fma && !make_arrays(c, sizes[0])) return rs_fail(err, RS_MEMORY, "out of memory: arrays of %zu MiB", sizes[0]);
  (void)run(c, err); /* arithmetic alone: nothing can fail */
  work->amount = fma ? c->result : (double)c->count * sizeof(float) * (job->limit == RS_LIMIT_READ ? 1 : 2);
  work->items = work->amount;
  return RS_OK;
}

const rs_bench_family rs_bench_ceilings = {
    .name = "ceilings", .jobs = jobs, .job_count = RS_COUNT(jobs), .create = create, .run = run, .free = free_ceiling};
