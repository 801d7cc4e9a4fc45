/* What a run keeps of each cell, and the files that it becomes. */
#ifndef ROPESCOPE_RUN_CELL_H
#define ROPESCOPE_RUN_CELL_H

#include "io/io.h"
#include "run/run.h"

/* ---- model text ------------------------------------------------------------------------------------------------ */

/* The model that was read last: sources of one checkpoint, and lengths, share it. Zero-initialise; release with
 * rs_text_model_clear. */
typedef struct rs_text_model {
  const char *folder;  /* borrowed from the source; NULL: none yet */
  rs_format precision; /* that was asked for */
  rs_transformer *transformer;
} rs_text_model;

void rs_text_model_clear(rs_text_model *model);

/* Queries and keys of one block, for the text's first tokens. */
typedef struct rs_text_rows {
  rs_arena arena;
  rs_head_shape shape;
  double *q, *k; /* (L, H, D), (L, K, D) */
  double *sinks; /* (H,) learned by the block, where it has such */
} rs_text_rows;

/* Reads the first `length` tokens of the source's text with its model. RS_DOMAIN where the text is shorter; RS_INPUT,
 * RS_IO, RS_UNSUPPORTED, RS_MEMORY. Release with rs_text_rows_clear, also after a failure. */
rs_status rs_text_rows_read(rs_text_model *model, const rs_model_source *source, size_t length, rs_text_rows *rows,
                            rs_err *err);
void rs_text_rows_clear(rs_text_rows *rows);

/* ---- run ------------------------------------------------------------------------------------------------------- */

enum { RS_CELL_MESSAGE = 256, RS_ARITHMETIC = 32, RS_ROWS_AT_ONCE = 1 << 17 };

/* How the scores of a cell came about, over its heads. */
typedef struct rs_cell_scores {
  bool f32, f64;         /* which formats took part */
  double error;          /* bound on the relative error of a weight */
  double pairs, skipped; /* queries with keys: all, and those left out */
  double skipped_weight; /* the most of a row's weight that was */
} rs_cell_scores;

/* Which curves a cell keeps: cells that share numbers of tables leave their curve to the first of them. */
typedef struct rs_cell_role {
  bool tables; /* the first of its model, length, method and heads */
  bool draws;  /* and seed */
  size_t rank; /* of a checkpoint: among the cells that are read together */
} rs_cell_role;

/* One cell of a run, while it is worked on. */
typedef struct rs_cell_state {
  rs_arena arena; /* of the lists here but for the group's */
  rs_cell cell;
  size_t number; /* of the cell */
  rs_cell_role role;
  bool handed_over; /* it is done, and who wanted to know it knows */
  rs_status status;
  bool read; /* of a checkpoint: metrics of readings and tables hold, whatever becomes of its rows */
  char message[RS_CELL_MESSAGE];
  double scale, seconds; /* s at this length (NaN: none); time spent on its attention, or on its readings */
  double weight;         /* in the progress of the run; no unit */
  rs_cell_scores scores;
  char arithmetic[RS_ARITHMETIC]; /* the instruction sets that computed the weights it reads; "": none */
  rs_head_group group;            /* of its heads; owned */
  rs_encoding encoding;           /* as the first of them has it: what its metrics read; borrows */
  char *heads;                    /* "4 12 20 28" */
  void **states;                  /* one for each metric; NULL for those that read tables */
  rs_result *results;             /* one for each metric */
} rs_cell_state;

/* One cell, nothing done yet. Release with rs_cell_state_clear, also after a failure. */
rs_status rs_cell_state_make(const rs_experiment *experiment, const rs_cell *cell, rs_cell_state *state, rs_err *err);
void rs_cell_state_clear(const rs_experiment *experiment, rs_cell_state *state);

/* The work on the rows of one cell: about the products of queries and keys, without their dims. */
double rs_cell_work(const rs_experiment *experiment, const rs_cell *cell);

/* The one order of cells: by what is costly to make, and within it as they are worked on. Fills order (count,) with
 * their numbers and opens (count,), which says where in it something else is shared. `trainings` (count,) numbers what
 * each needs trained (0: nothing); NULL: heads are simulated. RS_MEMORY. */
rs_status rs_cells_sort(const rs_experiment *experiment, const rs_cell *cells, size_t count, const size_t *trainings,
                        size_t *order, bool *opens, rs_err *err);

/* The weights that a cell of a checkpoint reads, their number, model * seeds + seed and behind those what was not
 * tuned, and how many numbers there are. */
rs_weights_in rs_cell_weights(const rs_experiment *experiment, const rs_cell *cell);
size_t rs_weights_index(const rs_experiment *experiment, const rs_cell *cell);
size_t rs_weights_count(const rs_experiment *experiment);

/* Whether a cell's source hands on what a checkpoint's own heads hold. */
bool rs_reads_model(const rs_experiment *experiment, const rs_cell *cell);

/* What rows are to hold for the experiment's metrics, which the config check has seen to go together. */
rs_row_needs rs_experiment_needs(const rs_experiment *experiment);

/* Whether any metric of the experiment reads rows, or the queries and keys that they are made of. */
bool rs_needs_heads(const rs_experiment *experiment);

/* Whether rows of an embedding are projected for the cell's method, which all its seeds and sources share. */
bool rs_projects(const rs_experiment *experiment, const rs_cell *cell);

/* Whether a metric of readings wants contexts to be cut, and how. */
bool rs_experiment_cuts(const rs_experiment *experiment, rs_cut *cut);

/* Whether a metric of readings compares with a baseline, and with which. */
bool rs_experiment_compares(const rs_experiment *experiment, rs_baseline *baseline);

