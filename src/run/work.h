/* Running cells, batch by batch. */
#ifndef ROPESCOPE_RUN_WORK_H
#define ROPESCOPE_RUN_WORK_H

#include "cell.h"
#include "ledger.h"

/* ---- work ------------------------------------------------------------------------------------------------------ */

/* What metrics of tables came to for a method and a group of heads, once it is known. */
typedef struct rs_known_tables {
  bool known;
  size_t seed;   /* for which metrics drew numbers */
  double *value; /* (metrics, RS_METRIC_SCALARS) */
} rs_known_tables;

/* Cells of one model and one length are run together: they share encodings, queries and keys. There may be more of them
 * than are in memory at a time: a portion. Whoever runs them says what stands before `arena`. */
typedef struct rs_batch_work {
  const rs_experiment *experiment;
  rs_cell_state **cells; /* (count,) the portion at hand; borrowed */
  size_t count;
  size_t model_number, length; /* index of the model; tokens */
  size_t groups;               /* of heads, that a cell of the batch has at most */
  rs_text_model *texts;        /* for sources with a checkpoint of their own */
  /* Called with the share of the run's work that was just done, from any thread, several at once; may be NULL. */
  void (*advance)(void *context, double work);
  /* Called with each cell that is done, from any thread, several at once; may be NULL. What it fails with ends the run.
   */
  rs_status (*done)(void *context, const rs_cell_state *cell, rs_err *err);
  bool (*stop)(void *context); /* whether to leave the portion as it is, RS_STOPPED; may be NULL */
  void *context;

  rs_arena arena; /* of the lists here but for edges, queries and units */
  const rs_model *model;
  rs_encoding **encodings;     /* one for each method; NULL where undefined or unused */
  rs_projection **projections; /* one for each method, of the head at hand */
  size_t *edges, bins;
  rs_row_needs needs; /* of the metrics */
  size_t *queries, query_count;
  rs_mask mask;
  const rs_token_layout *tokens; /* borrowed */
  double *ids;                   /* (L, RS_AXES) */
  uint32_t *run;                 /* (L,) */
  rs_err why;                    /* what kept all this from being made */
  size_t *units, unit_count;     /* of the portion: source * seeds + seed, each once */
  rs_known_tables *known;        /* (methods, groups) */
  rs_text_rows rows;             /* of the source that handed on rows last, */
  size_t rows_of;                /* its number from 1; 0: none has */
} rs_batch_work;

/* Index of the cell's method. */
static inline size_t rs_cell_method(const rs_cell_state *cell) {
  return cell->cell.axis[RS_BY_METHOD];
}

bool rs_cell_has_head(const rs_cell_state *cell, size_t head);

/* Random query positions and the weights that project embeddings belong to the experiment, not to the content: one draw
 * for every seed, so that a cell's numbers do not depend on which other cells run. */
enum { RS_QUERY_SEED = 0, RS_WEIGHTS_SEED = 0 };

/* What does not hang on methods: edges, queries, positions of the batch's tokens, which `work->tokens` lays out, and
 * room for what does. Release with rs_batch_work_clear, also after a failure; the encodings are the caller's. */
rs_status rs_batch_work_make(rs_batch_work *work, rs_err *err);
void rs_batch_work_clear(rs_batch_work *work);

/* The states of the metrics of rows; one that cannot be made fails its cell. And, when all rows were seen, what these
 * metrics come to. */
void rs_batch_begin_rows(const rs_batch_work *work);
void rs_batch_finish_rows(const rs_batch_work *work);

/* What metric number `metric` comes to. One that fails fails its cell. */
void rs_metric_finish(const rs_batch_work *work, rs_cell_state *cell, size_t metric);

/* Makes what the portions of a batch share. What cannot be made fails the cells of each portion. Close it in any case.
 * RS_MEMORY. */
rs_status rs_batch_open(rs_batch_work *work, rs_err *err);
void rs_batch_close(rs_batch_work *work);

/* Runs the cells that stand in the batch now, and hands each over: status, scale and results of each. What is
 * undefined for a cell becomes its status; RS_INTERNAL, RS_STOPPED and what `done` fails with are returned. */
rs_status rs_batch_portion(rs_batch_work *work, rs_err *err);

/* Every cell of the portion ends with this error. */
void rs_batch_fail(const rs_batch_work *work, const rs_err *why);

/* Whether the caller of the run wants it to end. */
bool rs_batch_stopped(const rs_batch_work *work);

/* Hands a cell that is done to the caller, once. What `done` fails with. */
rs_status rs_batch_done(const rs_batch_work *work, rs_cell_state *cell, rs_err *err);

