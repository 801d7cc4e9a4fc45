/* In which order the cells of a sweep are handed to ranks that ask for more: portions of units, those first that take
 * the longest or that others wait for. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_SCHEDULE_H
#define ROPESCOPE_SWEEP_SCHEDULE_H

#include "units.h"

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
