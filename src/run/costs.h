/* What a run takes, counted from sizes alone; shares of it; and seconds by the rate of an earlier run. */
#ifndef ROPESCOPE_RUN_COSTS_H
#define ROPESCOPE_RUN_COSTS_H

#include "cell.h"
#include "model/model.h"
#include "run/run.h"

/* Flops of the first `count` blocks of a stack over one sequence of so many tokens; `source`: tokens of the encoder
 * that they read beside it. */
double rs_stack_flops(const rs_stack *stack, size_t count, double width, double tokens, double source);

/* Flops of one cell. */
typedef struct rs_cell_cost {
  double own;   /* of its rows, tables and readings; positive */
  double made;  /* of what it shares with other cells (a training, a text's pass, queries and keys), at the first */
  double tuned; /* of tuning the weights that it reads, at the first that reads them */
} rs_cell_cost;

/* One checkpoint, before it is trained. */
typedef struct rs_checkpoint_cost {
  rs_transformer *begun;   /* owned, without numbers; NULL: it cannot be made, and costs nothing */
  double training, tuning; /* flops of each whole */
  double bytes;            /* alive while it is trained */
} rs_checkpoint_cost;

/* The weights of one checkpoint and seed. A training that several share, as they are tuned from it, is counted with the
 * first of them. */
typedef struct rs_weights {
  char hashes[RS_STAGES][65]; /* fingerprints of the trainings that are planned; "": none */
  size_t training;            /* the number, from 1, of the first of these; 0: nothing is trained */
  double flops[RS_STAGES];    /* that are to be done */
  size_t trainings, there;    /* to be done, and done by earlier runs */
  bool read;                  /* by any cell */
} rs_weights;

typedef struct rs_costs {
  rs_arena arena; /* of the lists here */
  const rs_experiment *experiment;
  const rs_cell *cells; /* (count,) borrowed */
  size_t count;
  rs_cell_cost *items;        /* (count,) */
  size_t *order;              /* (count,) as rs_cells_sort has them, */
  bool *opens;                /* (count,) and where what is shared begins anew */
  double passes;              /* flops of sources' own checkpoints, */
  double pass_bytes;          /* and what is alive in the largest of their passes */
  rs_task task;               /* of checkpoints, as the next two; owned */
  rs_checkpoint_cost *models; /* (model_count,) */
  rs_weights *weights;        /* (rs_weights_count,) */
} rs_costs;

/* `checkpoints` holds trainings that are done (NULL: none). Release with rs_costs_clear, also after a failure.
 * RS_MEMORY, and what a task fails with. */
rs_status rs_costs_make(const rs_experiment *experiment, const rs_cell *cells, size_t count, const char *checkpoints,
                        rs_costs *costs, rs_err *err);
void rs_costs_clear(rs_costs *costs);

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* Cells that share what is costly to make: a training, a text's rows, queries and keys, a method's projections or
 * tables. All of it follows from the config alone, so that every process finds the same. */
typedef struct rs_unit {
  size_t first, count; /* of its cells, in `order` */
  size_t shared; /* what is made for all its cells, counted from 0: parts of a unit that was split have it in common */
  double making; /* flops of that */
  double own;    /* and of its cells themselves */
} rs_unit;

typedef struct rs_units {
  rs_costs costs;
  const size_t *order; /* that of costs */
  rs_unit *items;      /* owned */
  size_t count, capacity;
  double total; /* flops of all */
  bool trained; /* what units share are trainings: one part does it, and the others read it */
} rs_units;

/* The units of all cells (count,) of an experiment. Release with rs_units_clear, also after a failure. As
 * rs_costs_make. */
rs_status rs_units_make(const rs_experiment *experiment, const rs_cell *cells, size_t count, rs_units *units,
                        rs_err *err);
void rs_units_clear(rs_units *units);

/* Splits units whose cells take more than `most`, near the half of them, as long as they have two cells; but where what
 * they share is then made again, only those whose cells take far more than that. Then the largest, until there are at
 * least `least`, or every cell is one. RS_MEMORY. */
rs_status rs_units_split(rs_units *units, double most, size_t least, rs_err *err);

/* The units of these cells as they are dealt among so many: at least one for each, the largest first, and none with
 * more than its part, of simulated heads more than one of `parts` of that, unless what its cells share is then made
 * again for little. As rs_units_make. */
rs_status rs_units_cut(const rs_experiment *experiment, const rs_cell *cells, size_t count, size_t among, size_t parts,
                       rs_units *units, rs_err *err);

#endif
