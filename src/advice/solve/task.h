/* A question of `solve` with the model and the recipe that it names. */
#ifndef ROPESCOPE_SOLVE_TASK_H
#define ROPESCOPE_SOLVE_TASK_H

#include "advice/advice.h"

enum { RS_LONGEST_SOUGHT = 1 << 28 }; /* tokens, longer than any table of the program */

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

/* Whether the model was tuned with the recipe that is judged. */
typedef enum rs_tuning {
  RS_NOT_TUNED,    /* it is another one than the model is published with, or scales nothing */
  RS_TUNED_UNSAID, /* it is published, and nothing says whether it was tuned so */
  RS_TUNED_BY_FILE,
  RS_TUNED_BY_METHOD
} rs_tuning;
rs_tuning rs_solve_tuning(const rs_solve_task *task);

rs_status rs_solve_answer(const rs_solve_task *task, rs_solution *out, rs_err *err);

/* A question with its model and recipe; RS_INPUT as of rs_solve. Cleared on failure. */
rs_status rs_solve_task_read(const rs_question *question, rs_solve_task *task, rs_problems *problems, rs_err *err);
void rs_solve_task_clear(rs_solve_task *task);

/* The factor that makes the task's recipe serve the length, and the length that its recipe serves. */
rs_status rs_solve_factor(const rs_solve_task *task, rs_solution *out, rs_err *err);
rs_status rs_solve_length(const rs_solve_task *task, rs_solution *out, rs_err *err);

/* The number in ten decimal digits: what people write of one that was searched. */
double rs_ten_digits(double number);

/* ---- reaches ----------------------------------------------------------------------------------------------------- */

/* The frequencies of a recipe on the task's model at one length. RS_UNSUPPORTED for methods that do more than turn
 * pairs by the distance. Release with rs_spectrum_clear. */
rs_status rs_solve_turn(const rs_solve_task *task, const rs_recipe *recipe, double length, rs_spectrum *spectrum,
                        rs_err *err);

/* Tokens that the frequencies serve, up to `most`. */
rs_status rs_solve_reach(const rs_solve_task *task, const rs_spectrum *spectrum, uint64_t most, double *reach,
                         rs_err *err);

/* Whether they serve as many. *hint: a distance near which similar frequencies have a negative sum, 0: none is known;
 * it is where these have one, if they have. */
rs_status rs_solve_serves(const rs_solve_task *task, const rs_spectrum *spectrum, double length, uint64_t *hint,
                          bool *good, rs_err *err);

/* `base`, or an integer past it, whose pairs that turn have no negative sum of cosines at any distance of the
 * question's length: the first one in steps that double, up to 0.1 %; NaN where there is none up to a hundredfold. */
rs_status rs_solve_good_base(const rs_solve_task *task, double base, double *good, rs_err *err);

/* ---- costs ------------------------------------------------------------------------------------------------------- */

/* What a checked recipe costs the last query of a context. RS_DOMAIN where it is undefined there, RS_MEMORY. */
rs_status rs_solve_costs(const rs_recipe *recipe, const rs_model *model, size_t length, rs_turn_costs *costs,
                         rs_err *err);

/* Plain RoPE, resolved and checked, at a base, 0: the model's. */
rs_status rs_solve_plain(const rs_model *model, double base, rs_recipe *recipe, rs_err *err);

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* The number to ten digits, or as it is where a rounded one may be bad; a line of the answer. */
void rs_solve_put_value(rs_solution *out, double value);
void rs_solve_put_exact(rs_solution *out, double value);
void rs_solve_put(rs_solution *out, const char *name, const char *format, ...) RS_PRINTF(3, 4);

/* RS_INPUT where the model says no length of training. */
rs_status rs_solve_need_length(const rs_solve_task *task, rs_err *err);

/* What training has left: the first pair that did not go full circle, RS_DOMAIN where there is none, the line of it. */
size_t rs_solve_critical(const rs_solve_task *task);
rs_status rs_solve_need_critical(const rs_solve_task *task, rs_err *err);
void rs_solve_put_training(const rs_solve_task *task, rs_solution *out);

#endif
