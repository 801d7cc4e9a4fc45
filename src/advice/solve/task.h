/* A question of `solve` with the model and the recipe that it names. */
#ifndef ROPESCOPE_SOLVE_TASK_H
#define ROPESCOPE_SOLVE_TASK_H

#include "advice/advice.h"

enum { RS_LONGEST_SOUGHT = 1 << 28 }; /* tokens, longer than any table of the program */

typedef struct rs_solve_task {
  const rs_question *question;
  rs_subject
      subject; /* the model, and the recipe whose factor or length is wanted; profile without kinds: none named */
  const rs_model *model;
  const rs_recipe *recipe;
  const rs_layer_kind *layers; /* of the profile; NULL: there is none */
  double *trained;             /* (pairs,) rad/token of plain RoPE on the model; owned */
  size_t pairs, still;         /* R/2, (D - R)/2 */
  double train_length;         /* L0, tokens */
} rs_solve_task;

/* A question with its model and recipe; RS_INPUT as of rs_solve. Cleared on failure. */
rs_status rs_solve_task_read(const rs_question *question, rs_solve_task *task, rs_problems *problems, rs_err *err);
void rs_solve_task_clear(rs_solve_task *task);

/* Whether the model was tuned with the recipe that is judged. */
typedef enum rs_tuning {
  RS_NOT_TUNED,    /* it is another one than the model is published with, or scales nothing */
  RS_TUNED_UNSAID, /* it is published, and nothing says whether it was tuned so */
  RS_TUNED_BY_FILE,
  RS_TUNED_BY_METHOD
} rs_tuning;
rs_tuning rs_solve_tuning(const rs_solve_task *task);

/* Plain RoPE, resolved and checked, at a base, 0: the model's. */
rs_status rs_solve_plain(const rs_model *model, double base, rs_recipe *recipe, rs_err *err);

/* What a checked recipe costs the last query of a context. RS_DOMAIN where it is undefined there, RS_MEMORY. */
rs_status rs_solve_costs(const rs_recipe *recipe, const rs_model *model, size_t length, rs_turn_costs *costs,
                         rs_err *err);

/* Fills what a config.json says in the candidate's place, its `said` and `theta`; no method where none can say it. Both
 * turn pairs alike at the length and at the trained one. */
rs_status rs_solve_say(const rs_ranking_in *in, const rs_ranking *ranking, rs_candidate *c, rs_err *err);

/* The number in ten decimal digits: what people write of one that was searched. */
double rs_ten_digits(double number);

/* The tokens that the layers see whatever the context; 0: all. */
size_t rs_window_of(const rs_layer_kind *kind);

/* RS_INPUT where the model says no length of training. */
rs_status rs_need_trained(const rs_model *model, double train_length, rs_err *err);

/* ---- reaches ----------------------------------------------------------------------------------------------------- */

/* The frequencies of a recipe on the task's model at one length. RS_UNSUPPORTED for methods that do more than turn
 * pairs by the distance. Release with rs_spectrum_clear. */
rs_status rs_solve_turn(const rs_solve_task *task, const rs_recipe *recipe, double length, rs_spectrum *spectrum,
                        rs_err *err);

/* Tokens that the frequencies of one length serve, up to `most`, and what is on cos and sin there. */
rs_status rs_solve_reach(const rs_solve_task *task, double length, uint64_t most, double *reach, double *amp,
                         rs_err *err);

/* Whether the frequencies of a recipe at a length serve it. *hint: a distance near which similar frequencies have a
 * negative sum, 0: none is known; it is where these have one, if they have. */
rs_status rs_solve_serves(const rs_solve_task *task, const rs_recipe *recipe, double length, uint64_t *hint, bool *good,
                          rs_err *err);

/* `base`, or an integer past it, whose pairs that turn have no negative sum of cosines at any distance of the
 * question's length: the first one in steps that double, up to 0.1 %; NaN where there is none up to a hundredfold. */
rs_status rs_solve_good_base(const rs_solve_task *task, double base, double *good, rs_err *err);

#endif
