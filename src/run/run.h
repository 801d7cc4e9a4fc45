/* run/run.h: from an experiment to rows. Its cells are run in batches of one model and length, and their
 * results become CSV files. */
#ifndef ROPESCOPE_RUN_H
#define ROPESCOPE_RUN_H

#include "train/train.h"

/* ---- plans and runs ---------------------------------------------------------------------------------------------- */

typedef struct rs_plan {
  size_t cells, summary_columns;
  double curve_rows;  /* of all curve files together; an upper bound */
  double peak_bytes;  /* of the tables and work space alive at one time */
  double score_flops; /* multiplications and additions of queries with keys; 0 where no rows are observed */
  size_t blocks;      /* sequences that all lengths read, where they score the same targets; else 0 */
  size_t trainings;   /* of checkpoints, that are to be done, */
  size_t trained;     /* and that earlier runs have done */
  double training_flops, reading_flops; /* what the former take; readings, and passes of sources' own checkpoints */
  double flops;                         /* of all that is done */
} rs_plan;

/* What a run would take, by sizes alone: nothing is run. `checkpoints` is where it keeps trained models (NULL:
 * nowhere). RS_MEMORY, and what a task fails with. */
rs_status rs_plan_make(const rs_experiment *experiment, const char *checkpoints, rs_plan *plan, rs_err *err)
    RS_NONNULL(1, 3);

/* The flops that a run of such an experiment does in a second here, and in `folder` (RS_RATE_FOLDER,) the results
 * folder whose last run has found it: `directory`, or of the folders beside it that which was run longest. NaN where no
 * run has. */
enum { RS_RATE_FOLDER = 512 };
double rs_rate_find(const rs_experiment *experiment, const char *directory, char folder[RS_RATE_FOLDER])
    RS_NONNULL(1, 2, 3);

/* What a run into a folder would still have to do. */
typedef struct rs_rest {
  size_t cells;
  double flops; /* as rs_plan counts them */
} rs_rest;

/* The cells that the folder's journal has not; all of them where it is NULL. Nothing in it is changed. `checkpoints` as
 * in rs_plan_make. RS_INPUT where the journal is damaged, RS_IO, RS_MEMORY. */
rs_status rs_rest_make(const rs_experiment *experiment, const char *directory, const char *checkpoints, rs_rest *rest,
                       rs_err *err) RS_NONNULL(1, 4);

/* Bytes that this process may still use: of the machine, its cgroup and its limit of addresses the least. NaN where
 * none can be told. */
double rs_memory_available(void);

/* Whether `directory` holds results of another config: its config.yaml, read and written again, is not what a run of
 * this experiment writes. RS_MEMORY. */