/* Whether a metric of readings reads what training drew from, too. */
bool rs_experiment_reads_trained(const rs_experiment *experiment);

/* The cell ends with this error, if it has none yet. */
void rs_cell_fail(rs_cell_state *cell, const rs_err *why);

/* The same for an error of one metric, which the message names; it leaves no curve. */
void rs_cell_fail_metric(rs_cell_state *cell, const rs_experiment *experiment, size_t metric, const rs_err *why);

/* Puts what a cell's author will hardly have meant into its message: `recipe` with `tokens` of `length`, read by a
 * checkpoint that was trained with `trained` (NULL: none). */
void rs_cell_warn(rs_cell_state *cell, const rs_recipe *recipe, const rs_recipe *trained, const rs_model *model,
                  size_t length, const rs_token_layout *tokens);

/* The number of queries observed at a length. */
size_t rs_query_count(const rs_query_set *set, size_t length);

/* ---- record ---------------------------------------------------------------------------------------------------- */

/* Adds what a run has found for a cell: status and message, values, errors, curves, times. */
void rs_cell_record_write(const rs_experiment *experiment, const rs_cell_state *state, rs_text *record);

/* Puts it into a state of the same cell, made by rs_cell_state_make. RS_INPUT where it is not of such a cell,
 * RS_MEMORY. */
rs_status rs_cell_record_read(const rs_experiment *experiment, const uint8_t *record, size_t length,
                              rs_cell_state *state, rs_err *err);

/* Whether a record stands for its cell from now on. A cell that had no memory, or whose files could not be read, is
 * tried again. */
bool rs_cell_record_holds(const uint8_t *record, size_t length);

/* What a record says, as a SHA-256, but for the seconds that it took: two that were computed apart agree in it. */
void rs_cell_record_digest(const uint8_t *record, size_t length, uint8_t digest[32]);

/* ---- columns ----------------------------------------------------------------------------------------------------- */

typedef enum rs_role { RS_KEY, RS_INDEX, RS_VALUE, RS_ERROR, RS_CELL_STATUS } rs_role;

/* A column of an output file; texts borrowed. */
typedef struct rs_out_column {
  char name[80];
  const char *unit, *summary;
  rs_role role;
  bool integer, log_axis;
  rs_better better;
  rs_map_part map;
  bool sourced; /* a value that is observed in rows, and so hangs on queries and keys */
  bool tasked;  /* a value that is read from a task, where sources are something else */
} rs_out_column;

typedef struct rs_out_columns {
  rs_out_column *columns; /* owned */
  size_t count, capacity;
  bool failed; /* while it is made */
} rs_out_columns;

/* The columns of summary.csv (metric < 0), or of the curve of metric number `metric`. */
rs_status rs_columns_make(const rs_experiment *experiment, int metric, rs_out_columns *columns, rs_err *err);

/* Whether metric number `metric` has a curve; its file name ("decay.csv") then stands in `name`. */
bool rs_curve_file(const rs_experiment *experiment, size_t metric, char name[80]);

/* Rows of all curves of a cell, at most. */
double rs_curve_rows(const rs_experiment *experiment, const rs_cell *cell);

/* ---- output ---------------------------------------------------------------------------------------------------- */

/* What computed the weights that a model's cells read. */
typedef struct rs_arithmetic {
  size_t model;
  char words[RS_ARITHMETIC];
} rs_arithmetic;

/* What the cells come to together. */
typedef struct rs_totals {
  size_t written, single, twice; /* cells: all, and those whose scores were floats, and doubles */
  double error, weight;          /* the largest error of a score, and weight that was left out */
  rs_arithmetic *arithmetic;     /* (arithmetic_count,) */
  size_t arithmetic_count, arithmetic_capacity;
} rs_totals;

/* Files that are being written. */
typedef struct rs_output {
  rs_arena arena; /* of the lists here */
  const rs_experiment *experiment;
  const char *directory; /* where they are made, */
  const char *shown;     /* and what they are for; borrowed, as the experiment */
  rs_out_file **files;   /* (count,) NULL: a metric without a curve */
  size_t *rows, count;
  rs_file_sums *sums; /* (sum_count,) of files that are whole */
  size_t sum_count;
  size_t cells;            /* of the experiment */
  const char *isa;         /* that computed them; borrowed */
  rs_run_summary *summary; /* that is told of cells which failed; borrowed */
  rs_totals totals;
} rs_output;

/* Whether a file called so belongs to a run, of whatever config. */
bool rs_is_run_file(const char *name);

/* Says in the summary what became of a cell. Cells come in their order. */
void rs_summary_note(rs_run_summary *summary, size_t number, const rs_cell_state *state);

/* manifest.json as text; `config` is what config.yaml holds. */
rs_status rs_manifest_write(const rs_output *output, const rs_text *config, rs_text *json, rs_err *err);

/* ---- manifest ---------------------------------------------------------------------------------------------------- */

/* A kind that takes part, or (`kind` NULL) a file that a list was read from, with the SHA-256 it had; texts borrowed.
 */
typedef struct rs_part {
  const char *stage, *name;
  const rs_kind *kind;
  const char *hash;
} rs_part;

typedef struct rs_parts {
  rs_part *items; /* (count,) each once; owned, release with free() in any case */
  size_t count, capacity;
  bool failed; /* without memory */
} rs_parts;

rs_status rs_parts_list(const rs_experiment *experiment, rs_parts *parts, rs_err *err);

/* Writes those that are kinds as "kinds", or the others as "inputs". */
void rs_parts_write(const rs_parts *parts, bool inputs, rs_json *json);

#endif