/* Tells the caller of the run that work is done. */
void rs_batch_advance(const rs_batch_work *work, double done);

/* ---- content --------------------------------------------------------------------------------------------------- */

/* What one source, seed and head come to, and who observes it. */
typedef struct rs_content {
  rs_arena arena;
  double *q, *k, *needles; /* (Q, D), (L, D), (Q, D) */
  size_t *needle_at;       /* (Q,) */
  rs_score_rule rule;
  rs_engine *engine;
  bool shared; /* all threads fill it together; else one does */
  rs_err why;  /* RS_INTERNAL: the run is to end */
} rs_content;

/* A source and a seed, for one head. */
typedef struct rs_content_unit {
  size_t source, seed, head;
  const rs_given_rows *given; /* NULL unless the source hands rows on */
} rs_content_unit;

/* Room for the batch's length, and for what tables there are. Release with rs_content_clear, also after a failure. */
rs_status rs_content_reserve(const rs_batch_work *work, rs_content *content, rs_err *err);
void rs_content_clear(rs_content *content);

/* Queries, keys and needles of the unit. What the source fails with. */
rs_status rs_content_fill(const rs_batch_work *work, const rs_content_unit *unit, rs_content *content, rs_err *err);

/* The content as a cell observes it in one head. */
rs_attention_job rs_cell_job(const rs_batch_work *work, const rs_cell_state *cell, const rs_content *content,
                             size_t head);

/* Shows queries and keys to every metric of the cell that reads them. */
void rs_cell_show_content(const rs_batch_work *work, rs_cell_state *cell, const rs_content *content, size_t head);

/* Shows rows to every metric of the cell, each of which sees them in order. */
void rs_cell_show(const rs_batch_work *work, rs_cell_state *cell, const rs_observation *observation);

/* Both: the content, then its rows where a metric reads rows. What the engine fails with. */
rs_status rs_cell_observe(const rs_batch_work *work, rs_cell_state *cell, const rs_content *content, size_t head,
                          rs_err *err);

/* Whether so many products of queries and keys (their dims left out) are soon done: threads then take whole units
 * rather than parts of one. */
bool rs_is_small(double work, size_t dims);

/* One for each thread that takes units of its own, a unit being a source and a seed. */
typedef struct rs_contents {
  rs_content *items; /* owned */
  size_t count;
} rs_contents;

/* Room for the contents of a batch whose tables are there. Release with rs_contents_clear, also after a failure. */
rs_status rs_contents_make(const rs_batch_work *work, rs_contents *contents, rs_err *err);
void rs_contents_clear(rs_contents *contents);

/* Every cell of every unit of made sources, for one head; or those of a text, for one head of what it hands on.
 * RS_INTERNAL alone is returned. */
rs_status rs_contents_run(const rs_batch_work *work, size_t head, const rs_variant *text, const rs_given_rows *given,
                          rs_contents *contents, rs_err *err);

/* ---- trained --------------------------------------------------------------------------------------------------- */

/* Who is told of what is done. */
typedef struct rs_trained_watch {
  /* `work` of the run was done, `cells` of it are finished. From any thread, one at a time in each run. */
  void (*advance)(void *context, double work, size_t cells);
  bool (*stop)(void *context); /* whether the run is to end where it is; NULL: never */
  void *context;
  const char *checkpoints;           /* where trained models are kept; NULL: nowhere */
  const rs_training_watch *training; /* NULL: nobody */
} rs_trained_watch;

static inline bool rs_trained_stopped(const rs_trained_watch *watch) {
  return watch->stop != NULL && watch->stop(watch->context);
}

/* Trains what the cells that are to be done read, one checkpoint and seed after the other, and reads every cell of it;
 * those that are read together are recorded, and on the disk, before the next. What is undefined for a cell becomes its
 * status; a training that diverges fails the cells that read it. RS_INTERNAL, RS_MEMORY, RS_IO, RS_STOPPED, and what a
 * task fails with. */
rs_status rs_trained_run(rs_ledger *ledger, const rs_trained_watch *watch, rs_err *err);

/* ---- baselines --------------------------------------------------------------------------------------------------- */

/* A model as it was trained, the sequences of one seed, and how many tokens it reads of each. All borrowed. */
typedef struct rs_baseline_in {
  const rs_transformer *transformer;
  const rs_task *task;
  size_t seed; /* its number */
  size_t length, sequences;
} rs_baseline_in;

/* What one said. */
typedef struct rs_baseline_reading {
  size_t seed, length;
  rs_reading reading; /* owned */
} rs_baseline_reading;