rs_status rs_folder_differs(const rs_experiment *experiment, const char *directory, bool *differs, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* ---- shards: a sweep in parts, each done apart ------------------------------------------------------------------- */

/* One of them. `count` 0: the whole sweep. */
typedef struct rs_sweep_shard {
  size_t number, count; /* from 1 to count */
} rs_sweep_shard;

/* Tells each cell (count, in the order of rs_experiment_cells) which of the shards it belongs to, from 1, and each
 * shard (shards,) its planned flops. The rule hangs on the config alone. Cells that share a training, or queries and
 * keys, stay together; where that is more than a shard's part (a quarter of it, of queries and keys that take far less
 * to make than what is done with them), it is split in halves. The parts go, the largest first, each to the shard that
 * has the least. Every shard gets a cell. RS_INPUT for more shards than cells; RS_MEMORY, RS_INTERNAL, and what a task
 * fails with. */
rs_status rs_shards_assign(const rs_experiment *experiment, size_t shards, size_t *of_cell, size_t count, double *costs,
                           rs_err *err) RS_NONNULL(1, 3, 5);

/* Whether a shard may be run into `directory`. RS_INPUT where results stand in it, or, unless `force`, a shard of
 * another config; RS_IO, RS_MEMORY. */
rs_status rs_shard_fits(const rs_experiment *experiment, const char *directory, bool force, rs_err *err)
    RS_NONNULL(1, 2);

/* Reads the config that all these folders (count,) hold a shard of. RS_INPUT where one is no shard, stands there twice,
 * or is of another config, version, instruction set or input than the first; `problems` where this program cannot
 * read the config; RS_IO, RS_MEMORY. */
rs_status rs_shards_read(const char *const *folders, size_t count, rs_experiment **experiment, rs_problems *problems,
                         rs_err *err) RS_NONNULL(1, 3, 4);

/* ---- ranks: processes of MPI that run one sweep together --------------------------------------------------------- */

typedef struct rs_ranks rs_ranks;

/* Joins the other processes that an MPI launcher has started; *ranks is NULL where none has. A process does so once.
 * RS_UNSUPPORTED where there are several and this build has no MPI, or one that does not serve; RS_MEMORY. */
rs_status rs_ranks_open(rs_ranks **ranks, rs_err *err) RS_NONNULL(1);
void rs_ranks_close(rs_ranks *ranks); /* when all ranks do; NULL is fine */

/* The number of this process, from 0, how many there are, and how many on this machine. NULL: 0, 1, 1. */
size_t rs_ranks_rank(const rs_ranks *ranks);
size_t rs_ranks_count(const rs_ranks *ranks);
size_t rs_ranks_local(const rs_ranks *ranks);

/* The largest `code` of all ranks, when each has called this. */
int rs_ranks_agree(rs_ranks *ranks, int code);

/* ---- runs -------------------------------------------------------------------------------------------------------- */

typedef struct rs_run_options {
  const char *directory; /* made if missing; locked; the files of a run in it are replaced all at once */
  /* Called as cells, and parts of long ones, are done: from any thread of the run, never twice at once. It may run
   * another sweep, or wait for one. May be NULL. */
  void (*progress)(void *context, size_t done, size_t cells, double work_share);
  /* Called before the first cell is run, where an earlier run has done cells; may be NULL. */
  void (*resumed)(void *context, size_t done, size_t cells);
  /* Asked again and again, from any thread: true ends the run with what is done. May be NULL. */
  bool (*stop)(void *context);
  void *context;
  rs_sweep_shard shard;    /* this part alone: its cells stand in the journal, and shard.json says what they are */
  rs_ranks *ranks;         /* that run it together, into one folder that all see. NULL: this process alone */
  bool resume;             /* cells that earlier runs into the folder have done are not done again */
  bool partial;            /* run nothing, and write the cells that are done, as a set that says how many it lacks */
  bool forget;             /* at the end what is done is not kept for later runs */
  const char *checkpoints; /* where trained models are kept, and found again; NULL: nowhere */
  const rs_training_watch *training; /* told of each step before `progress` is; NULL: nobody */
} rs_run_options;

typedef struct rs_run_summary {
  size_t cells;         /* of the run; of its shard */
  size_t done, resumed; /* cells that are recorded now, and those that were before; set when a run is stopped, too */
  size_t failed;        /* without values, whatever the reason */
  size_t starved;       /* of those, for want of memory */
  size_t first_failed;  /* the first of those, and what is wrong with it: "k.npy: number 12 is not finite" */
  char message[1024];
  double seconds;
} rs_run_summary;

/* Runs every cell that is not done, and writes summary.csv, a CSV for each metric with a curve, config.yaml,
 * manifest.json and timings.csv. A cell that is undefined at its length is a row with its error. RS_IO, RS_MEMORY or
 * RS_INTERNAL end the run, and RS_BUSY where another process runs into the folder, RS_STOPPED where it was asked to:
 * what stood there then stays. A cell that is done is recorded in directory/.ropescope/journal, and on the disk at the
 * latest when the cells that share its queries and keys are done, some seconds of work at most. RS_INPUT where that
 * journal is damaged. */
rs_status rs_run(const rs_experiment *experiment, const rs_run_options *options, rs_run_summary *summary, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* Joins the journals of shards into that of options->directory, and writes what a run of the whole would have. Of the
 * options shard, stop, forget, checkpoints and training are not read. RS_INPUT where a cell is missing, unless
 * `partial`, where two folders (or the results that stand there) differ in a cell, or where a journal is damaged;
 * nothing is then written. RS_BUSY where a folder is being run into. */
rs_status rs_merge(const rs_experiment *experiment, const char *const *folders, size_t count,
                   const rs_run_options *options, rs_run_summary *summary, rs_err *err) RS_NONNULL(1, 2, 4, 5, 6);

#endif
