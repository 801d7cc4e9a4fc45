/* Statistics of causal attention, every query. */
#include "bench.h"

/* sizes: tokens. */
static const rs_bench_job jobs[] = {
    {"statistics_f32", "statistics of all queries of 131072 keys, floats", RS_LIMIT_FMA_F32, "pair", .full = {131072},
     .quick = {4096}, .variant = RS_SCORES_F32},
    {"statistics_f64", "statistics of all queries of 65536 keys, doubles", RS_LIMIT_FMA_F64, "pair", .full = {65536},
     .quick = {4096}, .variant = RS_SCORES_F64},
};

const rs_bench_family rs_bench_statistics = {.name = "statistics",
                                             .jobs = jobs,
                                             .job_count = RS_COUNT(jobs),
                                             .create = rs_bench_head_create,
                                             .run = rs_bench_head_run,
                                             .free = rs_bench_head_free};
