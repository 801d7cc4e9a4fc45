/* What a (query, key) pair costs as the length grows, by one thread and by all: it should cost the same. */
#include "bench_internal.h"

/* sizes: tokens. */
static const rs_bench_job jobs[] = {
    {"growth_8k_one", "statistics of 8k keys, one thread", RS_LIMIT_FMA_F64, "pair", 1, {8192}, {256}, 0},
    {"growth_8k_all", "statistics of 8k keys, all threads", RS_LIMIT_FMA_F64, "pair", 0, {8192}, {256}, 0},
    {"growth_16k_one", "statistics of 16k keys, one thread", RS_LIMIT_FMA_F64, "pair", 1, {16384}, {512}, 0},
    {"growth_16k_all", "statistics of 16k keys, all threads", RS_LIMIT_FMA_F64, "pair", 0, {16384}, {512}, 0},
    {"growth_32k_one", "statistics of 32k keys, one thread", RS_LIMIT_FMA_F64, "pair", 1, {32768}, {1024}, 0},
    {"growth_32k_all", "statistics of 32k keys, all threads", RS_LIMIT_FMA_F64, "pair", 0, {32768}, {1024}, 0},
    {"growth_64k_one", "statistics of 64k keys, one thread", RS_LIMIT_FMA_F64, "pair", 1, {65536}, {2048}, 0},
    {"growth_64k_all", "statistics of 64k keys, all threads", RS_LIMIT_FMA_F64, "pair", 0, {65536}, {2048}, 0},
    {"growth_128k_one", "statistics of 128k keys, one thread", RS_LIMIT_FMA_F64, "pair", 1, {131072}, {4096}, 0},
    {"growth_128k_all", "statistics of 128k keys, all threads", RS_LIMIT_FMA_F64, "pair", 0, {131072}, {4096}, 0},
    {"growth_256k_one", "statistics of 256k keys, one thread", RS_LIMIT_FMA_F64, "pair", 1, {262144}, {8192}, 0},
    {"growth_256k_all", "statistics of 256k keys, all threads", RS_LIMIT_FMA_F64, "pair", 0, {262144}, {8192}, 0},
};

const rs_bench_family rs_bench_growth = {.name = "growth",
                                         .on_request = true,
                                         .jobs = jobs,
                                         .job_count = RS_COUNT(jobs),
                                         .create = rs_bench_head_create,
                                         .run = rs_bench_head_run,
                                         .free = rs_bench_head_free};
