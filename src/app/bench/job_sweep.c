/* Statistics as a user gets them: a config, rs_run, files. What the encodings, queries, keys, metrics and CSV cost
 * beside the scores is what this job shows. Nothing is skipped: every pair that is counted is computed. */
#include "bench.h"

#include "io/io.h"

#include <stdlib.h>

enum { DRAWN, REPLAYED };

/* sizes: tokens. */
static const rs_bench_job jobs[] = {
    {"sweep", "a sweep of rope, yarn and alibi at 65536 tokens, every query, with its files", RS_LIMIT_FMA_F32, "pair",
     .full = {65536}, .quick = {512}, .variant = DRAWN},
    {"replay_128k", "one head's queries and keys of 131072 tokens, from a file, under 10 methods", RS_LIMIT_FMA_F32,
     "pair", .full = {131072}, .quick = {512}, .variant = REPLAYED},
};

/* Behind name and length. A replay reads dump.safetensors in the run's folder; its methods have one view or two. */
static const char *const configs[] = {
    [DRAWN] = "model: llama-2-7b\nmethods: [rope, {name: yarn, factor: 16}, alibi]\nsources: [gaussian]\nheads: 1\n",
    [REPLAYED] =
        "model: {name: dumped, heads: 1, head_dim: 128, rope_theta: 10000, train_length: 4096}\n"
        "methods: [rope, nope, {name: pi, factor: 32}, {name: ntk, factor: 32}, {name: dynamic_ntk, factor: 32}, "
        "{name: ntk_by_parts, factor: 32}, {name: yarn, factor: 32}, {name: llama3, factor: 32}, "
        "{name: rerope, window: 2048}, alibi]\n"
        "sources: [{name: tensors, q: '%s/dump.safetensors', k: '%s/dump.safetensors', q_name: q, k_name: k}]\n",
};

typedef struct sweep {
  rs_experiment *experiment;
  char *directory; /* for a moment */
} sweep;

static void free_sweep(void *state) {
  sweep *s = state;
  if (s == NULL) return;
  rs_scratch_remove(s->directory);
  rs_experiment_free(s->experiment);
  free(s);
}

/* Random numbers in bfloat16, as a model's layer would have been saved. */
static rs_status write_dump(const sweep *s, size_t tokens, rs_err *err) {
  enum { SEED = 1 };
  const size_t shape[] = {tokens, 1, RS_BENCH_HEAD_DIM}, count = tokens * RS_BENCH_HEAD_DIM;
  double drawn[1024];
  char *path = rs_path_join(s->directory, "dump.safetensors", err);
  float *numbers = rs_alloc(2 * count, sizeof *numbers, err);
  rs_status status = path != NULL && numbers != NULL ? RS_OK : RS_MEMORY;
  for (size_t first = 0; first < 2 * count && status == RS_OK; first += RS_COUNT(drawn)) {
    size_t left = 2 * count - first < RS_COUNT(drawn) ? 2 * count - first : RS_COUNT(drawn);
    rs_gaussian_fill((rs_stream){SEED, RS_PURPOSE_KEYS, 0}, first, left, drawn);
    for (size_t i = 0; i < left; i++) numbers[first + i] = (float)drawn[i];
  }
  const rs_tensor_numbers dump[] = {
      {.name = "q", .dtype = RS_DTYPE_BF16, .rank = RS_COUNT(shape), .shape = shape, .floats = numbers},
      {.name = "k", .dtype = RS_DTYPE_BF16, .rank = RS_COUNT(shape), .shape = shape, .floats = numbers + count}};
  if (status == RS_OK) status = rs_safetensors_write(path, dump, RS_COUNT(dump), err);
  free(numbers);
  free(path);
  return status;
}

static rs_status read_config(sweep *s, int variant, size_t tokens, rs_err *err) {
  rs_text config = {0};
  rs_problems problems = {0};
  rs_text_printf(&config, "name: bench\nlengths: [%zu]\nqueries: all\nengine: {epsilon: 0}\n", tokens);
  if (variant == REPLAYED)
    rs_text_printf(&config, configs[REPLAYED], s->directory, s->directory);
  else
    rs_text_puts(&config, configs[DRAWN]);
  rs_status status = rs_text_check(&config, err);
  if (status == RS_OK)
    status = rs_config_read(rs_text_string(&config), "bench", (rs_config_edits){0}, &s->experiment, &problems, err);
  rs_problems_clear(&problems);
  rs_text_clear(&config);
  return status;
}

static rs_status create(const rs_bench_job *job, const size_t *sizes, void **state, rs_bench_work *work, rs_err *err) {
  double tokens = (double)sizes[0];
  sweep *s = *state = rs_alloc(1, sizeof *s, err);
  if (s == NULL) return RS_MEMORY;
  RS_TRY(rs_scratch_make(&s->directory, err));
  if (job->variant == REPLAYED) RS_TRY(write_dump(s, sizes[0], err));
  RS_TRY(read_config(s, job->variant, sizes[0], err));
  work->items = (double)s->experiment->methods.count * tokens * (tokens + 1) / 2;
  work->amount = 2 * RS_BENCH_HEAD_DIM * work->items;
  return RS_OK;
}

static rs_status run(void *state, rs_err *err) {
  const sweep *s = state;
  rs_run_summary summary = {0};
  RS_TRY(rs_run(s->experiment, &(rs_run_options){.directory = s->directory}, &summary, err));
  return summary.done > 0 && summary.failed == 0
             ? RS_OK
             : rs_fail(err, RS_INTERNAL, "%zu cells of the sweep are done, of which %zu failed", summary.done,
                       summary.failed);
}

const rs_bench_family rs_bench_sweep = {
    .name = "runs", .jobs = jobs, .job_count = RS_COUNT(jobs), .create = create, .run = run, .free = free_sweep};
