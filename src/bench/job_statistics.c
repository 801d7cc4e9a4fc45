/* Statistics of causal attention, every query. */
#include "bench_internal.h"

/* sizes: tokens. */
static const rs_bench_job jobs[] = {
    {"statistics_f64", "statistics of all queries of 65536 keys, doubles", RS_LIMIT_FMA_F64, "pair", .full = {65536},
     .quick = {4096}},
};

const rs_bench_family rs_bench_statistics = {.name = "statistics",
                                             .jobs = jobs,
                                             .job_count = RS_COUNT(jobs),
                                             .create = rs_bench_head_create,
                                             .run = rs_bench_head_run,
                                             .free = rs_bench_head_free};
