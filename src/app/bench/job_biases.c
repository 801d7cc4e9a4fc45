/* What a bias costs beside plain RoPE: one that is a function of distance is read from a table, the others are asked
 * for block by block (attention/bias_block.c). */
#include "bench.h"

enum { PLAIN, BY_DISTANCE, BLOOM, FIRE, SWIN };

/* sizes: tokens. A picture's table has four numbers for each of its tokens. */
#define BIAS_SIZES .full = {32768}, .quick = {2048}

static const rs_bench_job jobs[] = {
    {"bias_none", "statistics of all queries of 32768 keys under plain RoPE, to compare with", RS_LIMIT_FMA_F32, "pair",
     BIAS_SIZES, .variant = PLAIN},
    {"bias_distance", "the same with a bias that distance alone decides (T5's buckets)", RS_LIMIT_FMA_F32, "pair",
     BIAS_SIZES, .variant = BY_DISTANCE},
    {"bias_bloom", "with BLOOM's form of ALiBi, which grows with the key's place", RS_LIMIT_FMA_F32, "pair", BIAS_SIZES,
     .variant = BLOOM},
    {"bias_fire", "with FIRE's network of 32 units", RS_LIMIT_FMA_F32, "pair", BIAS_SIZES, .variant = FIRE},
    {"bias_swin", "with Swin's table, all tokens one picture", RS_LIMIT_FMA_F32, "pair", BIAS_SIZES, .variant = SWIN},
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

const rs_bench_family rs_bench_biases = {.name = "biases",
                                         .jobs = jobs,
                                         .job_count = RS_COUNT(jobs),
                                         .create = create,
                                         .run = rs_bench_head_run,
                                         .free = rs_bench_head_free};
