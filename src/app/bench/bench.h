/* What the jobs of the bench share. */
#ifndef ROPESCOPE_APP_BENCH_BENCH_H
#define ROPESCOPE_APP_BENCH_BENCH_H

#include "app/app.h"
#include "kernel/kernel.h"

/* ---- families: one a file ---------------------------------------------------------------------------------------- */

extern const rs_bench_family rs_bench_ceilings; /* job number l measures limit l */
extern const rs_bench_family rs_bench_decay;
extern const rs_bench_family rs_bench_statistics, rs_bench_biases, rs_bench_last_queries, rs_bench_sweep,
    rs_bench_train, rs_bench_prefill, rs_bench_growth;

/* The jobs that options name, in the order of the families, each once. RS_INPUT for an unknown name. Release *chosen
 * with free(). */
typedef struct rs_bench_choice {
  const rs_bench_family *family;
  const rs_bench_job *job;
} rs_bench_choice;

rs_status rs_bench_choose(const rs_bench_options *options, rs_bench_choice **chosen, size_t *count, rs_err *err);

/* ---- samples ----------------------------------------------------------------------------------------------------- */

typedef struct rs_sample {
  double seconds; /* of one run */
  double others;  /* CPUs that other processes kept busy meanwhile; NaN where the system does not tell */
  bool contended; /* others had more than they may have for the time to count */
} rs_sample;

/* Runs `family->run` again and again for at least `least` seconds. */
rs_status rs_sample_take(const rs_bench_family *family, void *state, double least, rs_sample *sample, rs_err *err);

/* ---- content ----------------------------------------------------------------------------------------------------- */

enum { RS_BENCH_HEAD_DIM = 128 }; /* of llama-2-7b, which the jobs are about */

/* A method as llama-2-7b has it. */
typedef struct rs_bench_method {
  const char *name, *parameter, *value; /* parameter: one that is not at its default; NULL: none */
  rs_pair_layout layout;
  const rs_token_layout *tokens; /* NULL: text */
} rs_bench_method;

/* Release with rs_encoding_free. */
rs_status rs_bench_encoding(const rs_bench_method *method, size_t length, rs_encoding **encoding, rs_err *err);

/* For families that observe one head, as their create, run and free: the queries of a causal head of sizes[0] tokens
 * under plain RoPE (or another method), of Gaussian content; scores are of the rs_score_format `variant`. Where
 * sizes[1] is 0, a run rotates the keys and observes every query, else the last sizes[1], of keys rotated before (as a
 * cache holds them). By the job's limit a run's amount is the flops of the products, or the bytes of the keys. */
rs_status rs_bench_head_create(const rs_bench_job *job, const size_t *sizes, void **state, rs_bench_work *work,
                               rs_err *err);
rs_status rs_bench_head_create_with(const rs_bench_method *method, rs_score_format scores, const rs_bench_job *job,
                                    const size_t *sizes, void **state, rs_bench_work *work, rs_err *err);
rs_status rs_bench_head_run(void *state, rs_err *err);
void rs_bench_head_free(void *state);

#endif
