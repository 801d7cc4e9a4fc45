/* What cells, trainings and readings take, and in which order they are handed out. */
#ifndef ROPESCOPE_RUN_COSTS_H
#define ROPESCOPE_RUN_COSTS_H

#include "cell.h"
#include "model/model.h"
#include "run/run.h"

/* ---- pass costs ------------------------------------------------------------------------------------------------ */

/* Flops of the first `count` blocks of a stack over one sequence of so many tokens; `source`: tokens of the encoder
 * that they read beside it. */
double rs_stack_flops(const rs_stack *stack, size_t count, double width, double tokens, double source);

/* Flops of a pass forward over one sequence. */
double rs_pass_flops(const rs_shape *shape, const rs_example_shape *example);

/* Numbers that a pass over `rows` tokens of the first `count` blocks keeps in memory: those of the widest block, or, in
 * training, of all. */
double rs_stack_numbers(const rs_stack *stack, size_t count, double width, double rows, bool training);

/* Bytes of the weights that are in memory; a mapped file, which the system may let go, is not. */
double rs_weight_bytes(const rs_transformer *transformer);

/* ---- costs ----------------------------------------------------------------------------------------------------- */

/* One checkpoint, before it is trained. */
typedef struct rs_checkpoint_cost {
  rs_transformer *begun;   /* owned; NULL: it cannot be made, and costs nothing */
  double training, tuning; /* flops of each whole */
  double bytes;            /* alive while it is trained */
} rs_checkpoint_cost;

/* What trainings are left, where a run keeps its models in a folder. */
typedef struct rs_work_left {
  double flops;
  size_t trainings, there; /* to be done, and done by earlier runs */
} rs_work_left;

typedef struct rs_costs {
  rs_arena arena; /* of the lists here */
  const rs_experiment *experiment;
  rs_task task;              /* owned */
  rs_checkpoint_cost *items; /* (model_count,) */
  rs_work_left *left; /* (count,) of cells, each with the trainings that it is the first to need; NULL: not found */
} rs_costs;

/* RS_MEMORY, and what a task fails with. Release with rs_costs_clear. */
rs_status rs_costs_make(const rs_experiment *experiment, rs_costs *costs, rs_err *err);
void rs_costs_clear(rs_costs *costs);

/* Flops and bytes of the readings and rows of one cell; 0 where the task has no sequence of the length. */
double rs_reading_flops(const rs_costs *costs, const rs_cell *cell);
double rs_reading_bytes(const rs_costs *costs, const rs_cell *cell);

/* The seed of the weights that a cell reads. */
uint64_t rs_weights_seed(const rs_experiment *experiment, const rs_cell *cell);

/* Whether two cells read the same weights. */
bool rs_same_weights(const rs_experiment *experiment, const rs_cell *a, const rs_cell *b);

/* Whether no cell before number `index` has the same weights: their training is counted with it. */
bool rs_is_first(const rs_experiment *experiment, const rs_cell *cells, size_t index);

/* The same, and finds costs->left. A training that several checkpoints share, as they are tuned from it, is counted
 * once; `checkpoints` (NULL: nothing) holds what is done. */
rs_status rs_costs_left(const rs_experiment *experiment, const rs_cell *cells, size_t count, const char *checkpoints,
                        rs_costs *costs, rs_err *err);

/* The longest of the experiment's lengths. */
size_t rs_longest(const rs_experiment *experiment);

/* The parts of a plan that are of trainings and readings. */
rs_status rs_costs_plan(const rs_experiment *experiment, const rs_cell *cells, size_t count, const char *checkpoints,
                        rs_plan *plan, rs_err *err);

/* As rs_estimate_seconds. */
rs_status rs_costs_seconds(const rs_experiment *experiment, const rs_cell *cells, size_t count, const char *checkpoints,
                           double budget, double *seconds, rs_err *err);

/* ---- text costs ------------------------------------------------------------------------------------------------ */