/* The readings of one model. Zero-initialise; release with rs_baselines_clear. */
typedef struct rs_baselines {
  rs_transformer *untuned; /* of weights that were tuned: those before, once somebody asks; owned */
  rs_baseline_reading *readings;
  size_t count, capacity;
} rs_baselines;

/* The reading, made unless it was before; lent until the baselines are cleared. As rs_reading_make. */
rs_status rs_baselines_read(rs_baselines *baselines, const rs_baseline_in *in, rs_reading *reading, rs_err *err);
void rs_baselines_clear(rs_baselines *baselines);

/* ---- model rows ------------------------------------------------------------------------------------------------ */

/* Cells of one checkpoint, method, length and seed, which differ in sources and heads, and what they are read from. */
typedef struct rs_model_rows {
  const rs_experiment *experiment;
  const rs_transformer *transformer;
  rs_cell_state *states, **cells; /* (count,); owned, as what follows */
  size_t count;
  size_t length; /* of the task */
  rs_task task;
  rs_recipe *recipes;  /* the transformer's with the cells' method */
  rs_context *context; /* under the cells' method */
  rs_reading reading;
  rs_reading judged;   /* by the model's own recipes, where a metric wants that */
  rs_reading trained;  /* of what training drew from, where a metric wants that */
  rs_reading baseline; /* that a metric compares with; lent, with no arena of its own */
  double *cut_losses;  /* as rs_reading_in has them */
  size_t *edges, bins;
} rs_model_rows;

/* Shows the rows of each cell's source to its metrics, and finishes them: those of a checkpoint's own heads sequence by
 * sequence, of its evaluation split; simulated ones once, as its first block would see them. The same bits for any
 * number of threads. What fails is the cells' own. */
void rs_model_rows_observe(const rs_model_rows *rows);

/* ---- portions -------------------------------------------------------------------------------------------------- */

/* Cells of a ledger that are run some at a time. What those of one model and length share (encodings, projections, what
 * tables came to, a text's model) is kept until cells of another are run. */
typedef struct rs_portions rs_portions;

/* Borrows both until it is closed (NULL is fine). RS_MEMORY. */
rs_status rs_portions_open(rs_ledger *ledger, const rs_trained_watch *watch, rs_portions **portions, rs_err *err);
void rs_portions_close(rs_portions *portions);

/* Runs every cell that is to be done now. As rs_portions_run. */
rs_status rs_portions_work(rs_portions *portions, rs_err *err);

/* Runs every cell of the ledger that is to be done, the shortest lengths first: of each model and length some at a
 * time, which are recorded, and on the disk, before the next. RS_INTERNAL, RS_IO, RS_MEMORY, RS_STOPPED. */
rs_status rs_portions_run(rs_ledger *ledger, const rs_trained_watch *watch, rs_err *err);

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

/* Sums of all ranks, 0 at first: units of cells that were taken, cells and work that were done. */
typedef enum rs_tally { RS_NEXT, RS_CELLS, RS_WORK, RS_TALLIES } rs_tally;

/* Adds to one; what it was before. From any thread. */
double rs_ranks_add(rs_ranks *ranks, rs_tally tally, double amount);

/* Gives all ranks the largest code, or rank 0's bytes, when each has called this. `stop` (NULL: nobody is asked) is
 * called all the while, and may add. Where it wants an end, and the others do not come within a second, one is
 * lost: false, and nothing here may be called any more but rs_ranks_close. */
bool rs_ranks_meet(rs_ranks *ranks, int *code, bool (*stop)(void *context), void *context);
bool rs_ranks_spread(rs_ranks *ranks, void *data, size_t bytes, bool (*stop)(void *context), void *context);

/* ---- deal -------------------------------------------------------------------------------------------------------- */

/* Runs every cell that is to be done by rank 0's ledger, here and on all other ranks, when each has called this. On
 * rank 0 the ledger has the journal of the folder, which is locked, and what others have done in the end. `why`: what
 * this rank has failed with before, if anything; it gets what the run fails with. As rs_portions_run, rs_trained_run;
 * RS_INPUT where a rank has another config, program or instruction set, or does not see the folder; RS_STOPPED where
 * another rank fails, but on rank 0 RS_IO. */
rs_status rs_deal_run(rs_ranks *ranks, rs_ledger *ledger, const char *directory, const rs_trained_watch *watch,
                      rs_err *why);

/* Of rank 0: nothing is to be done, and what others have called returns. NULL is fine. */
void rs_deal_none(rs_ranks *ranks);

#endif
