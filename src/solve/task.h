/* A question of `solve` with the model and the recipe that it names. Private to the solve layer. */
#ifndef ROPESCOPE_SOLVE_TASK_H
#define ROPESCOPE_SOLVE_TASK_H

#include "ropescope/solve.h"

typedef struct rs_solve_task {
  const rs_question *question;
  rs_profile profile; /* of the model that the question names; else without kinds */
  size_t kind;        /* the layers of it that `model` is of */
  rs_model model;
  rs_recipe recipe;    /* whose factor or length is wanted */
  double *trained;     /* (pairs,) rad/token of plain RoPE on the model; owned */
  size_t pairs, still; /* R/2, (D - R)/2 */
  double train_length; /* L0, tokens */
} rs_solve_task;

rs_status rs_solve_answer(const rs_solve_task *task, rs_solution *out, rs_err *err);

#endif
