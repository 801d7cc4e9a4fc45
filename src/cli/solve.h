/* What `ropescope solve` was asked, and its answer. Private to the command. */
#ifndef ROPESCOPE_CLI_SOLVE_H
#define ROPESCOPE_CLI_SOLVE_H

#include "cli.h"
#include "ropescope/compare.h"
#include "ropescope/solve.h"

typedef enum solve_wanted { WANT_BASE, WANT_FACTOR, WANT_LENGTH } solve_wanted;
typedef enum solve_by { BY_FIRST_VIOLATION, BY_CRITICAL_DIM, BY_OOD, BY_NTK } solve_by;

typedef struct solve_task {
  solve_wanted wanted;
  solve_by by;
  double length, base; /* of the options; 0: not given */
  rs_model model;
  rs_recipe recipe;    /* whose factor or length is wanted; method NULL where none is read */
  double *trained;     /* (pairs,) rad/token of plain RoPE on the model; owned */
  size_t pairs, still; /* R/2, (D - R)/2 */
  double train_length; /* L0, tokens */
} solve_task;

/* The answer: the number on a line of its own, then what it means and how it was found. */
rs_status solve_answer(const solve_task *task, rs_text *out, rs_err *err);

#endif
