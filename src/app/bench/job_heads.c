/* Statistics of one causal head: of every query, of the last few, under biases, and at growing lengths. */
#include "bench.h"

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

/* ---- biases: a function of distance is read from a table, others block by block (attention/bias_block.c) --------- */

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