/* A pass, counted with the first of the cells that share it; 0 for the others, and where it cannot be. */
typedef struct rs_text_cost {
  double flops;
  double bytes; /* of the model's work space, of its tables, and of the queries and keys that are kept */
} rs_text_cost;

/* Fills costs (count,) of the experiment's cells. RS_MEMORY. */
rs_status rs_text_costs(const rs_experiment *experiment, const rs_cell *cells, size_t count, rs_text_cost *costs,
                        rs_err *err);

/* Adds to seconds (count,) what those passes take here, by passes over the beginnings of the texts. `budget`: seconds
 * that may be spent on that, but for reading the weights. RS_MEMORY. */
rs_status rs_text_seconds(const rs_experiment *experiment, const rs_cell *cells, size_t count, double budget,
                          double *seconds, rs_err *err);

/* ---- units ----------------------------------------------------------------------------------------------------- */

/* A sweep in units: cells that share what is costly to make, a trained checkpoint or queries and keys, and what each
 * unit is planned to take. All of it follows from the config alone, so that every process finds the same. */

typedef struct rs_unit {
  size_t first, count; /* of its cells, in `order` */
  size_t shared; /* what is made for all its cells, counted from 0: parts of a unit that was split have it in common */
  double making; /* flops of that: a training, queries and keys */
  double own;    /* and of its cells themselves */
} rs_unit;

typedef struct rs_units {
  rs_arena arena; /* of order and costs */
  size_t *order;  /* (cells,) numbers of cells, unit after unit */
  double *costs;  /* (cells,) planned flops of each cell, by number; positive */
  rs_unit *items; /* owned */
  size_t count, capacity;
  bool trained; /* what units share are trainings: one part does it, and the others read it */
} rs_units;

/* The units of all cells (count,) of an experiment. Release with rs_units_clear, also after a failure. RS_MEMORY, and
 * what a task fails with. */
rs_status rs_units_make(const rs_experiment *experiment, const rs_cell *cells, size_t count, rs_units *units,
                        rs_err *err);
void rs_units_clear(rs_units *units);

/* What all units take together. */
double rs_units_total(const rs_units *units);

/* Splits units whose cells take more than `most`, near the half of them, as long as they have two cells; but where what
 * they share is then made again, only those whose cells take far more than that. RS_MEMORY. */
rs_status rs_units_split(rs_units *units, double most, rs_err *err);

/* Splits the largest units until there are at least `least`, or every cell is one. RS_MEMORY. */
rs_status rs_units_multiply(rs_units *units, size_t least, rs_err *err);

/* The largest first, and of equal ones that which begins with the first cell. */
void rs_units_sort(rs_units *units);

/* ---- schedule -------------------------------------------------------------------------------------------------- */

/* In which order the cells of a sweep are handed to ranks that ask for more: portions of units, those first that take
 * the longest or that others wait for. */

typedef struct rs_portion {
  size_t first, count; /* of its cells, in units.order */
  double cost;         /* planned flops, with what is made for its cells */
  double priority;     /* and of those that wait for it */
  size_t after;        /* the portion that trains what it reads, from 1; 0: it waits for none */
  bool given, done;
} rs_portion;

typedef struct rs_schedule {
  rs_units units;
  rs_portion *items; /* (count,) by priority; owned */
  size_t count;
  size_t head; /* all before are given */
} rs_schedule;

/* Portions of these cells (count,) for so many ranks. units.order has indices into `cells`. Release with
 * rs_schedule_clear, also after a failure. RS_MEMORY, and what a task fails with. */
rs_status rs_schedule_make(const rs_experiment *experiment, const rs_cell *cells, size_t count, size_t ranks,
                           rs_schedule *schedule, rs_err *err);
void rs_schedule_clear(rs_schedule *schedule);

/* Gives the next portion that may begin. False: none may now, or all are given. */
bool rs_schedule_next(rs_schedule *schedule, size_t *portion);

/* Whether portions are not given yet. */
bool rs_schedule_left(const rs_schedule *schedule);

/* A portion is done: those that wait for it may begin. */
void rs_schedule_done(rs_schedule *schedule, size_t portion);

#endif
