/* bench/bench.h: how fast the library is on this machine, and how near to what the machine can do. A job is timed
 * in turns with its ceiling, in one process, so that both meet the same clock, memory and neighbours. */
#ifndef ROPESCOPE_BENCH_H
#define ROPESCOPE_BENCH_H

#include "sweep/sweep.h"

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

/* What bounds a job. Operations are multiplications and additions, of all threads together; bytes are those that cross
 * the memory bus if nothing is cached, read and written. */
typedef enum rs_limit {
  RS_LIMIT_FMA_F32,
  RS_LIMIT_FMA_F64,
  RS_LIMIT_READ,
  RS_LIMIT_COPY,
  RS_LIMIT_SCALE, /* read, changed, and written in place */
  RS_LIMITS
} rs_limit;

/* "GFLOP/s" or "GB/s", of 10^9. */
const char *rs_limit_unit(rs_limit limit);

/* The name of the job that measures the limit itself. */
const char *rs_limit_name(rs_limit limit);

enum { RS_BENCH_SIZES = 2 };

/* One thing to time. */
typedef struct rs_bench_job {
  const char *name, *summary;
  rs_limit limit;
  const char *item;                                   /* what the time is also given by, as in "pair" */
  size_t threads;                                     /* 0: all there are */
  size_t full[RS_BENCH_SIZES], quick[RS_BENCH_SIZES]; /* what is counted is the family's to say */
  int variant;                                        /* the family's own */
} rs_bench_job;

/* What one run does. */
typedef struct rs_bench_work {
  double amount; /* floating-point operations or bytes, by the job's limit */
  double items;
} rs_bench_work;

/* Jobs of one file. */
typedef struct rs_bench_family {
  const char *name;
  bool on_request; /* left out unless named */
  const rs_bench_job *jobs;
  size_t job_count;
  /* Makes what a run needs (not timed), for the threads there are. On failure *state is NULL. */
  rs_status (*create)(const rs_bench_job *job, const size_t *sizes, void **state, rs_bench_work *work, rs_err *err);
  /* What is timed; may be called any number of times. */
  rs_status (*run)(void *state, rs_err *err);
  void (*free)(void *state); /* NULL is allowed */
} rs_bench_family;

/* All families, in the order in which they run. */
const rs_bench_family *const *rs_bench_families(size_t *count) RS_NONNULL(1);

/* ---- timing ------------------------------------------------------------------------------------------------------ */

typedef struct rs_bench_options {
  const char *const *names; /* of jobs and families; none: every family that is not on request */
  size_t name_count;
  size_t rounds; /* >= 1: a sample of the job between two of its ceiling each */
  bool quick;    /* small sizes and short samples: to see that all runs, not how fast */
  bool all_isa;  /* each job with every instruction set of the machine, best first */
  /* Called before each job, from the calling thread; may be NULL. */
  void (*progress)(void *context, const rs_bench_job *job, size_t done, size_t jobs);
  void *context;
} rs_bench_options;

/* What was measured of one job. Medians are over the rounds in which other processes left the CPUs alone; where there
 * is none, over all. A contended round is run again, `rounds` times at most. */
typedef struct rs_bench_row {
  const rs_bench_job *job;
  const char *isa;
  size_t threads;
  double seconds, seconds_best;   /* of one run: median, least */
  double rate, ceiling_rate;      /* medians, in rs_limit_unit */
  double fraction, fraction_best; /* median of each round's own; of the best of each */
  double nanoseconds;             /* per item, by the median */
  double others;                  /* CPUs that other processes kept busy; NaN: unknown */
  size_t rounds, contended;       /* all that were run; of those, with others at work */
} rs_bench_row;

/* Whether every round was contended, so that the numbers say little. */
bool rs_bench_row_doubtful(const rs_bench_row *row) RS_NONNULL(1);

/* Runs jobs one after the other, with the instruction set in use, or with all: the rows of a job then stand together,
 * and the set in use is another meanwhile, but the same afterwards. RS_INPUT for a name that is no job and no family;
 * RS_MEMORY, or what a job fails with. Release *rows with free(). */
rs_status rs_bench_run(const rs_bench_options *options, rs_bench_row **rows, size_t *count, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* Header and rows as CSV. */
void rs_bench_write(const rs_bench_row *rows, size_t count, rs_text *csv) RS_NONNULL(3);

#endif
