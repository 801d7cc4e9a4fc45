/* The last few queries of many keys: a few make reading the keys the work, more the products. */
#include "bench.h"

/* sizes: tokens, queries. */
static const rs_bench_job jobs[] = {
    {"last_64", "statistics of the last 64 queries of 10^6 keys, floats, rotated before", RS_LIMIT_FMA_F32, "pair",
     .full = {1000000, 64}, .quick = {65536, 64}, .variant = RS_SCORES_F32},
    {"last_16", "the last 16, against reading the keys once", RS_LIMIT_READ, "pair", .full = {1000000, 16},
     .quick = {65536, 16}, .variant = RS_SCORES_F32},
    {"last_4", "the last 4, against reading the keys once", RS_LIMIT_READ, "pair", .full = {1000000, 4},
     .quick = {65536, 4}, .variant = RS_SCORES_F32},
};

const rs_bench_family rs_bench_last_queries = {.name = "last_queries",
                                               .jobs = jobs,
                                               .job_count = RS_COUNT(jobs),
                                               .create = rs_bench_head_create,
                                               .run = rs_bench_head_run,
                                               .free = rs_bench_head_free};
